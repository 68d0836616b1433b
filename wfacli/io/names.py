"""Names that SAM can hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..batch import PairBatch
from ..errors import InputError

_LONGEST = 254  # letters; the length has one byte in BAM


def with_sam_names(batches: Iterator[PairBatch], path: str) -> Iterator[PairBatch]:
    """Passes batches on up to the first query whose name SAM cannot hold.

    Args:
        batches: pairs.
        path: what the queries come from, for the message.

    Raises:
        InputError: after the pairs before that query.
    """
    for pairs in batches:
        records = pairs.records
        # An empty name may start where the text ends.
        first = records.text[np.minimum(records.q_name, max(len(records.text) - 1, 0))] if len(records.text) else 0
        header_like = (first == ord("@")) & (records.q_name_len > 0)
        refused = np.flatnonzero((records.q_name_len > _LONGEST) | header_like)
        if not len(refused):
            yield pairs
            continue
        row = int(refused[0])
        if row:
            yield pairs.head(row)
        name = records.query_name(row)
        if header_like[row]:
            raise InputError(path, "SAM allows no name that starts with @; --format paf does", name)
        raise InputError(path, f"SAM allows names of at most {_LONGEST} letters; --format paf any", name)
