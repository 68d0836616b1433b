"""Cases of the input fuzzer: files to damage, and commands that read them."""

from __future__ import annotations

import functools
import os
import random
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cli.support import bgzf, fasta, fastq, random_pairs, random_symbols, seq, start, table
from tests.cli.test_interruption import wait_until
from tests.mapped.world import random_world

from .mutate import Change, inside_bgzf, mutated, resealed


def _any(rng: random.Random, data: bytes) -> bytes:
    return mutated(rng, data, True)


def _plain(rng: random.Random, data: bytes) -> bytes:
    return mutated(rng, data, False)


@dataclass(frozen=True)
class Case:
    """Commands that read the same files.

    Attributes:
        name: name of the case.
        files: contents by name.
        damaged: files that are changed, one at a time.
        commands: arguments; an output file is named out.SUFFIX.
        change: function that damages a file.
        weight: relative frequency.
        helpers: files that a run may leave beside its output.
        long: a run on intact files exceeds the time limit, so that a timeout is no finding.
    """

    name: str
    files: Mapping[str, bytes]
    damaged: Sequence[str]
    commands: Sequence[str]
    change: Change = _any
    weight: float = 1
    helpers: Sequence[str] = ()
    long: bool = False


PAIRS = random_pairs(40, 50)
QUERIES, TARGETS = (list(side) for side in zip(*PAIRS, strict=True))
FORMS = ("-o out.sam", "-o out.paf", "-o out.tsv", "-o out.sam -t 3", "-o out.tsv --score-only", "--format paf", "")
MATRIX = b"# a comment\n   A  C  G  T\nA  5 -4 -4 -4\nC -4  5 -4 -4\nG -4 -4  5 -4\nT -4 -4 -4  5\n"


def _fai(text: bytes) -> bytes:
    """Return the index of a FASTA file (samtools faidx)."""
    lines, at, rows = text.splitlines(keepends=True), 0, []
    for line in lines:
        at += len(line)
        if line.startswith(b">"):
            rows.append([line[1:].split()[0], 0, at, 0, 0])
        else:
            rows[-1][1] += len(line) - 1
            rows[-1][3:] = [max(rows[-1][3], len(line) - 1), max(rows[-1][4], len(line))]
    return b"".join(b"%s\t%d\t%d\t%d\t%d\n" % tuple(row) for row in rows)


def _gzi(packed: bytes, size: int) -> bytes:
    """Return the .gzi index of a BGZF file whose blocks hold `size` bytes each."""
    starts, at = [], 0
    while at < len(packed):
        starts.append(at)
        at += int.from_bytes(packed[at + 16 : at + 18], "little") + 1
    rows = [(start, number * size) for number, start in enumerate(starts[:-1])][1:]
    return len(rows).to_bytes(8, "little") + b"".join(
        a.to_bytes(8, "little") + b.to_bytes(8, "little") for a, b in rows
    )


@functools.cache
def _checkpoint(command: str) -> Mapping[str, bytes]:
    """Return a pair of sequences and the checkpoint of a killed command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        length = 100_000 if "WFACLI_SANITIZE" in os.environ else 600_000  # one step must not take minutes
        for number, file in enumerate(("a.fa", "b.fa")):
            (folder / file).write_bytes(fasta([random_symbols(length, number)]))
        process = start(*command.split(), "-q", "--checkpoint", "state", "--checkpoint-every", "0.1s", cwd=folder)
        wait_until(lambda: (folder / "state").exists(), 120)
        process.kill()
        process.wait()
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.name in ("a.fa", "b.fa", "state")}


def _with_pysam(world: Mapping[str, bytes]) -> list[Case]:
    try:
        import pysam
    except ImportError:
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in world.items():
            (folder / file).write_bytes(content)
        pysam.view("-b", "-o", str(folder / "m.bam"), str(folder / "map.sam"), catch_stdout=False)
        pysam.faidx(str(folder / "ref.fa"))
        pysam.view(
            "-C",
            "-T",
            str(folder / "ref.fa"),
            "-o",
            str(folder / "m.cram"),
            str(folder / "map.sam"),
            catch_stdout=False,
        )
        reads = b"".join(
            b"%s\t4\t*\t0\t0\t*\t*\t0\t0\t%s\t%s\n" % (n, s, q) for n, s, q in _records(world["reads.fq"])
        )
        (folder / "r.sam").write_bytes(b"@HD\tVN:1.6\n" + reads)
        pysam.view("-b", "-o", str(folder / "r.bam"), str(folder / "r.sam"), catch_stdout=False)
        files = {file: (folder / file).read_bytes() for file in ("m.bam", "m.cram", "r.bam")}
    some = {file: world[file] for file in ("reads.fq", "ref.fa", "map.paf")}
    outputs = ("-o out.sam", "-o out.paf", "-o out.sam --on-error skip")
    left = ("out.bam.bai", "out.bam.csi", "ref.fa.fai", "ref.fa.gzi")
    mapped = "align reads.fq ref.fa --mappings map.paf"
    written = (f"{mapped} -o out.bam", f"{mapped} -o out.cram", f"{mapped} --sort --write-index -o out.bam")
    as_cram = (
        "align reads.fq ref.fa --mappings m.cram -o out.sam",
        "align m.cram ref.fa --mappings map.paf -o out.sam",
        "align m.cram ref.fa -o out.paf",
    )
    on_bam = [f"align reads.fq ref.fa --mappings m.bam {output}" for output in outputs]
    of_bam = [f"align r.bam ref.fa --mappings map.paf {output}" for output in outputs]
    return [
        Case("mappings.bam", {**some, "m.bam": files["m.bam"]}, ["m.bam"], on_bam, inside_bgzf, 2),
        Case("reads.bam", {**some, "r.bam": files["r.bam"]}, ["r.bam"], of_bam, inside_bgzf, 0.3),
        Case("cram", {**some, "m.cram": files["m.cram"]}, ["m.cram"], as_cram, weight=0.2),
        Case("to htslib", some, ["reads.fq", "ref.fa", "map.paf"], written, weight=0.3, helpers=left),
    ]


def _with_minimap2(world: Mapping[str, bytes]) -> list[Case]:
    if not shutil.which("minimap2"):
        return []
    files = {file: world[file] for file in ("reads.fq", "ref.fa")}
    mapping = "map -x map-ont ref.fa reads.fq"
    written = [f"{mapping} {output}" for output in ("-o out.sam", "-o out.paf", "--span mapped -o out.sam")]
    return [Case("map", files, ["reads.fq", "ref.fa"], written, weight=0.3)]


def _records(text: bytes) -> list[tuple[bytes, bytes, bytes]]:
    lines = text.splitlines()
    return [(lines[i][1:].split()[0], lines[i + 1], lines[i + 3]) for i in range(0, len(lines), 4)]


@functools.cache
def cases() -> tuple[Case, ...]:
    """Return all cases."""
    with tempfile.TemporaryDirectory() as name:
        world = random_world(7)
        world.write(Path(name))
        mapped = {path.name: path.read_bytes() for path in Path(name).iterdir()}
    mapped["map.sam"] = world.sam().encode()
    reference = mapped["ref.fa"]
    blocks = bgzf(reference, 200)
    outputs = (
        "-o out.sam",
        "-o out.paf",
        "-o out.sam --span read --keep-unmapped",
        "-o out.sam --on-error skip --copy-tags",
    )
    on_paf = [f"align reads.fq ref.fa --mappings map.paf {output}" for output in outputs]
    on_sam = [f"align reads.fq ref.fa --mappings map.sam {output}" for output in outputs]
    extended = [
        f"extend q t --matrix m {output}" for output in ("-o out.sam", "-o out.paf", "-o out.tsv --score-only")
    ]
    two_files, one_file = [f"align q t {form}" for form in FORMS], [f"align p {form}" for form in FORMS]
    two = {"a.fa": fasta([random_symbols(300, 1)]), "b.fa": fasta([random_symbols(290, 1) + "ACGT"], width=60)}
    on_two = [f"distance a.fa b.fa {options}" for options in ("", "--path -o out.paf", "--text", "--lines")]
    on_two += ["local a.fa b.fa -o out.paf", "local a.fa b.fa --score-only", "dotplot a.fa b.fa -o out.html"]
    resumed = [f"{name} a.fa b.fa -t 1 --checkpoint state --resume" for name in ("distance", "local")]
    simulated = ["simulate --reference r.fa --pairs 20 --length 30 -o out.seq"]
    plotted = ["dotplot a.fa b.fa --alignments p.paf -o out.html"]
    paf = b"r1\t300\t0\t290\t+\tr1\t294\t0\t290\t290\t290\t60\tcg:Z:290=\n"
    some = {name: mapped[name] for name in ("reads.fq", "ref.fa", "map.paf")}
    in_sam = {name: mapped[name] for name in ("reads.fq", "ref.fa", "map.sam")}
    index = {"ref.fa.fai": _fai(reference)}
    packed = {**some, "ref.fa": blocks, **index, "ref.fa.gzi": _gzi(blocks, 200)}
    return (
        Case("fasta", {"q": fasta(QUERIES, width=40), "t": fasta(TARGETS, "t")}, ["q", "t"], two_files, weight=3),
        Case("fastq", {"q": fastq(QUERIES), "t": fasta(TARGETS, "t")}, ["q"], two_files, weight=3),
        Case("seq", {"p": seq(PAIRS)}, ["p"], one_file, weight=2),
        Case("tsv", {"p": table(PAIRS, True)}, ["p"], one_file, weight=2),
        Case("extend", {"q": fasta(QUERIES), "t": fastq(TARGETS), "m": MATRIX}, ["q", "t", "m"], extended, weight=2),
        Case("paf", some, ["reads.fq", "ref.fa", "map.paf", "map.paf"], on_paf, weight=3),
        Case("sam", in_sam, ["map.sam"], on_sam, weight=3),
        Case("fai", some | index, ["ref.fa.fai", "ref.fa.fai", "ref.fa"], on_paf, _plain),
        Case("gzi", packed, ["ref.fa.gzi", "ref.fa.fai", "ref.fa"], on_paf, _plain),
        Case("long", two, ["a.fa", "b.fa"], on_two),
        Case("dotplot", {**two, "p.paf": paf}, ["p.paf"], plotted, weight=0.5),
        Case("simulate", {"r.fa": reference}, ["r.fa"], simulated, weight=0.5),
        Case(
            "checkpoint", _checkpoint("distance a.fa b.fa -t 1"), ["state"], resumed, resealed, 0.1, ("state",), True
        ),
        *_with_pysam(mapped),
        *_with_minimap2(mapped),
    )
