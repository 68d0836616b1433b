"""Random blocks of the whole option space for some time: python -m tests.space --seconds 3600 --jobs 2 --seed 1.

Prints each new kind of failure with its block, the smallest pairs that fail and a line for a test. The exit status is
1 where there is any, or a cell of the table of cases is empty. A block that ends or blocks its process fails too.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing as mp
import os
import platform
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from wfacli.cores import usable_cores
from wfacli.measure.machine import commit

from . import log
from .blocks import Block, Found, Tally, run_block
from .check import SECONDS

_HANGS = 30 * SECONDS  # without any news
_NEWS = 30.0  # seconds between lines
_TEXT = 4096  # bytes


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
    """A process with every jobs-th block, started again behind a block that ended it."""

    seed: int
    step: int
    next: int
    told: Any = field(default_factory=lambda: mp.Array("c", _TEXT))

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Start the process with the next block."""
        self.results, theirs = mp.Pipe(duplex=False)
        self.process = mp.get_context("spawn").Process(
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
                self.next, self.news = index + self.step, time.monotonic()
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
        self.start()
        return Tally(found=[found])

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def fuzz(seed: int, seconds: float, jobs: int, first: int, cases: float) -> tuple[Tally, int, float]:
    """Run blocks for so many seconds or cases; returns the tally, the number of blocks and the seconds."""
    tally, blocks, said, printed = Tally(), 0, 0.0, set()
    began = time.monotonic()
    workers = [Worker(seed, jobs, first + at) for at in range(jobs)]
    try:
        while (now := time.monotonic() - began) < seconds and tally.total < cases:
            wait([one.results for one in workers], timeout=1)
            for one in workers:
                if (new := one.take()) is None:
                    continue
                tally.add(new)
                blocks += 1
                for found in new.found:
                    if found.alike not in printed:
                        printed.add(found.alike)
                        print(found, flush=True)
            if now > said + _NEWS:
                said = now
                rate = tally.total / now
                print(
                    f"{now:,.0f} s: {blocks:,} blocks, {tally.total:,} cases ({rate:,.0f}/s), "
                    f"{len(tally.found)} failures",
                    file=sys.stderr,
                    flush=True,
                )
    finally:
        for one in workers:
            one.stop()
    return tally, blocks, time.monotonic() - began


def own_path(folder: Path) -> Path:
    """Return a name for a log as results of measurements have it."""
    place = f"{datetime.date.today()}-{platform.machine()}-{usable_cores()}core-{commit()}"
    return folder / f"{place}-fuzz-space.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.space", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="that it runs")
    parser.add_argument("--cases", type=float, default=float("inf"), help="after which it ends before")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="block to begin with")
    parser.add_argument("--block", type=int, help="only this block, in this process; shows what was drawn")
    parser.add_argument("--log", type=Path, help="JSON file with the counts, or a folder for one")
    a = parser.parse_args()
    if a.block is not None:
        drawn = Block.drawn(a.seed, a.block)
        print(drawn.spec, f"{len(drawn.pairs)} pairs of up to {drawn.size.longest} bases")
        tally, blocks, seconds = run_block(a.seed, a.block), 1, 0.0
        print(*tally.found, sep="\n")
    else:
        tally, blocks, seconds = fuzz(a.seed, a.seconds, a.jobs, a.first, a.cases)
    missing = log.empty_cells(tally)
    if a.log:
        path = own_path(a.log) if a.log.is_dir() else a.log
        log.write(path, log.report(tally, a.seed, blocks, seconds, a.jobs))
        print(f"{path}: {tally.total:,} cases")
    print(f"{tally.total:,} cases in {blocks:,} blocks and {seconds:,.0f} s, {len(tally.found)} failures")
    print(f"{len(missing)} empty cells", *missing[:40], sep="\n  ")
    if a.block is None:
        return 1 if tally.found or missing else 0
    return 1 if tally.found else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # threads of calls that took too long may still be at it
