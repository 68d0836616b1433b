"""Extensions within a band until a Z-drop, scores alone: ours on the CPU's threads and on a GPU, ksw2, AGAThA.

    python bench/guided_table.py [--agatha PATH] [--ksw2 PATH] [--data DIR] [--share S] [--repeats N] [--minutes M]

AGAThA is what the user has built; ksw2 is downloaded and compiled when first needed (bench/peers), or given. What is
comparable is `wfacli extend --mode extension --bandwidth W --zdrop Z --score-only`: the same cells, the same scores,
the same end. AGAThA keeps scores in 16 bits: no pair here can have more.
CPUs take the first pairs of a row, cards take all: rates are compared, scores of the pairs that all have, and of all
pairs those of ours on a GPU with AGAThA's.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import harness
import numpy as np
from peers import build, gpu_work, work
from peers.gpu_binaries import Failed
from peers.guided import AGATHA_MOST, Ksw2, Rules, agatha
from peers.verdict import Costs, right_costs
from rich.console import Console
from rich.table import Table
from sw_ours import Ours

from wfacli._native import keep_memory_flat
from wfacli.config import GPU_BATCH, Limits
from wfacli.core.batch import PairBatch
from wfacli.core.cores import usable_cores
from wfacli.core.stats import Stats
from wfacli.engines.extend_cpu import ExtendEngine, extend_batch
from wfacli.errors import DeviceError
from wfacli.io.read.memory import pairs_of
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

RULES = Rules(2, 4, 4, 2, band=751, zdrop=400)  # AGAThA's defaults, which are minimap2's for noisy long reads
SCHEME = Scheme.of_scores(RULES.match, RULES.mismatch, RULES.open, RULES.extend)
SPEC = ExtendSpec(SCHEME, ExtendMode.EXTENSION, score_only=True, band=RULES.band, zdrop=RULES.zdrop)
TIMED = {
    "wfacli": "the CPU engine of extend in this process, all threads: from letters in memory to scores, in a band,"
    " until the Z-drop",
    "wfacli, card": "the engine of extend on a card: from letters in page-locked memory to scores, batches as the"
    " command makes them, copies included",
    "wfacli, card, kernels": "of all pairs in one batch, by the GPU's own events",
    "ksw2": "ksw_extz2_sse in a band, until the Z-drop, on all threads: the slowest one, without the time to turn"
    " letters into its codes",
    "agatha": "kernels: those that sort and align, by its own events; whole: its own time from letters in memory to"
    " scores, with memory taken and freed, copies, packing, kernels; all pairs in one batch",
    "equal_share": "of its scores those that most aligners say, ours first, on the pairs that the CPUs have as well",
    "gcups": "cells of the band by the second, computed or not",
}
SEED = 3
CHUNK = 4_000_000  # letters of targets made at a time
LEAST_CELLS = 5e5  # of a pair's band, in any row
console = Console(width=max(Console().width, 130))


@dataclass(frozen=True)
class Row:
    """Pairs: simulated, whose last letters may have nothing in common; or a real set, many times over."""

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
    """A row's pairs as letters."""

    queries: list[bytes]
    targets: list[bytes]

    def first(self, count: int) -> PairBatch:
        """So many pairs in memory."""
        return pairs_of(self.queries[:count], self.targets[:count])

    def batches(self, letters: int) -> list[PairBatch]:
        """All pairs, in batches of about so many letters."""
        ends = np.cumsum([len(q) + len(t) for q, t in zip(self.queries, self.targets, strict=True)])
        edges = [0, *np.flatnonzero(np.diff(ends // letters)) + 1, len(self.queries)]
        parts = [slice(a, b) for a, b in itertools.pairwise(edges) if a < b]
        return [pairs_of(self.queries[part], self.targets[part]) for part in parts]

    def written(self, folder: Path) -> list[Path]:
        """Two FASTA files."""
        files = [folder / "query.fa", folder / "target.fa"]
        for file, side in zip(files, (self.queries, self.targets), strict=True):
            file.write_bytes(b"".join(b">%d\n%s\n" % (i, letters) for i, letters in enumerate(side)))
        return files

    @cached_property
    def cells(self) -> np.ndarray:
        """Of each pair's band (i64[n])."""
        n, m = (np.array([len(letters) for letters in side]) for side in (self.queries, self.targets))
        return SPEC.cells(n, m)


def made(row: Row, data: Path | None, count: int) -> Work:
    """So many of a row's pairs. Raises FileNotFoundError."""
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
    letters = np.frombuffer(b"ACGT", np.uint8)
    made: tuple[list[bytes], list[bytes]] = [], []
    for first in range(0, count, CHUNK // row.length):
        some = min(count - first, CHUNK // row.length)
        text = gpu_work.random_seq(some, row.length, round(row.length * row.error), rng).tobytes()
        for number, line in enumerate(text.split(b"\n")[:-1]):
            made[number % 2].append(line[1:] + letters[rng.integers(0, 4, row.unrelated)].tobytes())
    return Work(*made)


def best_of(run: Any, repeats: int) -> tuple[list[float], Costs]:
    """Seconds of all repeats, and scores, which must stay the same."""
    runs = [run() for _ in range(repeats)]
    scores = runs[0][1]
    for _, again in runs[1:]:
        scores = np.where(scores == again, scores, -1).astype(np.int32)
    return [seconds for seconds, _ in runs], scores


def on_cpu(pairs: PairBatch, threads: int) -> tuple[float, Costs]:
    """Ours, in a band until the Z-drop."""
    engine = ExtendEngine(SPEC, Limits(), threads)
    try:
        begun = time.perf_counter()
        scores = extend_batch(engine, pairs, SPEC, Stats(), "").score.copy()
        return time.perf_counter() - begun, scores
    finally:
        engine.close()


def measured(row: Row, a: argparse.Namespace, ksw2: Ksw2 | None, card: Ours | None) -> dict[str, Any]:
    """All that takes part, on one row."""
    most = max(1, round(row.pairs * a.share))
    if card is None and not a.agatha:
        most = min(most, 1 + int(a.cpu_cells * a.threads / LEAST_CELLS))
    some = made(row, a.data, most)
    n, total = len(some.queries), int(some.cells.sum())
    count = max(1, int(np.searchsorted(np.cumsum(some.cells), a.cpu_cells * a.threads)))
    first, cells = some.first(count), int(some.cells[:count].sum())
    found: dict[str, Any] = {"name": row.name, "pairs": n, "band_cells": total, "cpu_pairs": len(first)}
    said: dict[str, Costs] = {}

    def put(who: str, seconds: list[float], of: int, work: int, **more: Any) -> None:
        rates = {"pairs_per_second": round(of / min(seconds), 1), "gcups": round(work / min(seconds) / 1e9, 3)}
        found[who] = {**harness.summed_up(seconds), **rates, **more}

    seconds, said["wfacli"] = best_of(lambda: on_cpu(first, a.threads), a.repeats)
    put("wfacli", seconds, len(first), cells, threads=a.threads)
    if ksw2:
        seconds, said["ksw2"] = best_of(lambda: ksw2.run(first, RULES), a.repeats)
        put("ksw2", seconds, len(first), cells, threads=a.threads)
    if card:
        batches = card.pinned_batches(some.batches(GPU_BATCH))
        card.run(batches)
        runs = [card.run(batches) for _ in range(a.repeats)]
        on_card = runs[0][2]
        said["wfacli, card"] = on_card[: len(first)]
        put("wfacli, card", [run[0] for run in runs], n, total, stages=runs[-1][1])
        kernels = [card.kernels([some.first(n)], 1) for _ in range(a.repeats + 1)][1:]
        put("wfacli, card, kernels", [sum(k.values()) for k in kernels], n, total, kernels=sorted(kernels[0]))
    if a.agatha:
        every = _agatha_at(some, a, put, found)
        said |= {who: scores[: len(first)] for who, scores in every.items()}
        if card and "agatha" in every:
            found["wfacli, card"]["equal_to_agatha"] = round(float(np.mean(on_card == every["agatha"])), 6)
    right = right_costs(said["wfacli"], {who: scores for who, scores in said.items() if who != "wfacli"})
    for who, scores in said.items():
        found[who]["equal_share"] = round(float(np.mean(scores == right)), 6)
    return found


def _agatha_at(some: Work, a: argparse.Namespace, put: Any, found: dict[str, Any]) -> dict[str, Costs]:
    """Adds AGAThA; its scores."""
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
    """Rates of everyone, a row a line."""
    names = [
        name
        for name in ("wfacli", "ksw2", "wfacli, card", "agatha", "wfacli, card, kernels", "agatha, kernels")
        if any(name in row for row in rows)
    ]
    table = Table("pairs", *(f"{name}, pairs/s" for name in names), "right scores")
    for row in rows:
        rates = (f"{row[name]['pairs_per_second']:,.0f}" if name in row else "–" for name in names)
        shares = (f"{n} {row[n]['equal_share']:.2%}" for n in names if "equal_share" in row.get(n, {}))
        table.add_row(row["name"], *rates, ", ".join(shares))
    return table


def ksw2_of(path: Path | None, threads: int) -> Ksw2 | None:
    """ksw2, given or built; None, with a line that says why, where it cannot be."""
    try:
        return Ksw2(path or build.library("ksw2", None, console.print, "ksw2_extend"), threads)
    except (build.Unavailable, OSError) as error:
        console.print(f"no ksw2: {error}", markup=False)
        return None


def card_of(threads: int) -> Ours | None:
    """Our engine on a GPU, where there is one."""
    try:
        return Ours(True, threads, ExtendMode.EXTENSION, RULES.band, RULES.zdrop)
    except DeviceError as error:
        console.print(f"no card: {error}", markup=False)
        return None


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agatha", type=Path, metavar="PATH", help="its program")
    parser.add_argument(
        "--ksw2", type=Path, metavar="PATH", help="peer_ksw2_extend.so, instead of one from a registry"
    )
    default = os.environ.get("WFACLI_TEST_DATA")
    parser.add_argument("--data", type=Path, default=Path(default) if default else None, help="folder of real sets")
    parser.add_argument("--rows", nargs="+", metavar="TEXT", help="only rows whose names contain one of these")
    parser.add_argument("--share", type=float, default=1.0, help="of each row's pairs")
    parser.add_argument(
        "--cpu-cells", type=float, default=1.5e8, help="of bands, for each thread: pairs that CPUs take"
    )
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--patience", type=float, default=60.0, help="seconds that AGAThA may take")
    harness.pace(parser)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    a = asked(arguments)
    keep_memory_flat()
    end, path = harness.deadline(a), None
    ksw2, card = ksw2_of(a.ksw2, a.threads), card_of(a.threads)
    chosen = [row for row in ROWS if not a.rows or any(text in row.name for text in a.rows)]
    rows: list[dict[str, Any]] = []
    left_out: dict[str, str] = {}
    try:
        for row in chosen:
            try:
                if time.monotonic() > end:
                    raise FileNotFoundError("no time left")
                rows.append(measured(row, a, ksw2, card))
            except FileNotFoundError as error:
                left_out[row.name] = str(error)
            result = {"card": card and card.engine.stats()["card"], "rules": asdict(RULES), "threads": a.threads,
                      "share": a.share, "left_out": left_out, "rows": rows}  # fmt: skip
            late = "no time left" in left_out.values()
            whole = len(rows) + len(left_out) == len(chosen) and not (a.rows or a.share < 1 or late)
            path = harness.save_so_far("guided-table", TIMED, result, whole) if rows else None
    finally:
        if card:
            card.engine.close()
    console.print(table_of(rows))
    for name, why in left_out.items():
        console.print(f"{name} is not in the table: {why}", markup=False)
    console.print(str(path), markup=False)
    if any(row["wfacli"]["equal_share"] < 1 for row in rows):
        sys.exit("wfacli's scores are not what most say")


if __name__ == "__main__":
    main()
