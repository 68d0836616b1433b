"""A cluster of two workers for all tests."""

import contextlib
import time

import pytest

from .support import local_cluster, require

_RESTARTS_WITHIN = 15.0  # seconds for the worker that a test has killed; Dask does not always succeed


@pytest.fixture(scope="session")
def _clusters():
    with contextlib.ExitStack() as stack:
        yield stack, []


@pytest.fixture
def cluster(_clusters):
    require("distributed")
    stack, started = _clusters
    end = time.monotonic() + _RESTARTS_WITHIN
    while started and len(started[-1].scheduler.workers) != 2 and time.monotonic() < end:
        time.sleep(0.05)
    if not started or len(started[-1].scheduler.workers) != 2:
        stack.close()
        started.append(stack.enter_context(local_cluster()))
    return started[-1]
