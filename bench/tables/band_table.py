"""Time saved by a band and by scores alone, beside the exact alignment with its path, and the recall.

    python -m bench.tables.band_table --data DIR [--rows TEXT ...] [--bands 250,50 100,50] [--engine gpu] [--repeats 5]

Affine costs 4,6,2. The recall is the share of pairs with the exact score. Real sets are NAME.query.fa.gz and
NAME.target.fa.gz in DIR, or in the folder WFACLI_TEST_DATA.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.harness import table
from bench.peers import gpu_work
from bench.peers.gpu_work import Pairs
from bench.peers.ours import EXACT, Engine, batch_bases
from bench.peers.verdict import Costs
from wfacli._native import keep_memory_flat
from wfacli.config import EngineName, Heuristics
from wfacli.measure.spread import Spread

TIMED = {
    "seconds": "from bases in memory (page-locked for a GPU) to CIGARs or scores in memory; the best repeat",
    "recall": "share of pairs whose score is that of the exact alignment",
    "times": "seconds of the exact alignment with its path in the same run, divided by these seconds",
}
ROWS = ("pacbio_clr_ecoli × 10", "ont_ecoli_ul × 5")
BANDS = ("250,50", "150,50", "100,50", "50,50")
console = Console(width=max(Console().width, 110))


@dataclass(frozen=True)
class Way:
    """One setting: exact, scores alone, or in a band."""

    name: str
    heuristics: Heuristics = EXACT
    score_only: bool = False


def ways(bands: list[str]) -> list[Way]:
    """Return all settings, the exact one first."""
    found = [Way("exact"), Way("scores alone", score_only=True)]
    for band in bands:
        width, _, step = band.partition(",")
        found.append(Way(f"band {band}", Heuristics(band=int(width), band_step=int(step or 0))))
    return found


def measured(way: Way, pairs: Pairs, a: argparse.Namespace) -> tuple[list[float], Costs, dict[str, float]]:
    """Return seconds of all repeats, costs (i32[n]), and thread-seconds of a repeat by kernel."""
    engine = Engine("affine", way.score_only, a.engine, a.threads, None, way.heuristics)
    try:
        lying = engine.pinned_batches(pairs)
        _, costs = engine.run(lying)  # compiles kernels and allocates memory
        before = engine.counts()["seconds"]
        seconds = [engine.run(lying)[0] for _ in range(a.repeats)]
        after = engine.counts()["seconds"]
    finally:
        engine.close()
    spent = {name: (after[name] - before.get(name, 0.0)) / a.repeats for name in after if name.startswith("gpu ")}
    return seconds, costs, spent


def row_of(name: str, pairs: Pairs, a: argparse.Namespace) -> dict[str, Any]:
    """Measure every setting on one row."""
    found: list[dict[str, Any]] = []
    exact: Costs | None = None
    for way in ways(a.bands):
        seconds, costs, spent = measured(way, pairs, a)
        exact = costs if exact is None else exact
        best = min(seconds)
        found.append(
            {
                "way": way.name,
                **Spread(seconds).report(),
                "recall": float(np.mean(costs == exact)),
                "unaligned": int(np.count_nonzero(costs < 0)),
                "times": round(found[0]["best_seconds"] / best, 3) if found else 1.0,
                "gpu_seconds": {name: round(value, 6) for name, value in spent.items() if value > 0},
            }
        )
    return {"row": name, "pairs": len(pairs), "bases": pairs.bases, "ways": found}


def table_of(rows: list[dict[str, Any]]) -> Table:
    """Return a table with a line for each setting."""
    table = Table("pairs", "way", "seconds", "median", "recall", "times as fast")
    for row in rows:
        for way in row["ways"]:
            numbers = [f"{way['best_seconds']:.4f}", f"{way['median_seconds']:.4f}", f"{way['recall']:.1%}"]
            table.add_row(row["row"], way["way"], *numbers, f"{way['times']:.2f}")
    return table


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "data", "share", "threads", repeats=5, minutes=None)
    parser.add_argument("--engine", type=EngineName, choices=(EngineName.GPU, EngineName.CPU), default=EngineName.GPU)
    parser.add_argument("--bands", nargs="*", default=list(BANDS), metavar="W,STEP")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    keep_memory_flat()
    runner = table.Runner("band-table", TIMED, a, console, a.bands != list(BANDS))
    rows = [row for row in gpu_work.ROWS if any(text in row.name for text in a.rows or ROWS)]
    rules = {"repeats": a.repeats, "threads": a.threads, "share": a.share, "engine": a.engine.value}
    with tempfile.TemporaryDirectory(prefix="wfacli-bench-", dir=gpu_work.folder_in_memory()) as folder:

        def measure(row: gpu_work.Row) -> dict[str, Any]:
            files = gpu_work.write(row, a.data, a.share, Path(folder), False)
            return row_of(row.name, gpu_work.read(files, batch_bases(a.engine, files)), a)

        runner.measure(rows, measure, lambda: {"rules": rules})
    if not runner.rows:
        sys.exit("no such rows" if not rows else table.NO_TIME)
    console.print(table_of(runner.rows))
    console.print(str(runner.path))


if __name__ == "__main__":
    main()
