"""Bit-parallel alignment of queries within targets: lengths around words and slabs, free ends, costs, builds."""

import itertools
import random

import numpy as np
import pytest

import wfacli
from tests import pairgen
from tests.engines.agreement import AMPLE, SCHEMES, TIMES, align_batch, aligned, assert_optimal, same, spec_for
from wfacli._native import instruction_sets
from wfacli.config import Ambiguous, FreeEnds, Limits, Mode
from wfacli.core.batch import Status
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.io.read.memory import pairs_of
from wfacli.plan.kernels import DIFFERENCE, INSIDE, TABLE

EDIT = SCHEMES[0]
WHOLE = 1 << 30
ENDS = (0, 1, 40, 64, WHOLE)
AROUND = [words * 64 + more for words in (1, 2, 3, 5, 7, 8) for more in (-1, 0, 1)]
SLABS = (513, 576, 1023, 1024, 1025, 1100)


def inside(rng, symbols, before, behind, error, alphabet=b"ACGT"):
    """Return a noisy copy of `symbols` bases of a target, and the target with `before` and `behind` more bases."""
    target = pairgen.sequence(rng, before + symbols + behind, alphabet)
    query = pairgen.mutated(rng, target[before : before + symbols], alphabet, error)
    # Restore the query's exact length, which determines the number of words and slabs.
    return (query + pairgen.sequence(rng, symbols, alphabet))[:symbols], target


def answered(result):
    """Return the kernels that gave the answers."""
    return {result.kernels[origin] for origin in result.origin.tolist()}


@pytest.mark.parametrize("isa", instruction_sets())
def test_lengths_around_words(isa):
    rng = random.Random(1)
    for symbols in (1, 2, 30, *AROUND):
        pairs = [inside(rng, symbols, rng.randrange(90), rng.randrange(90), error) for error in (0, 0.1, 0.2, 0.5) * 3]
        assert_optimal(pairs, spec_for(EDIT, Mode.SEMIGLOBAL), isa=isa, kernels=(INSIDE,))


@pytest.mark.parametrize("isa", instruction_sets())
def test_lengths_around_slabs(isa):
    rng = random.Random(2)
    pairs = [inside(rng, n, rng.randrange(400), rng.randrange(400), e) for n, e in itertools.product(SLABS, (0, 0.1))]
    assert_optimal(pairs, spec_for(EDIT, Mode.SEMIGLOBAL), isa=isa, kernels=(INSIDE,))


@pytest.mark.parametrize("alone", [False, True])
def test_all_ends(alone):
    """In a batch, each pair takes a lane; a pair alone takes all lanes."""
    for turn, (begin, end) in enumerate(itertools.product(ENDS, ENDS)):
        if not begin and not end:
            continue
        rng = random.Random(turn)
        spec = spec_for(EDIT, Mode.ENDS_FREE, FreeEnds(target_begin=begin, target_end=end))
        shapes = [(rng.randrange(1, 140), rng.randrange(100), rng.randrange(100), rng.choice((0, 0.1, 0.6)))
                  for _ in range(12 * TIMES)]  # fmt: skip
        pairs = [inside(rng, *shape, rng.choice((b"AC", b"ACGT"))) for shape in shapes]
        pairs += [(target, query) for query, target in pairs[:3]]
        for some in [[pair] for pair in pairs[::4]] if alone else [pairs]:
            assert_optimal(some, spec, kernels=(INSIDE,))


@pytest.mark.parametrize("rule", ["mismatch", "wildcard", "literal"])
def test_other_symbols_and_empty_sequences(rule):
    rng = random.Random(rule)
    spec = spec_for(EDIT, Mode.SEMIGLOBAL, ambiguous=Ambiguous(rule))
    for alphabet in (b"ACGTN", pairgen.ALPHABETS["iupac"]):
        pairs = [inside(rng, n, 70, 80, 0.1, alphabet) for n in (1, 20, 64, 65, 130, 200, 300)]
        pairs += [inside(rng, n, 50, 50, 0.1) for n in (20, 64, 150)] + [(b"", b"ACGT"), (b"ACGT", b""), (b"", b"")]
        pairs += [(query.lower(), target) for query, target in pairs[:4]]
        assert_optimal(pairs, spec, rule, kernels=(INSIDE,))
    found = aligned(pairs, spec, INSIDE, AMPLE)
    assert answered(found) == ({INSIDE, TABLE, DIFFERENCE} if rule == "wildcard" else {INSIDE, TABLE})


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES[2:] if not scheme[2]], ids=str)
def test_any_costs(scheme):
    """Edits locate a window that contains all best paths, including ties between several copies."""
    rng = random.Random(repr(scheme))
    for begin, end in ((WHOLE, WHOLE), (WHOLE, 0), (0, WHOLE), (150, 90)):
        spec = spec_for(scheme, Mode.ENDS_FREE, FreeEnds(target_begin=begin, target_end=end))
        shapes = [(rng.randrange(1, 150), rng.randrange(400), rng.randrange(400), rng.choice((0, 0.03, 0.1, 0.3)))
                  for _ in range(12 * TIMES)]  # fmt: skip
        pairs = [inside(rng, *shape, rng.choice((b"AC", b"ACGT", b"ACGT"))) for shape in shapes]
        pairs += [(query, target + target[: len(target) // 2] + target) for query, target in pairs[:4]]
        assert_optimal(pairs, spec, kernels=(INSIDE,))
        for pair in pairs[::6]:
            assert_optimal([pair], spec, kernels=(INSIDE,))


@pytest.mark.parametrize("isa", instruction_sets())
def test_any_costs_of_long_queries(isa):
    for turn, scheme in enumerate(scheme for scheme in SCHEMES[2:] if not scheme[2]):
        rng = random.Random(turn)
        pairs = [inside(rng, 600, 700, 800, 0.03), inside(rng, 520, 300, 900, 0.2)]
        assert_optimal(pairs, spec_for(scheme, Mode.SEMIGLOBAL), isa=isa, kernels=(INSIDE,))


def far_apart(rng, turn):
    """Return a hard pair: several distant copies, any of which may be best, a chimeric query, or an unrelated one."""
    inner = pairgen.sequence(rng, rng.randrange(520, 2600), b"ACGT")
    copies = [pairgen.mutated(rng, inner, b"ACGT", rng.choice((0.02, 0.1, 0.25))) for _ in range(3)]
    between = [pairgen.sequence(rng, rng.randrange(4000), b"ACGT") for _ in range(4)]
    target = b"".join(part for pair in zip(between, copies, strict=False) for part in pair) + between[3]
    other = pairgen.sequence(rng, len(inner), b"ACGT")
    half = len(inner) // 2
    queries = (inner, inner, other[:half] + inner[half:], inner[:half] + other[half:], other, inner[:half] * 2)
    return queries[turn % len(queries)], target


@pytest.mark.parametrize("isa", instruction_sets())
def test_slabs_leave_out_no_best_path(isa):
    """Slabs keep all best paths: compared with another kernel, which is tested against the oracle."""
    for turn in range(12 * TIMES):
        rng = random.Random(turn)
        pairs = [far_apart(rng, turn)]
        length = len(pairs[0][1])
        ends = [(WHOLE, WHOLE), (0, WHOLE), (WHOLE, 0), (length // 2, length // 3), (length // 3, length // 2)]
        begin, end = ends[turn % len(ends)]
        scheme = SCHEMES[turn // 6 % 2 * 6]
        spec = spec_for(scheme, Mode.ENDS_FREE, FreeEnds(target_begin=begin, target_end=end))
        found = aligned(pairs, spec, INSIDE, AMPLE, isa)
        assert answered(found) == {INSIDE}
        assert same(found, aligned(pairs, spec, DIFFERENCE, AMPLE, isa)), (turn, spec.free)


def test_estimates_decide_nothing():
    rng = random.Random(9)
    pairs = [inside(rng, 900, 2000, 1000, 0.05)]
    spec = spec_for(EDIT, Mode.SEMIGLOBAL)
    batch = pairs_of(*zip(*pairs, strict=True))
    engine = CpuEngine(spec, AMPLE, 1)
    results = [
        align_batch(engine, batch.with_edits(np.array([edits], np.int32)), spec, AMPLE, Stats(), INSIDE)
        for edits in (-1, 0, 45, 2000, 1 << 30)
    ]
    engine.close()
    assert all(same(results[0], other) for other in results)
    assert results[0].status[0] == Status.OK


def test_paths_that_take_too_much_memory_are_another_kernel_s():
    rng = random.Random(4)
    pairs = [inside(rng, 150, 100, 100, 0.1) for _ in range(9)]
    spec = spec_for(EDIT, Mode.SEMIGLOBAL)
    found = aligned(pairs, spec, INSIDE, Limits(table=3000, checkpoints=1 << 30))
    assert answered(found) == {DIFFERENCE}
    assert same(found, aligned(pairs, spec, INSIDE, AMPLE))


def test_scores_alone_have_the_same_spans():
    rng = random.Random(5)
    pairs = [inside(rng, n, 300, 200, 0.1) for n in (50, 60, 150, 160, 400, 410, 700, 1300)]
    whole, alone = (
        aligned(pairs, spec_for(EDIT, Mode.SEMIGLOBAL, score_only=score_only), INSIDE, AMPLE)
        for score_only in (False, True)
    )
    assert not len(alone.cigar) and len(whole.cigar)
    for column in ("status", "score", "span"):
        assert np.array_equal(getattr(whole, column), getattr(alone, column))


@pytest.mark.parametrize("metric", ["edit", "affine"])
def test_one_pair_is_as_in_a_batch(metric):
    rng = random.Random(6)
    for symbols in (1, 40, 150, 700):
        query, target = inside(rng, symbols, 5 * symbols, 3 * symbols, 0.1)
        (whole,) = wfacli.align_pairs([query], [target], mode="semiglobal", metric=metric)
        assert wfacli.align(query, target, mode="semiglobal", metric=metric) == whole
        assert whole.span[:2] == (0, symbols)


@pytest.mark.parametrize("symbols", [400, 480, 700, 1500])
@pytest.mark.parametrize("alone", [False, True])
def test_the_best_path_is_not_where_the_fewest_edits_are(symbols, alone):
    """Test a target with two copies: one with fewer, scattered deletions, one with more, but in a single gap."""
    rng = random.Random(symbols)
    query = pairgen.sequence(rng, symbols, b"ACGT")
    few = symbols // 40
    scattered = b"".join(query[k * symbols // few + 1 : (k + 1) * symbols // few] for k in range(few))
    gap = query[: symbols // 2] + query[symbols // 2 + 3 * few :]
    copies = [scattered, gap] if symbols % 3 else [gap, scattered]
    between = [pairgen.sequence(rng, 3 * symbols, b"ACGT") for _ in range(3)]
    target = between[0] + copies[0] + between[1] + copies[1] + between[2]
    pairs = [(query, target)] * (1 if alone else 12)
    fewest = aligned(pairs, spec_for(EDIT, Mode.SEMIGLOBAL), INSIDE, AMPLE)
    best = aligned(pairs, spec_for(SCHEMES[6], Mode.SEMIGLOBAL), INSIDE, AMPLE)
    assert (-fewest.score <= few).all() and (-best.score <= 6 + 2 * 3 * few).all()
    assert (np.abs(fewest.span[:, 2] - best.span[:, 2]) > 3 * symbols).all()
    assert same(best, aligned(pairs, spec_for(SCHEMES[6], Mode.SEMIGLOBAL), DIFFERENCE, AMPLE))
