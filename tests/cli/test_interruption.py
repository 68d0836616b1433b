"""Closed pipes, Ctrl-C, SIGTERM and SIGHUP: a quick end, the documented exit status, and no traceback."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .support import command, environment, fasta, random_pairs, random_symbols, rows_of, seq, start

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
by_signal = pytest.mark.parametrize(("sent", "code"), SIGNALS, ids=["SIGINT", "SIGTERM", "SIGHUP"])
# Files that are mapped while the command starts; some builds of Python contain _struct.
LOADED = [
    name
    for name in ("wfacli/_native", "_multiarray_umath", "libgcc_s", "_struct")
    if name not in sys.builtin_module_names
]
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def wait_until(holds: Callable[[], bool], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to this"
        time.sleep(0.01)


def assert_ends(process: subprocess.Popen[bytes], sent: signal.Signals, code: int) -> tuple[bytes, str]:
    """Send a signal, and assert that the process soon ends with this exit status, without a traceback."""
    process.send_signal(sent)
    try:
        process.wait(timeout=30)  # far less than the work takes, and enough on a machine under load
    finally:
        process.kill()
    assert process.stdout and process.stderr
    out, err = process.stdout.read(), process.stderr.read().decode()
    assert process.returncode == code, err
    assert "Traceback" not in err, err
    return out, err


def in_a_long_alignment(folder: Path) -> subprocess.Popen[bytes]:
    """Start a command on two pairs, and return when the first is written and the second takes minutes."""
    pairs = [("ACGT", "ACGT"), (random_symbols(1_000_000, 1), random_symbols(1_000_000, 2))]
    (folder / "long.seq").write_bytes(seq(pairs))
    process = start("align", "long.seq", "-o", "x.paf", "--batch-bases", "1", "-t", "1", cwd=folder)
    wait_until(lambda: any(p.stat().st_size for p in folder.glob("x.paf.partial-*")), seconds=60)
    return process


@by_signal
def test_signal_during_a_long_alignment(folder: Path, sent: signal.Signals, code: int) -> None:
    process = in_a_long_alignment(folder)
    _, err = assert_ends(process, sent, code)
    (partial,) = folder.glob("x.paf.partial-*")
    assert [row[0] for row in rows_of(partial.read_bytes())] == ["pair1"]
    assert partial.name in err
    assert not (folder / "x.paf").exists()


def test_signal_says_how_much_went_to_standard_output(folder: Path) -> None:
    pairs = [("ACGT", "ACGT"), (random_symbols(1_000_000, 1), random_symbols(1_000_000, 2))]
    (folder / "long.seq").write_bytes(seq(pairs))
    process = start("align", "long.seq", "--format", "paf", "--batch-bases", "1", "-t", "1", cwd=folder)
    assert process.stdout and process.stdout.readline().startswith(b"pair1\t")
    _, err = assert_ends(process, signal.SIGINT, 130)
    assert err == "wfacli: incomplete: 1 pair was written, to standard output\n"


@pytest.mark.parametrize("pause", [0, 0.002, 0.01])
def test_signal_that_comes_twice(folder: Path, pause: float) -> None:
    # `timeout` signals its child, and then the group that the child is in.
    process = in_a_long_alignment(folder)
    process.send_signal(signal.SIGTERM)
    time.sleep(pause)
    _, err = assert_ends(process, signal.SIGTERM, 143)
    assert err.splitlines() == [
        f"wfacli: incomplete: 1 pair was written, to {folder.resolve() / next(folder.glob('x.paf.*')).name}"
    ]


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


def children(process: subprocess.Popen[bytes]) -> list[int]:
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def command_line(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # ended in the meantime
        return b""


def holds_open(process: int, file: Path) -> bool:
    def is_it(descriptor: Path) -> bool:
        try:
            return descriptor.readlink() == file
        except FileNotFoundError:  # closed in the meantime
            return False

    return any(map(is_it, Path(f"/proc/{process}/fd").iterdir()))


@linux
@pytest.mark.parametrize("sort", [True, False], ids=["sorted", "unsorted"])
def test_htslib_that_is_killed_is_not_said_to_have_written(folder: Path, sort: bool) -> None:
    # The child is stopped while it receives all pairs, and killed when the command waits for it.
    (folder / "t.fa").write_bytes(fasta(["ACGT"] * 10))
    process = start("align", "-", "t.fa", "-o", "x.cram", *["--sort"] * sort, cwd=folder)
    assert process.stdin
    process.stdin.write(fasta(["ACGT"] * 10))
    process.stdin.flush()

    def samtools() -> list[int]:
        return [one for one in children(process) if b"--no-PG" in command_line(one)]

    wait_until(lambda: bool(samtools()))
    (child,) = samtools()
    os.kill(child, signal.SIGSTOP)
    fed = Path(f"/proc/{child}/fd/0").readlink()
    assert holds_open(process.pid, fed)
    process.stdin.close()
    wait_until(lambda: not holds_open(process.pid, fed))
    (partial,) = folder.glob("x.cram.partial-*")
    if not sort:
        partial.write_bytes(b"CRAM, a part")
    os.kill(child, signal.SIGKILL)
    assert process.wait(timeout=15) == 1 and process.stderr
    err = process.stderr.read().decode()
    wanted = "nothing is left of" if sort else f"{partial} is incomplete, and may contain fewer than"
    assert err.splitlines() == [
        f"wfacli: incomplete: {wanted} the 10 pairs aligned so far",
        "wfacli: error: x.cram: htslib was ended by signal 9",
    ]
    assert list(folder.glob("x.cram*")) == ([] if sort else [partial])


@by_signal
def test_signal_while_a_fifo_has_no_writer(folder: Path, sent: signal.Signals, code: int) -> None:
    os.mkfifo(folder / "fifo")
    process = start("align", "fifo", "t.fa", cwd=folder)
    time.sleep(1)
    assert_ends(process, sent, code)


@linux
@by_signal
def test_signal_while_the_command_starts(folder: Path, sent: signal.Signals, code: int) -> None:
    # Users press Ctrl-C as soon as they notice a typing error.
    process = start("align", "-", cwd=folder)
    maps = Path(f"/proc/{process.pid}/maps")
    wait_until(lambda: "_multiarray_umath" in maps.read_text())
    process.send_signal(sent)
    _, err = process.communicate(timeout=5)
    assert b"Traceback" not in err
    assert process.returncode == code


@linux
@pytest.mark.parametrize("loaded", LOADED)
def test_signal_between_imports(folder: Path, loaded: str) -> None:
    # The exception must not arrive in the import of the native module, nor while Typer builds the command.
    process = start("align", "-", cwd=folder)
    maps = Path(f"/proc/{process.pid}/maps")
    wait_until(lambda: loaded in maps.read_text())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=15)
    assert (process.returncode, err.count(b"Traceback"), err.count(b"nanobind")) == (130, 0, 0)


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
    # The output is smaller than a pipe buffer, so that only a pipe that is already closed is noticed.
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
    # The shell's `>&-`: descriptor 1 does not exist.
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


@pytest.mark.parametrize("files", ["q.fa -", "- t.fa"])
def test_standard_input_that_is_closed_is_no_other_file(folder: Path, files: str) -> None:
    """Without protection, the first opened file would become standard input."""
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *command(), "align", *files.split(), "--format", "paf"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"wfacli: error: -: Bad file descriptor\n"


def test_nohup_keeps_its_word(folder: Path) -> None:
    line = 'trap "" HUP; exec "$@"'
    process = subprocess.Popen(
        ["sh", "-c", line, "sh", *command(), "align", "-", "--format", "paf"],
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin
    process.stdin.write(seq(random_pairs(2)))
    process.stdin.flush()
    time.sleep(0.8)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=15)
    assert (process.returncode, len(rows_of(out))) == (0, 2)


@linux
@pytest.mark.parametrize("place", ["/dev/full", "pipe"])
def test_messages_that_go_nowhere(folder: Path, place: str) -> None:
    """The run succeeds even if its messages cannot be written."""
    if place == "pipe":
        reader, writer = os.pipe()
        os.close(reader)
    else:
        writer = os.open(place, os.O_WRONLY)
    for options, code in ((["q.fa", "t.fa", "--explain"], 0), (["q.fa", "none.fa"], 1)):
        done = subprocess.run(
            [*command(), "align", *options, "-o", "x.paf"], cwd=folder, env=environment(), stderr=writer, check=False
        )
        assert done.returncode == code
        assert (folder / "x.paf").exists() == (code == 0)
        (folder / "x.paf").unlink(missing_ok=True)
    os.close(writer)


def test_a_terminal_that_has_gone(folder: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*command(), "align", "-", "-o", "x.paf", "--batch-bases", "1"],
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    assert process.stdin
    process.stdin.write(seq(random_pairs(2)))
    process.stdin.flush()
    wait_until(lambda: bool(list(folder.glob("x.paf.partial-*"))))
    time.sleep(0.5)  # time for a progress bar to appear
    os.close(ours)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=10) == 129
    assert not list(folder.glob("x.paf*"))
