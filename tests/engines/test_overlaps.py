"""Noisy overlaps and other free ends of the query: dynamic programming where a wavefront would look everywhere."""

import itertools
import random

import numpy as np
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
from wfacli.batch import Status
from wfacli.config import Ambiguous, FreeEnds, Limits, Mode
from wfacli.dispatch import after, candidates, route
from wfacli.forecast import CAPPED, DIFFERENCE, LINEAR, TABLE
from wfacli.io.memory import pairs_of

BONUS = [SCHEMES[k] for k in (1, 3, 5, 8, 9, 10, 13, 14)]  # without a bonus an overlap had best be empty


def overlapping(rng, longest, alphabet):
    """Two sequences that have an end of one and a beginning of the other in common, or one that holds the other."""
    common = pairgen.sequence(rng, rng.randrange(1, longest), alphabet)
    other = pairgen.mutated(rng, common, alphabet, rng.choice(ERRORS))
    before, behind = (pairgen.sequence(rng, rng.randrange(longest), alphabet) for _ in range(2))
    query, target = rng.choice(
        ((before + common, other + behind), (common + behind, before + other), (before + common + behind, other))
    )
    return (query, target) if rng.random() < 0.5 else (target, query)


def overlaps(seed, count, longest, alphabet=b"ACGT"):
    rng = random.Random(seed)
    return [overlapping(rng, longest, alphabet) for _ in range(count)]


@pytest.mark.parametrize("scheme", BONUS, ids=str)
def test_overlaps(scheme):
    for turn in range(TIMES):
        assert_optimal(overlaps(seed_of(scheme, turn), 10, 300), spec_for(scheme, Mode.OVERLAP))
        assert_optimal(overlaps(seed_of(turn, scheme), 20, 60, b"AC"), spec_for(scheme, Mode.OVERLAP))


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_some_letters_at_each_end(scheme):
    for turn in range(3 * TIMES):
        rng = random.Random(seed_of(scheme, turn))
        free = FreeEnds(*(rng.choice(FREE) for _ in range(4)))
        assert_optimal(overlaps(rng.random(), 6, 250), spec_for(scheme, Mode.ENDS_FREE, free))
        assert_optimal(overlaps(rng.random(), 10, 40, b"ACG"), spec_for(scheme, Mode.ENDS_FREE, free_ends(turn)))


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("scheme", [SCHEMES[k] for k in (1, 5, 9, 13)], ids=str)
def test_instruction_sets(scheme, isa):
    assert_optimal(overlaps(seed_of(scheme), 8, 200), spec_for(scheme, Mode.OVERLAP), isa=isa)


@pytest.mark.parametrize("rule", ["wildcard", "literal"])
@pytest.mark.parametrize("scheme", [SCHEMES[k] for k in (1, 9, 13)], ids=str)
def test_rules(scheme, rule):
    pairs = overlaps(seed_of(scheme, rule), 20, 100, pairgen.ALPHABETS["iupac"])
    assert_optimal(pairs, spec_for(scheme, Mode.OVERLAP, ambiguous=Ambiguous(rule)), rule)


def test_all_shortest_pairs():
    """Where a sequence of one letter is left out the path ends in the very first row."""
    words = [bytes(word) for letters in range(4) for word in itertools.product(b"AC", repeat=letters)]
    pairs = list(itertools.product(words, words))
    most = 1 << 30
    for scheme, ends in itertools.product(
        SCHEMES, ((most,) * 4, (most, 0, 0, most), (0, most, most, 0), (1, 0, 0, 0), (0, 2, 1, 0), (1, 1, 1, 1))
    ):
        assert_optimal(pairs, spec_for(scheme, Mode.ENDS_FREE, FreeEnds(*ends)))


def test_checkpoints_that_are_thinned():
    spec, pairs = spec_for(SCHEMES[13], Mode.OVERLAP), overlaps(5, 4, 900)
    best = optima(pairs, spec.penalties, ends_of(spec))
    for limits in (TIGHT, Limits(table=3000, checkpoints=20_000)):
        found = aligned(pairs, spec, DIFFERENCE, limits)
        assert [optimum(found, row) for row in range(len(pairs))] == best


def test_a_wavefront_that_has_looked_far_hands_on():
    spec = spec_for(SCHEMES[9], Mode.OVERLAP)
    assert candidates(spec) == (CAPPED,)
    assert candidates(spec_for(SCHEMES[9], Mode.ENDS_FREE, FreeEnds(query_end=3))) == (CAPPED,)
    bounded = spec_for(SCHEMES[6], Mode.ENDS_FREE, FreeEnds(query_end=3), max_cost=9)
    assert candidates(bounded) == (TABLE, LINEAR), "a bound is the kernels' own to keep"
    rng = random.Random(3)
    common = pairgen.sequence(rng, 900, b"ACGT")
    alike = (common, common[:400] + b"A" + common[400:])
    apart = (pairgen.sequence(rng, 900, b"ACGT") + common, alike[1] + pairgen.sequence(rng, 900, b"ACGT"))
    found = aligned([alike, apart], spec, None, Limits())
    assert [found.kernels[k] for k in found.origin] == [CAPPED, DIFFERENCE]
    batch = pairs_of(*zip(alike, apart, strict=True))
    (first,) = route(batch, spec, Limits())
    (second,) = after(first, np.array([0, Status.SCORE_LIMIT], np.uint8), first.rows, spec, batch)
    assert (second.kernel, second.rows.tolist()) == (DIFFERENCE, [1])
    aligner = wfacli.Aligner(mode="overlap", match=2)
    assert aligner.align(*apart) == next(iter(aligner.align_batch([apart[0]], [apart[1]])))
