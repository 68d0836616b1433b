"""Each GPU kernel for edit distance with paths, on the same pairs: the cost of a kernel that is too large.

    python -m bench.tables.kernel_table [--rows TEXT ...] [--share 1.0] [--repeats 3] [--kernels TEXT ...]

Kernels are wavefronts that carry their path (`wfa-edit-32`, `-64`, `-128`: E32, E64 and E128 of eWFA-GPU) and bands of
bit-vectors, each on every pair of a row; pairs that a kernel cannot align are counted. Rows are 1 M pairs of 150 bases
with 5% errors (table 3 of that paper), and 10% errors at 150, 300 and 1,000 bases (table 4, by threads per pair), made
by `wfacli simulate`.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.harness import table
from bench.pages.batches import kernel_seconds
from wfacli._native import keep_memory_flat
from wfacli.config import AlignSpec, Metric, Penalties
from wfacli.core.batch import PairBatch, Status, all_rows
from wfacli.core.cores import usable_cores
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines.gpu import GpuEngine
from wfacli.errors import DeviceError
from wfacli.gpu.compile.compiler import Compiler
from wfacli.gpu.kernels.catalogue import BITS
from wfacli.gpu.kernels.wfa import VARIANTS
from wfacli.gpu.runtime.opening import open_driver
from wfacli.measure.spread import Spread
from wfacli.measure.work import Work, bases, pairs_in_memory
from wfacli.plan.planner import Planner
from wfacli.run.sizes import MOST_BESIDE_A_GPU

TIMED = {
    "seconds": "one kernel with all pairs of a row, from bases in pageable memory to CIGARs in "
    "memory; the best repeat",
    "gpu_seconds": "thread-seconds of the GPU's streams by stage and kernel, mean of the repeats",
    "aligned": "pairs that the kernel aligned; the others fall back to another kernel, which is not timed",
    "threads": "threads per pair",
}
SPEC = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT))
KERNELS = (*(f"wfa-edit-{edits}" for edits in (32, 64, 128, 500)), *(f"bits-{band}" for band in BITS))
PAIRS = {Work(150, 0.05): 1_000_000, Work(150, 0.1): 1_000_000, Work(300, 0.1): 500_000, Work(1000, 0.1): 300_000}
console = Console(width=max(Console().width, 110))


def threads_of(kernel: str) -> int:
    """Return the number of threads that work on one pair."""
    variant = VARIANTS.get(kernel)
    return variant.group if variant else BITS[int(kernel.removeprefix("bits-"))][1]


def measured(kernel: str, engine: GpuEngine, stats: Stats, batches: list[PairBatch], repeats: int) -> dict[str, Any]:
    """Measure one kernel on all pairs; the first run, which compiles and allocates, does not count."""

    def one(batch: PairBatch) -> int:
        found = engine.collect(engine.submit(batch, Route(all_rows(len(batch)), f"gpu-{kernel}")))
        return int(np.count_nonzero(found.status == np.uint8(Status.OK)))

    def run() -> tuple[float, int]:
        with ThreadPoolExecutor(MOST_BESIDE_A_GPU) as pool:
            begun = time.perf_counter()
            aligned = sum(pool.map(one, batches))
            return time.perf_counter() - begun, aligned

    _, aligned = run()
    before = dict(stats.seconds)
    seconds = [run()[0] for _ in range(repeats)]
    spent = {name: (s - before.get(name, 0.0)) / repeats for name, s in stats.seconds.items()}
    return {
        "kernel": kernel,
        "threads": threads_of(kernel),
        **Spread(seconds).report(),
        "aligned": aligned,
        "gpu_seconds": {n: round(s, 6) for n, s in spent.items() if n.startswith("gpu ") and s > 0},
    }


def row_of(work: Work, count: int, a: argparse.Namespace, engine: GpuEngine, stats: Stats) -> dict[str, Any]:
    """Measure every kernel on one row."""
    batches = [Planner(SPEC).estimated(b) for b in pairs_in_memory(work, count, None, usable_cores())]
    kernels = [name for name in KERNELS if not a.kernels or any(text in name for text in a.kernels)]
    found = [measured(kernel, engine, stats, batches, a.repeats) for kernel in kernels]
    return {"row": work.name, "pairs": count, "bases": bases(batches), "kernels": found}


def table_of(rows: list[dict[str, Any]]) -> Table:
    """Return a table with a line for each kernel."""
    table = Table("pairs", "kernel", "threads a pair", "seconds", "its kernels alone, s", "aligned")
    for row in rows:
        for k in row["kernels"]:
            alone = f"{kernel_seconds(k):.4f}"
            done = f"{k['aligned'] / row['pairs']:.1%}"
            table.add_row(row["row"], k["kernel"], str(k["threads"]), f"{k['best_seconds']:.4f}", alone, done)
    return table


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "share", "repeats", minutes=None)
    parser.add_argument("--kernels", nargs="+", metavar="TEXT", help="only kernels whose names contain one of these")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    keep_memory_flat()
    stats = Stats()
    try:
        engine = GpuEngine(SPEC, lambda: open_driver(compiler=Compiler()), stats)
    except DeviceError as error:
        sys.exit(f"kernel_table needs a GPU: {error}")

    def measure(work: Work) -> dict[str, Any]:
        row = row_of(work, max(1, round(PAIRS[work] * a.share)), a, engine, stats)
        if failure := engine.failure:
            sys.exit(f"the GPU failed: {failure}")
        return row

    runner = table.Runner("kernel-table", TIMED, a, console, bool(a.kernels))
    rules = {"repeats": a.repeats, "share": a.share}
    try:
        runner.measure(table.chosen(PAIRS, a), measure, lambda: {"gpu": engine.stats()["gpu"], "rules": rules})
    finally:
        engine.close()
    console.print(table_of(runner.rows))
    console.print(str(runner.path), markup=False)


if __name__ == "__main__":
    main()
