"""Bidirectional wavefronts (native/kernels/wavefront/wavefront_meet.hpp) give the answers of a unidirectional one."""

import random

import numpy as np
import pytest

from tests import pairgen
from tests.engines.agreement import AMPLE, SCHEMES, aligned, assert_optimal, mixed_pairs, spec_for
from wfacli._native import instruction_sets
from wfacli.config import Ambiguous, Limits
from wfacli.core.batch import Status
from wfacli.plan.kernels import LINEAR, TABLE

MEETING = [
    scheme for scheme in SCHEMES if scheme[2] == 0
]  # pairs also align under schemes with a match bonus, but they take longer


def gap_pairs(seed: int, count: int) -> list[tuple[bytes, bytes]]:
    """Return pairs with one long gap, in which the wavefronts meet, and some edits around it."""
    rng, pairs = random.Random(seed), []
    for _ in range(count):
        left, right = (pairgen.sequence(rng, rng.randint(0, 60), b"ACGT") for _ in range(2))
        gap = pairgen.repetitive(rng, rng.randint(40, 120), b"ACGT", 4)
        long, short = left + gap + right, pairgen.mutated(rng, left + right, b"ACGT", 0.05)
        pairs.append((long, short) if rng.random() < 0.5 else (short, long))
    return pairs


@pytest.mark.parametrize("scheme", MEETING, ids=str)
def test_paths_are_canonical(scheme):
    pairs = [*mixed_pairs(21, 40, 260, b"ACGT"), *mixed_pairs(22, 40, 260, b"AC"), *gap_pairs(23, 40)]
    for isa in instruction_sets():
        assert_optimal(pairs, spec_for(scheme), isa=isa, kernels=[TABLE])


def test_wildcards():
    pairs = mixed_pairs(24, 60, 260, pairgen.ALPHABETS["iupac"])
    assert_optimal(pairs, spec_for(SCHEMES[6], ambiguous=Ambiguous.WILDCARD), "wildcard", kernels=[TABLE])


@pytest.mark.parametrize("scheme", MEETING, ids=str)
def test_a_cost_alone(scheme):
    pairs = [*mixed_pairs(25, 60, 400, b"ACGT"), *gap_pairs(26, 60)]
    expected = aligned(pairs, spec_for(scheme), LINEAR, AMPLE).score
    for isa in instruction_sets():
        found = aligned(pairs, spec_for(scheme, score_only=True), TABLE, AMPLE, isa)
        assert found.score.tolist() == expected.tolist()


@pytest.mark.parametrize("score_only", [False, True])
@pytest.mark.parametrize("scheme", [SCHEMES[0], SCHEMES[6]], ids=str)
def test_a_bound_on_the_cost(scheme, score_only):
    pairs = mixed_pairs(27, 60, 400, b"ACGT")
    cost = -aligned(pairs, spec_for(scheme), LINEAR, AMPLE).score
    for bound in (60, 101, int(np.median(cost))):
        found = aligned(pairs, spec_for(scheme, score_only=score_only, max_cost=bound), TABLE, AMPLE)
        assert (found.status == Status.OK).tolist() == (cost <= bound).tolist()
        assert (found.status[cost > bound] == Status.SCORE_LIMIT).all()


def test_memory_is_that_of_half_the_cells_twice():
    rng, spec = random.Random(28), spec_for(SCHEMES[0])
    pairs = [pairgen.pair(rng, 2000, b"ACGT", 0.2, "uniform")]
    expected = aligned(pairs, spec, LINEAR, AMPLE)
    cost = -int(expected.score[0])
    # A unidirectional wavefront stores cost^2 offsets of 4 bytes; each of two wavefronts stores a quarter of them.
    for table, kernel in ((cost**2, LINEAR), (3 * cost**2, TABLE)):
        found = aligned(pairs, spec, TABLE, Limits(table=table))
        assert found.cigar.tolist() == expected.cigar.tolist()
        assert found.kernels[found.origin[0]] == kernel
