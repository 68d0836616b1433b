"""The distance of one long pair: ours on a GPU and on the CPU, and peers, in the same run: a table, and JSON.

    python -m bench.tables.distance_table --data DIR [--wfa2 PATH] [--quicked PATH] [--astarpa2 PATH] [--variants PATH]
        [--rows TEXT ...] [--engine both] [--no-paths]

WFA2-lib and QuickEd are the shared libraries of bench/peers/build.py, A*PA2 is one that the user has built with the
functions of bench/peers/adapters/driver.cpp, WavefrontVariants is its program; edlib is the Python package. Without a
GPU only the CPU algorithms are measured. Real sets are NAME.query.fa.gz and NAME.target.fa.gz in DIR, or in the folder
WFACLI_TEST_DATA. An aligner that would take longer than --longest seconds is left out, or stopped. A distance that
differs from that of most aligners is red; one of ours makes the exit status 1.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import importlib.util
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.harness import table
from bench.peers import distance_ours, distance_paths, distance_peers, distance_verdict, distance_work
from bench.peers.distance_ours import Algorithm, NoAnswer, Rules
from bench.peers.distance_peers import Peer
from bench.peers.distance_verdict import ENGINES, Entry
from bench.peers.distance_work import Row, Work
from bench.peers.gpu_work import folder_in_memory
from bench.peers.verdict import ratio_text
from wfacli.errors import DeviceError
from wfacli.gpu.runtime.driver import Driver
from wfacli.gpu.runtime.opening import open_driver
from wfacli.measure.machine import machine

TIMED = {
    "seconds": "one pair, from bases in memory to the distance, without files and program start; the "
    "best repeat. Pairs that take longer than the limit of a row have fewer repeats",
    "gpu-wavefront, gpu-bits": "from bases in pageable memory: allocation on the GPU, copy, packing, "
    "kernels and the result. Kernels are compiled and loaded before. The "
    "first run is not counted, unless it takes longer than the limit of a "
    "row",
    "gpu-bits": "includes an estimate of the edits from samples, which sets the width of the first band",
    "cpu-wavefront, cpu-bits": "with the given number of threads; each algorithm uses two of them",
    "ready_seconds": "time of the best repeat until its first step; on a GPU: allocation, copy, "
    "packing and the estimate",
    "auto": "the algorithm that the models choose for the estimate; the time is that of the estimate "
    "and of the algorithm",
    "tcups": "cells of the whole matrix per second, in 10^12: query length × target length / seconds,"
    " whether computed or not",
    "cells": "work of one run: cells of the matrix for bits, furthest-reaching points for wavefronts",
    "identity": "1 - distance / length of the longer sequence",
    "edlib": "one thread; distance only, from Python bytes",
    "wfa2": "one thread; bidirectional wavefronts, score only, no heuristics",
    "quicked": "one thread; its default algorithm, which also computes the path, since it has no other mode",
    "astarpa2": "one thread; distance only, the full version",
    "variants": "on the GPU by OpenCL, the seconds that it prints: copies and kernels, compiled "
    "before. It gets the distance as its maximum of edits",
    "path": "on the GPU, after the distance: from bases in pageable memory to operations in memory, "
    "including copy and allocation. Each path is replayed and must cost the distance; that is"
    " not timed",
    "mismatch": "distances of aligners that differ from the distance that most report; wfacli is asked first",
}
PEERS = (
    distance_peers.EDLIB,
    distance_peers.WFA2,
    distance_peers.QUICKED,
    distance_peers.ASTARPA2,
    distance_peers.WAVEFRONT_VARIANTS,
)
RULES = ("threads", "repeats", "patience", "longest", "minutes")  # options that a result repeats
console = Console(width=max(Console().width, 250))  # wide enough that no cell wraps


@dataclass
class Field:
    """The aligners of a table.

    Attributes:
        ours: our algorithms, those on a GPU first.
        peers: peers that are present.
        absent: why other peers are absent, by name.
        driver: an open GPU, or None.
        gpu: facts about it, None without one.
        paths: True if alignments on a GPU are measured too.
    """

    ours: list[Algorithm] = field(default_factory=list)
    peers: list[Peer] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    driver: Driver | None = None
    gpu: dict[str, Any] | None = None
    paths: bool = False

    @property
    def shown(self) -> dict[str, str]:
        """Names of all aligners as a table shows them."""
        return {**{a.name: a.name for a in self.ours}, **{p.name: p.shown for p in self.peers}}


def field_of(a: argparse.Namespace, driver: Driver | None) -> Field:
    """Return the aligners that the options, the machine and a GPU allow."""
    found = Field()
    if driver is not None:
        found.driver, found.gpu = driver, dataclasses.asdict(driver.gpu)
        found.ours += distance_ours.on_gpu(driver)
        found.paths = a.paths
    if a.engine != "gpu":
        found.ours += distance_ours.on_cpu(a.threads)
    for peer in PEERS:
        if peer.package:
            why = "" if importlib.util.find_spec(peer.name) else f"the Python package {peer.name} is not installed"
        else:
            library = getattr(a, peer.name)
            why = "" if library and library.exists() else f"nothing of it is here (--{peer.name} PATH)"
            peer = dataclasses.replace(peer, library=library)
        if why:
            found.absent[peer.name] = why
        else:
            found.peers.append(peer)
    return found


def opened(engine: str) -> tuple[Driver | None, str]:
    """Open a GPU; return it, or why there is none. Raises DeviceError if --engine gpu asked for one."""
    if engine == "cpu":
        return None, "not asked for"
    try:
        return open_driver(), ""
    except DeviceError as error:
        if engine == "gpu":
            raise
        return None, str(error)


# One row


def entry_of(name: str, work: Work, ours: list[Algorithm]) -> Entry:
    """Return the entry of a pair before anything was measured."""
    entry = Entry(name, work.lengths, work.pair.plain)
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        entry.estimate = distance_ours.estimate(work)
        seconds.append(time.perf_counter() - begun)
    entry.estimate_seconds = min(seconds)
    expected = entry.estimate if entry.estimate is not None else abs(work.lengths[0] - work.lengths[1])
    entry.forecasts = {a.name: a.forecast(work, expected) for a in ours}
    return entry


def unwanted(forecast: float, rules: Rules) -> str:
    """Return why an aligner is left out, "" if it is not."""
    left = rules.deadline - time.monotonic()
    if forecast > rules.longest:
        return f"about {forecast:,.0f} s"
    return f"no time left: about {forecast:.0f} s of {max(left, 0):.0f}" if forecast > left - 1 else ""


def measure(entry: Entry, work: Work, there: Field, rules: Rules) -> None:
    """Measure all aligners on a pair; ours first, since the distance predicts the time of peers."""
    for algorithm in there.ours:
        known = entry.distance
        forecast = entry.forecasts[algorithm.name] if known is None else algorithm.forecast(work, known)
        if why := unwanted(forecast, rules):
            entry.absent[algorithm.name] = why
            continue
        try:
            entry.measured[algorithm.name] = distance_ours.run(algorithm, work, rules)
        except NoAnswer as error:
            entry.absent[algorithm.name] = str(error)
        except Exception as error:  # a failure of one aligner does not stop the others
            entry.absent[algorithm.name] = f"{type(error).__name__}: {error}"
    if there.paths and there.driver is not None and entry.distance is not None:
        try:
            entry.path = distance_paths.run(there.driver, work, entry.distance, rules)
        except (NoAnswer, DeviceError) as error:
            entry.absent[distance_paths.NAME] = str(error)
    edits = entry.distance if entry.distance is not None else entry.estimate or 0
    with tempfile.TemporaryDirectory(prefix="wfacli-bench-", dir=folder_in_memory()) as folder:
        bases = None
        for peer in there.peers:
            if why := unwanted(peer.forecast(work, edits), rules):
                entry.absent[peer.name] = why
                continue
            bases = bases or distance_peers.write(work, Path(folder))
            try:
                entry.measured[peer.name] = distance_peers.run(peer, work, bases, rules, edits)
            except NoAnswer as error:
                entry.absent[peer.name] = str(error)


# What is shown


def table_of(entries: list[Entry], there: Field, title: str) -> Table:
    """Return a table of all aligners' seconds with a line for each pair."""
    caption = "seconds of the best repeat; last columns above 1: the fastest of ours is faster than the best peer"
    table = Table(title=title, caption=caption, box=SIMPLE_HEAD)
    table.add_column("pair", no_wrap=True)
    engines = [engine for engine in ENGINES if any(a.engine == engine for a in there.ours)]
    names = [*(a.name for a in there.ours), *(f"{engine} auto" for engine in engines)]
    peers = (p.shown for p in there.peers)
    paths = ("path",) if there.paths else ()
    for name in ("bases", "distance", "identity", "estimate", *names, "TCUPS", *paths, *peers):
        table.add_column(name, justify="right", no_wrap=True)
    for engine in engines:
        table.add_column(f"peer/{engine}", justify="right", no_wrap=True)
    for entry in entries:
        table.add_row(*_line(entry, there, engines))
    return table


def _line(entry: Entry, there: Field, engines: list[str]) -> list[str]:
    ours, peers = [a.name for a in there.ours], [p.name for p in there.peers]
    rate = distance_verdict.rate(entry, ours)
    return [
        entry.name,
        " × ".join(_bases(length) for length in entry.lengths),
        _or_dash(entry.distance, "{:,}"),
        _or_dash(entry.identity, "{:.2%}"),
        _or_dash(entry.estimate, "{:,}"),
        *(_time(entry, name) for name in ours),
        *(_auto(entry, engine) for engine in engines),
        _or_dash(rate, "{:.3g}"),
        *((_or_dash(entry.path and entry.path.best, "{:.4f}"),) if there.paths else ()),
        *(_time(entry, name) for name in peers),
        *(ratio_text(distance_verdict.ratio(entry, engine)) for engine in engines),
    ]


def _or_dash(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def _bases(count: int) -> str:
    return f"{count / 1e6:.3g} M" if count >= 1e6 else f"{count / 1e3:.3g} k"


def _seconds(seconds: float) -> str:
    digits = 2 if seconds >= 10 else 3 if seconds >= 1 else 4 if seconds >= 0.01 else 6
    return f"{seconds:.{digits}f}"


def _time(entry: Entry, name: str) -> str:
    if name in entry.measured:
        text = _seconds(entry.measured[name].best)
        return f"[red]{text}: {entry.wrong[name]:,}[/]" if name in entry.wrong else text
    why = entry.absent.get(name, "")
    return why if 0 < len(why) < 16 else "–"  # long reasons stand below the table


def _auto(entry: Entry, engine: str) -> str:
    auto = entry.auto(engine)
    if auto is None or auto["seconds"] is None:
        return "–"
    colour = "green" if auto["choice"] == auto["fastest"] else "yellow"
    return f"[{colour}]{_seconds(auto['seconds'])} {auto['choice'].partition('-')[2][:1]}[/]"


def print_notes(entries: list[Entry], there: Field) -> None:
    """Print what the table leaves out, and which distances are wrong."""
    for name, why in there.absent.items():
        console.print(f"{name}: {why}", markup=False)
    for entry in entries:
        for name, why in entry.absent.items():
            if len(why) >= 16:
                console.print(f"{entry.name}, {name}: {why}", markup=False)
        for name, distance in entry.wrong.items():
            console.print(f"[red]{entry.name}: {name} says {distance:,}, others {entry.distance:,}[/]")


# The command


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "data", "threads", "repeats", patience=2.0, longest=60.0, minutes=9.0)
    parser.add_argument("--engine", choices=("gpu", "cpu", "both"), default="both", help="both: what there is")
    parser.add_argument("--wfa2", type=Path, metavar="PATH", help="peer_wfa2.so, as bench/peers/build.py makes it")
    parser.add_argument("--quicked", type=Path, metavar="PATH", help="peer_quicked.so, made the same way")
    parser.add_argument("--astarpa2", type=Path, metavar="PATH", help="A*PA2 with the functions of driver.cpp")
    parser.add_argument("--variants", type=Path, metavar="PATH", help="the program of WavefrontVariants")
    parser.add_argument("--no-paths", dest="paths", action="store_false", help="distances alone")
    return parser.parse_args(arguments)


def measured(rows: list[Row], a: argparse.Namespace, there: Field, rules: Rules) -> tuple[list[Entry], Path | None]:
    """Measure rows until rules.deadline and save after each. Return the entries and the path of the result."""
    entries: dict[str, Entry] = {}
    runner = table.Runner("distance-table" + ("" if there.gpu else "-on-cpu"), TIMED, a, console)
    runner.end = rules.deadline

    def result() -> dict[str, Any]:
        facts = {"gpu": there.gpu, "rules": {name: getattr(a, name) for name in RULES}}
        peers = {**{peer.name: peer.what for peer in there.peers}, **there.absent}
        return {**facts, "peers": peers, "left_out": runner.left_out}

    def measure_row(row: Row) -> dict[str, Any]:
        if row.needs_gpu and there.gpu is None:
            raise table.LeftOut("only on a GPU")
        with console.status(f"{row.name}: making the pair"):
            work = distance_work.made(row, a.data)
        with console.status(row.name):
            if there.driver is not None:
                distance_ours.load_kernels(there.driver, work.pair.plain, there.paths)
            entries[row.name] = entry_of(row.name, work, there.ours)
            measure(entries[row.name], work, there, rules)
        return entries[row.name].report()

    def line_of(row: Row, _: dict[str, Any]) -> str:
        entry = entries[row.name]
        said = ", ".join(f"{there.shown[name]} {_seconds(m.best)}" for name, m in entry.measured.items())
        return f"{row.name}: {_or_dash(entry.distance, '{:,}')} edits; {said}"

    runner.measure(rows, measure_row, result, line_of, optional=True)
    console.print(table_of(list(entries.values()), there, _title(a, there)))
    print_notes(list(entries.values()), there)
    return list(entries.values()), runner.path


def _title(a: argparse.Namespace, there: Field) -> str:
    place = there.gpu["name"] if there.gpu else machine()["cpu"]
    return f"distance of one pair: {place}, {a.threads} threads, {datetime.date.today()}"


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    end = table.deadline(a)
    rows = distance_work.rows_named(a.rows)
    try:
        driver, why = opened(a.engine)
    except DeviceError as error:
        sys.exit(f"no GPU: {error}")
    if driver is None:
        console.print(f"no GPU: {why}", markup=False)
    try:
        there = field_of(a, driver)
        rules = Rules(a.repeats, a.patience, a.longest, a.threads, end)
        entries, path = measured(rows, a, there, rules)
    finally:
        if driver is not None:
            driver.close()  # on any error: PyCUDA aborts a process that leaves its context open
    if path is not None:
        console.print(str(path))
    if any(name in entry.forecasts for entry in entries for name in entry.wrong):
        sys.exit(1)


if __name__ == "__main__":
    main()
