"""Bands, X-drop and Z-drop drop exactly the specified cells, and mark the affected alignments."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests import pairgen
from tests.oracle_local import banded_optimum, charges, cut_extension, cut_prefixes, optima, score_of
from tests.oracle_spans import Optimum, Pair
from tests.thorough import in_turn
from wfacli._native import instruction_sets
from wfacli.config import Limits
from wfacli.core.batch import PartialResult, Status
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

from .extending import SCHEMES, extended, optima_of, parasail_scores

NAMES = ("2,4,4,2", "1,1,0,1", "n-score", "BLOSUM62")
BUILDS = [(isa, wide) for isa in instruction_sets() for wide in (False, True)]
CUTS = [
    (0, 3, 0),
    (0, 12, 0),
    (0, 0, 4),
    (0, 0, 15),
    (4, 0, 0),
    (3, 9, 0),
    (6, 20, 8),
    (0, 0, 1),
    (1, 0, 0),
    (1, 5, 3),
]


def extension(band: int, xdrop: int, zdrop: int, scheme: Scheme, score_only: bool = False) -> ExtendSpec:
    return ExtendSpec(scheme, ExtendMode.EXTENSION, score_only, band=band, xdrop=xdrop, zdrop=zdrop)


def same_everywhere(pairs: list[Pair], spec: ExtendSpec) -> PartialResult:
    """Return the answers, after checking that all instruction sets and lane widths agree."""
    answers = [extended(pairs, spec, isa=isa, wide=wide) for isa, wide in BUILDS]
    for build, other in zip(BUILDS, answers, strict=True):
        for column in ("status", "cut", "score", "span", "cigar", "cigar_start"):
            assert np.array_equal(getattr(other, column), getattr(answers[0], column)), (build, column)
    return answers[0]


def longer_pairs(seed: int, lengths: list[int], symbols: bytes, error: float, unrelated: int = 0) -> list[Pair]:
    """Return similar pairs followed by `unrelated` unrelated symbols."""
    rng = random.Random(seed)
    targets = [pairgen.sequence(rng, length, symbols) for length in lengths]
    sides = [(pairgen.mutated(rng, target, symbols, error), target) for target in targets]
    return [
        (q + pairgen.sequence(rng, unrelated, symbols), t + pairgen.sequence(rng, unrelated, symbols))
        for q, t in sides
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("band", [1, 3, 12])
def test_global_alignments_in_a_band(name: str, band: int) -> None:
    scheme, charged, alphabet = SCHEMES[name]
    pairs = pairgen.random_pairs(41, 60, 40, pairgen.ALPHABETS[alphabet])
    found = same_everywhere(pairs, ExtendSpec(scheme, ExtendMode.GLOBAL, band=band))
    alone = same_everywhere(pairs, ExtendSpec(scheme, ExtendMode.GLOBAL, score_only=True, band=band))
    for row, (one, (query, target)) in enumerate(zip(optima_of(found), pairs, strict=True)):
        apart = len(target) - len(query)
        low, high = min(0, apart) - band, max(0, apart) + band
        assert one == banded_optimum(query, target, charged, low, high), (query, target)
        assert found.cut[row] == (bool(query and target) and (len(query) > -low or len(target) > high))
    assert alone.score.tolist() == found.score.tolist() and alone.cut.tolist() == found.cut.tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cuts", CUTS)
def test_extensions_that_give_up(name: str, cuts: tuple[int, int, int]) -> None:
    scheme, charged, alphabet = SCHEMES[name]
    pairs = [pair for pair in pairgen.random_pairs(43, 60, 36, pairgen.ALPHABETS[alphabet]) if all(pair)]
    found = same_everywhere(pairs, extension(*cuts, scheme))
    expected = [cut_extension(*pair, charged, *cuts) for pair in pairs]
    for row, (one, other) in enumerate(zip(optima_of(found), expected, strict=True)):
        assert (one, found.cut[row]) == other, (pairs[row], cuts)
    alone = same_everywhere(pairs, extension(*cuts, scheme, True))
    assert alone.score.tolist() == found.score.tolist() and alone.cut.tolist() == found.cut.tolist()


def test_cuts_that_cut_nothing_change_nothing() -> None:
    scheme, charged, alphabet = SCHEMES["2,4,4,2"]
    pairs = pairgen.random_pairs(47, 60, 40, pairgen.ALPHABETS[alphabet])
    found = extended(pairs, extension(100, 1000, 1000, scheme))
    assert optima_of(found) == optima(pairs, charged, "extension") and not found.cut.any()


@pytest.mark.parametrize("name", ["2,4,4,2", "BLOSUM62"])
@pytest.mark.parametrize("cuts", [(63, 0, 50), (64, 90, 0), (65, 0, 0), (0, 40, 60), (0, 0, 100)])
def test_lengths_at_the_edges_of_vectors_blocks_and_bands(name: str, cuts: tuple[int, int, int]) -> None:
    # Vectors have 4 to 32 lanes; scores are looked up for 16 anti-diagonals at a time; bases move every 32; paths have
    # blocks of 128; up to 512, one block is enough.
    scheme, charged, alphabet = SCHEMES[name]
    symbols = pairgen.ALPHABETS[alphabet]
    lengths = in_turn([1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 255, 256, 257, 300, 511], 2)
    pairs = [
        *longer_pairs(3, lengths, symbols, 0.1, 70),
        *longer_pairs(4, lengths, symbols, 0.3),
        *((q, t[: len(t) * 2 // 3] * 3) for q, t in longer_pairs(5, lengths[-4:], symbols, 0.05)),
    ]
    pairs = [pair for pair in pairs if all(pair)]
    found = same_everywhere(pairs, extension(*cuts, scheme))
    alone = same_everywhere(pairs, extension(*cuts, scheme, True))
    assert alone.score.tolist() == found.score.tolist()
    for row, (pair, one) in enumerate(zip(pairs, optima_of(found), strict=True)):
        score, i, j, cut = cut_prefixes(*pair, charged, *cuts)
        assert isinstance(one, Optimum) and score_of(*pair, charged, one) == one.score
        assert one.span in ((0, i, 0, j), (0, 0, 0, 0)) and found.cut[row] == cut
        # The traceback may use cells that X-drop dropped, so that the alignment may score more.
        assert one.score >= score if cuts[1] else one.score == score


@pytest.mark.parametrize(
    ("costs", "cuts"),
    [
        ((127, 4, 4, 2), (40, 0, 0)),  # scores exceed 16 bits again and again
        ((2, 100, 4, 2), (30, 0, 0)),  # and fall below 16 bits, beyond the best cell
        ((5, 4, 10_000, 1), (200, 0, 0)),  # a gap costs more than the lanes' range between two updates of their base
        ((1, 4, 6, 120), (0, 0, 90)),  # cells beside the diagonal fall below the minimum
        ((20, 30, 40, 20), (0, 19_000, 0)),  # about the largest X-drop in 16 bits
        ((20, 30, 40, 20), (0, 30_000, 100)),
        ((1, 1, 0, 1), (0, 0, 1_000_000_000)),
    ],
)
def test_scores_that_16_bits_do_not_hold(costs: tuple[int, int, int, int], cuts: tuple[int, int, int]) -> None:
    scheme, charged = Scheme.of_scores(*costs), charges(*costs)
    pairs = longer_pairs(7, [900, 1400], b"ACGT", 0.05, 300) + longer_pairs(8, [40], b"ACGT", 0.1, 1100)
    found = same_everywhere(pairs, extension(*cuts, scheme, True))
    for row, pair in enumerate(pairs):
        score, _, _, cut = cut_prefixes(*pair, charged, *cuts)
        assert found.score[row] >= score if cuts[1] else found.score[row] == score
        assert found.cut[row] == cut
    paths = optima_of(same_everywhere(pairs, extension(*cuts, scheme)))
    assert [one.score for one in paths if isinstance(one, Optimum)] == found.score.tolist()


def test_what_has_fallen_below_16_bits_may_come_out_best() -> None:
    # A gap lowers the score by 72,000 while cells beside it rise, but a thousand matches follow it.
    scheme, charged = Scheme.of_scores(127, 4, 4, 120), charges(127, 4, 4, 120)
    few, more, junk = (pairgen.sequence(random.Random(n), n, b"ACGT") for n in (300, 1000, 600))
    pairs = [(few + more, few + junk + more), (more + few, more + junk + few)]
    found = same_everywhere(pairs, extension(0, 0, 1_000_000_000, scheme, True))
    assert found.score.tolist() == [cut_prefixes(*pair, charged, 0, 0, 0)[0] for pair in pairs]
    found = same_everywhere(pairs, ExtendSpec(scheme, ExtendMode.GLOBAL, band=700))
    assert found.score.tolist() == parasail_scores(pairs, scheme, "global")


def test_paths_in_little_memory() -> None:
    scheme, charged, _ = SCHEMES["2,4,4,2"]
    pairs = longer_pairs(9, [3000, 2000], b"ACGT", 0.1)
    for spec in (extension(200, 0, 300, scheme), ExtendSpec(scheme, ExtendMode.GLOBAL, band=150)):
        ample = optima_of(extended(pairs, spec))
        for pair, one in zip(pairs, ample, strict=True):
            assert isinstance(one, Optimum) and score_of(*pair, charged, one) == one.score
        assert optima_of(extended(pairs, spec, Limits(75_000, 75_000))) == ample  # with longer blocks
        assert optima_of(extended(pairs, spec, Limits(4096, 4096))) == [Status.MEMORY_LIMIT] * 2
