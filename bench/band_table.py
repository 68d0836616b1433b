"""What the heuristic band and scores alone save: seconds beside the exact alignment with its path, and the recall.

    python bench/band_table.py --data DIR [--rows TEXT ...] [--bands 250,50 100,50] [--engine gpu] [--repeats 5]

Affine costs 4,6,2; recall is the share of pairs whose score is the exact one. Real sets are NAME.query.fa.gz and
NAME.target.fa.gz in DIR, or in the folder that WFACLI_TEST_DATA names. The result is JSON in bench/results.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
import numpy as np
from peers import gpu_work
from peers.gpu_work import Pairs
from peers.ours import EXACT, Engine, batch_bases
from peers.verdict import Costs
from rich.console import Console
from rich.table import Table

from wfacli._native import keep_memory_flat
from wfacli.config import EngineName, Heuristics
from wfacli.core.cores import usable_cores
from wfacli.errors import DeviceError

TIMED = {
    "seconds": "from letters in memory, page-locked beside a GPU, to CIGARs or scores in memory: best of the repeats",
    "recall": "share of pairs whose score is that of the exact alignment",
    "times": "seconds of the exact alignment with its path, of the same run, by these seconds",
}
ROWS = ("pacbio_clr_ecoli × 10", "ont_ecoli_ul × 5")
BANDS = ("250,50", "150,50", "100,50", "50,50")
console = Console(width=max(Console().width, 110))


@dataclass(frozen=True)
class Way:
    """A way to align: exactly, scores alone, or in a band."""

    name: str
    heuristics: Heuristics = EXACT
    score_only: bool = False


def ways(bands: list[str]) -> list[Way]:
    """The exact one first."""
    found = [Way("exact"), Way("scores alone", score_only=True)]
    for band in bands:
        width, _, step = band.partition(",")
        found.append(Way(f"band {band}", Heuristics(band=int(width), band_step=int(step or 0))))
    return found


def measured(way: Way, pairs: Pairs, a: argparse.Namespace) -> tuple[list[float], Costs, dict[str, float]]:
    """All repeats' seconds, costs (i32[n]), and thread-seconds of a repeat by kernel."""
    engine = Engine("affine", way.score_only, a.engine, a.threads, None, way.heuristics)
    try:
        lying = engine.pinned_batches(pairs)
        _, costs = engine.run(lying)  # kernels are compiled and memory is taken
        before = engine.counts()["seconds"]
        seconds = [engine.run(lying)[0] for _ in range(a.repeats)]
        after = engine.counts()["seconds"]
    finally:
        engine.close()
    spent = {name: (after[name] - before.get(name, 0.0)) / a.repeats for name in after if name.startswith("gpu ")}
    return seconds, costs, spent


def row_of(name: str, pairs: Pairs, a: argparse.Namespace) -> dict[str, Any]:
    """Every way on one row."""
    found: list[dict[str, Any]] = []
    exact: Costs | None = None
    for way in ways(a.bands):
        with console.status(f"{name}: {way.name}"):
            seconds, costs, spent = measured(way, pairs, a)
        exact = costs if exact is None else exact
        best = min(seconds)
        found.append(
            {
                "way": way.name,
                **harness.summed_up(seconds),
                "recall": float(np.mean(costs == exact)),
                "unaligned": int(np.count_nonzero(costs < 0)),
                "times": round(found[0]["best_seconds"] / best, 3) if found else 1.0,
                "card_seconds": {name: round(value, 6) for name, value in spent.items() if value > 0},
            }
        )
    return {"row": name, "pairs": len(pairs), "letters": pairs.letters, "ways": found}


def table_of(rows: list[dict[str, Any]]) -> Table:
    """One line a way."""
    table = Table("pairs", "way", "seconds", "median", "recall", "times as fast")
    for row in rows:
        for way in row["ways"]:
            numbers = [f"{way['best_seconds']:.4f}", f"{way['median_seconds']:.4f}", f"{way['recall']:.1%}"]
            table.add_row(row["row"], way["way"], *numbers, f"{way['times']:.2f}")
    return table


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", type=EngineName, choices=(EngineName.GPU, EngineName.CPU), default=EngineName.GPU)
    parser.add_argument("--rows", nargs="+", metavar="TEXT", help="rows of bench-gpu whose names contain one of these")
    default = os.environ.get("WFACLI_TEST_DATA")
    parser.add_argument("--data", type=Path, default=Path(default) if default else None, help="folder of real sets")
    parser.add_argument("--bands", nargs="*", default=list(BANDS), metavar="W,STEP")
    parser.add_argument("--share", type=float, default=1.0, help="of each row's pairs")
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--repeats", type=int, default=5)
    harness.pace(parser)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    a = asked(arguments)
    keep_memory_flat()
    rows = [row for row in gpu_work.ROWS if any(text in row.name for text in a.rows or ROWS)]
    done: list[dict[str, Any]] = []
    end, path = harness.deadline(a), None
    asked_for_all = not (a.rows or a.share != 1 or a.bands != list(BANDS))
    with tempfile.TemporaryDirectory(prefix="wfacli-bench-", dir=gpu_work.folder_in_memory()) as folder:
        for row in rows:
            if time.monotonic() > end:
                console.print(f"{row.name}: no time left", markup=False)
                continue
            try:
                files = gpu_work.write(row, a.data, a.share, Path(folder), False)
                done.append(row_of(row.name, gpu_work.read(files, batch_bases(a.engine, files)), a))
            except (FileNotFoundError, DeviceError) as problem:
                sys.exit(f"{row.name}: {problem}")
            rules = {"repeats": a.repeats, "threads": a.threads, "share": a.share, "engine": a.engine.value}
            whole = asked_for_all and len(done) == len(rows)
            path = harness.save_so_far("band-table", TIMED, {"rules": rules, "rows": done}, whole)
    if not done:
        sys.exit("no such rows" if not rows else "no time left")
    console.print(table_of(done))
    console.print(str(path))


if __name__ == "__main__":
    main()
