"""Checks for names that SAM does not allow."""

from __future__ import annotations

from collections.abc import Iterator

from ..._native import unfit_query, unfit_target
from ...core.batch import PairBatch
from ...errors import InputError

_LONGEST = 254  # characters; BAM stores the length in one byte
_QUERIES = "SAM allows no such name of a read (characters '!' to '~' without '@', and not '*'); --format paf does"
_TOO_LONG = f"SAM allows names of at most {_LONGEST} characters; --format paf any"
NO_TARGET = (
    "SAM allows no such name of a target (characters '!' to '~' without \\ , \" ' ` ( ) [ ] { } < >, and no * or = at "
    "the front); --format paf does"
)


def with_sam_names(batches: Iterator[PairBatch], queries: str, targets: str) -> Iterator[PairBatch]:
    """Yield batches until the first pair with a name that SAM does not allow (SAM specification, 1.4).

    Invalid names are an error and are not replaced, since two names could become the same.

    Args:
        batches: pairs.
        queries: origin of the queries, for the error message.
        targets: origin of the targets, for the error message.

    Raises:
        InputError: at the first pair with an invalid name, after the pairs before it.
    """
    for pairs in batches:
        named, fault = before_fault(pairs, queries, targets)
        if len(named) or not fault:
            yield named
        if fault:
            raise fault


def before_fault(pairs: PairBatch, queries: str, targets: str) -> tuple[PairBatch, InputError | None]:
    """Return the pairs before the first with a name that SAM does not allow, and the error; see with_sam_names()."""
    rows = [row for row in (unfit_query(pairs), unfit_target(pairs)) if row >= 0]
    if not rows:
        return pairs, None
    row = min(rows)
    if unfit_query(pairs) == row:
        long = pairs.records.q_name_len[row] > _LONGEST
        fault = InputError(queries, _TOO_LONG if long else _QUERIES, pairs.records.query_name(row))
    else:
        fault = InputError(targets, NO_TARGET, pairs.records.target_name(row))
    return pairs.head(row), fault
