"""Host time of a batch for a GPU: CPU time of its threads, with a stand-in for the GPU that uses no CPU time.

    python -m bench.experiments.host_path [--metric affine] [--batches 6] [--workers 8] [--repeats 3] [--profile]

In the stand-in driver copies and kernels take the time that a GPU would need (--copies GB/s, --kernels ms per batch)
on a clock for each stream, and results are written by a separate thread whose time does not count. So the engine's own
steps are measured on any machine; bus and GPU are not.
"""

from __future__ import annotations

import argparse
import cProfile
import dataclasses
import pstats
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wfacli._native import keep_memory_flat
from wfacli.config import AlignSpec, Metric, Penalties
from wfacli.core.batch import PairBatch, Records
from wfacli.core.stats import Stats
from wfacli.engines.execute import align_batch
from wfacli.engines.gpu import GpuEngine
from wfacli.gpu.kernels.catalogue import Row
from wfacli.gpu.kernels.properties import Gpu
from wfacli.gpu.runtime import task
from wfacli.gpu.runtime.driver import Memory
from wfacli.plan.planner import Planner
from wfacli.run.sizes import MOST_BESIDE_A_GPU, SWITCH_INTERVAL

LENGTH, EDITS = 150, 3


@dataclass(frozen=True)
class StandInKernel:
    row: Row

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def threads(self) -> int:
        return self.row.threads

    def resident(self, shared_bytes: int = 0) -> int:
        return 8


@dataclass
class StandInStream:
    busy_until: float = 0.0
    gathered: dict[int, int] = field(default_factory=dict)  # pairs by the address of their results

    def take(self, seconds: float) -> None:
        self.busy_until = max(self.busy_until, time.perf_counter()) + seconds


class StandIn:
    """The driver protocol without a GPU."""

    def __init__(self, copies: float, kernels: float) -> None:
        """Start with `copies` bytes per second and direction, and `kernels` seconds per launch."""
        self.gpu = Gpu("none", "sm_90", 132, 227 << 10, 228 << 10, 140 << 30, "13.0")
        self._copies, self._kernels, self._next = copies, kernels, 1 << 40
        self._loaded: dict[Row, StandInKernel] = {}
        self._arrays: dict[int, np.ndarray] = {}
        self._written: dict[int, int] = {}

    def free_memory(self) -> int:
        return self.gpu.memory_total

    def allocate(self, nbytes: int) -> Memory:
        self._next += -(-nbytes // 4096) * 4096
        return Memory(self._next, nbytes)

    def free(self, memory: Memory) -> None: ...

    def pinned(self, nbytes: int) -> np.ndarray:
        array = np.zeros(nbytes, np.uint8)
        array[::4096] = 1
        self._arrays[array.ctypes.data] = array
        return array

    def unpin(self, array: np.ndarray) -> None:
        self._arrays.pop(array.ctypes.data, None)
        self._written.pop(array.ctypes.data, None)

    def lock(self, array: np.ndarray) -> None: ...

    def unlock(self, array: np.ndarray) -> None:
        self._written.pop(array.ctypes.data, None)

    def stream(self) -> StandInStream:
        return StandInStream()

    def upload(self, address: int, source: np.ndarray, stream: StandInStream) -> None:
        stream.take(source.nbytes / self._copies)

    def download(self, into: np.ndarray, address: int, stream: StandInStream) -> None:
        stream.take(into.nbytes / self._copies)
        pairs = stream.gathered.get(address)
        if pairs and self._written.get(into.ctypes.data) != pairs:
            self._written[into.ctypes.data] = pairs
            other = threading.Thread(target=_write_answers, args=(into, pairs))
            other.start()
            other.join()

    def fill(self, address: int, byte: int, nbytes: int, stream: StandInStream) -> None: ...

    def kernel(self, row: Row) -> StandInKernel:
        return self._loaded.setdefault(row, StandInKernel(row))

    def launch(
        self, kernel: StandInKernel, grid: int, arguments: np.ndarray, stream: StandInStream, shared_bytes: int = 0
    ) -> None:
        arguments.tobytes()
        if kernel.name == "gather-ops":
            stream.gathered[int(arguments["start"][0])] = int(arguments["count"][0])
        if arguments.dtype is task.ALIGN_TASK:
            stream.take(self._kernels)

    def record(self, stream: StandInStream) -> float:
        return stream.busy_until

    def done(self, event: float) -> bool:
        return time.perf_counter() >= event

    def wait(self, event: float) -> None:
        time.sleep(max(event - time.perf_counter(), 0))

    def elapsed(self, start: float, end: float) -> float:
        return end - start

    def close(self) -> None: ...


def _write_answers(into: np.ndarray, pairs: int) -> None:
    """Write results in which every pair has 2 * EDITS + 1 operations and costs 12."""
    start = into[: 8 * (pairs + 1)].view(np.int64)
    start[:] = np.arange(pairs + 1) * (2 * EDITS + 1)
    into[8 * (pairs + 1) : 12 * pairs + 8].view(np.int32)[:] = 12
    into[12 * pairs + 8 : 13 * pairs + 8] = 0


def batch_of(pairs: int, number: int) -> PairBatch:
    """Return random pairs with EDITS mismatches each, laid out as by the reader."""
    rng, padded = np.random.default_rng(number), -(-LENGTH // 16) * 16
    sides = np.zeros((pairs, 2, padded), np.uint8)
    sides[:, :, :LENGTH] = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, (pairs, 1, LENGTH), np.uint8)]
    sides[:, 0, 20 : LENGTH : LENGTH // EDITS] = ord("A")
    start = np.arange(pairs, dtype=np.int64) * 2 * padded
    length = np.full(pairs, LENGTH, np.int32)
    none, zero = np.zeros(pairs, np.int32), np.zeros(pairs, np.int64)
    records = Records(np.zeros(0, np.uint8), zero, zero, none, none, zero - 1)
    bases = np.concatenate([sides.ravel(), np.zeros(64, np.uint8)])
    return PairBatch(
        number, bases, start, start + padded, length, length, np.zeros(pairs, np.uint8), none - 1, records
    )


def in_lent_memory(batch: PairBatch, engine: GpuEngine) -> PairBatch:
    """Return the batch with its bases in the memory that the reader would use."""
    lent = engine.batch_memory(len(batch.bases))
    assert lent is not None
    lent[:] = batch.bases
    return dataclasses.replace(batch, bases=lent)


def cpu_seconds() -> dict[str, float]:
    """Return CPU seconds so far of the running threads, by the first part of their names."""
    found: dict[str, float] = {}
    for thread in threading.enumerate():
        told = Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text()
        name = thread.name.split("_")[0]
        found[name] = found.get(name, 0.0) + int(told.split()[0]) * 1e-9
    return found


def run(engine: GpuEngine, spec: AlignSpec, stats: Stats, batches: list[PairBatch], workers: int) -> dict[str, float]:
    """Align all batches; return wall seconds, and CPU seconds by thread."""

    planner = Planner(spec, gpus=1)

    def one(batch: PairBatch) -> int:
        done = align_batch(engine, batch, planner, stats)
        return int(done.score[-1])

    with ThreadPoolExecutor(workers, thread_name_prefix="work") as pool:
        before, begun = cpu_seconds(), time.perf_counter()
        list(pool.map(one, batches))
        seconds, after = time.perf_counter() - begun, cpu_seconds()
    return {"all": seconds, **{name: s - before.get(name, 0.0) for name, s in after.items()}}


def profiled(engine: GpuEngine, spec: AlignSpec, stats: Stats, batches: list[PairBatch]) -> None:
    """Print a profile of the Python code for a batch, in its own thread and in the device's thread."""

    def of(name: str, work: Callable[[], Any]) -> None:
        profile = cProfile.Profile()
        profile.runcall(work)
        print(f"-- {name}")
        pstats.Stats(profile).sort_stats("tottime").print_stats(22)

    def one() -> None:
        for batch in batches:
            align_batch(engine, batch, Planner(spec, gpus=1), stats)

    of("a thread with a batch", one)
    inside: list[cProfile.Profile] = []

    def begin(driver: Any) -> None:
        inside.append(cProfile.Profile())
        inside[0].enable()

    engine.session.call(begin)
    one()
    engine.session.call(lambda driver: inside[0].disable())
    print("-- the device's thread")
    pstats.Stats(inside[0]).sort_stats("tottime").print_stats(28)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", choices=("edit", "affine"), default="affine")
    parser.add_argument("--pairs", type=int, default=200_000, help="of a batch")
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--workers", type=int, default=MOST_BESIDE_A_GPU)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--copies", type=float, default=55.0, help="GB/s")
    parser.add_argument("--kernels", type=float, default=0.5, help="ms a batch")
    parser.add_argument("--staged", action="store_true", help="bases in ordinary memory")
    parser.add_argument("--profile", action="store_true")
    a = parser.parse_args()
    keep_memory_flat()
    sys.setswitchinterval(SWITCH_INTERVAL)
    metric, stats = Metric(a.metric), Stats()
    spec = AlignSpec(metric, Penalties.of(metric))
    engine = GpuEngine(spec, lambda: StandIn(a.copies * 1e9, a.kernels * 1e-3), stats)
    batches = [batch_of(a.pairs, number) for number in range(a.batches)]
    if not a.staged:
        batches = [in_lent_memory(batch, engine) for batch in batches]
    for repeat in range(a.repeats + 1):
        found = run(engine, spec, stats, batches, a.workers)
        if repeat:  # the first round allocates buffers
            print(" ".join(f"{name} {s * 1e3 / a.batches:.2f}" for name, s in found.items()), "ms a batch")
    if a.profile:
        profiled(engine, spec, stats, batches)
    engine.close()


if __name__ == "__main__":
    main()
