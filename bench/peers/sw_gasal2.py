"""GASAL2's programs for sw_table."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from bench.harness.sw_pairs import Pairs

MOST_DIRECTIONS = 80 << 30  # bytes of GPU memory for its paths
STREAMS = 16  # batches in flight: eight threads with two each
MOST_PAIRS, LEAST_PAIRS = 50_000, 10_000  # of a batch: more gain nothing, fewer cost time
MEMORY = Path("/dev/shm")  # folder for files in memory
PATIENCE = 60.0  # seconds
# Minimum of its time divided by that of its memory, which varies by half between runs; repeats below this minimum.
STEADY, REPEATS = 2.0, 5
MOST_TIMES, MOST_BASES = 6, 6e8  # of a longer run: multiple of the pairs, and bases, which take seconds to read


def peers_pairs(pairs: Pairs, cells: float, max_bases: float, paths: bool) -> Pairs:
    """Return as many of the same pairs as GASAL2 needs, with a thread per pair, and as its memory holds at once."""
    count = min(cells * pairs.count / pairs.cells, max_bases * pairs.count / pairs.bases, STREAMS * MOST_PAIRS)
    if paths:
        count = min(count, STREAMS * _room(pairs.longest))
    return Pairs(pairs.distinct, max(int(count), 1))


def gasal2(program: Path, scores: str, pairs: Pairs, paths: bool, repeats: int) -> dict[str, Any]:
    """Return TCUPS, or why there are none, from the times that it prints (medians), which include allocation.

    The time of two pairs with few cells is taken as that of allocation, and subtracted. If the pairs take less than
    STEADY times as long as that, runs with several times as many pairs follow, in batches of the same size: the rate
    is then that of the additional pairs, since both runs allocate the same memory.
    """
    size = _batch(len(pairs), pairs.longest, paths)
    longest = max((s for pair in pairs.distinct for s in pair), key=len)
    little = Pairs([(longest, longest[:8]), (longest[:8], longest)], 2)  # for which it allocates as much memory
    begun, failed = _median(program, scores, little, paths, repeats, size)
    seconds, failed = (None, failed) if begun is None else _median(program, scores, pairs, paths, repeats, size)
    if begun is None or seconds is None:
        return {"failed": failed}
    found: dict[str, Any] = {"seconds": round(seconds, 5), "memory_seconds": round(begun, 5), "batch": size}
    work, taken = pairs.cells, seconds - begun
    times = min(MOST_TIMES, int(MOST_BASES / pairs.bases))
    if taken < STEADY * begun and times > 1:
        more = Pairs(pairs.distinct, times * len(pairs))
        longer, failed = _median(program, scores, more, paths, max(repeats, REPEATS), size)
        fewer, failed = (None, failed) if longer is None else _median(program, scores, pairs, paths, REPEATS, size)
        if longer is None or fewer is None:
            return {"failed": failed}
        found |= {"seconds": round(fewer, 5), "more": {"pairs": len(more), "seconds": round(longer, 5)}}
        work, taken = more.cells - pairs.cells, longer - fewer
    if taken <= 0:
        return {"failed": "too few pairs beside what its memory takes"}
    return {**found, "tcups": float(f"{work / taken / 1e12:.4g}"), "pairs": len(pairs), "cells": pairs.cells}


def program_for(programs: dict[int, Path], longest: int) -> Path | None:
    """Return the program for the smallest length that suffices."""
    return next((programs[size] for size in sorted(programs) if longest <= size - 8), None)


def _room(longest: int) -> int:
    """Return how many pairs of a batch have room for their paths, at half a byte per cell and STREAMS batches."""
    return max(MOST_DIRECTIONS // (STREAMS * longest**2 // 2), 1)


def _batch(pairs: int, longest: int, paths: bool) -> int:
    """Return the pairs of a batch: half of each stream's share, so that copies and kernels overlap."""
    once = -(-pairs // STREAMS)
    size = min(max(-(-once // 2), min(once, LEAST_PAIRS)), MOST_PAIRS)
    return min(size, _room(longest)) if paths else size


def _median(
    program: Path, scores: str, pairs: Pairs, paths: bool, repeats: int, size: int
) -> tuple[float | None, str]:
    """Return the median seconds of some runs, or why one failed."""
    taken = []
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        files = [Path(folder) / name for name in ("q.fa", "t.fa")]
        for side, path in enumerate(files):
            path.write_bytes(pairs.fasta(side))
        charged = dict(zip("abqr", scores.split(","), strict=True))
        options = [word for name, value in charged.items() for word in (f"-{name}", value)]
        command = [str(program), *options, "-y", "local", "-n", "8", *(["-t"] if paths else []), *map(str, files)]
        for _ in range(repeats):
            seconds, failed = _seconds(command, size)
            if seconds is None:
                return None, failed
            taken.append(seconds)
    return statistics.median(taken), ""


def _seconds(command: list[str], size: int) -> tuple[float | None, str]:
    """Return the seconds that a run prints, or why it failed."""
    try:
        environment = os.environ | {"GASAL_BATCH": str(size)}
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False, env=environment)
    except subprocess.TimeoutExpired:
        return None, f"over {PATIENCE:.0f} s"
    said = (done.stdout + done.stderr).decode(errors="replace")
    times = re.findall(r"Total execution time \(in milliseconds\): ([0-9.]+)", said)
    if times:
        return min(float(ms) for ms in times) / 1000, ""
    return None, said.strip().splitlines()[-1][:120] if said.strip() else f"status {done.returncode}"
