"""Our engine as one of the aligners: delegates to wfacli.measure.engine, which defines what its time includes."""

from __future__ import annotations

from typing import Any

from wfacli.config import CPU_BATCH, AlignSpec, EngineName, Heuristics, Metric, Penalties
from wfacli.core.batch import PairBatch
from wfacli.measure.engine import Engine as MeasuredEngine
from wfacli.run.sizes import shared_out

from .gpu_work import Files, Pairs
from .verdict import Costs

EXACT = Heuristics()


def batch_bases(where: str, files: Files) -> int:
    """Return the bases of a batch as the command makes them for a row's file on "gpu" or "cpu"."""
    return shared_out([files.seq.stat().st_size]) if EngineName(where) is EngineName.GPU else CPU_BATCH


class Engine:
    """Our engine for one task."""

    def __init__(
        self,
        metric: str,
        score_only: bool,
        where: str = "cpu",
        threads: int = 1,
        memory: float | None = None,
        heuristics: Heuristics = EXACT,
    ) -> None:
        """Open it on "gpu", with the CPU engine behind it, or on "cpu". Raises DeviceError.

        Args:
            metric: "edit" or "affine", with its default penalties, which are those of peer.hpp.
            score_only: True for scores alone.
            where: "gpu" or "cpu".
            threads: threads of the CPU engine.
            memory: GPU memory, as in --gpu-memory.
            heuristics: by default none.
        """
        kind = Metric(metric)
        spec = AlignSpec(kind, Penalties.of(kind), score_only=score_only, heuristics=heuristics)
        self._engine = MeasuredEngine(spec, threads, EngineName(where), memory)

    def pinned_batches(self, pairs: Pairs) -> Pairs:
        """Return the pairs with their bases where the command's reader puts them: page-locked memory for a GPU."""
        return Pairs(self._engine.pinned_batches(pairs.batches))

    def run(self, pairs: Pairs | PairBatch, check: bool = False) -> tuple[float, Costs]:
        """Align every pair; return seconds, and costs (i32[n], -1 for none).

        Args:
            pairs: what to align.
            check: replay every path and compare its cost, within the seconds. Raises InternalError.
        """
        answers = self._engine.run([pairs] if isinstance(pairs, PairBatch) else pairs.batches, check)
        return answers.seconds, answers.costs

    def counts(self) -> dict[str, dict[str, float]]:
        """Return all counts so far: thread-seconds by stage and kernel, and pairs."""
        return self._engine.counts()

    def describe(self) -> dict[str, Any]:
        """Return a description of the engine."""
        return self._engine.describe()

    def close(self) -> None:
        """End its threads and release the GPU."""
        self._engine.close()


def per_run(before: dict[str, dict[str, float]], after: dict[str, dict[str, float]], runs: int) -> dict[str, Any]:
    """Return the counts between two snapshots, for one of several runs."""
    return {
        group: {
            name: round((value - before[group].get(name, 0)) / runs, 6)
            for name, value in values.items()
            if value != before[group].get(name, 0)
        }
        for group, values in after.items()
    }
