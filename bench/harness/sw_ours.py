"""Our `extend` engine for tables on a GPU: batches as the command makes them, and its kernels alone."""

from __future__ import annotations

import dataclasses
import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from wfacli.config import Limits
from wfacli.core.batch import PairBatch, Status, all_rows
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines.extend_cpu import KERNEL, ExtendEngine
from wfacli.engines.extend_gpu import ExtendGpuEngine
from wfacli.gpu.compile.compiler import Compiler
from wfacli.gpu.runtime.opening import open_driver
from wfacli.run.sizes import MOST_BESIDE_A_GPU
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

SCORES = "2,4,4,2"
CHECKED = 300  # pairs of a row whose scores are compared with the CPU's
LEAST_BATCHES = 16  # of a run, so that the GPU computes one batch while the host prepares the next
LEAST_SECONDS = 0.6  # of a run: its first batch needs 5 ms to arrive, and its last long pairs run alone for 30 ms


class Ours:
    """Our engine for scores or CIGARs."""

    def __init__(
        self, score_only: bool, threads: int, mode: ExtendMode = ExtendMode.LOCAL, band: int = 0, zdrop: int = 0
    ) -> None:
        spec = ExtendSpec(Scheme.parse(SCORES), mode, score_only, band=band, zdrop=zdrop)
        self.stats = Stats()
        self.cpu = ExtendEngine(spec, Limits(), threads)
        self.engine = ExtendGpuEngine(spec, self.cpu, lambda: open_driver(compiler=Compiler()), self.stats)
        self.all = self.engine.builds

    def pinned_batches(self, some: list[PairBatch]) -> list[PairBatch]:
        """Return the batches with their bases in page-locked memory."""
        moved = []
        for batch in some:
            memory = self.engine.batch_memory(len(batch.bases))
            if memory is not None:
                memory[:] = batch.bases
                batch = dataclasses.replace(batch, bases=memory)
            moved.append(batch)
        return moved

    def run(self, some: list[PairBatch]) -> tuple[float, dict[str, float], np.ndarray]:
        """Return (seconds, seconds by stage of the GPU and the host, scores) of one run."""
        before = dict(self.stats.seconds)

        def one(batch: PairBatch) -> np.ndarray:
            found = self.engine.collect(self.engine.submit(batch, Route(all_rows(len(batch)), KERNEL)))
            assert (found.status == np.uint8(Status.OK)).all()
            return found.score.copy()

        with ThreadPoolExecutor(MOST_BESIDE_A_GPU) as pool:
            begun = time.perf_counter()
            scores = list(pool.map(one, some))
            seconds = time.perf_counter() - begun
        taken = {name: s - before.get(name, 0) for name, s in self.stats.seconds.items()}
        return seconds, {name: s for name, s in taken.items() if s > 0}, np.concatenate(scores)

    def measured(self, some: list[PairBatch], repeats: int, work: int) -> dict[str, Any]:
        """Return the best TCUPS of `repeats` runs after a warm-up run, with the stages of the best run."""
        rounds = -(-LEAST_BATCHES // len(some))
        seconds, _, scores = self.run(some * rounds)
        rounds = max(rounds, math.ceil(rounds * LEAST_SECONDS / seconds))
        every = [self.run(some * rounds)[:2] for _ in range(repeats)]
        best, stages = min(every, key=lambda run: run[0])
        kernels = self.kernels(some, repeats)
        return {
            "batches": rounds * len(some),
            "seconds": round(best, 5),
            "tcups": tcups(work * rounds, best),
            "kernel_tcups": tcups(work, sum(kernels.values())),
            "kernels": {name: round(s, 5) for name, s in kernels.items()},
            "stages": {name: round(s, 5) for name, s in stages.items()},
            "scores": scores[: sum(map(len, some))],
        }

    def kernels(self, some: list[PairBatch], repeats: int) -> dict[str, float]:
        """Return the seconds of each kernel when it has the GPU to itself: the best of `repeats` runs."""
        runs = []
        for _ in range(repeats):
            runs.append(dict[str, float]())
            for batch in some:
                for name, s in self.run([batch])[1].items():
                    if name.startswith("gpu sw-"):
                        runs[-1][name[4:]] = runs[-1].get(name[4:], 0) + s
        return min(runs, key=lambda run: sum(run.values()))

    def check(self, batch: PairBatch, scores: np.ndarray) -> None:
        """Assert that the first pairs' scores are those of the CPU engine."""
        rows = np.arange(min(CHECKED, len(batch)), dtype=np.int32)
        wanted = self.cpu.collect(self.cpu.submit(batch, Route(rows, KERNEL)))
        assert (scores[: len(rows)] == wanted.score).all(), "other scores than the CPU's"


def tcups(work: int, seconds: float) -> float:
    """Return 10^12 cells per second, with four digits."""
    return float(f"{work / seconds / 1e12:.4g}")
