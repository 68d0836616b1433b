"""Random tests over the whole option space: python -m tests.space --seconds 3600 --jobs 2 --seed 1.

Prints each new kind of failure with its block, the smallest failing pairs and a line for a test. The exit status is 1
if there is a failure, or an empty cell in the table of cases. A block that crashes or hangs its process is a failure
too.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
from multiprocessing.connection import wait
from pathlib import Path

from wfacli.core.cores import usable_cores
from wfacli.measure.machine import commit

from . import log
from .blocks import Block, Tally, run_block
from .workers import Worker

_SHOWN = 40  # empty cells printed
_NEWS = 30.0  # seconds between progress lines


def fuzz(seed: int, seconds: float, jobs: int, first: int, cases: float) -> tuple[Tally, int, float]:
    """Run blocks until a limit of seconds or cases; return the tally, the number of blocks and the seconds."""
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
    """Return the path of a log, named like the results of benchmarks."""
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
    missing = log.empty_cells(tally) if a.block is None else []
    if a.log:
        path = own_path(a.log) if a.log.is_dir() else a.log
        log.write(path, log.report(tally, a.seed, blocks, seconds, a.jobs))
        print(f"{path}: {tally.total:,} cases")
    print(f"{tally.total:,} cases in {blocks:,} blocks and {seconds:,.0f} s, {len(tally.found)} failures")
    if missing:
        print(f"{len(missing)} empty cells", *missing[:_SHOWN], sep="\n  ")
    return 1 if tally.found or missing else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # threads of calls that timed out may still run
