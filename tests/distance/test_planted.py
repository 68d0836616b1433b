"""Pairs whose distance is known by construction (bench/peers/distance_work.py: planted)."""

from __future__ import annotations

import os

import numpy as np
import pytest

from bench.peers.distance_work import Row, made, planted
from tests.emulation.driver import EmulatedDriver
from wfacli.solve.base import Pair
from wfacli.solve.distance.cpu import CpuBits, CpuWavefront
from wfacli.solve.gpu.bits import GpuBits
from wfacli.solve.gpu.wavefront import GpuWavefront

from .solvers import edit_distance, solved

SYMBOLS = np.frombuffer(b"ACGT", np.uint8)
RATES = [0.0, 0.001, 0.01, 0.1, 0.3, 0.7, 1.0]
ON_CPU = {"wavefront": CpuWavefront, "bits": CpuBits}
ON_GPU = {"wavefront": GpuWavefront, "bits": GpuBits}
# For `make fuzz`; the larger one takes each algorithm a minute.
LARGE = [("2 Mb 90%", 2_000_000, 0.1), ("10 Mb 99%", 10_000_000, 0.01)]


def pair_of(count, rate, seed):
    rng = np.random.default_rng(seed)
    target = SYMBOLS[rng.integers(0, 4, count)]
    query, distance = planted(target, rate, rng)
    return Pair(query, target, True), distance


@pytest.mark.parametrize("rate", RATES)
def test_the_proof(rate):
    for seed in range(12):
        pair, distance = pair_of(90, rate, seed)
        assert edit_distance(pair.query.tolist(), pair.target.tolist()) == distance
        assert np.count_nonzero(pair.query == ord("C")) - np.count_nonzero(pair.target == ord("C")) == distance


@pytest.mark.parametrize("turned", [False, True], ids=["put in", "left out"])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("solver", ON_CPU)
def test_on_the_cpu(solver, rate, turned):
    for count in (1_000, 20_000):
        pair, distance = pair_of(count, rate, count)
        if turned:
            pair = Pair(pair.target, pair.query, True)
        for most in (None, distance, distance - 1) if distance else (None,):
            found = solved(ON_CPU[solver](pair, most, 2))
            assert found == (distance if most is None or most >= distance else None)


@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("solver", ON_GPU)
def test_on_a_gpu(solver, rate):
    pair, distance = pair_of(1_500, rate, 7)
    driver = EmulatedDriver(multiprocessors=8)
    try:
        assert solved(ON_GPU[solver](driver, pair)) == distance
    finally:
        driver.close()


def test_pairs_of_the_benchmark():
    for error in (0.01, 0.3):
        work = made(Row("planted", bases=300_000, error=error, planted=True), None)
        assert work.known == np.count_nonzero(work.pair.query == ord("C")) - np.count_nonzero(
            work.pair.target == ord("C")
        )
        assert solved(CpuBits(work.pair, None, 2)) == work.known


@pytest.mark.skipif(not os.environ.get("WFACLI_FUZZ"), reason="takes minutes: make fuzz")
@pytest.mark.parametrize(("name", "symbols", "error"), LARGE, ids=[name for name, *_ in LARGE])
@pytest.mark.parametrize("solver", ON_CPU)
def test_large_pairs(solver, name, symbols, error):
    work = made(Row(name, bases=symbols, error=error, planted=True), None)
    assert work.known and solved(ON_CPU[solver](work.pair, None, 2)) == work.known
