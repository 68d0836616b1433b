"""`map` output for ONT, HiFi and Illumina reads is checked by a strict SAM validator, samtools and bcftools."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import pairgen
from tests.cli.support import assert_success, run
from tests.mapped.validate_sam import LESSER, SUPPLEMENTARY, Record, faults, other_strand, parsed

Reads = dict[tuple[str, int], tuple[str, str]]
KINDS = {"ont": ("map-ont", 0.06, 3000), "hifi": ("map-hifi", 0.002, 6000), "illumina": ("sr", 0.01, 150)}
NEEDS_MINIMAP2 = pytest.mark.skipif(not shutil.which("minimap2"), reason="minimap2 is not installed")
NEEDS_SAMTOOLS = pytest.mark.skipif(not shutil.which("samtools"), reason="samtools is not installed")
NEEDS_BCFTOOLS = pytest.mark.skipif(not shutil.which("bcftools"), reason="bcftools is not installed")


@dataclass
class Set:
    """Reads of one kind with their reference, as files and sequences; sam: the output of `map --md --cs`."""

    kind: str
    folder: Path
    reference: dict[str, str]
    reads: Reads
    sam: str

    def map(self, *options: str) -> str:
        """Return the output of `map`."""
        files = ("r1.fq", "r2.fq") if self.kind == "illumina" else ("r1.fq",)
        preset = KINDS[self.kind][0]
        result = run("map", "ref.fa", *files, "--preset", preset, "-t", "2", *options, cwd=self.folder)
        assert_success(result)
        return result.text

    def faults(self, text: str) -> list[str]:
        return faults(text, self.reference, self.reads)

    def faults_with(self, lines: list[str], row: int, new: str) -> list[str]:
        """Return the errors after replacing a line, in the records of its read; other reads have none."""
        name = lines[row].split("\t")[0]
        kept = {i: line for i, line in enumerate(lines) if line.startswith("@") or line.split("\t")[0] == name}
        text = "".join(f"{line}\n" for line in (kept | {row: new}).values() if line)
        return faults(text, self.reference, {read: one for read, one in self.reads.items() if read[0] == name})


def symbols_of(rng: random.Random, count: int) -> str:
    return pairgen.sequence(rng, count, b"ACGT").decode()


def a_reference(rng: random.Random) -> dict[str, str]:
    """Return two sequences with repeats, a run of N, some other IUPAC codes, and lower case."""
    repeat = symbols_of(rng, 900)
    made = {}
    for name in ("chr1", "chr2"):
        text = "".join(symbols_of(rng, 7000) + (repeat if i % 2 else other_strand(repeat)) for i in range(3))
        made[name] = text[:5000].lower() + text[5000:]
    made["chr1"] = made["chr1"][:9000] + "N" * 40 + made["chr1"][9040:12000] + "R" + made["chr1"][12001:]
    return made


def a_read(rng: random.Random, reference: dict[str, str], length: int, error: float) -> str:
    """Return a read, mostly from one place; some are split, have an unrelated part, or are entirely unrelated."""
    whole = reference[rng.choice(sorted(reference))]
    begin = rng.randrange(len(whole) - length)
    symbols = whole[begin : begin + length]
    kind = rng.random()
    if kind < 0.06:
        symbols = symbols_of(rng, length)
    elif kind < 0.2:
        other = reference["chr2"][2000 : 2000 + length // 2]
        symbols = symbols[: length // 2] + (other_strand(other) if rng.random() < 0.5 else other)
    elif kind < 0.3:
        symbols = symbols[: length // 2] + symbols_of(rng, length // 2)
    elif kind < 0.36:
        symbols = whole[7050 : 7050 + min(length, 800)]  # a repeat
    clean = re.sub("[^ACGTN]", "A", symbols.upper())
    noisy = pairgen.mutated(rng, clean.encode(), b"ACGT", error).decode()
    return other_strand(noisy) if rng.random() < 0.5 else noisy


def reads_of(rng: random.Random, kind: str, reference: dict[str, str]) -> Reads:
    _, error, length = KINDS[kind]
    made: Reads = {}

    def quality(symbols: str) -> tuple[str, str]:
        return symbols, "".join(chr(rng.randrange(33, 74)) for _ in symbols)

    for number in range(60 if kind != "illumina" else 300):
        if kind != "illumina":
            made[f"r{number}", 0] = quality(a_read(rng, reference, rng.randint(length // 2, length), error))
            continue
        fragment = a_read(rng, reference, rng.randint(150, 500), 0)
        mates = [fragment[:length], other_strand(fragment)[:length]]
        for which, mate in enumerate(mates):
            if rng.random() < 0.08:
                mate = a_read(rng, reference, length, 0) if rng.random() < 0.5 else symbols_of(rng, length)
            noisy = pairgen.mutated(rng, mate.encode(), b"ACGTN", error).decode()
            made[f"r{number}", which + 1] = quality(noisy)
    return made


@pytest.fixture(scope="module", params=KINDS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Set]:
    rng = random.Random(f"{request.param} 1")
    folder = tmp_path_factory.mktemp(request.param)
    reference = a_reference(rng)
    (folder / "ref.fa").write_text("".join(f">{n}\n{s}\n" for n, s in reference.items()))
    reads = reads_of(rng, request.param, reference)
    for file, mates in (("r1.fq", (0, 1)), ("r2.fq", (2,))):
        records = [f"@{n}\n{s}\n+\n{q}\n" for (n, mate), (s, q) in reads.items() if mate in mates]
        (folder / file).write_text("".join(records))
    found = Set(request.param, folder, reference, reads, "")
    found.sam = found.map("--md", "--cs", "-o", "-")
    (folder / "out.sam").write_text(found.sam)
    yield found


OPTIONS = (
    ("--md", "--cs"),
    ("--clip", "hard", "--cigar", "m", "--md"),
    ("--metric", "affine2p", "--match", "2", "--cs", "-R", "@RG\\tID:g1\\tSM:s"),
    ("--ambiguous", "wildcard", "--md", "--cs"),
    ("--span", "padded", "--md"),
)


@NEEDS_MINIMAP2
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_nothing_is_wrong(made: Set, options: tuple[str, ...]) -> None:
    text = made.map(*options)
    assert made.faults(text) == []
    _, records, _ = parsed(text)
    flags = [r.flag for r in records]
    assert any(f & 4 for f in flags) and any(f & 16 for f in flags) and any(f & SUPPLEMENTARY for f in flags)
    if made.kind == "illumina":
        assert {2, 4, 8, 32} == {bit for bit in (2, 4, 8, 32) if any(f & bit for f in flags)}
        assert any(f & 12 == 12 for f in flags)
    else:
        assert any(f & 256 for f in flags)


@NEEDS_MINIMAP2
def test_the_order_of_records_is_that_of_reads(made: Set) -> None:
    names = list(dict.fromkeys(r.name for r in parsed(made.sam)[1]))
    assert names == list(dict.fromkeys(name for name, _ in made.reads))


def _changed(line: str, column: int, text: str) -> str:
    fields = line.split("\t")
    fields[column] = text
    return "\t".join(fields)


def _without(line: str, tag: str) -> str:
    return re.sub(rf"\t{tag}:[^\t]*", "", line)


CHANGES = {
    "position": lambda x: _changed(x, 3, str(int(x.split("\t")[3]) + 1)),
    "target": lambda x: _changed(x, 2, {"chr1": "chr2", "chr2": "chr1"}.get(x.split("\t")[2], "chr1")),
    "strand": lambda x: _changed(x, 1, str(int(x.split("\t")[1]) ^ 16)),
    "unmapped": lambda x: _changed(x, 1, str(int(x.split("\t")[1]) ^ 4)),
    "paired": lambda x: _changed(x, 1, str(int(x.split("\t")[1]) ^ 1)),
    "secondary": lambda x: _changed(x, 1, str(int(x.split("\t")[1]) ^ 256)),
    "supplementary": lambda x: _changed(x, 1, str(int(x.split("\t")[1]) ^ 2048)),
    "mate unmapped": lambda x: _changed(x, 1, str(int(x.split("\t")[1]) ^ 8)),
    "mate reverse": lambda x: _changed(x, 1, str(int(x.split("\t")[1]) ^ 32)),
    "cigar": lambda x: _changed(x, 5, "5S" + x.split("\t")[5]),
    "next": lambda x: _changed(x, 7, str(int(x.split("\t")[7]) + 1)),
    "length": lambda x: _changed(x, 8, str(int(x.split("\t")[8]) + 1)),
    "symbols": lambda x: _changed(x, 9, x.split("\t")[9][::-1]),
    "quality": lambda x: _changed(x, 10, x.split("\t")[10][::-1]),
    "NM": lambda x: re.sub(r"\tNM:i:(\d+)", lambda m: f"\tNM:i:{int(m[1]) + 1}", x),
    "MD": lambda x: re.sub(r"\tMD:Z:(\d+)", lambda m: f"\tMD:Z:{int(m[1]) + 1}", x),
    "de": lambda x: re.sub(r"\tde:f:0", "\tde:f:1", x),
    "tp": lambda x: re.sub(r"\ttp:A:P", "\ttp:A:S", x),
    "name": lambda x: _changed(x, 0, "nobody"),
    "twice": lambda x: x + "\n" + x,
    "none": lambda _: "",
    "a tag twice": lambda x: x + "\tXX:i:1\tXX:i:1",
    "a group": lambda x: x + "\tRG:Z:missing",
}


@NEEDS_MINIMAP2
def test_the_validator_finds_what_is_wrong(made: Set) -> None:
    """Each change to a record is an error that must be found in primary, supplementary and unmapped records."""
    lines = made.sam.splitlines()
    rows = [i for i, line in enumerate(lines) if not line.startswith("@")]
    flags = {i: int(lines[i].split("\t")[1]) for i in rows}
    split = next(i for i in rows if "\tSA:Z:" in lines[i])
    kinds = [next(i for i in rows if not flags[i] & (4 | LESSER)), split]
    kinds += [next(i for i in rows if flags[i] & SUPPLEMENTARY), next(i for i in rows if flags[i] & 4)]
    missed = []
    for row in kinds:
        changes = {name: change(lines[row]) for name, change in CHANGES.items()}
        if row == split:
            changes["SA"] = _without(lines[row], "SA")
        assert made.faults_with(lines, row, lines[row]) == []
        for name, new in changes.items():
            symmetric = lines[row].split("\t")[9] == lines[row].split("\t")[9][::-1]
            if new != lines[row] and not symmetric and not made.faults_with(lines, row, new):
                missed.append((lines[row][:60], name))
    assert missed == []


def program(made: Set, *command: str) -> str:
    done = subprocess.run(command, cwd=made.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@NEEDS_MINIMAP2
@NEEDS_SAMTOOLS
@pytest.mark.parametrize("container", ["bam", "cram"])
def test_samtools_finds_nothing_in_binary_files(made: Set, container: str) -> None:
    name = f"sorted.{container}"
    made.map("--sort", "--write-index", "--md", "-o", name)
    program(made, "samtools", "quickcheck", "-v", name)
    text = program(made, "samtools", "view", "-h", "--no-PG", "-T", "ref.fa", name)
    upper = {n: s.upper() for n, s in made.reference.items()}
    assert faults(text, upper, made.reads) == []
    counted = program(made, "samtools", "flagstat", name)
    records = parsed(made.sam)[1]
    mapped = sum(r.mapped for r in records)
    assert f"{len(records)} + 0 in total" in counted and f"{mapped} + 0 mapped" in counted
    stats = program(made, "samtools", "stats", "-r", "ref.fa", name)
    assert f"SN\traw total sequences:\t{len(made.reads)}\t" in stats
    clipped = sum(r.count("S") for r in records if r.mapped and not r.flag & LESSER)
    assert clipped > 0 and "SN\tmismatches:" in stats


@NEEDS_MINIMAP2
@NEEDS_SAMTOOLS
def test_calmd_computes_the_same(made: Set) -> None:
    made.map("--md", "-o", "eqx.sam")
    theirs = subprocess.run(
        ["samtools", "calmd", "eqx.sam", "ref.fa"], cwd=made.folder, capture_output=True, text=True, check=True
    )
    assert "different" not in theirs.stderr
    ours = parsed((made.folder / "eqx.sam").read_text())[1]
    for a, b in zip(ours, parsed(theirs.stdout)[1], strict=True):
        if a.symbols != "*":
            assert (a.tags.get("NM"), a.tags.get("MD")) == (b.tags.get("NM"), b.tags.get("MD"))


@NEEDS_MINIMAP2
@NEEDS_SAMTOOLS
def test_fixmate_changes_nothing_and_markdup_reads_it(made: Set) -> None:
    if made.kind != "illumina":
        pytest.skip("single reads have no mates")
    program(made, "samtools", "fixmate", "--no-PG", "-O", "sam", "-m", "out.sam", "fixed.sam")
    # It writes the primary record of a split read first.
    ours, theirs = (
        sorted(parsed((made.folder / f).read_text())[1], key=lambda r: (r.name, r.flag, r.position))
        for f in ("out.sam", "fixed.sam")
    )
    for a, b in zip(ours, theirs, strict=True):
        said = [
            (r.name, r.flag, r.target, r.position, r.next_target, r.next_position, r.tags.get("MQ", "0"))
            for r in (a, b)
        ]
        said[0] += (a.tags.get("MC", "*"),)  # fixmate writes MC for an unmapped mate, contrary to the specification
        said[1] += (b.tags.get("MC", "*"),)
        assert a.flag & LESSER or said[0] == said[1]
    program(made, "samtools", "sort", "-o", "fixed.bam", "fixed.sam")
    program(made, "samtools", "markdup", "fixed.bam", "marked.bam")
    program(made, "samtools", "quickcheck", "-v", "marked.bam")


@NEEDS_MINIMAP2
@NEEDS_SAMTOOLS
@NEEDS_BCFTOOLS
def test_bcftools_piles_it_up(made: Set) -> None:
    made.map("--sort", "--write-index", "-R", "@RG\\tID:g1\\tSM:me", "-o", "pile.bam")
    calls = program(made, "bcftools", "mpileup", "-f", "ref.fa", "pile.bam")
    assert calls.splitlines()[-1].startswith("chr2\t") and "\tme\n" in calls


@NEEDS_MINIMAP2
def test_tags_that_only_the_mapper_knows_are_carried_over(made: Set) -> None:
    if made.kind == "illumina":
        pytest.skip("pairs are mapped with alignments: see the next test")
    rows = [
        row.split("\t") for row in program(made, "minimap2", "-x", KINDS[made.kind][0], "ref.fa", "r1.fq").splitlines()
    ]
    names = ("cm", "s1", "s2", "rl")
    wanted = [(row[0], row[5], {f[:2]: f[5:] for f in row[12:] if f[:2] in names}) for row in rows]
    found = [(r.name, r.target, {t: r.tags[t] for t in names if t in r.tags}) for r in parsed(made.sam)[1] if r.mapped]
    assert len(found) > 50 and found == wanted


@NEEDS_MINIMAP2
def test_tags_of_the_same_alignments_are_those_of_minimap2(made: Set) -> None:
    """Under minimap2's scheme. Its ms tag scores all gaps as short ones, and its N costs less."""
    if made.kind != "illumina":
        pytest.skip("ends of long reads differ")
    theirs = parsed(program(made, "minimap2", "-ax", "sr", "ref.fa", "r1.fq", "r2.fq"))[1]
    scheme = ("--metric", "affine2p", "--penalties", "8,12,2,24,1", "--match", "2")
    ours = parsed(made.map(*scheme, "--cigar", "m"))[1]

    def key(r: Record) -> tuple[object, ...]:
        return r.name, r.flag, r.target, r.position, r.cigar

    known = {key(r): r for r in theirs if r.mapped}
    same = [(r, known[key(r)]) for r in ours if key(r) in known]
    assert len(same) > 300
    for a, b in same:
        tags = ["NM", "nn", "tp", "rl", "cm", "s1", "s2"]
        if b.tags["nn"] == "0" and all(n == 1 for n, operation in a.runs if operation in "ID"):
            tags.append("ms")
        assert {t: a.tags.get(t) for t in tags} == {t: b.tags.get(t) for t in tags}, (str(a), str(b))
        assert abs(float(a.tags["de"]) - float(b.tags["de"])) < 1e-4
