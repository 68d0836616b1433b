"""Our engine as one more aligner: a thin cover of wfacli.measure.engine, which has what is inside its time."""

from __future__ import annotations

from typing import Any

from wfacli.config import CPU_BATCH, AlignSpec, EngineName, Heuristics, Metric, Penalties
from wfacli.core.batch import PairBatch
from wfacli.measure.engine import Engine as MeasuredEngine
from wfacli.run.batch_run import shared_out

from .gpu_work import Files, Pairs
from .verdict import Costs

EXACT = Heuristics()


def batch_bases(where: str, files: Files) -> int:
    """Letters of a batch, as the command makes them on "gpu" or "cpu" of a row's file."""
    return shared_out([files.seq.stat().st_size]) if EngineName(where) is EngineName.GPU else CPU_BATCH


class Engine:
    """Our engine for one task until it is closed."""

    def __init__(
        self,
        metric: str,
        score_only: bool,
        where: str = "cpu",
        threads: int = 1,
        memory: float | None = None,
        heuristics: Heuristics = EXACT,
    ) -> None:
        """Opens it on "gpu", with the CPU engine behind it, or on "cpu". Raises DeviceError.

        Args:
            metric: "edit" or "affine", with its default penalties, which are those of peer.hpp.
            score_only: no paths.
            where: "gpu" or "cpu".
            threads: of the CPU engine.
            memory: of the GPU, as --gpu-memory has it.
            heuristics: none unless given.
        """
        kind = Metric(metric)
        spec = AlignSpec(kind, Penalties.of(kind), score_only=score_only, heuristics=heuristics)
        self._engine = MeasuredEngine(spec, threads, EngineName(where), memory)

    def pinned_batches(self, pairs: Pairs) -> Pairs:
        """The pairs with their letters where the command's reader puts them: in page-locked memory beside a card."""
        return Pairs(self._engine.pinned_batches(pairs.batches))

    def run(self, pairs: Pairs | PairBatch, check: bool = False) -> tuple[float, Costs]:
        """Aligns every pair; returns seconds, and costs (i32[n], -1 where there is none).

        Args:
            pairs: what to align.
            check: go along every path and compare its cost; it counts in the seconds. Raises InternalError.
        """
        answers = self._engine.run([pairs] if isinstance(pairs, PairBatch) else pairs.batches, check)
        return answers.seconds, answers.costs

    def counts(self) -> dict[str, dict[str, float]]:
        """All that was counted so far: thread-seconds by stage and kernel, and pairs."""
        return self._engine.counts()

    def describe(self) -> dict[str, Any]:
        """What the engine is."""
        return self._engine.describe()

    def close(self) -> None:
        """Ends its threads and gives the GPU back."""
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
