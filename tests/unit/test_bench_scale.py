"""The model of runs in shards, and the measurement of a command; nothing is measured."""

import subprocess

import pytest

from bench.harness.command import measured
from bench.tables import scale_model


def row(kind, records, rate):
    return {"kind": kind, "records": records, "seconds": records / rate, "cpu_seconds": 2 * records / rate}


ROWS = [
    row("plan of 150 bases", 10, 2_000_000),
    row("merge paf", 1000, 20_000_000),
    row("merge paf", 10, 5),
    row("merge sorted bam", 10, 1_000_000) | {"seconds": 10.0, "cpu_seconds": 1e-5},  # of a busy machine
]


def test_the_model_takes_the_rates_of_the_largest_rows():
    found = scale_model.model(ROWS, 10_000_000)
    hours = found["hours_on_nodes"]
    assert hours["1"]["shards"] == found["gpu_hours"] == 27.8
    assert hours["100"]["shards"] == 0.278
    assert hours["100"]["one_plan"] == {"plan": 139.0, "merge paf": 13.9, "merge sorted bam": 278.0}
    assert hours["100"]["1000_plans"] == {"plan": 1.39, "merge paf": 0.139, "merge sorted bam": 2.78}
    assert hours["10000"]["1000_plans"]["plan"] == 0.139  # no more nodes than plans are busy
    assert {one["longest"] for one in hours.values()} == {"merge sorted bam"}
    assert found["nodes_that_one_plan_keeps_busy"] == 0.2
    assert found["nodes_that_one_merge_keeps_busy"] == {"paf": 2.0, "sorted bam": 0.1}
    assert scale_model.table_of(found).count("\n") == 2


def test_without_a_rate_there_is_no_model():
    assert scale_model.model(ROWS[:2], 1e7) == {}
    assert scale_model.table_of({}) == ""


def test_the_memory_of_a_command_is_not_that_of_its_parent(tmp_path):
    ballast = bytearray(400_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    found = measured(["--version"], tmp_path)
    assert 5e6 < found["peak_memory_bytes"] < 2e8 and 0 < found["cpu_seconds"] < 60
    assert not list(tmp_path.iterdir())
    with pytest.raises(subprocess.CalledProcessError):
        measured(["--no-such-option"], tmp_path)
