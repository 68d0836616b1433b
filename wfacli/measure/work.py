"""The works of a measurement: simulated pairs in memory, in numbers that take similar times."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ..core.batch import PairBatch
from ..io.read.reader import PairFiles, layout_of, read_batches
from ..run.sizes import shared_out
from ..simulate.pairs import MODELS, PairsFormat, PairsSpec, simulator

_BLOCK = 1 << 21  # target bases simulated at a time
# Total size of all pairs of a row, in units of which one thread does some 10^9 a second.
_UNITS = 4e8
_MIN_PAIRS = 4  # minimum number of pairs


@dataclass(frozen=True)
class Work:
    """Pairs of the same length and error rate.

    Attributes:
        length: target length in bases.
        error: edits a base.
        model: name in simulate.MODELS.
        seed: random seed of the simulator.
    """

    length: int
    error: float
    model: str = "uniform"
    seed: int = 1

    @property
    def name(self) -> str:
        """Name in tables, for example 10 kb 5%, with the model unless it is the default."""
        length = f"{self.length / 1000:g} kb" if self.length >= 1000 else f"{self.length} bp"
        model = "" if self.model == "uniform" else f" {self.model}"
        return f"{length} {100 * self.error:g}%{model}"

    def default_pairs(self, times: float, max_bases: int) -> int:
        """Return a suitable number of pairs: one significant digit, and the same on every machine.

        Args:
            times: multiple of the number of pairs that take one thread some tenths of a second.
            max_bases: maximum bases of queries and targets together.
        """
        # The time of a pair depends on its length, and on the cells of a band as wide as its edits.
        units = 4 * self.length + self.error * self.length**2
        count = min(times * _UNITS / max(units, 1), max_bases / max(2 * self.length, 1))
        digit: int = 10 ** int(np.log10(max(count, 1)))
        return max(_MIN_PAIRS, int(count / digit) * digit)


def default_error(model: str) -> float:
    """Return the default error rate of a model."""
    return MODELS[model].error


def pairs_in_memory(work: Work, count: int, batch_bases: int | None, threads: int, gpus: int = 1) -> list[PairBatch]:
    """Simulate pairs in batches, as the command's reader makes them.

    Args:
        work: which pairs.
        count: number of pairs.
        batch_bases: bases of a batch; None for the command's batch size with a GPU.
        threads: number of threads that simulate.
        gpus: number of GPUs that share the batches.
    """
    spec = PairsSpec(count, work.length, work.length, work.model, work.error, work.seed, PairsFormat.SEQ)
    source = simulator(spec, None)
    block = max(1, min(count, _BLOCK // max(1, work.length)))
    with _file_in_memory() as (descriptor, path):
        with ThreadPoolExecutor(threads) as pool:
            parts = pool.map(lambda first: source.make(first, min(block, count - first)), range(0, count, block))
            for text, *_ in parts:
                _write(descriptor, memoryview(text.data))
        files = PairFiles(path, None).open()
        try:
            weight = batch_bases or shared_out([file.size for file in files], gpus)
            return list(read_batches(files, layout_of(files), weight))
        finally:
            for file in files:
                file.close()


def cells(batches: Sequence[PairBatch]) -> int:
    """Return the cells of all pairs' matrices together, computed or not."""
    return sum(int((batch.q_len.astype(np.int64) * batch.t_len).sum()) for batch in batches)


def bases(batches: Sequence[PairBatch]) -> int:
    """Return the bases of all queries and targets."""
    return sum(batch.total_bases for batch in batches)


@contextlib.contextmanager
def _file_in_memory() -> Iterator[tuple[int, str]]:
    """Yield a descriptor, and a path that opens the same file at its beginning."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("wfacli-pairs")
        try:
            yield descriptor, f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with tempfile.NamedTemporaryFile(prefix="wfacli-") as file:
            yield file.fileno(), file.name


def _write(descriptor: int, text: memoryview) -> None:
    while len(text):
        text = text[os.write(descriptor, text) :]
