"""Extensions in a band with a Z-drop, scores alone: wfacli on CPU threads and on a GPU, ksw2, AGAThA.

    python -m bench.tables.guided_table [--agatha PATH] [--ksw2 PATH] [--data DIR] [--share S] [--repeats N]
        [--minutes M]

AGAThA is a program that the user has built; ksw2 is downloaded and compiled when first needed (bench/peers), or given.
All compute what `wfacli extend --mode extension --band W --zdrop Z --score-only` computes: the same cells, the
same scores, the same end. AGAThA keeps scores in 16 bits, which suffice for all pairs here. CPUs align the first pairs
of a row and GPUs all of them: rates are compared, scores of the pairs that all aligners have, and for all pairs our
scores on a GPU with AGAThA's.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.harness import table
from bench.harness.sw_ours import Ours
from bench.peers import build, gpu_work, work
from bench.peers.gpu_binaries import Failed
from bench.peers.guided import AGATHA_MOST, Ksw2, Rules, agatha
from bench.peers.verdict import Costs, right_costs
from wfacli._native import keep_memory_flat
from wfacli.config import GPU_BATCH, Limits
from wfacli.core.batch import PairBatch
from wfacli.core.stats import Stats
from wfacli.engines.extend_cpu import ExtendEngine, extend_batch
from wfacli.errors import DeviceError
from wfacli.io.read.memory import pairs_of
from wfacli.measure.spread import Spread
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

RULES = Rules(2, 4, 4, 2, band=751, zdrop=400)  # AGAThA's defaults, which are minimap2's for noisy long reads
SCHEME = Scheme.of_scores(RULES.match, RULES.mismatch, RULES.open, RULES.extend)
SPEC = ExtendSpec(SCHEME, ExtendMode.EXTENSION, score_only=True, band=RULES.band, zdrop=RULES.zdrop)
TIMED = {
    "wfacli": "the CPU engine of extend in this process, all threads: from bases in memory to scores,"
    " with a band and a Z-drop",
    "wfacli, GPU": "the engine of extend on a GPU: from bases in page-locked memory to scores, copies"
    " included; batches have the command's size",
    "wfacli, GPU, kernels": "kernels alone, all pairs in one batch, by the GPU's events",
    "ksw2": "ksw_extz2_sse with a band and a Z-drop on all threads, the time of the slowest one, "
    "without the time to convert bases to its codes",
    "agatha": "kernels: those that sort and align, by its events. Whole: its own time from bases in "
    "memory to scores, with allocation, copies, packing and kernels; all pairs in one batch",
    "equal_share": "share of its scores that equal the score which most aligners report, for the "
    "pairs that the CPUs align too; wfacli is asked first",
    "gcups": "cells of the band per second, in 10^9, whether computed or not",
}
SEED = 3
CHUNK = 4_000_000  # bases of targets generated at a time
LEAST_CELLS = 5e5  # minimum cells of a pair's band, in any row
console = Console(width=max(Console().width, 130))


@dataclass(frozen=True)
class Row:
    """Pairs of a row: simulated ones, which may end in unrelated bases, or a real set, repeated."""

    name: str
    pairs: int
    length: int = 0
    error: float = 0.1
    unrelated: int = 0
    real: str = ""


ROWS = (
    Row("20 k × 1 kb 10%", 20_000, 1000),
    Row("16 k × 5 kb 10%", 16_000, 5000),
    Row("16 k × 2 kb 10%, 3 kb unrelated behind", 16_000, 2000, unrelated=3000),
    Row("8 k × 10 kb 5%", 8_000, 10_000, 0.05),
    Row("pacbio_clr_ecoli", 16_000, real="pacbio_clr_ecoli"),
    Row("hifi_human", 8_000, real="hifi_human_wfagpu"),
)


@dataclass(frozen=True)
class Work:
    """The sequences of a row's pairs."""

    queries: list[bytes]
    targets: list[bytes]

    def first(self, count: int) -> PairBatch:
        """Return the first `count` pairs in memory."""
        return pairs_of(self.queries[:count], self.targets[:count])

    def batches(self, bases: int) -> list[PairBatch]:
        """Return all pairs in batches of about `bases` bases."""
        ends = np.cumsum([len(q) + len(t) for q, t in zip(self.queries, self.targets, strict=True)])
        edges = [0, *np.flatnonzero(np.diff(ends // bases)) + 1, len(self.queries)]
        parts = [slice(a, b) for a, b in itertools.pairwise(edges) if a < b]
        return [pairs_of(self.queries[part], self.targets[part]) for part in parts]

    def written(self, folder: Path) -> list[Path]:
        """Write two FASTA files; return their paths."""
        files = [folder / "query.fa", folder / "target.fa"]
        for file, side in zip(files, (self.queries, self.targets), strict=True):
            file.write_bytes(b"".join(b">%d\n%s\n" % (i, bases) for i, bases in enumerate(side)))
        return files

    @cached_property
    def cells(self) -> np.ndarray:
        """Cells of each pair's band (i64[n])."""
        n, m = (np.array([len(bases) for bases in side]) for side in (self.queries, self.targets))
        return SPEC.cells(n, m)


def made(row: Row, data: Path | None, count: int) -> Work:
    """Make the first `count` pairs of a row. Raises FileNotFoundError."""
    if row.real:
        real = work.real_pairs(row.real, data)
        sides = [
            [real.bases[a : a + n].tobytes().upper() for a, n in zip(starts, lengths, strict=True)]
            for starts, lengths in ((real.q_start, real.q_len), (real.t_start, real.t_len))
        ]
        most = AGATHA_MOST // RULES.match
        fit = [(q, t) for q, t in zip(*sides, strict=True) if max(len(q), len(t)) < most]
        some = (fit * -(-count // len(fit)))[:count]
        return Work([q for q, _ in some], [t for _, t in some])
    rng = np.random.default_rng([SEED, row.length, round(1000 * row.error)])
    bases = np.frombuffer(b"ACGT", np.uint8)
    made: tuple[list[bytes], list[bytes]] = [], []
    for first in range(0, count, CHUNK // row.length):
        some = min(count - first, CHUNK // row.length)
        text = gpu_work.random_seq(some, row.length, round(row.length * row.error), rng).tobytes()
        for number, line in enumerate(text.split(b"\n")[:-1]):
            made[number % 2].append(line[1:] + bases[rng.integers(0, 4, row.unrelated)].tobytes())
    return Work(*made)


def best_of(run: Any, repeats: int) -> tuple[list[float], Costs]:
    """Return seconds of all repeats, and scores; a score that changes between repeats is -1."""
    runs = [run() for _ in range(repeats)]
    scores = runs[0][1]
    for _, again in runs[1:]:
        scores = np.where(scores == again, scores, -1).astype(np.int32)
    return [seconds for seconds, _ in runs], scores


def on_cpu(pairs: PairBatch, threads: int) -> tuple[float, Costs]:
    """Return the seconds and scores of our CPU engine."""
    engine = ExtendEngine(SPEC, Limits(), threads)
    try:
        begun = time.perf_counter()
        scores = extend_batch(engine, pairs, SPEC, Stats(), "").score.copy()
        return time.perf_counter() - begun, scores
    finally:
        engine.close()


def measured(row: Row, a: argparse.Namespace, ksw2: Ksw2 | None, gpu: Ours | None) -> dict[str, Any]:
    """Measure all aligners on one row."""
    most = max(1, round(row.pairs * a.share))
    if gpu is None and not a.agatha:
        most = min(most, 1 + int(a.cpu_cells * a.threads / LEAST_CELLS))
    some = made(row, a.data, most)
    n, total = len(some.queries), int(some.cells.sum())
    count = max(1, int(np.searchsorted(np.cumsum(some.cells), a.cpu_cells * a.threads)))
    first, cells = some.first(count), int(some.cells[:count].sum())
    found: dict[str, Any] = {"name": row.name, "pairs": n, "band_cells": total, "cpu_pairs": len(first)}
    said: dict[str, Costs] = {}

    def put(aligner: str, seconds: list[float], of: int, work: int, **more: Any) -> None:
        rates = {"pairs_per_second": round(of / min(seconds), 1), "gcups": round(work / min(seconds) / 1e9, 3)}
        found[aligner] = {**Spread(seconds).report(), **rates, **more}

    seconds, said["wfacli"] = best_of(lambda: on_cpu(first, a.threads), a.repeats)
    put("wfacli", seconds, len(first), cells, threads=a.threads)
    if ksw2:
        seconds, said["ksw2"] = best_of(lambda: ksw2.run(first, RULES), a.repeats)
        put("ksw2", seconds, len(first), cells, threads=a.threads)
    if gpu:
        batches = gpu.pinned_batches(some.batches(GPU_BATCH))
        gpu.run(batches)
        runs = [gpu.run(batches) for _ in range(a.repeats)]
        on_gpu = runs[0][2]
        said["wfacli, GPU"] = on_gpu[: len(first)]
        put("wfacli, GPU", [run[0] for run in runs], n, total, stages=runs[-1][1])
        kernels = [gpu.kernels([some.first(n)], 1) for _ in range(a.repeats + 1)][1:]
        put("wfacli, GPU, kernels", [sum(k.values()) for k in kernels], n, total, kernels=sorted(kernels[0]))
    if a.agatha:
        every = _agatha_at(some, a, put, found)
        said |= {aligner: scores[: len(first)] for aligner, scores in every.items()}
        if gpu and "agatha" in every:
            found["wfacli, GPU"]["equal_to_agatha"] = round(float(np.mean(on_gpu == every["agatha"])), 6)
    right = right_costs(said["wfacli"], {aligner: scores for aligner, scores in said.items() if aligner != "wfacli"})
    for aligner, scores in said.items():
        found[aligner]["equal_share"] = round(float(np.mean(scores == right)), 6)
    return found


def _agatha_at(some: Work, a: argparse.Namespace, put: Any, found: dict[str, Any]) -> dict[str, Costs]:
    """Add AGAThA to the row; return its scores."""
    n, total = len(some.queries), int(some.cells.sum())
    with tempfile.TemporaryDirectory(prefix="wfacli-bench-", dir=gpu_work.folder_in_memory()) as folder:
        try:
            files = some.written(Path(folder))
            runs = [agatha(a.agatha, files, n, RULES, Path(folder), a.patience) for _ in range(a.repeats)]
        except Failed as error:
            found["failed"] = {"agatha": str(error)}
            return {}
    put("agatha, kernels", [run.kernel_seconds for run in runs], n, total)
    whole = [run.whole_seconds for run in runs if run.whole_seconds is not None]
    put("agatha", whole or [run.kernel_seconds for run in runs], n, total, kernels_alone=not whole)
    return {"agatha": runs[0].scores}


def table_of(rows: list[dict[str, Any]]) -> Table:
    """Return a table of rates with a line for each row."""
    names = [
        name
        for name in ("wfacli", "ksw2", "wfacli, GPU", "agatha", "wfacli, GPU, kernels", "agatha, kernels")
        if any(name in row for row in rows)
    ]
    table = Table("pairs", *(f"{name}, pairs/s" for name in names), "right scores")
    for row in rows:
        rates = (f"{row[name]['pairs_per_second']:,.0f}" if name in row else "–" for name in names)
        shares = (f"{n} {row[n]['equal_share']:.2%}" for n in names if "equal_share" in row.get(n, {}))
        table.add_row(row["name"], *rates, ", ".join(shares))
    return table


def line_of(row: Row, found: dict[str, Any]) -> str:
    """Return the line that is printed for a row."""
    return f"{row.name:40} {found['wfacli']['pairs_per_second']:12,.0f} pairs/s on the CPU"


def ksw2_of(path: Path | None, threads: int) -> Ksw2 | None:
    """Return ksw2, given or built; None, with a message, if it is not available."""
    try:
        return Ksw2(path or build.library("ksw2", None, console.print, "ksw2_extend"), threads)
    except (build.Unavailable, OSError) as error:
        console.print(f"no ksw2: {error}", markup=False)
        return None


def gpu_of(threads: int) -> Ours | None:
    """Return our engine on a GPU; None, with a message, if there is no GPU."""
    try:
        return Ours(True, threads, ExtendMode.EXTENSION, RULES.band, RULES.zdrop)
    except DeviceError as error:
        console.print(f"no GPU: {error}", markup=False)
        return None


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "data", "rows", "share", "threads", "repeats", patience=60.0, minutes=None)
    parser.add_argument("--agatha", type=Path, metavar="PATH", help="its program, which is ended after --patience")
    parser.add_argument(
        "--ksw2", type=Path, metavar="PATH", help="peer_ksw2_extend.so, instead of one from a registry"
    )
    parser.add_argument(
        "--cpu-cells", type=float, default=1.5e8, help="cells of bands, for each thread: pairs that CPUs align"
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    keep_memory_flat()
    ksw2, gpu = ksw2_of(a.ksw2, a.threads), gpu_of(a.threads)
    runner = table.Runner("guided-table", TIMED, a, console)

    def result() -> dict[str, Any]:
        facts = {"gpu": gpu and gpu.engine.stats()["gpu"], "rules": asdict(RULES), "threads": a.threads}
        return {**facts, "share": a.share, "left_out": runner.left_out}

    try:
        runner.measure(table.chosen(ROWS, a), lambda row: measured(row, a, ksw2, gpu), result, line_of, optional=True)
    finally:
        if gpu:
            gpu.engine.close()
    console.print(table_of(runner.rows))
    console.print(str(runner.path), markup=False)
    if any(row["wfacli"]["equal_share"] < 1 for row in runner.rows):
        sys.exit("wfacli's scores differ from those of most aligners")


if __name__ == "__main__":
    main()
