"""The best local alignment of one long pair: wfacli and parasail's best function, in the same run.

    python -m bench.tables.local_table --data DIR [--rows TEXT ...] [--threads N]

Real sets are NAME.query.fa.gz and NAME.target.fa.gz in DIR, or in the folder WFACLI_TEST_DATA. Each aligner has one
thread, and wfacli several as well. parasail computes scores alone here; its 16-bit functions are left out where they
overflow. An aligner that would take longer than --longest seconds is left out. The exit status is 1 if scores differ.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import parasail
from rich.console import Console
from rich.table import Table

from bench.harness import table
from bench.peers import distance_work
from wfacli import _native
from wfacli.scoring.scheme import Scheme

TIMED = {
    "seconds": "one pair, from bases in memory to the result, without files and program start; the best repeat",
    "cpu_seconds": "processor time of all threads in the same repeat; compare this on a machine that others use too",
    "score": "wfacli: the best score and the start of its alignment; tiles that cannot contain it are skipped",
    "every tile": "the same without skipping tiles, as in parasail",
    "alignment": "wfacli: the score and the whole alignment, in linear space",
    "gcups": "cells of the whole matrix per second of one core, in 10^9: query length × target length"
    " / cpu_seconds, whether computed or not",
    "parasail": "sw_striped and sw_scan, score only; its dispatcher uses at most AVX2",
}
DNA = ("long_mt_human_orang", "long_mpxv", "long_lpa_human", "long_ont_500k")
PROTEINS = "random proteins 20 k"
LIMIT_16 = 32_767
PEERS_RATE, OUR_RATE = 2e9, 5e9  # cells per second of one core, about, to predict times
NO_RUNS = np.zeros((0, 3), np.int64)
console = Console(width=max(Console().width, 150))


def ours(codes: list[np.ndarray], scheme: Scheme, threads: int, **options: Any) -> tuple[int, int]:
    """Return (score, cells computed)."""
    solver = _native.LocalSolver(
        *codes, scheme.matrix, scheme.open, scheme.extend, scheme.same, NO_RUNS, threads=threads, **options
    )
    while not solver.advance(3600):
        pass
    return solver.position[0], solver.position[3]


def timed(work: Callable[[], Any], repeats: int) -> tuple[dict[str, float], Any]:
    """Return the seconds of the repeat with the least CPU time, and the result."""
    best: dict[str, float] = {}
    answer = None
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = work()
        took = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
        if not best or took["cpu_seconds"] < best["cpu_seconds"]:
            best = took
    return best, answer


def pair_of(name: str, data: Path | None) -> tuple[list[str], Scheme, Any]:
    """Return (sequences, our scheme, parasail's matrix)."""
    if name == PROTEINS:
        rng = random.Random(1)
        sides = ["".join(rng.choices("ARNDCQEGHILKMFPSTVWY", k=20_000)) for _ in range(2)]
        return sides, Scheme.of_matrix("BLOSUM62", (11, 1)), parasail.blosum62
    pair = distance_work.made(distance_work.Row(name, real=name), data).pair
    return (
        [side.tobytes().decode() for side in (pair.query, pair.target)],
        Scheme.of_scores(2, 4, 4, 2),
        parasail.matrix_create("ACGT", 2, -4),
    )


def measured(name: str, pair: tuple[list[str], Scheme, Any], a: argparse.Namespace, end: float) -> dict[str, Any]:
    """Measure all aligners on one pair; those that would not be done by `end` are left out."""
    sides, scheme, matrix = pair
    codes = [scheme.codes[np.frombuffer(side.encode(), np.uint8)] for side in sides]
    cells = len(sides[0]) * len(sides[1])
    repeats = max(1, min(a.repeats, int(4e10 / cells)))
    row: dict[str, Any] = {
        "name": name,
        "lengths": [len(side) for side in sides],
        "measured": {},
        "wrong": [],
        "late": [],
    }
    ways = {
        "every tile": {"path": False, "prune": False},
        "score": {"path": False},
        "alignment": {},
        f"alignment, {a.threads} threads": {"threads": a.threads},
    }
    slowest = 0.0
    for way, options in ways.items():
        if time.monotonic() + slowest > end:
            row["late"].append(way)
            continue
        took, (score, computed) = timed(lambda o=options: ours(codes, scheme, **{"threads": 1, **o}), repeats)
        row["measured"][way] = took | {"gcups": cells / took["cpu_seconds"] / 1e9, "computed": computed / cells}
        row["score"], slowest = score, max(slowest, took["seconds"])
    for function in ("sw_striped_16", "sw_scan_16", "sw_striped_32", "sw_scan_32"):
        if (function.endswith("16") and row["score"] > LIMIT_16) or cells / PEERS_RATE > a.longest:
            continue
        if time.monotonic() + cells / PEERS_RATE > end:
            row["late"].append(function)
            continue
        call = getattr(parasail, function)
        took, answer = timed(lambda c=call: c(*sides, scheme.open + scheme.extend, scheme.extend, matrix), repeats)
        row["measured"][function] = took | {"gcups": cells / took["cpu_seconds"] / 1e9}
        row["wrong"] += [function] * (answer.score != row["score"])
    return row


def table_of(rows: list[dict[str, Any]]) -> Table:
    """Return a table of GCUPS with a line for each pair."""
    names = list(dict.fromkeys(way for row in rows for way in row["measured"]))
    table = Table(title="local alignment of one pair, GCUPS of one core (cells of the whole matrix)")
    for column in ("pair", "score", *names):
        table.add_column(column, justify="right")
    for row in rows:
        rates = (row["measured"].get(way, {}).get("gcups") for way in names)
        table.add_row(row["name"], f"{row['score']:,}", *("–" if r is None else f"{r:.2f}" for r in rates))
    return table


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    return table.options(__doc__, "data", "rows", "threads", "repeats", longest=60.0, minutes=None).parse_args(
        arguments
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    runner = table.Runner("local-table", TIMED, a, console)

    def measure(name: str) -> dict[str, Any]:
        pair = pair_of(name, a.data)
        if time.monotonic() + len(pair[0][0]) * len(pair[0][1]) / OUR_RATE > runner.end:
            raise table.LeftOut(table.NO_TIME)
        row = measured(name, pair, a, runner.end)
        if row["late"]:
            runner.part = True
            console.print(f"{name}: no time left for {', '.join(row['late'])}", markup=False)
        return row

    runner.measure(table.chosen((*DNA, PROTEINS), a), measure)
    if not runner.rows:
        return
    console.print(table_of(runner.rows))
    console.print(f"saved to {runner.path}", markup=False)
    sys.exit(any(row["wrong"] for row in runner.rows))


if __name__ == "__main__":
    main()
