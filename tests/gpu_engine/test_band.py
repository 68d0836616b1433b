"""The heuristic band on a GPU: the CPU engine's answers, and its marks of dropped cells."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from tests.engines.agreement import align_batch, route
from tests.pairgen import mutated, sequence
from wfacli.config import AlignSpec, Config, EngineName, Heuristics, Limits, Metric, Mode, Penalties
from wfacli.core.batch import AlignmentBatch, PairBatch, Status
from wfacli.core.stats import Stats
from wfacli.engines import choice
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.hybrid import HybridEngine
from wfacli.errors import DeviceError
from wfacli.plan.kernels import TABLE

from .support import SEED, assert_equal, batch_of, opened_gpu, some_pairs

BATCH = batch_of(
    [
        *some_pairs(25, 90, 0.05),
        *some_pairs(12, 250, 0.3, SEED + 1),
        (b"", b"ACGT"),
        (b"ACGTA", b""),
        (b"", b""),
        (b"ACNNT" * 9, b"ACGGT" * 9),
        (b"ACGT" * 30, b"ACGT" * 10),
    ]
)


# Paths beyond a pair's threads on both sides; match runs over several windows, also far from the path, in repeats; a
# gap after which the band has moved; a path that drifts along the band's edge.
RUN, REPEAT = (sequence(random.Random(SEED + i), length, b"ACGT") for i, length in enumerate((170, 128)))
(NOISY, TWICE), (DRIFTING, STRAIGHT) = (
    (mutated(random.Random(SEED), 4 * REPEAT, b"ACGT", 0.12), 4 * REPEAT),
    (b"".join(RUN[i : i + 7] for i in range(0, 160, 8)) * 2, 2 * RUN),
)
WIDE = batch_of(
    [
        *((q + RUN + q, t + RUN + RUN[:60] + t) for q, t in some_pairs(2, 230, 0.5, SEED + 4)),
        *some_pairs(1, 420, 0.5, SEED + 5),
        (NOISY, TWICE),
        (TWICE, NOISY),
        (DRIFTING, STRAIGHT),
        (STRAIGHT, DRIFTING),
        (RUN[:40] + b"T" * 40 + RUN, RUN[:40] + b"G" * 40 + RUN),
        (b"ACNNT" * 60, b"AGTTC" * 55),
        (b"", RUN + RUN + RUN),
        # The rows are full before the gap, as sequences are read backwards: matches on the outermost diagonals.
        *((RUN + q, RUN + REPEAT + t) for q, t in [(mutated(random.Random(3), 2 * RUN, b"ACGT", 0.5), 2 * RUN)]),
    ]
)


def banded(metric: Metric, band: tuple[int, int] = (9, 6), **rest) -> AlignSpec:
    return AlignSpec(metric, Penalties.of(metric), heuristics=Heuristics(band=band[0], band_step=band[1]), **rest)


def same_on_a_gpu(batch: PairBatch, spec: AlignSpec) -> tuple[AlignmentBatch, Stats]:
    stats, cpu = Stats(), CpuEngine(spec, Limits(), 1)
    wanted = align_batch(cpu, batch, spec, Limits(), Stats())
    with opened_gpu(spec, stats=stats) as (gpu, _):
        found = align_batch(HybridEngine(gpu, cpu), batch, spec, Limits(), stats)
    cpu.close()
    assert_equal(found, wanted)
    return wanted, stats


@pytest.mark.parametrize("score_only", [False, True])
@pytest.mark.parametrize("metric", [Metric.EDIT, Metric.AFFINE, Metric.AFFINE2P])
def test_the_cpu_s_answers(metric: Metric, score_only: bool) -> None:
    wanted, stats = same_on_a_gpu(BATCH, banded(metric, score_only=score_only))
    assert wanted.cut.any() and not wanted.cut.all()
    assert sum(n for name, n in stats.kernels.items() if name.startswith("gpu-wfa-")) > len(BATCH) - 10, stats.kernels


@pytest.mark.parametrize(
    ("metric", "band"),
    [
        (Metric.EDIT, (140, 25)),
        (Metric.AFFINE, (140, 25)),
        (Metric.AFFINE, (150, 0)),
        (Metric.AFFINE, (60, 11)),
        (Metric.AFFINE, (5, 25)),
        (Metric.EDIT, (8, 12)),
        (Metric.AFFINE2P, (75, 30)),
    ],
)
def test_rows_that_are_all_alike(metric: Metric, band: tuple[int, int]) -> None:
    wanted, stats = same_on_a_gpu(WIDE, banded(metric, band))
    assert wanted.cut.any(), "the band is full"
    assert sum(n for name, n in stats.kernels.items() if name.startswith("gpu-wfa-")) > len(WIDE) / 2, stats.kernels


def test_only_a_band_is_for_the_gpu() -> None:
    spec = banded(Metric.AFFINE)
    assert choice.serves(spec)
    assert not choice.serves(dataclasses.replace(spec, mode=Mode.SEMIGLOBAL))
    (only,) = route(BATCH, spec, Limits(), gpu=True)
    assert only.kernel == "gpu-wfa-affine-band"
    # Pairs with more than a third of a multiprocessor's work start first, each on its own multiprocessor.
    edits = np.full(len(BATCH), 10, np.int32)
    edits[[3, 5]] = 10_000, 9_000
    lone, rest = route(BATCH.with_edits(edits), spec, Limits(), gpu=True)
    assert (lone.kernel, lone.rows.tolist()) == ("gpu-wfa-affine-band-lone", [3, 5])
    assert rest.kernel == only.kernel and sorted([*lone.rows, *rest.rows]) == list(range(len(BATCH)))
    dear = dataclasses.replace(spec, penalties=Penalties.of(Metric.AFFINE, (90, 200, 31)))
    (only,) = route(BATCH, dear, Limits(), gpu=True)
    assert only.kernel == TABLE, "shared memory does not hold its rows"


class Astray:
    """A GPU with altered answers, as if its band moved differently; `known` caches the engine's answers."""

    def __init__(self, engine, answers, known):
        self.engine, self.answers, self.known, self.closed = engine, answers, known, False

    def submit(self, pairs, route):
        return pairs, route

    def collect(self, ticket):
        pairs, route = ticket
        asked = route.kernel, pairs.bases.tobytes(), route.rows.tobytes()
        if asked not in self.known:
            self.known[asked] = self.engine.collect(self.engine.submit(pairs, route))
        return self.answers(self.known[asked])

    def close(self):
        self.closed = True


def dropped(found):
    return dataclasses.replace(found, status=np.full_like(found.status, Status.DROPPED))


def handed_on(found):
    return dataclasses.replace(found, status=np.full_like(found.status, Status.UNSUPPORTED))


def with_another_score(found):
    return dataclasses.replace(found, score=found.score - (found.rows == 40))


@pytest.mark.parametrize("metric", [Metric.EDIT, Metric.AFFINE, Metric.AFFINE2P])
def test_tried_before_it_is_used(metric, monkeypatch):
    """A GPU is tested before its first use, and not used if its compiler generated wrong code for the kernel."""
    spec, told, known = banded(metric, (9, 6)), [], {}
    cpu = CpuEngine(spec, Limits(), 1)
    with opened_gpu(spec) as (engine, _):
        same = (lambda found: found, True), (handed_on, True)
        for answers, agrees in (*same, (dropped, False), (with_another_score, False)):
            gpu = Astray(engine, answers, known)
            gpu.long_pairs = lambda: None
            monkeypatch.setattr(choice, "_on_gpus", lambda *_, gpu=gpu: gpu)
            chosen = choice.with_gpu(Config(spec=spec, engine=EngineName.AUTO), cpu, Stats(), told.append)
            assert (chosen is cpu, gpu.closed) == (not agrees, not agrees)
        assert len(told) == 2 and all("--band" in line for line in told)
        monkeypatch.setattr(choice, "_on_gpus", lambda *_: Astray(engine, dropped, known))
        with pytest.raises(DeviceError, match="leave out --engine gpu"):
            choice.with_gpu(Config(spec=spec, engine=EngineName.GPU), cpu, Stats())
