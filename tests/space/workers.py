"""Processes that run blocks; a process is restarted after a block that crashes or hangs."""

from __future__ import annotations

import multiprocessing
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from .blocks import Found, Tally, run_block
from .check import SECONDS

_HANGS = 30 * SECONDS  # seconds without a message
_TEXT = 4096  # bytes
_LOST = 20  # consecutive processes without a result, after which the run is aborted
_CONTEXT = multiprocessing.get_context("spawn")  # forking a process with threads is not safe


def worker(seed: int, first: int, step: int, told: Any, results: Connection) -> None:
    """Run blocks first, first + step and so on, until the process is killed."""
    known: set[tuple[str, ...]] = set()

    def watch(what: str) -> None:
        told.value = what.encode()[: _TEXT - 1]

    for index in range(first, sys.maxsize, step):
        watch(f"seed {seed} block {index}")
        results.send((index, run_block(seed, index, known, watch)))


@dataclass
class Worker:
    """A process that runs every `step`-th block, restarted after a block that crashes or hangs it.

    `lost` counts the processes that have ended since the last result.
    """

    seed: int
    step: int
    next: int
    told: Any = field(default_factory=lambda: _CONTEXT.Array("c", _TEXT))

    def __post_init__(self) -> None:
        self.lost = 0
        self.start()

    def start(self) -> None:
        """Start the process at the next block."""
        self.results, theirs = _CONTEXT.Pipe(duplex=False)
        self.process = _CONTEXT.Process(
            target=worker, args=(self.seed, self.next, self.step, self.told, theirs), daemon=True
        )
        self.process.start()
        theirs.close()
        self.news = time.monotonic()

    def take(self) -> Tally | None:
        """Return a finished block's tally, or a failure if its process ended or hangs; None without news."""
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
        """Kill the process."""
        self.process.kill()
        self.process.join()
