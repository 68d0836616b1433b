"""Whether a GPU's kernel for a heuristic band answers as the CPU's does, tried before a run depends on it.

The GPU's machine code is made by whatever nvcc a machine has, and one has been seen to lose a sign in these kernels
(Reach in cuda/wfa/wfa_band.cuh). A path replays well even where the band went astray, so nobody would notice.
"""

from __future__ import annotations

import numpy as np

from ..config import AlignSpec
from ..core.batch import PairBatch, PartialResult, Status
from ..core.route import Route
from ..io.read.memory import pairs_of
from ..plan.kernels import TABLE, banded
from .base import Engine

_LENGTHS = (*range(1, 60, 3), *range(60, 600, 45), 2500, 3000)
_ERRORS = (0.02, 0.1, 0.2)


def band_agrees(gpu: Engine, cpu: Engine, spec: AlignSpec) -> bool:
    """Whether both engines say the same of made-up pairs; `spec` asks for a band and no other heuristic.

    What either hands on, since it costs too much, or there is no memory, or the GPU fails, shows nothing.
    """
    kernels = banded(spec)
    if not kernels:  # none serves these costs, so none is used
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
    """Of each row that is decided: score, whether something was left out, operations; () where the band is lost."""
    start = found.cigar_start
    aligned = {
        row: (int(found.score[at]), int(found.cut[at]), *found.cigar[start[at] : start[at + 1]].tolist())
        for at, row in enumerate(found.rows.tolist())
        if found.status[at] == Status.OK
    }
    return aligned | dict.fromkeys(found.rows[found.status == Status.DROPPED].tolist(), ())
