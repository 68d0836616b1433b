"""Drivers for tests: emulated, with threads first to last or last to first, and a real GPU."""

from __future__ import annotations

import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from tests.gpus import skip_without_gpu
from wfacli.gpu.runtime.opening import open_driver


def open_gpu():
    """Open a real GPU; skip without one, and fail if it cannot be opened."""
    skip_without_gpu()
    return open_driver()


@pytest.fixture(params=["first-to-last", "last-to-first", pytest.param("gpu", marks=pytest.mark.gpu)])
def driver(request):
    opened = open_gpu() if request.param == "gpu" else EmulatedDriver(order=int(request.param == "last-to-first"))
    yield opened
    opened.close()
    assert request.param == "gpu" or not leaks(opened)


@pytest.fixture
def emulated():
    opened = EmulatedDriver(memory_total=1 << 20)
    yield opened
    opened.close()
