"""wfacli's engine as it is measured: from pairs in memory to alignments in memory, like in the command."""

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
from ..engines.hybrid import HybridEngine
from ..errors import InternalError
from ..plan.kernels import TABLE
from ..plan.planner import Planner
from ..run.sizes import MOST_BESIDE_A_GPU, SWITCH_INTERVAL

TIMED = (
    "all pairs of a row, from sequences in memory to scores and alignments in memory: estimates, dispatch, kernels,"
    " concatenation of results, and with a GPU the copies to and from it; no file, no startup. Batches are those of"
    " the command, several at a time with several threads or a GPU. A warm-up run is not counted; memory is reused"
    " from run to run"
)


@dataclass(frozen=True)
class Answers:
    """Results of all pairs of several batches, in order.

    Attributes:
        seconds: wall-clock time.
        score: i32[n]; 0 without an alignment.
        aligned: bool[n], True for pairs with an alignment.
    """

    seconds: float
    score: I32
    aligned: npt.NDArray[np.bool_]

    @property
    def costs(self) -> I32:
        """i32[n], minus the scores; -1 without an alignment."""
        return np.where(self.aligned, -self.score, -1).astype(np.int32)

    def same_as(self, other: Answers) -> npt.NDArray[np.bool_]:
        """Return bool[n]: True where both have the same result for a pair."""
        same: npt.NDArray[np.bool_] = (self.aligned == other.aligned) & ((self.score == other.score) | ~self.aligned)
        return same


class Engine:
    """One engine for one task; close() releases it."""

    def __init__(
        self,
        spec: AlignSpec,
        threads: int = 1,
        where: EngineName = EngineName.CPU,
        gpu_memory: float | None = None,
        tell: Callable[[str], None] | None = None,
        devices: tuple[int, ...] | None = (0,),
    ) -> None:
        """Open the engine. Raises DeviceError if a GPU is requested and none works.

        Args:
            spec: what to compute.
            threads: number of threads of the CPU engine, which a GPU falls back to.
            where: CPU or GPU.
            gpu_memory: as in --gpu-memory.
            tell: called with a line before long operations; from any thread.
            devices: GPUs, as in --devices; None: all.
        """
        self._spec, self._limits, self._stats = spec, Limits(), Stats()
        self._checks = native_options(spec, self._limits, TABLE)
        cpu = CpuEngine(spec, self._limits, threads, stats=self._stats)
        config = Config(
            spec, limits=self._limits, threads=threads, engine=where, gpu_memory=gpu_memory, devices=devices
        )
        self._engine = with_gpu(config, cpu, self._stats, tell)
        gpus = self._engine.gpus if isinstance(self._engine, HybridEngine) else 0
        # With one thread there is only one worker, so that no other thread estimates edits.
        workers = threads + 2 if gpus or threads > 1 else 1
        self._workers = min(workers, gpus * MOST_BESIDE_A_GPU) if gpus else workers
        self._planner = Planner(spec, self._limits, gpus=gpus)
        if gpus:
            sys.setswitchinterval(SWITCH_INTERVAL)

    def pinned_batches(self, batches: Sequence[PairBatch]) -> list[PairBatch]:
        """Return batches with their bases where the command's reader puts them: page-locked memory with a GPU."""
        return [self._pinned(batch) for batch in batches]

    def run(self, batches: Sequence[PairBatch], check: bool = False) -> Answers:
        """Align all batches.

        Args:
            batches: what to align.
            check: verify every path and its cost; the time for that is included.

        Raises:
            InternalError: a path is wrong.
        """

        def one(batch: PairBatch) -> tuple[U8, I32]:
            done = align_batch(self._engine, batch, self._planner, self._stats)
            if check and not self._spec.score_only:
                self._check(batch, done)
            # The status is copied, since a view would keep memory that the next batch's results need.
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
        """Return the number of pairs that each kernel has aligned so far."""
        return dict(self._stats.kernels)

    def counts(self) -> dict[str, dict[str, float]]:
        """Return all statistics so far: thread-seconds by stage and kernel, and numbers of pairs by outcome."""
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
        """Return a description of the engine."""
        return self._engine.stats()

    def close(self) -> None:
        """Stop the threads and release the GPU."""
        self._engine.close()

    def _pinned(self, batch: PairBatch) -> PairBatch:
        memory = self._engine.batch_memory(len(batch.bases))
        if memory is None:
            return batch
        memory[:] = batch.bases
        return dataclasses.replace(batch, bases=memory)

    def _check(self, batch: PairBatch, done: AlignmentBatch) -> None:
        fault = check_batch(batch, done, self._checks)
        if fault:
            raise InternalError(f"pair {fault[0]} of batch {batch.ordinal} is wrong ({fault[1]}); please report this")
