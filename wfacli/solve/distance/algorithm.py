"""What there is to choose from: algorithms, and what they are made with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...config import EngineName
from ..base import Pair, Solver, State

if TYPE_CHECKING:
    from ..gpu.on_demand import GpuOnDemand


@dataclass(frozen=True)
class Means:
    """What solvers may use.

    Attributes:
        threads: of the CPU.
        gpu: a GPU, if one may be used.
        likely: edits that the pair seems to have; None where there is no telling.
    """

    threads: int
    gpu: GpuOnDemand | None = None
    likely: int | None = None


class Make(Protocol):
    """Makes a solver; an error leaves nothing behind."""

    def __call__(self, pair: Pair, most: int | None, means: Means) -> Solver:
        """For a pair of which more than `most` edits do not matter."""


class HandOver(Protocol):
    """Makes of a state the CPU's of the same kind; None: it cannot, or the state is of no use."""

    def __call__(self, pair: Pair, most: int | None, state: State) -> State | None:
        """For the same pair, and the same edits that matter."""


def _cannot(pair: Pair, most: int | None, state: State) -> State | None:
    return None


@dataclass(frozen=True)
class Algorithm:
    """A solver to be had.

    Attributes:
        name: the engine's and the kind's, as checkpoints and --stats have it.
        kind: "wavefront" (few edits) or "bits" (any).
        engine: where it runs.
        make: makes it.
        seconds: what it will take for a pair with so many edits, by its model; infinite where it does not take the
            pair.
        slice: seconds that it had best work before others may look, save and stop.
        on_cpu: makes of its state one from which the CPU's algorithm of the same kind goes on.
    """

    name: str
    kind: str
    engine: EngineName
    make: Make
    seconds: Callable[[Pair, float, Means], float]
    slice: float = 0.25
    on_cpu: HandOver = _cannot
