"""The CPU engine of `align`: every CPU kernel, on threads."""

from __future__ import annotations

from typing import Any

from .._native import Aligner, AlignOptions, AlignTask
from ..config import AlignSpec, Limits, Mode
from ..core import tuning
from ..core.batch import PairBatch, PartialResult
from ..core.costs import UnitCosts
from ..core.route import Route
from ..core.stats import Stats
from ..plan.kernels import CAPPED, CPU, CPU_KERNELS, DIFFERENCE, LINEAR, STRIPES, TABLE
from ..plan.traits import CostTraits, free_in_query
from .threads import LONG, ThreadedEngine, bases_of

# Minimum bases of a route that threads share: fewer take less time than waking a thread. The second is for long pairs.
_SHARED, _SHARED_LONG = 500_000, 20_000


def native_options(spec: AlignSpec, limits: Limits, kernel: str) -> AlignOptions:
    """Return the options of a native kernel."""
    h, units, facts = spec.heuristics, UnitCosts.of(spec), CPU[kernel]
    return AlignOptions(
        mismatch=spec.penalties.mismatch,
        ambiguous_penalty=spec.penalties.of_ambiguous,
        gaps=spec.penalties.gaps,
        match=spec.penalties.match,
        unit_costs=(units.mismatch, units.ambiguous, units.gaps, units.skip, units.unit),
        ambiguous=spec.rule,
        extension=spec.mode is Mode.EXTENSION,
        free=spec.free.as_tuple(),
        path=not spec.score_only,
        heuristics=(h.band, h.band_step, h.xdrop, h.zdrop),
        max_cost=-1 if spec.max_cost is None else spec.max_cost,
        algorithm=facts.algorithm,
        memory=facts.memory,
        words=facts.words,
        cap=_cap(spec, kernel),
        table_bytes=limits.table,
        checkpoint_bytes=limits.checkpoints,
    )


def _cap(spec: AlignSpec, kernel: str) -> tuple[float, float]:
    """Return the cost above which a kernel gives up: constant, and factor of the longest length; (0, 0): never."""
    # In an extension a wavefront finds the end, whichever kernel finds the path.
    wavefronts = (TABLE, LINEAR, DIFFERENCE, STRIPES) if spec.mode is Mode.EXTENSION else (TABLE, LINEAR)
    if kernel in wavefronts and not spec.heuristics:
        return CostTraits.of(spec).cap_of_all
    if kernel != CAPPED:
        return 0.0, 0.0
    if not free_in_query(spec):
        return tuning.CAP
    return tuning.CAP_OF_OVERLAPS if spec.penalties.match else tuning.CAP_OF_FREE_ENDS


class CpuEngine(ThreadedEngine[Aligner]):
    """All CPU kernels, on threads (engines.base.Engine). Routes name one of kernels.CPU_KERNELS."""

    def __init__(
        self,
        spec: AlignSpec,
        limits: Limits,
        threads: int,
        isa: str = "",
        stats: Stats | None = None,
    ) -> None:
        """Create the engine; threads start on first use.

        Args:
            spec: what to compute.
            limits: bounds on memory.
            threads: number of threads.
            isa: instruction set; "": the fastest that the machine supports.
            stats: counters of the run.

        Raises:
            ValueError: unknown instruction set.
        """
        super().__init__([Aligner(isa) for _ in range(threads)], stats)
        self._options = {kernel: native_options(spec, limits, kernel) for kernel in CPU_KERNELS}

    def _shared(self, pairs: PairBatch, route: Route) -> int:
        n_bases = bases_of(pairs, route) if len(route.rows) > 1 else 0
        return n_bases if n_bases >= (_SHARED if n_bases < LONG * len(route.rows) else _SHARED_LONG) else 0

    def _job(self, pairs: PairBatch, route: Route, part: int) -> AlignTask:
        rows = self._rows_of_a_part(route)
        return AlignTask(pairs, route.rows, self._options[route.kernel], self._cancel, part, rows)

    def _rows_of_a_part(self, route: Route) -> int:
        """Return the minimum rows of a part, a multiple of the lanes: empty lanes take as long as full ones."""
        kernel, shares = CPU[route.kernel], 4 * self._threads if self._threads > 1 else 1
        return kernel.lanes * min(-(-len(route.rows) // (kernel.lanes * shares)), kernel.most_rows)

    def _alone(self, aligner: Aligner, pairs: PairBatch, route: Route) -> Any:
        return aligner.align(pairs, route.rows, self._options[route.kernel], self._cancel)

    def _result(self, route: Route, found: Any) -> PartialResult:
        status, cut, score, span, cigar, start = found
        return PartialResult(route.rows, status, cut, score, span.reshape(-1, 4), cigar, start)
