"""Compare bit-parallel bands over one long pair on the emulated GPU with plain dynamic programming."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from tests.emulation.test_long_wavefront import Run as OnOwnGpu
from tests.emulation.test_long_wavefront import plain, symbols_of
from tests.pairgen import mutated, random_pairs, sequence
from wfacli.errors import OutOfDeviceMemory
from wfacli.gpu.kernels.long_bits import (
    SHAPES,
    Band,
    Shape,
    best_shape,
    cells,
    columns,
    padding_rows,
    stripes,
    stripes_before,
    total_stripes,
)
from wfacli.solve.gpu.bits import GpuBits, forecast

ONE, TWO, EIGHT = Shape(2, 1), Shape(2, 2), Shape(8, 1)


class Run(OnOwnGpu):
    """A solver with its own driver, which is checked at the end."""

    def __init__(self, query, target, most=None, likely=None, shape=None, *, order=0, planes=2):
        self.driver = EmulatedDriver(order=order)
        self.solver = GpuBits(self.driver, symbols_of(query, target, planes), most, likely, shape)


def distance(*args, **more):
    with Run(*args, **more) as solver:
        before = -1
        while not solver.advance(0):
            assert before <= solver.position.lower_bound <= plain(*args[:2])
            before = solver.position.lower_bound
            assert 0 <= solver.position.fraction_done <= 1
        return solver.distance


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("shape", "planes"), [(ONE, 2), (TWO, 2), (EIGHT, 8)], ids=["one", "two", "bytes"])
def test_random_pairs(shape, planes, order):
    alphabet = b"ACGT" if planes == 2 else bytes(range(256))
    for query, target in random_pairs(order, 12, 150, alphabet):
        assert distance(query, target, shape=shape, order=order, planes=planes) == plain(query, target)


@pytest.mark.parametrize("rows", [1023, 1024, 1025, 2047, 2048, 2049, 2500])
@pytest.mark.parametrize("error", [0.0, 0.02, 0.3])
def test_edges_of_stripes(rows, error):
    rng = random.Random(rows)
    query = sequence(rng, rows, b"ACGT")
    target = mutated(rng, query, b"ACGT", error)
    wanted = plain(query, target)
    for likely in (0, wanted, 3 * wanted):
        assert distance(query, target, likely=likely, shape=ONE) == wanted


@pytest.mark.parametrize("rows", [3072, 3073, 4095, 4096, 4097, 5120, 6200])
@pytest.mark.parametrize("error", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("order", [0, 1])
def test_two_matrices_meet(rows, error, order):
    rng = random.Random(rows)
    query = sequence(rng, rows, b"ACGT")
    target = mutated(rng, query, b"ACGT", error)
    wanted = plain(query, target)
    assert (stripes(ONE, rows)[1] > 0) == (rows > 3072)
    for likely in (0, wanted):
        assert distance(query, target, likely=likely, shape=ONE, order=order) == wanted
        assert distance(target, query, likely=likely, shape=ONE, order=order) == wanted


@pytest.mark.parametrize(("planes", "words"), [(2, 4), (2, 8), (4, 2), (4, 4), (8, 2)])
def test_builds(planes, words):
    """Test two and a partial stripe, for all widths of the lookup tables."""
    rng = random.Random(words)
    symbols = {2: b"ACGT", 4: b"ACGTNRYKM", 8: bytes(range(256))}[planes]
    query = sequence(rng, 2 * 1024 * words + 100 if words < 8 else 9000, symbols)
    target = mutated(rng, query, symbols, 0.01)
    wanted = plain(query, target)
    assert distance(query, target, likely=wanted, shape=Shape(planes, words), planes=planes) == wanted


def test_matrices_take_turns():
    for rows in range(1, 12_000, 77):
        first, second = stripes(ONE, rows)
        assert second in (0, first, first + 1) and total_stripes(ONE, rows) == first + second == -(-rows // 1024)
        assert 0 <= padding_rows(ONE, rows) < 1024
        assert stripes_before(first + second, second > 0) == (first, second)
        assert all(sum(stripes_before(turn, second > 0)) == turn for turn in range(first + second))


def test_lengths_that_differ():
    rng = random.Random(2)
    longer = sequence(rng, 2600, b"ACGT")
    for begin, end in ((0, 40), (1300, 1340), (2560, 2600), (0, 1500), (700, 2100)):
        shorter = longer[begin:end]
        for query, target in ((longer, shorter), (shorter, longer)):
            assert distance(query, target, likely=0, shape=ONE) == plain(query, target)


def test_random_sequences():
    """Test unrelated sequences: the band widens to the whole matrix."""
    rng = random.Random(3)
    query, target = sequence(rng, 1500, b"ACGT"), sequence(rng, 1700, b"ACGT")
    for shape in (ONE, TWO):
        assert distance(query, target, likely=1, shape=shape) == plain(query, target)


@pytest.mark.parametrize("by", [-1, 0, 1])
def test_most(by):
    rng = random.Random(4)
    query = sequence(rng, 1800, b"ACGT")
    target = mutated(rng, query, b"ACGT", 0.2)
    wanted = plain(query, target)
    for likely in (0, wanted):
        found = distance(query, target, most=wanted + by, likely=likely, shape=ONE)
        assert found == (wanted if by >= 0 else None)
    assert distance(query, b"", most=1799) is None and distance(query, b"", most=1800) == 1800


def test_states():
    """Stop after each stripe and continue in another solver."""
    rng = random.Random(5)
    query = sequence(rng, 3600, b"ACGT")
    target = mutated(rng, query, b"ACGT", 0.1)
    wanted, driver = plain(query, target), EmulatedDriver(multiprocessors=1)
    pair, stops, state = symbols_of(query, target), 0, None
    for _ in range(40):
        solver = GpuBits(driver, pair, expected_edits=20, shape=ONE)
        if state is not None:
            solver.restore(state)
        turn, at_least = solver._next_stripe, solver.position.lower_bound
        solver.compute_stripes(1)
        over, state = solver._finished, solver.save()
        assert over or solver._next_stripe == turn + 1 or solver.position.lower_bound > at_least
        stops += 1
        found = solver.distance
        solver.close()
        if over:
            break
    assert found == wanted and stops > 6
    assert not leaks(driver)


def test_states_that_are_none():
    rng = random.Random(6)
    query = sequence(rng, 2100, b"ACGT")
    with Run(query, query, likely=4, shape=ONE) as solver:
        good = solver.save()
        for bad in ({}, {"numbers": np.zeros(2, np.int64)}, {"numbers": good["numbers"] + 10_000}):
            with pytest.raises(ValueError, match="no state"):
                solver.restore(bad)
        solver.restore(good)
        assert solver.advance(1) and solver.distance == 0


def test_no_memory_left():
    rng = random.Random(7)
    pair = symbols_of(sequence(rng, 4000, b"ACGT"), sequence(rng, 4000, b"ACGT"))
    driver = EmulatedDriver()
    driver.fail(call="allocate", after=4, error=OutOfDeviceMemory)
    with pytest.raises(OutOfDeviceMemory):
        GpuBits(driver, pair, shape=ONE)
    assert not leaks(driver)
    driver.close()


def test_little_memory_takes_fewer_stripes_at_a_time():
    rng = random.Random(9)
    query = sequence(rng, 9000, b"ACGT")
    target = mutated(rng, query, b"ACGT", 0.02)
    driver = EmulatedDriver(memory_total=22_000)
    solver = GpuBits(driver, symbols_of(query, target), expected_edits=400, shape=ONE)
    assert 3 <= solver._slots < max(solver._stripes)
    while not solver.advance(0):
        pass
    assert solver.distance == plain(query, target)
    solver.close()
    assert not leaks(driver)
    driver.close()


def test_bands_prove_what_they_say():
    for m, n, d in ((1000, 1000, 100), (1000, 900, 100), (10, 900, 890), (64, 64, 3), (5000, 5001, 5001)):
        band = Band.for_distance(m, n, d)
        assert band.proves >= d and band.low <= min(0, n - m) and band.high >= max(0, n - m)
        assert band.high - band.low >= 64
        last = columns(ONE, band, total_stripes(ONE, m) - 1, n)
        assert last[1] == -(-n // 32) and cells(ONE, band, 0, total_stripes(ONE, m), (m, n)) > 0


def test_fewer_words_for_narrow_bands():
    narrow, wide = (Band.for_distance(5_000_000, 5_000_000, d) for d in (20_000, 5_000_000))
    assert best_shape(2, 132, (5_000_000, 5_000_000), narrow).words <= 2
    assert best_shape(2, 132, (5_000_000, 5_000_000), wide).words >= 4
    driver = EmulatedDriver()
    assert forecast(driver.gpu, (10**6, 10**6), 10**5, True) > forecast(driver.gpu, (10**6, 10**6), 10**3, True)
    driver.close()
    assert {shape.planes for shape in SHAPES} == {2, 4, 8}


def test_few_symbols_take_fewer_planes():
    rng = random.Random(8)
    query = sequence(rng, 1100, b"ACGTNRY-acgt*WSK")
    target = mutated(rng, query, b"ACGTNRY-acgt*WSK", 0.1)
    with Run(query, target, planes=8, shape=Shape(4, 1)) as solver:
        assert solver._planes == 4
        assert solver.advance(1) and solver.distance == plain(query, target)
