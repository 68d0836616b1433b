"""Batches of Smith-Waterman alignments on a card, beside GASAL2: figures 6 and 8 of SALoBa (Park et al. 2022).

    python bench/sw_table.py [--gasal2 LENGTH:PATH ...] [--data DIR] [--cells N] [--builds] [--save]

Equal lengths from 64 to 4,096, and what mappers extend: both sides of seeds in real reads, of 10 to thousands of
letters. In millions of millions of cells by the second (TCUPS), of whole matrices. Scores alone, and with CIGARs;
wfacli's scores are compared with the CPU engine's. --save writes bench/results and a plot.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import harness
from sw_pairs import Pair, batches, cells, equal, seeded

from wfacli._native import keep_memory_flat
from wfacli.batch import PairBatch, Status, every_row
from wfacli.config import GPU_BATCH, Limits
from wfacli.dispatch import Route
from wfacli.engines.extend import KERNEL, ExtendEngine
from wfacli.engines.extend_gpu import ExtendGpuEngine
from wfacli.errors import DeviceError
from wfacli.gpu.compiler import Compiler
from wfacli.gpu.cuda_driver import CudaDriver
from wfacli.run import MOST_BESIDE_A_CARD, SWITCH_BESIDE_A_CARD
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec
from wfacli.stats import Stats

LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)
SEEDS = ("illumina250", "hifi_human_wfagpu", "pacbio_clr_ecoli")
SCORES = "2,4,4,2"
DATA = Path(os.environ.get("WFACLI_TEST_DATA") or Path(__file__).parents[2] / "shared" / "data")
CHECKED = 300  # pairs of a row
MOST_DIRECTIONS = 80 << 30  # bytes of the card that GASAL2 may have for its paths
LEAST_BATCHES = 16  # of a run, so that the card has one while the host has the next
MEMORY = Path("/dev/shm")  # where files are in memory
TIMED = {
    "kernel": "all launches of the alignment kernels, by the card's events",
    "wfacli": "from letters in page-locked memory to scores or CIGARs in memory: builds, copies, codes, kernels, of "
    "batches one after another as the command has them, the same ones again where they are few",
    "gasal2": "the time that test_prog prints: filling of its buffers, copies, packing, kernels, CIGARs",
}


class Ours:
    """Our engine for scores or CIGARs."""

    def __init__(self, score_only: bool, threads: int) -> None:
        spec = ExtendSpec(Scheme.parse(SCORES), ExtendMode.LOCAL, score_only)
        self.stats = Stats()
        self.cpu = ExtendEngine(spec, Limits(), threads)
        self.engine = ExtendGpuEngine(spec, self.cpu, lambda: CudaDriver(compiler=Compiler()), self.stats)
        self.all = self.engine.builds

    def lying_right(self, some: list[PairBatch]) -> list[PairBatch]:
        """With their letters in page-locked memory."""
        moved = []
        for batch in some:
            memory = self.engine.letters_memory(len(batch.bases))
            if memory is not None:
                memory[:] = batch.bases
                batch = dataclasses.replace(batch, bases=memory)
            moved.append(batch)
        return moved

    def run(self, some: list[PairBatch]) -> tuple[float, dict[str, float], np.ndarray]:
        """(seconds, those of the card's and the host's stages, scores)."""
        before = dict(self.stats.seconds)

        def one(batch: PairBatch) -> np.ndarray:
            found = self.engine.collect(self.engine.submit(batch, Route(every_row(len(batch)), KERNEL)))
            assert (found.status == np.uint8(Status.OK)).all()
            return found.score.copy()

        with ThreadPoolExecutor(MOST_BESIDE_A_CARD) as pool:
            begun = time.perf_counter()
            scores = list(pool.map(one, some))
            seconds = time.perf_counter() - begun
        taken = {name: s - before.get(name, 0) for name, s in self.stats.seconds.items()}
        return seconds, {name: s for name, s in taken.items() if s > 0}, np.concatenate(scores)

    def measured(self, some: list[PairBatch], repeats: int, work: int) -> dict[str, Any]:
        """TCUPS, the best of so many runs after one that warms up; of stages those of the best run."""
        rounds = -(-LEAST_BATCHES // len(some))
        *_, scores = self.run(some * rounds)
        every = [self.run(some * rounds)[:2] for _ in range(repeats)]
        best, stages = min(every, key=lambda run: run[0])
        kernels = self.kernels(some, repeats)
        return {
            "batches": rounds * len(some),
            "seconds": round(best, 5),
            "tcups": _tcups(work * rounds, best),
            "kernel_tcups": _tcups(work, sum(kernels.values())),
            "kernels": {name: round(s, 5) for name, s in kernels.items()},
            "stages": {name: round(s, 5) for name, s in stages.items()},
            "scores": scores[: sum(map(len, some))],
        }

    def kernels(self, some: list[PairBatch], repeats: int) -> dict[str, float]:
        """Seconds of each kernel when it has the card to itself: the best of so many runs."""
        runs = []
        for _ in range(repeats):
            runs.append(dict[str, float]())
            for batch in some:
                for name, s in self.run([batch])[1].items():
                    if name.startswith("gpu sw-"):
                        runs[-1][name[4:]] = runs[-1].get(name[4:], 0) + s
        return min(runs, key=lambda run: sum(run.values()))

    def check(self, batch: PairBatch, scores: np.ndarray) -> None:
        """The first pairs' scores are the CPU's."""
        rows = np.arange(min(CHECKED, len(batch)), dtype=np.int32)
        wanted = self.cpu.collect(self.cpu.submit(batch, Route(rows, KERNEL)))
        assert (scores[: len(rows)] == wanted.score).all(), "other scores than the CPU's"


def gasal2(programs: dict[int, Path], pairs: list[Pair], paths: bool, repeats: int) -> dict[str, Any]:
    """TCUPS of the best of some sizes of its batches, or why there are none."""
    longest = max(max(map(len, pair)) for pair in pairs)
    program = next((programs[size] for size in sorted(programs) if longest <= size - 8), None)
    if program is None:
        return {"failed": f"over {max(programs, default=8) - 8} letters"}
    best: tuple[float, int] | None = None
    failed = ""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        files = [Path(folder) / name for name in ("q.fa", "t.fa")]
        for side, path in enumerate(files):
            path.write_bytes(b"".join(b">%d\n%s\n" % (n, pair[side]) for n, pair in enumerate(pairs)))
        charged = dict(zip("abqr", SCORES.split(","), strict=True))
        options = [word for name, value in charged.items() for word in (f"-{name}", value)]
        command = [str(program), *options, "-y", "local", "-n", "8", *(["-t"] if paths else []), *map(str, files)]
        for size in _batch_sizes(len(pairs), longest, paths):
            for _ in range(repeats):
                try:
                    done = subprocess.run(
                        command,
                        capture_output=True,
                        timeout=60,
                        check=False,
                        env=os.environ | {"GASAL_BATCH": str(size)},
                    )
                except subprocess.TimeoutExpired:
                    failed = "over 60 s"
                    break
                said = (done.stdout + done.stderr).decode(errors="replace")
                times = re.findall(r"Total execution time \(in milliseconds\): ([0-9.]+)", said)
                if not times:
                    failed = said.strip().splitlines()[-1][:120] if said.strip() else f"status {done.returncode}"
                    break
                seconds = min(float(ms) for ms in times) / 1000
                best = min(best or (seconds, size), (seconds, size))
    if best is None:
        return {"failed": failed}
    return {"seconds": round(best[0], 5), "tcups": _tcups(cells(pairs), best[0]), "batch": best[1]}


def _batch_sizes(pairs: int, longest: int, paths: bool) -> tuple[int, ...]:
    """Pairs of GASAL2's batches: of its 16 each has so many, and half a byte for each cell where there are paths."""
    room = MOST_DIRECTIONS // (16 * longest**2 // 2) if paths else 1 << 30
    sizes = (20000, 50000) if pairs >= 400_000 else (20000,) if pairs >= 160_000 else (5000,)
    return tuple(dict.fromkeys(min(size, max(room, 1)) for size in sizes))


def _tcups(work: int, seconds: float) -> float:
    return float(f"{work / seconds / 1e12:.4g}")


def row(name: str, pairs: list[Pair], engines: dict[str, Ours], options: argparse.Namespace) -> dict[str, Any]:
    """What all take for some pairs."""
    work, found = cells(pairs), {}
    made = batches(pairs, GPU_BATCH)
    for kind, ours in engines.items():
        some = ours.lying_right(made)
        ours.engine.builds = ours.all
        result = ours.measured(some, options.repeats, work)
        ours.check(made[0], result.pop("scores"))
        if options.builds:
            result["builds"] = {}
            for build in ours.all:
                longest = [np.array([max(len(pair[side]) for pair in pairs)]) for side in (0, 1)]
                if build.whole and (kind == "scores" or not build.keeps(*longest).all()):
                    continue
                ours.engine.builds = (build,)
                label = f"{build.lanes}x{build.columns}{' whole' if build.whole else ''}"
                result["builds"][label] = _tcups(work, sum(ours.kernels(some, 2).values()))
        found[kind] = {"wfacli": result}
        if options.gasal2:
            programs = {int(size): Path(path) for size, path in (word.split(":", 1) for word in options.gasal2)}
            found[kind]["gasal2"] = gasal2(programs, pairs, kind == "cigars", options.repeats)
    return {"name": name, "pairs": len(pairs), "cells": work, **found}


def shown(result: dict[str, Any]) -> str:
    words = [f"{result['name']:>20} {result['pairs']:>9,}"]
    for kind in ("scores", "cigars"):
        ours = result[kind]["wfacli"]
        words.append(f"{kind}: kernel {ours['kernel_tcups']:.2f}, whole {ours['tcups']:.2f}")
        if theirs := result[kind].get("gasal2"):
            words.append(f"gasal2 {theirs['tcups']:.3f}" if "tcups" in theirs else f"gasal2: {theirs['failed']}")
        words += [f"{name} {value:.2f}" for name, value in ours.get("builds", {}).items()]
    return "  ".join(words)


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasal2", nargs="*", default=[], metavar="LENGTH:PATH")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--cells", type=float, default=6e10, help="of a row of equal lengths")
    parser.add_argument("--letters", type=float, default=2.6e8, help="of a row, at most")
    parser.add_argument("--lengths", type=int, nargs="*", default=LENGTHS)
    parser.add_argument("--no-seeds", action="store_true")
    parser.add_argument("--builds", action="store_true", help="each build by itself, too")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--save", action="store_true")
    return parser.parse_args(arguments)


def main(options: argparse.Namespace) -> None:
    keep_memory_flat()
    sys.setswitchinterval(SWITCH_BESIDE_A_CARD)
    engines = {kind: Ours(kind == "scores", options.threads) for kind in ("scores", "cigars")}
    rows = []

    def add(name: str, pairs: list[Pair]) -> None:
        rows.append(row(name, pairs, engines, options))
        print(shown(rows[-1]), flush=True)

    try:
        for length in options.lengths:
            add(str(length), equal(length, int(min(options.cells / length**2, options.letters / 2 / length))))
        for name in () if options.no_seeds else SEEDS:
            if (options.data / f"{name}.query.fa.gz").exists():
                add(name, seeded(options.data, name, options.cells, options.letters))
        card = engines["scores"].engine.stats()["card"]
    finally:
        for ours in engines.values():
            ours.engine.close()
    result = {"card": card, "scores": SCORES, "mode": "local", "rows": rows}
    if options.save:
        whole = tuple(options.lengths) == LENGTHS and not options.no_seeds
        path = harness.save("sw-table" if whole else "sw-table-part", TIMED, result)
        from sw_plot import draw

        print(path, draw(path))


if __name__ == "__main__":
    try:
        main(asked())
    except DeviceError as error:
        sys.exit(f"sw_table.py needs a card: {error}")
