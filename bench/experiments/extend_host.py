"""Host time of a batch of `extend` for a GPU, with the stand-in of host_path.py for the GPU.

python -m bench.experiments.extend_host [--length 64] [--score-only] [--uneven] [--workers 4] [--profile]
"""

from __future__ import annotations

import argparse
import cProfile
import dataclasses
import pstats
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bench.experiments.host_path import StandIn, cpu_seconds
from wfacli._native import keep_memory_flat
from wfacli.config import GPU_BATCH, Limits
from wfacli.core.batch import PairBatch, Records
from wfacli.core.stats import Stats
from wfacli.engines.extend_cpu import ExtendEngine, extend_batch
from wfacli.engines.extend_gpu import ExtendGpuEngine
from wfacli.run.sizes import SWITCH_INTERVAL
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec


def batch_of(lengths: np.ndarray, number: int) -> PairBatch:
    """Return a batch of pairs with lengths i32[n, 2], all bases A."""
    padded = (-(-lengths // 16) * 16).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(padded.reshape(-1))])
    n = len(lengths)
    none, zero = np.zeros(n, np.int32), np.zeros(n, np.int64)
    records = Records(np.zeros(0, np.uint8), zero, zero, none, none, zero - 1)
    q_len, t_len = np.ascontiguousarray(lengths[:, 0]), np.ascontiguousarray(lengths[:, 1])
    q_start, t_start = np.ascontiguousarray(start[:-1:2]), np.ascontiguousarray(start[1::2])
    bases = np.full(int(start[-1]) + 64, ord("A"), np.uint8)
    return PairBatch(number, bases, q_start, t_start, q_len, t_len, np.zeros(n, np.uint8), none - 1, records)


def some_lengths(a: argparse.Namespace, rng: np.random.Generator) -> np.ndarray:
    """Return lengths (i32[n, 2]): all equal, or from 10 to --length, most of them short."""
    if not a.uneven:
        return np.full((a.bases // (2 * a.length), 2), a.length, np.int32)
    n = a.bases * 4 // a.length
    first = np.exp(rng.uniform(np.log(10), np.log(a.length), n))
    return np.stack([first, first * rng.uniform(0.8, 1.3, n)], axis=1).astype(np.int32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--bases", type=int, default=GPU_BATCH, help="of a batch")
    parser.add_argument("--score-only", action="store_true")
    parser.add_argument("--uneven", action="store_true")
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--copies", type=float, default=55.0, help="GB/s")
    parser.add_argument("--staged", action="store_true", help="bases in ordinary memory")
    parser.add_argument("--profile", action="store_true")
    a = parser.parse_args()
    keep_memory_flat()
    sys.setswitchinterval(SWITCH_INTERVAL)
    spec, stats = ExtendSpec(Scheme.parse("2,4,4,2"), ExtendMode.LOCAL, a.score_only), Stats()
    cpu = ExtendEngine(spec, Limits(), 1)
    engine = ExtendGpuEngine(spec, cpu, lambda: StandIn(a.copies * 1e9, 0.0), stats)
    rng = np.random.default_rng(1)
    batches = [batch_of(some_lengths(a, rng), number) for number in range(a.batches)]
    if not a.staged:
        for number, batch in enumerate(batches):
            lent = engine.batch_memory(len(batch.bases))
            lent[:] = batch.bases
            batches[number] = dataclasses.replace(batch, bases=lent)

    def one(batch: PairBatch) -> int:
        return int(extend_batch(engine, batch, spec, stats, "").score[-1])

    with ThreadPoolExecutor(a.workers, thread_name_prefix="work") as pool:
        for repeat in range(a.repeats + 1):
            before, begun = cpu_seconds(), time.perf_counter()
            list(pool.map(one, batches))
            took = {"all": time.perf_counter() - begun}
            took |= {name: s - before.get(name, 0.0) for name, s in cpu_seconds().items()}
            if repeat:
                print(
                    len(batches[0]), " ".join(f"{k} {s * 1e3 / a.batches:.2f}" for k, s in took.items()), "ms a batch"
                )
    if a.profile:
        _profile(engine, one, batches)
    engine.close()


def _profile(engine: ExtendGpuEngine, one: Any, batches: list[PairBatch]) -> None:
    profile = cProfile.Profile()
    profile.runcall(lambda: [one(batch) for batch in batches])
    pstats.Stats(profile).sort_stats("tottime").print_stats(22)


if __name__ == "__main__":
    main()
