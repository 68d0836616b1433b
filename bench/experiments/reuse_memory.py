"""Memory of one engine over ten million pairs, which must not grow.

    python -m bench.experiments.reuse_memory [--pairs 10000000]

One engine with two threads aligns the same 20,000 pairs repeatedly; their lengths and error rates are mixed, so that
every kernel gets some. The memory of the process is read after a tenth of the pairs and at the end.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from bench.harness import saving, table
from bench.harness.pairs import mutated
from wfacli._native import keep_memory_flat
from wfacli.config import AlignSpec, Limits, Metric, Penalties
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.execute import align_batch
from wfacli.io.read.memory import pairs_of
from wfacli.plan.planner import Planner

SHAPES = ((75, 0.01, 8000), (150, 0.02, 8000), (150, 0.12, 3900), (1000, 0.08, 96), (5000, 0.15, 4))


def mixed_pairs() -> tuple[list[bytes], list[bytes]]:
    """Return queries and targets of all shapes, 20,000 pairs."""
    rng = np.random.default_rng(1)
    queries, targets = [], []
    for length, error, count in SHAPES:
        bases = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, (count, length))]
        changed, lengths = mutated(bases, round(length * error), rng)
        queries += [changed[i, : lengths[i]].tobytes() for i in range(count)]
        targets += [bases[i].tobytes() for i in range(count)]
    return queries, targets


def resident() -> int:
    """Return the resident memory of the process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def run(metric: Metric, pairs: int) -> dict[str, object]:
    """Align about `pairs` pairs with one engine."""
    spec, limits, stats = AlignSpec(metric, Penalties.of(metric)), Limits(), Stats()
    batch = pairs_of(*mixed_pairs())
    engine, planner = CpuEngine(spec, limits, 2, stats=stats), Planner(spec, limits)
    rounds = max(pairs // len(batch), 10)
    held = {}
    begun = time.perf_counter()
    for turn in range(1, rounds + 1):
        align_batch(engine, batch, planner, stats)
        if turn in (rounds // 10, rounds):
            held[turn * len(batch)] = resident()
    engine.close()
    early, late = held.values()
    return {
        "metric": metric.value,
        "pairs": rounds * len(batch),
        "seconds": round(time.perf_counter() - begun, 1),
        "bytes_after_a_tenth": early,
        "bytes_at_the_end": late,
        "growth": round(late / early, 4),
        "pairs_by_kernel": dict(stats.kernels),
    }


def main() -> None:
    """Run the command."""
    parser = table.options(__doc__)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    pairs = parser.parse_args().pairs
    keep_memory_flat()
    runs = [run(metric, pairs) for metric in (Metric.AFFINE, Metric.EDIT)]
    for r in runs:
        print(r)
    print(saving.save("reuse-memory", {"bytes": "resident memory of the process"}, {"runs": runs}))


if __name__ == "__main__":
    main()
