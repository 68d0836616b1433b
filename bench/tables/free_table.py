"""Queries inside longer targets, by edit distance, on one CPU thread, beside edlib's HW mode on the same pairs.

    python -m bench.tables.free_table [--rows TEXT ...] [--bases N] [--repeats N] [--minutes M] [--save]

Requires the package edlib. Pairs are random: each query is a part of its target with a fixed number of edits. Both
aligners are called from Python, alternately. The exit status is 1 if a distance differs from edlib's.
"""

from __future__ import annotations

import argparse
import functools
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console

import wfacli
from bench.harness import table
from bench.harness.pairs import noisy

try:
    import edlib
except ImportError:
    edlib = None

SHAPES = ((150, 300), (150, 1000), (150, 10_000), (500, 3000), (1000, 5000), (10_000, 12_000), (10_000, 100_000))
ERRORS = (0.02, 0.05, 0.1, 0.2)
TASKS = ("CIGAR", "score")
BASES = 2_000_000  # of a row's targets together
TIMED = {
    "ours": "Aligner(metric='edit', mode='semiglobal', threads=1).align_batch of lists of bytes: bases taken over, a "
    "kernel chosen, alignments or spans with scores in columns",
    "edlib": "edlib.align of each pair, mode HW, task path, or distance (which has no start positions), from strings",
}


@dataclass(frozen=True)
class Row:
    """Pairs of one shape, and what is asked of them.

    Attributes:
        query: bases of a query.
        target: bases of a target.
        error: edits per base of a query.
        task: one of TASKS.
    """

    query: int
    target: int
    error: float
    task: str

    @property
    def name(self) -> str:
        """Name in the table."""
        return f"{self.query:,} in {self.target:,}, {self.error:.0%}, {self.task}"


@functools.lru_cache(maxsize=1)
def pairs_of_row(query: int, target: int, error: float, bases: int) -> tuple[list[bytes], list[bytes]]:
    """Return queries, and targets that contain them at random positions; `bases` of targets, at least 4 pairs."""
    rng = np.random.default_rng(query + target + round(1e6 * error))
    count = max(bases // target, 4)
    targets = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, (count, target))]
    texts = [row.tobytes() for row in targets]
    first = rng.integers(0, target - query + 1, count).tolist()
    edits = round(query * error)
    return [noisy(text[at : at + query], edits, rng) for text, at in zip(texts, first, strict=True)], texts


def row_of(row: Row, bases: int, repeats: int) -> dict[str, Any]:
    """Measure one row."""
    queries, targets = pairs_of_row(row.query, row.target, row.error, bases)
    texts = [(q.decode(), t.decode()) for q, t in zip(queries, targets, strict=True)]
    kind = "path" if row.task == "CIGAR" else "distance"
    seconds: dict[str, list[float]] = {"ours": []}
    edits: dict[str, list[int]] = {}
    with wfacli.Aligner(metric="edit", mode="semiglobal", threads=1, score_only=row.task == "score") as aligner:
        for _ in range(repeats):
            taken, found = table.timed(lambda: aligner.align_batch(queries, targets))
            seconds["ours"].append(taken)
            edits["ours"] = (-found.score).tolist()
            if edlib is not None:
                taken, edits["edlib"] = table.timed(
                    lambda: [edlib.align(q, t, mode="HW", task=kind)["editDistance"] for q, t in texts]
                )
                seconds.setdefault("edlib", []).append(taken)
    sizes = {"query": row.query, "target": row.target, "error": row.error, "task": row.task, "pairs": len(queries)}
    found = sizes | {aligner: table.per_pair(taken, len(queries)) for aligner, taken in seconds.items()}
    if edlib is not None:
        found["equal"] = edits["ours"] == edits["edlib"]
        found["ratio"] = round(min(seconds["edlib"]) / min(seconds["ours"]), 2)
    return found


def line_of(row: Row, found: dict[str, Any]) -> str:
    """Return the line that is printed for a row."""
    peer = (
        f"edlib {found['edlib']['us_a_pair']:10.2f}   {found['ratio']:6.2f} times" if "ratio" in found else "no peer"
    )
    return f"{row.name:32} {found['ours']['us_a_pair']:10.2f} us a pair   {peer}"


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "save", repeats=5, minutes=None)
    parser.add_argument("--bases", type=int, default=BASES, help="bases of a row's targets together")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    if edlib is None:
        print("no edlib: pip install edlib", file=sys.stderr)
    every = [Row(*shape, error, task) for shape in SHAPES for error in ERRORS for task in TASKS]
    runner = table.Runner("free-table", TIMED, a, Console(stderr=True))
    runner.measure(table.chosen(every, a), lambda row: row_of(row, a.bases, a.repeats), shown=line_of)
    if runner.path:
        print(runner.path)
    if not all(row.get("equal", True) for row in runner.rows):
        sys.exit("distances differ from edlib's")


if __name__ == "__main__":
    main()
