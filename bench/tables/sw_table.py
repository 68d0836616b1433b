"""Batches of Smith-Waterman alignments on a GPU, beside GASAL2: figures 6, 7 and 8 of SALoBa (Park et al. 2022).

    python -m bench.tables.sw_table [--gasal2 LENGTH:PATH ...] [--data DIR] [--cells N] [--builds] [--minutes N]
        [--save]

Pairs have equal lengths from 64 to 4,096 bases, or are what mappers extend: both sides of seeds in real reads, of 10
to thousands of bases. Rates are TCUPS, 10^12 cells of whole matrices per second, for scores alone and with CIGARs; our
scores are compared with those of the CPU engine. --builds also measures each size of groups of lanes alone. Our engine
goes first, then GASAL2, row by row; --save writes bench/results after each row, and a plot at the end, also after
--minutes or Ctrl-C.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import saving, table
from bench.harness.sw_ours import SCORES, Ours, tcups
from bench.harness.sw_pairs import Pairs, equal, seeded
from bench.peers.sw_gasal2 import gasal2, peers_pairs, program_for
from wfacli._native import keep_memory_flat
from wfacli.config import GPU_BATCH
from wfacli.errors import DeviceError
from wfacli.gpu.compile.compiler import Compiler
from wfacli.gpu.runtime.opening import open_driver
from wfacli.measure.limits import bus_rate
from wfacli.run.sizes import SWITCH_INTERVAL

LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)
SEEDS = ("illumina250", "hifi_human_wfagpu", "pacbio_clr_ecoli")
KINDS = ("scores", "cigars")
DATA = Path(os.environ.get("WFACLI_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
GPU_FITS = 1e11  # maximum cells that GASAL2 gets when it makes paths
TIMED = {
    "kernel": "all launches of alignment kernels, by the GPU's events",
    "wfacli": "from bases in page-locked memory to scores or CIGARs in memory: choice of kernels, "
    "copies, encoding, kernels. Batches have the command's size; the same ones are repeated"
    " for at least 0.6 s",
    "gasal2": "the time that test_prog prints: filling its buffers, copies, packing, kernels, CIGARs."
    " The time that it prints for two pairs with hardly any cells, for which it allocates "
    "the same memory, is subtracted. It gets as many of the pairs as it needs to be busy, "
    "which are more than wfacli's for long pairs. If that is less than twice the time of "
    "its memory, the difference of two numbers of pairs is taken (more); medians",
    "bus_tcups": "upper limit of the rate if each base is one byte, copied over the bus at the rate of a plain copy",
    "builds": "kernels alone, with one size of groups for all pairs: LANESxCOLUMNS; whole: directions of all cells",
}


def works(options: argparse.Namespace) -> Iterator[tuple[str, Pairs]]:
    """Yield the names of rows, and their pairs."""
    for length in options.lengths:
        row_bases = min(max(2 * options.cells / length, GPU_BATCH), options.bases)  # a whole batch if allowed
        yield str(length), equal(length, int(row_bases / 2 / length))
    for name in () if options.no_seeds else SEEDS:
        if (options.data / f"{name}.query.fa.gz").exists():
            yield name, seeded(options.data, name, options.cells, GPU_BATCH, options.bases)


def ours_of(pairs: Pairs, kind: str, ours: Ours, options: argparse.Namespace) -> dict[str, Any]:
    """Measure our engine on the pairs of a row, and each of its builds."""
    made = pairs.batches(GPU_BATCH)
    some, work = ours.pinned_batches(made), pairs.cells
    ours.engine.builds = ours.all
    result = ours.measured(some, options.repeats, work)
    ours.check(made[0], result.pop("scores"))
    if options.builds:
        result["builds"] = {}
        longest = [np.array([side]) for side in pairs.lengths.max(axis=0)]
        for build in ours.all:
            if build.all_directions and (kind == "scores" or not build.fits_directions(*longest).all()):
                continue
            ours.engine.builds = (build,)
            label = f"{build.lanes}x{build.columns}{' whole' if build.all_directions else ''}"
            result["builds"][label] = tcups(work, sum(ours.kernels(some, 1).values()))
        ours.engine.builds = ours.all
    return result


class Results:
    """Rows as they are measured, and the file that has them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.gpu, self.bus = options, "", 0.0
        self.rows: dict[str, dict[str, Any]] = {}
        self.end = table.deadline(options)

    @property
    def over(self) -> bool:
        """True after --minutes."""
        return time.monotonic() > self.end

    def put(self, name: str, pairs: Pairs, kind: str, aligner: str, found: dict[str, Any]) -> None:
        """Add one aligner's result to a row, and save."""
        row = self.rows.setdefault(name, {"name": name, "pairs": len(pairs), "cells": pairs.cells})
        if self.bus:
            row["bus_tcups"] = tcups(pairs.cells, pairs.bases / self.bus)
        row.setdefault(kind, {})[aligner] = found
        self.save()

    def save(self) -> Path | None:
        """Write the result so far with --save; return its path."""
        if not (self.options.save and self.rows):
            return None
        rows = list(self.rows.values())
        result = {"gpu": self.gpu, "scores": SCORES, "mode": "local", "bus_bytes_per_second": round(self.bus)}
        return saving.save_so_far("sw-table", TIMED, {**result, "rows": rows}, self.whole)

    @property
    def whole(self) -> bool:
        """True if all rows are there with everything that was asked for."""
        aligner = ("wfacli", "gasal2") if self.options.gasal2 else ("wfacli",)
        every = itertools.product((*map(str, LENGTHS), *SEEDS), KINDS, aligner)
        return all(one in self.rows.get(name, {}).get(kind, {}) for name, kind, one in every)


def measure_ours(results: Results, every: dict[str, Pairs], options: argparse.Namespace) -> None:
    """Measure our engine on all rows, with the GPU to itself."""
    engines = {kind: Ours(kind == "scores", options.threads) for kind in options.kinds}
    try:
        results.gpu = next(iter(engines.values())).engine.stats()["gpu"]
        for name, pairs in every.items():
            for kind, engine in engines.items():
                if results.over:
                    return
                results.put(name, pairs, kind, "wfacli", ours_of(pairs, kind, engine, options))
            print(shown(results.rows[name]), flush=True)
    finally:
        for engine in engines.values():
            engine.engine.close()


def measure_gasal2(results: Results, every: dict[str, Pairs], options: argparse.Namespace) -> None:
    """Measure GASAL2 on all rows, scores first, since paths take longer."""
    programs = {int(size): Path(path) for size, path in (word.split(":", 1) for word in options.gasal2)}
    for kind in options.kinds if programs else ():
        paths = kind == "cigars"
        for name, pairs in every.items():
            if results.over:
                return
            program, cells = program_for(programs, pairs.longest), options.peer_cells
            found: dict[str, Any] = {"failed": f"over {max(programs) - 8} bases"}
            if program is not None:
                some = peers_pairs(pairs, min(cells, GPU_FITS) if paths else cells, options.peer_bases, paths)
                found = gasal2(program, SCORES, some, paths, options.peer_repeats)
            results.put(name, pairs, kind, "gasal2", found)
            rate = f"{found['tcups']:.3f}" if "tcups" in found else found["failed"]
            print(f"{name:>20}  {kind}: gasal2 {rate}", flush=True)


def shown(row: dict[str, Any]) -> str:
    words = [f"{row['name']:>20} {row['pairs']:>9,}"]
    for kind in KINDS:
        if ours := row.get(kind, {}).get("wfacli"):
            words.append(f"{kind}: kernel {ours['kernel_tcups']:.2f}, whole {ours['tcups']:.2f}")
            words += [f"{name} {value:.2f}" for name, value in ours.get("builds", {}).items()]
    return "  ".join(words)


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = table.options(__doc__, "repeats", "save", data=DATA, threads=os.cpu_count(), minutes=9.0)
    parser.add_argument("--gasal2", nargs="*", default=[], metavar="LENGTH:PATH")
    parser.add_argument("--cells", type=float, default=6e10, help="of a row")
    parser.add_argument("--bases", type=float, default=2.6e8, help="of a row, at most")
    parser.add_argument("--lengths", type=int, nargs="*", default=LENGTHS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--no-seeds", action="store_true")
    parser.add_argument("--builds", action="store_true", help="each build by itself, too")
    parser.add_argument("--peer-cells", type=float, default=6e11, help="that GASAL2 gets, at most")
    parser.add_argument("--peer-bases", type=float, default=3e8, help="that GASAL2 gets, at most")
    parser.add_argument("--peer-repeats", type=int, default=1)
    return parser.parse_args(arguments)


def main(options: argparse.Namespace, opened: Callable[[], Any] = lambda: open_driver(compiler=Compiler())) -> None:
    keep_memory_flat()
    sys.setswitchinterval(SWITCH_INTERVAL)
    results = Results(options)
    every = dict(works(options))
    results.bus = bus_rate(opened)
    try:
        measure_ours(results, every, options)
        measure_gasal2(results, every, options)
    finally:
        if path := results.save():
            from bench.pages.sw_plot import draw

            print(path, draw(path))


if __name__ == "__main__":
    try:
        main(asked())
    except DeviceError as error:
        sys.exit(f"sw_table needs a GPU: {error}")
