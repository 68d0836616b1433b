"""Signals of a command: the first raises, its repetitions do nothing, and a later one ends the process at once."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import wfacli
from wfacli.cli import signals
from wfacli.config import Config, Format, OutputSpec
from wfacli.core.interruption import deferred
from wfacli.errors import OutputError
from wfacli.io.read.reader import PairFiles
from wfacli.io.write import output
from wfacli.run import batch_run
from wfacli.run.align import align_run

pytestmark = pytest.mark.usefixtures("handlers")


def test_first_and_its_repetition() -> None:
    with pytest.raises(signals.Terminated):
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGINT)


def test_later_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    later = time.monotonic() + signals.REPEAT_SECONDS + 0.1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    signal.raise_signal(signal.SIGTERM)
    assert ended == [143]


class Interrupted:
    """An object whose destructor a signal interrupts."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_whose_exception_is_discarded(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises((KeyboardInterrupt, signals.Terminated)):
        Interrupted(number)
        time.sleep(60)
    assert not capsys.readouterr().err


EARLY = """
import os, signal, sys
LOADED_FIRST = {"wfacli", "wfacli.cli", "wfacli.cli.early"}
def hook(event, details):
    if event == "import" and details[0].startswith("wfacli") and details[0] not in LOADED_FIRST:
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
sys.argv = ["wfacli", "--version"]
from wfacli.cli import entry
entry()
"""


def test_handlers_exist_before_anything_is_imported() -> None:
    """A signal amid the first import of a module ends without a traceback."""
    result = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (130, b"", b"")


def test_little_is_imported_before_the_handlers_exist() -> None:
    code = (
        "import sys, signal, os; first = set(sys.modules); import wfacli; "
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler; print(*set(sys.modules) - first)"
    )
    imported = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert [name for name in imported if name.startswith("wfacli")] == ["wfacli"]
    assert not {"typing", "threading", "re"} & imported


def test_signals_while_python_exits() -> None:
    """Signals that arrive after the end of a command change neither its status nor its messages."""
    code = """
import os, signal
from wfacli.cli import signals
class Late:
    def __del__(self):
        for number in (signal.SIGINT, signal.SIGTERM): os.kill(os.getpid(), number)
signals.catch()
late = Late()  # destroyed after Python has reset its handlers
signals.ignore()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")


def test_deferred_signal() -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), deferred():
        signal.raise_signal(signal.SIGINT)
        steps.append("complete")
    assert steps == ["complete"]


def test_what_is_written_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that arrives between a write and its count loses nothing that is written."""
    (tmp_path / "one.seq").write_bytes(b">ACGT\n<ACGT\n")
    config = Config(output=OutputSpec(format=Format.PAF))
    opened = align_run(config, PairFiles(str(tmp_path / "one.seq"), None), str(tmp_path / "x.paf"), wfacli.__version__)
    write = os.writev

    def interrupted(descriptor: int, pieces: list[memoryview]) -> int:
        done = write(descriptor, pieces)
        signal.raise_signal(signal.SIGTERM)
        return done

    monkeypatch.setattr(output.os, "writev", interrupted)
    with pytest.raises(signals.Terminated), opened as run:
        run.run()
    assert run.stats.counts["pairs"] == 1
    assert run.partial and run.partial.read_bytes().startswith(b"pair1\t4\t")


def test_of_batches_written_together_the_complete_ones_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.seq").write_bytes(b">ACGT\n<ACGT\n")
    config = Config(output=OutputSpec(format=Format.PAF))
    opened = align_run(config, PairFiles(str(tmp_path / "one.seq"), None), str(tmp_path / "x.paf"), wfacli.__version__)
    write, room = os.writev, [25]

    def filling(descriptor: int, pieces: list[memoryview]) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, [memoryview(b"".join(pieces))[: room.pop()]])

    monkeypatch.setattr(output.os, "writev", filling)
    batches = [batch_run._Records(np.full(10, 65 + i, np.uint8), 10, 1 + i, {}) for i in range(4)]
    with opened as run, pytest.raises(OutputError, match="No space left"):
        run._write(batches)
    assert run.stats.counts["pairs"] == 1 + 2 and run.stats.counts["output_bytes"] == 20
