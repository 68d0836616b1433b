"""Overlaps of two noisy reads on one CPU thread, beside parasail's alignments with all ends free on the same pairs.

    python -m bench.tables.overlap_table [--rows TEXT ...] [--letters N] [--repeats N] [--minutes M] [--save]

Needs the package parasail. The second of two random reads begins with what the first one ends with, with so many
edits. Both are called from Python, in turns; of parasail's functions the fastest counts. A score that is not
parasail's ends the command with 1.
"""

from __future__ import annotations

import argparse
import functools
import sys
from typing import Any

import numpy as np

import wfacli
from bench.harness import saving
from bench.tables.free_table import noisy, seconds_of

try:
    import parasail
except ImportError:
    parasail = None

LENGTHS = (150, 1000, 10_000)
SHARES = (0.2, 0.5, 0.9)
ERRORS = (0.01, 0.05, 0.15)
TASKS = ("CIGAR", "score")
LETTERS = 60_000  # of a row's queries together
PEERS = {"CIGAR": ("sg_trace_striped_16", "sg_trace_scan_16"), "score": ("sg_striped_16", "sg_scan_16")}
TIMED = {
    "ours": "Aligner(mode='overlap', match=2, threads=1).align_batch of lists of bytes, affine 4,6,2: letters taken "
    "over, alignments or spans with scores in columns",
    "parasail": "the fastest of its functions, from strings: a table of directions for each pair (no way back, no "
    "CIGAR), or the score alone; its dispatcher takes what the machine has, at most AVX2",
}


@functools.lru_cache(maxsize=1)
def pairs_of_row(length: int, share: float, error: float, letters: int) -> tuple[list[bytes], list[bytes]]:
    """Queries, and targets that begin with noisy copies of their ends."""
    rng = np.random.default_rng(length + round(1e3 * share) + round(1e6 * error))
    count, common = max(letters // length, 2), round(length * share)
    reads = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, (2 * count, length))]
    queries, rest = [row.tobytes() for row in reads[:count]], [row.tobytes() for row in reads[count:]]
    edits = round(common * error)
    return queries, [noisy(q[-common:], edits, rng) + r[common:] for q, r in zip(queries, rest, strict=True)]


def row_of(length: int, share: float, error: float, task: str, letters: int, repeats: int) -> dict[str, Any]:
    queries, targets = pairs_of_row(length, share, error, letters)
    texts = [(q.decode(), t.decode()) for q, t in zip(queries, targets, strict=True)]
    matrix = parasail.matrix_create("ACGT", 2, -4) if parasail else None
    times: dict[str, list[float]] = {"ours": []}
    scores: dict[str, list[int]] = {}
    with wfacli.Aligner(mode="overlap", match=2, threads=1, score_only=task == "score") as aligner:
        for _ in range(repeats):
            taken, found = seconds_of(lambda: aligner.align_batch(queries, targets))
            times["ours"].append(taken)
            scores["ours"] = found.score.tolist()
            for name in PEERS[task] if parasail else ():
                function = getattr(parasail, name)
                taken, theirs = seconds_of(lambda f=function: [f(q, t, 8, 2, matrix).score for q, t in texts])
                times.setdefault(name, []).append(taken)
                scores[name] = theirs
    row: dict[str, Any] = {"length": length, "share": share, "error": error, "task": task, "pairs": len(queries)}
    for who, taken_by in times.items():
        row[who] = {**saving.summed_up(taken_by), "us_a_pair": round(min(taken_by) / len(queries) * 1e6, 2)}
    if parasail:
        row["best"] = min(PEERS[task], key=lambda name: min(times[name]))
        row["equal"] = all(found == scores["ours"] for found in scores.values())
        row["ratio"] = round(min(times[row["best"]]) / min(times["ours"]), 2)
    return row


def name_of(length: int, share: float, error: float, task: str) -> str:
    return f"{length:,} by {share:.0%}, {error:.0%}, {task}"


def beside(row: dict[str, Any]) -> str:
    if "best" not in row:
        return "no peer"
    return f"{row['best']:20} {row[row['best']]['us_a_pair']:10.2f}   {row['ratio']:6.2f} times"


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", nargs="+", default=[""], metavar="TEXT", help="rows whose names have one of these")
    parser.add_argument("--letters", type=int, default=LETTERS, help="of a row's queries together")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--save", action="store_true", help="write bench/results/…-overlap-table.json, row by row")
    saving.pace(parser)
    chosen = parser.parse_args(words)
    if parasail is None:
        print("no parasail: pip install parasail", file=sys.stderr)
    every = [(n, share, error, task) for n in LENGTHS for share in SHARES for error in ERRORS for task in TASKS]
    rows = saving.row_by_row(chosen, "overlap-table", TIMED, every, name_of, row_of, beside)
    if not all(row.get("equal", True) for row in rows):
        sys.exit("scores differ from parasail's")


if __name__ == "__main__":
    main()
