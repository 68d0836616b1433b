"""Records of mates refer to each other, however the reads are given."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pysam
import pytest

from tests.cli.support import Result, assert_failure, assert_success, run
from tests.mapped.test_valid_sam import NEEDS_MINIMAP2
from tests.mapped.world import Expected, World, expected, random_world, sam_of, turned
from tests.oracle_spans import GLOBAL, Scheme

PAIRED, PROPER, UNMAPPED, MATE_UNMAPPED, REVERSE, MATE_REVERSE, FIRST, LAST, LESSER, DUPLICATE = (
    *(1, 2, 4, 8, 16, 32, 64, 128),
    256 | 2048,
    1024,
)


@pytest.fixture(scope="module")
def world() -> World:
    """Reads p0/1, p0/2, p1/1 and so on: pairs with both reads mapped, one, or none."""
    made = random_world(31, reads=28)
    names = {f"read{i}": f"p{i // 2}/{i % 2 + 1}" for i in range(len(made.reads))}
    made.reads = {names[name]: read for name, read in made.reads.items()}
    made.rows = [replace(row, read=names[row.read]) for row in made.rows]
    made.rows = [row for row in made.rows if base(row.read) not in ("p5", "p13")]
    mapped = {row.read for row in made.rows}
    kinds = {tuple(f"p{i}/{k}" in mapped for k in (1, 2)) for i in range(14)}
    assert len(kinds) == 4
    return made


def base(name: str) -> str:
    return name[:-2]


def mate(name: str) -> str:
    return base(name) + ("/2" if name.endswith("/1") else "/1")


def own_flags(name: str) -> int:
    return PAIRED | (FIRST if name.endswith("/1") else LAST)


def is_proper(name: str) -> bool:
    return int(base(name)[1:]) % 2 == 0


def mappings(world: World, shuffled: bool = False) -> str:
    """Return the mappings as SAM, with wrong mate fields, which must be ignored."""
    lines = [line for line in world.sam().splitlines(True) if line.startswith("@")]
    rng, records = random.Random(3), []
    mapped = {row.read for row in world.rows}
    for line in world.sam().splitlines(True):
        name, flags, *rest = line.split("\t")
        if not line.startswith("@"):
            wrong = (
                rng.choice((0, MATE_REVERSE, MATE_UNMAPPED)) | own_flags(name) | PROPER * is_proper(name) | DUPLICATE
            )
            records.append("\t".join([base(name), str(int(flags) | wrong), *rest]))
    for name in sorted(world.reads.keys() - mapped):
        records.append(f"{base(name)}\t{UNMAPPED | own_flags(name)}\t*\t0\t0\t*\t*\t0\t0\t*\t*\n")
    if shuffled:
        rng.shuffle(records)
    else:
        records.sort(key=lambda record: int(record.split("\t")[0][1:]))
    return "".join(lines + records)


def paired(world: World) -> list[list[str]]:
    """Return the records of pairs with at least one mapped read."""
    answers = expected(world, "mapped", 0, Scheme(), GLOBAL)
    of = {name: [a for a in answers if a.row.read == name] for name in world.reads}
    primary: dict[str, Expected | None] = {
        name: next((a for a in found if not a.flags & LESSER), None) for name, found in of.items()
    }
    records = []
    for name, (symbols, quality) in world.reads.items():
        me, you = primary[name], primary[mate(name)]
        flags, mate_place = own_flags(name) | DUPLICATE * (me is not None), ["*", "0", "0"]
        if you is None:
            flags |= MATE_UNMAPPED
        elif you.flags & REVERSE:
            flags |= MATE_REVERSE
        if other := you or me:
            mate_place = [other.row.target, str(other.position + 1), "0"]
        if me and you and me.row.target == you.row.target:
            flags |= PROPER * is_proper(name)
            length = max(me.end, you.end) - min(me.position, you.position)
            leftmost = (me.position, name[-1]) < (you.position, mate(name)[-1])
            mate_place[2] = str(length if leftmost else -length)
        mate_tags = [f"MC:Z:{you.clipped}", f"MQ:i:{you.row.mapq}"] if you else []
        if me is None and you is not None:
            fields = [str(flags | UNMAPPED), you.row.target, str(you.position + 1), "0", "*", *mate_place]
            records.append([base(name), *fields, symbols, quality or "*", *mate_tags])
        for answer in of[name]:
            fields = sam_of(answer, [o for o in of[name] if o is not answer])
            fields[0:2] = [base(name), str(flags | answer.flags)]
            fields[6:9] = mate_place
            fields = ["tp:A:P" if f == "tp:A:I" else f for f in fields]  # the SAM input lacks this tag
            records.append([*fields, *mate_tags])
    return [[*r[:6], "=" if r[6] == r[2] and r[6] != "*" else r[6], *r[7:]] for r in records]


def unmapped(world: World) -> list[list[str]]:
    mapped = {row.read for row in world.rows}
    alone = [name for name in world.reads if not {name, mate(name)} & mapped]
    flags = [str(own_flags(name) | UNMAPPED | MATE_UNMAPPED) for name in alone]
    places = ["*", "0", "0", "*", "*", "0", "0"]
    return [[base(name), f, *places, *map(str, world.reads[name])] for name, f in zip(alone, flags, strict=True)]


def fastq(world: World, names: list[str], suffixes: bool) -> str:
    chosen = ((name if suffixes else base(name), *world.reads[name]) for name in names)
    return "".join(f"@{name} x:N\n{symbols}\n+\n{quality}\n" for name, symbols, quality in chosen)


def write_bam(world: World, path: Path) -> None:
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6"}, "SQ": [{"SN": "old", "LN": 9999}]})
    with pysam.AlignmentFile(str(path), "wb", header=header) as file:
        for name, (symbols, quality) in world.reads.items():
            reverse = len(symbols) % 2
            written = (turned(symbols), quality[::-1]) if reverse else (symbols, quality)
            place = ["old", "5", "9", f"{len(symbols)}M", "*", "0", "0"]
            fields = [base(name), str(own_flags(name) | REVERSE * reverse), *place, *written]
            file.write(pysam.AlignedSegment.fromstring("\t".join(map(str, fields)), header))


def align(folder: Path, reads: str, *options: str) -> Result:
    words = (
        "align",
        reads,
        "ref.fa",
        "--mappings",
        "map.sam",
        "--span",
        "mapped",
        "--md",
        "--no-header",
        "--check",
        "-t",
        "2",
    )
    return run(*words, *options, cwd=folder)


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    world.write(tmp_path)
    (tmp_path / "map.sam").write_text(mappings(world))
    return tmp_path


@pytest.mark.parametrize("layout", ["named", "in turn", "two files", "bam"])
def test_unmapped_mates_that_the_mappings_lack(world: World, folder: Path, layout: str) -> None:
    """As after `samtools view -F 4`: they keep their pair's name and number."""
    lines = (folder / "map.sam").read_text().splitlines(keepends=True)
    kept = [line for line in lines if line.startswith("@") or not int(line.split("\t")[1]) & UNMAPPED]
    assert len(kept) < len(lines)
    (folder / "map.sam").write_text("".join(kept))
    names, options, reads = list(world.reads), [], "reads.fq"
    if layout == "bam":
        reads = "reads.bam"
        write_bam(world, folder / reads)
    elif layout == "two files":
        for file, k in (("reads.fq", "/1"), ("mates.fq", "/2")):
            (folder / file).write_text(fastq(world, [name for name in names if name.endswith(k)], False))
        options = ["--mates", "mates.fq"]
    else:
        (folder / reads).write_text(fastq(world, names, layout == "named"))
    result = align(folder, reads, "--keep-unmapped", *options)
    assert_success(result)
    mapped = {row.read for row in world.rows}
    left = [name for name in names if name not in mapped]
    alone = {name for name in left if mate(name) in mapped}
    assert alone
    expected = [
        [base(name), str(own_flags(name) | UNMAPPED | MATE_UNMAPPED * (name not in alone)), *world.reads[name]]
        for name in left
    ]
    found = [[*row[:2], *row[9:11]] for row in result.rows if int(row[1]) & UNMAPPED]
    assert sorted(found) == sorted([str(field or "*") for field in row] for row in expected)


@pytest.mark.parametrize("command", ["align", pytest.param("map", marks=NEEDS_MINIMAP2)])
def test_reads_in_bam_without_its_last_block(world: World, folder: Path, command: str) -> None:
    """A file that ends behind a block has whole records, and htslib only warns: reads would be missing silently."""
    write_bam(world, folder / "reads.bam")
    whole = (folder / "reads.bam").read_bytes()
    (folder / "reads.bam").write_bytes(whole[:-28])
    words = ("reads.bam", "ref.fa", "--mappings", "map.sam") if command == "align" else ("ref.fa", "reads.bam")
    assert_failure(run(command, *words, "-o", "x.sam", cwd=folder), 1, "reads.bam: truncated")
    assert not (folder / "x.sam").exists()


@pytest.mark.parametrize("form", ["named", "in turn", "apart", "two files", "two files, named", "bam", "shuffled"])
def test_records_of_mates_however_reads_come(world: World, folder: Path, form: str) -> None:
    names, options, reads = list(world.reads), [], "reads.fq"
    first, second = ([n for n in names if n.endswith(k)] for k in ("/1", "/2"))
    if form == "shuffled":
        (folder / "map.sam").write_text(mappings(world, shuffled=True))
    if form == "bam":
        reads = "reads.bam"
        write_bam(world, folder / reads)
    elif form.startswith("two files"):
        named = form.endswith("named")
        (folder / reads).write_text(fastq(world, first, named))
        (folder / "mates.fq").write_text(fastq(world, second[::-1], named))
        options = ["--mates", "mates.fq"]
    else:
        order = [*second, *first] if form == "named" else [*first, *second] if form == "apart" else names
        (folder / reads).write_text(fastq(world, order, form == "named"))
    result = align(folder, reads, "--keep-unmapped", *options)
    assert_success(result)
    wanted, rest = paired(world), unmapped(world)
    assert len(rest) > 2
    if form == "shuffled":
        # Another one of several primary mappings comes first now, and unmapped mates get its position.
        found, known = ([r[:1] + r[2:4] * (r[5] != "*") + r[5:6] for r in x] for x in (result.rows, [*wanted, *rest]))
        assert sorted(found) == sorted(known)
    else:
        assert result.rows[: len(wanted)] == wanted
        assert sorted(result.rows[len(wanted) :]) == sorted(rest)
    kept = align(folder, reads, *options)
    assert kept.rows == result.rows[: len(wanted)]
    split = align(folder, reads, *options, "--batch-bases", "1", "-t", "1")
    assert split.out == kept.out


def test_samtools_says_the_same_of_mates(world: World, folder: Path) -> None:
    (folder / "reads.fq").write_text(fastq(world, list(world.reads), False))
    words = ("align", "reads.fq", "ref.fa", "--mappings", "map.sam", "-o", "out.bam", "--keep-unmapped")
    assert_success(run(*words, cwd=folder))
    pysam.fixmate("-p", str(folder / "out.bam"), str(folder / "fixed.bam"))
    seen = 0
    with (
        pysam.AlignmentFile(str(folder / "out.bam")) as ours,
        pysam.AlignmentFile(str(folder / "fixed.bam")) as theirs,
    ):
        for a, b in zip(ours, theirs, strict=True):
            if not a.flag & LESSER:
                assert a.to_string().split("\t")[:8] == b.to_string().split("\t")[:8]
                seen += 1
    assert seen == len(world.reads)


def test_a_mate_that_mappings_do_not_name(world: World, folder: Path) -> None:
    """Flags about the mate are kept, but its position is unknown."""
    lines = mappings(world).splitlines(True)
    kept = [line for line in lines if line.startswith("@") or not int(line.split("\t")[1]) & LAST]
    (folder / "map.sam").write_text("".join(kept))
    result = align(folder, "reads.fq")
    assert_success(result)
    said = {(r[0], r[2], r[3]): int(r[1]) for r in (line.split("\t") for line in kept) if not r[0].startswith("@")}
    assert len(result.rows) > 4
    for row in result.rows:
        assert row[6:9] == ["*", "0", "0"]
        carried = PAIRED | PROPER | MATE_UNMAPPED | MATE_REVERSE | FIRST | LAST | DUPLICATE | REVERSE
        assert int(row[1]) & carried == said[row[0], row[2], row[3]] & carried


def test_a_mate_that_costs_too_much_is_unmapped_beside_the_other(tmp_path: Path) -> None:
    like, unlike = "AACCGGTTAC" * 6, "ACGT" * 15
    (tmp_path / "ref.fa").write_text(f">t\n{like}{'G' * 60}\n")
    (tmp_path / "reads.fq").write_text(f">a/1\n{turned(like)}\n>a/2\n{unlike}\n")
    (tmp_path / "map.sam").write_text(
        "a\t83\tt\t1\t60\t60M\t=\t61\t120\t*\t*\na\t163\tt\t61\t60\t60M\t=\t1\t-120\t*\t*\n"
    )
    result = align(tmp_path, "reads.fq", "--max-cost", "40")
    assert [row[:9] for row in result.rows] == [
        ["a", str(1 | 8 | 16 | 64), "t", "1", "60", "60=", "=", "1", "0"],
        ["a", str(1 | 4 | 32 | 128), "t", "1", "0", "*", "=", "1", "0"],
    ]
    paf = run("align", "reads.fq", "ref.fa", "--mappings", "map.sam", "--format", "paf", cwd=tmp_path)
    assert [row[0] for row in paf.rows] == ["a/1", "a/2"]


def test_single_reads_beside_pairs(world: World, folder: Path) -> None:
    """As with merged pairs: whether reads are paired is not decided by the first record."""
    (folder / "ref.fa").write_text(">t\nACGTTGCAACGGATTC\n")
    (folder / "map.sam").write_text(
        "b\t0\tt\t1\t9\t8M\t*\t0\t0\t*\t*\na\t65\tt\t1\t9\t4M\t*\t0\t0\t*\t*\na\t129\tt\t5\t9\t4M\t*\t0\t0\t*\t*\n"
    )
    (folder / "reads.fa").write_text(">a/2\nTGCA\n>b\nACGTTGCA\n>a/1\nACGT\n>c\nAC\n")
    result = run(
        "align", "reads.fa", "ref.fa", *("--mappings", "map.sam", "--keep-unmapped", "--no-header"), cwd=folder
    )
    assert [(r[0], r[1], *r[5:9]) for r in result.rows] == [
        ("b", "0", "8=", "*", "0", "0"),
        ("a", "65", "4=", "=", "5", "8"),
        ("a", "129", "4=", "=", "1", "-8"),
        ("c", "4", "*", "*", "0", "0"),
    ]


@pytest.mark.parametrize(
    ("flags", "reads", "words"),
    [
        ((1, 129), ">a/1\nACGT\n>a/2\nTGCA\n", "neither the first (64) nor the last (128) of two"),
        ((193, 129), ">a/1\nACGT\n>a/2\nTGCA\n", "neither the first (64) nor the last (128) of two"),
        ((65, 0), ">a/1\nACGT\n>a/2\nTGCA\n", "in some of its mappings, and not in others"),
        (
            (65, 129),
            ">a\nACGT\n",
            "(the second of a pair: mates are read one behind the other, from BAM, or by --mates)",
        ),
        ((65, 129), ">a\nACGT\n>a\nTGCA\n>a\nTTTT\n>b\nA\n", "more reads have this name than the two of a pair"),
        ((0, 0), ">a\nACGT\n>a\nTGCA\n>b\nA\n", "two reads have this name"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_wrong_with_mates(tmp_path: Path, flags: tuple[int, int], reads: str, words: str) -> None:
    (tmp_path / "ref.fa").write_text(">t\nACGTTGCA\n")
    (tmp_path / "reads.fa").write_text(reads)
    (tmp_path / "map.sam").write_text(
        "".join(f"a\t{f}\tt\t{p}\t9\t4M\t*\t0\t0\t*\t*\n" for f, p in zip(flags, (1, 5), strict=True))
    )
    assert_failure(run("align", "reads.fa", "ref.fa", "--mappings", "map.sam", cwd=tmp_path), 1, words)


def test_mates_in_bam_or_without_mappings(world: World, folder: Path) -> None:
    write_bam(world, folder / "reads.bam")
    assert_failure(align(folder, "reads.fq", "--mates", "reads.bam"), 1, "reads.bam: is BAM; BAM has both mates")
    assert_failure(run("align", "reads.fq", "ref.fa", "--mates", "reads.fq", cwd=folder), 2, "--mates is for reads")
    assert_failure(align(folder, "-", "--mates", "-"), 2, "only one of READS")
