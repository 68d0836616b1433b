"""Regression tests: tracebacks, SAM files without targets, and undocumented exit statuses."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .support import (
    Result,
    assert_failure,
    bgzf,
    command,
    environment,
    fasta,
    header_of,
    random_pairs,
    random_symbols,
    rows_of,
    run,
    seq,
    table,
    zstd,
)
from .test_interruption import SIGNALS, linux, wait_until


@pytest.mark.parametrize(
    "line",
    [
        "align q.fa t.fa -o loop",
        "align q.fa t.fa -o loop/x",
        "align q.fa t.fa -o loop --format bam",
        "align q.fa t.fa -o x.sam --stats loop",
        "align loop t.fa",
        "align q.fa t.fa --mappings loop",
        "extend q.fa t.fa -o loop",
        "distance one.fa one.fa --checkpoint loop",
        "distance one.fa one.fa --path -o loop",
        "distance one.fa one.fa --stats loop",
        "local one.fa one.fa -o loop",
        "dotplot one.fa one.fa --format html -o loop",
        "simulate -n 1 -l 5 -o loop --format seq",
    ],
)
def test_a_loop_of_links(folder: Path, line: str) -> None:
    (folder / "one.fa").write_bytes(fasta(["ACGTTGCA" * 9]))
    (folder / "loop").symlink_to("pool")
    (folder / "pool").symlink_to("loop")
    result = run(*line.split(), cwd=folder)
    assert "Traceback" not in result.err
    if "--checkpoint" in line and result.code == 0:
        return  # it finished before its first checkpoint
    assert_failure(result, 1, "loop", "Too many levels of symbolic links")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"@RG\tID:x\nSM:y", "one line"),
        ("@RG\tID:x\nSM:y", "one line"),
        (r"@RG\tID:x\rSM:y", "one line"),
        (os.fsdecode(b"@RG\tID:\xff"), r"@RG\tID:\xff contains unprintable characters"),
        ("@RG\tID:x\tDS:\x1b[31m", "contains unprintable characters"),
        ("@RG\tID:\x01", "contains unprintable characters"),
    ],
)
def test_read_groups_of_several_lines_or_of_no_text(folder: Path, text: str, words: str) -> None:
    assert_failure(run("align", "q.fa", "t.fa", "--read-group", text, cwd=folder), 2, words)


@pytest.mark.parametrize("mode", ["ab", "r+b"])
@pytest.mark.parametrize(
    "line",
    [
        "align q.fa t.fa",
        "align q.fa t.fa -o x.paf",
        "extend q.fa t.fa",
        "distance q.fa t.fa --query-name r1",
        "align t.fa",
    ],
)
def test_an_input_that_standard_output_goes_to(folder: Path, line: str, mode: str) -> None:
    """As in `wfacli align q t >> t`: output would be read again, or overwrite unread input."""
    before = (folder / "t.fa").read_bytes()
    with (folder / "t.fa").open(mode) as out:
        result = run(*line.split(), cwd=folder, stdout=out)
    assert_failure(result, 2, "t.fa is an input, and the shell sends standard output to it")
    assert (folder / "t.fa").read_bytes() == before
    with (folder / "t.fa").open(mode) as out, (folder / "t.fa").open("rb") as data:
        result = run("align", "q.fa", "-", cwd=folder, stdin=data, stdout=out)
    assert_failure(result, 2, "standard input is an input, and the shell sends")
    assert (folder / "t.fa").read_bytes() == before


PAIRS = random_pairs(300, 150)
FILES: dict[str, Callable[[], bytes]] = {"s.seq": lambda: seq(PAIRS), "s.tsv": lambda: table(PAIRS, names=True)}


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("pack", [gzip.compress, bgzf, zstd])
def test_records_before_damage_have_their_targets(
    folder: Path, name: str, pack: Callable[[bytes], bytes], threads: str
) -> None:
    packed = bytearray(pack(FILES[name]()))
    for at in (-6, len(packed) // 2, -40):
        (folder / name).write_bytes(packed[:at] + bytes([packed[at] ^ 64]) + packed[at:][1:])
        result = run("align", name, "-o", "x.sam", "-t", threads, cwd=folder)
        if result.code == 0:  # e.g. in the final BGZF block
            continue
        assert result.code == 1 and "Traceback" not in result.err
        for left in folder.glob("x.sam.partial-*"):
            targets = {line.split("\t")[1][3:] for line in header_of(left.read_bytes()) if line.startswith("@SQ")}
            assert {row[2] for row in rows_of(left.read_bytes())} - {"*"} <= targets
            left.unlink()


def limited(folder: Path, kilobytes: int, *words: str) -> Result:
    program = ["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", *command()]
    return run(*words, cwd=folder, program=program, timeout=60)


@linux
@pytest.mark.parametrize(
    "words", ["align q.fa t.fa -t 2", "dotplot one.fa one.fa -o x.html", "dotplot one.fa one.fa -o x.png"]
)
def test_little_memory(folder: Path, words: str) -> None:
    """Any allocation at the start may fail; a library that then ends the process (OpenBLAS does) is reported."""
    (folder / "one.fa").write_bytes(fasta([random_symbols(20_000, 1)]))
    seen = 0
    for kilobytes in (24_000, 36_000, 48_000, 60_000, 75_000, 90_000, 120_000, 142_000, 165_000, 180_000):
        try:
            result = limited(folder, kilobytes, *words.split())
        except subprocess.TimeoutExpired:
            continue  # CPython 3.11 unwinds forever if it has no memory for the place of an exception
        assert "Traceback" not in result.err, (kilobytes, result.err)
        if result.code < 0:  # a library aborted the process
            continue
        assert result.code in (0, 1), (kilobytes, result.err)
        if kilobytes > 30_000:  # Python itself may fail before
            assert result.code == result.err.count("wfacli: error: "), (kilobytes, result.err)
        assert not list(folder.glob("*.partial-*")), (kilobytes, result.err)
        seen += result.code
    assert seen


@linux
@pytest.mark.parametrize(("sent", "code"), SIGNALS)
def test_a_signal_before_there_are_handlers(folder: Path, sent: signal.Signals, code: int) -> None:
    """The first import takes long here."""
    (folder / "slow").mkdir()
    (folder / "slow" / "typer.py").write_text(
        "import pathlib, time\npathlib.Path('begun').touch()\nfor _ in range(1200): time.sleep(0.1)\n"
    )
    process = subprocess.Popen(
        [*command(), "align", "q.fa", "t.fa"],
        cwd=folder,
        env=environment(PYTHONPATH=str(folder / "slow")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until((folder / "begun").exists)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, b"", b"")
