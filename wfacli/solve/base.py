"""How an exact algorithm goes through one pair of any length: in steps; between them others look, save and stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Letters = npt.NDArray[np.uint8] | npt.NDArray[np.uint32]
State = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Pair:
    """Two sequences whose letters are equal where their values are: case and other rules are applied before.

    Attributes:
        query, target: u8[m] and u8[n], or u32 both where there are more than 256 letters; contiguous, any length.
        plain: whether all letters are A, C, G or T in capitals.
    """

    query: Letters
    target: Letters
    plain: bool


@dataclass(frozen=True)
class Position:
    """How far a solver is.

    Attributes:
        at_least: edits that the pair is known to have, 0 at first; never more than the distance.
        share: of the work that is behind, as far as it can be guessed, 0 to 1; None where it cannot. Of a wavefront:
            of the way, that is of both sequences; its work goes with the square of that.
        cells: of the matrix, or furthest-reaching points, that were computed, whatever the algorithm counts.
    """

    at_least: int
    share: float | None
    cells: int


class Solver(Protocol):
    """One algorithm on its way through one pair. Not for several threads at a time.

    It is made with the pair and with the most edits that matter (None: any).
    """

    @property
    def name(self) -> str:
        """Of the algorithm, as --stats and checkpoints have it."""

    def advance(self, seconds: float) -> bool:
        """Works on for about so long (the GIL released); whether it has come to an end. At least one step is taken."""

    @property
    def distance(self) -> int | None:
        """After the end: the distance; None: it is more than the most that matters."""

    @property
    def position(self) -> Position:
        """How far it is."""

    def save(self) -> State:
        """Arrays from which a new solver of the same pair can go on (no letters among them)."""

    def restore(self, state: State) -> None:
        """Goes on from there; raises ValueError where it is no state of this pair and algorithm."""

    def close(self) -> None:
        """Gives back what it has; it may be called again."""
