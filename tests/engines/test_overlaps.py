"""Noisy overlaps and other free query ends: dynamic programming where a wavefront would explore most cells."""

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
    after,
    aligned,
    assert_optimal,
    ends_of,
    free_ends,
    optimum,
    route,
    same,
    seed_of,
    spec_for,
)
from tests.oracle_spans import optima
from wfacli._native import instruction_sets
from wfacli.config import Ambiguous, FreeEnds, Limits, Mode
from wfacli.core.batch import Status
from wfacli.io.read.memory import pairs_of
from wfacli.plan.kernels import CAPPED, DIFFERENCE, LINEAR, READS, TABLE, candidates

BONUS = [SCHEMES[k] for k in (1, 3, 5, 8, 9, 10, 13, 14)]  # without a match bonus, the best overlap is empty


def overlapping(rng, longest, alphabet):
    """Return two sequences of which an end of one overlaps a beginning of the other, or one contains the other."""
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
def test_some_symbols_at_each_end(scheme):
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
    """Test all tiny pairs: if a one-base sequence is left unaligned, the path ends in the first row."""
    words = [bytes(word) for symbols in range(4) for word in itertools.product(b"AC", repeat=symbols)]
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
    (second,) = after(first, np.array([0, Status.WORK_LIMIT], np.uint8), first.rows, spec, batch)
    assert (second.kernel, second.rows.tolist()) == (DIFFERENCE, [1])
    aligner = wfacli.Aligner(mode="overlap", match=2)
    assert aligner.align(*apart) == next(iter(aligner.align_batch([apart[0]], [apart[1]])))


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("scheme", [SCHEMES[k] for k in (1, 5, 9, 13)], ids=str)
def test_short_ones_share_a_vector(scheme, isa):
    spec = spec_for(scheme, Mode.OVERLAP)
    for turn in range(TIMES):
        seed = seed_of(scheme, turn)
        # Lanes with equal and with different lengths, some too long for them, some with an empty sequence.
        pairs = (
            overlaps(seed, 100, 100) + overlaps(seed, 60, 400, b"ACN") + [(b"", b"ACGT"), (b"ACGT", b""), (b"", b"")]
        )
        found, bands = (aligned(pairs, spec, kernel, Limits(), isa) for kernel in (None, DIFFERENCE))
        assert same(found, bands)
        served = np.array([min(map(len, pair)) > 0 and max(map(len, pair)) <= 512 for pair in pairs])
        lanes = np.array([found.kernels[k] == READS for k in found.origin])
        assert np.array_equal(lanes, served) and not lanes[160:].any()


@pytest.mark.parametrize("free", [(300, 0, 0, 20), (1, 2, 3, 4), (0, 500, 500, 0), (0, 0, 500, 500)])
def test_short_ones_that_may_leave_out_some_symbols(free):
    rng = random.Random(seed_of(free))
    pairs = [
        (pairgen.sequence(rng, rng.randrange(1, 512), b"ACGT"), b"ACGT" * rng.randrange(1, 128)) for _ in range(20)
    ]
    for scheme in (SCHEMES[1], SCHEMES[6], SCHEMES[13]):
        spec = spec_for(scheme, Mode.ENDS_FREE, FreeEnds(*free))
        lanes, bands = (aligned(pairs, spec, kernel, Limits()) for kernel in (READS, DIFFERENCE))
        assert same(lanes, bands) and {lanes.kernels[k] for k in lanes.origin} == {READS}
        alone = aligned(pairs, spec_for(scheme, Mode.ENDS_FREE, FreeEnds(*free), score_only=True), READS, Limits())
        assert np.array_equal(alone.score, lanes.score) and np.array_equal(alone.span, lanes.span)
        assert not len(alone.cigar)


def test_who_shares_a_vector():
    few, many = overlaps(1, 23, 100), overlaps(2, 24, 100)
    long, other = (pairgen.sequence(random.Random(3), 513, b"ACGT"),) * 2, (b"ACGTN", b"ACGTN")

    def kernels(pairs, spec):
        return {r.kernel: r.rows.tolist() for r in route(pairs_of(*zip(*pairs, strict=True)), spec, Limits())}

    spec = spec_for(SCHEMES[9], Mode.OVERLAP)
    assert kernels(few, spec) == {CAPPED: list(range(23))}
    assert kernels(many, spec) == {READS: list(range(24))}
    assert kernels([long, *many, long], spec) == {READS: list(range(1, 25)), CAPPED: [0, 25]}
    wild = spec_for(SCHEMES[9], Mode.OVERLAP, ambiguous=Ambiguous.WILDCARD)
    assert kernels([other, *many], wild) == {READS: list(range(1, 25)), CAPPED: [0]}
    assert kernels([other, *many], spec) == {READS: list(range(25))}
    longer = [*overlaps(4, 24, 100), (long[0][:170], long[0][:160])]
    few_free, many_free = (spec_for(SCHEMES[6], Mode.ENDS_FREE, FreeEnds(query_end=n)) for n in (3, 200))
    short = [row for row, pair in enumerate(longer) if max(map(len, pair)) <= 160]
    assert kernels(longer * 2, few_free)[READS] == [*short, *(row + len(longer) for row in short)]
    assert len(short) < len(longer) and set(kernels(longer * 2, many_free)) == {READS}
    earned, by_edits = (spec_for(SCHEMES[k], Mode.SEMIGLOBAL) for k in (9, 6))
    assert kernels(many, earned) == {READS: list(range(24))}, "with a bonus nothing says where the query may lie"
    assert READS not in kernels(many, by_edits) and READS not in kernels([long, *many], earned)
    bounded = spec_for(SCHEMES[6], Mode.ENDS_FREE, FreeEnds(query_end=200), max_cost=50)
    assert READS not in kernels(many, bounded), "a bound is the kernels' own to keep"
    assert kernels(many, spec_for(SCHEMES[10], Mode.OVERLAP)) == {CAPPED: list(range(24))}, "costs beyond a byte"


def test_short_ones_keep_a_bound():
    rng = random.Random(8)
    queries = [pairgen.sequence(rng, 60, b"ACGT") for _ in range(40)]
    pairs = [(query, pairgen.mutated(rng, query, b"ACGT", 0.1)) for query in queries]
    free = FreeEnds(query_begin=5, target_end=5)
    bounded = spec_for(SCHEMES[6], Mode.ENDS_FREE, free, max_cost=40)
    lanes, rows = (aligned(pairs, bounded, kernel, Limits()) for kernel in (READS, TABLE))
    assert same(lanes, rows) and set(lanes.status.tolist()) == {Status.OK, Status.SCORE_LIMIT}


def test_short_ones_go_on_in_a_vector():
    """Pairs with few free bases start with a wavefront, which mostly gives up, and are retried in a vector."""
    rng = random.Random(9)
    queries = [pairgen.sequence(rng, 300, b"ACGT") for _ in range(30)]
    pairs = [(query, pairgen.mutated(rng, query, b"ACGT", 0.15)) for query in queries]
    clean, long = (queries[0],) * 2, tuple(pairgen.sequence(rng, 600, b"ACGT") for _ in range(2))
    spec = spec_for(SCHEMES[6], Mode.ENDS_FREE, FreeEnds(query_begin=5, target_end=5))
    found = aligned([clean, long, *pairs], spec, None, Limits())
    assert same(found, aligned([clean, long, *pairs], spec, TABLE, Limits()))
    assert [found.kernels[k] for k in found.origin] == [CAPPED, DIFFERENCE] + [READS] * 30
    few = aligned(pairs[:5], spec, None, Limits())
    assert {few.kernels[k] for k in few.origin} == {DIFFERENCE}
