"""`wfacli align --mappings` as users run it: pipes, options, and errors in inputs."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pysam
import pytest

from tests.cli.support import Result, assert_failure, assert_success, bgzf, rows_of, run
from tests.mapped.world import World, random_world
from wfacli.config import Container, OutputSpec
from wfacli.errors import WfacliError
from wfacli.io.write.hts import HtsOutput

FILES = ("reads.fq", "ref.fa", "--mappings")
MAPPED = ("--span", "mapped")  # so that the parts aligned before are aligned again


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = random_world(21, reads=15)
    made.write(tmp_path)
    return made


def align(folder: Path, *options: str, stdin: bytes = b"") -> Result:
    return run("align", "reads.fq", "ref.fa", *options, cwd=folder, stdin=stdin)


def test_mappings_through_a_pipe_to_a_sorted_bam(world: World, tmp_path: Path) -> None:
    wanted = align(tmp_path, "--mappings", "map.paf", "--md", "--format", "sam")
    assert_success(wanted)
    options = ("--md", "--sort", "--write-index", "-o", "x.bam")
    result = align(tmp_path, "--mappings", "-", *options, stdin=world.paf().encode())
    assert_success(result)
    reads = len({row.read for row in world.rows})
    assert f"15 reads, {reads} mapped, {15 - reads} unmapped (left out)," in result.err
    pysam.quickcheck(str(tmp_path / "x.bam"))
    with pysam.AlignmentFile(str(tmp_path / "x.bam")) as file:
        found = [r.to_string().split("\t") for name in world.reference for r in file.fetch(name)]
    expected = [
        [re.sub(r"^(de:f:0\.\d*?)0*$", r"\1", field) for field in row] for row in wanted.rows
    ]  # as BAM's floats are printed
    assert sorted(map(str, found)) == sorted(map(str, expected))
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("x")) == ["x.bam", "x.bam.bai"]


def test_bam_and_sam_on_standard_output_and_input(world: World, tmp_path: Path) -> None:
    wanted = align(tmp_path, "--mappings", "map.paf", "--no-header", *MAPPED)
    bam = align(tmp_path, "--mappings", "map.paf", "--format", "bam", *MAPPED)
    assert_success(bam)
    again = align(tmp_path, "--mappings", "-", "--no-header", *MAPPED, stdin=bam.out)
    assert_success(again)
    assert again.out == wanted.out
    reads = run(
        *("align", "-", *FILES[1:], "map.paf", "--no-header", *MAPPED),
        cwd=tmp_path,
        stdin=gzip.compress((tmp_path / "reads.fq").read_bytes()),
    )
    assert reads.out == wanted.out


@pytest.mark.parametrize("options", [("bam",), ("bam", "--sort"), ("sam", "--sort"), ("cram",)], ids=" ".join)
def test_records_that_cannot_be_written(world: World, tmp_path: Path, options: tuple[str, ...]) -> None:
    words = ("align", *FILES, "map.paf", "--format", *options)
    reason = "samtools view: " if options == ("cram",) else "No space left on device"
    with Path("/dev/full").open("wb") as full:
        assert_failure(run(*words, cwd=tmp_path, stdout=full), 1, f"standard output: {reason}")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        gone = run(*words, cwd=tmp_path, stdout=pipe)
    assert (gone.code, gone.err) == (141, "")


def test_cram_wants_a_reference_to_look_up(world: World, tmp_path: Path) -> None:
    (tmp_path / "ref.fa.gz").write_bytes(gzip.compress((tmp_path / "ref.fa").read_bytes()))
    options = ("--mappings", "map.paf", "-o", "x.cram")
    assert_failure(run("align", "reads.fq", "ref.fa.gz", *options, cwd=tmp_path), 1, "bgzip: ref.fa.gz")
    (tmp_path / "ref.fa.gz").write_bytes(bgzf((tmp_path / "ref.fa").read_bytes()))
    assert_success(run("align", "reads.fq", "ref.fa.gz", *options, cwd=tmp_path))


def test_cram_wants_an_index_where_it_may_make_none(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path)
    spec = OutputSpec(container=Container.CRAM)
    with pytest.raises(WfacliError, match=r"^CRAM needs .*ref\.fa\.fai, in a folder that cannot be written to: run"):
        HtsOutput(None, spec, 1, str(tmp_path / "ref.fa"))
    (tmp_path / "ref.fa.gz").write_bytes(bgzf((tmp_path / "ref.fa").read_bytes()))
    with pytest.raises(WfacliError, match=r"ref\.fa\.gz\.fai and .*ref\.fa\.gz\.gzi, in a folder"):
        HtsOutput(None, spec, 1, str(tmp_path / "ref.fa.gz"))
    pysam.faidx(str(tmp_path / "ref.fa"))
    out = HtsOutput(str(tmp_path / "x.cram"), spec, 1, str(tmp_path / "ref.fa"))
    out.write(b"@HD\tVN:1.6\n")
    out.finish()


def test_cram_of_a_reference_that_no_index_fits(tmp_path: Path) -> None:
    (tmp_path / "ref.fa").write_text(">a\nACGTACGTACGT\nACG\nACGTACGT\n")
    result = run("align", "ref.fa", "ref.fa", "-o", "x.cram", cwd=tmp_path)
    assert_failure(result, 1, "ref.fa: the reference cannot be indexed: ", "at line 4")


def test_pairs_become_bam_too(tmp_path: Path) -> None:
    (tmp_path / "q.fa").write_text(">a\nACGTACGT\n>b\nGGGG\n")
    (tmp_path / "t.fa").write_text(">x\nACGTCGT\n>y\nGGCG\n")
    for command in ("align", "extend"):
        result = run(command, "q.fa", "t.fa", "-o", "p.bam", "--sort", "--write-index", cwd=tmp_path)
        assert_success(result)
        with pysam.AlignmentFile(str(tmp_path / "p.bam")) as file:
            assert [r.query_name for r in file.fetch("x")] == ["a"]


@pytest.mark.parametrize("options", [("-o", "x.bam"), ("-o", "x.bam", "--sort"), ("-o", "x.cram")], ids=" ".join)
def test_compression_changes_the_size_alone(world: World, tmp_path: Path, options: tuple[str, ...]) -> None:
    size, records = {}, {}
    for level in "09":
        assert_success(align(tmp_path, "--mappings", "map.paf", *options, "--compression", level))
        path = tmp_path / options[1]
        size[level], records[level] = path.stat().st_size, pysam.view("-T", str(tmp_path / "ref.fa"), str(path))
    assert records["0"] == records["9"] and size["0"] > 1.05 * size["9"]
    assert_failure(align(tmp_path, "--mappings", "map.paf", "--compression", "1"), 2, "the output is plain SAM")


def test_a_cigar_of_many_operations_fits_bam(tmp_path: Path) -> None:
    # 70,000 runs: BAM has 16 bits for their number, and stores more in a tag.
    target, query = "ACGGT" * 40000, "ACGGT" * 5000 + "ATGGT" * 35000
    (tmp_path / "reads.fq").write_text(f">r\n{query}\n")
    (tmp_path / "ref.fa").write_text(f">t\n{target}\n")
    (tmp_path / "map.paf").write_text("r\t200000\t0\t200000\t+\tt\t200000\t0\t200000\t9\t9\t7\n")
    assert_success(align(tmp_path, "--mappings", "map.paf", "--metric", "edit", "-o", "x.bam"))
    with pysam.AlignmentFile(str(tmp_path / "x.bam"), check_sq=False) as file:
        (record,) = file
    assert len(record.cigartuples) > 65535 and record.query_length == record.infer_query_length() == 200000
    back = align(tmp_path, "--mappings", "x.bam", "--metric", "edit", "--format", "paf")
    assert_success(back)
    assert back.rows[0][1:9] == ["200000", "0", "200000", "+", "t", "200000", "0", "200000"]


def test_stats_count_reads(world: World, tmp_path: Path) -> None:
    assert_success(align(tmp_path, "--mappings", "map.paf", "--stats", "s.json", "-o", "x.sam", "--span", "read"))
    report = json.loads((tmp_path / "s.json").read_text())
    assert (report["reads"], report["mappings"], report["skipped"]) == (15, len(world.rows), 0)
    assert report["options"]["spec"]["mapping"]["span"] == "read"
    assert report["options"]["spec"]["mapping"]["pad"] == 100


COLUMNS = {
    "read": 0,
    "length": 1,
    "q_beg": 2,
    "q_end": 3,
    "strand": 4,
    "target": 5,
    "t_len": 6,
    "t_beg": 7,
    "t_end": 8,
    "mapq": 11,
}
FAULTS = [
    ({"read": "nobody"}, "nobody: a mapping's read is not among the reads"),
    ({"target": "chrZ"}, "maps to chrZ, which is not in the reference"),
    ({"t_len": "7"}, "bases in the reference, and 7 here: is this another reference?"),
    ({"length": "9"}, "a mapping is of a read of 9 bases, and the read has"),
    ({"t_end": "100000"}, "to 100000 of"),
    ({"q_end": "100000"}, "to 100000 of a read of"),
    ({"q_beg": "-1"}, "'-1', which is no number"),
    ({"q_end": "0"}, "of a read of"),
    ({"strand": "x"}, "the strand is 'x', and not + or -"),
    ({"strand": ""}, "the strand is '', and not + or -"),
    ({"strand": "*"}, "the strand is '*', and not + or -"),
    ({"target": "*"}, "maps to *, which is not in the reference"),
    ({"t_beg": "999"}, "maps to bases 999 to"),
    ({"t_end": "99999999999999999999"}, "which is no number"),
    ({"mapq": "high"}, "the mapping quality is 'high', which is no number"),
    ({"mapq": "256"}, "the mapping quality is 256; 0 to 255 are allowed"),
    ({"mapq": "300"}, "the mapping quality is 300; 0 to 255 are allowed"),
]


def damaged(world: World, changes: dict[str, str], row: int = 2) -> str:
    lines = world.paf().splitlines()
    fields = lines[row].split("\t")
    for column, value in changes.items():
        fields[COLUMNS[column]] = value
    if "length" in changes:
        fields[2:4] = ["1", "5"]
    lines[row] = "\t".join(fields)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("changes", "words"), FAULTS, ids=lambda value: str(value)[:30])
def test_faulty_mappings_end_the_run_or_are_skipped(
    world: World, tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    (tmp_path / "map.paf").write_text(damaged(world, changes))
    failed = align(tmp_path, "--mappings", "map.paf", "-o", "x.sam")
    assert_failure(failed, 1, "map.paf, line 3", words)
    assert not (tmp_path / "x.sam").exists()
    skipped = align(tmp_path, "--mappings", "map.paf", "-o", "x.sam", "--on-error", "skip", "--stats", "s.json")
    assert skipped.code == 0, skipped.err
    assert "1 faulty mapping left out; the first: map.paf, line 3" in skipped.err and words in skipped.err
    assert json.loads((tmp_path / "s.json").read_text())["skipped"] == 1
    assert len(rows_of((tmp_path / "x.sam").read_bytes())) == len(world.rows) - 1


@pytest.mark.parametrize("form", ["paf", "sam"])
def test_mapping_qualities(world: World, tmp_path: Path, form: str) -> None:
    lines = world.paf().splitlines() if form == "paf" else world.sam().splitlines()
    row = next(number for number, line in enumerate(lines) if not line.startswith("@"))
    fields = lines[row].split("\t")
    for quality in ("0", "60", "255", "256", "300"):
        fields[11 if form == "paf" else 4] = quality
        (tmp_path / "map").write_text("\n".join([*lines[:row], "\t".join(fields), *lines[row + 1 :]]) + "\n")
        result = align(tmp_path, "--mappings", "map", "--format", "paf")
        if int(quality) > 255:
            assert_failure(
                result, 1, f"map, line {row + 1}", f"the mapping quality is {quality}; 0 to 255 are allowed"
            )
        else:
            assert_success(result)
            assert {columns[11] for columns in result.rows if columns[0] == fields[0]} >= {quality}


@pytest.mark.parametrize("form", ["sam", "bam"])
def test_mappings_to_another_reference_of_the_same_names(world: World, tmp_path: Path, form: str) -> None:
    there = len(world.reference["chr1"])
    sam = world.sam().replace(f"SN:chr1\tLN:{there}", f"SN:chr1\tLN:{there + 1}")
    (tmp_path / "map.sam").write_text(sam)
    if form == "bam":
        pysam.view("-b", "-o", str(tmp_path / "map.bam"), str(tmp_path / "map.sam"), catch_stdout=False)
    words = f"chr1 has {there} bases in the reference, and {there + 1} here: is this another reference?"
    assert_failure(align(tmp_path, "--mappings", f"map.{form}", "-o", "x.sam"), 1, words)
    skipped = align(tmp_path, "--mappings", f"map.{form}", "-o", "x.sam", "--on-error", "skip")
    assert_success(skipped)
    left = [row for row in world.rows if row.target != "chr1"]
    assert 0 < len(left) < len(world.rows)
    assert len(rows_of((tmp_path / "x.sam").read_bytes())) == len(left)


SAM = "read1\t{}\tchr0\t{}\t60\t{}\t*\t0\t0\t*\t*\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SAM.format(0, 5, "10M"), "a mapping is of a read of 10 bases"),
        (SAM.format(0, 5, "*"), "has no CIGAR"),
        (SAM.format(0, 5, "10Q"), "the CIGAR is none"),
        (SAM.format(0, 5, "9223372036854775807M9223372036854775807M"), "the CIGAR is none"),
        (SAM.format(0, 5, "3H6M4S").replace("\t*\t*\n", "\tACGT\t*\n"), "the CIGAR is of 10 bases, and SEQ has 4"),
        (SAM.format(0, 5, "4M100N4M"), "record read1: has an intron"),
        ("read1\t9\t0\t8\t+\tchr0\t350\t5\t113\t8\t8\t60\ttp:A:P\tcg:Z:4M100N4M\n", "minimap2 -ax splice"),
        ("read1\t9\t0\t8\t+\tchr0\t350\t5\t113\t8\t8\t60\tcs:Z::4~gt100ag:4\n", "record read1: has an intron"),
        (SAM.format(0, 0, "10M"), "has no position"),
        (SAM.format(1, 5, "10M"), "of several reads (flag 1)"),
        ("@CO\thello\n" + SAM.format("x", 5, "10M"), "the flag is 'x'"),
        ("@SQ\tSN:chr0\tLN:many\n", "a target's length in the header is 'many', which is no number"),
        ("@HD\tVN:1.6\nread1\t0\tchr0\n", "too few columns for SAM"),
        ("read1\t10\t0\n", "has 3 columns, and PAF has 12"),
        (">read1\nACGT\n", "columns, and PAF has 12"),
        ("\0\0\0", "has a NUL byte"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_mapping(world: World, tmp_path: Path, text: str, words: str) -> None:
    text = text.replace("\t350\t", f"\t{len(world.reference['chr0'])}\t")
    assert_failure(align(tmp_path, "--mappings", "-", stdin=text.encode()), 1, "-, line ", words)


@pytest.mark.parametrize("kind", ["paf", "bam", "gz"])
def test_truncated_mappings(world: World, tmp_path: Path, kind: str) -> None:
    data = world.paf().encode()[:-8]
    if kind == "gz":
        data = gzip.compress(world.paf().encode())[:-20]
    elif kind == "bam":
        (tmp_path / "map.sam").write_text(world.sam())
        pysam.view("-u", "-o", str(tmp_path / "map.bam"), str(tmp_path / "map.sam"), catch_stdout=False)
        data = gzip.decompress((tmp_path / "map.bam").read_bytes())[:-8]
    words = {"paf": "the last line has no end", "bam": "ends inside a BAM record", "gz": "truncated"}[kind]
    for way in ("-", f"cut.{kind}"):
        (tmp_path / f"cut.{kind}").write_bytes(data)
        assert_failure(align(tmp_path, "--mappings", way, stdin=data), 1, words)


def test_ungrouped_mappings_from_a_pipe(tmp_path: Path) -> None:
    world = random_world(8, reads=20)
    world.write(tmp_path)
    rows = world.paf().splitlines(True)
    read = next(a.read for a, b in zip(world.rows, world.rows[1:], strict=False) if a.read == b.read)
    number = next(i for i, row in enumerate(world.rows) if row.read == read)
    moved = "".join([*rows[:number], *rows[number + 1 :], rows[number]])
    result = align(tmp_path, "--mappings", "-", stdin=moved.encode())
    assert_failure(result, 1, read, "mappings of a read are in two places")
    (tmp_path / "moved.paf").write_text(moved)
    assert_success(align(tmp_path, "--mappings", "moved.paf"))


def test_reads_of_one_name(world: World, tmp_path: Path) -> None:
    with (tmp_path / "reads.fq").open("a") as file:
        file.write("@read1\nACGT\n+\nIIII\n")
    assert_failure(align(tmp_path, "--mappings", "map.paf", "-o", "x.sam"), 1, "read1", "two reads have this name")


def test_missing_and_broken_files(world: World, tmp_path: Path) -> None:
    assert_failure(align(tmp_path, "--mappings", "none.paf"), 1, "none.paf: No such file")
    assert_failure(run("align", "reads.fq", "none.fa", "--mappings", "map.paf", cwd=tmp_path), 1, "none.fa")
    (tmp_path / "reads.fq").write_bytes((tmp_path / "reads.fq").read_bytes()[:-5])
    assert_failure(align(tmp_path, "--mappings", "map.paf"), 1, "reads.fq", "ends inside a FASTQ record")
    (tmp_path / "reads.fq").write_bytes(b"")
    assert_failure(align(tmp_path, "--mappings", "map.paf"), 1, "not among the reads")
    (tmp_path / "x.cram").write_bytes(b"CRAM\3\0")
    assert_failure(align(tmp_path, "--mappings", "x.cram"), 1, "CRAM is not read as mappings")
    wrong = run("align", "x.cram", "ref.fa", "--mappings", "map.paf", cwd=tmp_path)
    assert_failure(wrong, 1, "x.cram: is CRAM, and FASTA or FASTQ is required")


def test_symbols_that_seq_cannot_hold_are_n(tmp_path: Path) -> None:
    """Other symbols become N, as in BAM, also in clipped parts."""
    (tmp_path / "reads.fq").write_text(">r\n-ACGT-ACGT*a.=1\n")
    (tmp_path / "ref.fa").write_text(">t\nACGTTACGT\n")
    (tmp_path / "map.paf").write_text("r\t15\t1\t10\t+\tt\t9\t0\t9\t9\t9\t7\ttp:A:P\n")
    for row in align(tmp_path, "--mappings", "map.paf").rows:
        assert row[9] == "NACGTNACGTNa.=N" and row[5] == "1S4=1X4=5S"
    (pair,) = run("align", "reads.fq", "ref.fa", "--mode", "semiglobal", cwd=tmp_path).rows
    assert pair[9] == "NACGTNACGTNa.=N"
    assert_success(align(tmp_path, "--mappings", "map.paf", "-o", "x.bam"))
    with pysam.AlignmentFile(str(tmp_path / "x.bam")) as file:
        assert [r.query_sequence for r in file] == ["NACGTNACGTNANN="[:13] + "=N"]


def test_nothing_mapped_is_no_failure(world: World, tmp_path: Path) -> None:
    result = align(tmp_path, "--mappings", "-")
    assert_success(result)
    assert result.rows == [] and "15 reads, 0 mapped, 15 unmapped (left out)" in result.err
    kept = align(tmp_path, "--mappings", "-", "--keep-unmapped")
    assert [row[1] for row in kept.rows] == ["4"] * 15


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--mappings", "map.paf", "--pad", "5"), "--pad requires --span padded"),
        (("--mappings", "map.paf", "--mode", "semiglobal"), "--mode and --free are for pairs"),
        (("--mappings", "map.paf", "--score-only"), "--score-only is for pairs"),
        (("--mappings", "map.paf", "--format", "paf", "--sort"), "--sort is for SAM, BAM and CRAM"),
        (("--mappings", "map.paf", "--format", "paf", "--clip", "hard"), "--clip is for SAM"),
        (("--mappings", "map.paf", "--write-index", "-o", "x.bam"), "give --sort and -o FILE.bam"),
        (("--mappings", "map.paf", "--no-header", "-o", "x.bam"), "have a header"),
        (("--mappings", "map.paf", "--checksums", "--no-header"), "--checksums go to SAM's header"),
        (("--mappings", "map.paf", "-o", "map.paf"), "is an input"),
        (("--span", "read"), "--span is for reads against a reference"),
        (("--keep-unmapped",), "--keep-unmapped is for reads against a reference"),
        (("--clip", "hard"), "--clip is for reads against a reference"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_options_that_do_not_go_together(world: World, tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    assert_failure(align(tmp_path, *options), 2, words)


def test_mappings_need_a_reference(world: World, tmp_path: Path) -> None:
    assert_failure(run("align", "reads.fq", "--mappings", "map.paf", cwd=tmp_path), 2, "needs reads and a reference")
    assert_failure(run("align", "-", "ref.fa", "--mappings", "-", cwd=tmp_path), 2, "only one of READS")


@pytest.mark.parametrize("sam", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_a_fault_after_grouping_has_the_line_of_the_file(tmp_path: Path, sam: bool, packed: bool) -> None:
    (tmp_path / "t.fa").write_bytes(b">t\nACGTACGT\n")
    (tmp_path / "q.fa").write_bytes(b">a\nACGTACGT\n>b\nACGTACGT\n")
    head = "@HD\tVN:1.6\n@SQ\tSN:t\tLN:8\n" if sam else ""
    line = "%s\t0\tt\t%s\t60\t8M\t*\t0\t0\t*\t*\n" if sam else "%s\t8\t0\t8\t+\tt\t8\t0\t%s\t8\t8\t60\n"
    good = "1" if sam else "8"
    text = (head + "".join(line % row for row in (("a", good), ("b", "x"), ("a", good), ("b", good)))).encode()
    (tmp_path / "map").write_bytes(gzip.compress(text) if packed else text)
    result = run("align", "q.fa", "t.fa", "--mappings", "map", "--format", "paf", cwd=tmp_path)
    assert_failure(result, 1, f"map, line {4 if sam else 2}, record b: ")
    skipped = run("align", "q.fa", "t.fa", "--mappings", "map", "--format", "paf", "--on-error", "skip", cwd=tmp_path)
    assert_success(skipped)
    assert f"the first: map, line {4 if sam else 2}: " in skipped.err
