"""Fixed work through the native core, whose instructions bench/checks/check.py counts.

Runs under callgrind with counting off (--instr-atstart=no); callgrind_on.c turns counting on for one call, after an
uncounted first call. Pairs come from the simulator, which makes the same pairs everywhere; one thread, one instruction
set.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wfacli._native import (
    Aligner,
    CancelFlag,
    EditBits,
    EditWavefront,
    Extender,
    LocalSolver,
    PairReader,
    check_batch,
    estimate_edits,
    format_batch,
)
from wfacli.config import AlignSpec, Format, FreeEnds, Limits, Metric, Mode, OutputSpec, Penalties
from wfacli.core.batch import I32, PairBatch, PartialResult
from wfacli.engines import cpu
from wfacli.engines import extend_cpu as extend
from wfacli.engines.parts import gather
from wfacli.io.write.format import Formatter
from wfacli.measure.work import Work, pairs_in_memory
from wfacli.plan.kernels import CPU_KERNELS, INSIDE, READS, TABLE
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec
from wfacli.simulate.pairs import PairsFormat, PairsSpec, simulator

ISA = "x86-64-v3"  # valgrind does not support AVX-512
ALL_BASES = 1 << 40
LIMITS = Limits()
SCHEME = Scheme.of_scores(2, 4, 4, 2)
EDIT, AFFINE = (AlignSpec(metric, Penalties.of(metric)) for metric in (Metric.EDIT, Metric.AFFINE))
INSIDE_TARGETS = AlignSpec(
    Metric.EDIT, Penalties.of(Metric.EDIT), mode=Mode.SEMIGLOBAL, free=FreeEnds.of(Mode.SEMIGLOBAL)
)
Call = Callable[[], Any]
# Kernel, task, and pairs that suit it: count, bases, error rate.
KERNELS_WORK = (
    ("bits-64", EDIT, 400, 150, 0.05),
    ("bits-128", EDIT, 400, 150, 0.15),
    ("bits-512", EDIT, 20, 1500, 0.15),
    ("stripes", EDIT, 2, 8000, 0.1),
    (INSIDE, INSIDE_TARGETS, 300, 150, 0.05),
    ("difference", AFFINE, 4, 3000, 0.08),
    (READS, AFFINE, 300, 150, 0.05),
    ("wavefront-capped", AFFINE, 60, 150, 0.02),
    (TABLE, AFFINE, 40, 500, 0.03),
    ("wavefront-linear", AFFINE, 2, 5000, 0.02),
)


def pairs(count: int, length: int, error: float) -> PairBatch:
    """Return simulated pairs with their estimates."""
    (batch,) = pairs_in_memory(Work(length, error), count, ALL_BASES, 1)
    return batch.with_edits(estimate_edits(batch))


def rows_of(batch: PairBatch) -> I32:
    """Return the numbers of all rows."""
    return np.arange(len(batch), dtype=np.int32)


def aligning(kernel: str, spec: AlignSpec, batch: PairBatch) -> Call:
    """Return a call that aligns a batch with one kernel."""
    aligner, options, stop = Aligner(ISA), cpu.native_options(spec, LIMITS, kernel), CancelFlag()
    rows = rows_of(batch)
    return lambda: aligner.align(batch, rows, options, stop)


def extending(mode: ExtendMode, score_only: bool, batch: PairBatch, **cuts: int) -> Call:
    """Return a call that extends a batch, over all cells or with a band and a drop."""
    aligner, stop, rows = Extender(ISA), CancelFlag(), rows_of(batch)
    options = extend.native_options(ExtendSpec(SCHEME, mode, score_only, **cuts), LIMITS)
    return lambda: aligner.align(batch, rows, options, stop)


def of_one_pair(length: int, error: float) -> dict[str, Call]:
    """Return calls that run the solvers of one long pair from beginning to end."""
    batch = pairs(1, length, error)
    query, target = (
        batch.bases[start[0] : start[0] + size[0]].copy()
        for start, size in ((batch.q_start, batch.q_len), (batch.t_start, batch.t_len))
    )
    codes = [SCHEME.codes[bases] for bases in (query, target)]

    def local() -> None:
        barred = np.zeros((0, 3), np.int64)
        solver = LocalSolver(*codes, SCHEME.matrix, SCHEME.open, SCHEME.extend, SCHEME.same, barred, isa=ISA)
        to_the_end(solver)
        solver.alignment()

    return {
        "distance, wavefront": lambda: to_the_end(EditWavefront(query, target, isa=ISA)),
        "distance, bits": lambda: to_the_end(EditBits(query, target, isa=ISA)),
        "local": local,
    }


def to_the_end(solver: Any) -> None:
    """Advance a solver until it is done."""
    while not solver.advance(3600.0):
        pass


def around_kernels() -> dict[str, Call]:
    """Return calls for what precedes and follows the kernels."""
    text, *_ = simulator(PairsSpec(400, 150, 150, error=0.05, format=PairsFormat.SEQ), None).make(0, 400)
    batch, noisy = pairs(400, 150, 0.05), pairs(4, 3000, 0.08)
    rows = rows_of(batch)
    status, cut, score, span, cigar, start = aligning("bits-64", EDIT, batch)()
    found = gather([PartialResult(rows, status, cut, score, span.reshape(-1, 4), cigar, start)],
                   [CPU_KERNELS.index("bits-64")], batch, CPU_KERNELS)  # fmt: skip
    options = cpu.native_options(EDIT, LIMITS, TABLE)

    def read() -> None:
        reader = PairReader("seq")
        reader.prepare(0, len(text))[:] = text
        reader.commit(0, len(text))
        reader.fill(ALL_BASES)

    def written(format_: Format, tags: bool = True) -> Call:
        formatter = Formatter(OutputSpec(format_, md=tags, cs=tags), scores_only=False, heuristic=False)
        return lambda: format_batch(batch, found, formatter._options)

    return {
        "read .seq": read,
        "estimate": lambda: estimate_edits(noisy),
        "check": lambda: check_batch(batch, found, options),
        "write SAM": written(Format.SAM),
        "write PAF": written(Format.PAF),
        "write SAM, usual tags": written(Format.SAM, tags=False),
        "write PAF, usual tags": written(Format.PAF, tags=False),
    }


def works() -> Iterator[tuple[str, Call]]:
    """Yield the name and call of all counted work."""
    yield from around_kernels().items()
    for kernel, spec, count, length, error in KERNELS_WORK:
        yield f"kernel {kernel}", aligning(kernel, spec, pairs(count, length, error))
    short = pairs(100, 150, 0.05)
    for mode, score_only in ((ExtendMode.LOCAL, True), (ExtendMode.LOCAL, False), (ExtendMode.GLOBAL, False)):
        yield f"extend {mode}, {'score' if score_only else 'path'}", extending(mode, score_only, short)
    yield "extend one pair, path", extending(ExtendMode.LOCAL, False, pairs(1, 1500, 0.1))
    noisy = pairs(4, 1500, 0.1)
    for score_only in (True, False):
        name = f"extend in a band until a drop, {'score' if score_only else 'path'}"
        yield name, extending(ExtendMode.EXTENSION, score_only, noisy, band=300, zdrop=400)
    yield from of_one_pair(3000, 0.05).items()
    maker = simulator(PairsSpec(300, 150, 150, error=0.05), None)
    yield "simulate", lambda: maker.make(0, 300)


def main() -> None:
    """Run all work, or the work that is named; the first argument is the shared library of callgrind_on.c."""
    library = ctypes.PyDLL(sys.argv[1])
    wanted = sys.argv[2:]
    for name, call in works():
        if wanted and name not in wanted:
            continue
        call()  # allocates memory
        library.count()
        call()
        library.dump(name.encode())


if __name__ == "__main__":
    main()
