"""Scored alignment where it is sooner: a GPU is opened once a run has turned out to be long enough."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from wfacli.core import tuning
from wfacli.core.batch import PairBatch, all_rows
from wfacli.core.route import Route
from wfacli.engines.extend_auto import ExtendWhereSooner
from wfacli.errors import DeviceError
from wfacli.io.read.memory import pairs_of
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

CIGARS = ExtendSpec(Scheme.parse("2,4,4,2"))
SCORES = ExtendSpec(Scheme.parse("2,4,4,2"), score_only=True)
GUIDED = ExtendSpec(Scheme.parse("2,4,4,2"), ExtendMode.EXTENSION, score_only=True, band=2, zdrop=9)


@dataclass
class Recorded:
    """An engine that only says what it was asked for."""

    name: str
    behind: Recorded | None = None  # closed with it
    seen: list[Any] = field(default_factory=list)

    def letters_memory(self, nbytes: int) -> np.ndarray:
        return np.zeros(nbytes, np.uint8)

    def submit(self, pairs: PairBatch, route: Route) -> str:
        self.seen.append(len(route.rows))
        return self.name

    def collect(self, ticket: str) -> str:
        return ticket

    def stats(self) -> dict[str, Any]:
        return {"engine": self.name}

    def cancel(self) -> None:
        self.seen.append("cancel")

    def close(self) -> None:
        self.seen.append("close")
        if self.behind:
            self.behind.close()


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell is a second of the CPU's, or a tenth of one on a GPU, whose job takes ten."""
    monkeypatch.setattr(tuning, "CPU_EXTEND_CELLS", (0.5, 0.5))
    monkeypatch.setattr(tuning, "GPU_EXTEND_CELLS", (10.0, 10.0))
    monkeypatch.setattr(tuning, "GPU_EXTEND_LAUNCH", 10.0)
    monkeypatch.setattr(tuning, "GPU_EXTEND_PER_BASE", 0.0)
    monkeypatch.setattr(tuning, "GPU_OPEN_SECONDS", 150.0)


def answered(engine: ExtendWhereSooner, length: int) -> str:
    """By whom a pair of such sequences is."""
    batch = pairs_of([b"A" * length], [b"A" * length])
    return str(engine.collect(engine.submit(batch, Route(all_rows(1), "sw"))))


def test_a_gpu_once_it_pays(models: None) -> None:
    cpu, opened = Recorded("cpu"), threading.Event()
    gpu = Recorded("card", cpu)

    def open_gpu() -> Recorded:
        opened.wait()
        return gpu

    engine = ExtendWhereSooner(cpu, open_gpu, 2, SCORES)
    assert [answered(engine, 10) for _ in range(3)] == ["cpu"] * 3  # 80 s more than on a GPU, each
    assert engine.letters_memory(3) is None
    assert engine.stats() == {"engine": "cpu"}
    opened.set()
    assert engine._opening is not None
    engine._opening.join()
    assert [answered(engine, n) for n in (10, 3, 4)] == ["card", "cpu", "card"]
    assert engine.letters_memory(3) is not None
    assert engine.stats() == {"engine": "card"}
    engine.cancel()
    engine.close()
    assert gpu.seen == [1, 1, "cancel", "close"]
    assert cpu.seen == [1, 1, 1, 1, "close"]


def test_cells_of_a_band(models: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are nobody's work, and both have models of their own for it."""
    monkeypatch.setattr(tuning, "CPU_GUIDED_CELLS", 0.5)
    monkeypatch.setattr(tuning, "GPU_GUIDED_CELLS", 10.0)
    for n, m in ((10, 10), (3, 9), (20, 4), (1, 1)):
        inside = sum(abs(i - j) <= 2 for i in range(1, n + 1) for j in range(1, m + 1))
        assert GUIDED.cells(np.array([n]), np.array([m])).tolist() == [inside]
    cpu, gpu = Recorded("cpu"), Recorded("card")
    engine = ExtendWhereSooner(cpu, lambda: gpu, 2, GUIDED)
    for _ in range(6):  # 44 cells, and 30 s more than on a GPU, each
        assert answered(engine, 10) == "cpu"
    assert engine._opening is not None
    engine._opening.join()
    assert [answered(engine, n) for n in (10, 4)] == ["card", "card"]
    assert answered(engine, 3) == "cpu"
    engine.close()


def test_small_runs_open_none(models: None) -> None:
    def open_gpu() -> Recorded:
        raise AssertionError("opened")

    cpu = Recorded("cpu")
    engine = ExtendWhereSooner(cpu, open_gpu, 2, CIGARS)
    assert [answered(engine, 3) for _ in range(100)] == ["cpu"] * 100
    assert answered(engine, 10) == "cpu"
    assert engine._opening is None
    engine.close()
    assert cpu.seen[-1] == "close"


def test_no_gpu(models: None) -> None:
    """The CPU goes on, and the report says why."""

    def open_gpu() -> Recorded:
        raise DeviceError("none here")

    cpu = Recorded("cpu")
    engine = ExtendWhereSooner(cpu, open_gpu, 2, CIGARS)
    assert answered(engine, 20) == "cpu"
    assert engine._opening is not None
    engine._opening.join()
    assert answered(engine, 20) == "cpu"
    assert engine.stats() == {"engine": "cpu", "card_not_used": "none here"}
    engine.close()
    assert cpu.seen == [1, 1, "close"]


def test_stopped_while_it_opens(models: None) -> None:
    """What is opened then aligns nothing, and is closed."""
    cpu, opened = Recorded("cpu"), threading.Event()
    gpu = Recorded("card", cpu)

    def open_gpu() -> Recorded:
        opened.wait()
        return gpu

    engine = ExtendWhereSooner(cpu, open_gpu, 2, CIGARS)
    answered(engine, 20)
    engine.cancel()
    opened.set()
    engine.close()
    assert gpu.seen == ["cancel", "close"]
    assert cpu.seen == [1, "cancel", "close"]
