"""Warnings about results that are surely not meant: proteins without a matrix, and files in different orders."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from .support import Result, assert_success, fasta, random_symbols, run

Wfacli = Callable[..., Result]
P53 = "MEEPQSDPSVEPPLSQETFSDLWKLLPENNVLSPLPSQAMDDLMLSPDDIEQWFTEDPGPDEAPRMPEAAPPVAPAPAAPTPAAPAPAPSWPLSSSVPSQKTYQG"


@pytest.fixture
def proteins(folder: Path) -> Path:
    (folder / "p.fa").write_bytes(fasta([P53, P53[10:]]))
    (folder / "p2.fa").write_bytes(fasta([P53[5:], P53]))
    (folder / "one.fa").write_bytes(fasta([P53]))
    return folder


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("align p.fa p2.fa", "--ambiguous literal, or wfacli extend --matrix BLOSUM62"),
        ("extend p.fa p2.fa --mode local", "--matrix BLOSUM62"),
        ("extend p.fa p2.fa --mode global --score-only", "--matrix BLOSUM62"),
        ("extend p.fa p2.fa --mode local --ambiguous wildcard", "--matrix BLOSUM62"),
        ("local one.fa one.fa", "--matrix BLOSUM62"),
    ],
)
def test_proteins_without_a_matrix(proteins: Path, words: str, hint: str) -> None:
    result = run(*words.split(), cwd=proteins)
    assert_success(result)
    assert "characters that are not nucleotide codes and match nothing; for proteins give " + hint in result.err
    assert result.err.count("wfacli: warning: ") == 1
    assert run(*words.split(), "-q", cwd=proteins).err == ""


@pytest.mark.parametrize(
    "words",
    [
        "extend p.fa p2.fa --mode local --matrix BLOSUM62",
        "extend p.fa p2.fa --mode local --ambiguous literal",
        "extend q.fa t.fa --mode local",
        "local one.fa one.fa --matrix BLOSUM62",
    ],
)
def test_no_warning_where_it_is_meant(proteins: Path, words: str) -> None:
    assert "warning" not in run(*words.split(), cwd=proteins).err


def named(names: list[str], seed: int) -> bytes:
    """Return FASTA records; those of one name differ by one base."""
    sequences = {name: random_symbols(80, 1000 + int("".join(filter(str.isdigit, name)))) for name in names}
    return "".join(f">{n} {seed}\n{s[:seed]}A{s[seed:]}\n" for n, s in sequences.items()).encode()


@pytest.fixture
def orders(folder: Path) -> Path:
    """Files with 6,000 reads: in order, shuffled, with two exchanged, of other names."""
    names = [f"read{n:05d}" for n in range(6000)]
    shuffled = random.Random(1).sample(names, len(names))
    (folder / "a.fa").write_bytes(named(names, 3))
    (folder / "mates.fa").write_bytes(named([f"{n}/2" for n in names], 5))
    (folder / "shuffled.fa").write_bytes(named(shuffled, 5))
    (folder / "exchanged.fa").write_bytes(named([names[1], names[0], *names[2:]], 5))
    (folder / "other.fa").write_bytes(named([*shuffled[:-1], "other1"], 5))
    (folder / "windows.fa").write_bytes(named([f"window{n}" for n in range(len(names))], 5))
    return folder


@pytest.mark.parametrize("command", ["align", "extend"])
@pytest.mark.parametrize("target", ["shuffled.fa", "exchanged.fa"])
@pytest.mark.parametrize("options", [(), ("--batch-bases", "20000")], ids=["", "batches"])
def test_shuffled_files(orders: Path, command: str, target: str, options: tuple[str, ...]) -> None:
    words = [command, "a.fa", target, "--mode", "global", "--score-only", *options]
    result = run(*words, cwd=orders)
    assert_success(result)
    assert len(result.rows) == 6001
    assert f"wfacli: warning: a.fa and {target} hold the same names in different orders, and record i" in result.err
    assert run(*words, "-q", cwd=orders).err == ""


@pytest.mark.parametrize("target", ["a.fa", "mates.fa", "other.fa", "windows.fa"])
def test_files_that_are_not_shuffled(orders: Path, target: str) -> None:
    assert "warning" not in run("align", "a.fa", target, "--score-only", cwd=orders).err


def test_chosen_pairs_are_not_shuffled(orders: Path) -> None:
    """A list of all pairs repeats names, and has the same in both files."""
    every = [(a, b) for a in ("read1", "read2", "read3") for b in ("read1", "read2", "read3")]
    for name, column in (("q.fa", 0), ("t.fa", 1)):
        text = "".join(f">{pair[column]}\n{random_symbols(40, column)}\n" for pair in every)
        (orders / name).write_text(text)
    assert "warning" not in run("align", "q.fa", "t.fa", "--score-only", cwd=orders).err
    (orders / "pairs.txt").write_text("read00001\tread00002\nread00002\tread00001\n")
    chosen = run("extend", "a.fa", "shuffled.fa", "--pair-list", "pairs.txt", "--mode", "local", cwd=orders)
    assert_success(chosen)
    assert "warning" not in chosen.err
