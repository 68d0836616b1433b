"""Planning beside reading the same files, and how soon a shard reads at its offset.

    python -m bench.tables.shard_start [--rows TEXT ...] [--pairs 10000000] [--shards 64] [--threads N] [--repeats N]
        [--folder DIR] [--note TEXT] [--minutes M] [--save]

Files are FASTA of pairs of 150 bases, as they are and by bgzip, and are read once before. Planning is the whole
command `wfacli plan`; reading is a process that takes all records with wfacli's own reader, by one thread and by
as many as the plan has. They alternate. A shard's section is opened at the first,
each eighth and the last cut: the time until its first byte is there. The same shards are executed as whole
commands; all have the same number of pairs, so that what the last takes longer than the first is the way to its
offset.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pysam
from rich.console import Console

from bench.harness import table
from bench.harness.command import COMMAND, measured_command
from bench.harness.pairs import simulated
from wfacli import __version__
from wfacli.io.read.section import Section
from wfacli.measure.spread import Spread
from wfacli.shards.plan import Plan
from wfacli.shards.plan_file import read_plan

PAIRS = 10_000_000  # of the whole result
TIMED = {
    "plan": "wfacli plan from outside, its start and end included",
    "reading": "a process that takes all records with wfacli's reader, its start and end included",
    "first_byte_ms": "from opening a shard's section until its first byte is there, the best of the repeats",
    "shards": "wfacli align --plan, from outside; shards of equal work",
}
_READ = """
import sys
from wfacli.io.read.reader import read_batches
from wfacli.io.read.sources import Source
for _ in read_batches(tuple(map(Source, sys.argv[2:])), "two", 4_000_000, False, threads=int(sys.argv[1])):
    pass
"""
_LAST = "last_shard_minus_first_ms"
_ONE, _ALL = "reading by one thread", "reading"
console = Console()


@dataclass(frozen=True)
class Row:
    """A row.

    Attributes:
        name: its name.
        files: names of the files.
    """

    name: str
    files: tuple[str, str]


ROWS = (
    Row("FASTA", ("pairs.query.fa", "pairs.target.fa")),
    Row("FASTA by bgzip", ("pairs.query.fa.gz", "pairs.target.fa.gz")),
)


def alternating(commands: dict[str, list[str]], folder: Path, repeats: int) -> dict[str, dict[str, list[float]]]:
    """Return seconds and cpu_seconds of the commands, one after another."""
    found: dict[str, dict[str, list[float]]] = {name: {"seconds": [], "cpu_seconds": []} for name in commands}
    for _ in range(repeats):
        for name, words in commands.items():
            for what, value in measured_command(words, folder).items():
                if what in found[name]:
                    found[name][what].append(value)
    return found


def ratio(found: dict[str, dict[str, list[float]]], what: str, one: str, other: str) -> float:
    """Return the best of one command by that of another."""
    return round(min(found[one][what]) / min(found[other][what]), 3)


def first_byte(plan: Plan, shard: int, path: Path) -> float:
    """Return the milliseconds until the first byte of a shard's section is there."""
    buffer = np.empty(1 << 16, np.uint8)
    began = time.perf_counter()
    section = Section(str(path), *plan.section(shard, path.name))
    got = section.readinto(buffer)
    took = time.perf_counter() - began
    section.close()
    assert got
    return took * 1000


def row_of(row: Row, folder: Path, a: argparse.Namespace) -> table.Report:
    """Measure a row."""
    threads = str(a.threads)
    planning = [*COMMAND, "plan", *row.files, "--format", "paf", "--shards", str(a.shards), "-t", threads]
    reading = {n: [sys.executable, "-c", _READ, n, *row.files] for n in ("1", threads)}
    measured_command(reading[threads], folder)
    commands = {_ONE: reading["1"], _ALL: reading[threads], "plan": [*planning, "-o", "run.plan", "-q"]}
    beside = alternating(commands, folder, a.repeats)
    plan = read_plan(str(folder / "run.plan"), __version__).plan
    chosen = sorted({max(1, a.shards * eighth // 8) for eighth in range(9)})
    bytes_of = {shard: [first_byte(plan, shard, folder / row.files[0]) for _ in range(a.repeats)] for shard in chosen}

    words = [*COMMAND, "align", "--plan", "run.plan", "-q", "-t", threads, "--shard"]
    numbers = (1, a.shards // 2, a.shards)
    ends = alternating({str(shard): [*words, f"{shard}/{a.shards}"] for shard in numbers}, folder, a.repeats)
    best = {shard: min(found["seconds"]) for shard, found in ends.items()}
    return {
        "name": row.name,
        "bytes": sum((folder / name).stat().st_size for name in row.files),
        "plan_by_reading_by_one_thread": ratio(beside, "seconds", "plan", _ONE),
        "plan_by_reading": ratio(beside, "seconds", "plan", _ALL),
        "plan_by_reading_cpu": ratio(beside, "cpu_seconds", "plan", _ALL),
        "first_byte_ms": {str(shard): round(min(found), 3) for shard, found in bytes_of.items()},
        _LAST: round(1000 * (best[str(a.shards)] - best["1"]), 1),
        "runs": {name: Spread(found["seconds"]).report() for name, found in beside.items()}
        | {f"shard {shard}": Spread(found["seconds"]).report() for shard, found in ends.items()},
    }


def write_inputs(folder: Path, pairs: int) -> None:
    """Write the files of all rows."""
    for path in simulated(folder, pairs, 150, 0.02):
        pysam.tabix_compress(str(path), f"{path}.gz")


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "threads", "repeats", "minutes", "save")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--folder", type=Path, help="where a folder for all files is made")
    parser.add_argument("--note", default="", help="what else the machine did")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    runner = table.Runner("shard-start", TIMED, a, console, part=a.pairs < PAIRS)
    workload = {"pairs": a.pairs, "length": 150, "error": 0.02, "shards": a.shards, "threads": a.threads}

    def shown(row: Row, found: table.Report) -> str:
        latest = max(found["first_byte_ms"].values())
        one, all_, last = (found[key] for key in ("plan_by_reading_by_one_thread", "plan_by_reading", _LAST))
        cpu = found["plan_by_reading_cpu"]
        return (
            f"{row.name}: planning takes {one:.2f} times reading by one thread, {all_:.2f} times by {a.threads} "
            f"({cpu:.2f} in processor time); "
            f"first byte after at most {latest:.1f} ms; the last shard takes {last:.0f} ms more than the first"
        )

    with tempfile.TemporaryDirectory(prefix="wfacli-start-", dir=a.folder) as name:
        write_inputs(Path(name), a.pairs)
        result = {**({"note": a.note} if a.note else {}), "workload": workload}
        runner.measure(table.chosen(ROWS, a), lambda row: row_of(row, Path(name), a), lambda: result, shown)
    if runner.path:
        print(runner.path)


if __name__ == "__main__":
    main()
