"""Compare dynamic programming in stripes, two pairs per group of lanes, with the oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest

import wfacli
from tests import pairgen
from tests.emulation.dp_batches import (
    SCHEMES,
    assert_canonical,
    excursions,
    launch_tiles,
    near_pairs,
    provable_of_tiles,
)
from tests.oracle_spans import Scheme
from wfacli.core.batch import Status
from wfacli.gpu.kernels import tiles


def assert_answers(pairs: list, scheme: Scheme, band: int, lanes: int, rule: str = "mismatch", order: int = 0) -> int:
    """Check that answers are canonical, with a band that supports such costs; return the number of answered pairs."""
    assert tiles.holds(lanes, scheme.mismatch, scheme.gaps, band)
    answers = launch_tiles(pairs, scheme, band, lanes, order=order, rule="" if rule == "mismatch" else rule)
    return assert_canonical(pairs, scheme, answers, provable_of_tiles(pairs, scheme, band), rule)


def held(lanes: int, bands: tuple[int, ...]) -> list[tuple[int, int, Scheme]]:
    """Return the supported combinations of bands, groups and costs."""
    return [(b, lanes, s) for b in bands for s in SCHEMES if tiles.holds(lanes, s.mismatch, s.gaps, b)]


STEEP = Scheme(6, ((4, 3), (24, 2)))  # costs of map-ont
BUILDS = [*held(4, (40, 131)), *held(8, (100,)), *held(32, (300,)), *held(tiles.NARROW, (300,)), *held(256, (300,))]


def test_which_costs_are_held() -> None:
    affine, two = SCHEMES[2], SCHEMES[5]
    assert tiles.holds(8, 2, ((3, 1),), 47104) and not tiles.holds(8, 2, ((3, 1),), 56000)
    assert tiles.widest(2, ((3, 1),), 47104, np.array([0, 500])).tolist() == [54695, 54195]
    assert tiles.holds(8, affine.mismatch, affine.gaps, 2000) and tiles.holds(8, two.mismatch, two.gaps, 2000)
    assert not tiles.holds(32, affine.mismatch, affine.gaps, 100)  # 512 columns exceed 16 bits with directions
    assert not tiles.holds(256, STEEP.mismatch, STEEP.gaps, 100)
    assert tiles.holds(tiles.NARROW, STEEP.mismatch, STEEP.gaps, 24576)
    assert tiles.holds(32, 2, ((3, 1),), 8000) and tiles.holds(256, two.mismatch, two.gaps, 47104)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("band", "lanes", "scheme"), BUILDS, ids=str)
def test_canonical_where_provable(band: int, lanes: int, scheme: Scheme, order: int) -> None:
    seed = band + lanes + order
    pairs = near_pairs(seed, 30, 150, 40, b"ACGT") + near_pairs(seed + 1, 20, 70, 40, b"AC")
    assert assert_answers(pairs, scheme, band, lanes, order=order) > len(pairs) // 4


@pytest.mark.parametrize(("band", "lanes", "scheme"), [(b, n, s) for b, n, s in BUILDS if b != 40], ids=str)
def test_at_the_edges_of_the_band(band: int, lanes: int, scheme: Scheme) -> None:
    """Test long gaps across stripes, and costs that cannot be proven."""
    pairs = near_pairs(band, 12, 500, band, b"ACGT") + near_pairs(band + 1, 6, 300, band, b"AC")
    pairs += excursions(band, band)[::5]
    assert assert_answers(pairs, scheme, band, lanes) > 4


@pytest.mark.parametrize(
    ("band", "lanes"),
    [(90, 4), (400, 8), (200, 16), (900, 32), (600, tiles.NARROW), (2000, tiles.NARROW), (600, 256), (2000, 256)],
)
def test_many_stripes_and_states(band: int, lanes: int) -> None:
    """Test stripes that begin below row 1, with several saved states each."""
    rng = random.Random(band)
    scheme, pairs = STEEP if lanes == tiles.NARROW else Scheme(2, ((3, 1),)), []
    for length, error in ((700, 0.01), (900, 0.05), (1300, 0.03), (1290, 0.1), (64, 0.1), (1025, 0.02)):
        target = pairgen.sequence(rng, length, b"ACGT")
        pairs.append((pairgen.mutated(rng, target, b"ACGT", error), target))
        pairs.append((target, pairgen.mutated(rng, target, b"ACGT", error)))
    assert assert_answers(pairs, scheme, band, lanes) > 4


@pytest.mark.parametrize(("band", "lanes"), [(600, 4), (700, 32), (600, tiles.NARROW), (600, 256)])
def test_nothing_left_of_a_band(band: int, lanes: int) -> None:
    """Test unrelated sequences, which have no cells left after some stripes, in a group with others that continue."""
    rng, scheme = random.Random(band), STEEP if lanes == tiles.NARROW else Scheme(2, ((3, 1),))
    unlike = [
        (pairgen.sequence(rng, q, b"ACGT"), pairgen.sequence(rng, t, b"ACGT")) for q, t in ((1500, 1100), (1100, 1500))
    ]
    target = pairgen.sequence(rng, 1400, b"ACGT")
    like = (pairgen.mutated(rng, target, b"ACGT", 0.02), target)
    assert assert_answers([unlike[0], like, like, unlike[1], *unlike], scheme, band, lanes) == 2


def test_values_as_far_apart_as_16_bits_hold() -> None:
    """Test a path along the lower edge of the widest band, while cells at the upper edge cost far more than any path.

    Gap extension is expensive, so that such a band is narrow enough for a test. Another engine computes the expected
    answers.
    """
    scheme, lanes = Scheme(16, ((1, 8),)), 4
    longer = 300
    band = max(b for b in range(4000, 7000) if tiles.holds(lanes, scheme.mismatch, scheme.gaps, b)) - longer
    rng = random.Random(band)
    common, far, other, end = (pairgen.sequence(rng, n, b"ACGT") for n in (5600, band // 2 - 60, band // 2 - 60, 150))
    pairs = [(far + common, common + other), (end + end, end + common[:longer] + end), (end, common[: longer + 161])]
    provable = provable_of_tiles(pairs, scheme, band)
    aligner = wfacli.Aligner(penalties=(16, 1, 8))
    answers = launch_tiles(pairs, scheme, band, lanes, capacity=9000)
    for slot, pair in enumerate(pairs):
        one = aligner.align(*pair)
        assert (-one.score <= provable[slot]) == (slot < 2)
        assert answers.status[slot] == (Status.OK if slot < 2 else Status.SCORE_LIMIT)
        assert slot == 2 or (answers.cost[slot], answers.cigar(slot)) == (-one.score, one.cigar)


@pytest.mark.parametrize("lanes", [16, 32, 256])
def test_gaps_as_long_as_a_part(lanes: int) -> None:
    """Test cost differences within a part that equal gaps over all its rows and columns.

    Another engine computes the expected answers.
    """
    rng, scheme, band = random.Random(lanes), SCHEMES[5], 3000
    first, gap, other, last = (pairgen.sequence(rng, n, b"ACGT") for n in (700, 1100, 600, 900))
    whole = first + gap + last
    pairs = [(whole, first + last), (whole, first + other + last), (gap + last, last + other)]
    pairs += [pair[::-1] for pair in pairs]
    pairs += [(first + b"A" * 900 + last, first + b"C" * 700 + last), (b"A" * 1500, b"C" * 700 + b"A" * 600)]
    provable, aligner = provable_of_tiles(pairs, scheme, band), wfacli.Aligner(metric="affine2p")
    answers = launch_tiles(pairs, scheme, band, lanes, capacity=3000)
    for slot, pair in enumerate(pairs):
        one = aligner.align(*pair)
        assert -one.score <= provable[slot]
        assert (answers.status[slot], answers.cost[slot], answers.cigar(slot)) == (Status.OK, -one.score, one.cigar)


@pytest.mark.parametrize("order", [0, 1])
def test_a_last_stripe_that_needs_little_of_those_before(order: int) -> None:
    """Test a pair that ends one stripe early, below all rows that the other pair of its group has left."""
    rng, scheme = random.Random(17), Scheme(2, ((3, 1),))
    symbols = pairgen.sequence(rng, 3200, b"ACGT")
    pairs = [(symbols[:1040], symbols[:1030]), (symbols[:2400], symbols[700:1700])]
    assert assert_answers(pairs, scheme, 3000, tiles.LANES[-1], order=order) == 2


@pytest.mark.parametrize(("path", "order"), [(True, 0), (True, 1), (False, 0)])
def test_memory_for_some_groups_at_a_time(path: bool, order: int) -> None:
    """Test pairs of very different sizes, some without cells, in rooms that reuse the same memory."""
    scheme, lanes = Scheme(2, ((3, 1),)), tiles.LANES[-1]
    pairs = near_pairs(3, 9, 60, 30, b"ACGT") + near_pairs(4, 9, 1200, 30, b"ACGT")
    pairs += [*near_pairs(5, 72, 40, 30, b"ACGT"), (b"", b""), (b"", b"ACG"), (b"A" * 300, b"C")]
    wanted = launch_tiles(pairs, scheme, 200, lanes, path=path)
    if path:
        assert assert_canonical(pairs, scheme, wanted, provable_of_tiles(pairs, scheme, 200)) > 80
    for rooms in (2, 4):
        found = launch_tiles(pairs, scheme, 200, lanes, path=path, order=order, rooms=rooms)
        assert (found.status == wanted.status).all() and (found.cost == wanted.cost).all()
        assert not path or all(found.cigar(slot) == wanted.cigar(slot) for slot in range(len(pairs)))


@pytest.mark.parametrize("rule", ["mismatch", "wildcard", "literal"])
def test_any_symbols(rule: str) -> None:
    for scheme in (SCHEMES[2], SCHEMES[-1]):
        pairs = near_pairs(5, 16, 150, 30, pairgen.ALPHABETS["iupac"]) + near_pairs(6, 16, 20, 9, b"ACGTNacgtn")
        answers = launch_tiles(pairs, scheme, 120, 8, rule=rule)
        assert assert_canonical(pairs, scheme, answers, provable_of_tiles(pairs, scheme, 120), rule) > 8


def test_scores_only() -> None:
    pairs = near_pairs(5, 30, 260, 32, b"ACGT")
    for band, lanes, scheme in BUILDS:
        answers = launch_tiles(pairs, scheme, band, lanes, path=False)
        wanted = launch_tiles(pairs, scheme, band, lanes)
        assert (answers.cost == wanted.cost).all() and (answers.status == wanted.status).all()
        assert (answers.op_count == 0).all()


def test_limits() -> None:
    scheme, pairs = Scheme(2, ((3, 1),)), near_pairs(8, 40, 90, 32, b"ACGT")
    wanted = provable_of_tiles(pairs, scheme, 128)
    assert_canonical(pairs, scheme, launch_tiles(pairs, scheme, 128, 8, max_cost=12), np.minimum(wanted, 12))
    ample = launch_tiles(pairs, scheme, 128, 8)
    tight = launch_tiles(pairs, scheme, 128, 8, capacity=3)
    over = (ample.status == Status.OK) & (ample.op_count > 3)
    assert over.any() and (tight.status[over] == Status.MEMORY_LIMIT).all()
    assert all(tight.cigar(slot) == ample.cigar(slot) for slot in np.flatnonzero(~over))
    small = launch_tiles(pairs, scheme, 128, 8, longest=30)
    longer = np.array([max(map(len, pair)) > 30 for pair in pairs])
    assert (small.status[longer] == Status.MEMORY_LIMIT).all()
    assert (small.status[~longer] == ample.status[~longer]).all()
