"""Records of mapped reads, compared with the plain model in tests/mapped/world.py."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import random
from pathlib import Path

import pysam
import pytest

from tests.cli.support import bgzf
from tests.mapped.world import Expected, Row, World, expected, random_world, sam_of, turned
from tests.oracle_spans import GLOBAL, HW, Scheme
from wfacli.config import (
    AlignSpec,
    Ambiguous,
    CigarStyle,
    Config,
    Container,
    Format,
    FreeEnds,
    MappingSpec,
    OutputSpec,
    Penalties,
    Span,
)
from wfacli.errors import InputError
from wfacli.io.mapper.mapped import MappedFiles
from wfacli.run.batch_run import BatchRun
from wfacli.run.mapped import mapped_run

SEEDS = range(4)


def aligned(
    folder: Path,
    span: str = "mapped",
    pad: int = 0,
    *,
    reads: str = "reads.fq",
    reference: str = "ref.fa",
    mappings: str = "map.paf",
    rule: str = "mismatch",
    batch: int | None = None,
    match: int = 0,
    out: str = "out",
    keep: bool = False,
    skip: bool = False,
    shelf: int = 1 << 20,
    **output: object,
) -> tuple[list[list[str]], BatchRun]:
    """Return (lines of the output without the header, split at tabs, the run)."""
    mode = Span(span).mode
    spec = AlignSpec(penalties=Penalties(match=match), ambiguous=Ambiguous(rule), mode=mode, free=FreeEnds.of(mode))
    config = Config(spec=spec, output=OutputSpec(**{"md": True, **output}), batch_bases=batch, threads=2, check=True)
    files = MappedFiles(*(str(folder / name) for name in (reads, reference, mappings)))
    with mapped_run(config, MappingSpec(Span(span), pad, keep, skip, shelf), files, str(folder / out), "0") as run:
        run.run()
    if config.output.container is not Container.SAM:
        return [], run
    lines = (folder / out).read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("@")], run


def records_of(answers: list[Expected], hard: bool = False, scheme: Scheme | None = None) -> list[list[str]]:
    """Return the records of PAF mappings, which have one more tag that is copied."""
    return [
        sam_of(a, [o for o in answers if o.row.read == a.row.read and o is not a], hard, scheme)
        + (["cm:i:3"] if a.row.kind else [])
        for a in answers
    ]


@pytest.mark.parametrize("span", ["mapped", "padded", "read"])
@pytest.mark.parametrize("seed", SEEDS)
def test_sam_is_what_the_definition_says(seed: int, span: str, tmp_path: Path) -> None:
    world = random_world(seed, symbols="ACGT" if seed % 2 else "ACGTacgtNR", quality=seed != 3, kinds=seed != 2)
    world.write(tmp_path)
    pad = 0 if span == "mapped" else 9
    answers = expected(world, span, pad, Scheme(), GLOBAL if span == "mapped" else HW)
    placed = [a for a in answers if a.found.span[1] > a.found.span[0] and a.found.span[3] > a.found.span[2]]
    assert len(placed) == len(answers) > 8
    assert {a.flags for a in answers} >= {0, 16, 2048}
    records, _ = aligned(tmp_path, span, pad, batch=(None, 1, 300, 5000)[seed])
    assert records == records_of(answers)


def test_wildcards_and_match_bonus(tmp_path: Path) -> None:
    world = random_world(11, symbols="ACGTN")
    world.write(tmp_path)
    answers = expected(world, "mapped", 0, Scheme(match=3), GLOBAL)
    assert aligned(tmp_path, match=3)[0] == records_of(answers, scheme=Scheme(match=3))
    wild = expected(world, "mapped", 0, Scheme(), GLOBAL, "wildcard")
    for record, answer in zip(aligned(tmp_path, rule="wildcard")[0], wild, strict=True):
        assert record[12] == f"AS:i:{answer.found.score}"


def test_hard_clips_leave_the_rest_of_the_read_out(tmp_path: Path) -> None:
    world = random_world(5)
    world.write(tmp_path)
    answers = expected(world, "mapped", 0, Scheme(), GLOBAL)
    records, _ = aligned(tmp_path, hard_clip=True)
    assert records == records_of(answers, hard=True)
    assert any("H" in record[5] for record in records)


def test_paf_has_the_forward_strand(tmp_path: Path) -> None:
    world = random_world(6)
    world.write(tmp_path)
    rows, _ = aligned(tmp_path, "padded", 7, format=Format.PAF)
    for row, a in zip(rows, expected(world, "padded", 7, Scheme(), HW), strict=True):
        symbols = world.reads[a.row.read][0]
        q_beg, q_end = a.before, len(symbols) - a.after
        if a.row.reverse:
            q_beg, q_end = len(symbols) - q_end, len(symbols) - q_beg
        target = world.reference[a.row.target]
        strand = "-" if a.row.reverse else "+"
        assert row[:9] == [
            *(a.row.read, str(len(symbols)), str(q_beg), str(q_end), strand),
            *(a.row.target, str(len(target)), str(a.position), str(a.end)),
        ]
        assert row[11] == str(a.row.mapq)
        assert f"cg:Z:{a.found.cigar}" in row and f"NM:i:{a.edits}" in row
        assert ("tp:A:S" if a.flags & 256 else f"tp:A:{a.row.kind}") in row
        assert {f"nn:i:{a.ambiguous}", f"de:f:{a.divergence}", "cm:i:3"} <= set(row)


def test_tsv_has_strand_and_quality(tmp_path: Path) -> None:
    world = random_world(7)
    world.write(tmp_path)
    rows, _ = aligned(tmp_path, format=Format.TSV, md=False)
    answers = expected(world, "mapped", 0, Scheme(), GLOBAL)
    assert rows[0][-2:] == ["strand", "mapq"]
    for row, a in zip(rows[1:], answers, strict=True):
        assert row[:3] == [a.row.read, a.row.target, str(a.found.score)]
        assert row[5:7] == [str(a.row.q_beg), str(a.row.q_end)]
        assert row[-2:] == ["-" if a.row.reverse else "+", str(a.row.mapq)]


@pytest.mark.parametrize("form", ["sam", "bam", "gz", "bgz", "shuffled", "shuffled bam", "reads", "disk", "ref.gz"])
def test_any_form_and_order_says_the_same(form: str, tmp_path: Path) -> None:
    world = random_world(8, reads=20)
    world.write(tmp_path)
    wanted, _ = aligned(tmp_path)
    rng, options = random.Random(1), {}
    if form in ("sam", "bam", "shuffled bam"):
        # Tags that only the PAF has.
        wanted = [["tp:A:P" if f == "tp:A:I" else f for f in r if f != "cm:i:3"] for r in wanted]
        header, rows = _split(world.sam())
        if form == "shuffled bam":
            rng.shuffle(rows)
        (tmp_path / "map.sam").write_text("".join(header + rows))
        options["mappings"] = "map.sam"
        if form != "sam":
            options["mappings"] = "map.bam"
            pysam.view("-b", "-o", str(tmp_path / "map.bam"), str(tmp_path / "map.sam"), catch_stdout=False)
    elif form in ("gz", "bgz"):
        packed = (gzip.compress if form == "gz" else bgzf)(world.paf().encode())
        (tmp_path / "map.paf.gz").write_bytes(packed)
        options["mappings"] = "map.paf.gz"
    elif form == "shuffled":
        rows = world.paf().splitlines(True)
        rng.shuffle(rows)
        (tmp_path / "map.paf").write_text("".join(rows))
    elif form in ("reads", "disk"):
        world.write(tmp_path, rng.sample(sorted(world.reads), len(world.reads)))
        options["shelf"] = 0 if form == "disk" else 1 << 20
    else:
        (tmp_path / "ref.fa.gz").write_bytes(bgzf((tmp_path / "ref.fa").read_bytes()))
        options["reference"] = "ref.fa.gz"
    found, run = aligned(tmp_path, **options)
    if form.startswith("shuffled"):
        # The first of several primary mappings stays primary, which is another one after shuffling.
        keys = [sorted((r[0], r[2], r[3], r[5]) for r in records) for records in (found, wanted)]
        assert keys[0] == keys[1]
        names = [r[0] for r in found]
        assert sum(a != b for a, b in itertools.pairwise(names)) == len(set(names)) - 1
    else:
        assert found == wanted
    assert run.account.more()["reads"] == len(world.reads)
    assert run.account.more()["mapped_reads"] == len({row.read for row in world.rows})


def _split(sam: str) -> tuple[list[str], list[str]]:
    lines = sam.splitlines(True)
    return [x for x in lines if x.startswith("@")], [x for x in lines if not x.startswith("@")]


@pytest.mark.parametrize("shelf", [0, 1 << 20])
def test_unmapped_reads_are_kept_behind_the_others(shelf: int, tmp_path: Path) -> None:
    world = random_world(9, reads=30)
    world.write(tmp_path)
    wanted, _ = aligned(tmp_path)
    found, run = aligned(tmp_path, keep=True, shelf=shelf, batch=400)
    assert found[: len(wanted)] == wanted
    missing = [name for name in world.reads if name not in {row.read for row in world.rows}]
    assert len(missing) > 1
    assert found[len(wanted) :] == [
        [name, "4", "*", "0", "0", "*", "*", "0", "0", *map(str, world.reads[name])] for name in missing
    ]
    assert run.stats.counts["aligned"] == len(wanted)
    rows, _ = aligned(tmp_path, keep=True, format=Format.PAF)
    assert [row[:6] for row in rows[len(wanted) :]] == [
        [name, str(len(world.reads[name][0])), "0", "0", "*", "*"] for name in missing
    ]


def test_a_pair_that_costs_too_much_leaves_its_place_to_another(tmp_path: Path) -> None:
    # a's primary mapping is unlike the read, but its secondary one is similar; both of b's are unlike it.
    unlike, like = "ACGT" * 20, "AACCGGTTAC" * 8
    world = World({"t": unlike + like + "G" * 80}, {"a": (like, None), "b": (like, None)})

    world.rows = [Row("a", 0, 80, False, "t", 160, 240), Row("a", 0, 80, False, "t", 80, 160, kind="S")]
    world.rows += [Row("b", 0, 80, False, "t", 160, 240), Row("b", 0, 80, True, "t", 160, 240, kind="S")]
    world.write(tmp_path)
    spec = AlignSpec(max_cost=40)
    config = Config(spec=spec, output=OutputSpec(), threads=1)
    files = MappedFiles(*(str(tmp_path / name) for name in ("reads.fq", "ref.fa", "map.paf")))
    with mapped_run(config, MappingSpec(), files, str(tmp_path / "out"), "0") as run:
        run.run()
    records = [x.split("\t") for x in (tmp_path / "out").read_text().splitlines() if x[0] != "@"]
    assert [r[:6] for r in records] == [["a", "0", "t", "81", "60", "80="], ["b", "4", "*", "0", "0", "*"]]
    assert records[1][9] == like


def as_binary(field: str) -> str:
    """Return a tag as pysam shows it after storage in BAM."""
    return f"de:f:{float(field[5:]):g}" if field.startswith("de:f:") else field


def test_bam_and_cram_hold_the_same(tmp_path: Path) -> None:
    world = random_world(10, symbols="ACGTacgtN")
    world.write(tmp_path)
    sums = [hashlib.md5(symbols.upper().encode()).hexdigest() for symbols in world.reference.values()]
    # CRAM has no = and X, and neither format has lower case.
    wanted, _ = aligned(tmp_path, cigar=CigarStyle.M)
    wanted = [[*r[:9], r[9].upper(), *map(as_binary, r[10:])] for r in wanted]
    for container in (Container.BAM, Container.CRAM):
        name = f"out.{container}"
        options = {"container": container, "sort": True, "index": True, "checksums": True}
        aligned(tmp_path, out=name, cigar=CigarStyle.M, **options)
        with pysam.AlignmentFile(str(tmp_path / name), reference_filename=str(tmp_path / "ref.fa")) as file:
            header = file.header.to_dict()
            assert header["HD"]["SO"] == "coordinate"
            assert [sq["M5"] for sq in header["SQ"]] == sums
            records = [record.to_string().split("\t") for record in file.fetch()]
        places = [(r[2], int(r[3])) for r in records]
        assert places == sorted(places)
        assert sorted(r[:11] + sorted(r[11:]) for r in records) == sorted(r[:11] + sorted(r[11:]) for r in wanted)


def test_samtools_computes_the_same_tags(tmp_path: Path) -> None:
    world = random_world(12, reads=30)
    world.write(tmp_path)
    aligned(tmp_path, "read", 20, cigar=CigarStyle.M)
    corrected = pysam.calmd(str(tmp_path / "out"), str(tmp_path / "ref.fa"))
    (tmp_path / "calmd.sam").write_text(corrected)
    pairs = [pysam.AlignmentFile(str(tmp_path / name)) for name in ("out", "calmd.sam")]
    for ours, theirs in zip(*pairs, strict=True):
        assert {t: ours.get_tag(t) for t in ("NM", "MD")} == {t: theirs.get_tag(t) for t in ("NM", "MD")}


def test_reads_turn_back() -> None:
    assert turned("ACGTURNacgn") == "ncgtNYAACGT"


def test_two_contigs_of_one_name(tmp_path: Path) -> None:
    random_world(1).write(tmp_path)
    with (tmp_path / "ref.fa").open("a") as file:
        file.write(">chr1\nACGT\n")
    with pytest.raises(InputError, match="chr1: two sequences have this name"):
        aligned(tmp_path)


@pytest.mark.parametrize(
    ("spans", "flags"),
    [
        # (begin, end, matches): primary is the mapping with most matches, then the longest, then the first.
        ([(0, 50, 3), (50, 90, 9), (10, 40, 3)], [2048, 0, 256]),
        ([(0, 40, 5), (0, 60, 5), (60, 90, 5)], [256, 0, 2048]),
        ([(0, 40, 5), (40, 80, 5)], [0, 2048]),
        # An overlap of exactly half is not more than half; overlap with a secondary mapping does not count.
        ([(0, 40, 9), (20, 60, 5), (19, 59, 4)], [0, 2048, 256]),
        ([(0, 40, 9), (10, 50, 8), (30, 70, 7)], [0, 256, 2048]),
    ],
)
def test_which_is_primary_where_nobody_says(spans: list, flags: list[int], tmp_path: Path) -> None:
    symbols = random_world(3).reference["chr0"][:100]
    world = World({"t": symbols}, {"r": (symbols, None)})
    world.rows = [Row("r", b, e, False, "t", b, e, 60, "", m) for b, e, m in spans]
    world.write(tmp_path)
    records, _ = aligned(tmp_path)
    assert [int(record[1]) for record in records] == flags
    assert records == records_of(expected(world, "mapped", 0, Scheme(), GLOBAL))
