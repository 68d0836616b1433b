"""Whole jobs from files to files, beside what people use for them today.

    python -m bench.tables.whole_jobs [--length 2000000] [--seed N] [--rows TEXT ...] [--share S] [--threads N]
        [--repeats N] [--engine auto] [--pairs 1000000] [--sv-every 120000] [--minutes M] [--save]

Requires minimap2 and samtools. Reads are those of bench.tables.map_quality, of a donor with about as many structural
variants as a person has (--sv-every); --share scales their coverage and --pairs is the number of pairs of 150 bases.
Programs alternate. TMPDIR chooses the folder of all files.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.harness import table
from bench.harness.command import COMMAND
from bench.harness.pairs import write_many
from bench.map_quality.simulate import TECHNOLOGIES, simulated, write
from bench.tables.map_quality import World, run, world_of
from wfacli.measure.spread import Spread

TIMED = {
    "seconds": "each command from outside, files to files, into an empty folder; programs alternate",
    "cpu_seconds": "user and system time of all processes of the command, minimum of the repeats",
    "mapping": "minimap2 without base-level alignment, to PAF: the part of `wfacli map` that is minimap2's",
}
NEEDED = ("minimap2", "samtools")
MAPPED = {"map-ont": "ONT", "map-hifi": "HiFi", "sr": "Illumina pairs"}
console = Console(width=max(Console().width, 110))


@dataclass(frozen=True)
class Job:
    """One job: a row of the table.

    Attributes:
        name: name of the row.
        records: reads or pairs.
        commands: the command of each program.
    """

    name: str
    records: int
    commands: Mapping[str, list[str]]


class Jobs:
    """The jobs, whose inputs are written on first use."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._options, self._folder = options, folder
        self.written = folder / "written"  # the folder of all outputs

    @cached_property
    def _world(self) -> World:
        return world_of(self._options, self._folder)

    def __iter__(self) -> Iterator[Job]:
        for preset, name in MAPPED.items():
            yield from self._mapped(preset, name)
        yield from self._pairs()

    def _mapped(self, preset: str, name: str) -> Iterator[Job]:
        files, reads = self._reads(preset)
        threads, reference = str(self._options.threads), str(self._world.reference)
        inputs = [reference, *map(str, files)]
        minimap2 = ["minimap2", "-t", threads, "-x", preset]
        ours = [*COMMAND, "map", "-x", preset, *inputs, "-t", threads, "--engine", self._options.engine, "-q"]
        aligned, out = shlex.join([*minimap2, "-a", *inputs]), self.written
        mapping = {"mapping": ["sh", "-c", f"{shlex.join([*minimap2, *inputs])} > {out / 'mapping.paf'}"]}
        sort = f"samtools sort -@ {threads} --write-index -o {out / 'peer.bam'} -"
        sorted_by_peer = ["bash", "-c", f"set -o pipefail; {aligned} | {sort}"]
        yield Job(
            f"{name} to sorted, indexed BAM",
            reads,
            {
                "wfacli": [*ours, "--sort", "--write-index", "-o", str(out / "ours.bam")],
                "minimap2 | samtools": sorted_by_peer,
                **mapping,
            },
        )
        to_sam = ["sh", "-c", f"{aligned} > {out / 'peer.sam'}"]
        yield Job(
            f"{name} to SAM", reads, {"wfacli": [*ours, "-o", str(out / "ours.sam")], "minimap2": to_sam, **mapping}
        )
        if preset == "sr":
            given = [
                *COMMAND,
                "align",
                str(files[0]),
                reference,
                "--mappings",
                str(self._folder / "single.paf"),
                "-t",
                threads,
            ]
            single = shlex.join([*minimap2, reference, str(files[0])])
            subprocess.run(
                ["sh", "-c", f"{single} > {self._folder / 'single.paf'}"], check=True, stderr=subprocess.DEVNULL
            )
            options = ["--preset", "sr", "--engine", self._options.engine, "-q", "-o", str(out / "ours.sam")]
            yield Job("Illumina reads with mappings to SAM", reads // 2, {"wfacli": [*given, *options]})

    def _reads(self, preset: str) -> tuple[list[Path], int]:
        how, options = TECHNOLOGIES[preset], self._options
        rng = np.random.default_rng([options.seed, list(TECHNOLOGIES).index(preset)])
        reads = simulated(self._world.donor, how, how.coverage * options.share, rng)
        folder = self._folder / preset
        folder.mkdir()
        return write(reads, how.quality, folder), len(reads)

    def _pairs(self) -> Iterator[Job]:
        count, threads = self._options.pairs, self._options.threads
        query, target = self._folder / "query.fa", self._folder / "target.fa"
        write_many(query, target, count, 150, 0.02, threads)
        ours = [*COMMAND, "align", str(query), str(target), "-t", str(threads), "--engine", self._options.engine, "-q"]
        for suffix in ("paf", "sam", "bam"):
            out = str(self.written / f"pairs.{suffix}")
            yield Job(f"pairs of 150 bases to {suffix.upper()}", count, {"wfacli": [*ours, "-o", out]})


def row_of(job: Job, repeats: int, written: Path) -> table.Report:
    """Measure one job, whose outputs are in the folder `written`.

    It is emptied first: to replace a file of the last repeat is to free its memory, too.
    """
    times: dict[str, list[tuple[float, float]]] = {program: [] for program in job.commands}
    for _ in range(repeats):
        for program, command in job.commands.items():
            shutil.rmtree(written, ignore_errors=True)
            written.mkdir()
            times[program].append(run(program, command))
    report: table.Report = {"name": job.name, "records": job.records}
    for program, measured in times.items():
        spread = Spread([seconds for seconds, _ in measured]).report()
        report[program] = {**spread, "cpu_seconds": round(min(cpu for _, cpu in measured), 2)}
    return report


def version_of(program: str) -> str:
    """Return the first line that a program prints for --version."""
    said = subprocess.run([program, "--version"], capture_output=True, errors="replace", check=True).stdout
    return said.splitlines()[0].removeprefix(f"{program} ")


def table_of(rows: list[table.Report]) -> Table:
    """Return the table that a terminal shows: best seconds, and CPU seconds in brackets."""
    shown = Table("job", "wfacli, s", "beside, s", "ratio", "mapping alone, s", "records a second")
    for row in rows:
        peer = next((row[name] for name in ("minimap2 | samtools", "minimap2") if name in row), None)
        ours = row["wfacli"]
        seconds = [
            f"{one['best_seconds']:.2f} ({one['cpu_seconds']:.1f})" if one else ""
            for one in (ours, peer, row.get("mapping"))
        ]
        ratio = f"{ours['best_seconds'] / peer['best_seconds']:.2f}" if peer else ""
        shown.add_row(row["name"], *seconds[:2], ratio, seconds[2], f"{row['records'] / ours['best_seconds']:,.0f}")
    return shown


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "share", "threads", "save", minutes=None, repeats=3)
    parser.add_argument("--length", type=int, default=2_000_000, help="bases of the random genome")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--sv-every", type=int, default=120_000, help="bases for each structural variant")
    parser.add_argument("--engine", default="auto", choices=["auto", "cpu", "gpu"])
    parser.set_defaults(reference=None)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    if lacking := [name for name in NEEDED if not shutil.which(name)]:
        sys.exit(f"requires {', '.join(lacking)}")
    usual = asked([])
    runner = table.Runner("whole-jobs", TIMED, a, console, part=(a.length, a.pairs) != (usual.length, usual.pairs))
    with tempfile.TemporaryDirectory(prefix="wfacli-whole-jobs-") as folder:
        workload = {name: getattr(a, name) for name in ("seed", "threads", "engine", "share", "sv_every")}
        workload |= {"bases": a.length}
        workload["peers"] = {name: version_of(name) for name in NEEDED}
        jobs = Jobs(a, Path(folder))
        runner.measure(
            table.chosen(jobs, a),
            lambda job: row_of(job, a.repeats, jobs.written),
            lambda: {"workload": workload, "left_out": runner.left_out},
        )
    console.print(table_of(runner.rows))
    if runner.path:
        print(runner.path)


if __name__ == "__main__":
    main()
