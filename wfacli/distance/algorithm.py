"""What there is to choose from: algorithms, what they are made with, and what their models go by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..config import EngineName
from .solver import Pair, Solver

if TYPE_CHECKING:
    from .card import CardOnDemand


@dataclass(frozen=True)
class Shape:
    """What a forecast needs to know of a pair: symbols of its sides, and the edits that it may have.

    `plain`: letters A C G T alone. `wide`: symbols of four bytes.
    """

    longer: int
    shorter: int
    edits: float
    plain: bool = True
    wide: bool = False

    @classmethod
    def of(cls, pair: Pair, edits: float) -> Shape:
        """A pair's, if it has so many edits."""
        m, n = len(pair.query), len(pair.target)
        most = min(max(edits, abs(m - n), 1), max(m, n, 1))
        return cls(max(m, n), min(m, n), most, pair.plain, pair.query.itemsize > 1)

    @property
    def lengths(self) -> tuple[int, int]:
        """Of both sides."""
        return self.shorter, self.longer


@dataclass(frozen=True)
class Means:
    """What solvers may use.

    Attributes:
        threads: of the CPU.
        card: a card, if one may be used.
        likely: edits that the pair seems to have; None where there is no telling.
    """

    threads: int
    card: CardOnDemand | None = None
    likely: int | None = None


class Make(Protocol):
    """Makes a solver; an error leaves nothing behind."""

    def __call__(self, pair: Pair, most: int | None, means: Means) -> Solver:
        """For a pair of which more than `most` edits do not matter."""


@dataclass(frozen=True)
class Algorithm:
    """A solver to be had.

    Attributes:
        name: the engine's and the kind's, as checkpoints and --stats have it.
        kind: "wavefront" (few edits) or "bits" (any).
        engine: where it runs.
        make: makes it.
        seconds: what it takes with so many threads, by its model.
        any_symbols: whether it takes symbols of four bytes.
        slice: seconds that it had best work before others may look, save and stop.
    """

    name: str
    kind: str
    engine: EngineName
    make: Make
    seconds: Callable[[Shape, Means], float]
    any_symbols: bool
    slice: float = 0.25

    def takes(self, pair: Pair) -> bool:
        """Whether it has symbols wide enough."""
        return self.any_symbols or pair.query.itemsize == 1
