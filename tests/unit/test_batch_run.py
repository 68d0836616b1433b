"""A run is opened as a whole or not at all, and closes its parts in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.support import fasta
from wfacli.config import Config, Format, OutputSpec, ReportFiles
from wfacli.core.batch import AlignmentBatch, PairBatch
from wfacli.core.stats import Stats
from wfacli.errors import DeviceError, InternalError
from wfacli.io.read.reader import PairFiles
from wfacli.io.write.format import Formatter
from wfacli.run.align import expected_gpus, opened_aligner, planner_of
from wfacli.run.batch_run import opened
from wfacli.run.pairs import PairInputs
from wfacli.run.parts import Account, Aligner

CONFIG = Config(output=OutputSpec(format=Format.PAF), batch_bases=8)


class Parts:
    """Parts of a run over two pairs that are batches of their own, and a record of what was closed."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.stats = folder, Stats()
        self.closed: list[str] = []
        for name in ("q.fa", "t.fa"):
            (folder / name).write_bytes(fasta(["ACGT", "ACGA"]))
        self.inputs = PairInputs(PairFiles(str(folder / "q.fa"), str(folder / "t.fa")), CONFIG, "0", self.stats)
        for kind, name in ((PairInputs, "inputs"), (Aligner, "aligner")):
            monkeypatch.setattr(kind, "close", self._noting(kind.close, name))

    def _noting(self, close, name):
        def noted(part):
            self.closed.append(name)
            close(part)

        return noted

    def aligner(self) -> Aligner:
        return opened_aligner(CONFIG, planner_of(CONFIG, expected_gpus(CONFIG)), self.stats, None)

    def opened(self, open_aligner=None):
        account = Account({}, lambda: "")
        outputs = str(self.folder / "out.paf"), ReportFiles(stats=str(self.folder / "report.json"))
        opening = open_aligner or self.aligner
        return opened(CONFIG, self.inputs, opening, Formatter.of(CONFIG), *outputs, account, self.stats)

    @property
    def written(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.suffix != ".fa")


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Parts]:
    yield Parts(tmp_path, monkeypatch)


def test_a_run_closes_its_inputs_before_the_engine_whose_memory_they_fill(parts: Parts) -> None:
    with parts.opened() as run:
        run.run()
        assert not parts.closed
    assert parts.closed == ["inputs", "aligner"]
    assert run.stats.counts["pairs"] == 2
    assert "out.paf" in parts.written


def test_no_file_is_left_if_the_engine_cannot_be_opened(parts: Parts) -> None:
    def no_gpu() -> Aligner:
        raise DeviceError("no GPU")

    with pytest.raises(DeviceError), parts.opened(no_gpu):
        raise AssertionError("not reached")
    assert parts.closed == ["inputs"]
    assert parts.written == []


def test_no_file_is_left_if_a_signal_comes_before_the_run(parts: Parts) -> None:
    with pytest.raises(KeyboardInterrupt), parts.opened() as run:
        for report in run.reports.values():  # the caller's
            report.abandon()
        raise KeyboardInterrupt
    assert parts.closed == ["inputs", "aligner"]
    assert parts.written == []


def test_a_run_that_fails_keeps_the_records_before_the_failure(parts: Parts) -> None:
    def failing() -> Aligner:
        aligner = parts.aligner()

        def align(pairs: PairBatch) -> tuple[PairBatch, AlignmentBatch]:
            if pairs.ordinal:
                raise InternalError("a fault")
            return aligner.align(pairs)

        return replace(aligner, align=align)

    with pytest.raises(InternalError), parts.opened(failing) as run:
        run.run()
    assert parts.closed == ["inputs", "aligner"]
    assert run.partial is not None
    assert run.partial.name.startswith("out.paf.partial")
    assert run.partial.read_bytes().count(b"\n") == 1
    assert "out.paf" not in parts.written
