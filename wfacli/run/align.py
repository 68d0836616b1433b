"""The run of an `align` command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .._native import check_batch
from ..config import Config, EngineName
from ..core.batch import AlignmentBatch, PairBatch
from ..engines.base import Engine
from ..engines.cpu import CpuEngine, native_options
from ..engines.execute import align_batch
from ..gpu.runtime.presence import may_have_gpu
from ..io.read.reader import Files
from ..io.write.format import Formatter
from ..plan.kernels import TABLE
from ..plan.planner import Planner
from .batch_run import MOST_BESIDE_A_GPU, BatchRun

if TYPE_CHECKING:
    from .prefetch import EarlyBatches


class AlignRun(BatchRun):
    """Run of an `align` command."""

    def __init__(
        self,
        config: Config,
        files: Files,
        output: str | None,
        version: str,
        report: str | None = None,
        tell: Callable[[str], None] | None = None,
        formatter: Formatter | None = None,
    ) -> None:
        """See BatchRun."""
        self.config = config
        self._planner = self._planner_beside(len(config.devices or (0,)))
        self._check_options = native_options(config.spec, config.limits, TABLE)
        super().__init__(config, files, output, version, report, formatter or Formatter.of(config), tell)
        if self._gpus != len(config.devices or (0,)):  # the first planner assumed another number of GPUs
            self._planner = self._planner_beside(self._gpus)

    @property
    def _gpu_wanted(self) -> bool:
        config = self.config
        unasked = config.engine is EngineName.AUTO and config.devices == (0,)
        return config.engine is not EngineName.CPU and not (unasked and not may_have_gpu())

    def _begun_reading(self) -> EarlyBatches | None:
        """See BatchRun; only for regular files, which can be opened again if there is no GPU after all."""
        gpus = self.config.devices
        if not self._gpu_wanted or not gpus or not all(source.regular for source in self._sources):
            return None
        # Imported here because it is slow to import.
        from .prefetch import EarlyBatches

        letters = self._batch_of(len(gpus))
        return EarlyBatches(
            lambda lend: self._timed(self._read(letters, lend)),
            self._planner.prepare,
            MOST_BESIDE_A_GPU * len(gpus),
        )

    def _planner_beside(self, gpus: int) -> Planner:
        return Planner(self.config.spec, self.config.limits, self.config.kernel, gpus)

    def _opened(self, tell: Callable[[str], None] | None) -> tuple[Engine, int]:
        config = self.config
        cpu = CpuEngine(config.spec, config.limits, config.threads, stats=self.stats)
        if not self._gpu_wanted:
            return cpu, 0
        # Imported here because the GPU engines are slow to import.
        from ..engines.choice import with_gpu
        from ..engines.hybrid import HybridEngine

        engine = with_gpu(config, cpu, self.stats, tell, self._early.letters if self._early else None)
        return engine, engine.gpus if isinstance(engine, HybridEngine) else 0

    def _aligned(self, pairs: PairBatch) -> AlignmentBatch:
        return align_batch(self.engine, pairs, self._planner, self.stats)

    def _fault(self, pairs: PairBatch, alignments: AlignmentBatch) -> tuple[int, str] | None:
        return check_batch(pairs, alignments, self._check_options)

    @property
    def asked_for(self) -> dict[str, Any]:
        """The specification, as plain values for the report."""
        return asdict(self.config.spec)

    @property
    def left_out(self) -> dict[str, str]:
        """Statuses that result from the user's own bounds and heuristics, each with its meaning."""
        spec = self.config.spec
        asked = {"SCORE_LIMIT": "over --max-score"} if spec.max_cost is not None else {}
        return asked | ({"DROPPED": "given up by heuristics"} if spec.heuristics else {})
