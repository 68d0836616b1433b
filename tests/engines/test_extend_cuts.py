"""Bands, X-drop and Z-drop leave out what they say, and mark what they left out."""

from __future__ import annotations

import pytest

from tests import pairgen
from tests.oracle_local import banded_optimum, cut_extension, optima
from wfacli.scoring.spec import ExtendMode, ExtendSpec

from .extending import SCHEMES, extended, optima_of

NAMES = ("2,4,4,2", "1,1,0,1", "BLOSUM62")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("band", [1, 3, 12])
def test_global_alignments_in_a_band(name: str, band: int) -> None:
    scheme, charged, alphabet = SCHEMES[name]
    pairs = pairgen.random_pairs(41, 60, 40, pairgen.ALPHABETS[alphabet])
    found = extended(pairs, ExtendSpec(scheme, ExtendMode.GLOBAL, band=band))
    alone = extended(pairs, ExtendSpec(scheme, ExtendMode.GLOBAL, score_only=True, band=band))
    for row, (one, (query, target)) in enumerate(zip(optima_of(found), pairs, strict=True)):
        apart = len(target) - len(query)
        low, high = min(0, apart) - band, max(0, apart) + band
        assert one == banded_optimum(query, target, charged, low, high), (query, target)
        assert found.cut[row] == (bool(query and target) and (len(query) > -low or len(target) > high))
    assert alone.score.tolist() == found.score.tolist() and alone.cut.tolist() == found.cut.tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "cuts", [(0, 3, 0), (0, 12, 0), (0, 0, 4), (0, 0, 15), (4, 0, 0), (3, 9, 0), (6, 20, 8), (0, 0, 1)]
)
def test_extensions_that_give_up(name: str, cuts: tuple[int, int, int]) -> None:
    scheme, charged, alphabet = SCHEMES[name]
    band, xdrop, zdrop = cuts
    pairs = [pair for pair in pairgen.random_pairs(43, 60, 36, pairgen.ALPHABETS[alphabet]) if all(pair)]
    spec = ExtendSpec(scheme, ExtendMode.EXTENSION, band=band, xdrop=xdrop, zdrop=zdrop)
    found = extended(pairs, spec)
    expected = [cut_extension(*pair, charged, band, xdrop, zdrop) for pair in pairs]
    for row, (one, other) in enumerate(zip(optima_of(found), expected, strict=True)):
        assert (one, found.cut[row]) == other, (pairs[row], cuts)
    alone = extended(pairs, ExtendSpec(scheme, ExtendMode.EXTENSION, True, band=band, xdrop=xdrop, zdrop=zdrop))
    assert alone.score.tolist() == found.score.tolist() and alone.cut.tolist() == found.cut.tolist()


def test_cuts_that_cut_nothing_change_nothing() -> None:
    scheme, charged, alphabet = SCHEMES["2,4,4,2"]
    pairs = pairgen.random_pairs(47, 60, 40, pairgen.ALPHABETS[alphabet])
    spec = ExtendSpec(scheme, ExtendMode.EXTENSION, band=100, xdrop=1000, zdrop=1000)
    found = extended(pairs, spec)
    assert optima_of(found) == optima(pairs, charged, "extension") and not found.cut.any()
