"""Closed pipes, Ctrl-C and SIGTERM: a quick end, the agreed exit code, and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .support import command, environment, random_letters, random_pairs, rows_of, seq, start

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
by_signal = pytest.mark.parametrize(("sent", "code"), SIGNALS, ids=["SIGINT", "SIGTERM"])
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def wait_until(holds: Callable[[], bool], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to this"
        time.sleep(0.01)


def assert_ends(process: subprocess.Popen[bytes], sent: signal.Signals, code: int) -> tuple[bytes, str]:
    """Sends a signal; the process must end with this code soon, without a traceback."""
    begun = time.monotonic()
    process.send_signal(sent)
    try:
        process.wait(timeout=5)
    finally:
        process.kill()
    assert time.monotonic() - begun < 5
    assert process.stdout and process.stderr
    out, err = process.stdout.read(), process.stderr.read().decode()
    assert process.returncode == code, err
    assert "Traceback" not in err, err
    return out, err


@by_signal
def test_signal_during_a_long_alignment(folder: Path, sent: signal.Signals, code: int) -> None:
    # Two unrelated sequences of this length take minutes.
    pairs = [("ACGT", "ACGT"), (random_letters(150_000, 1), random_letters(150_000, 2))]
    (folder / "long.seq").write_bytes(seq(pairs))
    process = start("align", "long.seq", "-o", "x.paf", "--batch-bases", "1", cwd=folder)
    # The first pair is in the file when the second is worked on.
    wait_until(lambda: any(p.stat().st_size for p in folder.glob("x.paf.partial-*")))
    _, err = assert_ends(process, sent, code)
    partial = folder / f"x.paf.partial-{process.pid}"
    assert [row[0] for row in rows_of(partial.read_bytes())] == ["pair1"]
    assert partial.name in err
    assert not (folder / "x.paf").exists()


@by_signal
@pytest.mark.parametrize("quiet", [False, True], ids=["", "quiet"])
def test_signal_while_standard_input_stays_open(folder: Path, sent: signal.Signals, code: int, quiet: bool) -> None:
    options = ["-o", "x.paf"] + ["-q"] * quiet
    process = start("align", "-", *options, cwd=folder)
    assert process.stdin
    process.stdin.write(seq(random_pairs(10)))
    process.stdin.flush()
    wait_until(lambda: bool(list(folder.glob("x.paf.partial-*"))))
    time.sleep(0.2)
    _, err = assert_ends(process, sent, code)
    assert not (folder / "x.paf").exists()
    assert not (quiet and err)


@by_signal
def test_signal_while_a_fifo_has_no_writer(folder: Path, sent: signal.Signals, code: int) -> None:
    os.mkfifo(folder / "fifo")
    process = start("align", "fifo", "t.fa", cwd=folder)
    time.sleep(1)
    assert_ends(process, sent, code)


@linux
@by_signal
def test_signal_while_the_command_starts(folder: Path, sent: signal.Signals, code: int) -> None:
    # Users press Ctrl-C as soon as they see a mistake in what they typed.
    process = start("align", "-", cwd=folder)
    maps = Path(f"/proc/{process.pid}/maps")
    wait_until(lambda: "_multiarray_umath" in maps.read_text())
    process.send_signal(sent)
    _, err = process.communicate(timeout=5)
    assert b"Traceback" not in err
    assert process.returncode in (code, -sent)


@pytest.mark.parametrize(
    "options", [(), ("--format", "paf"), ("-o", "/dev/stdout"), ("--stats", "s.json")], ids=" ".join
)
def test_reader_that_has_enough(folder: Path, options: tuple[str, ...]) -> None:
    (folder / "pairs.seq").write_bytes(seq(random_pairs(20_000)))
    process = start("align", "pairs.seq", *options, cwd=folder)
    head = subprocess.run(["head", "-n", "1"], stdin=process.stdout, capture_output=True, check=True)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.wait(timeout=20) == 141
    assert process.stderr.read() == b""
    assert head.stdout.count(b"\n") == 1


def test_reader_that_is_gone_before_the_start(folder: Path) -> None:
    # The output is smaller than a pipe holds, so only a pipe that is closed already can show.
    process = start("align", "q.fa", "t.fa", "--format", "paf", cwd=folder)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.wait(timeout=20) == 141
    assert process.stderr.read() == b""


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("align", "--help"), ("doctor",)], ids=" ".join)
def test_reader_of_a_text_is_gone(folder: Path, words: tuple[str, ...]) -> None:
    process = start(*words, cwd=folder)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert (process.wait(timeout=20), process.stderr.read()) == (141, b"")


def test_standard_output_that_is_closed(folder: Path) -> None:
    # The shell's `>&-`: there is no descriptor 1.
    line = '"$@" >&-'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command(), "align", "q.fa", "t.fa"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert done.returncode == 1
    assert b"standard output" in done.stderr
    assert b"Traceback" not in done.stderr
