"""Sizes of batches, and how many of them are in flight."""

from __future__ import annotations

from collections.abc import Sequence

from ..config import CPU_BATCH, GPU_BATCH, RunConfig
from ..io.read.sources import Source
from ..io.write.parts import PartKind

# With a GPU: maximum number of batches of GPU_BATCH in flight per GPU, since their bases are in pinned memory.
MOST_BESIDE_A_GPU = 8

# Maximum bases of a batch of mapped reads whose ends are extended. Beside a GPU such a batch waits for the GPU and the
# CPU alternately, so that both are busy only if there are many batches.
_MAPPED_BATCH = 16_000_000
_MAPPED_PER_THREAD = 1_000_000  # bases on the CPU, where the interpreter takes milliseconds for each batch

# Seconds for which a thread may hold the GIL while others wait. Python's default is longer than a launch on a GPU, and
# than what most batches take on the CPU.
SWITCH_INTERVAL = 2e-4

_SPARE = 17 / 16  # margin over a batch's share of the bases, since a pair weighs more than its bases
_LEAST_SHARED = 8_000_000  # bases of a batch below which another GPU saves less time than another batch costs


def shared_out(sizes: Sequence[int | None], gpus: int = 1) -> int:
    """Return the bases per batch for `gpus` GPUs and files of these sizes in bytes (None: unknown).

    Batches have equal sizes and every GPU gets the same number of them, so that all finish together. There are as few
    batches as possible, since each takes the interpreter about a millisecond.
    """
    known = [size for size in sizes if size is not None]
    total = sum(known)
    if len(known) < len(sizes):
        return GPU_BATCH
    least = max(-(-total // GPU_BATCH), 1)
    count = max(min(-(-least // gpus) * gpus, total // _LEAST_SHARED), least)
    return GPU_BATCH if count == 1 else min(int(total / count * _SPARE), GPU_BATCH)


def batch_bases(config: RunConfig, sources: Sequence[Source], gpus: int) -> int:
    """Return the bases per batch of a run over these sources; `gpus` is 0 without a GPU."""
    if config.batch_bases or not gpus:  # on the CPU one size: compressed bytes depend neither on threads nor on shards
        return config.batch_bases or CPU_BATCH
    return shared_out([source.size for source in sources], gpus)


def mapped_bases(config: RunConfig, sources: Sequence[Source], gpus: int) -> int:
    """Return the bases per batch of mapped reads whose ends are extended; arguments as for batch_bases()."""
    usual = batch_bases(config, sources, gpus)
    if config.batch_bases or (not gpus and PartKind.of(config.output).in_blocks):
        return usual
    if gpus:
        return min(usual, _MAPPED_BATCH)
    share = sum(source.size or 0 for source in sources) // config.threads
    return max(usual, min(_MAPPED_PER_THREAD * config.threads, share, _MAPPED_BATCH))


def max_in_flight(gpus: int, threads: int, bases: int) -> int:
    """Return the maximum number of batches of `bases` between the reader and the writer."""
    if not gpus:
        return threads + 3
    most = MOST_BESIDE_A_GPU * gpus
    return max(most, min(threads + 3, most * GPU_BATCH // bases))
