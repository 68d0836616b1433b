"""Pairs per second from Python, with CIGARs as strings: batches of wfacli beside edlib and pywfa, pair by pair.

    python -m bench.tables.api_rate [--pairs 100000] [--length 150] [--repeats 3]

All aligners start from lists of str and end with scores and a list of CIGAR strings. Costs are compared on all pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import edlib
import numpy as np
from pywfa import WavefrontAligner
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import wfacli
from bench.harness import pairs, saving, table
from wfacli.core.cores import usable_cores
from wfacli.measure.machine import machine
from wfacli.measure.spread import Spread

ERRORS = (0.02, 0.05)
PAIRS = 100_000  # of the whole table; a run with fewer is a part
PAIRS_ALONE = 20_000  # for wfacli.align, one call per pair
WANTED = 5  # multiple of the peer's rate
TIMED = {
    "wfacli": "Aligner.align_batch of two lists of str, then .score and .cigars(); the Aligner exists before",
    "wfacli.align": f"one call per pair for the first {PAIRS_ALONE:,} pairs, with CIGAR and edits",
    "edlib": "edlib.align(query, target, task='path') for each pair in a list comprehension; its cigar is a str",
    "pywfa": "WavefrontAligner().wavefront_align(query, target) and .cigarstring for each pair; exact, one object",
}
Result = tuple[list[int], list[str]]  # costs and CIGARs


def sequences(count: int, length: int, error: float) -> tuple[list[str], list[str]]:
    """Return queries and targets made as in bench/harness/pairs.py."""
    rng = np.random.default_rng(1)
    bases = np.frombuffer(b"ACGT", np.uint8)
    targets = bases[rng.integers(0, 4, (count, length))]
    queries, lengths = pairs.mutated(targets, round(length * error), rng)
    cut = zip(queries, lengths.tolist(), strict=True)
    return [q[:n].tobytes().decode() for q, n in cut], [t.tobytes().decode() for t in targets]


def batches(metric: wfacli.api.MetricName, threads: int) -> Callable[[list[str], list[str]], Result]:
    aligner = wfacli.Aligner(metric=metric, threads=threads)

    def run(queries: list[str], targets: list[str]) -> Result:
        done = aligner.align_batch(queries, targets)
        return (-done.score).tolist(), done.cigars()

    return run


def calls(metric: wfacli.api.MetricName) -> Callable[[list[str], list[str]], Result]:
    def run(queries: list[str], targets: list[str]) -> Result:
        done = [wfacli.align(q, t, metric=metric) for q, t in zip(queries, targets, strict=True)]
        return [-a.score for a in done], [a.cigar for a in done]

    return run


def edlib_calls(queries: list[str], targets: list[str]) -> Result:
    align = edlib.align
    done = [align(q, t, task="path") for q, t in zip(queries, targets, strict=True)]
    return [d["editDistance"] for d in done], [d["cigar"] for d in done]


def pywfa_calls(queries: list[str], targets: list[str]) -> Result:
    aligner = WavefrontAligner(mismatch=4, gap_opening=6, gap_extension=2, span="end-to-end", scope="full")
    costs, cigars = [], []
    for q, t in zip(queries, targets, strict=True):
        costs.append(-aligner.wavefront_align(q, t))
        cigars.append(aligner.cigarstring)
    return costs, cigars


def best(run: Callable[[list[str], list[str]], Result], q: list[str], t: list[str], repeats: int) -> Any:
    """Return the seconds of all repeats, and costs."""
    seconds = []
    for _ in range(repeats):
        taken, (costs, cigars) = table.timed(lambda: run(q, t))
        seconds.append(taken)
        assert len(cigars) == len(q) and all(cigars)
    return seconds, costs


def measured(metric: wfacli.api.MetricName, error: float, a: argparse.Namespace) -> list[dict[str, Any]]:
    """Return a row for each way to align pairs with one error rate under one metric."""
    q, t = sequences(a.pairs, a.length, error)
    peer, peer_calls = ("edlib", edlib_calls) if metric == "edit" else ("pywfa", pywfa_calls)
    threads = sorted({1, usable_cores()})
    contest = [(peer, peer_calls, a.pairs, 1)]
    contest += [("wfacli", batches(metric, n), a.pairs, n) for n in threads]
    contest += [("wfacli.align", calls(metric), min(PAIRS_ALONE, a.pairs), 1)]
    rows: list[dict[str, Any]] = []
    costs: list[int] = []
    for name, run, count, n in contest:
        seconds, found = best(run, q[:count], t[:count], a.repeats)
        costs = costs or found
        rate = count / min(seconds)
        rows.append(
            {
                "metric": metric,
                "error": error,
                "aligner": name,
                "threads": n,
                "pairs": count,
                **Spread(seconds).report(),
                "pairs_per_second": round(rate),
                "microseconds_a_pair": round(1e6 / rate, 3),
                "times_the_peer": round(rate / rows[0]["pairs_per_second"], 2) if rows else 1.0,
                "other_costs": sum(x != y for x, y in zip(costs, found, strict=False)),
            }
        )
    return rows


def table_of(rows: list[dict[str, Any]], title: str) -> Table:
    table = Table(title=title, box=SIMPLE_HEAD)
    for name in ("metric", "error", "aligner"):
        table.add_column(name)
    for name in ("threads", "pairs/s", "µs a pair", "× the peer", "other costs"):
        table.add_column(name, justify="right")
    for r in rows:
        ratio = f"{r['times_the_peer']:.1f}"
        if r["aligner"] == "wfacli":
            ratio = f"[{'green' if r['times_the_peer'] >= WANTED else 'red'}]{ratio}[/]"
        cells = [f"{r['pairs_per_second']:,}", f"{r['microseconds_a_pair']:.2f}", ratio, str(r["other_costs"])]
        table.add_row(r["metric"], f"{r['error']:.0%}", r["aligner"], str(r["threads"]), *cells)
    return table


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "repeats")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--length", type=int, default=150)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    rows = [row for metric in ("edit", "affine") for error in ERRORS for row in measured(metric, error, a)]
    facts = machine()
    title = f"{a.pairs:,} pairs of {a.length}, from str to CIGAR strings; {facts['cpu']}, {facts['cores']} cores"
    console = Console(width=max(Console().width, 100))
    console.print(table_of(rows, title))
    slow = [r for r in rows if r["aligner"] == "wfacli" and r["times_the_peer"] < WANTED]
    console.print(
        f"At least {WANTED} times the peer's rate in all." if not slow else f"[red]{len(slow)} below {WANTED}.[/]"
    )
    workload = {"pairs": a.pairs, "length": a.length, "errors": ERRORS, "affine": "4,6,2", "repeats": a.repeats}
    peers = {name: version(name) for name in ("edlib", "pywfa")}
    result = {"workload": workload, "peers": peers, "rows": rows}
    console.print(str(saving.save_so_far("api-rate", TIMED, result, a.pairs >= PAIRS)))


if __name__ == "__main__":
    main()
