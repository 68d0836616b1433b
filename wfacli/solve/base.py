"""Protocol of the solvers: exact algorithms that work on one pair of any length in interruptible time slices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Symbols = npt.NDArray[np.uint8] | npt.NDArray[np.uint32]
State = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Pair:
    """Two sequences of symbols that are compared by value; case and `--ambiguous` rules are already applied.

    Attributes:
        query, target: u8[m] and u8[n], or both u32 for more than 256 distinct symbols; contiguous, any length.
        plain: True if all symbols are uppercase A, C, G or T.
    """

    query: Symbols
    target: Symbols
    plain: bool


@dataclass(frozen=True)
class Position:
    """Progress of a solver.

    Attributes:
        lower_bound: proven lower bound of the distance, in edits; 0 at first.
        fraction_done: estimated fraction of the work that is done, 0 to 1; None if unknown. For a wavefront, the
            fraction of both sequences that the fronts have covered: its work grows with the square of that.
        cells: computed matrix cells or furthest-reaching points, whichever the algorithm counts.
    """

    lower_bound: int
    fraction_done: float | None
    cells: int


class Sliced(Protocol):
    """Work on one pair in time slices, between which its state can be saved; not thread-safe."""

    def advance(self, seconds: float) -> bool:
        """Work for about `seconds` with the GIL released, at least one step; return True when finished."""

    def save(self) -> State:
        """Return arrays from which a new solver of the same pair can resume; they do not contain the sequences."""

    def restore(self, state: State) -> None:
        """Resume from a saved state. Raises ValueError if it does not belong to this pair and algorithm."""

    def close(self) -> None:
        """Release all resources; idempotent."""


class Solver(Sliced, Protocol):
    """One algorithm for the distance, at work on one pair.

    Constructed from the pair and the maximum distance of interest (None: unlimited).
    """

    @property
    def name(self) -> str:
        """Name of the algorithm, as in `--stats` and checkpoints."""

    @property
    def distance(self) -> int | None:
        """The distance once finished; None if it exceeds the maximum."""

    @property
    def position(self) -> Position:
        """Current progress."""
