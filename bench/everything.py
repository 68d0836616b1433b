"""The whole comparison that a machine can make, in one command: every table, beside all peers there are, and pages.

    python bench/everything.py [--peers DIR] [--data DIR] [--tables] [--only TEXT ...] [--quick] [--list] [--dry-run]

DIR of --peers has the programs and libraries that you have built, under the names that --list shows; peers from
registries are brought by the tables that have them. --tables makes only what docs/papers.md lacks. A machine without a
card makes the tables that need none, and says which are left out. What fails is named at the end, and does not stop
the rest. Results go to bench/results, and docs/benchmarks.md and docs/papers.md are made of them; those of --quick go
to out/bench-quick alone, since they are no evidence.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import papers_page
from pages.results import RESULTS
from papers.found import OURS, Missed
from peers import catalogue
from rich.console import Console
from rich.table import Table

from wfacli.cores import usable_cores
from wfacli.gpu.presence import may_have_card

HERE = Path(__file__).parent
BENCH = "wfacli bench"
QUICK_RESULTS = HERE.parent / "out" / "bench-quick"
Files = Mapping[str, list[tuple[str, Path]]]
console = Console(width=max(Console().width, 110))


@dataclass(frozen=True)
class Step:
    """One command.

    Attributes:
        script: under bench/, without its suffix; or BENCH.
        words: its own options.
        card: whether it is nothing without a card.
        data: whether it takes --data.
        quick: what makes it short.
    """

    script: str
    words: tuple[str, ...] = ()
    card: bool = False
    data: bool = False
    quick: tuple[str, ...] = ()


ALL = (
    Step(BENCH, quick=("--quick",)),
    Step("cpu_table", data=True, quick=("--quick", "--repeats", "1", "--longest", "10")),
    Step("extend_table", ("--save",), quick=("--repeats", "1")),
    Step("local_table", data=True, quick=("--repeats", "1")),
    Step("distance_table", data=True, quick=("--repeats", "1", "--longest", "10")),
    Step("api_rate", quick=("--pairs", "10000")),
    Step("whole_command", quick=("--pairs", "100000", "--repeats", "3")),
    Step("peak_memory", quick=("--pairs", "30000")),
    Step("data_path", quick=("--megabytes", "30", "--repeats", "2")),
    Step("gpu_table", ("--minutes", "30"), card=True, data=True, quick=("--quick",)),
    Step("kernel_table", card=True, quick=("--share", "0.1")),
    Step("band_table", card=True, data=True, quick=("--repeats", "2")),
    Step("sw_table", ("--save", "--builds"), card=True, data=True, quick=("--cells", "1e10")),
    Step("distance_scale", card=True, quick=("--minutes", "1")),
    Step("local_card", ("--strips",), card=True, data=True, quick=("--repeats", "1")),
)  # fmt: skip


def lacking(missed: Iterable[Missed], files: Files) -> list[Step]:
    """Steps that make what the papers' tables lack: rows of ours, and of peers that there are."""
    there = {option.removeprefix("--") for option in files}
    rows: dict[str, dict[str, None]] = {}
    tasks: dict[str, None] = {}
    for one in missed:
        if one.aligner == OURS or one.aligner in there:
            rows.setdefault(one.kind, {})[one.row] = None
            if one.task:
                tasks[one.task] = None
    found = []
    if asked := rows.get("gpu-table"):
        words = ("--rows", *asked, "--tasks", *tasks, "--minutes", "20")
        found.append(Step("gpu_table", words, card=True, data=True))
    for kind in ("kernel-table", "band-table", "distance-table", "local-card"):
        if asked := rows.get(kind):
            named = [name for name in asked if name]
            words = (*(("--rows", *named) if named else ()), *(("--strips",) if "" in asked else ()))
            found.append(Step(kind.replace("-", "_"), words, True, kind != "kernel-table"))
    if asked := rows.get("sw-table"):
        lengths = [name for name in asked if name.isdigit()]
        words = ("--save", "--builds", "--lengths", *lengths, *(() if len(lengths) < len(asked) else ("--no-seeds",)))
        found.append(Step("sw_table", words, card=True, data=True))
    if "distance-scale" in rows:
        found.append(Step("distance_scale", card=True))
    return found


def command_of(step: Step, data: Path | None, files: Files, quick: bool) -> list[str]:
    """The words that run it; BENCH's result goes to a file that is named later."""
    words = [*step.words, *(step.quick if quick else ())]
    if step.script == BENCH:
        return [sys.executable, "-m", "wfacli", "bench", *words]
    given = ["--data", str(data)] if step.data and data else []
    return [sys.executable, str(HERE / f"{step.script}.py"), *words, *given, *catalogue.options(step.script, files)]


def run(step: Step, words: list[str], results: Path) -> int:
    """Runs it; its exit status."""
    if step.script != BENCH:
        return subprocess.run(words, check=False, env=os.environ | {"WFACLI_RESULTS": str(results)}).returncode
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "bench.json"
        status = subprocess.run([*words, "--json", str(made)], check=False).returncode
        if status == 0:
            report = json.loads(made.read_text())
            place = f"{report['versions']['machine']}-{usable_cores()}core-{report['commit']}"
            results.mkdir(parents=True, exist_ok=True)
            (results / f"{report['date']}-{place}-bench.json").write_text(made.read_text())
    return status


def peers_table(files: Files) -> Table:
    """All peers, and which are there."""
    table = Table("peer", "tables", "what is checked", "where")
    for line in catalogue.listed(files):
        table.add_row(*line)
    return table


def pages() -> int:
    """Makes docs/benchmarks.md, docs/papers.md and README's table; the worst exit status."""
    scripts = ("page.py", "papers_page.py", "readme.py")
    made = [subprocess.run([sys.executable, str(HERE / name)], check=False) for name in scripts]
    return max(done.returncode for done in made)


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers, data = (os.environ.get(name) for name in ("WFACLI_PEERS", "WFACLI_TEST_DATA"))
    parser.add_argument("--peers", type=Path, default=Path(peers) if peers else None, metavar="DIR")
    parser.add_argument("--data", type=Path, default=Path(data) if data else None, help="folder of real sets")
    parser.add_argument("--tables", action="store_true", help="only what the papers' tables lack")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="only steps whose names contain one of these")
    parser.add_argument("--quick", action="store_true", help="few pairs or repeats: to see that all of it runs")
    parser.add_argument("--list", action="store_true", help="the peers, and which are there; nothing is run")
    parser.add_argument("--dry-run", action="store_true", help="the commands; nothing is run")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    a = asked(arguments)
    if a.peers and not a.peers.is_dir():
        sys.exit(f"--peers {a.peers}: no such folder")
    files = catalogue.files_in(a.peers)
    if a.list:
        console.print(peers_table(files))
        return
    steps = lacking(papers_page.missing(), files) if a.tables else list(ALL)
    steps = [step for step in steps if not a.only or any(text in step.script for text in a.only)]
    card, failed, left_out = may_have_card(), [], []
    for step in steps:
        words = command_of(step, a.data, files, a.quick)
        if step.card and not card:
            left_out.append(step.script)
        if a.dry_run:
            console.print(shlex.join(words), markup=False, highlight=False, soft_wrap=True)
        elif step.card and not card:
            continue
        else:
            console.rule(step.script)
            if run(step, words, QUICK_RESULTS if a.quick else RESULTS) != 0:
                failed.append(step.script)
    if left_out:
        console.print(f"No card here (wfacli doctor says more): left out {', '.join(left_out)}")
    if not steps:
        console.print("Nothing is lacking that could be measured with these peers.")
    if not (a.dry_run or a.quick) and pages() != 0:
        failed.append("pages")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
