"""What follows where memory was too small and no further kernel is left: all kernels of the spec, for one pair alone.

Kernels keep different things, some share their memory among several pairs, and an estimate decides how much others
keep at first. So under a small bound on memory one may align a pair that others cannot. A pair is given up only when
all have failed, with and without an estimate: whether it is aligned does not depend on other pairs.
"""

from __future__ import annotations

from collections.abc import Collection

from ._native import estimate_edits
from .batch import PairBatch, Status
from .config import AlignSpec, Mode
from .dispatch import candidates
from .forecast import (
    BITS,
    DIFFERENCE,
    INSIDE,
    LINEAR,
    READS,
    TABLE,
    free_in_query,
    free_in_target,
    weights,
)

TOGETHER = (*BITS, INSIDE, READS)  # kernels that take several pairs at a time
_WITHOUT_ESTIMATE = (*BITS, READS)  # kernels that do not look at it
_UNKNOWN = -1


def estimate_of(pair: PairBatch, spec: AlignSpec) -> int:
    """Return the estimated edits of a batch's only pair; -1 if such a spec has no estimate."""
    if spec.mode is Mode.GLOBAL:
        return int(estimate_edits(pair)[0])
    if not free_in_target(spec):
        return _UNKNOWN
    free = spec.free.target_begin, spec.free.target_end
    return int(estimate_edits(pair, costs=weights(spec), free=free)[0])


def last_tries(spec: AlignSpec, tried: Collection[str], known: int, estimate: int) -> list[tuple[str, int]]:
    """Return (kernel, estimated edits) of the tries that are left for a pair with status MEMORY_LIMIT.

    Args:
        spec: what to compute.
        tried: kernels that had the pair, those that take several at a time only if they had it alone.
        known: the estimate that they had, -1 for none.
        estimate: see estimate_of.
    """
    names = [*candidates(spec), TABLE, LINEAR]
    if (free_in_query(spec) or free_in_target(spec)) and spec.max_cost is None:
        names += [DIFFERENCE, READS]
    before = {(name, _UNKNOWN if name in _WITHOUT_ESTIMATE else known) for name in tried}
    tries = [(name, edits) for edits in (_UNKNOWN, estimate) for name in names]
    left = [(name, _UNKNOWN if name in _WITHOUT_ESTIMATE else edits) for name, edits in tries]
    return [one for one in dict.fromkeys(left) if one not in before]


def is_final(status: int, spec: AlignSpec) -> bool:
    """Return whether a last try's status is the pair's; else it may be one of that kernel alone."""
    return status in (Status.OK, Status.DROPPED) or (status == Status.SCORE_LIMIT and spec.max_cost is not None)
