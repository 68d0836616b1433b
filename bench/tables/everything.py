"""All tables that this machine can make, in one command, beside all peers that are present, and the pages.

    python -m bench.tables.everything [--peers DIR] [--data DIR] [--minutes M] [--tables] [--only TEXT ...] [--quick]
        [--list] [--dry-run]

The folder --peers has programs and libraries that you have built, under the names that --list shows; tables download
peers that are packages. With --minutes all tables share this time, with fewer pairs or repeats if they need more, and
save what they have. --tables measures only what docs/papers.md lacks. A machine without a GPU makes the tables that
require none. A failure does not stop the rest; a table at the end shows how each step went. Results go to
bench/results, each row as it is measured; docs/benchmarks.md, docs/papers.md and the generated blocks of docs/speed.md
and README.md are made from them, also after Ctrl-C. Results of --quick go to out/bench-quick and to no page.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.harness import saving, table, turns
from bench.harness.steps import ALL, BENCH, Files, Step, lacking
from bench.harness.turns import Clock, Turn
from bench.pages import papers_page
from bench.pages.results import RESULTS
from bench.peers import catalogue, gpu_work
from wfacli.core.cores import usable_cores
from wfacli.gpu.runtime.presence import may_have_gpu
from wfacli.measure.session import NO_TIME

QUICK_RESULTS = Path(__file__).parents[2] / "out" / "bench-quick"
PAGES = ("page", "papers_page", "speed")
OPENED = "from wfacli.gpu.runtime.opening import open_driver; open_driver().close()"
console = Console(width=max(Console().width, 110))


def no_gpu() -> str:
    """Return why no GPU can be used here, "" if one can."""
    if not may_have_gpu():
        return "no GPU: there is no NVIDIA driver, or no kernels for it (wfacli doctor says more)"
    done = subprocess.run([sys.executable, "-c", OPENED], capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else f"no GPU: {said[-1] if said else f'exit status {done.returncode}'}"


def run(step: Step, words: Sequence[str], results: Path, most: float | None) -> str:
    """Run a step for at most `most` seconds; return turns.DONE, or why it failed."""
    environment = os.environ | {"WFACLI_RESULTS": str(results)}
    if step.script != BENCH:
        return turns.run(words, most, environment)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "bench.json"
        why = turns.run([*words, "--stats", str(made)], most, environment)
        if why == turns.DONE:
            keep(json.loads(made.read_text()), results)
    return why


def keep(report: dict[str, Any], results: Path) -> Path:
    """Save the report of `wfacli bench`, as a part if it is quick or was cut short; return its path."""
    whole = not report["options"]["quick"] and NO_TIME not in report["left_out"].values()
    name = "bench" if whole else "bench-part"
    place = f"{report['versions']['machine']}-{usable_cores()}core-{report['commit']}"
    results.mkdir(parents=True, exist_ok=True)
    path = results / f"{report['date']}-{place}-{name}.json"
    path.write_text(saving.text_of(report | {"name": name}))
    return path


def peers_table(files: Files) -> Table:
    """Return a table of all peers and where they are."""
    table = Table("peer", "tables", "what is checked", "where")
    for line in catalogue.listed(files):
        table.add_row(*line)
    return table


def pages() -> list[Turn]:
    """Make docs/benchmarks.md, docs/papers.md, and the generated blocks of docs/speed.md and README.md."""
    made = []
    for name in PAGES:
        begun = time.monotonic()
        why = turns.run([sys.executable, "-m", f"bench.pages.{name}"], None, os.environ)
        made.append(Turn(name, time.monotonic() - begun, why))
    return made


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "data", minutes=None)
    peers = os.environ.get("WFACLI_PEERS")
    parser.add_argument("--peers", type=Path, default=Path(peers) if peers else None, metavar="DIR")
    parser.add_argument("--tables", action="store_true", help="only what the papers' tables lack")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="only steps whose names contain one of these")
    parser.add_argument("--quick", action="store_true", help="few pairs or repeats: to see that all of it runs")
    parser.add_argument("--no-pages", dest="pages", action="store_false", help="results alone")
    parser.add_argument("--list", action="store_true", help="the peers, and which are there; nothing is run")
    parser.add_argument("--dry-run", action="store_true", help="the commands; nothing is run")
    return parser.parse_args(arguments)


def all_turns(steps: Sequence[Step], a: argparse.Namespace, files: Files, made: list[Turn], kept: str) -> None:
    """Run all steps, or print their commands.

    Args:
        steps: what to run.
        a: options.
        files: of peers.
        made: receives how each step went.
        kept: folder for files that several steps need.
    """
    without = no_gpu() if any(step.needs_gpu for step in steps) else ""
    here = [step for step in steps if a.dry_run or not (step.needs_gpu and without)]
    made += [Turn(step.script, 0, without, ran=False) for step in steps if step.needs_gpu and without]
    there = catalogue.without_gpu(files) if without and not a.dry_run else files
    clock = Clock(a.minutes, here)
    for step in here:
        part = clock.part_of_next()
        more = [*(step.quick if a.quick else step.less if clock.short else ()), *turns.words_of_pace(step, part)]
        more += ["--cache", kept] if step.script == "gpu_table" else []
        words = step.command(a.data, there, more)
        if a.dry_run:
            console.print(shlex.join(words), markup=False, highlight=False, soft_wrap=True)
            continue
        console.rule(step.script)
        begun = time.monotonic()
        why = run(step, words, QUICK_RESULTS if a.quick else RESULTS, part and part[1])
        made.append(Turn(step.script, time.monotonic() - begun, why))


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    if a.peers and not a.peers.is_dir():
        sys.exit(f"--peers {a.peers}: no such folder")
    files = catalogue.files_in(a.peers)
    if a.list:
        console.print(peers_table(files))
        return
    steps = lacking(papers_page.missing(), files) if a.tables else list(ALL)
    steps = [step for step in steps if not a.only or any(text in step.script for text in a.only)]
    if not steps:
        console.print("Nothing is lacking that could be measured with these peers." if a.tables else "No such table.")
    made: list[Turn] = []
    try:
        with tempfile.TemporaryDirectory(prefix="wfacli-bench-", dir=gpu_work.folder_in_memory()) as kept:
            all_turns(steps, a, files, made, kept)
    finally:
        if a.pages and not (a.dry_run or a.quick):
            made += pages()
        console.print(turns.table_of(made))
    if failed := [turn.name for turn in made if turn.failed]:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
