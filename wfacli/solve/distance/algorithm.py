"""Description of a distance algorithm, and the resources that its solver may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...config import EngineName
from ..base import Pair, Solver, State

if TYPE_CHECKING:
    from ..gpu.on_demand import GpuOnDemand


@dataclass(frozen=True)
class Resources:
    """Resources and hints for solvers.

    Attributes:
        threads: CPU threads.
        gpu: GPU that may be used, opened on demand; None: none.
        expected_edits: expected edits of the pair; None if unknown.
    """

    threads: int
    gpu: GpuOnDemand | None = None
    expected_edits: int | None = None


class Make(Protocol):
    """Factory of a solver; it releases everything if it raises."""

    def __call__(self, pair: Pair, max_distance: int | None, resources: Resources) -> Solver:
        """Return a solver that stops once the distance is proven to exceed `max_distance` edits (None: no maximum)."""


class StateConversion(Protocol):
    """Conversion of a solver's state into one of the CPU algorithm of the same kind."""

    def __call__(self, pair: Pair, max_distance: int | None, state: State) -> State | None:
        """Return the CPU state for the same pair and maximum; None if the state cannot be converted."""


def _unsupported(pair: Pair, max_distance: int | None, state: State) -> State | None:
    return None


@dataclass(frozen=True)
class Algorithm:
    """One entry of the table of algorithms.

    Attributes:
        name: engine and kind, as in checkpoints and `--stats`.
        kind: "wavefront" (few edits) or "bits" (any).
        engine: engine on which it runs.
        make: factory of its solver.
        seconds: model of its time for a pair, its edits and the means, in seconds; infinite if it does not support
            the pair.
        slice: preferred length of a time slice, in seconds; between slices the run reports progress, saves and stops.
        to_cpu_state: converts its state into one of the CPU algorithm of the same kind.
    """

    name: str
    kind: str
    engine: EngineName
    make: Make
    seconds: Callable[[Pair, float, Resources], float]
    slice: float = 0.25
    to_cpu_state: StateConversion = _unsupported
