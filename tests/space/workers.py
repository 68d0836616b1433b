"""Processes that run blocks, each started again behind a block that ended or blocked it."""

from __future__ import annotations

import multiprocessing
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from .blocks import Found, Tally, run_block
from .check import SECONDS

_HANGS = 30 * SECONDS  # without any news
_TEXT = 4096  # bytes
_LOST = 20  # processes without an answer, after which there is no use in more
_CONTEXT = multiprocessing.get_context("spawn")  # copies of a process with threads are not safe


def worker(seed: int, first: int, step: int, told: Any, results: Connection) -> None:
    """Run blocks first, first + step, … until the process is ended."""
    known: set[tuple[str, ...]] = set()

    def watch(what: str) -> None:
        told.value = what.encode()[: _TEXT - 1]

    for index in range(first, sys.maxsize, step):
        watch(f"seed {seed} block {index}")
        results.send((index, run_block(seed, index, known, watch)))


@dataclass
class Worker:
    """A process with every `step`-th block, started again behind a block that ended it.

    `lost` is how many processes have ended since the last answer.
    """

    seed: int
    step: int
    next: int
    told: Any = field(default_factory=lambda: _CONTEXT.Array("c", _TEXT))

    def __post_init__(self) -> None:
        self.lost = 0
        self.start()

    def start(self) -> None:
        """Start the process with the next block."""
        self.results, theirs = _CONTEXT.Pipe(duplex=False)
        self.process = _CONTEXT.Process(
            target=worker, args=(self.seed, self.next, self.step, self.told, theirs), daemon=True
        )
        self.process.start()
        theirs.close()
        self.news = time.monotonic()

    def take(self) -> Tally | None:
        """Return what a block has given, or what became of its process; None where there is nothing new."""
        try:
            if self.results.poll():
                index, tally = self.results.recv()
                self.next, self.news, self.lost = index + self.step, time.monotonic(), 0
                return tally
        except EOFError:
            return self._lost("crash")
        return self._lost("hang") if time.monotonic() > self.news + _HANGS else None

    def _lost(self, kind: str) -> Tally:
        self.process.kill()
        self.process.join()
        what = self.told.value.decode(errors="replace")
        found = Found((kind,), kind, what, f"exit status {self.process.exitcode}", 0, 0, what)
        self.next += self.step
        self.lost += 1
        if self.lost == _LOST:
            raise RuntimeError(f"{_LOST} processes have ended one after another: {found}")
        self.start()
        return Tally(found=[found])

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
