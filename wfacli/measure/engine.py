"""Our engine as it is measured: from pairs in memory to alignments in memory, as the command aligns them."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._native import check_batch
from ..config import AlignSpec, Config, EngineName, Limits
from ..core.batch import I32, U8, AlignmentBatch, PairBatch, Status
from ..core.stats import Stats
from ..engines.choice import with_gpu
from ..engines.cpu import CpuEngine, native_options
from ..engines.execute import align_batch
from ..engines.hybrid import BothEngines
from ..errors import InternalError
from ..plan.kernels import TABLE
from ..plan.planner import Planner
from ..run.batch_run import MOST_BESIDE_A_GPU, SWITCH_BESIDE_A_GPU

TIMED = (
    "all pairs of a row, from sequences in memory to scores, and alignments, in memory: estimates, dispatch, kernels,"
    " results put together, and beside a GPU copies to and from it; no file, no start. Batches are those of the"
    " command, several at a time where there are several threads or a GPU. One run before is not counted; memory"
    " stays from run to run"
)


@dataclass(frozen=True)
class Answers:
    """What came of all pairs of several batches, in order.

    Attributes:
        seconds: that it took.
        score: i32[n]; 0 where there is no alignment.
        aligned: bool[n], whether there is one.
    """

    seconds: float
    score: I32
    aligned: npt.NDArray[np.bool_]

    @property
    def costs(self) -> I32:
        """i32[n], minus the scores; -1 where there is no alignment."""
        return np.where(self.aligned, -self.score, -1).astype(np.int32)

    def same_as(self, other: Answers) -> npt.NDArray[np.bool_]:
        """bool[n], whether a pair's answer is the other's too."""
        same: npt.NDArray[np.bool_] = (self.aligned == other.aligned) & ((self.score == other.score) | ~self.aligned)
        return same


class Engine:
    """One engine for one task, until it is closed."""

    def __init__(
        self,
        spec: AlignSpec,
        threads: int = 1,
        where: EngineName = EngineName.CPU,
        gpu_memory: float | None = None,
        tell: Callable[[str], None] | None = None,
        devices: tuple[int, ...] | None = (0,),
    ) -> None:
        """Opens it. Raises DeviceError where a GPU is asked for and there is none that works.

        Args:
            spec: what to compute.
            threads: of the CPU engine, which a GPU has behind it.
            where: CPU, or GPU.
            gpu_memory: as --gpu-memory has it.
            tell: told what takes a while, in a line; from any thread.
            devices: GPUs, as --devices has them; None: all.
        """
        self._spec, self._limits, self._stats = spec, Limits(), Stats()
        self._checks = native_options(spec, self._limits, TABLE)
        cpu = CpuEngine(spec, self._limits, threads, stats=self._stats)
        config = Config(
            spec, limits=self._limits, threads=threads, engine=where, gpu_memory=gpu_memory, devices=devices
        )
        self._engine = with_gpu(config, cpu, self._stats, tell)
        gpus = self._engine.gpus if isinstance(self._engine, BothEngines) else 0
        # One thread shall be one: then no other one makes estimates.
        workers = threads + 2 if gpus or threads > 1 else 1
        self._workers = min(workers, gpus * MOST_BESIDE_A_GPU) if gpus else workers
        self._planner = Planner(spec, self._limits, gpus=gpus)
        if gpus:
            sys.setswitchinterval(SWITCH_BESIDE_A_GPU)

    def lying_right(self, batches: Sequence[PairBatch]) -> list[PairBatch]:
        """Batches with their letters where the command's reader puts them: in page-locked memory beside a GPU."""
        return [self._moved(batch) for batch in batches]

    def run(self, batches: Sequence[PairBatch], check: bool = False) -> Answers:
        """Aligns every batch.

        Args:
            batches: what to align.
            check: go along every path and compare its cost; it counts in the seconds.

        Raises:
            InternalError: a path is wrong.
        """

        def one(batch: PairBatch) -> tuple[U8, I32]:
            done = align_batch(self._engine, batch, self._planner, self._stats)
            if check and not self._spec.score_only:
                self._check(batch, done)
            # What is read later is no view of memory that the next batch's answers are waiting for.
            return done.status.copy(), done.score

        workers = min(self._workers, len(batches))
        if workers > 1:
            with ThreadPoolExecutor(workers) as pool:
                begun = time.perf_counter()
                found = list(pool.map(one, batches))
                seconds = time.perf_counter() - begun
        else:
            begun = time.perf_counter()
            found = list(map(one, batches))
            seconds = time.perf_counter() - begun
        status = np.concatenate([one for one, _ in found] or [np.zeros(0, np.uint8)])
        score = np.concatenate([one for _, one in found] or [np.zeros(0, np.int32)])
        aligned = status == Status.OK
        return Answers(seconds, np.where(aligned, score, 0).astype(np.int32), aligned)

    def kernels(self) -> dict[str, int]:
        """Pairs that each kernel has answered so far."""
        return dict(self._stats.kernels)

    def counts(self) -> dict[str, dict[str, float]]:
        """All that was counted so far: thread-seconds by stage and kernel, and pairs by what became of them."""
        s = self._stats
        handed: dict[str, float] = {" ".join(key): n for key, n in s.handed_on.items()}
        return {
            "seconds": dict(s.seconds),
            "answered": dict(s.kernels),
            "routed": dict(s.routed),
            "retried": dict(s.retried),
            "handed_on": handed,
            "unaligned": dict(s.unaligned),
        }

    def describe(self) -> dict[str, Any]:
        """What the engine is."""
        return self._engine.stats()

    def close(self) -> None:
        """Ends its threads and gives the GPU back."""
        self._engine.close()

    def _moved(self, batch: PairBatch) -> PairBatch:
        memory = self._engine.letters_memory(len(batch.bases))
        if memory is None:
            return batch
        memory[:] = batch.bases
        return dataclasses.replace(batch, bases=memory)

    def _check(self, batch: PairBatch, done: AlignmentBatch) -> None:
        fault = check_batch(batch, done, self._checks)
        if fault:
            raise InternalError(f"pair {fault[0]} of batch {batch.ordinal} is wrong ({fault[1]}); please report this")
