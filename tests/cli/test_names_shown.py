"""Names are handled as bytes, and escaped in messages, so that no control character reaches a terminal."""

from __future__ import annotations

import gzip
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from .support import Result, assert_failure, assert_success, command, environment, fasta, fastq, run

# A sequence that clears the screen, newlines, a carriage return, a bell, C1's CSI, and right-to-left override.
NASTY = "\x1b[2J\n\r\a\x9b31m\u202e"
SHOWN = r"\x1b[2J\n\r\x07\x9b31m\u202e"


def assert_clean(result: Result) -> None:
    assert "Traceback" not in result.err
    for character in NASTY.replace("\n", "").replace("[2J", "").replace("31m", ""):
        assert character not in result.err
    assert all(line.isprintable() for line in result.err.split("\n"))


@pytest.mark.parametrize(
    ("paf", "words"),
    [
        (b"r\xff1\t4\t0\t4\t+\tt1\t60\t0\t4\t4\t4\t60\n", r"r\xff1: a mapping's read is not among"),
        (b"r1\t60\t0\t4\t+\tt\xfe\t60\t0\t4\t4\t4\t60\n", r"t\xfe"),
        (b"r1\t60\t0\t4\t+\tt\x1b[31m\t60\t0\t4\t4\t4\t60\n", r"t\x1b[31m"),
        (b"r1\xff\t4\tx\n", "map.paf, line 1"),
    ],
)
@pytest.mark.parametrize("skip", [False, True])
def test_names_in_a_fault_of_mappings(folder: Path, paf: bytes, words: str, skip: bool) -> None:
    (folder / "map.paf").write_bytes(paf)
    options = ["--on-error", "skip"] * skip
    result = run("align", "q.fa", "t.fa", "--mappings", "map.paf", "--format", "paf", *options, cwd=folder)
    assert_clean(result)
    assert words in result.err
    assert result.code == 0 if skip else result.code == 1


def test_a_reference_with_two_sequences_of_one_name(folder: Path) -> None:
    (folder / "t.fa").write_bytes(b">chr\xff\nACGT\n>chr\xff\nACGT\n")
    (folder / "map.paf").write_text("")
    result = run("align", "q.fa", "t.fa", "--mappings", "map.paf", cwd=folder)
    assert_failure(result, 1, r"t.fa, record chr\xff: two sequences have this name")


def test_a_name_keeps_its_bytes(folder: Path) -> None:
    for name, symbols in ((b"a\xff\xfe", b"ACGTACGT"), (b"b\xe9", b"ACGACGT")):
        (folder / f"{name[:1].decode()}.fa").write_bytes(b">" + name + b" more\n" + symbols + b"\n")
    result = run("distance", "a.fa", "b.fa", "--path", "--format", "paf", cwd=folder)
    assert_clean(result)
    assert result.code == 0
    fields = result.out.split(b"\t")
    assert (fields[0], fields[5]) == (b"a\xff\xfe", b"b\xe9")
    assert r"a\xff\xfe" in result.err
    words = run("distance", "a.fa", "b.fa", cwd=folder)
    assert_success(words)
    assert r"a.fa a\xff\xfe, 8 symbols" in words.text
    chosen = run("distance", "a.fa", "b.fa", "--query-name", os.fsdecode(b"a\xff"), cwd=folder)
    assert_failure(chosen, 1, r"has no record a\xff; it has a\xff\xfe")
    assert b"a\xff\xfe" in (drawn := run("align", "a.fa", "b.fa", "--format", "paf", cwd=folder)).out, drawn.err
    (folder / "x.paf").write_bytes(result.out)
    for picture in ("x.html", "x.svg"):
        options = ("--alignments", "x.paf", "-o", picture)
        assert_success(run("dotplot", "a.fa", "b.fa", *options, cwd=folder))


@pytest.mark.parametrize(
    "line",
    [
        "align {0} t.fa",  # no such file
        "align q.fa t.fa -o {0}/x",
        "align q.fa t.fa -o q.fa --stats {0}",
        "align q.fa t.fa -o {0}.svg",
        "align q.fa t.fa {0}",  # too many arguments
        "align q.fa t.fa --mode {0}",
        "align q.fa t.fa --{0}",
        "align q.fa t.fa --penalties {0}",
        "extend q.fa t.fa --matrix {0}",
        "map t.fa q.fa --preset {0}",
        "distance q.fa t.fa --query-name {0} --target-name t1",
        "distance q.fa t.fa --query-name r1 --target-name t1 --checkpoint {0}/x",
        "local q.fa t.fa --query-name {0} --target-name t1",
        "dotplot {0} t.fa",
        "simulate --reference {0}",
        "{0}",
    ],
)
@pytest.mark.parametrize("terminal", [False, True], ids=["", "terminal"])
def test_names_on_the_command_line(folder: Path, line: str, terminal: bool) -> None:
    words = [word.format(NASTY) for word in line.split()]
    if not terminal:
        result = run(*words, cwd=folder)
        assert_clean(result)
        assert result.code in (1, 2)
        return
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*command(), *words], cwd=folder, env=environment(NO_COLOR="1"), stdin=subprocess.DEVNULL,
        stdout=theirs, stderr=theirs, check=False, timeout=60,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 65536)
        except OSError:  # the writing end is closed
            break
    os.close(ours)
    assert done.returncode in (1, 2)
    for raw in (b"\x1b[2J", b"\a", b"\xc2\x9b", "\u202e".encode()):
        assert raw not in seen, seen


def test_names_of_files_in_what_is_said_of_a_run(folder: Path) -> None:
    """Test summaries, warnings, and the names of partial files."""
    name = f"q{NASTY}.fa"
    (folder / name).write_bytes((folder / "q.fa").read_bytes() + b">more\nACGT\n")
    result = run("align", name, "t.fa", "-o", f"x{NASTY}.sam", cwd=folder)
    assert_clean(result)
    assert_failure(result, 1, f"q{SHOWN}.fa", f"x{SHOWN}.sam.partial-")
    damaged = gzip.compress(fastq(["ACGT"] * 1000))[:-20]
    (folder / name).write_bytes(damaged)
    result = run("align", name, "t.fa", "--format", "paf", cwd=folder)
    assert_clean(result)
    assert_failure(result, 1, f"q{SHOWN}.fa: truncated")
    (folder / name).write_bytes(fasta(["ACGT"]))
    result = run("distance", name, name, "--json", "--path", "-o", f"x{NASTY}.paf", cwd=folder)
    assert_clean(result)
    assert result.code == 0
    assert_clean(Result(0, b"", result.text))


def test_a_cache_that_cannot_be_written_is_named_escaped() -> None:
    code = (
        "import warnings\nfrom wfacli import cli\nfrom wfacli.cli import app\n"
        "from wfacli.gpu.compile.cache import CacheWarning\n"
        "app.app = lambda prog_name: warnings.warn('cannot write to the cache \\x1b[2J', CacheWarning)\n"
        "cli.entry()\n"
    )
    done = subprocess.run(
        [str(Path(command()[0]).with_name("python")), "-c", code], env=environment(), capture_output=True, check=False
    )
    assert done.stderr == rb"wfacli: warning: cannot write to the cache \x1b[2J" + b"\n"


def test_names_of_files_in_a_header(folder: Path) -> None:
    """Tabs and line feeds would end the field, and bytes that are not UTF-8 are not allowed in it."""
    name = os.fsdecode(b"q\x1b[2J\t\n\xff.fa")
    (folder / "q.fa").rename(folder / name)
    (folder / "bin").mkdir()
    (folder / "bin" / "minimap2").write_text("#!/bin/sh\necho '[M::main] Real time: 1 sec' >&2\n")
    (folder / "bin" / "minimap2").chmod(0o755)
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    for words in (["align", name, "t.fa"], ["map", "t.fa", name, "--preset", "map-ont"]):
        result = run(*words, cwd=folder, env=env)
        programs = [line for line in result.out.splitlines() if line.startswith(b"@PG")]
        assert len(programs) == 1 + (words[0] == "map"), result.err
        for program in programs:
            assert rb"q\x1b[2J\t\n\xff.fa" in program and program.decode().replace("\t", "").isprintable()


def test_names_of_files_in_a_diff(folder: Path) -> None:
    """As `diff` quotes them, so that `patch` reads them."""
    name = os.fsdecode(b'a\x1b[2J\n"\xff')
    (folder / name).write_bytes(b"one\n")
    (folder / "b\u00e9 b").write_bytes(b"two\n")
    result = run("distance", name, "b\u00e9 b", "--lines", "--path", "--quiet", cwd=folder)
    head = rb'--- "a\033[2J\012\042\377"' + "\n+++ b\u00e9 b\n@@ -1,1 +1,1 @@\n-one\n+two\n".encode()
    assert result.out.replace(b"-1 +1", b"-1,1 +1,1") == head
    if patch := shutil.which("patch"):
        subprocess.run([patch, "-p0", "-s"], cwd=folder, input=result.out, check=True)
        assert (folder / name).read_bytes() == b"two\n"
