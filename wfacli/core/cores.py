"""Number of CPU cores that this process may use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def usable_cores(environment: Mapping[str, str] = os.environ, cgroups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the minimum of CPU affinity, the cgroup's CPU quota and the batch system's allocation; at least 1.

    Args:
        environment: variables, of which SLURM_CPUS_PER_TASK is read.
        cgroups: mount point of the control groups.
    """
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    bounds = [affinity]
    quota = _cgroup_quota(cgroups)
    if quota:
        bounds.append(max(1, int(quota)))
    granted = environment.get("SLURM_CPUS_PER_TASK", "")
    if granted.isdigit() and int(granted) > 0:
        bounds.append(int(granted))
    return min(bounds)


def _cgroup_quota(cgroups: Path) -> float | None:
    """Return the cgroup's CPU quota in cores; None if it is not limited."""
    try:
        quota, period = (cgroups / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    try:
        spent = int((cgroups / "cpu/cpu.cfs_quota_us").read_text())
        return spent / int((cgroups / "cpu/cpu.cfs_period_us").read_text()) if spent > 0 else None
    except (OSError, ValueError):
        return None
