"""Matches that are certain beside a path are in every cheapest path, also where the given path is not one of these."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

import wfacli
from tests import pairgen
from tests.engines.agreement import TIMES, seed_of

from .test_certain import noisy, noisy_pair, similar_pair, units_of, wandering_pair

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "wfacli/native"
SOURCES = ("kernels/certain/certain.cpp", "kernels/certain/chain.cpp", "base/buffer.cpp", "base/allocator.cpp")
COSTS = [(6, 4, 3, 24, 2), (4, 6, 2, 24, 1), (4, 6, 2, -1, 0), (10, 12, 5, 52, 3), (1, 1, 1, -1, 0), (3, 2, 2, 9, 1)]
BASES = b"ACGT"


def interrupted_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences of one length: some parts match on the main diagonal, those beside them better on another."""
    query, target = b"", b""
    size, every = rng.randint(8, 60), rng.randint(5, 12)
    for _ in range(rng.choice([2, 3, 5])):
        part = pairgen.sequence(rng, rng.randint(15, 120), BASES)
        units = units_of(rng, size, rng.randint(3, 12), every)
        query += part + b"".join(units[:-1])
        target += part + b"".join(units[1:])
    return query, target


PAIRS = {
    "noisy": noisy_pair,
    "similar": similar_pair,
    "wandering": wandering_pair,
    "interrupted": interrupted_pair,
}

Costs = tuple[int, int, int, int, int]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("certain") / "certain_parts"
    sources = [HERE / "certain_parts.cpp", *(NATIVE / name for name in SOURCES)]
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", f"-I{NATIVE}", "-o", made, *sources]
    subprocess.run(command, check=True)
    return made


def cigar_of(query: str, target: str, costs: Costs) -> str:
    """Return a cheapest path."""
    if not query or not target:
        return f"{len(query)}I" * bool(query) + f"{len(target)}D" * bool(target)
    metric, penalties = ("affine2p", costs) if costs[3] >= 0 else ("affine", costs[:3])
    return wfacli.align(query, target, metric=metric, penalties=penalties).cigar


def detour(rng: random.Random, query: str, target: str, costs: Costs) -> str:
    """Return a path that is a cheapest one on both sides of a cell, which often lies beside the best path."""
    i = rng.randrange(len(query))
    j = min(max(i + rng.choice([0, 1, 3, 7, 20, 50, 150, 400]) * rng.choice([-1, 1]), 0), len(target))
    return cigar_of(query[:i], target[:j], costs) + cigar_of(query[i:], target[j:], costs)


def straight(query: str, target: str) -> str:
    """Return the path along the main diagonal of sequences of one length."""
    ops = "".join("=" if q == t else "X" for q, t in zip(query, target, strict=True))
    return "".join(f"{len(run[0])}{run[0][0]}" for run in re.finditer(r"=+|X+", ops))


def matches_of(cigar: str) -> set[tuple[int, int]]:
    """Return the cells before the matches of a path."""
    i = j = 0
    found = set()
    for length, op in ((int(n), op) for n, op in re.findall(r"(\d+)([=XID])", cigar)):
        if op == "=":
            found |= {(i + x, j + x) for x in range(length)}
        i += length * (op != "D")
        j += length * (op != "I")
    return found


def mirrored(cigar: str) -> str:
    return "".join(reversed(re.findall(r"\d+[=XID]", cigar)))


@pytest.mark.parametrize("costs", COSTS, ids=str)
@pytest.mark.parametrize("kind", PAIRS)
def test_certain_matches_are_in_cheapest_paths(program: Path, kind: str, costs: Costs) -> None:
    rng = random.Random(seed_of(kind, costs))
    pairs = [PAIRS[kind](rng) for _ in range((150 if kind == "interrupted" else 15) * TIMES)]
    texts = [(query.decode(), target.decode()) for query, target in pairs]
    lines, expected = [], []
    for query, target in texts:
        first = cigar_of(query, target, costs)
        last = mirrored(cigar_of(query[::-1], target[::-1], costs))  # of equally cheap paths often another one
        third = straight(query, target) if len(query) == len(target) else detour(rng, query, target, costs)
        for path in (first, detour(rng, query, target, costs), third):
            lines.append(f"{' '.join(map(str, costs))} {query} {target} {path}")
            expected.append(matches_of(first) & matches_of(last))
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
    for line, matches, (query, target) in zip(
        done.stdout.splitlines(), expected, [text for text in texts for _ in range(3)], strict=True
    ):
        i = j = 0
        for part in line.rstrip(";").split(";"):
            at_i, at_j, rows, columns, _, certain = map(int, part.split())
            assert (at_i, at_j) == (i, j)
            i, j = i + rows, j + columns
            assert {(i + x, j + x) for x in range(certain)} <= matches
            i, j = i + certain, j + certain
        assert (i, j) == (len(query), len(target))


@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_seeds_of_a_noisy_pair_are_chained(program: Path, costs: Costs) -> None:
    rng = random.Random(seed_of("chained", costs))
    targets = [pairgen.sequence(rng, 6_000, BASES) for _ in range(4)]
    pairs = [(noisy(rng, target, 0.12).decode(), target.decode()) for target in targets]
    lines = [f"{' '.join(map(str, costs))} {query} {target} *" for query, target in pairs]
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
    cost = sum(int(part.split()[4]) for line in done.stdout.splitlines() for part in line.rstrip(";").split(";"))
    metric, penalties = ("affine2p", costs) if costs[3] >= 0 else ("affine", costs[:3])
    least = -sum(wfacli.align(*pair, metric=metric, penalties=penalties).score for pair in pairs)
    assert least < cost < 2.3 * least
