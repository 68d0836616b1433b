"""The heuristic band on a card: the CPU engine's answers, and its word on what was left out."""

from __future__ import annotations

import dataclasses

import pytest

from wfacli.config import AlignSpec, Heuristics, Limits, Metric, Mode, Penalties
from wfacli.dispatch import route
from wfacli.engines import choice
from wfacli.engines.both import BothEngines
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.rescue import align_batch
from wfacli.forecast import TABLE
from wfacli.stats import Stats

from .support import SEED, assert_equal, batch_of, on_card, some_pairs

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


def banded(metric: Metric, **rest) -> AlignSpec:
    return AlignSpec(metric, Penalties.of(metric), heuristics=Heuristics(band=9, band_step=6), **rest)


@pytest.mark.parametrize("score_only", [False, True])
@pytest.mark.parametrize("metric", [Metric.EDIT, Metric.AFFINE, Metric.AFFINE2P])
def test_the_cpu_s_answers(metric: Metric, score_only: bool) -> None:
    spec, stats = banded(metric, score_only=score_only), Stats()
    cpu = CpuEngine(spec, Limits(), 1)
    wanted = align_batch(cpu, BATCH, spec, Limits(), Stats())
    assert wanted.cut.any() and not wanted.cut.all()
    with on_card(spec, stats=stats) as (card, _):
        found = align_batch(BothEngines(card, cpu), BATCH, spec, Limits(), stats)
    cpu.close()
    assert_equal(found, wanted)
    assert sum(n for name, n in stats.kernels.items() if name.startswith("gpu-wfa-")) > len(BATCH) - 10, stats.kernels


def test_only_a_band_is_for_the_card() -> None:
    spec = banded(Metric.AFFINE)
    assert choice.serves(spec)
    assert not choice.serves(dataclasses.replace(spec, mode=Mode.HW))
    (only,) = route(BATCH, spec, Limits(), gpu=True)
    assert only.kernel == "gpu-wfa-affine-band"
    dear = dataclasses.replace(spec, penalties=Penalties.of(Metric.AFFINE, (90, 200, 31)))
    (only,) = route(BATCH, dear, Limits(), gpu=True)
    assert only.kernel == TABLE, "shared memory does not hold its rows"
