"""`wfacli local`: results, output formats, interruption and resumption."""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import oracle_local, pairgen

from .support import Result, assert_failure, assert_success, fasta, header_of, rows_of, run, start, tags_of
from .test_interruption import assert_ends, wait_until

Local = Callable[..., Result]
CORE = "GTTGCACGTGGCATTACGGTTCCATGCAAAGTCC"
A = "TTTTTTTT" + CORE + "AAAAAAAAAAAA" + CORE[:12]
B = "CCCCC" + CORE[:17] + "ga" + CORE[17:].lower() + "GGGGGGG"
DNA = oracle_local.charges(2, 4, 4, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.fa").write_text(f">a first\n{A}\n")
    (tmp_path / "b.fa").write_text(f">b second\n{B}\n")
    (tmp_path / "p.fa").write_text(">p\nMKVLAAGHWWRRPNDE\n")
    (tmp_path / "q.fa").write_text(">q\nGGMKVLSAGHWRRPNDEKK\n")
    return tmp_path


@pytest.fixture
def local(folder: Path, inside: Callable[..., Result]) -> Local:
    return lambda *arguments: inside("local", *arguments, cwd=folder)


def wanted(query: str, target: str, charged: oracle_local.Charges = DNA) -> oracle_local.Optimum:
    (found,) = oracle_local.optima([(query.encode(), target.encode())], charged, "local")
    return found


def test_paf_by_default_and_the_result_beside_it(local: Local) -> None:
    result = local("a.fa", "b.fa")
    assert_success(result)
    (row,) = result.rows
    want = wanted(A, B)
    q, q_end, t, t_end = map(str, want.span)
    assert row[:9] == ["a", str(len(A)), q, q_end, "+", "b", str(len(B)), t, t_end]
    assert (tags_of(row)["cg"], tags_of(row)["AS"]) == (want.cigar, str(want.score))
    assert f"score      {want.score}   A {q} to {q_end}, B {t} to {t_end}: 34 matches, 0 mismatches" in result.err


def test_sam_and_tsv(local: Local, folder: Path) -> None:
    want = wanted(A, B)
    result = local("a.fa", "b.fa", "-o", "x.sam")
    assert_success(result)
    assert "score      " in result.text
    sam = (folder / "x.sam").read_bytes()
    assert header_of(sam)[1] == f"@SQ\tSN:b\tLN:{len(B)}"
    (row,) = rows_of(sam)
    clips = want.span[0], len(A) - want.span[1]
    assert row[:6] == ["a", "0", "b", str(want.span[2] + 1), "255", f"{clips[0]}S{want.cigar}{clips[1]}S"]
    assert row[9] == A
    titles, values = rows_of(local("a.fa", "b.fa", "--format", "tsv", "-q").out)
    found = dict(zip(titles, values, strict=True))
    assert (found["score"], found["cigar"], found["target_start"]) == (str(want.score), want.cigar, str(want.span[2]))


def test_proteins_and_json(local: Local, folder: Path) -> None:
    result = local(
        "p.fa", "q.fa", "--matrix", "BLOSUM62", "--gaps", "9,1", "--json", "-o", "p.paf", "--stats", "s.json"
    )
    assert_success(result)
    values = json.loads(result.text)
    want = wanted("MKVLAAGHWWRRPNDE", "GGMKVLSAGHWRRPNDEKK", oracle_local.protein_charges("BLOSUM62", 9, 1))
    (found,) = values["alignments"]
    assert (found["score"], found["query_start"], found["target_end"]) == (want.score, want.span[0], want.span[3])
    assert values["scores"] == {"name": "BLOSUM62", "open": 9, "extend": 1}
    assert tags_of(rows_of((folder / "p.paf").read_bytes())[0])["cg"] == want.cigar
    stats = json.loads((folder / "s.json").read_text())
    assert stats["complete"] and stats["alignments"] == values["alignments"]


def test_several_alignments(local: Local, folder: Path) -> None:
    result = local("a.fa", "b.fa", "--top", "3", "-o", "x.paf")
    assert_success(result)
    rows = rows_of((folder / "x.paf").read_bytes())
    assert [tags_of(row)["tp"] for row in rows] == ["P", "S", "S"]
    scores = [int(tags_of(row)["AS"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] == 24  # the first twelve bases of the core again
    assert "score 2    24   A 54 to 66" in result.text
    flags = [row[1] for row in rows_of(local("a.fa", "b.fa", "--top", "2", "--format", "sam").out)]
    assert flags == ["0", "256"]


def test_bam(local: Local, folder: Path) -> None:
    pysam = pytest.importorskip("pysam")
    assert_success(local("a.fa", "b.fa", "--top", "2", "-o", "x.bam", "-q"))
    with pysam.AlignmentFile(str(folder / "x.bam")) as records:
        found = [(r.query_name, r.flag, r.get_tag("AS"), r.reference_start) for r in records]
    want = wanted(A, B)
    assert found == [("a", 0, want.score, want.span[2]), ("a", 256, 24, 5)]


def test_score_only(local: Local) -> None:
    result = local("a.fa", "b.fa", "--score-only", "--json")
    assert_success(result)
    want = wanted(A, B)
    place = {"score": want.score, "query_start": want.span[0], "target_start": want.span[2]}
    assert json.loads(result.text)["alignments"] == [place]


def test_nothing_scores(local: Local, folder: Path) -> None:
    (folder / "t.fa").write_text(">t\nTTTT\n")
    (folder / "a.fa").write_text(">a\nGGGG\n")
    result = local("a.fa", "t.fa")
    assert_success(result)
    assert result.rows[0][:6] == ["a", "4", "0", "0", "*", "*"]
    assert "nothing scores more than 0" in result.err


def test_picture(local: Local, folder: Path) -> None:
    assert_success(local("a.fa", "b.fa", "-o", "x.paf", "--plot", "x.html"))
    page = (folder / "x.html").read_text()
    want = wanted(A, B)
    assert f"{len(A)}" in page and f"{want.span[1] - want.span[0]}" in page


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("a.fa", "b.fa", "--json"), 2, "--json and the alignments cannot both go to standard output"),
        (("a.fa", "b.fa", "-o", "x.cram"), 2, "CRAM is not written: wfacli local … --format sam | samtools view -C"),
        (("a.fa", "b.fa", "--score-only", "--top", "2"), 2, "--score-only writes no alignments"),
        (("a.fa", "b.fa", "--scores", "0,4,4,2"), 2, "local alignments require a score above 0"),
        (("a.fa", "b.fa", "--gaps", "9,1"), 2, "--gaps requires --matrix"),
        (("a.fa", "b.fa", "--max-memory", "9K"), 2, "the minimum is 1M"),
        (("a.fa", "b.fa", "--format", "diff"), 2, "written as PAF or SAM or BAM or TSV, not as DIFF"),
        (("a.fa", "b.fa", "-o", "a.fa"), 2, "a.fa is an input"),
        (("a.fa", "b.fa", "--plot", "x.paf"), 2, "a picture ends in .png, .svg, .pdf or .html"),
        (("a.fa", "bad.fa", "--matrix", "BLOSUM62"), 1, "symbol 3 is 'O', for which BLOSUM62 has no scores"),
    ],
)
def test_what_does_not_go(local: Local, folder: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    (folder / "bad.fa").write_text(">bad\nACOGT\n")
    assert_failure(local(*arguments), code, words)
    assert not list(folder.glob("x.*"))


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT], ids=lambda s: s.name)
def test_goes_on_after_any_end(folder: Path, sent: signal.Signals) -> None:
    rng = random.Random(5)
    a = pairgen.sequence(rng, 30_000, b"ACGT")
    b = pairgen.mutated(rng, a, b"ACGT", 0.15)
    (folder / "a.fa").write_bytes(fasta([a.decode()]))
    (folder / "b.fa").write_bytes(fasta([b.decode()]))
    slow = ("a.fa", "b.fa", "-t", "1", "--top", "40", "-o", "x.paf")
    kept = (*slow, "--checkpoint", "run.ckpt", "--checkpoint-every", "0.05s")
    process = start("local", *kept, cwd=folder)
    wait_until((folder / "run.ckpt").exists)
    if sent == signal.SIGKILL:
        process.kill()
        process.wait(10)
    else:
        _, err = assert_ends(process, sent, 130)
        assert "stopped; the same command with --resume continues from run.ckpt" in err
        assert not list(folder.glob("x.paf*"))
    few = tuple("3" if word == "40" else word for word in kept)
    assert_failure(run("local", *few, cwd=folder), 2, "run.ckpt exists: give --resume")
    other = run("local", *few, "--resume", "--scores", "1,1,1,1", cwd=folder)
    assert_failure(other, 1, "the checkpoint was made with 2,4,4,2 with gaps 4,2")
    result = run("local", *few, "--resume", "-v", "--stats", "s.json", cwd=folder)
    assert_success(result)
    assert json.loads((folder / "s.json").read_text())["history"]["resumed"] == 1
    whole = run("local", *slow[:-4], "--top", "3", "-o", "y.paf", cwd=folder)
    assert_success(whole)
    assert (folder / "x.paf").read_bytes() == (folder / "y.paf").read_bytes()
    assert not (folder / "run.ckpt").exists()
