"""Pairs that are divided at certain matches have the alignment of all cells, for every scheme and instruction set."""

import dataclasses
import random

import pytest

from tests import pairgen
from tests.engines.agreement import AMPLE, SCHEMES, TIMES, aligned, assert_as_all_cells, seed_of, spec_for
from wfacli.config import Metric
from wfacli.plan.kernels import DIFFERENCE, GOTOH

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


def units_of(rng: random.Random, size: int, count: int, every: int) -> list[bytes]:
    """Return count + 1 units, each a copy of the last one with an error in each `every` bases."""
    units = [pairgen.sequence(rng, size, BASES)]
    for _ in range(count):
        unit = bytearray(units[-1])
        for at in range(rng.randrange(every), len(unit), every):
            unit[at] = rng.choice(BASES.replace(unit[at : at + 1], b""))
        units.append(bytes(unit))
    return units


def drifting_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences that match exactly after a shift by one unit, or without it with an error in about each seed.

    Which of the two is cheaper depends on the number of units.
    """
    units = units_of(rng, rng.choice([40, 100, 250]), rng.randint(3, 14), rng.randint(6, 16))
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


def noisy(rng: random.Random, part: bytes, errors: float) -> bytes:
    """Return a part with errors as of nanopores, of which a third are gaps of one to three bases."""
    found = bytearray()
    at = 0
    while at < len(part):
        kind = rng.random()
        if kind < 0.5 * errors:
            found.append(rng.choice(BASES.replace(part[at : at + 1], b"")))
        elif kind < 0.75 * errors:
            found += part[at : at + 1] + pairgen.sequence(rng, rng.randint(1, 3), BASES)
        elif kind < errors:
            at += rng.randint(1, 3) - 1
        else:
            found.append(part[at])
        at += 1
    return bytes(found)


def noisy_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences with many errors, which short seeds divide, and parts that match on other diagonals, too."""
    length = rng.choice([1500, 2500, 4000])
    query = pairgen.sequence(rng, length, BASES)
    for _ in range(rng.choice([0, 0, 1, 2])):  # repeats, whose copies differ a little
        unit, at = pairgen.sequence(rng, rng.choice([1, 2, 5, 7, 20, 60, 150]), BASES), rng.randrange(length)
        copies = b"".join(
            noisy(rng, unit, rng.choice([0.0, 0.03, 0.1])) for _ in range(rng.choice([300, 700]) // len(unit))
        )
        query = query[:at] + copies + query[at:]
    target = noisy(rng, query, rng.choice([0.02, 0.05, 0.08, 0.12, 0.17]))
    for _ in range(rng.choice([0, 0, 1, 2])):
        at, size = rng.randrange(len(target)), rng.choice([20, 60, 200, 500])
        target = target[:at] + changed(rng, target[at : at + size], query[:size]) + target[at + size :]
    extra = pairgen.sequence(rng, rng.choice([0, 1100, 1500]), BASES)
    target = extra + target if rng.random() < 0.5 else target + extra
    return (query, target) if rng.random() < 0.5 else (target, query)


def wandering_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences of units, each a changed copy of the last one: a shift by one costs about what errors cost."""
    size, every = rng.choice([10, 20, 40, 60, 100, 200, 400, 700]), rng.randint(5, 24)
    units = units_of(rng, size, max(2, rng.choice([600, 1200, 2500]) // size), every)
    ends = [pairgen.sequence(rng, rng.choice([100, 400, 900]), BASES) for _ in range(2)]
    query, target = (ends[0] + b"".join(some) + ends[1] for some in (units[:-1], units[1:]))
    extra = pairgen.sequence(rng, rng.choice([1100, 1500]), BASES)
    query = noisy(rng, query, rng.choice([0.0, 0.0, 0.01, 0.03, 0.06]))
    target = target + extra if rng.random() < 0.5 else extra + target
    return (query, target) if rng.random() < 0.5 else (target, query)


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_noisy_pairs(scheme):
    for turn in range(TIMES):
        rng = random.Random(seed_of(scheme, turn, "noisy"))
        pairs = [rng.choice([noisy_pair, wandering_pair])(rng) for _ in range(20)]
        spec = spec_for(scheme)
        assert_as_all_cells(pairs, spec, DIFFERENCE)
        if not spec.penalties.match:
            costs = (-aligned(pairs, spec, GOTOH, AMPLE).score).tolist()
            for most in rng.sample(costs, 2):  # of which one pair costs exactly as much, or one unit more
                bounded = dataclasses.replace(spec, max_cost=max(most - rng.randint(0, 1), 0))
                assert_as_all_cells(pairs, bounded, DIFFERENCE)


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_divided_pairs(scheme):
    for turn in range(TIMES):
        rng = random.Random(seed_of(scheme, turn, "certain"))
        pairs = [similar_pair(rng) for _ in range(30)]
        assert_as_all_cells(pairs, spec_for(scheme), DIFFERENCE)


def long_noisy_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences with many errors and a long gap, along which their band grows and shrinks."""
    query = pairgen.sequence(rng, rng.choice([3000, 5000]), BASES)
    at, size = rng.randrange(len(query)), rng.choice([100, 300, 800])
    part = rng.choice(
        [b"", query[at : at + size] * 2, pairgen.sequence(rng, size, BASES), query[at : at + size][::-1]]
    )
    target = noisy(rng, query[:at] + part + query[at + size :], rng.choice([0.1, 0.15, 0.2]))
    return (query, target) if rng.random() < 0.5 else (target, query)


def with_ambiguous(rng: random.Random, bases: bytes) -> bytes:
    """Return a sequence with N and other ambiguous bases, alone or in runs as of gaps of an assembly."""
    found, share = bytearray(bases), rng.choice([0.0, 0.001, 0.01, 0.1])
    for at in range(len(found)):
        if rng.random() < share:
            found[at] = rng.choice(b"NNNR")
    for _ in range(rng.choice([0, 0, 1, 3])):
        at, size = rng.randrange(len(found)), rng.choice([5, 30, 100, 400])
        found[at : at + size] = b"N" * rng.choice([size, size, max(1, size // 2), size + 60])
    return bytes(found)


def masked_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences of which one has a part twice: with errors, and as N, which may cost less than the errors."""
    part = pairgen.sequence(rng, rng.choice([60, 200, 500]), BASES)
    copies = [noisy(rng, part, rng.choice([0.01, 0.05, 0.1, 0.3])), b"N" * (len(part) + rng.choice([0, 0, 1, -1, 7]))]
    ends = [pairgen.sequence(rng, rng.choice([300, 900]), BASES) for _ in range(2)]
    extra = pairgen.sequence(rng, rng.choice([0, 1100, 1500]), BASES)
    query, target = ends[0] + part + ends[1], ends[0] + b"".join(rng.sample(copies, 2)) + ends[1] + extra
    return (query, target) if rng.random() < 0.5 else (target, query)


@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s[0] not in (Metric.EDIT, Metric.INDEL)], ids=str)
def test_ambiguous_bases_with_a_penalty(scheme):
    kinds = [similar_pair, noisy_pair, wandering_pair, long_noisy_pair]
    for turn in range(TIMES):
        rng = random.Random(seed_of(scheme, turn, "ambiguous"))
        spec = spec_for(scheme)
        most = spec.penalties.mismatch
        some = [tuple(with_ambiguous(rng, bases) for bases in rng.choice(kinds)(rng)) for _ in range(12)]
        masked = [masked_pair(rng) for _ in range(40)]
        for pairs, charge in ((some, rng.choice([0, 1, most // 2, most - 1])), (masked, rng.choice([0, 0, 1]))):
            penalties = dataclasses.replace(spec.penalties, ambiguous=min(charge, most))
            assert_as_all_cells(pairs, dataclasses.replace(spec, penalties=penalties), DIFFERENCE)


@pytest.mark.parametrize("penalties", [(4, 4, 2, 100, 1), (6, 4, 2, 70, 1)], ids=str)
def test_bands_that_grow_beside_long_gaps(penalties):
    """The second piece's opening cost fills an 8-bit lane: cells beside the band must be at the ends of open gaps."""
    for turn in range(TIMES):
        rng = random.Random(seed_of(penalties, turn, "grows"))
        assert_as_all_cells(
            [long_noisy_pair(rng) for _ in range(12)], spec_for((Metric.AFFINE2P, penalties, 0)), DIFFERENCE
        )
