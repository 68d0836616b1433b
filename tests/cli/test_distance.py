"""`wfacli distance`: results and messages."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.distance.solvers import edit_distance
from wfacli.errors import WfacliError

from .support import Result, assert_failure, assert_success, bgzf, fasta, fastq, rows_of, run, zstd

Distance = Callable[..., Result]
A = "ACGTTGCAACGTGGCATTACGGATCCATGCAAGTCCGATAGGCTACCAAGTTTGACCAGTA"
B = "ACGTTGCACGTGGCATTACGGTTCCATGCAAAGTCCGATAGGCTACCAAGTTGACCAGTAC"
EDITS = edit_distance(A, B)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a.fa and b.fa, and several.fa with both sequences."""
    (tmp_path / "a.fa").write_bytes(f">a first\n{A}\n".encode())
    (tmp_path / "b.fa").write_bytes(f">b second\n{B}\n".encode())
    (tmp_path / "several.fa").write_bytes(f">x\nAC\n>a\n{A}\n>b\n{B}\n".encode())
    return tmp_path


@pytest.fixture
def distance(folder: Path, inside: Callable[..., Result]) -> Distance:
    """A function that runs `wfacli distance` in that folder."""
    return lambda *arguments: inside("distance", *arguments, cwd=folder)


def found(result: Result) -> dict:
    assert_success(result)
    return json.loads(result.text)


# Output


def test_summary(folder: Path) -> None:
    result = run("distance", "a.fa", "b.fa", cwd=folder)
    assert_success(result)
    assert result.err == ""
    words = re.sub(r"[\d.e-]+ (s  |TCUPS|computed)", r"N \1", result.text)
    words = re.sub(r"\(cpu-(wavefront|bits), \d+ threads?\)", "(ALGORITHM)", words)
    assert words == (
        f"query      a.fa a, {len(A)} symbols\n"
        f"target     b.fa b, {len(B)} symbols\n"
        f"distance   {EDITS}\n"
        f"identity   {100 * (1 - EDITS / len(A)):.2f}%   (1 - distance / length of the longer)\n"
        "time       N s   (ALGORITHM)\n"
        f"cells      {len(A) * len(B):.3g} in the matrix, N TCUPS; N computed\n"
    )


def test_json(distance: Distance) -> None:
    values = found(distance("a.fa", "b.fa", "--json", "-t", "1"))
    assert values["a"] == {"file": "a.fa", "name": "a", "length": len(A)}
    assert values["b"] == {"file": "b.fa", "name": "b", "length": len(B)}
    assert (values["distance"], values["more_than"], values["unit"]) == (EDITS, None, "symbols")
    assert values["identity"] == pytest.approx(1 - EDITS / len(A))
    assert (values["matrix_cells"], values["threads"]) == (len(A) * len(B), 1)
    assert values["tcups"] == pytest.approx(1e-12 * len(A) * len(B) / values["seconds"], rel=0.1, abs=1e-6)
    assert values["computed_cells"] > 0
    assert [phase["end"] for phase in values["history"]["phases"]] == ["done"]
    assert values["history"]["phases"][0]["algorithm"] == values["algorithm"]
    assert "alignment" not in values


@pytest.mark.parametrize("algorithm", ["wavefront", "bits"])
def test_an_algorithm_that_is_asked_for(distance: Distance, algorithm: str) -> None:
    values = found(distance("a.fa", "b.fa", "--json", "--algorithm", algorithm, "--engine", "cpu"))
    assert (values["algorithm"], values["distance"]) == (f"cpu-{algorithm}", EDITS)


def test_output_and_stats_files(distance: Distance, folder: Path) -> None:
    result = distance("a.fa", "b.fa", "--json", "-o", "x.json", "--stats", "s.json", "-v")
    assert_success(result)
    assert result.out == b""
    assert "starting with cpu-" in result.err
    assert json.loads((folder / "x.json").read_text())["distance"] == EDITS
    stats = json.loads((folder / "s.json").read_text())
    assert (stats["complete"], stats["distance"]) == (True, EDITS)
    assert {"read", "estimate", "distance"} <= stats["stage_seconds"].keys()
    assert stats["history"]["phases"][0]["seconds"] <= stats["wall_seconds"]
    assert stats["command_line"] == "wfacli distance a.fa b.fa --json -o x.json --stats s.json -v"
    assert not list(folder.glob("*.partial-*"))


def test_max_distance(distance: Distance) -> None:
    for most in (EDITS, EDITS + 1):
        assert found(distance("a.fa", "b.fa", "--json", "--max-distance", str(most)))["distance"] == EDITS
    for most in (0, 1, EDITS - 1):
        values = found(distance("a.fa", "b.fa", "--json", "--max-distance", str(most)))
        assert (values["distance"], values["more_than"], values["identity"]) == (None, most, None)
    words = distance("a.fa", "b.fa", "--max-distance", "2")
    assert_success(words)
    assert "distance   more than 2\nidentity   less than 96.72% " in words.text


def test_few_edits_are_not_rounded_to_none(distance: Distance, folder: Path) -> None:
    a = "".join(random.Random(1).choices("ACGT", k=200_000))
    (folder / "a.fa").write_bytes(fasta([a], width=60))
    (folder / "b.fa").write_bytes(fasta([a[:100] + a[101:]]))
    assert "identity   99.9995% " in distance("a.fa", "b.fa").text
    assert "identity   100.00% " in distance("a.fa", "a.fa").text


# Input


@pytest.mark.parametrize("pack", [gzip.compress, bgzf, zstd], ids=["gz", "bgz", "zst"])
def test_compressed_and_fastq(distance: Distance, folder: Path, pack: Callable[[bytes], bytes]) -> None:
    (folder / "a").write_bytes(pack(fasta([A], width=7)))
    (folder / "b").write_bytes(pack(fastq([B.lower()])))
    assert found(distance("a", "b", "--json"))["distance"] == EDITS


def test_standard_input(folder: Path) -> None:
    for sides in (("-", "b.fa"), ("b.fa", "-")):
        result = run("distance", *sides, "--json", cwd=folder, stdin=(folder / "a.fa").read_bytes())
        assert found(result)["distance"] == EDITS


def test_records_by_name(distance: Distance) -> None:
    values = found(distance("several.fa", "several.fa", "--query-name", "a", "--target-name", "b", "--json"))
    assert (values["a"]["name"], values["b"]["name"], values["distance"]) == ("a", "b", EDITS)
    assert_failure(distance("several.fa", "b.fa"), 1, "several.fa: has more than one record (x, a, b)", "--query-name")
    assert_failure(distance("a.fa", "several.fa"), 1, "--target-name NAME")
    assert_failure(distance("a.fa", "b.fa", "--target-name", "c"), 1, "b.fa: has no record c; it has b")


@pytest.mark.parametrize(("rule", "edits"), [("literal", 2), ("mismatch", 3)])
def test_other_symbols(distance: Distance, folder: Path, rule: str, edits: int) -> None:
    (folder / "a.fa").write_bytes(b">a\nACGTNNNACGU\n")
    (folder / "b.fa").write_bytes(b">b\nacgTnNRaCGT\n")
    assert found(distance("a.fa", "b.fa", "--json", "--ambiguous", rule))["distance"] == edits


def test_text(distance: Distance, folder: Path) -> None:
    (folder / "a").write_bytes(b"Was sich liebt,\r\n das neckt sich.\x00\xff")
    (folder / "b").write_bytes(b"was sich neckt,\n das liebt sich.\x00\xfe\n")
    values = found(distance("a", "b", "--text", "--json"))
    expected = edit_distance((folder / "a").read_bytes(), (folder / "b").read_bytes())
    assert (values["distance"], values["unit"], values["a"]["length"]) == (expected, "bytes", 35)
    assert "a, 35 bytes\n" in distance("a", "b", "--text").text
    (folder / "b").write_bytes(b"")
    assert found(distance("a", "b", "--text", "--json"))["distance"] == 35
    assert found(distance("b", "b", "--text", "--json"))["identity"] == 1


def test_text_is_not_decompressed(distance: Distance, folder: Path) -> None:
    one, other = gzip.compress(b"same", mtime=1), gzip.compress(b"same", mtime=2)
    (folder / "a").write_bytes(one)
    (folder / "b").write_bytes(other)
    assert found(distance("a", "b", "--text", "--json"))["distance"] == 1


@pytest.mark.parametrize("different", [5, 400])
def test_lines(distance: Distance, folder: Path, different: int) -> None:
    symbols = random.Random(1)
    a = [f"line {symbols.randrange(different)}" for _ in range(600)]
    b = [line for line in a if symbols.random() > 0.1] + ["", "last"]
    (folder / "a").write_text("\n".join(a))
    (folder / "b").write_text("\r\n".join(b) + "\r\n")
    values = found(distance("a", "b", "--lines", "--json"))
    assert (values["distance"], values["unit"]) == (edit_distance(a, b), "lines")
    assert values["b"]["length"] == len(b)


# Alignments


def test_path_as_paf(distance: Distance, folder: Path) -> None:
    result = distance("a.fa", "b.fa", "--path")
    assert_success(result)
    expected = run("align", "a.fa", "b.fa", "--metric", "edit", "--format", "paf", cwd=folder)
    assert result.out == expected.out
    assert f"distance   {EDITS}\n" in result.err
    assert "alignment  standard output, PAF: " in result.err
    assert distance("a.fa", "b.fa", "--path", "-q").err == ""


def test_path_to_files(distance: Distance, folder: Path) -> None:
    for name, format_ in (("x.paf", "paf"), ("x.sam", "sam"), ("x.txt", "sam")):
        chosen = ["--format", "sam"] if name == "x.txt" else []
        values = found(distance("a.fa", "b.fa", "--path", "-o", name, "--json", *chosen))
        written = (folder / name).read_bytes()
        expected = run("align", "a.fa", "b.fa", "--metric", "edit", "--format", format_, cwd=folder)
        assert rows_of(written) == expected.rows
        alignment = values["alignment"]
        assert (alignment["file"], alignment["format"]) == (name, format_)
        assert alignment["mismatches"] + alignment["inserted"] + alignment["deleted"] == values["distance"]
    header = (folder / "x.sam").read_text().splitlines()[:3]
    assert header[1] == "@SQ\tSN:b\tLN:61"
    assert header[2].endswith("CL:wfacli distance a.fa b.fa --path -o x.sam --json")


@pytest.mark.parametrize("format_", ["paf", "sam"])
@pytest.mark.parametrize("rule", ["literal", "mismatch"])
def test_path_under_each_rule(distance: Distance, folder: Path, rule: str, format_: str) -> None:
    (folder / "a.fa").write_bytes(b">a\nACGTNNacgUACGG\n")
    (folder / "b.fa").write_bytes(b">b\nacgTnNACGTACG\n")
    options = ("--ambiguous", rule, "--format", format_)
    ours = distance("a.fa", "b.fa", "--path", *options)
    assert_success(ours)
    theirs = run("align", "a.fa", "b.fa", "--metric", "edit", *options, cwd=folder)
    assert ours.rows == theirs.rows


def test_no_path_for_more_than_the_bound(distance: Distance, folder: Path) -> None:
    assert found(distance("a.fa", "b.fa", "--path", "--max-distance", "1", "-o", "x.paf", "--json"))["more_than"] == 1
    assert (folder / "x.paf").read_bytes() == b""
    assert_success(distance("a.fa", "b.fa", "--path", "--max-distance", "1", "-o", "x.sam"))
    assert [line[:3] for line in (folder / "x.sam").read_text().splitlines()] == ["@HD", "@SQ", "@PG"]


def test_a_distance_is_not_computed_again_for_its_path(
    distance: Distance, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise WfacliError("no more memory")

    kept = ("a.fa", "b.fa", "--path", "-o", "x.paf", "--checkpoint", "c")
    with monkeypatch.context() as patch:
        patch.setattr("wfacli.solve.distance.deliver.write_path", fail)
        assert_failure(distance(*kept), 1, "no more memory")
    result = distance(*kept, "--resume", "-v", "--json")
    assert "the checkpoint already has the distance" in result.err
    assert found(result)["distance"] == EDITS
    assert (folder / "x.paf").read_bytes().startswith(b"a\t61\t0\t61\t+\tb\t")
    assert not (folder / "c").exists()


def test_names_that_sam_cannot_hold(distance: Distance, folder: Path) -> None:
    (folder / "a.fa").write_bytes(b">@a\nACGT\n")
    assert_failure(distance("a.fa", "b.fa", "--path", "-o", "x.sam"), 1, "SAM allows no such name of a read")
    assert not list(folder.glob("x.sam*"))


# Errors

WRONG = [
    (("nothing.fa", "b.fa"), 1, "nothing.fa: No such file"),
    (("a.fa", "nothing.fa"), 1, "nothing.fa: No such file"),
    (("a.fa", "empty"), 1, "empty: has no sequence"),
    (("a.fa", "."), 1, ".: Is a directory"),
    (("a.fa", "bare"), 1, "bare, record b: the sequence is empty"),
    (("-", "-"), 2, "only one of QUERY and TARGET can be standard input"),
    (("nothing", "a.fa", "--text"), 1, "nothing: No such file"),
    ((".", "a.fa", "--lines"), 1, ".: Is a directory"),
    (("a.fa", "b.fa", "--text", "--lines"), 2, "--text and --lines cannot be used together"),
    (("a.fa", "b.fa", "--lines", "--query-name", "a"), 2, "are for sequences"),
    (("a.fa", "b.fa", "--text", "--ambiguous", "mismatch"), 2, "are for sequences"),
    (("a.fa", "b.fa", "--text", "--path", "-o", "x.paf"), 2, "--path writes bytes as TSV, not as PAF"),
    (("a.fa", "b.fa", "--lines", "--path", "--format", "bam"), 2, "--path writes lines as DIFF or TSV, not as BAM"),
    (("a.fa", "b.fa", "--path", "-o", "x.diff"), 2, "--path writes symbols as PAF or SAM or BAM, not as DIFF"),
    (("a.fa", "b.fa", "--plot", "x.txt"), 2, "a picture ends in .png, .svg, .pdf or .html"),
    (("a.fa", "b.fa", "--plot", "no/x.html"), 1, "no/x.html: cannot be written"),
    (("a.fa", "b.fa", "--plot", "x.html", "--stats", "x.html"), 2, "x.html is named twice"),
    (("a.fa", "b.fa", "--ambiguous", "wildcard"), 2, "--ambiguous wildcard cannot be used with distance"),
    (("a.fa", "b.fa", "--path", "--json"), 2, "cannot both go to standard output"),
    (("a.fa", "b.fa", "--path", "-o", "x.cram"), 2, "CRAM is not written"),
    (("a.fa", "b.fa", "--path", "-o", "x.paf.gz"), 2, "does not compress its output"),
    (("a.fa", "b.fa", "--path", "-o", "x.PNG"), 2, "x.PNG is the name of a picture, and -o gets alignments"),
    (("a.fa", "b.fa", "--path", "--format", "tsv"), 2, "--path writes symbols as PAF or SAM or BAM, not as TSV"),
    (("a.fa", "b.fa", "--format", "sam"), 2, "give --path"),
    (("a.fa", "b.fa", "--stats", "-"), 2, "cannot both go to standard output"),
    (("a.fa", "b.fa", "-o", "a.fa"), 2, "a.fa is an input"),
    (("a.fa", "b.fa", "--stats", "./b.fa"), 2, "b.fa is an input"),
    (("a.fa", "b.fa", "--checkpoint", "b.fa"), 2, "b.fa is an input"),
    (("a.fa", "b.fa", "-o", "x", "--stats", "./x"), 2, "x is named twice"),
    (("a.fa", "b.fa", "-o", "x", "--checkpoint", "x"), 2, "x is named twice"),
    (("a.fa", "b.fa", "-o", "no/x"), 1, "no/x: cannot be written"),
    (("a.fa", "b.fa", "--checkpoint", "no/x"), 1, "there is no folder no"),
    (("a.fa", "b.fa", "--resume"), 2, "give --checkpoint FILE too"),
    (("a.fa", "b.fa", "--checkpoint-every", "5s"), 2, "--checkpoint-every requires --checkpoint"),
    (("a.fa", "b.fa", "--checkpoint", "c", "--checkpoint-every", "soon"), 2, "expects a time like 30s, 5m or 1h"),
    (("a.fa", "b.fa", "--checkpoint", "c", "--checkpoint-every", "0s"), 2, "expects a time like 30s, 5m or 1h"),
    (("a.fa", "b.fa", "--max-distance", "-1"), 2, "--max-distance"),
    (("a.fa",), 2, "Missing argument"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG, ids=[" ".join(a[0]) for a in WRONG])
def test_what_is_wrong(distance: Distance, folder: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    (folder / "empty").touch()
    (folder / "bare").write_bytes(b">b\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert_failure(distance(*arguments), code, words)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_gpu_that_is_not_there(distance: Distance, monkeypatch: pytest.MonkeyPatch) -> None:
    # Hide any GPU; the error then names PyCUDA, the driver or the GPU, whichever is missing first.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    result = distance("a.fa", "b.fa", "--engine", "gpu")
    assert_failure(result, 1)
    assert re.fullmatch(r"wfacli: error: .*(PyCUDA|NVIDIA|GPU).*\n", result.err)


def test_help_teaches(distance: Distance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    words = distance("--help-all").text.replace("\n", " ")
    for part in (
        "Usage: wfacli distance",
        "Long runs:",
        "Identity is 1 - distance / length of the longer",
        "TCUPS",
    ):
        assert part in words
    assert "Compare two files line by line" in words
