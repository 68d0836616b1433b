"""Self-test of the GPU kernels for a heuristic band: compares them with the CPU before a run depends on them.

GPU kernels are compiled by the machine's nvcc, and one version lost a sign in these kernels (Reach in
cuda/wfa/wfa_band.cuh). A check of paths (--check) cannot detect that, because a path is valid wherever the band went.
"""

from __future__ import annotations

import numpy as np

from ..config import AlignSpec
from ..core.batch import PairBatch, PartialResult, Status
from ..core.route import Route
from ..io.read.memory import pairs_of
from ..plan.gpu_kernels import banded
from ..plan.kernels import TABLE
from .base import Engine

_LENGTHS = (*range(1, 60, 3), *range(60, 600, 45), 2500, 3000)
_ERRORS = (0.02, 0.1, 0.2)


def band_agrees(gpu: Engine, cpu: Engine, spec: AlignSpec) -> bool:
    """Return whether both engines agree on simulated pairs; `spec` has a band and no other heuristic.

    Pairs that either engine leaves to another kernel (cost limit, memory, failure of the GPU) are not compared.
    """
    kernels = banded(spec)
    if not kernels:  # no kernel supports these costs, so none is used
        return True
    batch = _pairs()
    rows = np.arange(len(batch), dtype=np.int32)
    wanted = _answers(cpu.collect(cpu.submit(batch, Route(rows, TABLE))))
    for kernel in kernels:
        found = _answers(gpu.collect(gpu.submit(batch, Route(rows, kernel))))
        if any(wanted[row] != found[row] for row in wanted.keys() & found.keys()):
            return False
    return True


def _pairs() -> PairBatch:
    rng = np.random.default_rng(1)
    queries, targets = [], []
    for number, length in enumerate(_LENGTHS):
        target = rng.choice(np.frombuffer(b"ACGT", np.uint8), length)
        kept = rng.random(length) >= _ERRORS[number % len(_ERRORS)]
        query = np.where(rng.random(length) < 0.5, target, np.roll(target, 1))
        query = np.where(kept, target, query)[kept | (rng.random(length) < 0.5)]
        queries.append(query.tobytes() or b"A")
        targets.append(target.tobytes())
    return pairs_of([*queries, *targets], [*targets, *queries])


def _answers(found: PartialResult) -> dict[int, tuple[int, ...]]:
    """Map each decided row to its score, its `cut` flag and its operations; to () if the band lost the path."""
    start = found.cigar_start
    aligned = {
        row: (int(found.score[at]), int(found.cut[at]), *found.cigar[start[at] : start[at + 1]].tolist())
        for at, row in enumerate(found.rows.tolist())
        if found.status[at] == Status.OK
    }
    return aligned | dict.fromkeys(found.rows[found.status == Status.DROPPED].tolist(), ())
