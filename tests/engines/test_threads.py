"""Many threads at once, each with every kernel: the same answers as one, and nothing for a race detector to find."""

import threading

import numpy as np
import pytest

from tests.engines.agreement import AMPLE, SCHEMES, aligned, mixed_pairs, optimum, spec_for
from wfacli.config import Limits, Mode
from wfacli.dispatch import CPU_KERNELS
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.rescue import align_batch
from wfacli.estimate import with_estimates
from wfacli.io.memory import pairs_of
from wfacli.stats import Stats


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


def test_slices_of_one_batch_over_threads():
    spec = spec_for(SCHEMES[9], Mode.OVERLAP)
    pairs = mixed_pairs(1, 3000, 60, b"ACGT")
    batch = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec)
    results = []
    for threads in (1, 4):
        engine = CpuEngine(spec, Limits(), threads)
        results.append(align_batch(engine, batch, spec, Limits(), Stats()))
        engine.close()
    assert np.array_equal(results[0].score, results[1].score)
    assert np.array_equal(results[0].cigar, results[1].cigar)
