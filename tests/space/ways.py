"""Ways to request alignments: kernels, instruction sets, memory limits, threads, and entry points."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from random import Random

import numpy as np

from wfacli._native import instruction_sets
from wfacli.config import MIB, AlignSpec, Limits, Metric, Mode
from wfacli.plan.kernels import (
    BITS,
    CAPPED,
    CPU_KERNELS,
    DIFFERENCE,
    INSIDE,
    LINEAR,
    READS,
    STRIPES,
    TABLE,
    candidates,
    on_gpu,
)

from .oracle import Optima
from .pairs import Size

AMPLE = Limits()
TINY = (Limits(3000, 1 << 30), Limits(table=3000), Limits(1, 4 * MIB), Limits(1, 1))
ENGINE, BATCH, SINGLE, COMMAND, GPU = "engine", "batch", "single", "command", "gpu"
_COMMAND_SHARE, _GPU_SHARE = 0.06, 0.35  # of all blocks; of the blocks the GPU supports
_GPU_LONGEST, GPU_PAIRS = 40, 10
_LONG = 400  # bases
_ENDS = {DIFFERENCE, READS, TABLE, LINEAR}
# Kernels that must answer at least one pair, by mode; global edit distance has more.
_ANSWER = {
    Mode.GLOBAL: {DIFFERENCE, READS, CAPPED, TABLE, LINEAR},
    Mode.SEMIGLOBAL: {INSIDE, *_ENDS},
    Mode.OVERLAP: {CAPPED, *_ENDS},
    Mode.ENDS_FREE: {INSIDE, CAPPED, *_ENDS},
    Mode.EXTENSION: {TABLE, LINEAR},
}
_SOME_ALONE = {*BITS, STRIPES, INSIDE, DIFFERENCE, READS, CAPPED, TABLE, LINEAR}


@dataclass(frozen=True)
class Way:
    """How a block is aligned.

    Attributes:
        entry: "engine" (engines.rescue.align_batch), "batch" and "single" (wfacli.Aligner), "command", or "gpu".
        kernel: name of the forced kernel; None: the dispatch chooses.
        isa: instruction set; "" for the fastest one.
        limits: memory limits.
        threads: number of threads of the engine.
    """

    entry: str = ENGINE
    kernel: str | None = None
    isa: str = ""
    limits: Limits = AMPLE
    threads: int = 1

    @property
    def ample(self) -> bool:
        """Return whether every pair must be aligned."""
        return self.limits == AMPLE


def answering(mode: Mode, metric: Metric) -> set[str]:
    """Return the CPU kernels that align pairs of this mode and metric when forced."""
    new = set(CPU_KERNELS) - _SOME_ALONE
    return _ANSWER[mode] | new | ({*BITS, STRIPES} if (mode, metric) == (Mode.GLOBAL, Metric.EDIT) else set())


def variants(rng: Random, spec: AlignSpec, best: Optima) -> list[AlignSpec]:
    """Return the specification, its score-only form, and both with a maximum cost near the cost of some pair."""
    alone = dataclasses.replace(spec, score_only=True)
    if spec.penalties.match:
        return [spec, alone]
    costs = -best.score
    bound = max(0, int(rng.choice(costs.tolist())) + rng.choice((-1, 0, 0, 1)))
    return [spec, alone, *(dataclasses.replace(s, max_cost=bound) for s in (spec, alone))]


def ways_of(rng: Random, spec: AlignSpec, size: Size, best: Optima) -> list[tuple[AlignSpec, Way]]:
    """Draw the ways of a block: every kernel with every instruction set, and the other entries.

    Each kernel gets the original specification with at least one instruction set, and mostly variants with the others.
    """
    specs = variants(rng, spec, best)
    found: list[tuple[AlignSpec, Way]] = []
    kernels = [None, *CPU_KERNELS]
    if size.longest > _LONG:  # one pair takes as long as all others: only some kernels per block
        kernels = [None, *size.kernels] if size.kernels else rng.sample(kernels, 3)
    for kernel in kernels:
        sets = instruction_sets()
        rng.shuffle(sets)
        for at, isa in enumerate(sets):
            limits = AMPLE if at == 0 or rng.random() < 0.6 else rng.choice(TINY)
            threads = 2 if rng.random() < 0.05 else 1
            asked = spec if at == 0 or rng.random() < 0.4 else rng.choice(specs)
            found.append((asked, Way(ENGINE, kernel, isa, limits, threads)))
    for limits in (AMPLE, rng.choice(TINY)):
        asked = spec if rng.random() < 0.6 else rng.choice(specs)
        found += [(asked, Way(BATCH, limits=limits, threads=rng.choice((1, 2)))), (asked, Way(SINGLE, limits=limits))]
    if rng.random() < _COMMAND_SHARE:
        asked = rng.choice([s for s in specs if not s.score_only])
        found.append((asked, Way(COMMAND, rng.choice((None, *CPU_KERNELS)), threads=rng.choice((1, 2)))))
    if spec.mode is Mode.GLOBAL and size.longest <= _GPU_LONGEST and rng.random() < _GPU_SHARE:
        forced = rng.choice([None, *(name for name in candidates(spec, gpu=True) if on_gpu(name))])
        found.append((rng.choice(specs), Way(GPU, forced)))
    return found


def rows_of(way: Way, count: int) -> np.ndarray:
    """Return the rows of a block that a way aligns: few for the emulated GPU, otherwise all."""
    return np.arange(min(count, GPU_PAIRS) if way.entry == GPU else count)
