"""Fixtures for command-line tests: a folder with a few pairs, and functions that run the command in it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from wfacli import cli

from .support import Result, fasta, fastq, random_pairs, run

PAIRS = random_pairs(5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with five pairs: q.fq (with qualities), q.fa and t.fa."""
    queries, targets = zip(*PAIRS, strict=True)
    (tmp_path / "q.fq").write_bytes(fastq(queries))
    (tmp_path / "q.fa").write_bytes(fasta(queries))
    (tmp_path / "t.fa").write_bytes(fasta(targets, "t"))
    return tmp_path


@pytest.fixture
def wfacli(folder: Path) -> Callable[..., Result]:
    """A function that runs the command in that folder."""
    return partial(run, cwd=folder)


@pytest.fixture
def align(folder: Path) -> Callable[..., Result]:
    """A function that runs `wfacli align` in that folder."""
    return partial(run, "align", cwd=folder)


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Result]]:
    """A function that runs the command in this process, since most of the time of a short run is its start."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: str, cwd: Path) -> Result:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["wfacli", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.entry()
        out, err = capfd.readouterr()
        return Result(int(ended.value.code or 0), os.fsencode(out), err)

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)
