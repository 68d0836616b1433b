"""A peer's shared library on several threads, each with an aligner of its own, which take slices as they are free."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from wfacli.core.batch import PairBatch

from .native import Aligner
from .verdict import Costs

SLICES = 16  # per thread


class Threads:
    """Aligners of one peer for one task under one setting."""

    def __init__(self, library: Path, metric: str, score_only: bool, setting: str, threads: int) -> None:
        """Open them. Raises ValueError if the peer does not support the task."""
        self._aligners = [Aligner(library, metric, score_only, setting) for _ in range(threads)]

    def run(self, slices: Sequence[PairBatch]) -> tuple[float, Costs]:
        """Align every pair of every slice; return seconds, and costs in order. Raises MemoryError."""
        found: list[Costs] = [np.zeros(0, np.int32)] * len(slices)
        turn, waiting = threading.Lock(), iter(range(len(slices)))

        def work(aligner: Aligner) -> None:
            while True:
                with turn:
                    number = next(waiting, None)
                if number is None:
                    return
                _, found[number] = aligner.run(slices[number])

        with ThreadPoolExecutor(len(self._aligners)) as pool:
            begun = time.perf_counter()
            list(pool.map(work, self._aligners))
            seconds = time.perf_counter() - begun
        return seconds, np.concatenate(found) if found else np.zeros(0, np.int32)

    def close(self) -> None:
        """Free their memory."""
        for aligner in self._aligners:
            aligner.close()
