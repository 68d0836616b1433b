"""`wfacli map` beside `minimap2 -a` under the same presets, on simulated reads whose true positions are known.

    python -m bench.tables.map_quality [--reference FASTA] [--length 2000000] [--seed N] [--rows PRESET ...]
        [--share S] [--threads N] [--repeats N] [--sv-every 20000] [--keep DIR] [--save]

Requires minimap2, samtools, bcftools and pysam. The reference is a FASTA file, or random with dispersed and tandem
repeats. A donor differs from it by SNVs, small indels, and deletions, insertions, duplications and inversions of 50 bp
to 10 kb, one for each --sv-every bases. By default these are six times as frequent as in a person, so that there are
enough to count. Reads of the donor have the errors of each technology. Programs read files and write sorted BAM,
alternately. --share scales the coverage. --keep leaves all files in a folder, and a list of reads with other scores in
each.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.harness import table
from bench.harness.command import COMMAND
from bench.map_quality import calls, measure
from bench.map_quality.donor import Donor, make_donor
from bench.map_quality.genome import Genome, random_genome, read_fasta
from bench.map_quality.records import Columns, Measured, pysam
from bench.map_quality.simulate import TECHNOLOGIES, Reads, simulated, write
from wfacli.errors import UsageError
from wfacli.io.mapper.presets import check_preset
from wfacli.measure.spread import Spread
from wfacli.scoring.presets import PRESETS

PROGRAMS = ("wfacli", "minimap2")
TIMED = {
    "seconds": "the whole process, from reads and reference in files to sorted BAM: `wfacli map "
    "--sort --cigar m --clip hard`, and `minimap2 -a | samtools sort`; programs alternate",
    "cpu_seconds": "user and system time of all processes of the command, minimum of the repeats",
    "rows": "counts of reads and bases from the positions and CIGARs of the records, and scores "
    "computed from these; AS is only compared with them",
}
SNV, INDEL, SV_EVERY = 1e-3, 1e-4, 20_000
NEEDED = ("minimap2", "samtools", "bcftools")
FIGURES = {
    "mapped": "reads mapped",
    "placed": "placed within 10 bp",
    "misplaced_sure": "misplaced at MAPQ 20 or more",
    "right_bases": "bases at their true place",
    "wrong_bases": "bases at another place",
    "clipped_bases": "clipped bases",
    "whole_reads": "whole reads without clips",
    "whole_deletions": "large deletions whole",
    "whole_insertions": "large insertions whole",
    "false_large_gaps": "large gaps where there is none",
    "primary": "primary records",
    "supplementary": "supplementary records",
    "secondary": "secondary records",
    "tags_that_differ": "AS other than the CIGAR's",
}
OF = {"placed": "placeable", "whole_deletions": "spanned_deletions", "whole_insertions": "spanned_insertions"}
console = Console(width=max(Console().width, 110))


@dataclass(frozen=True)
class World:
    """What all rows share.

    Attributes:
        genome: reference.
        reference: its file.
        donor: genome that is sequenced.
        folder: for files.
        options: of the command line.
    """

    genome: Genome
    reference: Path
    donor: Donor
    folder: Path
    options: argparse.Namespace


def world_of(a: argparse.Namespace, folder: Path) -> World:
    """Make the reference and the donor, which has a structural variant for each `a.sv_every` bases."""
    rng = np.random.default_rng(a.seed)
    genome = read_fasta(a.reference, rng) if a.reference else random_genome(a.length, rng)
    reference = folder / "reference.fa"
    genome.write(reference)
    subprocess.run(["samtools", "faidx", str(reference)], check=True)
    return World(genome, reference, make_donor(genome, rng, SNV, INDEL, a.sv_every), folder, a)


def commands(preset: str, world: World, reads: list[Path], out: dict[str, Path]) -> dict[str, list[str]]:
    """Return the command of each program."""
    threads, files = str(world.options.threads), [str(world.reference), *map(str, reads)]
    mapped = shlex.join(["minimap2", "-t", threads, "-ax", preset, *files])
    sorting = shlex.join(["samtools", "sort", "-@", threads, "-o", str(out["minimap2"]), "-"])
    # minimap2's default is M. bcftools realigns reads by BAQ only where their CIGAR has several operations, so = and X
    # would change its calls. minimap2 hard-clips supplementary records: BAQ takes gigabytes for a long soft clip near
    # the end of a sequence.
    own = [*COMMAND, "map", "-x", preset, *files, "--sort", "--cigar", "m", "--clip", "hard"]
    own += ["-t", threads, "--engine", "cpu", "-q"]
    return {
        "wfacli": [*own, "-o", str(out["wfacli"])],
        "minimap2": ["bash", "-c", f"set -o pipefail; {mapped} | {sorting}"],
    }


def run(program: str, command: list[str]) -> tuple[float, float]:
    """Run a command; return its seconds, and the CPU seconds of all its processes.

    Raises:
        LeftOut: it failed; the message has the last line of its standard error.
    """
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise table.LeftOut(f"{program} ended with status {done.returncode}: {said[-1] if said else 'no message'}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row_of(preset: str, world: World) -> table.Report:
    """Measure one preset."""
    try:
        check_preset(preset, shutil.which("minimap2"))
    except UsageError:
        raise table.LeftOut("this minimap2 has no such preset") from None
    how = TECHNOLOGIES[preset]
    rng = np.random.default_rng([world.options.seed, list(TECHNOLOGIES).index(preset)])
    reads = simulated(world.donor, how, how.coverage * world.options.share, rng)
    folder = world.folder / preset.replace(":", "-")
    folder.mkdir(exist_ok=True)
    files = write(reads, how.quality, folder)
    out = {program: folder / f"{program}.bam" for program in PROGRAMS}
    times: dict[str, list[tuple[float, float]]] = {program: [] for program in PROGRAMS}
    for _ in range(world.options.repeats):
        for program, command in commands(preset, world, files, out).items():
            times[program].append(run(program, command))
    row: table.Report = {"name": preset, "reads": len(reads), "bases": len(reads.bases)}
    wanted = measure.spanned(world.donor, reads, how.flank)
    records: dict[str, Columns] = {}
    for program in PROGRAMS:
        found = Measured(world.genome, reads, PRESETS[preset].penalties).read(out[program])
        records[program] = found.records
        row[program] = {
            **Spread([seconds for seconds, _ in times[program]]).report(),
            "cpu_seconds": round(min(cpu for _, cpu in times[program]), 2),
            **measure.figures(found, reads, world.donor, wanted),
        }
    for program, report in zip(PROGRAMS, calls_of(preset, world, list(out.values())), strict=True):
        row[program]["calls"] = report
    row["scores"], gains = measure.compared(records["wfacli"], records["minimap2"], len(reads), PRESETS[preset].bonus)
    if world.options.keep:
        keep_differences(reads, gains, folder / "scores.tsv")
    return row


def calls_of(preset: str, world: World, bams: list[Path]) -> list[table.Report]:
    """Return the figures of the variants that are called from BAM files, which are read at the same time."""
    with ThreadPoolExecutor(len(bams)) as pool:
        found = list(pool.map(lambda bam: calls.called(bam, world.reference, preset, world.genome), bams))
    without_indels = "ont" in calls.PILEUP[preset]
    return [calls.compared(keys, world.genome, world.donor, without_indels) for keys in found]


def keep_differences(reads: Reads, gains: np.ndarray, path: Path) -> None:
    """Write reads whose scores differ, the greatest losses of wfacli first."""
    order = gains[np.argsort(gains[:, 1], kind="stable")]
    lines = [f"{reads.name(int(read))}\t{read}\t{gain}" for read, gain in order if gain]
    path.write_text("\n".join(["name\tread\tdifference", *lines]) + "\n")


def lines_of(row: table.Report) -> Iterator[tuple[str, str, str]]:
    """Yield (figure, ours, theirs) of a row."""
    both = [row[program] for program in PROGRAMS]
    for key, name in FIGURES.items():
        total = both[0].get(OF.get(key, ""))
        yield name + (f" of {total:,}" if total is not None else ""), *(shown(one[key]) for one in both)
    for kind in both[0]["calls"]:
        for figure in ("precision", "recall", "wrong_near_sv"):
            yield f"{kind}: {figure.replace('_', ' ')}", *(shown(one["calls"][kind][figure]) for one in both)
    scores = row["scores"]
    yield "primary score higher than the other's", shown(scores["higher"]), shown(scores["lower"])
    yield "  sum of these differences", shown(scores["sum_of_gains"]), shown(scores["sum_of_losses"])
    yield "  their record shares bases with another", "", shown(scores["lower_with_shared_bases"])
    yield "  all their records together score more", "", shown(scores["lower_in_all"])
    yield "  equal; with another start", shown(scores["equal"]), shown(scores["other_start"])
    yield "mapped by this program alone", shown(scores["only_wfacli"]), shown(scores["only_minimap2"])
    yield "seconds", *(f"{one['best_seconds']:.2f}" for one in both)
    yield "CPU seconds", *(f"{one['cpu_seconds']:.2f}" for one in both)


def shown(value: Any) -> str:
    """Return a figure as the table has it."""
    if value is None:
        return "–"
    return f"{value:.4%}" if isinstance(value, float) else f"{value:,}"


def table_of(row: table.Report) -> Table:
    """Return the table of one preset."""
    made = Table(f"{row['name']}: {row['reads']:,} reads, {row['bases']:,} bases", *PROGRAMS)
    for column in made.columns[1:]:
        column.justify = "right"
    for line in lines_of(row):
        made.add_row(*line)
    return made


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "share", "threads", "save", minutes=None, repeats=1)
    parser.add_argument("--reference", type=Path, metavar="FASTA", help="in place of a random genome")
    parser.add_argument("--length", type=int, default=2_000_000, help="bases of the random genome")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sv-every", type=int, default=SV_EVERY, help="bases for each structural variant")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave reads, BAM and VCF files there")
    return parser.parse_args(arguments)


@contextlib.contextmanager
def working_folder(kept: Path | None) -> Iterator[Path]:
    """Yield the folder for files: `kept`, or a temporary one."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
    else:
        with tempfile.TemporaryDirectory(prefix="wfacli-map-quality-") as folder:
            yield Path(folder)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    lacking = [name for name in NEEDED if not shutil.which(name)] + (["pysam"] if pysam is None else [])
    if lacking:
        sys.exit(f"requires {', '.join(lacking)}")
    smaller = a.length != 2_000_000 and a.reference is None
    runner = table.Runner("map-quality", TIMED, a, console, part=smaller or a.sv_every != SV_EVERY)
    with working_folder(a.keep) as folder:
        world = world_of(a, folder)
        kinds = [one.kind for one in world.donor.variants if one.large]
        workload = {
            "reference": a.reference.name if a.reference else "random",
            "bases": len(world.genome.bases),
            "seed": a.seed,
            "threads": a.threads,
            "small_variants": len(world.donor.variants) - len(kinds),
            "structural_variants": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        }
        runner.measure(
            table.chosen(list(TECHNOLOGIES), a),
            lambda preset: row_of(preset, world),
            lambda: {"workload": workload, "left_out": runner.left_out},
        )
    for row in runner.rows:
        console.print(table_of(row))
    if runner.path:
        print(runner.path)


if __name__ == "__main__":
    main()
