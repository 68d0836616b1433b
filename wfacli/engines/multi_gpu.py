"""Several cards as one engine: each route goes to the one that has the least to do."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core.batch import U8, PairBatch, PartialResult, Status
from ..core.route import Route
from ..errors import DeviceError
from .gpu import GpuEngine
from .long import LongPairs
from .parts import overlaid


@dataclass
class _Card:
    engine: GpuEngine
    index: int  # as the driver counts cards
    waiting: float = 0.0  # letters that it has not given back yet
    routes: int = 0
    pairs: int = 0
    told: bool = False

    @property
    def trouble(self) -> str:
        """Why it gets no more routes; "" as long as it does."""
        if self.engine.failure is not None:
            return f"failed, the others go on: {self.engine.failure}"
        return "has no memory left, the others go on: another program has it" if self.engine.starved else ""


@dataclass(frozen=True)
class _Ticket:
    card: _Card
    inner: Any
    pairs: PairBatch
    route: Route
    letters: float


@dataclass
class SeveralGpus:
    """One GpuEngine a card; see engines.base.Engine.

    A card that fails, or whose memory somebody else has, gets no more routes, and what it had goes to the others; only
    where none is left is it the CPU's. What a batch gets does not depend on which card had it.

    Attributes:
        engines: with the index of each one's card; the first one's memory for letters serves all, and they are closed
            with this one.
        tell: told of a card that fails, in a line; from any thread.
    """

    engines: Sequence[tuple[int, GpuEngine]]
    tell: Callable[[str], None] | None = None
    name: str = field(default="gpu", init=False)

    def __post_init__(self) -> None:
        self._cards = [_Card(engine, index) for index, engine in self.engines]
        for card in self._cards[1:]:
            card.engine.share_letters(self._cards[0].engine)
        self._lock = threading.Lock()

    def letters_memory(self, nbytes: int) -> U8 | None:
        """Page-locked memory, whichever card takes the letters."""
        return self._cards[0].engine.letters_memory(nbytes)

    def submit(self, pairs: PairBatch, route: Route) -> _Ticket:
        """Starts a route on a card. Raises Cancelled after cancel()."""
        letters = len(pairs.bases) * len(route.rows) / max(len(pairs), 1)
        with self._lock:
            card = min(self._working() or self._cards, key=lambda one: one.waiting)
            card.waiting += letters
            card.routes += 1
            card.pairs += len(route.rows)
        try:
            return _Ticket(card, card.engine.submit(pairs, route), pairs, route, letters)
        except BaseException:
            self._given_back(card, letters)
            raise

    def collect(self, ticket: _Ticket) -> PartialResult:
        """Waits for a route's results. Raises Cancelled."""
        card = ticket.card
        try:
            found = card.engine.collect(ticket.inner)
        finally:
            self._given_back(card, ticket.letters)
        if not card.trouble:
            return found
        self._tell_of(card)
        why = Status.UNSUPPORTED if card.engine.failure else Status.MEMORY_LIMIT
        lost = found.rows[found.status == np.uint8(why)]
        if not len(lost) or not self._working():
            return found
        which = np.isin(ticket.route.rows, lost)
        bands = ticket.route.bands
        again = replace(ticket.route, rows=ticket.route.rows[which], bands=None if bands is None else bands[which])
        return overlaid(found, self.collect(self.submit(ticket.pairs, again)))

    def stats(self) -> dict[str, Any]:
        """Of the cards together, as of one; under "cards" those of each."""
        each = [card.engine.stats() for card in self._cards]
        names = Counter(str(one["card"]) for one in each)
        failures = [one["failure"] for one in each]
        return {
            "engine": self.name,
            "card": ", ".join(name if n == 1 else f"{n} × {name}" for name, n in names.items()),
            "architecture": ", ".join(dict.fromkeys(str(one["architecture"]) for one in each)),
            "driver": each[0]["driver"],
            "memory_bytes": sum(one["memory_bytes"] for one in each),
            "failure": failures[0] if all(failures) else None,
            "cards": [
                {"index": card.index, **one, "routes": card.routes, "pairs": card.pairs}
                for card, one in zip(self._cards, each, strict=True)
            ],
        }

    def long_pairs(self) -> LongPairs:
        """One card for pairs that are too long for batch kernels."""
        return self._cards[0].engine.long_pairs()

    def cancel(self) -> None:
        """Jobs that have not begun are not begun, on any card."""
        for card in self._cards:
            card.engine.cancel()

    def close(self) -> None:
        """Waits for all cards and gives them back; the first one, whose memory the others' copies use, last."""
        problems: list[BaseException] = []
        for card in reversed(self._cards):
            try:
                card.engine.close()
            except DeviceError as problem:
                problems.append(problem)
        if problems:
            raise problems[0]

    def _working(self) -> list[_Card]:
        return [card for card in self._cards if not card.trouble]

    def _given_back(self, card: _Card, letters: float) -> None:
        with self._lock:
            card.waiting -= letters

    def _tell_of(self, card: _Card) -> None:
        with self._lock:
            told, card.told = card.told, True
        if self.tell and not told and self._working():
            name = card.engine.stats()["card"]
            self.tell(f"warning: GPU {card.index} ({name}) {card.trouble}")
