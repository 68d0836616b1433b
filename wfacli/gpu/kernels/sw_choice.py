"""Choice among the builds of sw.py: the fastest for each pair, and how many builds a batch is distributed over."""

from __future__ import annotations

import functools
import math

import numpy as np

from ...core.batch import U8
from .sw import F64, TAIL, Build, Lengths

_FINAL_LAUNCHES = 3  # launches that end together if no other follows
MAX_SAMPLED = 40_000  # pairs of a batch; with more, all builds have enough pairs

# Steps of lengths; each step has one build. Multiples of 16, so that no step crosses the end of a stripe.
_LONGEST = 16_384  # longer sequences share one build
_STEPS = np.concatenate([np.arange(16, 1024, 16), np.arange(1024, 4096, 64), np.arange(4096, _LONGEST + 1, 512)])
STEP: U8 = np.searchsorted(_STEPS, np.arange(_LONGEST + 1)).astype(np.uint8)  # step of each length


def best_builds(builds: tuple[Build, ...], count: int, path: bool = False, codes: int = 0, digits: bool = True) -> U8:
    """Return the index of the fastest build, u8[steps * steps], for each step of query and target length.

    With few pairs, builds with more lanes are faster: the GPU has fewer pairs than it can process at a time, and a
    launch ends with its last pair.
    """
    quarters = round(4 * math.log2(max(count, 1)))  # of a doubling, so that similar counts share one result
    return _best_builds(builds, quarters, path, codes, digits)


@functools.lru_cache(256)
def _best_builds(builds: tuple[Build, ...], quarters: int, path: bool, codes: int, digits: bool) -> U8:
    """Return the best builds for 2 ** (quarters / 4) pairs."""
    rounds = np.array([[2 ** (quarters / 4) / build.resident_pairs] for build in builds])
    total = _works(builds, path, codes, digits) * np.maximum(1 / rounds, 1 + TAIL / rounds)
    best: U8 = total.argmin(axis=0).astype(np.uint8)
    return best


@functools.lru_cache(64)
def _works(builds: tuple[Build, ...], path: bool, codes: int, digits: bool) -> F64:
    """Return f64[builds, steps * steps], each build's work for a pair; infinite if it does not support the pair."""
    query_len, target_len = (side.reshape(-1) for side in np.meshgrid(_STEPS, _STEPS, indexing="ij"))
    work = np.full((len(builds), len(query_len)), np.inf)
    for index, build in enumerate(builds):
        allowed = build.fits_directions(query_len, target_len) if build.all_directions else True
        work[index] = np.where(allowed, build.work(query_len, target_len, path, codes, digits), np.inf)
    return work


def builds_to_launch(
    builds: tuple[Build, ...],
    query_len: Lengths,
    target_len: Lengths,
    path: bool,
    codes: int,
    digits: bool,
    count: int = 0,
) -> tuple[Build, ...]:
    """Return the builds among which to distribute pairs of such lengths: all, or only those with more lanes.

    Each build has its own launch, whose end leaves the GPU partly idle. So few pairs are faster in fewer launches,
    although each pair takes more work there. `count`: pairs in flight including these, assumed to be similar: other
    launches use the GPU when one ends, except after the last ones.
    """
    times = max(count / len(query_len), 1)
    steps = STEP[np.minimum(query_len, _LONGEST)].astype(np.int64) * len(_STEPS)
    pairs = np.bincount(steps + STEP[np.minimum(target_len, _LONGEST)])
    shapes = np.flatnonzero(pairs)
    best, shortest = builds, np.inf
    for lanes in sorted({build.lanes for build in builds}):
        some = tuple(build for build in builds if build.lanes >= lanes)
        chosen = best_builds(some, max(count, len(query_len)), path, codes, digits)[shapes]
        works, total = _works(some, path, codes, digits)[:, shapes], 0.0
        for index, build in enumerate(some):
            if len(own := np.flatnonzero(chosen == index)):
                each = works[index][own]
                work = each @ pairs[shapes[own]]
                rest = build.resident_pairs * each.max() - work if work < np.inf else 0.0
                total += times * work + max(
                    rest / min(times, _FINAL_LAUNCHES), TAIL * build.resident_pairs * each.min()
                )
        if total < shortest:
            best, shortest = some, total
    return best
