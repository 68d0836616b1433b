"""One long pair on a GPU: every algorithm agrees with the CPU's, on generated and real pairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from tests.distance.solvers import cpu_path, solved
from tests.gpus import skip_without_gpu
from wfacli.gpu.runtime.driver import Driver
from wfacli.gpu.runtime.opening import open_driver
from wfacli.solve.base import Pair
from wfacli.solve.distance.choose import AlgorithmChoice, Resources
from wfacli.solve.distance.cpu import CpuBits, CpuWavefront
from wfacli.solve.distance.run import DistanceRun
from wfacli.solve.gpu.bits import GpuBits
from wfacli.solve.gpu.on_demand import any_gpu
from wfacli.solve.gpu.path import METHODS, find_path
from wfacli.solve.gpu.wavefront import GpuWavefront
from wfacli.solve.watchers import Watchers

from .inputs import real_symbols

pytestmark = pytest.mark.gpu

LENGTHS = (0, 1, 33, 1_023, 1_024, 4_097, 20_000, 100_000, 300_000)
DIFFERENCES = (0.0, 0.001, 0.05, 0.3, 1.0)
SYMBOLS = {"ACGT": b"ACGT", "protein": b"ACDEFGHIKLMNPQRSTVWY", "bytes": bytes(range(256))}
KNOWN = {
    "long_mt_human_orang": 3_315,
    "long_lpa_human": 12_160,
    "long_ont_500k": 39_743,
    "long_hpylori_puno120_sjm180": 333_283,
    "long_ecoli_dh1_mg1655": 28_152,
}


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    skip_without_gpu()
    opened = open_driver()
    yield opened
    opened.close()


def generated(length: int, difference: float, symbols: str) -> Pair:
    """Return a sequence and a copy with this difference rate, a third each of mismatches, insertions, deletions."""
    rng, alphabet = np.random.default_rng(length + len(symbols)), np.frombuffer(SYMBOLS[symbols], np.uint8)
    target = alphabet[rng.integers(0, len(alphabet), length)]
    if difference == 1.0:
        query = alphabet[rng.integers(0, len(alphabet), length * 9 // 10)]
    else:
        kind = np.where(rng.random(length) < difference, rng.integers(0, 3, length), 3)
        query = np.where(kind == 0, alphabet[rng.integers(0, len(alphabet), length)], target)
        query = np.repeat(query, np.select([kind == 1, kind == 2], [0, 2], 1))
    return Pair(np.ascontiguousarray(query), target, symbols == "ACGT")


@pytest.mark.parametrize("symbols", SYMBOLS)
def test_generated_pairs(driver: Driver, symbols: str) -> None:
    for length, difference in itertools.product(LENGTHS, DIFFERENCES):
        pair = generated(length, difference, symbols)
        wanted = solved(CpuBits(pair, None, 2))
        if length <= 20_000 or difference < 0.3:
            assert solved(CpuWavefront(pair, None, 2)) == wanted
        for likely in (None, wanted):
            assert solved(GpuBits(driver, pair, None, likely)) == wanted, (length, difference)
        assert solved(GpuWavefront(driver, pair)) == wanted, (length, difference)
        for most in (wanted - 1, wanted):
            known = wanted if most == wanted else None
            assert solved(GpuBits(driver, pair, most)) == known
            assert solved(GpuWavefront(driver, pair, most)) == known


def real_pair(name: str) -> Pair:
    """Load a pair from the folder of real pairs."""
    symbols = real_symbols(name)
    if symbols is None:
        pytest.skip(f"no {name}; WFACLI_TEST_DATA names the folder of real pairs")
    query, target = symbols
    return Pair(query, target, not set(np.unique(np.concatenate([query, target])).tolist()) - set(b"ACGT"))


@pytest.mark.parametrize("name", KNOWN)
def test_real_pairs(driver: Driver, name: str) -> None:
    pair = real_pair(name)
    assert solved(GpuWavefront(driver, pair)) == KNOWN[name]
    assert solved(GpuBits(driver, pair)) == KNOWN[name]
    assert solved(GpuBits(driver, pair, None, KNOWN[name])) == KNOWN[name]


@pytest.mark.parametrize("way", METHODS)
@pytest.mark.parametrize("symbols", ["ACGT", "protein"])
def test_paths_of_generated_pairs(driver: Driver, symbols: str, way: str) -> None:
    for length, difference in itertools.product((33, 1_024, 4_097, 20_000), DIFFERENCES[1:]):
        pair = generated(length, difference, symbols)
        distance = solved(CpuBits(pair, None, 2))
        if not distance:
            continue
        found = find_path(driver, pair, distance, way, lambda: None)
        assert np.array_equal(found.cigar, cpu_path(pair, distance)), (length, difference)


@pytest.mark.parametrize("name", [name for name in KNOWN if "hpylori" not in name])
def test_paths_of_real_pairs(driver: Driver, name: str) -> None:
    pair = real_pair(name)
    wanted = cpu_path(pair, KNOWN[name])
    for way in METHODS:
        assert np.array_equal(find_path(driver, pair, KNOWN[name], way, lambda: None).cigar, wanted), way


def test_a_run_chooses_and_gives_the_gpu_back() -> None:
    skip_without_gpu()
    pair = generated(300_000, 0.3, "ACGT")
    gpu = any_gpu(lambda _: None)
    try:
        outcome = DistanceRun(pair, None, AlgorithmChoice(Resources(2, gpu)), 300, Watchers()).run()
    finally:
        gpu.close()
    assert outcome.distance == solved(CpuBits(pair, None, 2))
