"""Reduce a failure to the smallest pair and the simplest specification that still fail."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence

from wfacli.config import AlignSpec

from .check import Failure, failures
from .run import Pair
from .specs import simpler, written
from .ways import Way

_SECONDS = 12.0  # time limit of the search
_LONG = 0.5  # seconds; above the time of any correct pair


def shrunk(
    pairs: Sequence[Pair], spec: AlignSpec, way: Way, failure: Failure, seconds: float
) -> tuple[list[Pair], AlignSpec, Failure]:
    """Return the fewest failing pairs found (mostly one), the simplest specification, and the remaining failure."""
    last = [failure]
    ends_at = time.monotonic() + _SECONDS

    def fails(pairs: Sequence[Pair], spec: AlignSpec) -> bool:
        if time.monotonic() > ends_at:
            return False
        found = [f for f in failures(pairs, spec, way, seconds=seconds)[0] if f.kind == failure.kind]
        last[0] = found[0] if found else last[0]
        return bool(found)

    if failure.kind == "time":
        return _slow(pairs, spec, way), spec, failure
    if failure.row >= 0 and fails([pairs[failure.row]], spec):
        pairs = [pairs[failure.row]]
    else:
        pairs = _fewer(list(pairs), lambda some: fails(some, spec))
    before: tuple[Sequence[Pair], AlignSpec] | None = None
    while (pairs, spec) != before:
        before = (pairs, spec)
        pairs = _smaller(pairs, functools.partial(fails, spec=spec))
        spec = next((easier for easier in simpler(spec) if fails(pairs, easier)), spec)
    return list(pairs), spec, last[0]


def _slow(pairs: Sequence[Pair], spec: AlignSpec, way: Way) -> list[Pair]:
    """Return the first pair that is slow alone, or all pairs if none is."""
    ends_at = time.monotonic() + _SECONDS
    for pair in pairs:
        if failures([pair], spec, way, seconds=_LONG)[0] or time.monotonic() > ends_at:
            return [pair]
    return list(pairs)


def _pieces(length: int) -> Iterator[tuple[int, int]]:
    """Yield parts (begin, end) of a sequence, from large to small."""
    size = length
    while size:
        yield from ((begin, min(begin + size, length)) for begin in range(0, length, size))
        size //= 2


def _fewer(items: list[Pair], fails: Callable[[list[Pair]], bool]) -> list[Pair]:
    """Remove pairs from a block that fails only as a whole."""
    changed = True
    while changed:
        changed = False
        for begin, end in _pieces(len(items)):
            left = items[:begin] + items[end:]
            if left and end - begin < len(items) and fails(left):
                items, changed = left, True
                break
    return items


def _smaller(pairs: Sequence[Pair], fails: Callable[[list[Pair]], bool]) -> Sequence[Pair]:
    """Remove bases and then replace the remaining ones by A or C, as long as the failure persists."""
    for at in range(len(pairs)) if len(pairs) <= 2 else ():
        for side in (0, 1):
            pairs = _simpler_side(pairs, at, side, fails)
    return pairs


def _simpler_side(pairs: Sequence[Pair], at: int, side: int, fails: Callable[[list[Pair]], bool]) -> Sequence[Pair]:
    """Shorten a query (side 0) or a target (1) by removing parts from large to small, then make its bases A or C."""

    def changed(bases: bytes) -> list[Pair]:
        query, target = pairs[at]
        return [*pairs[:at], (query, bases) if side else (bases, target), *pairs[at + 1 :]]

    size = len(pairs[at][side])
    while size:
        begin = 0
        while begin < len(now := pairs[at][side]):
            if fails(some := changed(now[:begin] + now[begin + size :])):
                pairs = some
            else:
                begin += size
        size //= 2
    for place in range(len(pairs[at][side])):
        for base in b"AC":
            now = pairs[at][side]
            if now[place] > base and fails(some := changed(now[:place] + bytes([base]) + now[place + 1 :])):
                pairs = some
    return pairs


def as_test(pairs: Sequence[Pair], spec: AlignSpec, way: Way) -> str:
    """Return a line that can be pasted into a test."""
    return f"assert_exact({list(pairs)!r}, {written(spec)}, {way!r})"
