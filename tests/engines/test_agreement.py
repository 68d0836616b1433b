"""Every metric, span, kernel and memory limit gives the canonical alignment: 100,000 pairs, more in `make fuzz`."""

import itertools

import numpy as np
import pytest

from tests import pairgen
from tests.engines.agreement import (
    AMPLE,
    SCHEMES,
    TIMES,
    aligned,
    assert_optimal,
    free_ends,
    mixed_pairs,
    seed_of,
    spec_for,
    ways,
)
from wfacli._native import instruction_sets
from wfacli.config import Ambiguous, Mode

SPANS = [Mode.SEMIGLOBAL, Mode.OVERLAP, Mode.ENDS_FREE, Mode.EXTENSION]
ALPHABETS = ["A", "AC", "ACGT", "mixed"]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("alphabet", [*ALPHABETS, "protein"])
def test_global(scheme, alphabet):
    for turn in range(TIMES):
        pairs = mixed_pairs(seed_of(scheme, alphabet, turn), 660, 50, pairgen.ALPHABETS[alphabet])
        assert_optimal(pairs, spec_for(scheme))


@pytest.mark.parametrize("mode", SPANS)
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_spans(scheme, mode):
    if mode in (Mode.OVERLAP, Mode.EXTENSION) and not scheme[2]:
        scheme = (*scheme[:2], 1)
    for turn in range(TIMES):
        for alphabet in ALPHABETS:
            seed = seed_of(scheme, mode, alphabet, turn)
            free = free_ends(seed) if mode is Mode.ENDS_FREE else None
            pairs = mixed_pairs(seed, 200, 40, pairgen.ALPHABETS[alphabet])
            assert_optimal(pairs, spec_for(scheme, mode, free))


@pytest.mark.parametrize("mode", [Mode.GLOBAL, *SPANS])
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_all_pairs_of_few_symbols(scheme, mode):
    """Test all tiny pairs: errors with empty or one-base sequences rarely show in longer pairs."""
    if mode in (Mode.OVERLAP, Mode.EXTENSION) and not scheme[2]:
        scheme = (*scheme[:2], 1)
    words = [bytes(word) for symbols in range(5) for word in itertools.product(b"AC", repeat=symbols)]
    pairs = list(itertools.product(words, words))
    for turn in range(4 if mode is Mode.ENDS_FREE else 1):
        free = free_ends(seed_of(scheme, turn)) if mode is Mode.ENDS_FREE else None
        assert_optimal(pairs, spec_for(scheme, mode, free))


@pytest.mark.parametrize("rule", ["wildcard", "literal"])
@pytest.mark.parametrize("mode", [Mode.GLOBAL, *SPANS])
def test_rules(mode, rule):
    for scheme in (SCHEMES[9], SCHEMES[13], SCHEMES[1]) + ((SCHEMES[0],) if mode is Mode.GLOBAL else ()):
        free = free_ends(3) if mode is Mode.ENDS_FREE else None
        pairs = mixed_pairs(seed_of(scheme, mode, rule), 150, 40, pairgen.ALPHABETS["iupac"])
        assert_optimal(pairs, spec_for(scheme, mode, free, ambiguous=Ambiguous(rule)), rule)


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("scheme", [SCHEMES[k] for k in (0, 6, 11, 4)], ids=str)
def test_lengths_around_the_edges_of_words_and_vectors(scheme, isa):
    pairs = [p for p in pairgen.edge_pairs(seed_of(scheme), b"ACGT") if len(p[0]) + len(p[1]) <= 600]
    assert_optimal(pairs, spec_for(scheme), isa=isa)


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_instruction_sets(scheme, isa):
    pairs = mixed_pairs(seed_of(scheme), 150, 90, b"ACGT")
    assert_optimal(pairs, spec_for(scheme), isa=isa)
    mode = Mode.OVERLAP if scheme[2] else Mode.SEMIGLOBAL
    assert_optimal(pairs, spec_for(scheme, mode), isa=isa)


@pytest.mark.parametrize("mode", [Mode.GLOBAL, *SPANS])
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_scores_alone_are_those_of_the_alignments(scheme, mode):
    if mode in (Mode.OVERLAP, Mode.EXTENSION) and not scheme[2]:
        pytest.skip("needs a match bonus")
    free = free_ends(5) if mode is Mode.ENDS_FREE else None
    pairs = mixed_pairs(seed_of(scheme, mode), 200, 90, b"ACGT")
    whole = aligned(pairs, spec_for(scheme, mode, free), None, AMPLE)
    alone = spec_for(scheme, mode, free, score_only=True)
    for kernel, limits in ways(alone):
        found = aligned(pairs, alone, kernel, limits)
        assert not found.status.any() and not len(found.cigar)
        assert np.array_equal(found.score, whole.score), (kernel, limits)
        assert np.array_equal(found.span, whole.span), (kernel, limits)
