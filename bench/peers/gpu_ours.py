"""Our engine on a card, as the command runs it; the only place here that knows how one is opened."""

from __future__ import annotations

import dataclasses
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from wfacli._native import check_batch
from wfacli.batch import I32, U8, PairBatch, Status
from wfacli.config import CPU_BATCH, AlignSpec, Config, EngineName, Heuristics, Limits, Metric, Penalties
from wfacli.engines.choice import with_gpu
from wfacli.engines.cpu import CpuEngine, native_options
from wfacli.engines.rescue import align_in_turn, turns_of
from wfacli.forecast import TABLE
from wfacli.run import MOST_BESIDE_A_CARD, SWITCH_BESIDE_A_CARD, shared_out
from wfacli.stats import Stats

from .gpu_work import Files, Pairs
from .verdict import Costs

EXACT = Heuristics()


def batch_letters(where: str, files: Files) -> int:
    """Letters of a batch, as the command makes them on "gpu" or "cpu" of a row's file."""
    return shared_out([files.seq.stat().st_size]) if EngineName(where) is EngineName.GPU else CPU_BATCH


class Engine:
    """Our engine for one task until it is closed."""

    def __init__(
        self,
        metric: str,
        score_only: bool,
        where: str,
        threads: int,
        memory: float | None,
        heuristics: Heuristics = EXACT,
    ) -> None:
        """Opens it on "gpu", with the CPU engine behind it, or on "cpu". Raises DeviceError.

        Args:
            metric: "edit" or "affine", with its default penalties.
            score_only: no paths.
            where: "gpu" or "cpu".
            threads: of the CPU engine; two more work on batches, or as many as the command has beside a card.
            memory: of the card, as --gpu-memory has it.
            heuristics: none unless given.
        """
        kind = Metric(metric)
        self._spec, self._limits = AlignSpec(kind, Penalties.of(kind), score_only=score_only), Limits()
        self._spec = dataclasses.replace(self._spec, heuristics=heuristics)
        self._stats = Stats()
        self._checks = native_options(self._spec, self._limits, TABLE)
        config = Config(self._spec, limits=self._limits, threads=threads, engine=EngineName(where), gpu_memory=memory)
        cpu = CpuEngine(self._spec, self._limits, threads, stats=self._stats)
        self._engine = with_gpu(config, cpu, self._stats)
        self._on_gpu = self._engine is not cpu
        self._workers = min(threads + 2, MOST_BESIDE_A_CARD) if self._on_gpu else threads + 2
        self._turns = turns_of(1 if self._on_gpu else 0)
        if self._on_gpu:
            sys.setswitchinterval(SWITCH_BESIDE_A_CARD)

    def lying_right(self, pairs: Pairs) -> Pairs:
        """The pairs with their letters where the command's reader puts them: in page-locked memory beside a card."""
        return Pairs([self._moved(batch) for batch in pairs.batches])

    def _moved(self, batch: PairBatch) -> PairBatch:
        memory = self._engine.letters_memory(len(batch.bases))
        if memory is None:
            return batch
        memory[:] = batch.bases
        return dataclasses.replace(batch, bases=memory)

    def run(self, pairs: Pairs, check: bool = False) -> tuple[float, Costs]:
        """Aligns every batch, several at a time; returns seconds, and costs (i32[n], -1 where there is none).

        Args:
            pairs: what to align.
            check: go along every path and compare its cost; it counts in the seconds. Raises RuntimeError.
        """

        def one(batch: PairBatch) -> tuple[U8, I32]:
            done = align_in_turn(self._engine, batch, self._spec, self._limits, self._stats, self._turns)
            if check and not self._spec.score_only:
                found = check_batch(batch, done, self._checks)
                if found:
                    raise RuntimeError(f"pair {found[0]} of batch {batch.ordinal}: {found[1]}")
            # What is read later is no view of memory that the next batch's answers are waiting for.
            return done.status.copy(), done.score

        with ThreadPoolExecutor(self._workers) as pool:
            begun = time.perf_counter()
            found = list(pool.map(one, pairs.batches))
            seconds = time.perf_counter() - begun
        costs = [np.where(status == Status.OK, -score, -1).astype(np.int32) for status, score in found]
        return seconds, np.concatenate(costs) if costs else np.zeros(0, np.int32)

    def counts(self) -> dict[str, dict[str, float]]:
        """All that was counted so far: thread-seconds by stage and kernel, and pairs."""
        s = self._stats
        handed = {" ".join(key): n for key, n in s.handed_on.items()}
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
        """Gives the card back."""
        self._engine.close()


def per_run(before: dict[str, dict[str, float]], after: dict[str, dict[str, float]], runs: int) -> dict[str, Any]:
    """What was counted between two looks, for one of several runs."""
    return {
        group: {
            name: round((value - before[group].get(name, 0)) / runs, 6)
            for name, value in values.items()
            if value != before[group].get(name, 0)
        }
        for group, values in after.items()
    }
