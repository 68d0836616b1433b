"""How the distance of one pair scales, up to 250 Mb: both of our algorithms, forced in turn, which must agree.

    python bench/distance_scale.py [--minutes 3.3] [--random 1 2 5 10] [--similar 10 50 250] [--error 0.01]

On a GPU, or with --engine cpu on the CPU, where lengths (in Mb) are smaller by default. Pairs of random letters; of
simulated edits, a third each of mismatches, insertions and deletions; and one whose distance is known by the way in
which it was made. An algorithm whose model promises more than --longest seconds, or more than is left, is left out.
The result has each run's seconds, memory and time of a step, and what they say about the chromosomes that paper 002
took nine hours for. It is JSON in bench/results with a picture beside it, which `python bench/distance_scale_plot.py
RESULT.json` draws again. A wrong distance ends the command with exit code 1.
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

import harness
import numpy as np
from peers import distance_ours, distance_work
from peers.distance_ours import Algorithm
from peers.distance_work import Row, Work
from rich.console import Console
from rich.table import Table

from wfacli.core.cores import usable_cores
from wfacli.core.stats import peak_memory
from wfacli.errors import DeviceError, WfacliError
from wfacli.gpu.runtime.cuda_driver import CudaDriver
from wfacli.gpu.runtime.driver import Driver
from wfacli.solve.base import Pair
from wfacli.solve.distance import cpu
from wfacli.solve.gpu import bits as gpu_bits
from wfacli.solve.gpu import wavefront as gpu_wavefront

TIMED = {
    "seconds": "one run, from letters in memory to the distance, copies to a GPU included; kernels are loaded before",
    "known": "the distance, where the way in which the pair was made proves it (planted in peers/distance_work.py)",
    "card_bytes": "the most that the run was seen to have taken of the GPU's free memory",
    "host_bytes": "the process's peak so far, both sequences of all pairs so far and their making with it",
    "steps": "of a wavefront a score of both fronts, of bits a row of the matrix: share of the time, seconds a step",
    "extrapolated": "the model's seconds for that pair, times what the largest run took of its model's; of a wavefront"
    " by runs whose fronts move as fast, which simulated pairs' do",
}
RANDOM_EDITS = 0.517  # a letter, of two random strings of four letters
ENOUGH = 0.97  # of planned edits are the distance: some cancel each other
PAPER = {"lengths": (249_000_000, 228_000_000), "identity": 0.79, "edits": 52_300_000, "seconds": 32_060}
SAMPLES = 40  # of a run's way that are kept
SLICE = 0.1  # seconds
ON_GPU = {"random": [1.0, 2.0, 5.0, 10.0], "similar": [10.0, 50.0, 250.0], "planted": 10.0}
ON_CPU = {"random": [0.05, 0.1, 0.2], "similar": [0.5, 2.0, 5.0], "planted": 1.0}
console = Console(width=max(Console().width, 150))


@dataclass
class Run:
    """One algorithm on one pair.

    Attributes:
        samples: (seconds, edits at least, share of the work, cells) now and then.
    """

    algorithm: str
    distance: int | None
    seconds: float
    ready_seconds: float
    forecast: float
    cells: int
    card_bytes: int | None
    host_bytes: int
    samples: list[tuple[float, int, float, int]] = field(default_factory=list)

    def steps(self, rows: int) -> list[dict[str, float]]:
        """Seconds of a step in each quarter of the time."""
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
        """All that was found, and what is known."""
        return {run.distance for run in self.runs} | ({self.known} if self.known is not None else set())

    @property
    def agreed(self) -> bool:
        """Whether nobody says anything else."""
        return len(self.distances) <= 1

    def report(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows, cells = self.lengths[0], self.lengths[0] * self.lengths[1]
        runs = []
        for run in self.runs:
            values = dataclasses.asdict(run) | {"steps": run.steps(rows)}
            runs.append(values | {"tcups": cells / run.seconds / 1e12, "computed_per_second": run.cells / run.seconds})
        own = {name: getattr(self, name) for name in ("name", "kind", "lengths", "known", "estimate", "left_out")}
        return {**own, "agreed": self.agreed, "runs": runs}


def rows_of(a: argparse.Namespace) -> list[Row]:
    """Pairs, the cheapest first."""

    def letters(mb: float) -> int:
        return round(mb * 1_000_000)

    similar = f"{100 * (1 - a.error):g}%"
    rows = [Row(f"planted {a.planted:g} Mb {similar}", letters=letters(a.planted), error=a.error, planted=True)]
    rows += [Row(f"random {mb:g} Mb", letters=letters(mb)) for mb in a.random]
    rows += [Row(f"simulated {mb:g} Mb {similar}", letters=letters(mb), error=a.error) for mb in a.similar]
    rows = [row for row in rows if row.letters]
    # By cells that matter, which is about what either algorithm's time goes with.
    return sorted(rows, key=lambda row: row.letters**2 * (row.error or RANDOM_EDITS))


def watched(algorithm: Algorithm, work: Work, driver: Driver | None, forecast: float, limit: float) -> Run | str:
    """One run; or why there is none."""
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
    """A pair by all algorithms that there is time for."""
    with console.status(f"{row.name}: making the pair"):
        work = distance_work.made(row, None)
    kind = "random" if row.error is None else "planted" if row.planted else "simulated"
    edits = work.known or round(row.letters * (RANDOM_EDITS if row.error is None else row.error * ENOUGH))
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
    """What the largest runs say about the paper's pair of chromosomes."""
    m, n = PAPER["lengths"]
    nothing = np.broadcast_to(np.uint8(0), (m,)), np.broadcast_to(np.uint8(0), (n,))
    pair = Pair(*nothing, True)  # of which only lengths matter
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
            "card_bytes": None if run.card_bytes is None else round(run.card_bytes * m / entry.lengths[0]),
        }
    return {"paper": PAPER, "algorithms": found}


def save(entries: list[Entry], left_out: dict[str, str], a: argparse.Namespace, driver: Driver | None) -> Path:
    """Writes what there is so far; returns its path."""
    result = {
        "card": dataclasses.asdict(driver.gpu) if driver else None,
        "rules": {name: getattr(a, name) for name in ("minutes", "longest", "threads", "error")},
        "left_out": left_out,
        "rows": [entry.report() for entry in entries],
        "extrapolated": extrapolated(entries, driver, a.threads),
    }
    return harness.save("distance-scale" + ("" if driver else "-on-cpu"), TIMED, result)


def show(entries: list[Entry], left_out: dict[str, str], extrapolation: dict[str, Any]) -> None:
    """A table, and what is not in it."""
    table = Table("pair", "distance", "estimate", "algorithm", "seconds", "model", "TCUPS", "computed/s", "card MB")
    for entry in entries:
        for run in entry.runs:
            mb = "–" if run.card_bytes is None else f"{run.card_bytes / 1e6:,.0f}"
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
    """The command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("auto", "gpu", "cpu"), default="auto")
    for name in ("random", "similar"):
        parser.add_argument(f"--{name}", type=float, nargs="*", metavar="MB", help="lengths of pairs")
    parser.add_argument("--planted", type=float, metavar="MB", help="length of the pair with a known distance")
    parser.add_argument("--error", type=float, default=0.01, help="edits a letter of pairs that are not random")
    parser.add_argument("--threads", type=int, default=usable_cores(), help="of the CPU's algorithms")
    parser.add_argument("--longest", type=float, default=60.0, help="seconds; what would take longer is left out")
    parser.add_argument("--minutes", type=float, default=3.3, help="after these nothing begins any more")
    return parser.parse_args(arguments)


def with_defaults(a: argparse.Namespace, on_card: bool) -> argparse.Namespace:
    """Lengths that were not given."""
    for name, value in (ON_GPU if on_card else ON_CPU).items():
        if getattr(a, name) is None:
            setattr(a, name, value)
    return a


def scale(a: argparse.Namespace, driver: Driver | None) -> tuple[list[Entry], Path | None]:
    """All pairs; what is known is saved after each."""
    deadline = time.monotonic() + 60 * a.minutes
    a = with_defaults(a, driver is not None)
    ours = distance_ours.on_card(driver) if driver else distance_ours.on_cpu(a.threads)
    if driver:
        begun = time.perf_counter()
        with console.status("compiling"):
            distance_ours.load_kernels(driver, True)
        console.print(f"kernels compiled and loaded in {time.perf_counter() - begun:.1f} s")
    entries: list[Entry] = []
    left_out: dict[str, str] = {}
    path = None
    for row in rows_of(a):
        if time.monotonic() > deadline:
            left_out[row.name] = "no time left"
            continue
        entries.append(measured(row, ours, driver, a, deadline))
        path = save(entries, left_out, a, driver)
        said = ", ".join(f"{run.algorithm} {run.seconds:.3f} s" for run in entries[-1].runs)
        console.print(f"{row.name}: {said or 'nobody'}", markup=False)
    if path is not None:
        path = save(entries, left_out, a, driver)
    show(entries, left_out, extrapolated(entries, driver, a.threads))
    return entries, path


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    a = asked(arguments)
    driver: Driver | None = None
    try:
        driver = CudaDriver() if a.engine != "cpu" else None
    except DeviceError as error:
        if a.engine == "gpu":
            sys.exit(f"no card: {error}")
        console.print(f"no card: {error}", markup=False)
    try:
        entries, path = scale(a, driver)
    finally:
        if driver is not None:
            driver.close()  # on any error: PyCUDA ends a process that leaves its context behind
    if path is not None:
        console.print(str(path))
        try:
            from distance_scale_plot import draw
        except ImportError:
            console.print(f"no picture: matplotlib is missing; later: python bench/distance_scale_plot.py {path}")
        else:
            console.print(str(draw(path)))
    if not all(entry.agreed for entry in entries):
        sys.exit(1)


if __name__ == "__main__":
    main()
