"""Fixtures for tests on a real GPU: a working GPU, and lines printed at the end of the test run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import run
from tests.gpus import skip_without_gpu

from .inputs import mixed, write
from .support import EMULATED, Occupied, align, assert_no_failure, assert_same, gpu_environment, wait_until_free


@pytest.fixture(scope="session")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the output of `wfacli doctor` for a working GPU with all kernels compiled; skip without a GPU."""
    if EMULATED:
        return {}
    skip_without_gpu()
    found = run("doctor", "--json", cwd=tmp_path_factory.mktemp("doctor"), env=gpu_environment(), timeout=400)
    assert found.code == 0, found.err
    gpu = json.loads(found.out)["gpu"]
    assert gpu["usable"], gpu
    return gpu


@pytest.fixture
def say(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Return a function that adds a line to the end of the test report, also from pytest-xdist workers."""
    return lambda line: request.node.user_properties.append(("gpu", line))


@pytest.fixture
def free_again(gpu: dict[str, Any], tmp_path: Path) -> Iterator[Occupied]:
    """The state of the GPU before a test; afterwards it must be as free, and another run must work."""
    before = Occupied.now()
    yield before
    wait_until_free(before)
    files = write(tmp_path, "afterwards", mixed(5, [150] * 2000, (0.02, 0.05)))
    done = align(tmp_path, "gpu", *files)
    assert_same(done, align(tmp_path, "cpu", *files), "afterwards")
    assert_no_failure(done)
    assert done.on_gpu > 1000, done.by_kernel
