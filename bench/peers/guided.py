"""Peers that extend pairs in a band with a Z-drop: ksw2 as a library, AGAThA as a program."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wfacli.core.batch import PairBatch

from .gpu_binaries import Failed
from .verdict import Costs

AGATHA_MOST = 32_767  # maximum score: 16 bits


@dataclass(frozen=True)
class Rules:
    """Rules of an extension: scores of bases and gaps, diagonals on either side, and the drop that ends it."""

    match: int
    mismatch: int
    open: int
    extend: int
    band: int
    zdrop: int


class Ksw2:
    """ksw2's library on several threads, each with a part of the pairs."""

    def __init__(self, library: Path, threads: int) -> None:
        self._run = ctypes.CDLL(str(library)).ksw2_run
        self._run.restype, self._threads = ctypes.c_double, threads

    def run(self, pairs: PairBatch, rules: Rules) -> tuple[float, Costs]:
        """Return the seconds of the slowest thread, and scores (i32[n])."""
        scores = np.zeros(len(pairs), np.int32)

        def part(rows: slice) -> float:
            columns = [getattr(pairs, name)[rows] for name in ("q_start", "t_start", "q_len", "t_len")]
            pointers = [column.ctypes.data_as(ctypes.c_void_p) for column in (*columns, scores[rows])]
            bases = pairs.bases.ctypes.data_as(ctypes.c_void_p)
            charged = (rules.match, rules.mismatch, rules.open, rules.extend, rules.band, rules.zdrop)
            return float(self._run(*charged, bases, ctypes.c_int64(len(columns[0])), *pointers))

        edges = np.linspace(0, len(pairs), self._threads + 1).astype(int)
        with ThreadPoolExecutor(self._threads) as pool:
            taken = list(pool.map(part, map(slice, edges[:-1].tolist(), edges[1:].tolist())))
        return max(taken), scores


@dataclass(frozen=True)
class AgathaAnswer:
    """AGAThA's results for all pairs.

    Attributes:
        kernel_seconds: of its kernels, which sort and align.
        whole_seconds: of its process from bases in memory to scores, including allocation; None if its build does not
            print that.
        wall_seconds: of the program, including files and start.
        scores: i32[n].
    """

    kernel_seconds: float
    whole_seconds: float | None
    wall_seconds: float
    scores: Costs


def agatha(
    program: Path, files: Sequence[Path], pairs: int, rules: Rules, folder: Path, patience: float
) -> AgathaAnswer:
    """Run AGAThA on all pairs in one batch, for scores and kernel time, then for whole time. Raises Failed."""
    options = ["-m", rules.match, "-x", rules.mismatch, "-q", rules.open, "-r", rules.extend, "-z", rules.zdrop]
    command = [str(program), *map(str, options), "-w", str(rules.band), "-a", str(pairs)]
    times, told = folder / "kernels.txt", [*map(str, files)]
    times.unlink(missing_ok=True)  # it appends
    printed, _, _ = _called([*command, "-p", *told, str(times)], patience)
    scores = agatha_scores(printed)
    if len(scores) != pairs:
        raise Failed(f"{len(scores):,} scores of {pairs:,} pairs")
    _, said, wall = _called([*command, *told, str(times)], patience)
    return AgathaAnswer(agatha_kernels(times.read_text()), agatha_whole(said), wall, scores)


def agatha_scores(printed: str) -> Costs:
    """Return the scores in its output, whose lines have the score, a tab, and where the alignment ends."""
    return np.array([int(line.split("\t", 1)[0]) for line in printed.splitlines() if "\t" in line], np.int32)


def agatha_kernels(text: str) -> float:
    """Return the seconds in its file of times, which has milliseconds, one batch per line."""
    return sum(map(float, text.split())) / 1000


def agatha_whole(said: str) -> float | None:
    """Return the seconds of its process that it prints at the end, if it does."""
    found = re.search(r"process time \(with malloc\) \(in milliseconds\): ([0-9.]+)", said)
    return float(found[1]) / 1000 if found else None


def _called(command: list[str], patience: float) -> tuple[str, str, float]:
    """Return its standard output, its standard error, and seconds. Raises Failed."""
    begun = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False,
                              env=os.environ | {"AGATHA_TIMES": "1"})  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Failed(f"over {patience:.0f} s") from None
    except OSError as error:
        raise Failed(str(error)) from None
    if done.returncode != 0 or "ERROR" in done.stderr:
        said = done.stderr.strip().splitlines()
        raise Failed(said[-1][:160] if said else f"exit status {done.returncode}")
    return done.stdout, done.stderr, time.perf_counter() - begun
