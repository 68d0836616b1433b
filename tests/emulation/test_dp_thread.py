"""Dynamic programming in a band, two pairs a thread, against the oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests import pairgen
from tests.emulation.batches import Answers
from tests.emulation.dp_batches import SCHEMES, launch_thread
from tests.oracle_spans import Scheme, optima
from wfacli.batch import Status
from wfacli.gpu import dp


def near_pairs(seed: int, count: int, longest: int, band: int, alphabet: bytes) -> list[tuple[bytes, bytes]]:
    """Pairs whose lengths differ by up to a little more than the band, alike and unlike."""
    rng = random.Random(seed)
    pairs = []
    while len(pairs) < count:
        length = rng.choice((rng.randint(0, longest), longest - 1, longest))
        kind = rng.choice(pairgen.KINDS)
        query, target = pairgen.pair(rng, length, alphabet, rng.choice((0, 0.05, 0.15, 0.3)), kind)
        if rng.random() < 0.3:  # long gaps, at the band's edges
            cut, gap = rng.randint(0, len(query)), rng.randint(1, band + 1)
            query = query[:cut] + (
                query[cut + gap :] if rng.random() < 0.5 else pairgen.sequence(rng, gap, alphabet) + query[cut:]
            )
        if rng.random() < 0.5:
            query, target = target, query
        pairs.append((query, target))
    return pairs


def assert_canonical(
    pairs: list, scheme: Scheme, answers: Answers, provable: np.ndarray, rule: str = "mismatch"
) -> int:
    """Statuses are those that the host expects, and answers the oracle's; how many pairs were answered."""
    for slot, (pair, best) in enumerate(zip(pairs, optima(pairs, scheme, rule=rule), strict=True)):
        status = Status.OK if -best.score <= provable[slot] else Status.SCORE_LIMIT
        where = f"slot {slot} of {pair} with {scheme}, provable {provable[slot]}, best {best}"
        assert answers.status[slot] == status, where
        if status == Status.OK:
            assert (answers.cost[slot], answers.cigar(slot)) == (-best.score, best.cigar), where
        else:
            assert answers.op_count[slot] == 0, where
    return int((answers.status == Status.OK).sum())


def provable(pairs: list, scheme: Scheme, band: int) -> np.ndarray:
    query, target = (np.array([len(pair[side]) for pair in pairs], np.int64) for side in (0, 1))
    return dp.provable_cost(scheme.mismatch, scheme.gaps, query, target, band)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("band", [16, 32, 64])
def test_canonical_where_provable(band: int, scheme: Scheme, order: int) -> None:
    seed = 7 * band + order
    pairs = near_pairs(seed, 150, 70, band, b"ACGT") + near_pairs(seed + 1, 75, 70, band, b"AC")
    answers = launch_thread(pairs, scheme, band, order=order)
    assert assert_canonical(pairs, scheme, answers, provable(pairs, scheme, band)) > len(pairs) // 5


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_longer_than_16_bits_of_costs(scheme: Scheme) -> None:
    """Rows by the hundred, most of them mismatches, so that values are cut."""
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
def test_any_letters(band: int, rule: str) -> None:
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
