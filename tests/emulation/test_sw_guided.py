"""Extensions in a band until a Z-drop, in stripes so small that short pairs meet all their edges."""

from __future__ import annotations

import random

import pytest

from tests.emulation.sw_batches import launch_guided
from tests.emulation.test_sw import LETTERS, some_pairs
from tests.engines.extending import SCHEMES, extended, spec_of
from tests.oracle_spans import Pair
from tests.pairgen import mutated, sequence
from wfacli.batch import Status
from wfacli.gpu import sw
from wfacli.scoring.scheme import Scheme

TINY = (sw.Build(2, 4, 16, 8, 32), sw.Build(8, 4, 16, 8, 64))


def falling(letters: bytes, count: int = 24) -> list[Pair]:
    """Pairs that are alike until their ends have nothing in common, some of which are alike again behind that."""
    rng, pairs = random.Random(9), []
    for number in range(count):
        target = sequence(rng, rng.randrange(1, 60), letters)
        query = mutated(rng, target, letters, 0.1)
        tails = [sequence(rng, rng.randrange(1, 80), letters) for _ in range(2)]
        again = sequence(rng, rng.randrange(60), letters) if number % 2 else b""
        pairs.append((query + tails[0] + again, target + tails[1] + again))
    return pairs


def wanted(pairs: list[Pair], scheme: Scheme, band: int, zdrop: int) -> list[tuple[int, bool]]:
    found = extended(pairs, spec_of(scheme, "extension", score_only=True, band=band, zdrop=zdrop))
    assert not found.status.any()
    return list(zip(found.score.tolist(), (found.cut != 0).tolist(), strict=True))


def check(pairs: list[Pair], scheme: Scheme, build: sw.Build, band: int, zdrop: int, order: int = 0) -> int:
    """How many pairs are not answered; all others as the CPU has them."""
    found = launch_guided(pairs, scheme, build, sw.Cuts(band, zdrop), order, grid=1 + order)
    want = wanted(pairs, scheme, band, zdrop)
    answered = [(one, other) for one, other in zip(found, want, strict=True) if one is not Status.UNSUPPORTED]
    assert [one for one, _ in answered] == [other for _, other in answered]
    return len(pairs) - len(answered)


@pytest.mark.parametrize("build", TINY, ids=str)
@pytest.mark.parametrize("cuts", [(1, 0), (3, 8), (7, 30), (20, 5), (40, 20), (0, 10), (64, 0), (1000, 25)], ids=str)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_as_the_cpu(scheme: str, cuts: tuple[int, int], build: sw.Build) -> None:
    rules, letters = SCHEMES[scheme][0], SCHEMES[scheme][2]
    order = list(SCHEMES).index(scheme) % 2
    assert check(some_pairs(letters), rules, build, *cuts, order) <= 2
    assert check(falling(LETTERS[letters]), rules, build, *cuts, order) <= 8
