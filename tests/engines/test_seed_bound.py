"""Bands that are narrowed by seeds give the alignment of all cells, for every scheme and instruction set."""

import random

import pytest

from tests import pairgen
from tests.engines.agreement import SCHEMES, TIMES, assert_as_all_cells, seed_of, spec_for
from wfacli.plan.kernels import DIFFERENCE


def noisy_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return a pair whose band is wide: errors, and long gaps, an inverted or a repeated part.

    Of two long gaps the second one leads back to the first diagonal, at little more cost than the bound allows.
    """
    length = rng.choice([700, 1500, 3000])
    query = pairgen.sequence(rng, length, b"ACGT")
    target = pairgen.mutated(rng, query, b"ACGT", rng.choice([0.0, 0.003, 0.01, 0.05, 0.15, 0.4]))
    if rng.random() < 0.5:
        size, (first, second) = rng.choice([100, 200, 300]), sorted(rng.sample(range(length // 2), 2))
        target = target[:first] + target[first + size :]
        target = target[:second] + pairgen.sequence(rng, size, b"ACGT") + target[second:]
    at, size = rng.randrange(len(target)), rng.choice([0, 60, 400, 900])
    part = target[at : at + size]
    changed = rng.choice([b"", part[::-1], part + part, pairgen.sequence(rng, size, b"ACGT")])
    target = target[:at] + changed + target[at + size :]
    return (query, target) if rng.random() < 0.5 else (target, query)


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_bands_narrowed_by_seeds(scheme):
    for turn in range(TIMES):
        rng = random.Random(seed_of(scheme, turn, "seeds"))
        pairs = [noisy_pair(rng) for _ in range(24)]
        assert_as_all_cells(pairs, spec_for(scheme), DIFFERENCE)
