"""Number of cores that this process may use: the minimum of its limits."""

import os

import pytest

from wfacli.core.cores import usable_cores


@pytest.fixture
def cgroups(tmp_path, monkeypatch):
    """A machine with 16 cores and without control groups."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    return tmp_path


def limit_v1(folder, quota, period="100000"):
    (folder / "cpu").mkdir()
    (folder / "cpu" / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (folder / "cpu" / "cpu.cfs_period_us").write_text(f"{period}\n")


def test_affinity(cgroups):
    assert usable_cores({}, cgroups) == 16


def test_where_there_is_no_affinity(cgroups, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert usable_cores({}, cgroups) == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores({}, cgroups) == 1


@pytest.mark.parametrize(
    ("text", "cores"),
    [("400000 100000\n", 4), ("max 100000\n", 16), ("50000 100000\n", 1), ("250000 100000\n", 2),
     ("9900000 100000\n", 16), ("rubbish\n", 16), ("", 16)],
)  # fmt: skip
def test_cgroup_v2(cgroups, text, cores):
    (cgroups / "cpu.max").write_text(text)
    assert usable_cores({}, cgroups) == cores


@pytest.mark.parametrize(("quota", "cores"), [("300000", 3), ("-1", 16), ("20000", 1), ("x", 16)])
def test_cgroup_v1(cgroups, quota, cores):
    limit_v1(cgroups, quota)
    assert usable_cores({}, cgroups) == cores


def test_version_2_says_more_than_version_1(cgroups):
    limit_v1(cgroups, "800000")
    (cgroups / "cpu.max").write_text("200000 100000")
    assert usable_cores({}, cgroups) == 2


@pytest.mark.parametrize(("granted", "cores"), [("3", 3), ("64", 16), ("0", 16), ("", 16), ("two", 16), ("-2", 16)])
def test_slurm(cgroups, granted, cores):
    assert usable_cores({"SLURM_CPUS_PER_TASK": granted}, cgroups) == cores


def test_the_least_counts(cgroups):
    (cgroups / "cpu.max").write_text("500000 100000")
    assert usable_cores({"SLURM_CPUS_PER_TASK": "7"}, cgroups) == 5
    assert usable_cores({"SLURM_CPUS_PER_TASK": "2"}, cgroups) == 2


def test_this_machine_has_at_least_one():
    assert usable_cores() >= 1
