"""Our CPU engine and its peers on the same pairs in the same run, one thread each: a table, a plot, and JSON.

    python -m bench.tables.cpu_table [--quick] [--data DIR] [--quicked PATH] [--repeats 3] [--minutes M]

Peers are downloaded and compiled when first needed (bench/peers). The costs of all aligners are compared on every
pair; an aligner with wrong costs is marked and cannot be the best peer. Real sets are NAME.query.fa.gz and
NAME.target.fa.gz in DIR, or in the folder WFACLI_TEST_DATA.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.harness import table
from bench.peers import build, work
from bench.peers.contest import GIB, TASKS, Rules, described, held, our_costs
from bench.peers.verdict import OURS, Cell, cell_text, ratio_text, summary_text
from wfacli._native import keep_memory_flat
from wfacli.measure.machine import machine

TIMED = {
    "seconds": "all pairs of a row on one thread, from sequences in memory to costs (and alignments) "
    "in memory. Each aligner keeps its memory between pairs and repeats; peers loop in "
    "native code",
    "wfacli": "the engine in this process, all pairs in one batch: estimates, dispatch, kernels, "
    "assembly of the results",
    "wfa2": "no heuristics; two settings: all wavefronts in memory, and bidirectional",
    "edlib": "the path as one byte per column, not converted to a CIGAR",
    "ksw2": "ksw_extz2_sse over the whole matrix, without the time to convert bases to its codes",
    "parasail": "nw_scan with 16-bit or 32-bit scores, over the whole matrix",
    "quicked": "its default algorithm; it has no score-only mode, so both tasks compute the path",
    "block-aligner": "blocks of 1 to 10% of the longer sequence, at least 32 bases; a heuristic, see wrong_pairs",
    "wrong_pairs": "number of pairs whose cost is missing, or differs from the cost that most "
    "aligners report; wfacli is asked first",
    "memory": "malloc has the settings of the wfacli command, for all aligners",
}
BUILT = {"wfa2": "WFA2-lib", "edlib": "edlib", "ksw2": "ksw2", "parasail": "parasail", "quicked": "QuickEd"}
NAMES = {**BUILT, "block-aligner": "Block Aligner"}
console = Console(width=max(Console().width, 168))  # wide enough that no cell wraps


def libraries_of(checkout: Path | None, block_aligner: Path | None, without: list[str]) -> dict[str, Path | str]:
    """Return each peer's library, or why there is none."""
    found: dict[str, Path | str] = dict.fromkeys(without, "not wanted (--without)")
    if "block-aligner" not in without:
        found["block-aligner"] = block_aligner or "no library of it (--block-aligner PATH)"
    for peer in (name for name in BUILT if name not in without):
        try:
            given = checkout if peer == "quicked" else None
            ready = given is not None and given.is_file()
            found[peer] = given if given and ready else build.library(peer, given, console.print)
        except build.Unavailable as error:
            found[peer] = str(error)
    return found


def what_of(peer: str) -> str:
    """Return what a peer is, for readers of a result."""
    return build.RECIPES[peer].what if peer in build.RECIPES else f"{NAMES[peer]}, built by the user"


def rules_of(a: argparse.Namespace) -> Rules:
    """Return the limits that the options set."""
    return Rules(a.repeats, a.patience, a.longest, int(a.peer_memory * GIB))


def measured(
    rows: list[str], a: argparse.Namespace, libraries: dict[str, Path | str], runner: table.Runner
) -> list[Cell]:
    """Return the cells of all rows there is time for; the result is saved after each row."""
    rules = rules_of(a)
    cells: list[Cell] = []
    sizes: dict[str, Any] = {}

    def result() -> dict[str, Any]:
        every = {name: sizes.get(name) or {"left_out": runner.left_out.get(name, table.NO_TIME)} for name in rows}
        return result_of(a, cells, every, libraries)

    for row in runner.each(rows):
        try:
            pairs = work.pairs_of(row, a.data, a.share)
        except FileNotFoundError as error:
            runner.leave_out(row, str(error))
            continue
        sizes[row] = described(pairs)
        known = {metric: our_costs(metric, pairs) for metric in {task.metric for task in TASKS}}
        for task in TASKS:
            with console.status(f"{row}: {task.name}"):
                cells.append(held(row, task, pairs, known[task.metric], libraries, rules))
        runner.save(result())
    if cells and runner.left_out:
        runner.save(result())
    return cells


def result_of(
    a: argparse.Namespace, cells: list[Cell], sizes: dict[str, Any], libraries: dict[str, Path | str]
) -> dict[str, Any]:
    """Return the result so far.

    Args:
        a: options.
        cells: all that was measured.
        sizes: of each row, or why it was left out.
        libraries: of peers, or why there is none.
    """
    return {
        "workload": {"rows": sizes, "share": a.share, "affine": "4,6,2", "rules": asdict(rules_of(a))},
        "peers": {
            peer: {"what": what_of(peer), "unavailable": library if isinstance(library, str) else None}
            for peer, library in libraries.items()
        },
        "flags": " ".join(build.FLAGS),
        "notes": [f"Of each row's pairs {a.share:.0%}, but no fewer than take 2 ms."] if a.share != 1 else [],
        "cells": [cell.report() for cell in cells],
    }


def table_of(cells: list[Cell], title: str) -> Table:
    """Return a table of all aligners' seconds with a line for each cell."""
    caption = "seconds of the best repeat, one thread; last column above 1: wfacli is faster"
    table = Table(title=title, caption=caption, box=SIMPLE_HEAD)
    for name in ("work", "task"):
        table.add_column(name, no_wrap=True)
    for name in (OURS, "2 threads", *NAMES.values()):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("best peer", no_wrap=True)
    table.add_column("peer/ours", justify="right", no_wrap=True)
    for number, cell in enumerate(cells):
        first = not number or cells[number - 1].row != cell.row
        last = number + 1 == len(cells) or cells[number + 1].row != cell.row
        table.add_row(*_line(cell, first), end_section=last)
    return table


def _line(cell: Cell, first: bool) -> list[str]:
    peer, speedup = cell.best_peer(), cell.speedup()
    shown = []
    for aligner in (OURS, *NAMES):
        timing = cell.of(aligner)
        short = cell.absent.get(aligner, "")  # long reasons stand below the table
        text = short if timing is None and 0 < len(short) < 20 else cell_text(timing)
        best = peer is not None and timing is peer
        shown.append(f"[red]{text}[/]" if timing and timing.wrong else f"[bold]{text}[/]" if best else text)
    return [
        cell.row if first else "",
        cell.task,
        shown[0],
        f"×{speedup:.2f}" if speedup else "–",
        *shown[1:],
        f"{NAMES[peer.aligner]} {peer.setting}".strip() if peer else "–",
        ratio_text(cell.ratio()),
    ]


def print_notes(cells: list[Cell], libraries: dict[str, Path | str]) -> None:
    """Print what the table leaves out, and the summary."""
    for peer, library in libraries.items():
        if isinstance(library, str):
            console.print(f"{NAMES[peer]} is not in the table: {library}", markup=False)
    for cell in cells:
        for timing in [*cell.timings, *([cell.two_threads] if cell.two_threads else [])]:
            if timing.wrong:
                console.print(f"[red]{cell.row}, {cell.task}: {timing.name} is wrong on {timing.wrong:,} pairs[/]")
    console.print(summary_text(cells))


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "data", "share", "repeats", patience=20.0, longest=300.0, minutes=None)
    parser.add_argument("--quick", action="store_true", help="the same as --share 0.1")
    parser.add_argument(
        "--quicked",
        type=Path,
        metavar="PATH",
        help="a checkout of QuickEd, compiled as the others are, or peer_quicked.so",
    )
    parser.add_argument(
        "--block-aligner", type=Path, metavar="PATH", help="made by cargo in bench/peers/block_aligner"
    )
    parser.add_argument("--without", nargs="+", default=[], choices=NAMES, metavar="PEER", help="leaves peers out")
    parser.add_argument(
        "--peer-memory", type=float, default=4.0, metavar="GIB", help="peers that need more for a pair are left out"
    )
    a = parser.parse_args(arguments)
    a.share = 0.1 if a.quick else a.share
    return a


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    keep_memory_flat()
    libraries = libraries_of(a.quicked, a.block_aligner, a.without)
    runner = table.Runner("cpu-table", TIMED, a, console)
    cells = measured(table.chosen(work.names(), a), a, libraries, runner)
    facts = machine()
    title = f"{facts['cpu']}, {facts['cores']} cores, one thread, {datetime.date.today()}"
    title += f", {a.share:.0%} of the pairs" if a.share != 1 else ""
    console.print(table_of(cells, title))
    print_notes(cells, libraries)
    path = runner.path
    if path is None:
        sys.exit("no row was measured")
    console.print(str(path))
    if path.stem.endswith("-part"):
        return
    try:
        from bench.pages.cpu_plot import draw
    except ImportError as error:
        console.print(f"no plot: {error} (pip install -r bench/requirements.txt)", markup=False)
        return
    console.print(str(draw(cells, title, path.with_name("cpu-table.png"))))


if __name__ == "__main__":
    main()
