"""Ways to ask for alignments: kernels, instruction sets, bounds on memory, threads, and what is called."""

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
_COMMAND_SHARE, _GPU_SHARE = 0.06, 0.35  # of blocks; of those that the GPU aligns
_GPU_LONGEST, GPU_PAIRS = 40, 10
_LONG = 400  # bases
_ENDS = {DIFFERENCE, READS, TABLE, LINEAR}
# Kernels of which each must have answered, by mode; of global edit distance there are more.
_ANSWER = {
    Mode.GLOBAL: {DIFFERENCE, READS, CAPPED, TABLE, LINEAR},
    Mode.HW: {INSIDE, *_ENDS},
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
        kernel: forced by name; None for the choice of dispatch.
        isa: instruction set; "" for the fastest one.
        limits: bounds on memory.
        threads: of the engine.
    """

    entry: str = ENGINE
    kernel: str | None = None
    isa: str = ""
    limits: Limits = AMPLE
    threads: int = 1

    @property
    def ample(self) -> bool:
        """Whether every pair must be aligned."""
        return self.limits == AMPLE


def answering(mode: Mode, metric: Metric) -> set[str]:
    """Return kernels of the CPU that answer pairs of such specifications when they are forced."""
    new = set(CPU_KERNELS) - _SOME_ALONE
    return _ANSWER[mode] | new | ({*BITS, STRIPES} if (mode, metric) == (Mode.GLOBAL, Metric.EDIT) else set())


def variants(rng: Random, spec: AlignSpec, best: Optima) -> list[AlignSpec]:
    """Return the specification, the same for scores alone, and with a bound on the cost that some pairs reach."""
    alone = dataclasses.replace(spec, score_only=True)
    if spec.penalties.match:
        return [spec, alone]
    costs = -best.score
    bound = max(0, int(rng.choice(costs.tolist())) + rng.choice((-1, 0, 0, 1)))
    return [spec, alone, *(dataclasses.replace(s, max_cost=bound) for s in (spec, alone))]


def ways_of(rng: Random, spec: AlignSpec, size: Size, best: Optima) -> list[tuple[AlignSpec, Way]]:
    """Draw the ways of a block: every kernel with every instruction set, and other entries than the engine.

    Every kernel has the specification as it is with one instruction set at least, and a variant with another one.
    """
    specs = variants(rng, spec, best)
    found: list[tuple[AlignSpec, Way]] = []
    kernels = [None, *CPU_KERNELS]
    if size.longest > _LONG:  # one pair takes as long as all others: some kernels, and another block has the others
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
    """Return the rows of a block that a way takes: the emulated GPU few, the others all."""
    return np.arange(min(count, GPU_PAIRS) if way.entry == GPU else count)
