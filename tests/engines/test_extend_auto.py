"""Scored alignment with automatic engine choice: a GPU is opened once a run has turned out to be long enough."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from wfacli.core import tuning
from wfacli.core.batch import PairBatch, all_rows
from wfacli.core.route import Route
from wfacli.engines.extend_auto import AutoExtendEngine
from wfacli.errors import DeviceError
from wfacli.io.read.memory import pairs_of
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

CIGARS = ExtendSpec(Scheme.parse("2,4,4,2"))
SCORES = ExtendSpec(Scheme.parse("2,4,4,2"), score_only=True)
GUIDED = ExtendSpec(Scheme.parse("2,4,4,2"), ExtendMode.EXTENSION, score_only=True, band=2, zdrop=9)


@dataclass
class Recorded:
    """An engine that only records its calls."""

    name: str
    behind: Recorded | None = None  # closed with this engine
    seen: list[Any] = field(default_factory=list)

    def batch_memory(self, nbytes: int) -> np.ndarray:
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
    """Set models of time: 1 s per cell on the CPU; 0.1 s per cell plus 10 s per batch on a GPU."""
    monkeypatch.setattr(tuning, "CPU_EXTEND_CELLS", (0.5, 0.5))
    monkeypatch.setattr(tuning, "GPU_EXTEND_CELLS", (10.0, 10.0))
    monkeypatch.setattr(tuning, "GPU_EXTEND_LAUNCH", 10.0)
    monkeypatch.setattr(tuning, "GPU_EXTEND_PER_BASE", 0.0)
    monkeypatch.setattr(tuning, "GPU_OPEN_SECONDS", 150.0)


def answered(engine: AutoExtendEngine, length: int) -> str:
    """Return the name of the engine that aligns a pair of this length."""
    batch = pairs_of([b"A" * length], [b"A" * length])
    return str(engine.collect(engine.submit(batch, Route(all_rows(1), "sw"))))


def test_a_gpu_once_it_pays(models: None) -> None:
    cpu, opened = Recorded("cpu"), threading.Event()
    gpu = Recorded("gpu", cpu)

    def open_gpu() -> Recorded:
        opened.wait()
        return gpu

    engine = AutoExtendEngine(cpu, open_gpu, 2, SCORES)
    assert [answered(engine, 10) for _ in range(3)] == ["cpu"] * 3  # each takes 80 s more than on a GPU
    assert engine.batch_memory(3) is None
    assert engine.stats() == {"engine": "cpu"}
    opened.set()
    assert engine._opening is not None
    engine._opening.join()
    assert [answered(engine, n) for n in (10, 3, 4)] == ["gpu", "cpu", "gpu"]
    assert engine.batch_memory(3) is not None
    assert engine.stats() == {"engine": "gpu"}
    engine.cancel()
    engine.close()
    assert gpu.seen == [1, 1, "cancel", "close"]
    assert cpu.seen == [1, 1, 1, 1, "close"]


def test_cells_of_a_band(models: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only cells within the band count, and both engines have separate models for banded extension."""
    monkeypatch.setattr(tuning, "CPU_GUIDED_CELLS", 0.5)
    monkeypatch.setattr(tuning, "GPU_GUIDED_CELLS", 10.0)
    for n, m in ((10, 10), (3, 9), (20, 4), (1, 1)):
        inside = sum(abs(i - j) <= 2 for i in range(1, n + 1) for j in range(1, m + 1))
        assert GUIDED.cells(np.array([n]), np.array([m])).tolist() == [inside]
    cpu, gpu = Recorded("cpu"), Recorded("gpu")
    engine = AutoExtendEngine(cpu, lambda: gpu, 2, GUIDED)
    for _ in range(6):  # 44 cells, which take 30 s more than on a GPU
        assert answered(engine, 10) == "cpu"
    assert engine._opening is not None
    engine._opening.join()
    assert [answered(engine, n) for n in (10, 4)] == ["gpu", "gpu"]
    assert answered(engine, 3) == "cpu"
    engine.close()


def test_small_runs_open_none(models: None) -> None:
    def open_gpu() -> Recorded:
        raise AssertionError("opened")

    cpu = Recorded("cpu")
    engine = AutoExtendEngine(cpu, open_gpu, 2, CIGARS)
    assert [answered(engine, 3) for _ in range(100)] == ["cpu"] * 100
    assert answered(engine, 10) == "cpu"
    assert engine._opening is None
    engine.close()
    assert cpu.seen[-1] == "close"


def test_no_gpu(models: None) -> None:
    """Without a GPU, the CPU continues, and the report has the reason."""

    def open_gpu() -> Recorded:
        raise DeviceError("none here")

    cpu = Recorded("cpu")
    engine = AutoExtendEngine(cpu, open_gpu, 2, CIGARS)
    assert answered(engine, 20) == "cpu"
    assert engine._opening is not None
    engine._opening.join()
    assert answered(engine, 20) == "cpu"
    assert engine.stats() == {"engine": "cpu", "gpu_not_used": "none here"}
    engine.close()
    assert cpu.seen == [1, 1, "close"]


def test_stopped_while_it_opens(models: None) -> None:
    """A GPU that is still opening when the run is cancelled is closed unused."""
    cpu, opened = Recorded("cpu"), threading.Event()
    gpu = Recorded("gpu", cpu)

    def open_gpu() -> Recorded:
        opened.wait()
        return gpu

    engine = AutoExtendEngine(cpu, open_gpu, 2, CIGARS)
    answered(engine, 20)
    engine.cancel()
    opened.set()
    engine.close()
    assert gpu.seen == ["cancel", "close"]
    assert cpu.seen == [1, "cancel", "close"]
