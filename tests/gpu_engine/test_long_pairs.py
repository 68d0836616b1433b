"""Long pairs beside a GPU take all of it, with the CPU's output, and fall back to the CPU if the GPU fails."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.engines.agreement import align_batch
from tests.pairgen import mutated, sequence
from wfacli.config import AlignSpec, Limits
from wfacli.core import tuning
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.hybrid import HybridEngine
from wfacli.errors import Cancelled, DeviceError

from .support import AFFINE, EDIT, assert_equal, batch_of, opened_gpu, within

LONG = 600  # bases


@pytest.fixture(autouse=True)
def long_ones(monkeypatch):
    """Make pairs of this length long, and the GPU faster than the CPU."""
    monkeypatch.setattr(tuning, "LONG_PAIR_BASES", LONG)
    monkeypatch.setattr(tuning, "LONG_PAIR_SECONDS", 0.0)
    monkeypatch.setattr(tuning, "LONG_PAIR_MARGIN", 0.0)


def some_pairs():
    """Return long and short, similar and dissimilar pairs, some with other symbols or empty."""
    rng = random.Random(4)
    found = []
    for length, error in ((900, 0.02), (40, 0.1), (700, 0.3), (800, 0.0), (650, 1.0), (60, 0.0), (900, 0.1)):
        target = sequence(rng, length, b"ACGT")
        query = mutated(rng, target, b"ACGT", error) if error < 1 else sequence(rng, length - 30, b"ACGT")
        found.append((query.lower() if length == 700 else query, target))
    return [*found, (b"", sequence(rng, 700, b"ACGT")), (found[0][0][:800] + b"N", found[0][1])]


BATCH = batch_of(some_pairs())
ON_GPU = [0, 2, 3, 4, 6]


def align(engine, spec: AlignSpec):
    # As if the GPU's batch kernels supported none of them.
    return within(lambda: align_batch(engine, BATCH, spec, Limits(), Stats(), "stripes"))


def wanted(spec):
    cpu = CpuEngine(spec, Limits(), 1)
    try:
        return align(cpu, spec)
    finally:
        cpu.close()


@pytest.mark.parametrize("scores", [False, True], ids=["paths", "scores"])
@pytest.mark.parametrize("kind", ["gpu-wavefront", "gpu-bits"])
def test_the_same_bytes(monkeypatch, scores, kind):
    spec = replace(EDIT, score_only=scores)
    with opened_gpu(spec, multiprocessors=8) as (gpu, _):
        cpu, long = CpuEngine(spec, Limits(), 2), gpu.long_pairs()
        other = {"gpu-wavefront": "gpu-bits", "gpu-bits": "gpu-wavefront"}[kind]
        monkeypatch.setattr(long, "_seconds", lambda *_: {kind: 0.0, other: 1.0})
        both = HybridEngine(gpu, cpu, long)
        assert long.takes(BATCH, np.arange(len(BATCH), dtype=np.int32)).tolist() == ON_GPU
        found = align(both, spec)
        assert both.stats()["long_pairs"] == len(ON_GPU)
        cpu.close()
    assert_equal(found, wanted(spec))


@pytest.mark.parametrize("call", ["launch", "allocate", "upload", "download"])
@pytest.mark.parametrize("after", [0, 5, 40])
def test_a_gpu_that_fails(call, after):
    with opened_gpu(EDIT, multiprocessors=8) as (gpu, driver):
        cpu = CpuEngine(EDIT, Limits(), 1)
        both = HybridEngine(gpu, cpu, gpu.long_pairs())
        driver.fail(call=call, after=after, error=DeviceError)
        found = align(both, EDIT)
        cpu.close()
    assert_equal(found, wanted(EDIT), f"{call} after {after}")


def test_few_short_pairs_are_aligned_while_the_gpu_works():
    short = np.flatnonzero(np.maximum(BATCH.q_len, BATCH.t_len) < 100).astype(np.int32)
    with opened_gpu(EDIT) as (gpu, _):
        cpu = CpuEngine(EDIT, Limits(), 1)
        both, asked = HybridEngine(gpu, cpu), []
        collect = cpu.collect
        cpu.collect = lambda ticket: asked.append(ticket) or collect(ticket)
        ticket = both.submit(BATCH, Route(short, "stripes"))
        assert len(asked) == 1
        assert both.collect(ticket).rows.tolist() == short.tolist() and len(asked) == 1
        both.submit(BATCH, Route(np.zeros(300, np.int32), "stripes"))
        assert len(asked) == 1
        cpu.close()


def test_what_it_does_not_take():
    rows = np.arange(len(BATCH), dtype=np.int32)
    for spec in (AFFINE, replace(EDIT, max_cost=5)):
        with opened_gpu(spec) as (gpu, _):
            assert not len(gpu.long_pairs().takes(BATCH, rows))


def test_models_decide(monkeypatch):
    rows = np.arange(len(BATCH), dtype=np.int32)
    with opened_gpu(EDIT) as (gpu, _):
        long = gpu.long_pairs()
        monkeypatch.setattr(tuning, "LONG_PAIR_MARGIN", 1.5)
        assert not len(long.takes(BATCH, rows)), "the CPU has done these before a GPU begins"
        monkeypatch.setattr(tuning, "LONG_PAIR_MARGIN", 0.0)
        monkeypatch.setattr(tuning, "LONG_PAIR_SECONDS", 1.0)
        assert not len(long.takes(BATCH, rows)), "nor is it asked for what takes no time"


def test_stops():
    with opened_gpu(EDIT, multiprocessors=8) as (gpu, _):
        cpu = CpuEngine(EDIT, Limits(), 1)
        both = HybridEngine(gpu, cpu, gpu.long_pairs())
        both.cancel()
        with pytest.raises(Cancelled):
            align(both, EDIT)
        cpu.close()
