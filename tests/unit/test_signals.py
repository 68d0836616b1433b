"""Signals of a command: the first raises, its repetitions do nothing, and a later one ends the process at once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import wfacli
from wfacli.cli import signals
from wfacli.config import Config, Format, OutputSpec
from wfacli.core.interruption import deferred
from wfacli.io.read.reader import PairFiles
from wfacli.io.write import output
from wfacli.run.align import align_run


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    numbers = signal.SIGINT, signal.SIGTERM
    before = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    monkeypatch.setattr(signals, "_begun", None)
    signals.catch()
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


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
    write = os.write

    def interrupted(descriptor: int, data: bytes) -> int:
        done = write(descriptor, data)
        signal.raise_signal(signal.SIGTERM)
        return done

    monkeypatch.setattr(output.os, "write", interrupted)
    with pytest.raises(signals.Terminated), opened as run:
        run.run()
    assert run.stats.counts["pairs"] == 1
    assert run.partial and run.partial.read_bytes().startswith(b"pair1\t4\t")
