"""Align a few small pairs with every kernel, and compare with the CPU engine: python -m tests.gpu_device.every_kernel.

Intended for `compute-sanitizer`, which slows GPUs down. Each alignment row of the catalogue is launched, with and
without paths, on pairs with and without symbols other than ACGT.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from tests.distance.solvers import cpu_path, solved
from wfacli.config import AlignSpec, Heuristics
from wfacli.core.batch import Status
from wfacli.core.route import Route
from wfacli.engines.gpu import GpuEngine
from wfacli.gpu.compile.cache import Cache
from wfacli.gpu.compile.compiler import Compiler
from wfacli.gpu.kernels import catalogue, long_bits, long_path, long_wavefront, tiles
from wfacli.gpu.kernels import launch_plan as kernels
from wfacli.gpu.runtime.driver import Driver
from wfacli.gpu.runtime.opening import open_driver
from wfacli.plan.gpu_kernels import banded as kernels_with_bands
from wfacli.solve.base import Pair as LongPair
from wfacli.solve.base import Solver
from wfacli.solve.distance.cpu import CpuWavefront
from wfacli.solve.gpu.bits import GpuBits
from wfacli.solve.gpu.path_fronts import FrontsPath
from wfacli.solve.gpu.path_stripes import StripesPath
from wfacli.solve.gpu.segments import joined
from wfacli.solve.gpu.wavefront import GpuWavefront

from . import rungs, scored
from .inputs import Pair, mixed
from .local_pairs import wrong_local
from .support import CACHE

SEED = 74
SCORED = "scored"  # pairs under any substitution scores
LOCAL = "local"  # the best local alignment of one long pair
_MEMORY = 3 << 30  # bytes; a batch of the widest wavefront takes 217 MiB per block
_ERRORS = (0, 0.02, 0.1, 0.3)


def some_pairs() -> list[list[Pair]]:
    """Return short pairs for more than two warps, and longer ones for wide bands.

    Some have symbols other than ACGT.
    """
    short = [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40] * 6
    long = [64, 65, 100, 150, 300, 700, 1100]
    empty: list[Pair] = [(b"", b""), (b"", b"ACGT"), (b"ACGT", b"")]
    groups = [mixed(SEED, lengths, _ERRORS, other) for other in (0.0, 0.7) for lengths in (short, long)]
    return [groups[0] + empty, *groups[1:]]


def launched(driver: Driver, seen: set[str]) -> Driver:
    """Make the driver record the rows that it launches."""
    launch = driver.launch

    def noting(kernel: object, *rest: object) -> None:
        seen.add(kernel.name)  # type: ignore[attr-defined]
        launch(kernel, *rest)  # type: ignore[arg-type]

    driver.launch = noting  # type: ignore[method-assign]
    return driver


def wrong_answers(engine: GpuEngine, kernel: str, spec: AlignSpec, pairs: list[Pair]) -> Iterator[str]:
    """Yield the answers of a kernel that differ from the CPU's."""
    batch = rungs.batch_of(pairs)
    wanted = rungs.of_cpu(batch, spec, 1)
    found = engine.collect(engine.submit(batch, Route(np.arange(len(batch), dtype=np.int32), kernel)))
    for at, row in enumerate(found.rows.tolist()):
        if found.status[at] == Status.OK and rungs.answer(found, at) != wanted[row]:
            yield f"{kernel} {spec.metric}: pair {row} {pairs[row]}: {rungs.answer(found, at)}, not {wanted[row]}"


def builds_of(names: list[str], scheme: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield kernels and the lanes to test.

    Tiles have many bands but few builds, so two bands are tested, with each build.
    """
    for name in names:
        family, _, size = name.removeprefix("gpu-").partition("-")
        if family != "tiles":
            if scheme != "affine2p-low":  # uses the same rows as affine2p
                yield name, tiles.LANES
        elif int(size) in (min(tiles.BANDS), 1024):
            yield from ((name, (lanes,)) for lanes in tiles.LANES)


def chosen(scheme: str, score_only: bool, families: list[str]) -> list[str]:
    """Return a scheme's kernels whose names start with one of `families`; all if there are none."""
    names = rungs.by_scheme()[scheme, score_only]
    return [name for name in names if not families or name.removeprefix("gpu-").startswith(tuple(families))]


def wrong_pairs(
    open_driver: Callable[[], Driver], scheme: str, score_only: bool, families: list[str], seen: set[str]
) -> Iterator[str]:
    """Yield the wrong answers of the chosen kernels."""
    groups, every, spec = some_pairs(), tiles.LANES, rungs.spec_of(scheme, score_only)
    engine = GpuEngine(spec, lambda: launched(open_driver(), seen), memory=_MEMORY)
    try:
        for name, tiles.LANES in list(builds_of(chosen(scheme, score_only, families), scheme)):
            kernels._plan_of.cache_clear()  # as if there were no other builds
            for pairs in groups:
                yield from wrong_answers(engine, name, spec, pairs)
        for banded in [] if score_only else banded_of(spec, families):
            yield from wrong_in_bands(lambda: launched(open_driver(), seen), banded, spec, groups)
    finally:
        tiles.LANES = every
        engine.close()


def banded_of(spec: AlignSpec, families: list[str]) -> list[str]:
    """Return the kernels of these families with an adaptive band that support the costs of `spec`."""
    names = kernels_with_bands(spec)
    return [name for name in names if name.removeprefix("gpu-").startswith(tuple(families or [""]))]


def wrong_in_bands(
    open_driver: Callable[[], Driver], kernel: str, spec: AlignSpec, groups: list[list[Pair]]
) -> Iterator[str]:
    """Yield differences from the CPU in the same band.

    Bands are narrow, or have more diagonals than threads per pair.
    """
    wide = 90 if len(spec.penalties.gaps) > 1 else 140
    for band, step, some in ((12, 5, groups), (wide, 25, groups[1::2])):
        banded = dataclasses.replace(spec, heuristics=Heuristics(band=band, band_step=step))
        engine = GpuEngine(banded, open_driver, memory=_MEMORY)
        try:
            for pairs in some:
                yield from wrong_answers(engine, kernel, banded, pairs)
        finally:
            engine.close()


def wrong_long_pairs(open_driver: Callable[[], Driver], seen: set[str]) -> Iterator[str]:
    """Yield wrong results of the algorithms for one long pair; every build of each."""
    rng, driver = np.random.default_rng(SEED), launched(open_driver(), seen)
    try:
        for planes, count in ((2, 4), (4, 11), (8, 60), (32, 5000)):
            alphabet = np.frombuffer(b"ACGT", np.uint8) if planes == 2 else np.arange(count, dtype=np.uint32)
            target = alphabet[rng.integers(0, count, 4500)]
            query = np.delete(target, rng.integers(0, len(target), 150))
            query[rng.integers(0, len(query), 150)] = alphabet[0]
            if planes < 32:
                query, target = query.astype(np.uint8), target.astype(np.uint8)
            pair = LongPair(query, target, planes == 2)
            wanted = solved(CpuWavefront(pair, None, 1))
            solvers: list[Solver] = []
            if planes != 4:
                shapes = [s for s in long_wavefront.SHAPES if s.planes == planes]
                solvers += [GpuWavefront(driver, pair, None, shape) for shape in shapes]
            if planes < 32:
                shapes = [s for s in long_bits.SHAPES if s.planes == planes]
                solvers += [GpuBits(driver, pair, None, likely, s) for s in shapes for likely in (1, wanted)]
            for solver in solvers:
                if (got := solved(solver)) != wanted:
                    yield f"{solver.name}, {planes} planes: {got}, not {wanted}"
            yield from wrong_paths(driver, pair, wanted, planes)
    finally:
        driver.close()


def wrong_paths(driver: Driver, pair: LongPair, distance: int, planes: int) -> Iterator[str]:
    """Yield paths that differ from the CPU's, by every build for symbols of `planes` bits."""
    shapes: list[tuple[type[StripesPath] | type[FrontsPath], object]] = []
    shapes += [(StripesPath, shape) for shape in long_path.SHAPES if shape.planes == planes]
    shapes += [(FrontsPath, front) for front in long_path.FRONTS if front.planes == planes]
    for make, shape in shapes:
        way = make(driver, pair, distance, _MEMORY, shape)
        try:
            if not np.array_equal(joined(way.find(lambda: None)), cpu_path(pair, distance)):
                yield f"{make.__name__}, {shape}: another path"
        finally:
            way.close()


def rows_of(kernels: list[str]) -> set[str]:
    """Return the catalogue rows whose names start with one of `kernels`."""
    return {name for name in catalogue.ROWS if name.startswith(tuple(kernels or [""]))}


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "kernels", nargs="*", help="beginnings of names, like bits, dp-128, wfa-edit; all unless given"
    )
    parser.add_argument("--emulated", action="store_true", help="on a host without a GPU, slowly")
    return parser.parse_args()


def opened(emulated: bool) -> Driver:
    """Open a GPU, or an emulated one."""
    if emulated:
        from tests.emulation.driver import EmulatedDriver

        return EmulatedDriver()
    return open_driver(compiler=Compiler(Cache(Path(os.environ.get("WFACLI_CACHE_DIR") or CACHE))))


def checked(scheme: str | None, score_only: bool, families: list[str], emulated: bool) -> tuple[list[str], set[str]]:
    """Return errors and launched rows for a scheme, SCORED, LOCAL, or long pairs (None)."""
    seen: set[str] = set()
    open_driver = partial(opened, emulated)
    if scheme is None:
        found = wrong_long_pairs(open_driver, seen)
    elif scheme == LOCAL:
        found = wrong_local(lambda: launched(open_driver(), seen))
    elif scheme == SCORED:
        found = scored.wrong_pairs(lambda: launched(open_driver(), seen), score_only)
    else:
        found = wrong_pairs(open_driver, scheme, score_only, families, seen)
    return list(found), seen


def parts(families: list[str]) -> Iterator[tuple[str | None, bool]]:
    """Yield what has kernels of these families: (scheme, score only), SCORED, LOCAL, and None for long pairs."""
    for scheme, score_only in rungs.by_scheme():
        if chosen(scheme, score_only, families):
            yield scheme, score_only
    if not families or any("sw".startswith(f) or f.startswith("sw") for f in families):
        yield from ((SCORED, score_only) for score_only in (False, True))
    if not families or any("local".startswith(f) or f.startswith("local") for f in families):
        yield LOCAL, False
    if not families or any("long".startswith(f) or f.startswith("long") for f in families):
        yield None, False


def main() -> int:
    options = asked()
    wrong: list[str] = []
    seen: set[str] = set()
    # Each part runs in its own process, which opens the GPU once. Under synccheck only, a process that reopened it
    # sometimes failed to create a stream ("illegal memory access"), even if its first context was kept; the tool
    # itself reported nothing. The cause is unknown.
    alone = {"max_workers": 1, "max_tasks_per_child": 1, "mp_context": multiprocessing.get_context("spawn")}
    with ProcessPoolExecutor(**alone) as pool:
        runs = [pool.submit(checked, *part, options.kernels, options.emulated) for part in parts(options.kernels)]
        for run in runs:
            more, rows = run.result()
            wrong += more
            seen |= rows
    for line in wrong:
        print(line)
    missing = rows_of(options.kernels) - seen
    print(f"never launched: {', '.join(sorted(missing))}" if missing else "every row was launched")
    print(f"{len(seen)} rows of the catalogue, {len(wrong)} wrong answers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
