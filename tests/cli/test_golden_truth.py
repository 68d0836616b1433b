"""The golden files are correct: minimum costs, valid paths, and matching tags."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import replay
from .golden_cases import CASES, GOLDEN, Case
from .support import rows_of, tags_of


@dataclass(frozen=True)
class Answer:
    """The alignment of one pair in a golden file."""

    query: str
    target: str
    cost: int
    cigar: str
    edits: int
    tags: dict[str, str]


def pairs_of_reads() -> list[tuple[str, str]]:
    lines = (GOLDEN / "reads.fq").read_text().splitlines()
    targets = [record.split("\n", 1)[1] for record in (GOLDEN / "targets.fa").read_text().split(">")[1:]]
    return list(zip(lines[1::4], [t.replace("\n", "") for t in targets], strict=True))


def pairs_of(case: Case) -> list[tuple[str, str]]:
    """Return the pairs of a case's inputs, read by simple code."""
    if case.inputs == ("table.tsv",):
        rows = [line.split("\t") for line in (GOLDEN / "table.tsv").read_text().splitlines()[1:]]
        return [(query, target) for _, query, target in rows]
    if case.inputs == ("pairs.seq",):
        lines = (GOLDEN / "pairs.seq").read_text().splitlines()
        return [(q[1:], t[1:]) for q, t in zip(lines[::2], lines[1::2], strict=True)]
    return pairs_of_reads()


def answers(case: Case) -> Iterator[Answer]:
    rows = rows_of((GOLDEN / case.expected).read_bytes())
    kind = case.expected.rsplit(".", 1)[1]
    for (query, target), row in zip(pairs_of(case), rows[kind == "tsv" :], strict=True):
        tags = tags_of(row)
        if kind == "tsv":
            cost, edits, cigar = -int(row[2]), int(row[3]), row[9]
        elif kind == "sam" and row[1] == "4":
            assert not (query and target)
            continue
        else:
            cost, edits, cigar = -int(tags["AS"]), int(tags["NM"]), tags["cg"] if kind == "paf" else row[5]
        yield Answer(query, target, cost, cigar, edits, tags)


@pytest.fixture(params=CASES, ids=lambda case: case.expected)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


def test_every_pair_has_its_record(case: Case) -> None:
    assert len(list(answers(case))) == sum(
        bool(q and t) or not case.expected.endswith("sam") for q, t in pairs_of(case)
    )


def test_scores_are_optimal(case: Case) -> None:
    for a in answers(case):
        assert a.cost == replay.least_cost(a.query, a.target, case.metric, case.ambiguous), a


def test_paths_cost_what_they_claim(case: Case) -> None:
    for a in answers(case):
        assert a.cost == replay.cost(a.query, a.target, a.cigar, case.metric, case.ambiguous), a


def test_operations_say_what_the_symbols_are(case: Case) -> None:
    same = replay.same_symbol if case.ambiguous == "literal" else replay.same_base
    for a in answers(case):
        columns = replay.columns(a.query, a.target, a.cigar)
        for op, q, t in columns:
            assert op in "IDM" or (op == "=") == same(q, t), a
        assert a.edits == sum(not (q and t and same(q, t)) for _, q, t in columns), a


def test_tags_follow_from_the_symbols(case: Case) -> None:
    for a in answers(case):
        if "MD" in a.tags:
            assert a.tags["MD"] == replay.md(a.query, a.target, a.cigar)
        if "cs" in a.tags:
            assert a.tags["cs"] == replay.cs(a.query, a.target, a.cigar)
        if "de" in a.tags:
            runs = replay.runs(a.cigar)
            columns = replay.columns(a.query, a.target, a.cigar)
            matches = sum(replay.same_base(q, t) for _, q, t in columns if q and t)
            gaps = sum(op in "ID" for _, op in runs)
            mismatches = sum(bool(q and t) for _, q, t in columns) - matches
            share = (mismatches + gaps) / max(1, matches + mismatches + gaps)
            assert float(a.tags["de"]) == pytest.approx(share, abs=5e-5)


def _plain(symbols: str, other: str) -> str:
    """Replace everything but ACGT by `other`, since other aligners compare characters."""
    return "".join(c if c in "ACGT" else other for c in symbols.upper().replace("U", "T"))


def test_costs_agree_with_other_aligners() -> None:
    edlib, pywfa = pytest.importorskip("edlib"), pytest.importorskip("pywfa")
    by_name = {case.expected: case for case in CASES}
    wavefront = pywfa.WavefrontAligner(distance="affine", mismatch=4, gap_opening=6, gap_extension=2)
    for a in answers(by_name["reads.sam"]):
        assert -wavefront(_plain(a.query, "X"), _plain(a.target, "Y")).score == a.cost
    for a in answers(by_name["reads.edit.tsv"]):
        if a.query and a.target:
            assert edlib.align(_plain(a.query, "X"), _plain(a.target, "Y"))["editDistance"] == a.cost


@pytest.mark.parametrize("name", ["reads.sam", "reads.tags.sam", "reads.wildcard.sam"])
def test_pysam_reads_the_same(name: str) -> None:
    pysam = pytest.importorskip("pysam")
    with pysam.AlignmentFile(str(GOLDEN / name), check_sq=True) as sam:
        records = list(sam)
        lengths = dict(zip(sam.references, sam.lengths, strict=True))
    for record, (query, target) in zip(records, pairs_of_reads(), strict=True):
        # pysam stores BAM, which has neither lower case nor U.
        assert (record.query_sequence or "") == query.upper().replace("U", "T")
        assert record.is_unmapped == (not (query and target))
        if record.is_unmapped:
            continue
        assert record.reference_end == lengths[record.reference_name] == len(target)
        if record.has_tag("MD"):
            assert record.get_reference_sequence().upper() == target.upper()


@pytest.mark.skipif(not shutil.which("samtools"), reason="samtools is not installed")
def test_samtools_computes_the_same_tags(tmp_path: Path) -> None:
    reference = tmp_path / "targets.fa"
    # samtools rejects records without bases, and reads U as an unknown base.
    kept = [r for r in (GOLDEN / "targets.fa").read_text().split(">")[1:] if r.split("\n", 1)[1]]
    reference.write_text("".join(f">{record}" for record in kept))
    command = ["samtools", "calmd", str(GOLDEN / "reads.tags.sam"), str(reference)]
    done = subprocess.run(command, capture_output=True, check=True)
    ours = {row[0]: tags_of(row) for row in rows_of((GOLDEN / "reads.tags.sam").read_bytes())}
    theirs = {row[0]: tags_of(row) for row in rows_of(done.stdout)}
    for name in ours.keys() - {"rna"}:
        for tag in ("NM", "MD"):
            assert theirs[name].get(tag, "").upper() == ours[name].get(tag, "").upper(), name
