"""Compare dynamic programming in a wide band, one pair per warp, with the oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests import pairgen
from tests.emulation.dp_batches import SCHEMES, assert_canonical, excursions, launch_warp, near_pairs, provable
from tests.oracle_spans import Scheme
from wfacli.core.batch import Status

BUILDS = [(128, 16), (128, 32), (256, 16), (512, 32), (1024, 16)]


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize(("band", "bits"), BUILDS)
def test_canonical_where_provable(band: int, bits: int, scheme: Scheme, order: int) -> None:
    seed = band + bits + order
    pairs = near_pairs(seed, 40, 70, 40, b"ACGT") + near_pairs(seed + 1, 20, 70, 40, b"AC")
    answers = launch_warp(pairs, scheme, band, bits, order=order)
    wanted = provable(pairs, scheme, band, bits)
    assert assert_canonical(pairs, scheme, answers, wanted) > len(pairs) // 2


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize(("band", "bits"), [(128, 16), (256, 32)])
def test_at_the_edges_of_the_band(band: int, bits: int, scheme: Scheme) -> None:
    """Test long gaps and long runs, for which tracebacks often look ahead, and costs that cannot be proven."""
    pairs = near_pairs(band, 24, 300, band, b"ACGT") + near_pairs(band + 1, 8, 200, band, b"AC")
    pairs += excursions(band, band)
    answers = launch_warp(pairs, scheme, band, bits)
    assert assert_canonical(pairs, scheme, answers, provable(pairs, scheme, band, bits)) > 4
    assert (answers.status == Status.SCORE_LIMIT).any()


@pytest.mark.parametrize("bits", [16, 32])
def test_large_costs(bits: int) -> None:
    """Test costs that exceed 16 bits."""
    rng = random.Random(4)
    scheme, pairs = SCHEMES[4], []
    for error in (0.02, 0.05, 0.2):
        target = pairgen.sequence(rng, 700, b"ACGT")
        pairs.append((pairgen.mutated(rng, target, b"ACGT", error), target))
        pairs.append((target[:200] + target[260:], target))
    answers = launch_warp(pairs, scheme, 1024, bits)
    answered = assert_canonical(pairs, scheme, answers, provable(pairs, scheme, 1024, bits))
    assert 0 < answered <= len(pairs)


@pytest.mark.parametrize("rule", ["mismatch", "wildcard", "literal"])
@pytest.mark.parametrize(("band", "bits"), [(128, 16), (512, 32)])
def test_any_symbols(band: int, bits: int, rule: str) -> None:
    for scheme in (SCHEMES[2], SCHEMES[-1]):
        pairs = near_pairs(band, 24, 60, 30, pairgen.ALPHABETS["iupac"])
        answers = launch_warp(pairs, scheme, band, bits, rule=rule)
        assert assert_canonical(pairs, scheme, answers, provable(pairs, scheme, band, bits), rule) > 8


def test_scores_only() -> None:
    for scheme in SCHEMES:
        pairs = near_pairs(5, 30, 60, 32, b"ACGT")
        answers, wanted = launch_warp(pairs, scheme, 128, 16, path=False), launch_warp(pairs, scheme, 128, 16)
        assert (answers.cost == wanted.cost).all() and (answers.status == wanted.status).all()
        assert (answers.op_count == 0).all()


def test_limits() -> None:
    scheme, pairs = SCHEMES[2], near_pairs(8, 40, 60, 32, b"ACGT")
    answers = launch_warp(pairs, scheme, 128, 16, max_cost=20)
    assert_canonical(pairs, scheme, answers, np.minimum(provable(pairs, scheme, 128), 20))
    ample = launch_warp(pairs, scheme, 128, 16)
    tight = launch_warp(pairs, scheme, 128, 16, capacity=3)
    over = (ample.status == Status.OK) & (ample.op_count > 3)
    assert over.any() and (tight.status[over] == Status.MEMORY_LIMIT).all()
    assert all(tight.cigar(slot) == ample.cigar(slot) for slot in np.flatnonzero(~over))
    small = launch_warp(pairs, scheme, 128, 16, longest=30)
    lengths = np.array([len(query) + len(target) for query, target in pairs])
    empty = np.array([not query or not target for query, target in pairs])
    assert (small.status[(lengths > 70) & ~empty] == Status.MEMORY_LIMIT).all()
    assert (small.status[lengths < 55] == ample.status[lengths < 55]).all()
