"""Extensions in a band with a Z-drop, in stripes so small that short pairs cross all their edges."""

from __future__ import annotations

import os
import random

import pytest

from tests.emulation.sw_batches import launch_guided
from tests.emulation.test_sw import SYMBOLS, some_pairs
from tests.engines.extending import SCHEMES, extended, spec_of
from tests.oracle_spans import Pair
from tests.pairgen import mutated, sequence
from wfacli.core.batch import Status
from wfacli.gpu.kernels import sw, sw_guided
from wfacli.scoring.scheme import Scheme

TINY = (sw.Build(2, 4, 16, 8, 32), sw.Build(8, 4, 16, 8, 64))


def falling(symbols: bytes, count: int = 24) -> list[Pair]:
    """Return pairs with unrelated ends, half of which are similar again behind them."""
    rng, pairs = random.Random(9), []
    for number in range(count):
        target = sequence(rng, rng.randrange(1, 60), symbols)
        query = mutated(rng, target, symbols, 0.1)
        tails = [sequence(rng, rng.randrange(1, 80), symbols) for _ in range(2)]
        again = sequence(rng, rng.randrange(60), symbols) if number % 2 else b""
        pairs.append((query + tails[0] + again, target + tails[1] + again))
    return pairs


def wanted(pairs: list[Pair], scheme: Scheme, band: int, zdrop: int) -> list[tuple[int, bool]]:
    found = extended(pairs, spec_of(scheme, "extension", score_only=True, band=band, zdrop=zdrop))
    assert not found.status.any()
    return list(zip(found.score.tolist(), (found.cut != 0).tolist(), strict=True))


def check(pairs: list[Pair], scheme: Scheme, build: sw.Build, band: int, zdrop: int, order: int = 0) -> int:
    """Return the number of unanswered pairs; assert that all others equal the CPU's."""
    found = launch_guided(pairs, scheme, build, sw_guided.Cuts(band, zdrop), order, grid=1 + order)
    want = wanted(pairs, scheme, band, zdrop)
    answered = [(one, other) for one, other in zip(found, want, strict=True) if one is not Status.UNSUPPORTED]
    assert [one for one, _ in answered] == [other for _, other in answered]
    return len(pairs) - len(answered)


# Bands narrower than stripes, wider than pairs, or off; Z-drops that short pairs reach.
CUTS = [(1, 0), (3, 0), (7, 30), (20, 12), (0, 20), (64, 0), (1000, 25)]


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_as_the_cpu(scheme: str, cuts: tuple[int, int]) -> None:
    rules, symbols = SCHEMES[scheme][0], SCHEMES[scheme][2]
    order = list(SCHEMES).index(scheme) % 2
    build = TINY[order if os.environ.get("WFACLI_FUZZ") else 0]
    open_ends = check(some_pairs(symbols), rules, build, *cuts, order)
    open_ends += check(falling(SYMBOLS[symbols]), rules, build, *cuts, order)
    # With a Z-drop as small as the score of a few columns, many ends stay undecided; without one, none.
    assert open_ends <= (35 if cuts[1] else 0)


@pytest.mark.parametrize("build", TINY, ids=str)
def test_ends_are_rarely_open(build: sw.Build) -> None:
    """Pairs with a clear drop are answered, although they align again behind it.

    Drops that are uncertain, or absent, do not matter where the score never rises again.
    """
    rng, pairs = random.Random(5), []
    for _ in range(20):
        shared, tails = sequence(rng, rng.randrange(40, 80), b"ACGT"), [sequence(rng, 150, b"ACGT") for _ in range(2)]
        again = sequence(rng, 300, b"ACGT")
        pairs.append((shared + tails[0] + again, mutated(rng, shared, b"ACGT", 0.05) + tails[1] + again))
    assert check(pairs, Scheme.parse("2,4,4,2"), build, 60, 60) <= 1
    dropped, whole = (wanted(pairs, Scheme.parse("2,4,4,2"), 60, zdrop) for zdrop in (60, 0))
    assert max(score for score, _ in dropped) < min(score for score, _ in whole)


def test_open_end() -> None:
    """Test a score that falls by about the Z-drop and rises again: where columns cannot tell, it is unsupported."""
    scheme, shared, again = Scheme.parse("2,4,4,2"), b"ACGTTGCA" * 4, b"GGCATTAC" * 12
    found = set()
    for unlike in range(1, 24):
        pair = (shared + b"A" * unlike + again, shared + b"C" * unlike + again)
        answers = launch_guided([pair], scheme, TINY[1], sw_guided.Cuts(30, 24))
        found.add("open" if answers == [Status.UNSUPPORTED] else answers == wanted([pair], scheme, 30, 24))
    assert found == {True, "open"}


def test_at_the_edge_of_16_bits() -> None:
    """Test the longest pairs for 16 bits: all matches, no matches, and a short with a long sequence."""
    scheme = Scheme.parse("127,127,200,1")
    for band in (0, 9):
        n = sw_guided.longest(sw.Scores.of(scheme.matrix, scheme.same, scheme.open, scheme.extend), band)
        assert n > 200
        pairs: list[Pair] = [(b"A" * n, b"A" * n), (b"A" * n, b"C" * n), (b"AC", b"C" * n), (b"G" * n, b"AG")]
        assert check(pairs, scheme, TINY[0], band, 0) == 0
