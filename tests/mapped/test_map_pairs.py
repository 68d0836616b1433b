"""`wfacli map` with paired reads: with a fake mapper, and with minimap2 and its library if installed."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pysam
import pytest

from tests import pairgen
from tests.cli.support import Result, assert_failure, assert_success, environment, rows_of, run, zstd
from tests.mapped.fake_mapper import install
from tests.mapped.world import turned

MAPPERS = {"minimap2": shutil.which("minimap2"), "mappy": importlib.util.find_spec("mappy")}
SUPPLEMENTARY = 2048
LENGTH = 150


def needs(mapper: str) -> Any:
    return pytest.param(mapper, marks=pytest.mark.skipif(not MAPPERS[mapper], reason=f"{mapper} is not installed"))


BOTH = pytest.mark.parametrize("mapper", [needs("minimap2"), needs("mappy")])


def map_(folder: Path, *options: str, mapper: str = "bin") -> Result:
    """Map with the program in a folder, with the one on PATH, or with the library."""
    path = {"bin": f"{folder / 'bin'}:/usr/bin:/bin", "mappy": str(folder)}.get(mapper, os.environ["PATH"])
    return run("map", "ref.fa", *options, cwd=folder, env=environment(PATH=path))


def symbols_of(rng: random.Random, count: int) -> str:
    return pairgen.sequence(rng, count, b"ACGT").decode()


@dataclass(frozen=True)
class Place:
    """Where the bases of a read lie."""

    target: str
    begin: int
    reverse: bool = False
    length: int = LENGTH
    before: int = 0  # bases before it, on the target's strand, that lie elsewhere or nowhere
    after: int = 0

    @property
    def record(self) -> tuple[str, str, str]:
        clips = [f"{n}S" if n else "" for n in (self.before, self.after)]
        return self.target, str(self.begin + 1), f"{clips[0]}{self.length}={clips[1]}"


def in_target(rng: random.Random, reference: dict[str, str], place: Place | None) -> str:
    """Return a read's bases, which are random if it lies nowhere."""
    if place is None:
        return symbols_of(rng, LENGTH)
    whole, begin, end = reference[place.target], place.begin, place.begin + place.length
    # Clipped bases all differ from the target.
    before, after = (
        "".join("CGTA"["ACGT".index(c)] for c in whole[i:j])
        for i, j in ((begin - place.before, begin), (end, end + place.after))
    )
    symbols = before + whole[begin:end] + after
    return turned(symbols) if place.reverse else symbols


# Name: places of both mates, and their flags other than strand and mate number. TLEN is checked separately.
PAIRS: dict[str, tuple[Place | None, Place | None, tuple[int, int]]] = {
    "inward": (Place("a", 1000), Place("a", 1250, True), (3, 3)),
    "inward_turned": (Place("b", 2300, True), Place("b", 2100), (3, 3)),
    "overlapping": (Place("a", 3000), Place("a", 3050, True), (3, 3)),
    "second_lost": (Place("a", 500, True), None, (1 | 8, 1 | 4)),
    "both_lost": (None, None, (1 | 4 | 8, 1 | 4 | 8)),
    "first_lost": (None, Place("b", 700), (1 | 4, 1 | 8)),
    "far": (Place("a", 200), Place("a", 3500, True), (1, 1)),
    "outward": (Place("a", 2000, True), Place("a", 2300), (1, 1)),
    "one_strand": (Place("a", 1500), Place("a", 1800), (1, 1)),
    "two_targets": (Place("a", 800), Place("b", 900, True), (1, 1)),
    "clipped": (
        Place("b", 400, length=110, before=40),
        Place("b", 640, True, length=120, before=10, after=20),
        (3, 3),
    ),
    "clipped_turned": (Place("b", 1240, True, length=130, after=20), Place("b", 1040, length=125, after=25), (3, 3)),
}


@pytest.fixture(scope="module")
def pairs() -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Return the reference, and the bases of both mates of each pair."""
    rng = random.Random(11)
    reference = {name: symbols_of(rng, 4000) for name in "ab"}
    reads = {
        name: (in_target(rng, reference, first), in_target(rng, reference, second))
        for name, (first, second, _) in PAIRS.items()
    }
    # A first mate whose ends lie in two places: the shorter part forms a pair with the second mate.
    reads["split"] = (reference["b"][3500:3610] + reference["a"][2500:2600], turned(reference["a"][2750:2900]))
    return reference, reads


def fastq(reads: list[tuple[str, str]]) -> str:
    return "".join(f"@{name} x:N\n{symbols}\n+\n{'F' * len(symbols)}\n" for name, symbols in reads)


@pytest.fixture
def folder(pairs: tuple[dict[str, str], dict[str, tuple[str, str]]], tmp_path: Path) -> Path:
    """A folder with ref.fa, pairs in first.fq and second.fq, and a fake minimap2 that prints map.sam."""
    reference, reads = pairs
    (tmp_path / "ref.fa").write_text("".join(f">{name}\n{symbols}\n" for name, symbols in reference.items()))
    for number, name in enumerate(("first.fq", "second.fq")):
        (tmp_path / name).write_text(fastq([(pair, mates[number]) for pair, mates in reads.items()]))
    (tmp_path / "map.sam").touch()
    install(tmp_path)
    return tmp_path


def in_turn(pairs: dict[str, tuple[str, str]], named: bool) -> str:
    return fastq(
        [(f"{pair}/{n}" if named else pair, mate) for pair, mates in pairs.items() for n, mate in enumerate(mates, 1)]
    )


def wanted_of(name: str) -> list[list[str]]:
    """Return the first columns of a pair's records, without MAPQ and TLEN."""
    *places, said = PAIRS[name]
    records = []
    for number, (place, other) in enumerate((places, places[::-1])):
        flags = said[number] | (64, 128)[number]
        flags |= 16 * bool(place and place.reverse) | 32 * bool(other and other.reverse)
        there = place or other
        own = place.record if place else (*there.record[:2], "*") if there else ("*", "0", "*")
        beside = other or place
        rnext = "*" if beside is None else "=" if beside.target == own[0] else beside.target
        records.append([name, str(flags), *own, rnext, str(beside.begin + 1) if beside else "0"])
    return records


@BOTH
def test_pairs_lie_where_they_were_taken_from(folder: Path, mapper: str) -> None:
    result = map_(folder, "first.fq", "--mates", "second.fq", "--keep-unmapped", mapper=mapper)
    assert_success(result)
    records: dict[str, list[list[str]]] = {}
    for row in result.rows:
        records.setdefault(row[0], []).append(row)
    assert set(records) == {*PAIRS, "split"}
    for name in PAIRS:
        assert [[*r[:4], *r[5:8]] for r in records[name]] == wanted_of(name)
    lengths = {name: [int(r[8]) for r in rows] for name, rows in records.items()}
    assert lengths["inward"] == [400, -400] and lengths["inward_turned"] == [-350, 350]
    assert lengths["clipped"] == [360, -360] and lengths["two_targets"] == lengths["second_lost"] == [0, 0]
    split = [[r[1], *r[2:4], *r[5:8]] for r in records["split"]]
    assert split == [
        [str(1 | 32 | 64 | SUPPLEMENTARY), "b", "3501", "110=100S", "a", "2751"],
        [str(1 | 2 | 32 | 64), "a", "2501", "110S100=", "=", "2751"],
        [str(1 | 2 | 16 | 128), "a", "2751", "150=", "=", "2501"],
    ]
    assert list(records) == [*PAIRS, "split"]  # in input order
    default, dropped = (
        map_(folder, "first.fq", "second.fq", *more, mapper=mapper) for more in ((), ("--drop-unmapped",))
    )
    assert default.rows == result.rows
    assert dropped.rows == [row for row in result.rows if row[0] != "both_lost"]


@BOTH
@pytest.mark.parametrize("form", ["named", "in turn", "in turn, named", "bam", "compressed"])
def test_pairs_however_they_come(
    pairs: tuple[dict[str, str], dict[str, tuple[str, str]]], folder: Path, mapper: str, form: str
) -> None:
    wanted = map_(folder, "first.fq", "--mates", "second.fq", "--keep-unmapped", "--no-header", mapper=mapper)
    options = ["first.fq", "--mates", "second.fq"]
    if form == "named":
        for number in (1, 2):
            path = folder / options[2 * number - 2]
            path.write_text(path.read_text().replace(" x:N", f"/{number} x:N"))
    elif form == "compressed":
        for path in (folder / "first.fq", folder / "ref.fa"):
            path.write_bytes(zstd(path.read_bytes()))
        subprocess.run(["gzip", "second.fq"], cwd=folder, check=True)
        options[2] = "second.fq.gz"
    else:
        options = ["first.fq", "--preset", "sr"]
        (folder / "first.fq").write_text(in_turn(pairs[1], form != "in turn"))
    if form == "bam":
        header = {"HD": {"VN": "1.6"}}
        with pysam.AlignmentFile(str(folder / "first.bam"), "wb", header=header) as file:
            for number, read in enumerate(pysam.FastxFile(str(folder / "first.fq"))):
                flags = 1 | 4 | 8 | (64, 128)[number % 2]
                fields = [read.name[:-2], str(flags), "*", "0", "0", "*", "*", "0", "0", read.sequence, read.quality]
                file.write(pysam.AlignedSegment.fromstring("\t".join(fields), file.header))
        options[0] = "first.bam"
    result = map_(folder, *options, "--keep-unmapped", "--no-header", mapper=mapper)
    assert_success(result)
    assert result.out == wanted.out


def test_mates_are_a_third_file_as_minimap2_has_it(folder: Path) -> None:
    lines = "inward\t67\ta\t1001\t60\t150M\t*\t0\t0\t*\t*\ninward\t147\ta\t1251\t60\t150M\t*\t0\t0\t*\t*\n"
    (folder / "map.sam").write_text(lines)
    named, behind = (
        map_(folder, "first.fq", *more, "--drop-unmapped") for more in (("--mates", "second.fq"), ("second.fq",))
    )
    assert_success(behind)
    assert len(behind.rows) == 2 and behind.rows == named.rows
    assert_failure(map_(folder, "first.fq", "second.fq", "--mates", "second.fq"), 2, "given twice")


@BOTH
def test_a_sorted_bam_of_pairs(folder: Path, mapper: str) -> None:
    words = ("--keep-unmapped", "--sort", "--write-index", "--md", "-o", "out.bam")
    result = map_(folder, "first.fq", "--mates", "second.fq", *words, mapper=mapper)
    assert_success(result)
    pysam.quickcheck(str(folder / "out.bam"))
    assert (folder / "out.bam.bai").exists()
    pysam.sort("-n", "-o", str(folder / "named.bam"), str(folder / "out.bam"))
    pysam.fixmate(str(folder / "named.bam"), str(folder / "fixed.bam"))
    with (
        pysam.AlignmentFile(str(folder / "named.bam")) as ours,
        pysam.AlignmentFile(str(folder / "fixed.bam")) as theirs,
    ):
        records = [a.to_string().split("\t")[:8] for a in ours if not a.flag & SUPPLEMENTARY]
        fixed = [a.to_string().split("\t")[:8] for a in theirs if not a.flag & SUPPLEMENTARY]
    assert len(records) == 2 * (len(PAIRS) + 1)
    assert sorted(records) == sorted(fixed)


def noisy_pairs(folder: Path) -> None:
    """Write pairs with errors, from a reference with repeats."""
    rng = random.Random(5)
    repeat = symbols_of(rng, 300)
    reference = {name: "".join(symbols_of(rng, 700) + repeat for _ in range(4)) for name in "ab"}
    (folder / "ref.fa").write_text("".join(f">{name}\n{symbols}\n" for name, symbols in reference.items()))
    reads: tuple[list[tuple[str, str]], list[tuple[str, str]]] = [], []
    for number in range(400):
        whole = reference[rng.choice("ab")]
        begin, length = rng.randrange(len(whole) - 500), rng.randint(160, 500)
        whole = whole[begin : begin + length]
        whole = turned(whole) if rng.random() < 0.5 else whole
        mates = [whole[:LENGTH], turned(whole[-LENGTH:])]
        for mate in range(2):
            if rng.random() < 0.1:
                elsewhere = rng.randrange(3000)
                mates[mate] = mates[mate][:70] + reference["b"][elsewhere : elsewhere + 80]
            noisy = pairgen.mutated(rng, mates[mate].encode(), b"ACGT", 0.02).decode()
            reads[mate].append((f"p{number}", symbols_of(rng, LENGTH) if rng.random() < 0.05 else noisy))
    for name, mates in zip(("first.fq", "second.fq"), reads, strict=True):
        (folder / name).write_text(fastq(mates))


def compared(rows: list[list[str]]) -> list[list[str]]:
    """Return the columns on which both aligners agree; mate positions of supplementary records differ."""
    return sorted([*r[:5], *([] if int(r[1]) & SUPPLEMENTARY else r[6:8])] for r in rows)


@pytest.mark.skipif(not MAPPERS["minimap2"], reason="minimap2 is not installed")
def test_flags_and_places_are_those_of_minimap2(folder: Path) -> None:
    noisy_pairs(folder)
    command = ["minimap2", "-ax", "sr", "ref.fa", "first.fq", "second.fq"]
    said = rows_of(subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout)
    result = map_(folder, "first.fq", "--mates", "second.fq", "--keep-unmapped", "--span", "mapped", mapper="minimap2")
    assert_success(result)
    flags = {int(row[1]) for row in said}
    assert {4, 8, 2, SUPPLEMENTARY} <= {bit for bit in (2, 4, 8, SUPPLEMENTARY) if any(f & bit for f in flags)}
    assert len(said) > 810
    assert compared(result.rows) == compared(said)
    assert list(dict.fromkeys(r[0] for r in result.rows)) == list(dict.fromkeys(r[0] for r in said))


def test_what_the_mapper_is_asked(folder: Path) -> None:
    lines = "inward\t67\ta\t1001\t60\t150M\t*\t0\t0\t*\t*\ninward\t147\ta\t1251\t60\t150M\t*\t0\t0\t*\t*\n"
    (folder / "map.sam").write_text(lines)
    result = map_(folder, "first.fq", "--mates", "second.fq", "-t", "2", "--drop-unmapped")
    assert_success(result)
    assert (folder / "arguments").read_text() == "-x sr -a -Q -I 1000G -K 4M -t 2 -- ref.fa first.fq second.fq"
    assert [row[:9] for row in result.rows] == [
        ["inward", "99", "a", "1001", "60", "150=", "=", "1251", "400"],
        ["inward", "147", "a", "1251", "60", "150=", "=", "1001", "-400"],
    ]
    (folder / "map.sam").write_text("")
    assert_success(map_(folder, "first.fq", "-t", "2"))
    assert (folder / "arguments").read_text() == "-x map-ont --paf-no-hit -I 1000G -K 4M -t 2 -- ref.fa first.fq"


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("abc", "ab", "second.fq, record c: has no mate here: this file of the pairs ends before the other one"),
        ("ab", "abc", "second.fq, record c: has no mate: the other file of the pairs has ended"),
        ("abc", "acb", "second.fq, record c: stands where the mate of b should"),
        ("a/2", "a/1", "first.fq, record a/2: is the second mate by its name"),
        ("a", "a/1", "second.fq, record a/1: is the first mate by its name"),
        ("a.1", "a.2", "second.fq, record a.2: stands where the mate of a.1 should"),
    ],
)
@pytest.mark.parametrize("mapped", [False, True])
def test_files_that_are_not_of_the_same_pairs(folder: Path, first: str, second: str, words: str, mapped: bool) -> None:
    """minimap2 maps such files partly, as single reads, and succeeds."""
    for path, text in (("first.fq", first), ("second.fq", second)):
        names = [text] if len(set(text) & set("/.")) else list(text)
        (folder / path).write_text(fastq([(name, "ACGT") for name in names]))
    if mapped:
        (folder / "verbatim").touch()
        (folder / "map.sam").write_text("b\t0\ta\t1\t60\t4M\t*\t0\t0\t*\t*\n")
    assert_failure(map_(folder, "first.fq", "--mates", "second.fq"), 1, words)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("a/2 a/1", "record a/1: follows its second mate: mates follow one another"),
        ("a/1 b a/2", "record a/2: its mate stands elsewhere: mates follow one another"),
        ("a/2 b a/1", "record a/1: its mate stands elsewhere"),
        ("a b a", "record a: its mate stands elsewhere"),
        ("a a a", "record a: more reads have this name than the two of a pair"),
    ],
)
def test_mates_in_one_file_that_the_mapper_would_not_pair(folder: Path, names: str, words: str) -> None:
    (folder / "first.fq").write_text(fastq([(name, "ACGT") for name in names.split()]))
    (folder / "verbatim").touch()
    (folder / "map.sam").write_text("z\t77\t*\t0\t0\t*\t*\t0\t0\t*\t*\n")
    assert_failure(map_(folder, "first.fq", "--preset", "sr"), 1, words)


def test_names_of_long_reads_say_nothing_of_mates(folder: Path) -> None:
    (folder / "first.fq").write_text(fastq([(name, "ACGT") for name in ("a/2", "a/1", "b", "c/1", "b/2", "c/2")]))
    assert_success(map_(folder, "first.fq", "--preset", "map-hifi"))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["first.fq", "--mates", "second.fq", "-x", "map-ont"], 2, "reads with --preset sr alone, not with map-ont"),
        (["first.fq", "--mates", "./first.fq"], 2, "READS and --mates are the same file"),
        (["-", "--mates", "-"], 2, "only one of READS and MATES can be standard input"),
        (["first.fq", "--mates", "none.fq"], 1, "none.fq: No such file"),
        (["first.fq", "--mates", "x.bam"], 1, "x.bam: is BAM; BAM has both mates"),
        (["x.bam", "--mates", "first.fq"], 1, "x.bam: is BAM, which has both mates: give it without --mates"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_no_file_of_mates(folder: Path, options: list[str], code: int, words: str) -> None:
    pysam.AlignmentFile(str(folder / "x.bam"), "wb", header={"HD": {"VN": "1.6"}}).close()
    assert_failure(map_(folder, *options, "-o", "x.sam"), code, words)
