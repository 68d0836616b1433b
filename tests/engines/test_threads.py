"""Many threads at once, each with every kernel: same answers as one thread, and no races for a detector to find."""

import threading

import numpy as np
import pytest

from tests.engines.agreement import (
    AMPLE,
    SCHEMES,
    align_batch,
    aligned,
    mixed_pairs,
    optimum,
    spec_for,
    with_estimates,
)
from wfacli.config import Limits, Mode
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines import cpu
from wfacli.engines import threads as parts_of_routes
from wfacli.engines.cpu import CpuEngine
from wfacli.io.read.memory import pairs_of
from wfacli.plan.kernels import CPU_KERNELS, TABLE


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Split even short routes into many parts."""
    monkeypatch.setattr(cpu, "_SHARED", 0)
    monkeypatch.setattr(parts_of_routes, "_PART_LEAST", 300)


def answers(result):
    return [optimum(result, row) for row in range(len(result.status))]


@pytest.mark.parametrize("scheme", [SCHEMES[0], SCHEMES[6], SCHEMES[11]], ids=str)
def test_one_engine_used_by_several_threads(scheme):
    spec, stats = spec_for(scheme), Stats()
    batches = [mixed_pairs(seed, 120, 150, b"ACGT") for seed in range(6)]
    expected = [answers(aligned(pairs, spec, None, AMPLE)) for pairs in batches]
    engine = CpuEngine(spec, AMPLE, 4, stats=stats)
    found: dict[int, list] = {}

    def run(number: int) -> None:
        pairs = with_estimates(pairs_of(*zip(*batches[number], strict=True)), spec)
        for kernel in (None, *CPU_KERNELS):
            found[number] = answers(align_batch(engine, pairs, spec, AMPLE, stats, kernel))
            assert found[number] == expected[number], kernel

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.close()
    assert [found[number] for number in range(len(batches))] == expected


@pytest.mark.parametrize("kernel", [None, TABLE])
@pytest.mark.parametrize("mode", [Mode.GLOBAL, Mode.OVERLAP])
def test_parts_of_one_batch_over_threads(mode, kernel):
    spec = spec_for(SCHEMES[9], mode)
    pairs = mixed_pairs(1, 3000, 60, b"ACGT")
    batch = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec)
    results = []
    for threads in (1, 2, 4):
        engine = CpuEngine(spec, Limits(), threads)
        results.append(align_batch(engine, batch, spec, Limits(), Stats(), kernel))
        engine.close()
    for other in results[1:]:
        for column in ("status", "cut", "score", "span", "cigar", "cigar_start"):
            assert np.array_equal(getattr(results[0], column), getattr(other, column)), column


def test_rows_are_answered_in_the_order_asked_for():
    spec = spec_for(SCHEMES[6])
    batch = pairs_of(*zip(*mixed_pairs(2, 500, 60, b"ACGT"), strict=True))
    rows = np.random.default_rng(1).permutation(500).astype(np.int32)
    found = []
    for threads in (1, 3):
        engine = CpuEngine(spec, Limits(), threads)
        found.append(engine.collect(engine.submit(batch, Route(rows, TABLE))))
        engine.close()
    assert np.array_equal(found[1].rows, rows) and np.array_equal(found[0].score, found[1].score)
    assert np.array_equal(found[0].cigar, found[1].cigar)
    assert np.array_equal(found[0].cigar_start, found[1].cigar_start)
