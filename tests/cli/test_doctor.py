"""`wfacli doctor`, on machines with and without a GPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gpus import skip_without_gpu
from wfacli._native import instruction_sets

from .support import Result, assert_failure, assert_success, environment

Wfacli = Callable[..., Result]
CACHE = Path(__file__).parents[2] / "build" / "kernels"


@pytest.fixture
def cached() -> dict[str, str]:
    """An environment with the tests' kernel cache, which has all kernels if the machine has a GPU."""
    return environment(WFACLI_CACHE_DIR=str(CACHE))


@pytest.fixture
def found(wfacli: Wfacli, cached: dict[str, str]) -> dict:
    result = wfacli("doctor", "--json", env=cached, timeout=300)
    assert_success(result)
    return json.loads(result.text)


def test_json_has_everything(found: dict) -> None:
    assert set(found) == {"wfacli", "packages", "cpu", "gpu"}
    assert found["packages"]["numpy"]
    assert found["cpu"]["usable"]
    assert found["cpu"]["threads"] > 0
    assert found["cpu"]["instruction_set"]
    gpu = found["gpu"]
    assert {"driver", "gpus", "pycuda", "nvcc", "cache", "kernels", "missing", "usable", "problem"} <= set(gpu)
    assert gpu["cache"]["folder"] == str(CACHE)
    assert gpu["cache"]["writable"]


def test_a_missing_gpu_is_no_failure_but_said(found: dict) -> None:
    gpu = found["gpu"]
    assert gpu["usable"] == (gpu["problem"] == "")
    if gpu["gpus"] == 0:
        assert not gpu["usable"]
        assert gpu["missing"] or gpu["problem"]


@pytest.mark.gpu
def test_the_gpu_works(found: dict) -> None:
    skip_without_gpu()
    assert found["gpu"]["usable"], found["gpu"]
    assert found["gpu"]["opened"]["memory_free_bytes"] > 0
    assert set(found["gpu"]["checks"].values()) == {"ok"}


def test_the_environment_names_a_build_of_the_kernels(wfacli: Wfacli) -> None:
    pairs = wfacli("simulate", "--pairs", "40", "--length", "30-3000", "--error", "0.1", "--quiet").out
    outputs = set()
    for build in instruction_sets():
        told = environment(WFACLI_ISA=build)
        assert json.loads(wfacli("doctor", "--json", env=told, timeout=300).text)["cpu"]["instruction_set"] == build
        for metric in ("edit", "affine"):
            aligned = wfacli("align", "-", "--metric", metric, "--format", "paf", env=told, stdin=pairs)
            assert f"cpu {build}" in aligned.err
            outputs.add((metric, aligned.out))
    assert len(outputs) == 2


def test_a_build_that_this_machine_lacks(wfacli: Wfacli) -> None:
    result = wfacli("align", "a", "b", env=environment(WFACLI_ISA="mmx"))
    assert_failure(result, 2, f"WFACLI_ISA=mmx: this machine runs {' and '.join(instruction_sets())}")


def test_text_says_what_is_missing_and_how_to_get_it(wfacli: Wfacli, found: dict, cached: dict[str, str]) -> None:
    result = wfacli("doctor", env=cached, timeout=300)
    assert_success(result)
    for word in ("CPU engine", "GPU engine", "instruction set", "works", "PyCUDA", "nvcc", "cache", "kernels"):
        assert word in result.text
    assert result.text.count("missing: ") == len(found["gpu"]["missing"])
    if found["gpu"]["pycuda"] is None:
        assert "PyCUDA           none (not needed" in result.text


def test_help(wfacli: Wfacli) -> None:
    assert "doctor" in wfacli("--help").text
    assert "--json" in wfacli("doctor", "--help").text


def test_no_such_gpu(wfacli: Wfacli) -> None:
    result = wfacli("doctor", "--json", "--gpu", "99", timeout=120)
    assert_success(result)
    assert not json.loads(result.text)["gpu"]["usable"]


def test_kernels_is_there_but_not_in_the_help(wfacli: Wfacli) -> None:
    assert "kernels " not in wfacli("--help").text
    assert "--into" in wfacli("kernels", "--help", env=environment(NO_COLOR="1")).text
