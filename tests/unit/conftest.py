"""Fixtures shared by the unit tests."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

from wfacli.cli import signals
from wfacli.plan import forecast


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the handlers of a running command."""
    numbers = signal.SIGINT, signal.SIGTERM
    before = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(signals, "_begun", None)
    signals.catch()
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def avx512_times(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Choose kernels by the times of AVX-512, whatever this machine has."""
    forecast.forecaster.cache_clear()
    monkeypatch.setattr(forecast, "instruction_set", lambda: "x86-64-v4")
    yield
    forecast.forecaster.cache_clear()
