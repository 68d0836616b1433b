"""Counters and timers of a run, and the report computed from them."""

from __future__ import annotations

import platform
import resource
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


class Stats:
    """Counters and timers of one run; all methods are thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = time.perf_counter()
        self.seconds: dict[str, float] = defaultdict(float)  # busy thread-seconds by stage
        self.counts: Counter[str] = Counter()
        self.kernels: Counter[str] = Counter()  # pairs by the kernel that aligned them
        self.unaligned: Counter[str] = Counter()  # pairs by status
        self.retried: Counter[str] = Counter()  # pairs passed to another kernel, by reason
        self.routed: Counter[str] = Counter()  # pairs by their first kernel
        # Expected times by (kernel chosen, kernel considered); None unless they are recorded for --explain.
        self.expected_times: dict[tuple[str, str], Any] | None = None
        self.handed_on: Counter[tuple[str, str, str]] = Counter()  # pairs by kernel, reason, next kernel
        self.batches_at_work = 0  # that threads of the CPU align or format now

    def renew_lock(self) -> None:
        """Replace the lock: after a fork, a lock that another thread held would never be released."""
        self._lock = threading.Lock()

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the duration of the block to a stage."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.add_seconds(stage, time.perf_counter() - begun)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count a batch as one that a thread works on, for the block."""
        with self._lock:
            self.batches_at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self.batches_at_work -= 1

    def add_seconds(self, stage: str, seconds: float) -> None:
        """Add thread-seconds to a stage."""
        with self._lock:
            self.seconds[stage] += seconds

    def add(self, group: str, values: Mapping[Any, int]) -> None:
        """Add to the counters of a group (counts, kernels, unaligned, retried, routed, handed_on)."""
        with self._lock:
            getattr(self, group).update(values)

    def add_expected_time(self, kernels: tuple[str, str], expected: Any) -> None:
        """Add the expected time of a model; see reasons.reasons."""
        with self._lock:
            assert self.expected_times is not None
            self.expected_times[kernels] = (
                self.expected_times[kernels] + expected if kernels in self.expected_times else expected
            )

    @property
    def wall(self) -> float:
        """Wall-clock seconds since the run began."""
        return time.perf_counter() - self._started

    @property
    def identity(self) -> float:
        """Matches per alignment column over all alignments; nan if there are none."""
        c = self.counts
        columns = c["matches"] + c["mismatches"] + c["inserted"] + c["deleted"]
        return c["matches"] / columns if columns else float("nan")

    def report(self) -> dict[str, Any]:
        """Return the statistics as plain values for JSON: times in seconds, memory in bytes, GCUPS by wall time."""
        with self._lock:
            c, wall = self.counts, self.wall
            bases = c["query_bases"] + c["target_bases"]
            return {
                "pairs": c["pairs"],
                "aligned": c["aligned"],
                "unaligned": dict(self.unaligned),
                "heuristic": c["heuristic"],
                "query_bases": c["query_bases"],
                "target_bases": c["target_bases"],
                "matches": c["matches"],
                "mismatches": c["mismatches"],
                "inserted_bases": c["inserted"],
                "deleted_bases": c["deleted"],
                "gaps": c["gaps"],
                "identity": None if np.isnan(self.identity) else round(self.identity, 6),
                "pairs_by_kernel": dict(self.kernels),
                "pairs_routed": dict(self.routed),
                "pairs_retried": dict(self.retried),
                "output_bytes": c["output_bytes"],
                "batches": c["batches"],
                "wall_seconds": round(wall, 6),
                "stage_seconds": {stage: round(s, 6) for stage, s in sorted(self.seconds.items())},
                "pairs_per_second": round(c["pairs"] / wall, 3),
                "bases_per_second": round(bases / wall, 3),
                "gcups": round(c["cells"] / wall / 1e9, 6),
                "peak_memory_bytes": peak_memory(),
            }


def peak_memory() -> int:
    """Return this process's peak resident memory, in bytes."""
    try:
        # Preferred to getrusage, whose maximum may include the program that started this process.
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.split("VmHWM:")[1].split()[0])
    except (OSError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) * (1 if sys.platform == "darwin" else 1024)


def versions(wfacli: str) -> dict[str, str]:
    """Return the versions that a result depends on."""
    return {
        "wfacli": wfacli,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "machine": platform.machine(),
    }


def counted(count: int, thing: str, one: str = "", more: str = "") -> str:
    """Return a count with its noun, and the verb that fits: "1 pair was", "2 pairs were"."""
    things = thing if count == 1 else thing + ("es" if thing.endswith("ch") else "s")
    return f"{count:,} {things} {one if count == 1 else more}".rstrip()
