"""Interrupted runs, and other programs on the same GPU."""

from __future__ import annotations

import contextlib
import itertools
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .inputs import Pair
from .support import align, gpu_environment, program

HOLDER = Path(__file__).with_name("hold_memory.py")


@contextlib.contextmanager
def held(free_mib: int, index: int = 0) -> Iterator[int]:
    """Let another process hold almost all GPU memory; yield the MiB that are left."""
    holder = [sys.executable, str(HOLDER), str(free_mib), str(index)]
    with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin and process.stdout and process.stderr
        try:
            said = process.stdout.readline()
            assert said, process.stderr.read().decode()
            yield int(said)
        finally:
            process.stdin.close()
            process.wait(timeout=30)


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]


def fed_for_ever(process: subprocess.Popen[bytes], text: bytes) -> None:
    """Write the same pairs to a process repeatedly until it ends."""

    def feed() -> None:
        assert process.stdin
        with contextlib.suppress(OSError):
            while True:
                process.stdin.write(text)

    threading.Thread(target=feed, daemon=True).start()


def columns(text: bytes) -> list[bytes]:
    """Return TSV lines without names and header; ignore a truncated last line."""
    lines = text[: text.rfind(b"\n") + 1].splitlines()[1:]
    return [line.split(b"\t", 2)[2] for line in lines]


def ended_by(sent: signal.Signals, process: subprocess.Popen[bytes]) -> tuple[float, str]:
    """Send a signal to a process; return the seconds until it ends, and its standard error."""
    begun = time.monotonic()
    process.send_signal(sent)
    process.wait(timeout=10)
    seconds = time.monotonic() - begun
    assert process.stderr
    return seconds, process.stderr.read().decode()


def stopped(
    folder: Path, pairs: Sequence[Pair], sent: signal.Signals, code: int, *options: str, least: int = 20_000_000
) -> tuple[float, int]:
    """Send a signal to a run with endless input, once it has written `least` bytes.

    It must end with this exit status, and its output must be correct. Returns the seconds until its end, and the
    number of pairs written.
    """
    text = b"".join(b">%s\n<%s\n" % pair for pair in pairs)
    (folder / "some.seq").write_bytes(text)
    metric = options[: options.index("--metric") + 2]
    wanted = columns(align(folder, "cpu", "some.seq", *metric, suffix=".tsv").text)
    arguments = ["align", "-", *options, "--engine", "gpu", "-o", "x.tsv", "--batch-bases", str(least // 10)]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*program(), *arguments], cwd=folder, env=gpu_environment(), **pipes) as process:
        fed_for_ever(process, text)
        end = time.monotonic() + 60
        while not any(partial.stat().st_size > least for partial in folder.glob("x.tsv.partial-*")):
            assert process.poll() is None, process.stderr and process.stderr.read().decode()
            assert time.monotonic() < end, "it never got that far"
            time.sleep(0.01)
        seconds, err = ended_by(sent, process)
    assert process.returncode == code, err
    assert "Traceback" not in err
    (partial,) = folder.glob("x.tsv.partial-*")
    written = columns(partial.read_bytes())
    assert written == list(itertools.islice(itertools.cycle(wanted), len(written)))
    assert not (folder / "x.tsv").exists()
    return seconds, len(written)
