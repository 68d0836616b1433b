"""Noisy, chimeric and dissimilar queries in targets with free ends: narrowing bands and bounded wavefronts."""

import itertools
import random

import pytest

import wfacli
from tests import pairgen
from tests.engines.agreement import (
    ERRORS,
    FREE,
    SCHEMES,
    TIGHT,
    TIMES,
    aligned,
    assert_optimal,
    ends_of,
    free_ends,
    optimum,
    seed_of,
    spec_for,
)
from tests.oracle_spans import optima
from wfacli._native import instruction_sets
from wfacli.config import Ambiguous, FreeEnds, Limits, Mode
from wfacli.core.batch import Status
from wfacli.plan.kernels import DIFFERENCE, GOTOH, INSIDE, LINEAR, TABLE

HARD = [SCHEMES[k] for k in (0, 2, 4, 6, 7, 10, 11, 12, 13)]


def placed(rng, longest, alphabet):
    """Return a noisy copy of a part of a target, and the target.

    In every third pair, one end of the query is unrelated.
    """
    target = pairgen.sequence(rng, rng.randrange(longest // 3, longest), alphabet)
    first = rng.randrange(len(target) // 2)
    last = rng.randrange(first + 1, len(target) + 1)
    query = pairgen.mutated(rng, target[first:last], alphabet, rng.choice(ERRORS))
    other = pairgen.sequence(rng, rng.randrange(longest), alphabet)
    return rng.choice((query, query, query, query, query + other, other + query)), target


def placed_pairs(seed, count, longest, alphabet=b"ACGT"):
    rng = random.Random(seed)
    return [placed(rng, longest, alphabet) for _ in range(count)]


@pytest.mark.parametrize("scheme", HARD, ids=str)
def test_long_enough_for_bands_to_close_in(scheme):
    for turn in range(TIMES):
        rng = random.Random(seed_of(scheme, turn))
        some = FreeEnds(target_begin=rng.choice(FREE[1:]), target_end=rng.choice(FREE))
        assert_optimal(placed_pairs(rng.random(), 8, 700), spec_for(scheme, Mode.SEMIGLOBAL))
        assert_optimal(placed_pairs(rng.random(), 8, 500, b"AC"), spec_for(scheme, Mode.ENDS_FREE, some))


@pytest.mark.parametrize("scheme", HARD, ids=str)
def test_all_short_pairs_whichever_sequence_is_longer(scheme):
    """The kernel of all cells exchanges the roles of the sequences if the query is longer."""
    words = [bytes(word) for size in range(4) for word in itertools.product(b"AC", repeat=size)]
    pairs = list(itertools.product((b"ACACA", b"AACC", b"CCAAC", b"AAAAA", b"CAC", b""), words))
    pairs += [(target, query) for query, target in pairs]
    for begins, ends in ((0, 0), (1, 0), (0, 2), (1 << 30, 1), (1, 1 << 30)):
        for some in (FreeEnds(begins, ends, begins, ends), FreeEnds(begins, 0, ends, 0), FreeEnds(0, ends, 0, begins)):
            assert_optimal(pairs, spec_for(scheme, Mode.ENDS_FREE, some), kernels=(GOTOH,))


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("scheme", [SCHEMES[k] for k in (0, 6, 9, 11, 10)], ids=str)
def test_instruction_sets(scheme, isa):
    assert_optimal(placed_pairs(seed_of(scheme), 8, 400), spec_for(scheme, Mode.SEMIGLOBAL), isa=isa)


@pytest.mark.parametrize("rule", ["wildcard", "literal"])
@pytest.mark.parametrize("scheme", [SCHEMES[k] for k in (1, 6, 13)], ids=str)
def test_rules(scheme, rule):
    pairs = placed_pairs(seed_of(scheme, rule), 20, 200, pairgen.ALPHABETS["iupac"])
    assert_optimal(pairs, spec_for(scheme, Mode.SEMIGLOBAL, ambiguous=Ambiguous(rule)), rule)


def test_any_free_ends():
    for turn in range(24 * TIMES):
        scheme = SCHEMES[turn % len(SCHEMES)]
        spec = spec_for(scheme, Mode.ENDS_FREE, free_ends(turn))
        assert_optimal(placed_pairs(turn, 10, 150, b"ACG"), spec)


def test_checkpoints_that_are_thinned():
    spec = spec_for(SCHEMES[11], Mode.SEMIGLOBAL)
    pairs = placed_pairs(5, 6, 900)
    for limits in (TIGHT, Limits(table=3000, checkpoints=20_000)):
        found = aligned(pairs, spec, DIFFERENCE, limits)
        assert [optimum(found, row) for row in range(6)] == optima(pairs, spec.penalties, ends_of(spec))


def test_all_shortest_pairs():
    """Test all pairs with tiny queries: for a query of one base, the path may end in the first row."""
    words = [bytes(word) for symbols in range(5) for word in itertools.product(b"AC", repeat=symbols)]
    pairs = [(query, target) for query in words for target in words if len(query) < 3]
    for scheme in SCHEMES:
        for begin, end in ((1 << 30, 0), (0, 1 << 30), (1 << 30, 1 << 30), (1, 0), (2, 1), (1, 3)):
            free = FreeEnds(target_begin=begin, target_end=end)
            assert_optimal(pairs, spec_for(scheme, Mode.ENDS_FREE, free))


@pytest.mark.parametrize("kernel", [INSIDE, DIFFERENCE, TABLE, LINEAR])
@pytest.mark.parametrize("scheme", [SCHEMES[k] for k in (0, 6, 9, 11)], ids=str)
def test_bounds_on_the_cost(scheme, kernel):
    """A pair that costs exactly the maximum is aligned; one that costs more is not."""
    pairs = placed_pairs(seed_of(scheme), 30, 400)
    spec = spec_for(scheme, Mode.ENDS_FREE, FreeEnds(target_begin=40, target_end=200))
    if scheme[2]:
        spec = spec_for((*scheme[:2], 0), Mode.ENDS_FREE, spec.free)
    for pair, best in zip(pairs, optima(pairs, spec.penalties, ends_of(spec)), strict=True):
        for bound in (-best.score, -best.score + 1, -best.score - 1):
            if bound < 0:
                continue
            bounded = spec_for((*scheme[:2], 0), Mode.ENDS_FREE, spec.free, max_cost=bound)
            found = aligned([pair], bounded, kernel, Limits())
            if bound < -best.score:
                assert found.status[0] == Status.SCORE_LIMIT, (pair, bound)
            else:
                assert optimum(found, 0) == best, (pair, bound)


def test_a_gap_at_the_end_of_what_is_likely_is_open_already():
    # The last bases of the gap pay no opening cost, so wavefronts must keep their diagonals.
    spec = spec_for(SCHEMES[11], Mode.ENDS_FREE, FreeEnds(target_begin=1, target_end=40))
    for symbols in range(150, 190):
        pair = (b"A" * 99, b"A" * symbols)
        assert_optimal([pair], spec)


def test_one_long_noisy_pair_takes_the_kernel_of_a_batch():
    rng = random.Random(8)
    inside = pairgen.sequence(rng, 2500, b"ACGT")
    query = pairgen.mutated(rng, inside, b"ACGT", 0.2)
    target = pairgen.sequence(rng, 400, b"ACGT") + inside + pairgen.sequence(rng, 300, b"ACGT")
    (whole,) = wfacli.align_pairs([query], [target], mode="semiglobal")
    assert wfacli.align(query, target, mode="semiglobal") == whole
