"""Queries somewhere in longer targets, by edits, on one CPU thread, beside edlib's HW mode on the same pairs.

    python -m bench.tables.free_table [--rows TEXT ...] [--letters N] [--repeats N] [--minutes M] [--save]

Needs the package edlib. Pairs are random: each query is a part of its target with so many edits. Both are called from
Python, in turns. A distance that is not edlib's ends the command with 1.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import wfacli
from bench.harness import saving

try:
    import edlib
except ImportError:
    edlib = None

SHAPES = ((150, 300), (150, 1000), (150, 10_000), (500, 3000), (1000, 5000), (10_000, 12_000), (10_000, 100_000))
ERRORS = (0.02, 0.05, 0.1, 0.2)
TASKS = ("CIGAR", "score")
LETTERS = 2_000_000  # of a row's targets together
TIMED = {
    "ours": "Aligner(metric='edit', mode='hw', threads=1).align_batch of lists of bytes: letters taken over, a kernel "
    "chosen, alignments or spans with scores in columns",
    "edlib": "edlib.align of each pair, mode HW, task path or distance (which has no beginnings), from strings",
}


@functools.lru_cache(maxsize=1)
def pairs_of_row(query: int, target: int, error: float, letters: int) -> tuple[list[bytes], list[bytes]]:
    """Queries, and targets in which they lie anywhere."""
    rng = np.random.default_rng(query + target + round(1e6 * error))
    count = max(letters // target, 4)
    targets = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, (count, target))]
    texts = [row.tobytes() for row in targets]
    first = rng.integers(0, target - query + 1, count).tolist()
    edits = round(query * error)
    return [noisy(text[at : at + query], edits, rng) for text, at in zip(texts, first, strict=True)], texts


def noisy(part: bytes, edits: int, rng: np.random.Generator) -> bytes:
    """With so many edits at different places, a third each mismatches, insertions and deletions."""
    places, kinds = np.sort(rng.choice(len(part), edits, replace=False)), rng.integers(0, 3, edits)
    made, done = [], 0
    for place, kind, letter in zip(places.tolist(), kinds.tolist(), rng.integers(0, 3, edits).tolist(), strict=True):
        made.append(part[done:place])
        other = b"ACGT".replace(part[place : place + 1], b"")[letter : letter + 1]
        made.append((other, other + part[place : place + 1], b"")[kind])
        done = place + 1
    return b"".join([*made, part[done:]])


def seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = call()
    return time.perf_counter() - begun, found


def row_of(query: int, target: int, error: float, task: str, letters: int, repeats: int) -> dict[str, Any]:
    queries, targets = pairs_of_row(query, target, error, letters)
    texts = [(q.decode(), t.decode()) for q, t in zip(queries, targets, strict=True)]
    kind = "path" if task == "CIGAR" else "distance"
    times: dict[str, list[float]] = {"ours": [], "edlib": []}
    edits: dict[str, list[int]] = {}
    with wfacli.Aligner(metric="edit", mode="hw", threads=1, score_only=task == "score") as aligner:
        for _ in range(repeats):
            taken, found = seconds_of(lambda: aligner.align_batch(queries, targets))
            times["ours"].append(taken)
            edits["ours"] = (-found.score).tolist()
            if edlib is not None:
                taken, theirs = seconds_of(
                    lambda: [edlib.align(q, t, mode="HW", task=kind)["editDistance"] for q, t in texts]
                )
                times["edlib"].append(taken)
                edits["edlib"] = theirs
    row: dict[str, Any] = {"query": query, "target": target, "error": error, "task": task, "pairs": len(queries)}
    for who, taken_by in times.items():
        if taken_by:
            row[who] = {**saving.summed_up(taken_by), "us_a_pair": round(min(taken_by) / len(queries) * 1e6, 2)}
    if edlib is not None:
        row["equal"] = edits["ours"] == edits["edlib"]
        row["ratio"] = round(min(times["edlib"]) / min(times["ours"]), 2)
    return row


def name_of(query: int, target: int, error: float, task: str) -> str:
    return f"{query:,} in {target:,}, {error:.0%}, {task}"


def beside(row: dict[str, Any]) -> str:
    return f"edlib {row['edlib']['us_a_pair']:10.2f}   {row['ratio']:6.2f} times" if "ratio" in row else "no peer"


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", nargs="+", default=[""], metavar="TEXT", help="rows whose names have one of these")
    parser.add_argument("--letters", type=int, default=LETTERS, help="of a row's targets together")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--save", action="store_true", help="write bench/results/…-free-table.json, row by row")
    saving.pace(parser)
    chosen = parser.parse_args(words)
    if edlib is None:
        print("no edlib: pip install edlib", file=sys.stderr)
    every = [(*shape, error, task) for shape in SHAPES for error in ERRORS for task in TASKS]
    rows = saving.row_by_row(chosen, "free-table", TIMED, every, name_of, row_of, beside)
    if not all(row.get("equal", True) for row in rows):
        sys.exit("distances differ from edlib's")


if __name__ == "__main__":
    main()
