"""Fuzz the whole command with damaged files: `python -m tests.input_fuzz --seconds N --seed S --jobs J`."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from pathlib import Path

from .drive import FOUND, fuzz


def main() -> int:
    """Run the command; return exit status 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.input_fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long (default 600)")
    parser.add_argument("--inputs", type=int, default=1 << 60, help="maximum for each job")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="of job j it is SEED + j (default: the time)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--found", type=Path, default=FOUND, help="where findings go (default tests/input_fuzz/found)")
    parser.add_argument("--kill", action="store_true", help="kill good runs at random moments instead")
    parser.add_argument("--interrupt", action="store_true", help="interrupt good runs at each place of their code")
    chosen = parser.parse_args()
    chosen.found.mkdir(exist_ok=True)
    if chosen.kill:
        from .kill import kill as work
    elif chosen.interrupt:
        from .kill import interrupt as work
    else:
        work = fuzz
    jobs = [(chosen.seed + job, chosen.seconds, chosen.inputs, chosen.found) for job in range(chosen.jobs)]
    with multiprocessing.get_context("spawn").Pool(chosen.jobs) as pool:
        results = pool.starmap(work, jobs, chunksize=1)
    total: Counter[str] = sum((counts for counts, _ in results), Counter())
    problems = [problem for _, some in results for problem in some]
    again = total.pop("found again", 0)
    print(
        f"{total.total():,} inputs, seeds {chosen.seed} to {chosen.seed + chosen.jobs - 1}:", dict(total.most_common())
    )
    print(f"{len(problems)} findings, {again} more of the same kinds", *problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
