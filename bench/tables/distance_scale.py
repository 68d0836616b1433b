"""Scaling of the distance of one pair up to 250 Mb: both of our algorithms, each forced, must agree.

    python -m bench.tables.distance_scale [--minutes 3.3] [--random 1 2 5 10] [--similar 10 50 250] [--error 0.01]

Runs on a GPU, or with --engine cpu on the CPU, where the default lengths (in Mb) are smaller. Pairs are random; with
simulated edits, a third each of mismatches, insertions and deletions; and one whose distance is known by construction.
An algorithm whose expected time exceeds --longest seconds, or the time left, is left out. The result has the seconds,
memory and time per step of each run, and an extrapolation to the pair of chromosomes for which paper 002 needed nine
hours. It is JSON in bench/results with a plot beside it, which `python -m bench.pages.distance_scale_plot RESULT.json`
draws again. A wrong distance makes the exit status 1.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.harness import saving, table
from bench.peers import distance_ours, distance_work
from bench.peers.distance_ours import Algorithm
from bench.peers.distance_work import Row, Work
from wfacli.core.stats import peak_memory
from wfacli.errors import DeviceError, WfacliError
from wfacli.gpu.runtime.driver import Driver
from wfacli.gpu.runtime.opening import open_driver
from wfacli.solve.base import Pair
from wfacli.solve.distance import cpu
from wfacli.solve.gpu import bits as gpu_bits
from wfacli.solve.gpu import wavefront as gpu_wavefront

TIMED = {
    "seconds": "one run, from bases in memory to the distance, copies to a GPU included; kernels are loaded before",
    "known": "the distance, if it follows from how the pair was made (planted in peers/distance_work.py)",
    "gpu_bytes": "maximum of the GPU's memory that the run was seen to use",
    "host_bytes": "peak memory of the process so far, including all sequences so far and their generation",
    "steps": "a step is one score of both fronts for wavefronts, and one row of the matrix for bits: "
    "share of the time, and seconds per step",
    "extrapolated": "expected time of the model for that pair, multiplied by measured / expected time"
    " of the largest run. For a wavefront, runs whose fronts advance at the same "
    "rate, as those of simulated pairs do",
}
RANDOM_EDITS = 0.517  # edits per base of two random strings over four bases
ENOUGH = 0.97  # distance by planned edits, some of which cancel each other
PAPER = {"lengths": (249_000_000, 228_000_000), "identity": 0.79, "edits": 52_300_000, "seconds": 32_060}
SAMPLES = 40  # samples of a run's progress that are kept
SLICE = 0.1  # seconds
ON_GPU = {"random": [1.0, 2.0, 5.0, 10.0], "similar": [10.0, 50.0, 250.0], "planted": 10.0}
ON_CPU = {"random": [0.05, 0.1, 0.2], "similar": [0.5, 2.0, 5.0], "planted": 1.0}
console = Console(width=max(Console().width, 150))


@dataclass
class Run:
    """One algorithm on one pair.

    Attributes:
        samples: (seconds, lower bound of the edits, share of the work, cells) during the run.
    """

    algorithm: str
    distance: int | None
    seconds: float
    ready_seconds: float
    forecast: float
    cells: int
    gpu_bytes: int | None
    host_bytes: int
    samples: list[tuple[float, int, float, int]] = field(default_factory=list)

    def steps(self, rows: int) -> list[dict[str, float]]:
        """Return seconds per step in each quarter of the time."""
        found = []
        ends = np.linspace(self.ready_seconds, self.seconds, 5)
        times = [s[0] for s in self.samples]
        done = [s[1] / 2 if "wavefront" in self.algorithm else s[2] * rows for s in self.samples]
        for begin, end in itertools.pairwise(ends):
            steps = np.interp(end, times, done) - np.interp(begin, times, done)
            if steps > 0:
                found.append({"share_of_time": round(end / self.seconds, 3), "seconds": (end - begin) / steps})
        return found


@dataclass
class Entry:
    """One pair and all its runs."""

    name: str
    kind: str
    lengths: tuple[int, int]
    known: int | None
    estimate: int
    runs: list[Run] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def distances(self) -> set[int | None]:
        """All distances found, and the known one."""
        return {run.distance for run in self.runs} | ({self.known} if self.known is not None else set())

    @property
    def agreed(self) -> bool:
        """True if there is no second distance."""
        return len(self.distances) <= 1

    def report(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        rows, cells = self.lengths[0], self.lengths[0] * self.lengths[1]
        runs = []
        for run in self.runs:
            values = dataclasses.asdict(run) | {"steps": run.steps(rows)}
            runs.append(values | {"tcups": cells / run.seconds / 1e12, "computed_per_second": run.cells / run.seconds})
        own = {name: getattr(self, name) for name in ("name", "kind", "lengths", "known", "estimate", "left_out")}
        return {**own, "agreed": self.agreed, "runs": runs}


def rows_of(a: argparse.Namespace) -> list[Row]:
    """Return the pairs, the cheapest first."""

    def bases(mb: float) -> int:
        return round(mb * 1_000_000)

    similar = f"{100 * (1 - a.error):g}%"
    rows = [Row(f"planted {a.planted:g} Mb {similar}", bases=bases(a.planted), error=a.error, planted=True)]
    rows += [Row(f"random {mb:g} Mb", bases=bases(mb)) for mb in a.random]
    rows += [Row(f"simulated {mb:g} Mb {similar}", bases=bases(mb), error=a.error) for mb in a.similar]
    rows = [row for row in rows if row.bases]
    # By cells that matter, to which the time of both algorithms is about proportional.
    return sorted(rows, key=lambda row: row.bases**2 * (row.error or RANDOM_EDITS))


def watched(algorithm: Algorithm, work: Work, driver: Driver | None, forecast: float, limit: float) -> Run | str:
    """Return one run, or why there is none."""
    free = driver.free_memory() if driver else 0
    taken, samples = 0, []
    begun = time.perf_counter()
    try:
        solver = algorithm.make(work)
    except (WfacliError, MemoryError) as error:
        return str(error) or type(error).__name__
    try:
        ready = time.perf_counter() - begun
        ended = False
        while not ended:
            ended = solver.advance(SLICE)
            now, at = time.perf_counter() - begun, solver.position
            samples.append((now, at.lower_bound, 1.0 if at.fraction_done is None else at.fraction_done, int(at.cells)))
            if driver:
                taken = max(taken, free - driver.free_memory())
            if not ended and now > limit:
                return f"stopped after {limit:.0f} s, at {at.lower_bound:,} edits or more"
        kept = samples[:: max(len(samples) // SAMPLES, 1)]
        kept = [(ready, 0, 0.0, 0), *kept, *([samples[-1]] if kept[-1] != samples[-1] else [])]
        return Run(
            algorithm.name,
            solver.distance,
            samples[-1][0],
            ready,
            forecast,
            samples[-1][3],
            taken if driver else None,
            peak_memory(),
            kept,
        )
    except (WfacliError, MemoryError) as error:
        return str(error) or type(error).__name__
    finally:
        solver.close()


def measured(row: Row, ours: list[Algorithm], driver: Driver | None, a: argparse.Namespace, deadline: float) -> Entry:
    """Run all algorithms on a pair for which there is time."""
    with console.status(f"{row.name}: making the pair"):
        work = distance_work.made(row, None)
    kind = "random" if row.error is None else "planted" if row.planted else "simulated"
    edits = work.known or round(row.bases * (RANDOM_EDITS if row.error is None else row.error * ENOUGH))
    entry = Entry(row.name, kind, work.lengths, work.known, distance_ours.estimate(work))
    promised = {algorithm.name: algorithm.forecast(work, edits) for algorithm in ours}
    for algorithm in sorted(ours, key=lambda one: promised[one.name]):
        seconds, left = promised[algorithm.name], deadline - time.monotonic()
        if seconds > min(a.longest, left):
            entry.left_out[algorithm.name] = f"its model says {seconds:.0f} s"
            continue
        with console.status(f"{row.name}: {algorithm.name}"):
            found = watched(algorithm, work, driver, seconds, min(2 * a.longest, left))
        if isinstance(found, str):
            entry.left_out[algorithm.name] = found
        else:
            entry.runs.append(found)
    return entry


def extrapolated(entries: list[Entry], driver: Driver | None, threads: int) -> dict[str, Any]:
    """Extrapolate the largest runs to the paper's pair of chromosomes."""
    m, n = PAPER["lengths"]
    nothing = np.broadcast_to(np.uint8(0), (m,)), np.broadcast_to(np.uint8(0), (n,))
    pair = Pair(*nothing, True)  # only lengths matter here
    edits, found = PAPER["edits"], {}
    for kind in ("wavefront", "bits"):
        runs = [
            (run.seconds, run, entry)
            for entry in entries
            for run in entry.runs
            if run.algorithm.endswith(kind) and (kind == "bits" or entry.kind != "random")
        ]
        if not runs:
            continue
        _, run, entry = max(runs, key=lambda one: one[0])
        if driver and kind == "bits":
            model = gpu_bits.forecast(driver.gpu, (m, n), edits, True)
        elif driver:
            model = gpu_wavefront.forecast(driver.gpu, (m, n), edits, 2)
        else:
            model = cpu.forecast(pair, edits, threads)[kind]
        seconds = model * run.seconds / run.forecast
        found[run.algorithm] = {
            "by": entry.name,
            "model_seconds": round(model, 1),
            "measured_by_model": round(run.seconds / run.forecast, 3),
            "seconds": round(seconds, 1),
            "times_faster_than_the_paper": round(PAPER["seconds"] / seconds, 2),
            "gpu_bytes": None if run.gpu_bytes is None else round(run.gpu_bytes * m / entry.lengths[0]),
        }
    return {"paper": PAPER, "algorithms": found}


def save(entries: list[Entry], left_out: dict[str, str], a: argparse.Namespace, driver: Driver | None) -> Path:
    """Write the result so far; return its path."""
    result = {
        "gpu": dataclasses.asdict(driver.gpu) if driver else None,
        "rules": {name: getattr(a, name) for name in ("minutes", "longest", "threads", "error")},
        "left_out": left_out,
        "rows": [entry.report() for entry in entries],
        "extrapolated": extrapolated(entries, driver, a.threads),
    }
    return saving.save("distance-scale" + ("" if driver else "-on-cpu"), TIMED, result)


def show(entries: list[Entry], left_out: dict[str, str], extrapolation: dict[str, Any]) -> None:
    """Print a table, and what it leaves out."""
    table = Table("pair", "distance", "estimate", "algorithm", "seconds", "model", "TCUPS", "computed/s", "GPU MB")
    for entry in entries:
        for run in entry.runs:
            mb = "–" if run.gpu_bytes is None else f"{run.gpu_bytes / 1e6:,.0f}"
            cells = entry.lengths[0] * entry.lengths[1]
            colour = "" if entry.agreed else "[red]"
            distance = "–" if run.distance is None else f"{colour}{run.distance:,}"
            numbers = [f"{run.seconds:.3f}", f"{run.forecast:.3f}", f"{cells / run.seconds / 1e12:.3g}"]
            rate = f"{run.cells / run.seconds:.3g}"
            table.add_row(entry.name, distance, f"{entry.estimate:,}", run.algorithm, *numbers, rate, mb)
    console.print(table)
    for entry in entries:
        for name, why in entry.left_out.items():
            console.print(f"{entry.name}: no {name}: {why}", markup=False)
        if not entry.agreed:
            console.print(f"{entry.name}: they say {entry.distances}", style="red", markup=False)
    for name, why in left_out.items():
        console.print(f"{name}: {why}", markup=False)
    for name, one in extrapolation["algorithms"].items():
        console.print(f"249 Mb by 228 Mb at 79%: {name} {one['seconds']:,.0f} s (the paper: {PAPER['seconds']:,} s)")


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "threads", longest=60.0, minutes=3.3)
    parser.add_argument("--engine", choices=("auto", "gpu", "cpu"), default="auto")
    for name in ("random", "similar"):
        parser.add_argument(f"--{name}", type=float, nargs="*", metavar="MB", help="lengths of pairs")
    parser.add_argument("--planted", type=float, metavar="MB", help="length of the pair with a known distance")
    parser.add_argument("--error", type=float, default=0.01, help="edits a base of pairs that are not random")
    return parser.parse_args(arguments)


def with_defaults(a: argparse.Namespace, on_gpu: bool) -> argparse.Namespace:
    """Set the lengths that were not given."""
    for name, value in (ON_GPU if on_gpu else ON_CPU).items():
        if getattr(a, name) is None:
            setattr(a, name, value)
    return a


def scale(a: argparse.Namespace, driver: Driver | None) -> tuple[list[Entry], Path | None]:
    """Measure all pairs and save after each."""
    end = table.deadline(a)
    a = with_defaults(a, driver is not None)
    ours = distance_ours.on_gpu(driver) if driver else distance_ours.on_cpu(a.threads)
    if driver:
        begun = time.perf_counter()
        with console.status("compiling"):
            distance_ours.load_kernels(driver, True)
        console.print(f"kernels compiled and loaded in {time.perf_counter() - begun:.1f} s")
    entries: list[Entry] = []
    left_out: dict[str, str] = {}
    path = None
    for row in rows_of(a):
        if time.monotonic() > end:
            left_out[row.name] = table.NO_TIME
            continue
        entries.append(measured(row, ours, driver, a, end))
        path = save(entries, left_out, a, driver)
        said = ", ".join(f"{run.algorithm} {run.seconds:.3f} s" for run in entries[-1].runs)
        console.print(f"{row.name}: {said or 'none'}", markup=False)
    if path is not None:
        path = save(entries, left_out, a, driver)
    show(entries, left_out, extrapolated(entries, driver, a.threads))
    return entries, path


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    driver: Driver | None = None
    try:
        driver = open_driver() if a.engine != "cpu" else None
    except DeviceError as error:
        if a.engine == "gpu":
            sys.exit(f"no GPU: {error}")
        console.print(f"no GPU: {error}", markup=False)
    try:
        entries, path = scale(a, driver)
    finally:
        if driver is not None:
            driver.close()  # on any error: PyCUDA aborts a process that leaves its context open
    if path is not None:
        console.print(str(path))
        try:
            from bench.pages.distance_scale_plot import draw
        except ImportError:
            console.print(
                f"no picture: matplotlib is missing; later: python -m bench.pages.distance_scale_plot {path}"
            )
        else:
            console.print(str(draw(path)))
    if not all(entry.agreed for entry in entries):
        sys.exit(1)


if __name__ == "__main__":
    main()
