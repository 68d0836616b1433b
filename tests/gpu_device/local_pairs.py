"""Local alignments of one pair, by every GPU build and by the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np

from wfacli.core.batch import U8
from wfacli.gpu.kernels.local import BUILDS, Build
from wfacli.gpu.runtime.driver import Driver
from wfacli.scoring.scheme import Scheme
from wfacli.solve.gpu.local import GpuLocal
from wfacli.solve.local.searches import OnCpu, Search
from wfacli.solve.local.task import Task

NO_RUNS = np.zeros((0, 3), np.int64)
Answer = tuple[int, tuple[int, int, int, int], list[int]]


def generated(scheme: Scheme, length: int, difference: float, seed: int) -> tuple[U8, U8]:
    """Return codes of a query and a target: unrelated symbols, and part of the query with this difference rate."""
    rng, symbols = np.random.default_rng(seed), 4 if len(scheme.matrix) < 20 else 20
    query = rng.integers(0, symbols, length).astype(np.uint8)
    part = query[length // 4 :]
    kind = np.where(rng.random(len(part)) < difference, rng.integers(0, 3, len(part)), 3)
    part = np.where(kind == 0, rng.integers(0, symbols, len(part)), part)
    part = np.repeat(part, np.select([kind == 1, kind == 2], [0, 2], 1))
    target = np.concatenate([rng.integers(0, symbols, length // 3), part]).astype(np.uint8)
    target[len(target) // 2] = min(4, len(scheme.matrix) - 1)
    return query, target


def answer(search: Search) -> Answer:
    """Run a search to its end and return its answer."""
    with closing(search):
        while not search.advance(10):
            pass
        score, span, cigar = search.alignment()
    return score, span, cigar.tolist()


def on_gpu(
    driver: Driver, task: Task, barred: np.ndarray = NO_RUNS, build: Build | None = None, **more: bool
) -> Answer:
    """Search on a GPU, with the given build or the default one."""
    search = GpuLocal(driver, task.query, task.target, task.scheme, barred, task.threads, build=build, **more)
    return answer(search)


def wrong_local(open_driver: Callable[[], Driver]) -> Iterator[str]:
    """Yield differences between the GPU builds and the CPU, also with barred cells of an earlier alignment."""
    driver = open_driver()
    try:
        for scheme in (Scheme.of_scores(2, 4, 4, 2), Scheme.of_matrix("BLOSUM62", (11, 1))):
            query, target = generated(scheme, 2500, 0.1, 1)
            task = Task(query, target, scheme, threads=2)
            first = answer(OnCpu()(task, NO_RUNS))
            barred = np.array([[first[1][0], first[1][2], 1]], np.int64)
            for build in BUILDS:
                if build.pairs and len(scheme.matrix) > 5:
                    continue
                for runs, more in ((NO_RUNS, {}), (NO_RUNS, {"prune": False}), (barred, {})):
                    wanted = answer(OnCpu()(task, runs))
                    if (found := on_gpu(driver, task, runs, build, **more)) != wanted:
                        yield f"{build.name}, {scheme.name}, {more}: {found[:2]}, not {wanted[:2]}"
    finally:
        driver.close()
