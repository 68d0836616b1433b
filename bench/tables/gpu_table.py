"""Our engine on a GPU and its peers on the same pairs in the same run: a table, and JSON.

    python -m bench.tables.gpu_table --data DIR --wfa-gpu PATH --ewfa-gpu PATH --gasal2 192:PATH 1152:PATH \
        --wfa2 PATH --quicked PATH [--rows TEXT ...] [--quick] [--minutes 5]

Peers are programs that the user has built, and for WFA2-lib and QuickEd the shared libraries of bench/peers/build.py.
Our engine goes first, task by task, with the GPU to itself; then the peers, row by row. Real sets are NAME.query.fa.gz
and NAME.target.fa.gz in DIR, or in the folder WFACLI_TEST_DATA.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.harness import table
from bench.peers import gpu_contest, gpu_work
from bench.peers.contest import GIB, TASKS
from bench.peers.gpu_binaries import Tool, ewfa_gpu, gasal2, wfa_gpu
from bench.peers.gpu_contest import Entry, Rules
from bench.peers.gpu_work import Files, Pairs
from bench.peers.ours import batch_bases
from bench.peers.verdict import OURS, Cell, cell_text, ratio_text, summary_text
from wfacli._native import keep_memory_flat
from wfacli.core.cores import usable_cores
from wfacli.measure.machine import machine

TIMED = {
    "seconds": "all pairs of a row, from sequences in memory to costs (and alignments) in memory, "
    "without files and program start",
    "wfacli": "batches of the command's size, several at a time, from sequences in page-locked "
    "memory, where the command's reader puts them. The time includes estimates, dispatch, "
    "columns, copies to and from the GPU, packing, kernels, CIGARs, and the part of the "
    "CPU. The first run is not counted: it creates the context, compiles kernels, allocates"
    " memory, and checks every path. Memory is reused between repeats",
    "wfa2": "no heuristics; all wavefronts in memory, or bidirectional; each core takes the next pair when it is free",
    "quicked": "its default algorithm, on all cores as wfa2; it has no mode for costs alone",
    "block-aligner": "blocks of 1 to 10% of the longer sequence, at least 32 bases, on all cores as "
    "wfa2; a heuristic, see wrong_pairs",
    "wrong_pairs": "number of checked pairs whose cost is missing, or differs from the cost that most"
    " aligners report; wfacli is asked first",
    "bus_share": "time that the bases as ASCII take over the bus at 55 GB/s, divided by the time taken",
    "counts": "of one run: thread-seconds by stage or kernel, and pairs by kernel",
}
BUS = 55e9  # bytes per second and direction, page-locked memory
LIBRARIES = {"wfa2": "WFA2-lib", "quicked": "QuickEd", "block-aligner": "Block Aligner"}
NAMES = {"wfa-gpu": "WFA-GPU", "ewfa-gpu": "eWFA-GPU", "gasal2": "GASAL2", **LIBRARIES}
console = Console(width=max(Console().width, 180))  # wide enough that no cell wraps


def prepared(a: argparse.Namespace, folder: Path) -> tuple[dict[str, Files], dict[str, str]]:
    """Return the files of all rows asked for, and why other rows have none."""
    rows = gpu_work.rows_named(a.rows)
    fasta = {row.name: bool(a.gasal2) and (bool(row.real) or row.length <= 1000) for row in rows}
    workers = min(usable_cores(), len(rows) or 1)
    found: dict[str, Files] = {}
    absent: dict[str, str] = {}
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        made = {r.name: pool.submit(gpu_work.write, r, a.data, a.share, folder, fasta[r.name]) for r in rows}
        for name, future in made.items():
            try:
                found[name] = future.result()
            except FileNotFoundError as error:
                absent[name] = str(error)
    return found, absent


def tools_of(a: argparse.Namespace) -> list[Tool]:
    """Return the programs that the user has built."""
    made = [wfa_gpu(a.wfa_gpu)] if a.wfa_gpu else []
    made += [ewfa_gpu(a.ewfa_gpu)] if a.ewfa_gpu else []
    return made + ([gasal2(dict(a.gasal2))] if a.gasal2 else [])


def table_of(entries: list[Entry], names: list[str], title: str) -> Table:
    """Return a table of all aligners' seconds with a line for each cell."""
    caption = "seconds of the best repeat; last column above 1: wfacli is faster than the best peer that is right"
    table = Table(title=title, caption=caption, box=SIMPLE_HEAD)
    for name in ("work", "task"):
        table.add_column(name, no_wrap=True)
    for name in (OURS, "M pairs/s", "GCUPS", "of bus"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in names:  # remarks about wrong pairs may wrap; numbers are never truncated
        table.add_column(NAMES[name], justify="right", min_width=9)
    table.add_column("best peer")
    table.add_column("peer/ours", justify="right", no_wrap=True)
    for number, entry in enumerate(entries):
        last = number + 1 == len(entries) or entries[number + 1].cell.row != entry.cell.row
        first = not number or entries[number - 1].cell.row != entry.cell.row
        table.add_row(*_line(entry, names, first), end_section=last)
    return table


def _line(entry: Entry, names: list[str], first: bool) -> list[str]:
    cell, pairs = entry.cell, entry.pairs
    ours, peer = cell.of(OURS), cell.best_peer()
    rates = ["–"] * 3
    if ours:
        values = rates_of(pairs, ours.best)
        rates = [f"{values['pairs_per_second'] / 1e6:.3g}", f"{values['gcups']:,.0f}", f"{values['bus_share']:.0%}"]
    shown = []
    for name in (OURS, *names):
        timing = cell.of(name)
        short = cell.absent.get(name, "")  # long reasons stand below the table
        text = short if timing is None and 0 < len(short) < 16 else cell_text(timing)
        shown.append(f"[red]{text}[/]" if timing and timing.wrong else text)
    return [
        cell.row if first else "",
        cell.task,
        shown[0],
        *rates,
        *shown[1:],
        f"{NAMES[peer.aligner]} {peer.setting}".strip() if peer else "–",
        ratio_text(cell.ratio()),
    ]


def rates_of(pairs: Pairs, seconds: float) -> dict[str, float]:
    """Return the rates that follow from seconds for a row."""
    return {
        "pairs_per_second": round(len(pairs) / seconds, 1),
        "gcups": round(pairs.cells / seconds / 1e9, 3),
        "bus_share": round(pairs.bases / BUS / seconds, 4),
    }


def report_of(entry: Entry) -> dict[str, Any]:
    """Return plain values for JSON."""
    cell, timings = entry.cell, []
    for timing in cell.timings:
        checked = entry.checked.get(timing.name, 0)
        equal = round(1 - timing.wrong / checked, 6) if checked else None
        more = {"checked_pairs": checked, "equal_share": equal, **rates_of(entry.pairs, timing.best)}
        timings.append({**timing.report(), **more})
    whole = {key: value for key, value in cell.report().items() if key != "one_thread_by_two"}
    return {**whole, "timings": timings, "counts": entry.counts}


def print_notes(entries: list[Entry], left_out: dict[str, str]) -> None:
    """Print what the table leaves out, and the summary."""
    for row, why in left_out.items():
        console.print(f"{row} is not in the table: {why}", markup=False)
    reasons: dict[str, list[str]] = {}
    for entry in entries:
        where = f"{entry.cell.row}, {entry.cell.task}"
        for name, why in entry.cell.absent.items():
            if len(why) >= 16:
                reasons.setdefault(f"{name}: {why}", []).append(where)
        for timing in entry.cell.timings:
            if timing.wrong:
                equal = 1 - timing.wrong / max(entry.checked.get(timing.name, 0), 1)
                console.print(f"[red]{where}: {timing.name}: {equal:.3%} of its costs are right[/]")
    for reason, cells in reasons.items():
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        console.print(f"{cells[0]}{more}: {reason}", markup=False)
    console.print(summary_text([entry.cell for entry in entries]))


def _length_and_path(text: str) -> tuple[int, Path]:
    length, _, path = text.partition(":")
    if not length.isdigit() or not path:
        raise argparse.ArgumentTypeError("LENGTH:PATH, with the MAX_QUERY_LEN that it was compiled for")
    return int(length), Path(path)


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(
        __doc__, "rows", "data", "share", "threads", "repeats", patience=5.0, longest=30.0, minutes=9.0
    )
    parser.add_argument("--engine", choices=("gpu", "cpu"), default="gpu", help="cpu: a stand-in, to try this out")
    parser.add_argument("--tasks", nargs="+", metavar="TEXT", help="only tasks whose names contain one of these")
    parser.add_argument("--quick", action="store_true", help="the same as --share 0.1")
    parser.add_argument("--cache", type=Path, help="keeps the rows' files in this folder")
    parser.add_argument("--wfa-gpu", type=Path, metavar="PATH", help="its wfa.affine.gpu")
    parser.add_argument("--ewfa-gpu", type=Path, metavar="PATH", help="its wfe.aligner")
    parser.add_argument(
        "--gasal2", nargs="+", type=_length_and_path, metavar="LENGTH:PATH", help="its test_prog.out, by MAX_QUERY_LEN"
    )
    parser.add_argument("--wfa2", type=Path, metavar="PATH", help="peer_wfa2.so, as bench/peers/build.py makes it")
    parser.add_argument("--quicked", type=Path, metavar="PATH", help="peer_quicked.so, made the same way")
    parser.add_argument(
        "--block-aligner", type=Path, metavar="PATH", help="made by cargo in bench/peers/block_aligner"
    )
    parser.add_argument("--gpu-memory", type=float, help="GPU memory of our engine, as in wfacli align")
    parser.add_argument("--batch-bases", type=int, help="bases of a batch of ours")
    parser.add_argument("--peer-memory", type=float, default=32.0, metavar="GIB", help="for CPU peers, all threads")
    a = parser.parse_args(arguments)
    a.share = 0.1 if a.quick else a.share
    return a


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    keep_memory_flat()
    tasks = [task for task in TASKS if not a.tasks or any(text in task.name for text in a.tasks)]
    kind = "gpu-table" if a.engine == "gpu" else "gpu-table-on-cpu"
    runner = table.Runner(kind, TIMED, a, console, bool(a.tasks))
    with tempfile.TemporaryDirectory(prefix="wfacli-bench-", dir=gpu_work.folder_in_memory()) as folder:
        kept = a.cache or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        files, left_out = prepared(a, kept)
        bases = {name: a.batch_bases or batch_bases(a.engine, found) for name, found in files.items()}
        pairs = {name: gpu_work.read(found, bases[name]) for name, found in files.items()}
        console.print(f"{len(files)} rows are ready, {runner.end - time.monotonic():.0f} s left")
        entries = {(row, t.name): Entry(Cell(row, t.name), pairs[row]) for row in pairs for t in tasks}
        rules = Rules(a.repeats, a.patience, a.longest, int(a.peer_memory * GIB), a.threads, runner.end)
        libraries = {name: path for name in LIBRARIES if (path := getattr(a, name.replace("-", "_")))}
        tools = tools_of(a)
        result: dict[str, Any] = {
            "workload": {"share": a.share, "affine": "4,6,2", "rows": _sizes(pairs, left_out)},
            "rules": {"repeats": a.repeats, "threads": a.threads, "batch_bases": bases},
            "peers": {tool.name: tool.what for tool in tools},
        }

        def save(done: bool) -> None:
            if any(entry.cell.timings for entry in entries.values()):
                late = any(gpu_contest.NO_TIME in entry.cell.absent.values() for entry in entries.values())
                cells = [report_of(entry) for entry in entries.values()]
                runner.save({**result, "cells": cells}, done and not late)

        def say(what: str) -> None:
            console.print(what)
            save(False)

        result["engine"] = gpu_contest.ours(entries, tasks, a.engine, rules, a.gpu_memory, console.print)
        save(False)  # ours is kept even if a peer ends the process
        done = False
        try:
            gpu_contest.peers(entries, tasks, files, tools, libraries, rules, Path(folder), say)
            done = True
        finally:
            shown = list(entries.values())
            console.print(table_of(shown, [*(tool.name for tool in tools), *libraries], _title(a, result["engine"])))
            print_notes(shown, left_out)
            save(done)
            console.print(str(runner.path or "nothing was measured"))
        if runner.path is None:
            sys.exit("nothing was measured")


def _title(a: argparse.Namespace, engines: dict[str, Any]) -> str:
    processor = next((e["gpu"] for e in engines.values() if "gpu" in e), machine()["cpu"])
    share = f", {a.share:g} of the pairs" if a.share != 1 else ""
    return f"{processor}, {a.threads} threads, {datetime.date.today()}{share}"


def _sizes(pairs: dict[str, Pairs], left_out: dict[str, str]) -> dict[str, Any]:
    sizes: dict[str, Any] = {row: {"left_out": why} for row, why in left_out.items()}
    for row, p in pairs.items():
        sizes[row] = {"pairs": len(p), "bases": p.bases, "matrix_cells": p.cells, "longest": p.longest}
    return sizes


if __name__ == "__main__":
    main()
