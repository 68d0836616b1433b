"""Tags of reads in FASTQ and BAM that are copied to records."""

from __future__ import annotations

import json
from pathlib import Path

import pysam
import pytest

from tests.cli.support import Result, assert_failure, assert_success, run
from tests.mapped.world import turned

SYMBOLS = {"a": "ACGTTGCAACGTAGGCTA", "b": "GGATCCGATTACAGATTA", "c": "TTTTACGACGACGACGAC"}
REFERENCE = SYMBOLS["a"][:9] + turned(SYMBOLS["a"][9:]) + "CC" + SYMBOLS["b"] + "GG"
KEPT = {
    "a": ["qs:i:-12", "ML:B:C,1,2,255", "st:Z:2024-01-01 10:00", "RG:Z:old", "xx:A:!", "fl:f:1.5e-3", "he:H:0AFF"],
    "b": [],
    "c": ["MM:Z:C+m,1;", "B0:B:f,1,-2.5"],
}
COMMENTS = {
    "a": "1:N:0:ACGT\tNM:i:3\t"
    + "\t".join(KEPT["a"])
    + "\tAS:i:1\tMD:Z:18\tSA:Z:x\tcs:Z::1"
    + "\tms:i:9\tnn:i:1\tde:f:0.1\ttp:A:P\tcm:i:4\ts1:i:5\ts2:i:6\trl:i:7\tMC:Z:3M\tMQ:i:9",
    "b": "bad:i:1\tb1:i:x\tb2:B:i,1,\tb3:A:ab\tb4:H:0AF\tb5:Q:1\tb6:f:\tb7:i:1.5\t2b:i:1\tb8:B:z,1\tb9:Z:\x7f"
    + "\tc1:i:4294967296\tc2:i:-2147483649\tc3:B:c,128\tc4:B:S,-1\tc5:f:1e\tc6:f:e\tc7:f:1.2.3\tc8:i:+-1",
    "c": "\t".join(KEPT["c"]),
}


def row(read: str, first: int, end: int, strand: str, at: int, kind: str = "P") -> str:
    size = len(SYMBOLS[read])
    place = f"ref\t{len(REFERENCE)}\t{at}\t{at + end - first}"
    return f"{read}\t{size}\t{first}\t{end}\t{strand}\t{place}\t9\t9\t50\ttp:A:{kind}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    records = (f"@{n} {COMMENTS[n]}\n{symbols}\n+\n{'I' * len(symbols)}\n" for n, symbols in SYMBOLS.items())
    (tmp_path / "reads.fq").write_text("".join(records))
    (tmp_path / "ref.fa").write_text(f">ref\n{REFERENCE}\n")
    # Not in the order of the reads, so that one is buffered; one read in two parts, one unmapped.
    (tmp_path / "map.paf").write_text(row("b", 0, 18, "-", 20) + row("a", 0, 9, "+", 0) + row("a", 9, 18, "-", 9))
    return tmp_path


def align(folder: Path, *options: str, reads: str = "reads.fq") -> Result:
    words = (reads, "ref.fa", "--mappings", "map.paf", "--keep-unmapped", "--no-header")
    return run("align", *words, *options, cwd=folder)


def tags(fields: list[str], *own: str) -> list[str]:
    """Return the optional fields, without those of alignments."""
    return [f for f in fields[11:] if f[:2] not in ("NM", "AS", "SA", "nn", "de", "tp", *own)]


def test_tags_of_all_records(folder: Path) -> None:
    result = align(folder, "--copy-tags")
    assert_success(result)
    found = [(f[0], int(f[1]) & 2052, tags(f)) for f in result.rows]
    assert found == [("b", 0, []), ("a", 0, KEPT["a"]), ("a", 2048, KEPT["a"]), ("c", 4, KEPT["c"])]
    assert [f[:2] for f in result.rows[1][11:]].count("NM") == 1
    plain = align(folder)
    assert [f[:11] for f in plain.rows] == [f[:11] for f in result.rows]
    assert not any(tags(f) for f in plain.rows)


def test_a_read_group_that_is_given_takes_the_place_of_the_reads_own(folder: Path) -> None:
    result = align(folder, "--copy-tags", "--read-group", "@RG\\tID:new")
    assert_success(result)
    kept = [f for f in KEPT["a"] if not f.startswith("RG")]
    assert [tags(f) for f in result.rows][1:] == [["RG:Z:new", *kept], ["RG:Z:new", *kept], ["RG:Z:new", *KEPT["c"]]]


def test_reads_in_bam_keep_symbols_strand_and_tags(folder: Path) -> None:
    """A mapped read is restored to its original strand, and read once."""
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6"}, "SQ": [{"SN": "old", "LN": 100}]})
    with pysam.AlignmentFile(str(folder / "reads.bam"), "wb", header=header) as file:
        for name, symbols in SYMBOLS.items():
            fields = [name, "4", "*", "0", "0", "*", "*", "0", "0", symbols, "I" * len(symbols), *KEPT[name]]
            if name == "c":
                turned = symbols.translate(str.maketrans("ACGT", "TGCA"))[::-1]
                fields[1:6] = ["16", "old", "5", "60", "18M"]
                fields[9] = turned
                secondary = [name, "272", "old", "7", "0", "18M", "*", "0", "0", "*", "*"]
                file.write(pysam.AlignedSegment.fromstring("\t".join(secondary), header))
            file.write(pysam.AlignedSegment.fromstring("\t".join(fields), header))
    expected = align(folder, "--copy-tags")
    result = align(folder, "--copy-tags", reads="reads.bam")
    assert_success(result)
    assert [f[:11] for f in result.rows] == [f[:11] for f in expected.rows]
    assert [sorted(f) for f in map(tags, result.rows)] == [
        sorted(t.replace("1.5e-3", "0.0015") for t in f) for f in map(tags, expected.rows)
    ]
    whole = (folder / "reads.bam").read_bytes()
    (folder / "cut.bam").write_bytes(whole[:-60])
    assert_failure(
        align(folder, reads="cut.bam"), 1, "cut.bam: truncated: the block that ends every BGZF file is missing\n"
    )
    (folder / "cut.bam").write_bytes(whole[:-60] + whole[-28:])
    assert_failure(align(folder, reads="cut.bam"), 1, "cut.bam: samtools bam2fq: Failed to read bam record\n")
    piped = run("align", "-", "ref.fa", "--mappings", "map.paf", cwd=folder, stdin=whole)
    assert_failure(piped, 1)
    assert "samtools fastq" in piped.err


def test_read_groups_and_programs_that_tags_name(folder: Path) -> None:
    """Read groups of the reads' BAM header are copied: records with an undefined read group are invalid SAM."""
    lines = ["@RG\tID:g1\tSM:s\tDS:model=5", "@RG\tID:g2"]
    programs = ["@PG\tID:wfacli\tPN:wfacli", "@PG\tID:basecaller\tPP:wfacli", "@PG\tID:wfacli.1\tPP:basecaller"]
    header = pysam.AlignmentHeader.from_text("\n".join(["@HD\tVN:1.6", "@SQ\tSN:old\tLN:9", *lines, *programs, ""]))
    with pysam.AlignmentFile(str(folder / "reads.bam"), "wb", header=header) as file:
        for name, symbols in SYMBOLS.items():
            fields = [name, "4", "*", "0", "0", "*", "*", "0", "0", symbols, "*", "RG:Z:g1", "PG:Z:basecaller"]
            file.write(pysam.AlignedSegment.fromstring("\t".join(fields), header))

    def heading(*options: str) -> list[str]:
        result = run("align", "reads.bam", "ref.fa", "--mappings", "map.paf", *options, cwd=folder)
        assert_success(result)
        return [line for line in result.out.decode().splitlines() if line[:3] in ("@RG", "@PG")]

    *kept, own = heading("--copy-tags")
    assert kept == [*lines, *programs]
    assert own.startswith("@PG\tID:wfacli.2\tPP:wfacli.1\tPN:wfacli\tVN:")
    assert heading("--copy-tags", "--read-group", "@RG\\tID:new")[:-1] == ["@RG\tID:new", *programs]
    assert heading()[:-1] == [*lines, *programs]
    for options, group in (((), "g1"), (("--read-group", "@RG\\tID:new"), "new")):
        words = ("--mappings", "map.paf", "--keep-unmapped", *options)
        result = run("align", "reads.bam", "ref.fa", *words, cwd=folder)
        assert [tags(fields) for fields in result.rows] == [[f"RG:Z:{group}"]] * 4


def test_reads_in_sam(folder: Path) -> None:
    """As written by basecallers: unmapped, with a header."""
    header = "@HD\tVN:1.6\n@RG\tID:g1\tSM:s\n@PG\tID:dorado\tPN:dorado\n"
    records = "".join(
        f"{name}\t4\t*\t0\t0\t*\t*\t0\t0\t{symbols}\t{'I' * len(symbols)}\tRG:Z:g1\tqs:i:9\n"
        for name, symbols in SYMBOLS.items()
    )
    (folder / "reads.sam").write_text(header + records)
    expected = align(folder)
    for options, wanted in ((), ["RG:Z:g1"]), (("--copy-tags",), ["RG:Z:g1", "qs:i:9"]):
        result = align(folder, *options, reads="reads.sam")
        assert_success(result)
        assert [f[:11] for f in result.rows] == [f[:11] for f in expected.rows]
        assert [tags(f) for f in result.rows] == [wanted] * 4
    whole = run("align", "reads.sam", "ref.fa", "--mappings", "map.paf", cwd=folder).text
    assert "@RG\tID:g1\tSM:s\n@PG\tID:dorado\tPN:dorado\n@PG\tID:wfacli\tPP:dorado\t" in whole
    assert_failure(
        run("align", "-", "ref.fa", "--mappings", "map.paf", cwd=folder, stdin=header.encode()), 1, "a file"
    )


@pytest.mark.parametrize("form", ["sam", "bam"])
def test_what_mappings_say_of_where_they_come_from(folder: Path, form: str) -> None:
    """Copy read groups with their tags, programs, and tags that only the mapper knows."""
    groups = ["@RG\tID:g1\tSM:s", "@RG\tID:g2\tSM:t"]
    program = "@PG\tID:minimap2\tPN:minimap2\tVN:2.24\tCL:minimap2 -a ref.fa reads.fq"
    header = ["@HD\tVN:1.6", f"@SQ\tSN:ref\tLN:{len(REFERENCE)}", *groups, program]
    place = "0\tref\t{}\t60\t18M\t*\t0\t0\t*\t*"
    more = "tp:A:I\tcm:i:7\ts1:i:200\ts2:i:-1\tNM:i:3\trl:i:70000\tfl:f:1.5\tar:B:s,1,2\tRG:Z:g2"
    records = [f"b\t{place.format(21)}\t{more}", f"a\t{place.format(1)}\tRG:Z:g1\tcm:Z:no\ts1:i:5"]
    lost = "c\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*\trl:i:0\tRG:Z:g1"
    (folder / "map.sam").write_text("\n".join([*header, *records, lost, ""]))
    if form == "bam":
        pysam.view("--no-PG", "-b", "-o", str(folder / "map.bam"), str(folder / "map.sam"), catch_stdout=False)

    def mapped(*options: str) -> Result:
        result = run("align", "reads.fq", "ref.fa", "--mappings", f"map.{form}", *options, cwd=folder)
        assert_success(result)
        return result

    mapped("--stats", "s.json", "-o", "x.sam")
    lines = (folder / "x.sam").read_text().splitlines()
    heading, found = lines[: -len(records)], [line.split("\t")[11:] for line in lines[-len(records) :]]
    assert heading[2:5] == [*groups, program]
    assert heading[5].startswith("@PG\tID:wfacli\tPP:minimap2\tPN:wfacli\tVN:")
    carried = ["cm:i:7", "s1:i:200", "s2:i:-1", "rl:i:70000", "RG:Z:g2"]
    assert [f for f in found[0] if f[:2] not in ("NM", "AS", "nn", "de")] == ["tp:A:I", *carried]
    assert [f for f in found[1] if f[:2] not in ("NM", "AS", "nn", "de")] == ["tp:A:P", "s1:i:5", "RG:Z:g1"]
    assert json.loads((folder / "s.json").read_text())["mapper"] == {
        "name": "minimap2", "version": "2.24", "command": "minimap2 -a ref.fa reads.fq"
    }  # fmt: skip
    (unmapped,) = (row for row in mapped("--keep-unmapped").rows if row[0] == "c")
    assert int(unmapped[1]) & 4 and [f for f in unmapped if f.startswith("RG")] == ["RG:Z:g1"]
    given = mapped("-R", "@RG\\tID:new").rows
    assert [[f for f in fields if f.startswith("RG")] for fields in given] == [["RG:Z:new"]] * 2
    own = mapped("--copy-tags").rows[1]  # tags of the read have priority
    assert [f for f in own if f.startswith("RG")] == ["RG:Z:old"]
    paf = mapped("--format", "paf").rows[0]
    assert [f for f in paf[12:] if f[:2] in ("tp", "cm", "s1", "s2", "rl", "RG")] == ["tp:A:I", *carried[:-1]]


def test_read_groups_of_unmapped_pairs(folder: Path) -> None:
    """Each mate has that of its own record, whether its name has a suffix or not."""
    for number in "12":
        (folder / f"{number}.fq").write_text(f"@p\nACGT\n+\nIIII\n@q/{number}\nACGT\n+\nIIII\n")
    lines = [
        f"{name}\t{flag}\t*\t0\t0\t*\t*\t0\t0\t*\t*\tRG:Z:{group}"
        for name, flag, group in (("p", 77, "g1"), ("p", 141, "g2"), ("q", 77, "g3"), ("q", 141, "g4"))
    ]
    (folder / "map.sam").write_text("\n".join([f"@SQ\tSN:ref\tLN:{len(REFERENCE)}", *lines, ""]))
    files = ("1.fq", "ref.fa", "--mates", "2.fq", "--mappings", "map.sam")
    result = run("align", *files, "--keep-unmapped", "--no-header", cwd=folder)
    assert_success(result)
    assert [(row[0], row[1], row[-1]) for row in result.rows] == [
        ("p", "77", "RG:Z:g1"), ("p", "141", "RG:Z:g2"), ("q", "77", "RG:Z:g3"), ("q", "141", "RG:Z:g4")
    ]  # fmt: skip


def test_two_headers_become_one(folder: Path) -> None:
    """Headers of reads and mappings are merged: equal lines once, different programs with the same ID renamed."""
    reads = ["@RG\tID:g\tSM:s", "@PG\tID:basecaller", "@PG\tID:minimap2\tPP:basecaller\tVN:1"]
    said = [
        "@RG\tID:g\tSM:s",
        "@RG\tID:h",
        "@PG\tID:basecaller",
        "@PG\tID:minimap2\tVN:2",
        "@PG\tID:sort\tPP:minimap2",
    ]
    with pysam.AlignmentFile(
        str(folder / "reads.bam"), "wb", header=pysam.AlignmentHeader.from_text("\n".join(["@HD\tVN:1.6", *reads, ""]))
    ) as file:
        for name, symbols in SYMBOLS.items():
            fields = [name, "4", "*", "0", "0", "*", "*", "0", "0", symbols, "*"]
            file.write(pysam.AlignedSegment.fromstring("\t".join(fields), file.header))
    sam = [f"@SQ\tSN:ref\tLN:{len(REFERENCE)}", *said, "a\t0\tref\t1\t60\t18M\t*\t0\t0\t*\t*", ""]
    (folder / "map.sam").write_text("\n".join(sam))
    result = run("align", "reads.bam", "ref.fa", "--mappings", "map.sam", cwd=folder)
    assert_success(result)
    *found, own = [line for line in result.out.decode().splitlines() if line[:3] in ("@RG", "@PG")]
    renamed = ["@PG\tID:minimap2.1\tVN:2", "@PG\tID:sort\tPP:minimap2.1"]
    assert found == [reads[0], said[1], reads[1], reads[2], *renamed]
    assert own.startswith("@PG\tID:wfacli\tPP:sort\t")


def test_where_tags_do_not_go(folder: Path) -> None:
    assert_failure(align(folder, "--copy-tags", "--format", "paf"), 2)
    assert_failure(run("align", "ref.fa", "ref.fa", "--copy-tags", cwd=folder), 2)
