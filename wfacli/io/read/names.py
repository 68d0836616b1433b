"""Names that SAM can hold."""

from __future__ import annotations

from collections.abc import Iterator

from ..._native import unfit_query, unfit_target
from ...core.batch import PairBatch
from ...errors import InputError

_LONGEST = 254  # characters; the length has one byte in BAM
_QUERIES = "SAM allows no such name of a read (characters '!' to '~' without '@', and not '*'); --format paf does"
_TOO_LONG = f"SAM allows names of at most {_LONGEST} characters; --format paf any"
NO_TARGET = (
    "SAM allows no such name of a target (characters '!' to '~' without \\ , \" ' ` ( ) [ ] { } < >, and no * or = at "
    "the front); --format paf does"
)


def with_sam_names(batches: Iterator[PairBatch], queries: str, targets: str) -> Iterator[PairBatch]:
    """Passes batches on up to the first pair with a name that SAM cannot hold (SAM specification, 1.4).

    Names are refused and not replaced: two names could become one.

    Args:
        batches: pairs.
        queries: what the queries come from, for the message.
        targets: likewise.

    Raises:
        InputError: after the pairs before that one.
    """
    for pairs in batches:
        rows = [row for row in (unfit_query(pairs), unfit_target(pairs)) if row >= 0]
        if not rows:
            yield pairs
            continue
        if row := min(rows):
            yield pairs.head(row)
        if unfit_query(pairs) == row:
            long = pairs.records.q_name_len[row] > _LONGEST
            raise InputError(queries, _TOO_LONG if long else _QUERIES, pairs.records.query_name(row))
        raise InputError(targets, NO_TARGET, pairs.records.target_name(row))
