"""Former names of options and values, and habits from samtools and minimap2, through the whole command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import wfacli as package
from wfacli.config import Mode

from .support import Result, assert_failure, assert_success, fasta, run

Wfacli = Callable[..., Result]
# Command lines with a former name, what it is, and the present one.
FORMER = [
    ("align q.fa t.fa --max-score 5", "--max-score", "--max-cost"),
    ("align q.fa t.fa --max-score=5", "--max-score", "--max-cost"),
    ("align q.fa t.fa --mode hw", "--mode hw", "--mode semiglobal"),
    ("extend q.fa t.fa --mode extension --bandwidth 10", "--bandwidth", "--band"),
    ("extend q.fa t.fa --mode local --pairs pairs.txt", "--pairs", "--pair-list"),
    ("distance q.fa t.fa --query-name r2 --name-b t3", "--name-b", "--target-name"),
    ("distance q.fa t.fa --name-a r2 --target-name t3", "--name-a", "--query-name"),
    ("local q.fa t.fa --query-name r2 --name-b t3", "--name-b", "--target-name"),
    ("local q.fa t.fa --name-a r2 --target-name t3", "--name-a", "--query-name"),
    ("dotplot q.fa t.fa -o - --format html --path x.paf", "--path", "--alignments"),
    ("dotplot q.fa t.fa -o - --format html --literal", "--literal", "--ambiguous literal"),
]


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "pairs.txt").write_text("r1\tt2\nr2\tt1\n")
    assert_success(run("align", "q.fa", "t.fa", "-q", "-o", "x.paf", cwd=folder))
    return folder


def records(result: Result) -> list[bytes]:
    """Return the output without what differs between runs: command lines and times."""
    unlike = (b"@PG", b"algorithm", b"CUPS", b" s")
    return [line for line in result.out.splitlines() if not any(word in line for word in unlike)]


@pytest.mark.parametrize(("words", "old", "new"), FORMER, ids=[words for words, _, _ in FORMER])
def test_former_name_works_and_is_warned_of(files: Path, words: str, old: str, new: str) -> None:
    former, present = (run(*w.split(), cwd=files) for w in (words, words.replace(old, new)))
    assert_success(former)
    assert_success(present)
    assert records(former) == records(present)
    said = f"wfacli: warning: {old} is now called {new}; the former name still works\n"
    assert former.err.count(said) == 1
    assert "is now called" not in present.err
    assert "is now called" not in run(*words.split(), "-q", cwd=files).err


def test_former_name_of_doctor(wfacli: Wfacli) -> None:
    assert "--gpu is now called --device" in wfacli("doctor", "--gpu", "0").err
    assert wfacli("doctor", "--device", "0").code == 0


@pytest.mark.parametrize(("words", "old", "new"), FORMER[:6], ids=[words for words, _, _ in FORMER[:6]])
def test_former_names_are_in_no_help(wfacli: Wfacli, words: str, old: str, new: str) -> None:
    text = wfacli(words.split()[0], "--help-all").text
    assert f"{old.split()[0]} " not in text.replace("--mode ", "") or old == "--pairs"
    assert new.split()[0] in text


def test_former_name_of_bench(wfacli: Wfacli) -> None:
    words = [
        "bench",
        "-l",
        "50",
        "-e",
        "0",
        "-n",
        "10",
        "-t",
        "1",
        "--repeats",
        "1",
        "--metric",
        "edit",
        "--task",
        "score",
        "--engine",
        "cpu",
    ]
    former, present = wfacli(*words, "--json", "-"), wfacli(*words, "--stats", "-")
    assert_success(former)
    assert "wfacli: warning: --json is now called --stats; the former name still works\n" in former.err
    assert json.loads(former.out)["options"] == json.loads(present.out)["options"]


def test_dotplot_refuses_rules_that_it_does_not_have(files: Path) -> None:
    words = ("dotplot", "q.fa", "t.fa", "-o", "p.html")
    assert_failure(run(*words, "--ambiguous", "wildcard", cwd=files), 2, "a dot is an exact match")
    assert_failure(run(*words, "--ambiguous", "mismatch", "--text", cwd=files), 2, "--text compares all bytes")


def test_present_name_wins_over_the_former(files: Path) -> None:
    both = run("align", "q.fa", "t.fa", "--max-cost", "0", "--max-score", "1000", "--format", "tsv", cwd=files)
    assert_success(both)
    assert all(row[2] == "*" for row in both.rows[1:])


def test_former_values_are_checked(files: Path) -> None:
    assert_failure(run("align", "q.fa", "t.fa", "--max-score", "x", cwd=files), 2, "--max-score", "x")
    assert_failure(run("align", "q.fa", "t.fa", "--max-score", cwd=files), 2, "--max-score")


def test_extend_says_that_it_is_local(files: Path) -> None:
    unsaid, said = (
        run("extend", "q.fa", "t.fa", cwd=files),
        run("extend", "q.fa", "t.fa", "--mode", "local", cwd=files),
    )
    assert records(unsaid) == records(said)
    assert "wfacli: warning: extend aligns locally, since --mode is not given" in unsaid.err
    assert "warning" not in said.err
    assert run("extend", "q.fa", "t.fa", "-q", cwd=files).err == ""


# samtools and minimap2


def test_version_by_a_short_option(wfacli: Wfacli) -> None:
    assert wfacli("-V").out == wfacli("--version").out


@pytest.mark.parametrize("words", ["align q.fa t.fa", "extend q.fa t.fa --mode global", "simulate -n 5"])
def test_threads_as_in_samtools(files: Path, words: str) -> None:
    one, other = (run(*words.split(), option, "1", cwd=files) for option in ("-t", "-@"))
    assert_success(other)
    assert records(one) == records(other)
    if words.startswith("align"):
        assert "1 thread)" in other.err


def test_map_options_as_in_minimap2(files: Path) -> None:
    """-a, -x and -R mean for `align --mappings` what they mean for minimap2."""
    (files / "ref.fa").write_bytes(fasta(["ACGTTGCATTGACCAGTACCATGGA"], "c"))
    (files / "reads.fa").write_bytes(fasta(["ACGTTGCATTGACCAGTACCATGGA"], "r"))
    (files / "m.paf").write_text("r1\t25\t0\t25\t+\tc1\t25\t0\t25\t25\t25\t60\n")
    words = ("align", "reads.fa", "ref.fa", "--mappings", "m.paf")
    result = run(*words, "-a", "-x", "map-hifi", "-R", r"@RG\tID:one", cwd=files)
    assert_success(result)
    assert "RG:Z:one" in result.rows[0] and result.rows[0][4] == "60"
    assert records(result) == records(run(*words, "--preset", "map-hifi", "-R", r"@RG\tID:one", cwd=files))
    assert_failure(run(*words, "-a", "--format", "paf", cwd=files), 2, "-a asks for SAM, and the output is PAF")
    assert_failure(run("align", "-", "-a", cwd=files, stdin=b"A\tC\n"), 2, "read only once")


def test_former_mode_in_python() -> None:
    with pytest.warns(DeprecationWarning, match="'hw' is now called 'semiglobal'"):
        old = package.align("CGT", "AACGTAA", mode="hw")  # type: ignore[arg-type]
    assert old == package.align("CGT", "AACGTAA", mode="semiglobal")
    assert Mode.HW is Mode.SEMIGLOBAL
