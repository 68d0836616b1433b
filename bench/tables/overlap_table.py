"""Overlaps of two noisy reads on one CPU thread, beside parasail's alignments with all ends free on the same pairs.

    python -m bench.tables.overlap_table [--rows TEXT ...] [--bases N] [--repeats N] [--minutes M] [--save]

Requires the package parasail. The second of two random reads begins with a noisy copy of the first one's end. Both
aligners are called from Python, alternately; the fastest of parasail's functions is its result. The exit status is 1
if a score differs from parasail's.
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
    import parasail
except ImportError:
    parasail = None

LENGTHS = (150, 1000, 10_000)
SHARES = (0.2, 0.5, 0.9)
ERRORS = (0.01, 0.05, 0.15)
TASKS = ("CIGAR", "score")
BASES = 60_000  # of a row's queries together
PEERS = {"CIGAR": ("sg_trace_striped_16", "sg_trace_scan_16"), "score": ("sg_striped_16", "sg_scan_16")}
TIMED = {
    "ours": "Aligner(mode='overlap', match=2, threads=1).align_batch of lists of bytes, affine 4,6,2:"
    " copying of bases, and alignments, or spans with scores, in columns",
    "parasail": "the fastest of its functions, from strings: a traceback table for each pair (without"
    " traceback and CIGAR), or the score alone; its dispatcher uses at most AVX2",
}


@dataclass(frozen=True)
class Row:
    """Reads of one length, and what is asked of them.

    Attributes:
        length: bases of a read.
        share: share of a read that overlaps the other.
        error: edits per base of the overlap.
        task: one of TASKS.
    """

    length: int
    share: float
    error: float
    task: str

    @property
    def name(self) -> str:
        """Name in the table."""
        return f"{self.length:,} by {self.share:.0%}, {self.error:.0%}, {self.task}"


@functools.lru_cache(maxsize=1)
def pairs_of_row(length: int, share: float, error: float, bases: int) -> tuple[list[bytes], list[bytes]]:
    """Return queries, and targets that begin with noisy copies of their ends; `bases` of queries, at least 2 pairs."""
    rng = np.random.default_rng(length + round(1e3 * share) + round(1e6 * error))
    count, common = max(bases // length, 2), round(length * share)
    reads = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, (2 * count, length))]
    queries, rest = [row.tobytes() for row in reads[:count]], [row.tobytes() for row in reads[count:]]
    edits = round(common * error)
    return queries, [noisy(q[-common:], edits, rng) + r[common:] for q, r in zip(queries, rest, strict=True)]


def row_of(row: Row, bases: int, repeats: int) -> dict[str, Any]:
    """Measure one row."""
    queries, targets = pairs_of_row(row.length, row.share, row.error, bases)
    texts = [(q.decode(), t.decode()) for q, t in zip(queries, targets, strict=True)]
    matrix = parasail.matrix_create("ACGT", 2, -4) if parasail else None
    seconds: dict[str, list[float]] = {"ours": []}
    scores: dict[str, list[int]] = {}
    with wfacli.Aligner(mode="overlap", match=2, threads=1, score_only=row.task == "score") as aligner:
        for _ in range(repeats):
            taken, found = table.timed(lambda: aligner.align_batch(queries, targets))
            seconds["ours"].append(taken)
            scores["ours"] = found.score.tolist()
            for name in PEERS[row.task] if parasail else ():
                function = getattr(parasail, name)
                taken, scores[name] = table.timed(lambda f=function: [f(q, t, 8, 2, matrix).score for q, t in texts])
                seconds.setdefault(name, []).append(taken)
    sizes = {"length": row.length, "share": row.share, "error": row.error, "task": row.task, "pairs": len(queries)}
    found = sizes | {aligner: table.per_pair(taken, len(queries)) for aligner, taken in seconds.items()}
    if parasail:
        found["best"] = min(PEERS[row.task], key=lambda name: min(seconds[name]))
        found["equal"] = all(some == scores["ours"] for some in scores.values())
        found["ratio"] = round(min(seconds[found["best"]]) / min(seconds["ours"]), 2)
    return found


def line_of(row: Row, found: dict[str, Any]) -> str:
    """Return the line that is printed for a row."""
    best = found.get("best")
    peer = f"{best:20} {found[best]['us_a_pair']:10.2f}   {found['ratio']:6.2f} times" if best else "no peer"
    return f"{row.name:32} {found['ours']['us_a_pair']:10.2f} us a pair   {peer}"


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "save", repeats=5, minutes=None)
    parser.add_argument("--bases", type=int, default=BASES, help="bases of a row's queries together")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    if parasail is None:
        print("no parasail: pip install parasail", file=sys.stderr)
    every = [Row(n, share, error, task) for n in LENGTHS for share in SHARES for error in ERRORS for task in TASKS]
    runner = table.Runner("overlap-table", TIMED, a, Console(stderr=True))
    runner.measure(table.chosen(every, a), lambda row: row_of(row, a.bases, a.repeats), shown=line_of)
    if runner.path:
        print(runner.path)
    if not all(row.get("equal", True) for row in runner.rows):
        sys.exit("scores differ from parasail's")


if __name__ == "__main__":
    main()
