"""Whether to open a GPU for a run that does not require one: for little work, that takes longer than the CPU needs."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ..config import Config, EngineName
from ..core import tuning
from ..core.batch import PairBatch
from ..core.route import on_gpu
from ..errors import InputError
from ..io.mapper.mapped import MappedFiles
from ..io.mapper.swapped import short_reads
from ..io.read.reader import PairFiles, read_batches
from ..io.read.sources import Source
from ..plan.forecast import Forecast
from ..plan.planner import Planner

_SAMPLE = 2_000_000  # bases that are read to forecast a run
_INFLATED = 8  # maximum bases of a byte of a compressed file


def opens_later(config: Config, files: PairFiles) -> bool:
    """Return whether a run over pairs starts without the GPU that it may use: a sample says that it would not pay off.

    False for streams, whose length is not known.
    """
    if not _may_choose(config) or not _are_regular(filter(None, files.paths)):
        return False
    try:
        sample, share = _sample(files, config)
    except InputError:  # the run reports it
        return True
    if sample is None:
        return True
    least = share * tuning.GPU_OPEN_SECONDS
    return saving(sample, config, least) <= least


def opens_later_for_reads(config: Config, files: MappedFiles) -> bool:
    """Return opens_later() for mapped reads; only the sizes of files and the first reads are considered."""
    if not _may_choose(config):
        return False
    sizes = [_most_bases(path) for path in (files.query, files.mates) if path is not None]
    if None in sizes:
        return False
    each = tuning.CPU_MAPPED_SHORT_BASE if _are_short(files.query) else tuning.CPU_MAPPED_BASE
    return sum(filter(None, sizes)) * each / _cores(config) <= tuning.GPU_OPEN_SECONDS


def saving(pairs: PairBatch, config: Config, least: float) -> float:
    """Return the seconds that a batch is expected to take less with a GPU than without one, at most.

    Up to `least`, the seconds with a GPU are not forecast, which takes a while, and count as none.
    """
    on_cpu = _seconds(pairs, Planner(config.spec, config.limits)) / _cores(config)
    return on_cpu - seconds_with_gpu(pairs, config) if on_cpu > least else on_cpu


def seconds_with_gpu(pairs: PairBatch, config: Config) -> float:
    """Return the seconds that a batch is expected to take with an open GPU."""
    return _seconds(pairs, Planner(config.spec, config.limits, gpus=1))


def _may_choose(config: Config) -> bool:
    """Return whether the user asked for no engine, GPU or kernel."""
    return config.engine is EngineName.AUTO and config.devices == (0,) and config.kernel is None


def _sample(files: PairFiles, config: Config) -> tuple[PairBatch | None, float]:
    """Return the first pairs of the files, None without any, and their share of the bytes. Raises InputError."""
    sources = files.open()
    try:
        batches = read_batches(
            sources, files.layout(sources), _SAMPLE, keep_quality=False, pairs_before=files.pairs_before
        )
        sample = next(batches, None)
        total = sum(source.size or 0 for source in sources)
        return sample, min(sum(source.bytes_read for source in sources) / max(total, 1), 1.0)
    finally:
        for source in sources:
            source.close()


def _are_short(path: str) -> bool:
    """Return whether the first reads of a regular file are short."""
    try:
        source = Source(path)
    except InputError:  # the run reports it
        return False
    try:
        return short_reads(source) > 0
    finally:
        source.close()


def _seconds(pairs: PairBatch, planner: Planner) -> float:
    """Return the seconds that the first kernels of a plan are expected to take: with a GPU, or one thread's."""
    plan, total = planner.plan(pairs), 0.0
    for route in plan.routes:
        part = plan.pairs.subset(route.rows)
        times = Forecast(part, planner.spec, planner.limits, planner.gpu).microseconds(route.kernel)
        times = np.where(np.isfinite(times), times, 0.0) / 1e6
        if planner.gpu and not on_gpu(route.kernel):  # engines/long.py
            long = np.maximum(part.q_len, part.t_len) >= tuning.LONG_PAIR_BASES
            long &= times > tuning.LONG_PAIR_SECONDS / tuning.THREADS_WITH_GPU
            times = np.where(long, times / tuning.LONG_PAIR_MARGIN, times)
        total += float(times.sum())
    return total


def _cores(config: Config) -> float:
    """Return the number of threads that would do the same work if each had a core of its own."""
    return max(tuning.THREAD_SHARE * config.threads, 1.0)


def _are_regular(paths: Iterable[str]) -> bool:
    return all(_size(path) is not None for path in paths)


def _size(path: str) -> int | None:
    """Return the size of a regular file in bytes; None for streams and files that cannot be read."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _most_bases(path: str) -> int | None:
    """Return a bound on the bases of a file of reads; None if it is not known."""
    size = _size(path)
    try:
        with Path(path).open("rb") as file:
            packed = file.read(1) not in (b">", b"@", b"")
    except (OSError, ValueError):
        return None
    return size if size is None else size * (_INFLATED if packed else 1)
