"""All cheapest paths of a pair lie on the diagonals found along some path, and blocks have the indels of a DP."""

from __future__ import annotations

import os
import platform
import random
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests import pairgen
from tests.engines.agreement import TIMES, seed_of

from .test_certain import noisy, units_of
from .test_certain_parts import BASES, COSTS, HERE, NATIVE, SOURCES, Costs, cigar_of, detour, matches_of, straight

I64 = npt.NDArray[np.int64]
BLOCK, ROWS, FAR = 32, 128, np.int64(1) << 40
BUILDS = {"plain": [], "native": ["-march=native"]} if platform.machine() == "x86_64" else {"plain": []}


@pytest.fixture(scope="module", params=BUILDS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("confined") / "confined"
    sources = [HERE / "confined.cpp", *(NATIVE / name for name in SOURCES)]
    flags = ["-std=c++20", "-O2", f"-I{NATIVE}", "-DWFACLI_ISA=baseline", *BUILDS[request.param]]
    subprocess.run([os.environ.get("CXX", "g++"), *flags, "-o", made, *sources], check=True)
    return made


def noisy_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences of several blocks with 5 to 20% errors, some with a gap, a copied or an inverted part."""
    query = pairgen.sequence(rng, rng.choice([250, 500, 900]), BASES)
    target = noisy(rng, query, rng.choice([0.05, 0.1, 0.15, 0.2]))
    at, size = rng.randrange(len(target)), rng.choice([10, 60, 150])
    part = target[at : at + size]
    part = rng.choice([part, part, part, b"", part + part, part[::-1], pairgen.sequence(rng, size, BASES) + part])
    return query, target[:at] + part + target[at + size :]


def repeated_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences that match almost as well after a shift by a unit, or by several."""
    units = units_of(rng, rng.randint(8, 150), rng.randint(4, 10), rng.randint(5, 20))
    ends = [pairgen.sequence(rng, rng.choice([0, 20, 150]), BASES) for _ in range(2)]
    query, target = (ends[0] + b"".join(some) + ends[1] for some in (units[:-1], units[rng.choice([0, 1, 2]) :]))
    return query, noisy(rng, target, rng.choice([0.0, 0.03, 0.1]))


def tied_pair(rng: random.Random, costs: Costs) -> tuple[bytes, bytes]:
    """Return sequences of one length whose mismatches cost about as much as a shift by a period, and back."""
    period = rng.choice([rng.randint(2, 12), rng.randint(20, 90)])
    errors = max(1, 2 * gap_of(costs, period) // costs[0] + rng.choice([-1, 0, 0, 1, 2]))
    spacing = rng.randint(4, 12) if period > 12 else rng.randint(period, 70)
    whole = bytearray(pairgen.sequence(rng, period, BASES))
    first = rng.randrange(spacing)
    for x in range(errors * spacing + rng.randrange(period)):
        same = whole[-period : len(whole) - period + 1]
        is_error = x % spacing == first and x // spacing < errors
        whole += bytes([rng.choice(BASES.replace(same, b""))]) if is_error else same
    ends = [pairgen.sequence(rng, rng.choice([0, 30, 100]), BASES) for _ in range(2)]
    query, target = (ends[0] + bytes(part) + ends[1] for part in (whole[period:], whole[:-period]))
    return query, target


def edited_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return sequences that differ by a few gaps, of any length and at any place, or a few mismatches."""
    query, target, own = bytearray(), bytearray(), rng.random() < 0.7
    for _ in range(rng.randint(1, 4)):
        part = pairgen.sequence(rng, rng.choice([5, 40, 64, 128, 200]), b"ACG" if own else BASES)
        query += part
        target += part
        size = rng.choice([1, 2, 20, 45, 70, 90, 300])
        change = rng.choice(["insertion", "insertion", "deletion", "mismatch"])
        more = b"T" * size if own else pairgen.sequence(rng, size, BASES)  # T is in one of the sequences alone
        query += more * (change == "insertion") + b"T" * (change == "mismatch")
        target += more * (change == "deletion") + b"A" * (change == "mismatch")
    return bytes(query), bytes(target)


def gapped_pair(rng: random.Random) -> tuple[bytes, bytes]:
    """Return noisy sequences with long gaps, some of which may as well be elsewhere, and unrelated parts."""
    query = target = b""
    for _ in range(rng.randint(1, 3)):
        part = pairgen.sequence(rng, rng.choice([100, 250, 500]), BASES)
        query += part
        target += noisy(rng, part, rng.choice([0.03, 0.1, 0.15]))
        gap = pairgen.sequence(rng, rng.choice([70, 200, 400]), BASES)
        copied = part[-rng.randrange(1, len(part)) :]
        target += rng.choice([gap, gap, b"", copied, noisy(rng, copied, 0.1)])
        if rng.random() < 0.3:
            query += pairgen.sequence(rng, rng.choice([30, 100, 200]), BASES)
    return (query, target) if rng.random() < 0.5 else (target, query)


PAIRS = {"noisy": noisy_pair, "repeated": repeated_pair, "gapped": gapped_pair}


def gap_of(costs: Costs, length: int) -> int:
    """Return the cost of a gap."""
    one, two = costs[1] + costs[2] * length, costs[3] + costs[4] * length
    return min(one, two) if costs[3] >= 0 else one


def answers_of(
    program: Path, costs: Costs, pairs: list[tuple[bytes, bytes]], paths: list[str], ambiguous: int | None = None
) -> list[list[int]]:
    """Return the numbers of each line that the program prints: two lines for each pair with its path."""
    named = " ".join(map(str, (costs[0] if ambiguous is None else ambiguous, *costs)))
    lines = [f"{named} {q.decode()} {t.decode()} {path}" for (q, t), path in zip(pairs, paths, strict=True)]
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
    return [list(map(int, line.split())) for line in done.stdout.splitlines()]


def scanned(values: I64, open_cost: int, extend: int) -> I64:
    """Return the least cost at each place of a gap that is opened at a value at this place or before it."""
    steps = extend * np.arange(len(values), dtype=np.int64)
    return np.asarray(np.minimum.accumulate(values - steps) + steps + open_cost)


def costs_of(query: bytes, target: bytes, costs: Costs, ambiguous: int | None = None) -> list[I64]:
    """Return the least costs up to each cell: in any state, and in each kind of gap (insertions, then deletions).

    `ambiguous` is the cost of N; None: that of a mismatch.
    """
    pieces = [(costs[1], costs[2])] + ([(costs[3], costs[4])] if costs[3] >= 0 else [])
    symbols, columns = np.frombuffer(target, np.uint8), len(target) + 1
    best = np.full((len(query) + 1, columns), FAR)
    gaps = np.full((2 * len(pieces), len(query) + 1, columns), FAR)
    for i in range(len(query) + 1):
        row = np.full(columns, FAR)
        if i == 0:
            row[0] = 0
        else:
            for g, (opening, extend) in enumerate(pieces):
                gaps[g, i] = np.minimum(gaps[g, i - 1], best[i - 1] + opening) + extend
                row = np.minimum(row, gaps[g, i])
            differs = np.where(symbols == query[i - 1], 0, costs[0])
            if ambiguous is not None:
                differs = np.where((symbols == ord("N")) | (query[i - 1] == ord("N")), ambiguous, differs)
            row[1:] = np.minimum(row[1:], best[i - 1, :-1] + differs)
        outside = row.copy()
        for g, (opening, extend) in enumerate(pieces):
            gaps[len(pieces) + g, i, 1:] = scanned(outside, opening, extend)[:-1] + extend
            row = np.minimum(row, gaps[len(pieces) + g, i])
        best[i] = row
    return [best, *gaps]


def cells_of(query: bytes, target: bytes, costs: Costs) -> tuple[I64, I64]:
    """Return the rows and columns of the cells of all cheapest paths."""
    before, behind = costs_of(query, target, costs), costs_of(query[::-1], target[::-1], costs)
    openings = [0, *([costs[1]] + ([costs[3]] if costs[3] >= 0 else [])) * 2]
    used = np.zeros(before[0].shape, bool)
    for ahead, back, opening in zip(before, behind, openings, strict=True):
        used |= ahead + back[::-1, ::-1] - opening == before[0][-1, -1]
    i, j = np.nonzero(used)
    return i, j


def assert_inside(query: bytes, target: bytes, costs: Costs, ranges: list[int]) -> I64:
    """Assert that ranges of diagonals have all cheapest paths; return the paths' diagonals."""
    i, j = cells_of(query, target, costs)
    diagonals = np.asarray(j - i)
    low, high = np.array(ranges[::2]), np.array(ranges[1::2])
    for begin in (0, 1):  # the anti-diagonal before the first range
        at = np.clip((i + j - begin - 1) // ROWS, 0, len(low) - 1)
        assert (low[at] <= diagonals).all() and (diagonals <= high[at]).all(), (query, target)
    return diagonals


def indels_of(query: bytes, target: bytes, taken: set[tuple[int, int]]) -> list[int]:
    """Return the least number of indels of each block of the query in any part of the target, without some matches."""
    symbols, found = np.frombuffer(target, np.uint8), []
    for start in range(0, len(query) - BLOCK + 1, BLOCK):
        row = np.zeros(len(target) + 1, np.int64)
        for i in range(start, start + BLOCK):
            match = symbols == query[i]
            for j in [j for (y, j) in taken if y == i]:
                match[j] = False
            down = row + 1
            down[1:] = np.minimum(down[1:], np.where(match, row[:-1], FAR))
            row = scanned(down, 0, 1)
        found.append(int(row.min()))
    return found


@pytest.mark.parametrize("costs", COSTS, ids=str)
@pytest.mark.parametrize("kind", PAIRS)
def test_cheapest_paths_are_on_the_diagonals(program: Path, kind: str, costs: Costs) -> None:
    rng = random.Random(seed_of(kind, costs))
    pairs = [PAIRS[kind](rng) for _ in range(6 * TIMES)]
    pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
    texts = [(query.decode(), target.decode()) for query, target in pairs]
    paths = [path for text in texts for path in (cigar_of(*text, costs), detour(rng, *text, costs))]
    answers, narrow = answers_of(program, costs, [pair for pair in pairs for _ in range(2)], paths), 0
    for x, (query, target) in enumerate(pairs):
        for _, *ranges in (answers[4 * x], answers[4 * x + 2]):
            assert_inside(query, target, costs, ranges)
            narrow += max(ranges[1::2]) - min(ranges[::2]) < (len(query) + len(target)) // 2
        assert answers[4 * x + 1] == indels_of(query, target, matches_of(paths[2 * x]))
    assert narrow >= len(pairs) // 3 or kind == "repeated"


@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_paths_that_cost_as_much_as_mismatches(program: Path, costs: Costs) -> None:
    rng = random.Random(seed_of("tied", costs))
    pairs = [tied_pair(rng, costs) for _ in range(30 * TIMES)]
    paths = [straight(query.decode(), target.decode()) for query, target in pairs]
    answers, far = answers_of(program, costs, pairs, paths), 0
    for (query, target), (_, *ranges) in zip(pairs, answers[::2], strict=True):
        diagonals = assert_inside(query, target, costs, ranges)
        far += diagonals.min() < -10 or diagonals.max() > 10
    assert far >= len(pairs) // 4


@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_blocks_cost_no_more_than_a_path(program: Path, costs: Costs) -> None:
    rng = random.Random(seed_of("edited", costs))
    pairs = [edited_pair(rng) for _ in range(60 * TIMES)]
    paths = [
        f"{len(query)}I{len(target)}D" for query, target in pairs
    ]  # without matches, so that every path avoids it
    charged = 0
    for (query, target), (paid, *_) in zip(pairs, answers_of(program, costs, pairs, paths)[::2], strict=True):
        assert paid <= 2 * int(costs_of(query, target, costs)[0][-1, -1]), (query, target)
        charged += paid > 0
    assert charged >= len(pairs) // 2


@pytest.mark.parametrize("costs", [*COSTS, (40, 60, 1, -1, 0), (60, 40, 2, 90, 1)], ids=str)
def test_blocks_cost_no_more_than_a_path_through_ambiguous_bases(program: Path, costs: Costs) -> None:
    rng = random.Random(seed_of("ambiguous", costs))
    for ambiguous in (1, max(1, costs[0] // 3)):
        pairs = []
        for _ in range(20 * TIMES):
            query, target = (bytearray(bases) for bases in edited_pair(rng))
            at, size = rng.randrange(len(target)), rng.choice([1, 8, 40, 200, 900])
            target[at : at + size] = b"N" * len(target[at : at + size])
            pairs.append((bytes(query), bytes(target)))
        paths = [f"{len(query)}I{len(target)}D" for query, target in pairs]
        answers = answers_of(program, costs, pairs, paths, ambiguous)[::2]
        for (query, target), (paid, *_) in zip(pairs, answers, strict=True):
            assert paid <= 2 * int(costs_of(query, target, costs, ambiguous)[0][-1, -1]), (query, target)
        assert any(paid > 0 for paid, *_ in answers)
