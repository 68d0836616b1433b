"""Compare the CPU solvers of `wfacli distance` with plain dynamic programming, edlib and each other."""

import random

import edlib
import numpy as np
import pytest

from tests import pairgen
from wfacli import _native
from wfacli.solve.base import Pair
from wfacli.solve.distance.cpu import CpuBits, CpuWavefront, forecast

from .solvers import edit_distance

SOLVERS = [CpuWavefront, CpuBits]
EDGES = [*range(10), 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 69, 70]


def pair_of(query, target, symbols=np.uint8):
    return Pair(np.frombuffer(query, np.uint8).astype(symbols), np.frombuffer(target, np.uint8).astype(symbols), False)


def native(solver, pair, most, isa="", wide=False):
    """Return the native solver for an instruction set, or with 64-bit offsets."""
    most = -1 if most is None else most
    if solver is CpuWavefront:
        return _native.EditWavefront(pair.query, pair.target, most, 1, wide, isa)
    return _native.EditBits(pair.query, pair.target, most, 1, isa)


def distance_by(solver):
    while not solver.advance(1):
        pass
    return solver.distance


def distance(solver, pair, most=None, threads=1):
    return distance_by(solver(pair, most, threads))


def small_pairs(rng, count):
    """Yield similar and dissimilar pairs of up to 70 symbols, over few and over all byte values."""
    for _ in range(count):
        alphabet = rng.choice((b"A", b"AC", b"ACGT", b"ACGTN", bytes(range(256)), b"abcdefghij"))
        query = pairgen.sequence(rng, rng.choice(EDGES), alphabet)
        if rng.random() < 0.3:
            yield query, pairgen.sequence(rng, rng.choice(EDGES), alphabet)
        else:
            yield query, pairgen.mutated(rng, query, alphabet, rng.choice((0, 0.02, 0.1, 0.3, 0.6, 1)))[:80]


@pytest.mark.parametrize("solver", SOLVERS)
def test_small_pairs_have_the_distance_of_plain_dynamic_programming(solver):
    rng = random.Random(1)
    for query, target in small_pairs(rng, 1200):
        want = edit_distance(query, target)
        pair = pair_of(query, target)
        assert distance(solver, pair, threads=rng.choice((1, 2))) == want, (query, target)
        for isa in _native.instruction_sets():
            assert distance_by(native(solver, pair, None, isa)) == want, (query, target, isa)


@pytest.mark.parametrize("solver", SOLVERS)
def test_tiny_pairs_of_two_symbols_all_of_them(solver):
    words = [bytes(b"AB"[x >> i & 1] for i in range(length)) for length in range(6) for x in range(1 << length)]
    for query in words:
        for target in words:
            assert distance(solver, pair_of(query, target)) == edit_distance(query, target), (query, target)


@pytest.mark.parametrize("solver", SOLVERS)
def test_most_that_matters(solver):
    rng = random.Random(2)
    for query, target in small_pairs(rng, 300):
        want = edit_distance(query, target)
        for most in {0, want - 1, want, want + 1, rng.randint(0, 80)} - {-1}:
            found = distance(solver, pair_of(query, target), most)
            assert found == (want if want <= most else None), (query, target, most)


def test_wavefront_of_wide_offsets_and_of_codes():
    rng = random.Random(3)
    for query, target in small_pairs(rng, 400):
        want = edit_distance(query, target)
        for isa in _native.instruction_sets():
            for symbols in (np.uint8, np.uint32):
                pair = pair_of(query, target, symbols)
                for wide in (False, True):
                    found = distance_by(native(CpuWavefront, pair, None, isa, wide))
                    assert found == want, (query, target, isa, symbols, wide)
    codes = np.random.default_rng(1).integers(0, 2**32, 500, np.uint32)
    other = np.delete(codes, [3, 100, 490])
    other[[7, 8, 200]] ^= np.uint32(1 << 31)
    assert distance(CpuWavefront, Pair(codes, other, False)) == 6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("symbols", "error", "alphabet"),
    [
        (1_000, 0.5, b"ACGT"),
        (5_000, 0.2, b"ACGTN"),
        (20_000, 0.05, bytes(range(256))),
        (20_000, 0.3, b"ACGT"),
        (300_000, 0.002, b"ACGT"),
        (0, 0, b"ACGT"),
    ],
)
def test_long_pairs_have_edlibs_distance(solver, symbols, error, alphabet):
    rng = random.Random(symbols)
    query = pairgen.sequence(rng, symbols or 6_000, alphabet)
    target = pairgen.mutated(rng, query, alphabet, error) if symbols else pairgen.sequence(rng, 9_000, alphabet)
    want = edlib.align(query, target, task="distance")["editDistance"]
    pair = pair_of(query, target)
    for most in (None, want - 1, want, want + 1):
        for threads in (1, 2):
            assert distance(solver, pair, most, threads) == (None if most == want - 1 else want)
    assert distance(solver, pair_of(target, query)) == want
    for isa in _native.instruction_sets():
        assert distance_by(native(solver, pair, None, isa)) == want, isa


def gapped_pairs():
    """Yield pairs with lengths at slab edges: dissimilar, similar, with long gaps, and far off the diagonal."""
    rng = random.Random(8)
    for length in (1023, 1024, 1025, 2048, 3071, 3072):
        symbols = pairgen.sequence(rng, length, b"ACGT")
        more = pairgen.sequence(rng, 1500, b"ACGT")
        yield symbols, pairgen.sequence(rng, length - 700, b"ACGT")
        yield symbols, symbols[:500] + b"T" + symbols[502:-200] + symbols[-199:]
        for at in (0, 64, length // 2, length):
            yield symbols, symbols[:at] + more + symbols[at:]
            yield symbols, symbols[:at] + symbols[at + 600 :]
        yield symbols + more, more + symbols
    begin, end, gap, other = (pairgen.sequence(rng, length, b"ACGT") for length in (3000, 12_000, 1500, 1500))
    yield begin + gap + end, begin + end + other
    yield begin + gap + end + other, begin + end
    yield begin + end, begin + gap + end + other


@pytest.mark.parametrize("solver", SOLVERS)
def test_long_gaps_and_edges_of_slabs(solver):
    for query, target in gapped_pairs():
        want = edlib.align(query, target, task="distance")["editDistance"]
        for pair in (pair_of(query, target), pair_of(target, query)):
            for most in {None, want - 1, want} - {-1}:
                running = solver(pair, most, 1)
                while not running.advance(0):
                    assert running.position.lower_bound <= want
                assert running.distance == (None if most == want - 1 else want), (len(query), len(target), most)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_saved_state_goes_on_to_the_same_distance(solver):
    rng = random.Random(4)
    for query, target in [*small_pairs(rng, 60), saved_pair(rng)]:
        pair = pair_of(query, target)
        first = solver(pair, None, 1)
        want, before = distance(solver, pair), -1
        for _ in range(10_000):
            state = first.save()
            second = solver(pair, None, 2)
            second.restore({name: values.copy() for name, values in state.items()})
            assert second.position == first.position
            assert before <= second.position.lower_bound <= want
            before = second.position.lower_bound
            third = solver(pair, None, 1)
            third.restore(second.save())
            assert distance_by(third) == want, (query, target)
            if first.advance(0):
                break
        assert first.distance == want


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_state_goes_on_with_other_instructions(solver):
    pair = pair_of(*saved_pair(random.Random(7)))
    want = distance(solver, pair)
    first = native(solver, pair, None, _native.instruction_sets()[0])
    first.advance(0)
    second = solver(pair, None, 1)
    second.restore(first.save())
    assert distance_by(second) == want


def saved_pair(rng):
    query = pairgen.sequence(rng, 9_000, b"ACGT")
    return query, pairgen.mutated(rng, query, b"ACGT", 0.03)


@pytest.mark.parametrize("solver", SOLVERS)
def test_states_that_are_none_are_refused(solver):
    query, target = saved_pair(random.Random(5))
    pair = pair_of(query, target)
    running = solver(pair, 2_000, 1)
    running.advance(0)
    state = running.save()
    others = [
        solver(pair_of(query[:-1], target), 2_000, 1),
        solver(pair_of(b"T" + query[1:] if query[:1] != b"T" else b"A" + query[1:], target), 2_000, 1),
        solver(pair, 1_999, 1),
    ]
    for other in others:
        with pytest.raises(ValueError, match="state"):
            other.restore(state)
    fresh = solver(pair, 2_000, 1)
    for name, values in state.items():
        for wrong in (values[:-1], np.append(values, 0), values.astype(np.float64), None):
            with pytest.raises(ValueError, match="state"):
                fresh.restore({**state, name: wrong})
        with pytest.raises(ValueError, match="state"):
            fresh.restore({other: values for other, values in state.items() if other != name})
    for at in range(len(state["numbers"])):
        for value in (-2, 2**62):
            numbers = state["numbers"].copy()
            numbers[at] = value
            try:
                fresh.restore({**state, "numbers": numbers})
            except ValueError as error:
                assert "state" in str(error)
    if solver is CpuWavefront:
        with pytest.raises(ValueError, match="state"):
            fresh.restore({**state, "ahead": state["ahead"] + 2**40})
    fresh.restore(state)
    assert distance_by(fresh) == distance(solver, pair, 2_000)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_stops_soon_says_how_far_it_is_and_closes(solver):
    rng = np.random.default_rng(6)
    pair = Pair(rng.integers(0, 4, 400_000).astype(np.uint8), rng.integers(0, 4, 400_000).astype(np.uint8), False)
    running = solver(pair, None, 2)
    assert not running.advance(0.02)
    position = running.position
    assert position.cells > 0
    assert position.fraction_done is not None
    assert 0 < position.fraction_done < 1
    assert running.distance is None
    running.close()
    running.close()
    with pytest.raises(ValueError, match="closed"):
        running.advance(0)


def test_symbols_of_other_types_are_refused():
    symbols = np.zeros(4, np.uint8)
    for query, target in ((symbols.astype(np.uint16), symbols), (symbols, symbols.astype(np.uint32))):
        with pytest.raises(TypeError, match="symbols"):
            CpuWavefront(Pair(query, target, False), None, 1)
    with pytest.raises(TypeError, match="symbols"):
        CpuBits(pair_of(b"AC", b"A", np.uint32), None, 1)


def test_forecasts_say_which_algorithm_suits_a_pair():
    symbols = np.zeros(1_000_000, np.uint8)
    pair = Pair(symbols, symbols[:-3], True)
    few, many = forecast(pair, 100), forecast(pair, 200_000)
    assert few["wavefront"] < few["bits"]
    assert many["bits"] < many["wavefront"]
    assert forecast(pair, 200_000, 2)["bits"] < many["bits"]
    assert forecast(Pair(symbols, symbols, False), 200_000)["bits"] > many["bits"]
    lines = symbols.astype(np.uint32)
    assert np.isinf(forecast(Pair(lines, lines, False), 200_000)["bits"])
    empty = symbols[:0]
    assert forecast(Pair(empty, empty, True), 0)["bits"] < 0.001
