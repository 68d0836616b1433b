"""Compare banded dynamic programming, two pairs per thread, with the oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests import pairgen
from tests.emulation.dp_batches import SCHEMES, assert_canonical, excursions, launch_thread, near_pairs, provable
from tests.oracle_spans import Scheme
from wfacli.core.batch import Status


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("band", [16, 32, 64])
def test_canonical_where_provable(band: int, scheme: Scheme, order: int) -> None:
    seed = 7 * band + order
    pairs = near_pairs(seed, 150, 70, band, b"ACGT") + near_pairs(seed + 1, 75, 70, band, b"AC")
    answers = launch_thread(pairs, scheme, band, order=order)
    assert assert_canonical(pairs, scheme, answers, provable(pairs, scheme, band)) > len(pairs) // 5


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("band", [16, 32, 64])
def test_at_the_edges_of_the_band(band: int, scheme: Scheme) -> None:
    pairs = excursions(band, band)
    assert_canonical(pairs, scheme, launch_thread(pairs, scheme, band), provable(pairs, scheme, band))


def test_the_way_round_the_corner() -> None:
    """Test paths through the cell beside the band at the matrix edge."""
    scheme = SCHEMES[4]
    pairs = [(b"A" * n, b"C" * m) for n in range(14, 19) for m in range(14, 19)]
    assert_canonical(pairs, scheme, launch_thread(pairs, scheme, 32), provable(pairs, scheme, 32))


def test_costs_that_would_wrap() -> None:
    """Test costs that are small modulo 2^16."""
    pairs = [(b"A" * length, b"C" * length) for length in (1023, 1024, 1027, 1040)]
    answers = launch_thread(pairs, SCHEMES[2], 32)
    assert (answers.status == Status.SCORE_LIMIT).all()


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_longer_than_16_bits_of_costs(scheme: Scheme) -> None:
    """Test hundreds of rows, mostly mismatches, so that values saturate."""
    rng = random.Random(3)
    pairs = []
    for length in (300, 500, 640):
        target = pairgen.sequence(rng, length, b"ACGT")
        pairs += [(pairgen.mutated(rng, target, b"ACGT", error), target) for error in (0.01, 0.03, 0.1)]
        pairs += [(pairgen.sequence(rng, length, b"AC"), pairgen.sequence(rng, length, b"GT"))]
    answers = launch_thread(pairs, scheme, 64)
    assert_canonical(pairs, scheme, answers, provable(pairs, scheme, 64))


@pytest.mark.parametrize("rule", ["mismatch", "wildcard", "literal"])
@pytest.mark.parametrize("band", [16, 32, 64])
def test_any_symbols(band: int, rule: str) -> None:
    for scheme in (SCHEMES[2], SCHEMES[-1]):
        pairs = near_pairs(band, 80, 60, band, pairgen.ALPHABETS["iupac"])
        answers = launch_thread(pairs, scheme, band, rule=rule)
        assert assert_canonical(pairs, scheme, answers, provable(pairs, scheme, band), rule) > 3


def test_scores_only() -> None:
    for scheme in SCHEMES:
        pairs = near_pairs(5, 130, 60, 32, b"ACGT")
        answers, wanted = launch_thread(pairs, scheme, 32, path=False), launch_thread(pairs, scheme, 32)
        assert (answers.cost == wanted.cost).all() and (answers.status == wanted.status).all()
        assert (answers.op_count == 0).all()


def test_all_short_lengths() -> None:
    pairs = pairgen.all_lengths(2, 20, b"ACG")
    for scheme in (SCHEMES[0], SCHEMES[3], SCHEMES[-1]):
        assert_canonical(pairs, scheme, launch_thread(pairs, scheme, 32), provable(pairs, scheme, 32))


def test_costs_above_the_bound_are_not_answered() -> None:
    scheme, pairs = SCHEMES[2], near_pairs(8, 130, 60, 32, b"ACGT")
    answers = launch_thread(pairs, scheme, 32, max_cost=20)
    assert_canonical(pairs, scheme, answers, np.minimum(provable(pairs, scheme, 32), 20))


def test_too_many_operations() -> None:
    scheme, pairs = SCHEMES[2], near_pairs(9, 130, 60, 32, b"ACGT")
    ample, tight = launch_thread(pairs, scheme, 32), launch_thread(pairs, scheme, 32, capacity=3)
    over = (ample.status == Status.OK) & (ample.op_count > 3)
    assert over.any() and (tight.status[over] == Status.MEMORY_LIMIT).all() and (tight.op_count[over] == 0).all()
    assert (tight.status[~over] == ample.status[~over]).all()
    assert all(tight.cigar(slot) == ample.cigar(slot) for slot in np.flatnonzero(~over))


def test_costs_that_16_bits_do_not_hold() -> None:
    scheme = Scheme(400, ((600, 10),))
    pairs = [(b"ACGT", b"ACGT"), (b"", b"ACG"), (b"A", b"ACCC")]
    answers = launch_thread(pairs, scheme, 16)
    assert answers.status.tolist() == [Status.SCORE_LIMIT, Status.OK, Status.SCORE_LIMIT]
    assert_canonical(pairs, scheme, answers, provable(pairs, scheme, 16))
