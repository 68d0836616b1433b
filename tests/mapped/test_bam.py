"""BAM records are, byte by byte, those that htslib makes of our SAM, in samtools' order if sorted."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import IO

import pysam
import pytest

from tests.cli.conftest import inside as inside
from tests.cli.support import Result, assert_failure, assert_success, run
from tests.htslib import converted, parts_of, sorted_parts
from tests.mapped.world import World, random_world
from wfacli.io.write import sorting

VISIBLE = "".join(map(chr, range(33, 127)))
IUPAC = "ACGTUacgtRYSWKMBDHVNn"
PAIRED, FIRST, LAST = 1, 64, 128
ARRAYS = [
    *(("c", -128, 127), ("C", 0, 255), ("s", -32768, 32767), ("S", 0, 65535)),
    *(("i", -(2**31), 2**31 - 1), ("I", 0, 2**32 - 1), ("f", -9, 9)),
]


def random_tag(rng: random.Random, name: str) -> str:
    """Return a tag of any type, with a value at or near the limits of BAM's types."""
    kind = rng.choice("iiifZHAB")
    if kind == "i":
        edges = [0, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1]
        edges += [-1, -128, -129, -32768, -32769, -(2**31)]
        value = rng.choice(["", "", "+"])
        number = rng.choice(edges)
        return f"{name}:i:{number if number < 0 else f'{value}{number}'}"
    if kind == "f":
        value = rng.choice(["0", "-1.5", "+3", "1e-3", "2.5E+10", "inf", "nan", "1e-50", f"{rng.uniform(-9, 9):.6f}"])
        return f"{name}:f:{value}"
    if kind == "Z":
        return f"{name}:Z:{''.join(rng.choices(VISIBLE + ' ', k=rng.choice((0, 1, 300))))}"
    if kind == "H":
        return f"{name}:H:{''.join(rng.choices('0123456789ABCDEF', k=2 * rng.randrange(4)))}"
    if kind == "A":
        return f"{name}:A:{rng.choice(VISIBLE)}"
    of, low, high = rng.choice(ARRAYS)
    values = [rng.choice((low, high, rng.randint(low, high))) for _ in range(rng.choice((0, 1, 5)))]
    return ":".join([name, "B", ",".join([of, *map(str, values)])])


def random_name(rng: random.Random) -> str:
    first = rng.choice(VISIBLE.replace("@", "").replace("*", "").replace(">", ""))
    return first + "".join(rng.choices(VISIBLE.replace("@", ""), k=rng.choice((0, 3, 20, 253))))


def odd_world(seed: int) -> tuple[World, str]:
    """Return a world whose reads have odd names and bases, and its reads as FASTQ with tags as comments."""
    rng = random.Random(seed)
    made = random_world(seed, reads=40, symbols=IUPAC, quality=bool(seed % 2))
    names = {name: f"{random_name(rng)[:240]}.{i}" for i, name in enumerate(made.reads)}
    made.rows = [replace(row, read=names[row.read]) for row in made.rows]
    made.reads = {names[name]: read for name, read in made.reads.items()}
    records = []
    for name, (bases, quality) in made.reads.items():
        tags = "\t".join(random_tag(rng, a + b) for a, b in zip("XYZ", rng.choices(string.digits, k=3), strict=True))
        start, rest = (">", "") if quality is None else ("@", f"+\n{quality}\n")
        records.append(f"{start}{name} {tags}\n{bases}\n{rest}")
    return made, "".join(records)


def compared(folder: Path, *words: str, sort: bool = True) -> None:
    """Assert that BAM has the bytes of htslib's conversion of SAM, and so has sorted BAM; and that an index fits."""
    for out in ("x.sam", "x.bam"):
        assert_success(run(*words, "-o", out, cwd=folder))
    assert parts_of(folder / "x.bam") == converted(folder / "x.sam")
    if not sort:
        return
    for options in (["-o", "s.sam"], ["-o", "s.bam", "--write-index"]):
        assert_success(run(*words, *options, "--sort", cwd=folder))
    wanted = sorted_parts(folder / "x.sam")
    assert parts_of(folder / "s.bam") == wanted
    assert converted(folder / "s.sam") == wanted
    assert_index(folder / "s.bam")


def end_of(record: pysam.AlignedSegment) -> int:
    return record.reference_end or record.reference_start + 1


def assert_index(path: Path) -> None:
    """Compare counts and the records of regions with all records of the file."""
    with pysam.AlignmentFile(str(path), check_sq=False) as file:
        records = [r for r in file.fetch(until_eof=True) if r.reference_id >= 0]
        rng = random.Random(1)
        for name, length in zip(file.references, file.lengths, strict=True):
            mine = [r for r in records if r.reference_name == name]
            stats = next(s for s in file.get_index_statistics() if s.contig == name)
            assert (stats.mapped, stats.total) == (sum(not r.is_unmapped for r in mine), len(mine))
            for _ in range(20):
                begin = rng.randrange(length)
                end = min(begin + rng.choice((1, 50, length)), length)
                inside = [
                    r for r in mine if r.reference_start < end and (r.reference_end or r.reference_start + 1) > begin
                ]
                assert [r.to_string() for r in file.fetch(name, begin, end)] == [r.to_string() for r in inside]
        assert file.nocoordinate == sum(1 for r in file.fetch(until_eof=True) if r.reference_id < 0)


@pytest.mark.parametrize(
    "options",
    ["--md --cs --clip hard", "--cigar m --metric affine --penalties 4,6,2 --match 2 --ambiguous wildcard"],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_odd_reads_and_tags(seed: int, options: str, tmp_path: Path) -> None:
    made, reads = odd_world(seed)
    made.write(tmp_path)
    (tmp_path / "reads.fq").write_text(reads)
    words = ("align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--copy-tags", "--keep-unmapped")
    group = ("--read-group", "@RG\\tID:one:two\\tSM:x")
    compared(tmp_path, *words, *options.split(), *group * (seed != 2))


def test_mates(tmp_path: Path) -> None:
    made = random_world(31, reads=80)
    made.write(tmp_path)
    number = {name: int(name.removeprefix("read")) for name in made.reads}
    with (tmp_path / "reads.fq").open("w") as file:
        for name, (bases, quality) in made.reads.items():
            file.write(f"@p{number[name] // 2}\n{bases}\n+\n{quality}\n")
    header, rows = (list(lines) for _, lines in groupby(made.sam().splitlines(), lambda line: line[0] == "@"))
    records = []
    for row in rows:
        name, flags, rest = row.split("\t", 2)
        own = PAIRED | (LAST if number[name] % 2 else FIRST)
        records.append(f"p{number[name] // 2}\t{int(flags) | own}\t{rest}")
    mapped = {row.split("\t")[0] for row in rows}
    for name in made.reads.keys() - mapped:
        flags = PAIRED | 4 | (LAST if number[name] % 2 else FIRST)
        records.append(f"p{number[name] // 2}\t{flags}\t*\t0\t0\t*\t*\t0\t0\t*\t*")
    (tmp_path / "map.sam").write_text("\n".join([*header, *sorted(records)]) + "\n")
    compared(tmp_path, "align", "reads.fq", "ref.fa", "--mappings", "map.sam", "--keep-unmapped", "--clip", "hard")


def test_pairs_of_all_kinds(tmp_path: Path) -> None:
    """Empty sequences, one base of quality '*', symbols that BAM lacks, neighbours of one target, no alignment."""
    rng = random.Random(5)
    queries, targets = [], []
    for i in range(300):
        target = "".join(rng.choices(IUPAC + "=.", k=rng.choice((0, 1, 2, 33, 90))))
        query = "".join(c if rng.random() < 0.9 else rng.choice("ACGT*-0") for c in target)
        query = "" if rng.random() < 0.05 else query
        quality = "*" if len(query) == 1 else "".join(rng.choices(VISIBLE, k=len(query)))
        queries.append(f"@{random_name(rng)}\n{query}\n+\n{quality}\n")
        targets.append(f">t{i // 2 if not target else i}\n{target}\n")
    (tmp_path / "q.fq").write_text("".join(queries))
    (tmp_path / "t.fa").write_text("".join(targets))
    compared(tmp_path, "align", "q.fq", "t.fa", "--md", "--cs", "--max-cost", "20")


def test_more_operations_than_the_field_holds(tmp_path: Path) -> None:
    target, query = "ACGGT" * 40_000, "CCC" + "ACGGT" * 5000 + "ATGGT" * 35_000 + "AA"
    (tmp_path / "reads.fq").write_text(f"@r\n{query}\n+\n{'I' * len(query)}\n@s\nACGGT\n+\nIIIII\n")
    (tmp_path / "ref.fa").write_text(f">t\n{target}\n")
    (tmp_path / "map.paf").write_text(
        "r\t200005\t3\t200003\t+\tt\t200000\t0\t200000\t9\t9\t7\ns\t5\t0\t5\t-\tt\t200000\t10\t15\t5\t5\t7\n"
    )
    words = ("align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--span", "mapped", "--metric", "edit")
    compared(tmp_path, *words)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    made = random_world(9, reads=150)
    made.write(tmp_path)
    return tmp_path


WORDS = ("align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--keep-unmapped", "--sort", "-q")


@pytest.mark.parametrize("name", ["x.bam", "x.sam"])
def test_what_is_spilled_is_merged_in_the_same_order(
    inside: Callable[..., Result],
    many: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    assert_success(inside(*WORDS, "-o", "w.sam", cwd=many))
    wanted = converted(many / "w.sam")
    spilled = []
    spill = sorting.Sorter._spill
    monkeypatch.setattr(sorting.Sorter, "_spill", lambda self: (spilled.append(1), spill(self)))
    monkeypatch.setattr(sorting, "_CHUNK", 1000)
    for memory, batch in ((1, "1"), (5000, "300"), (20_000, "50")):
        spilled.clear()
        bounds = ("--sort-memory", str(memory), "--batch-bases", batch)
        assert_success(inside(*WORDS, "-o", name, *bounds, cwd=many))
        assert len(spilled) > 2
        assert (parts_of(many / name) if name == "x.bam" else converted(many / name)) == wanted


def test_threads_and_batches_change_no_byte(many: Path) -> None:
    options = [("-t", "1"), ("-t", "4", "--batch-bases", "1"), ("-t", "2", "--batch-bases", "500")]
    for words in (WORDS, WORDS[:-2]):
        found = []
        for choice in options:
            assert_success(run(*words, "-q", "-o", "x.bam", *choice, cwd=many))
            found.append(parts_of(many / "x.bam"))
        assert found[0] == found[1] == found[2]


def test_temporary_files_that_do_not_fit(
    inside: Callable[..., Result],
    many: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The records so far are in memory, so that the incomplete file has them all."""

    def full() -> IO[bytes]:
        return Path("/dev/full").open("wb")

    monkeypatch.setattr(sorting, "unnamed_file", full)
    result = inside(*WORDS, "-o", "x.bam", "--batch-bases", "300", "--sort-memory", "5000", cwd=many)
    assert_failure(result, 1, "temporary file for sorting, in ", "(TMPDIR): No space left on device")
    (partial,) = many.glob("x.bam*")
    assert f"pairs were written, to {partial}" in result.err
    pysam.quickcheck(str(partial))
    with pysam.AlignmentFile(str(partial)) as file:
        places = [(r.reference_id % 1000, r.reference_start) for r in file.fetch(until_eof=True)]
    assert len(places) > 10 and places == sorted(places)
