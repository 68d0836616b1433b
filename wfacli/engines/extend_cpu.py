"""The CPU engine of `extend`: any substitution matrix, on threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import Extender, ExtendOptions, ExtendTask, find_unknown_symbol
from ..config import Limits
from ..core.batch import AlignmentBatch, PairBatch, PartialResult, Status, all_rows
from ..core.route import Route
from ..core.stats import Stats
from ..errors import InputError
from ..scoring.spec import ExtendSpec
from .base import Engine
from .execute import by_status
from .threads import ThreadedEngine, bases_of

KERNEL = "sw"  # kernel name of routes; the native code chooses between lanes and strips
_SHARED = 20_000  # minimum bases or residues of a route that threads share
_ROWS_OF_A_PART = 256  # minimum rows of a part if there are enough rows; pairs of similar lengths share vectors


def native_options(spec: ExtendSpec, limits: Limits, kernel: str = "", wide: bool = False) -> ExtendOptions:
    """Return the options of the native kernels; `kernel` ("lanes" or "strips") and `wide` (32 bits) are for tests."""
    scheme = spec.scheme
    return ExtendOptions(
        matrix=scheme.matrix,
        same=scheme.same,
        codes=scheme.codes,
        open=scheme.open,
        extend=scheme.extend,
        mode=spec.mode.code,
        path=not spec.score_only,
        second_best=spec.second_best,
        heuristics=(spec.band, spec.xdrop, spec.zdrop),
        memory_bytes=limits.table + limits.checkpoints,
        kernel=kernel,
        wide=wide,
    )


class ExtendEngine(ThreadedEngine[Extender]):
    """Aligns under any scoring scheme (engines.base.Engine). Pairs with symbols outside the alphabet: UNSUPPORTED."""

    def __init__(
        self,
        spec: ExtendSpec,
        limits: Limits,
        threads: int,
        isa: str = "",
        stats: Stats | None = None,
        kernel: str = "",
        wide: bool = False,
    ) -> None:
        """Create the engine; threads start on first use.

        Args:
            spec: what to compute.
            limits: bounds on memory.
            threads: number of threads.
            isa: instruction set; "": the fastest that the machine supports.
            stats: counters of the run.
            kernel: see native_options.
            wide: see native_options.

        Raises:
            ValueError: unknown instruction set or kernel.
        """
        super().__init__([Extender(isa) for _ in range(threads)], stats)
        self._options = native_options(spec, limits, kernel, wide)

    def _shared(self, pairs: PairBatch, route: Route) -> int:
        n_bases = bases_of(pairs, route) if len(route.rows) > 1 else 0
        return n_bases if n_bases >= _SHARED else 0

    def _job(self, pairs: PairBatch, route: Route, part: int) -> ExtendTask:
        rows = min(
            _ROWS_OF_A_PART, -(-len(route.rows) // (4 * self._threads)) if self._threads > 1 else len(route.rows)
        )
        return ExtendTask(pairs, route.rows, self._options, self._cancel, part, rows)

    def _alone(self, aligner: Extender, pairs: PairBatch, route: Route) -> Any:
        return aligner.align(pairs, route.rows, self._options, self._cancel)

    def _result(self, route: Route, found: Any) -> PartialResult:
        (status, cut, score, span, cigar, start), second = found
        return PartialResult(route.rows, status, cut, score, span.reshape(-1, 4), cigar, start, second)


def extend_batch(engine: Engine, pairs: PairBatch, spec: ExtendSpec, stats: Stats, path: str) -> AlignmentBatch:
    """Align every pair of a batch; a failed pair gets a status.

    Args:
        engine: aligns the batch.
        pairs: the batch.
        spec: what to compute.
        stats: counters of the run.
        path: name of the input, for error messages.

    Raises:
        InputError: a symbol for which the scheme has no scores.
        Cancelled: after the engine's cancel().
    """
    part = engine.collect(engine.submit(pairs, Route(all_rows(len(pairs)), KERNEL)))
    aligned = int(np.count_nonzero(part.status == np.uint8(Status.OK)))
    if (
        aligned < len(pairs)
        and spec.scheme.has_unscored_symbols
        and (found := find_unknown_symbol(pairs, spec.scheme.codes))
    ):
        row, symbol = found
        names = pairs.records.query_name(row), pairs.records.target_name(row)
        raise InputError(path, foreign_message(spec, chr(symbol)), " and ".join(dict.fromkeys(filter(None, names))))
    stats.add("routed", {KERNEL: len(pairs)})
    stats.add("kernels", {KERNEL: aligned})
    if aligned < len(pairs):
        stats.add("unaligned", by_status(part.status[part.status != np.uint8(Status.OK)]))
    columns = (part.status, part.cut, part.score, part.span, part.cigar, part.cigar_start)
    return AlignmentBatch(pairs.ordinal, *columns, np.zeros(len(pairs), np.uint8), (KERNEL,), second=part.second)


def foreign_message(spec: ExtendSpec, symbol: str) -> str:
    """Return the error message for a symbol without scores."""
    return (
        f"contains the symbol {symbol}, for which {spec.scheme.name} has no scores (it has {spec.scheme.alphabet}); "
        "replace it, as by X in a protein, or give a matrix with a row for it (--matrix FILE)"
    )
