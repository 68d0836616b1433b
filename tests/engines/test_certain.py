"""Pairs that are divided at certain matches have the alignment of all cells, for every scheme and instruction set."""

import random

import pytest

from tests import pairgen
from tests.engines.agreement import SCHEMES, TIMES, assert_as_all_cells, seed_of, spec_for
from wfacli.plan.kernels import DIFFERENCE

BASES = b"ACGT"


def changed(rng: random.Random, part: bytes, beside: bytes) -> bytes:
    """Return a part with a change that leaves several alignments equally cheap, or almost."""
    size = rng.choice([1, 2, 5, 12, 30, 80, 300])
    return rng.choice(
        [
            b"",
            part[:size],
            part + part[-size:],  # a copy: the gap may lie in two places
            part[:size] * rng.choice([2, 3, 8]),
            part[::-1],
            beside,  # what stands in another place, too
            pairgen.sequence(rng, size, BASES) + part,
            part[size:] + pairgen.sequence(rng, size, BASES),
            pairgen.mutated(rng, part, BASES, 0.2),
        ]
    )


def drifting_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences that match exactly after a shift by one unit, or without it with an error in about each seed.

    Which of the two is cheaper depends on the number of units.
    """
    units, every = [pairgen.sequence(rng, rng.choice([40, 100, 250]), BASES)], rng.randint(6, 16)
    for _ in range(rng.randint(3, 14)):
        unit = bytearray(units[-1])
        for at in range(rng.randrange(every), len(unit), every):
            unit[at] = rng.choice(BASES.replace(unit[at : at + 1], b""))
        units.append(bytes(unit))
    ends = [pairgen.sequence(rng, rng.choice([100, 400]), BASES) for _ in range(2)]
    extra = pairgen.sequence(rng, rng.choice([1100, 1500]), BASES)
    query, target = (ends[0] + b"".join(some) + ends[1] for some in (units[:-1], units[1:]))
    return (query, target + extra) if rng.random() < 0.5 else (extra + target, query)


def similar_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences with long exact matches, a few errors, and changes whose band is wide."""
    if rng.random() < 0.3:
        return drifting_pair(rng)
    length = rng.choice([1500, 3000, 4000])
    query = pairgen.sequence(rng, length, BASES)
    if rng.random() < 0.3:  # repeated parts, whose seeds are not unique
        unit, at = query[: rng.choice([3, 20, 150])], rng.randrange(length)
        query = query[:at] + unit * (400 // len(unit)) + query[at:]
    target = pairgen.mutated(rng, query, BASES, rng.choice([0.0, 0.001, 0.005, 0.02, 0.05]))
    for _ in range(rng.choice([1, 2, 3])):
        at, size = rng.randrange(len(target)), rng.choice([1, 40, 200, 600, 1200])
        other = rng.randrange(len(target))
        part = changed(rng, target[at : at + size], target[other : other + size])
        target = target[:at] + part + target[at + size :]
    extra = pairgen.sequence(rng, rng.choice([0, 1100, 1500]), BASES)
    target = extra + target if rng.random() < 0.5 else target + extra
    return (query, target) if rng.random() < 0.5 else (target, query)


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_divided_pairs(scheme):
    for turn in range(TIMES):
        rng = random.Random(seed_of(scheme, turn, "certain"))
        pairs = [similar_pair(rng) for _ in range(30)]
        assert_as_all_cells(pairs, spec_for(scheme), DIFFERENCE)
