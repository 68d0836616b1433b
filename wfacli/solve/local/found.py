"""One local alignment: its span, operations and score, and a check of them against the sequences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.batch import I64, U8, U32
from ...errors import InternalError
from ...scoring.scheme import Scheme

_SAME, _OTHER, _INSERTION, _DELETION = 7, 8, 1, 2


@dataclass(frozen=True, eq=False)
class Found:
    """One of the best local alignments.

    Attributes:
        score: score by the scheme, above 0.
        span: (query start, query end, target start, target end), half-open; both ends are -1 if only the beginning
            was computed.
        cigar: u32[C], length << 4 | operation as in BAM, with = and X; None if only the beginning was computed.
    """

    score: int
    span: tuple[int, int, int, int]
    cigar: U32 | None

    def runs(self) -> I64:
        """Return the ungapped runs, i64[R, 3]: query start, target start, length."""
        if self.cigar is None:
            return np.zeros((0, 3), np.int64)
        length, kind = (self.cigar >> 4).astype(np.int64), self.cigar & 15
        aligned = np.isin(kind, (_SAME, _OTHER))
        query = self.span[0] + _before(np.where(kind != _DELETION, length, 0))
        target = self.span[2] + _before(np.where(kind != _INSERTION, length, 0))
        return np.ascontiguousarray(np.stack([query, target, length], axis=1)[aligned])

    def counts(self) -> dict[str, int]:
        """Return the number of symbols of each operation, and the number of gaps."""
        cigar = np.zeros(0, np.uint32) if self.cigar is None else self.cigar
        length, kind = (cigar >> 4).astype(np.int64), cigar & 15
        names = {"matches": _SAME, "mismatches": _OTHER, "inserted": _INSERTION, "deleted": _DELETION}
        found = {name: int(length[kind == code].sum()) for name, code in names.items()}
        return found | {"gaps": int(np.isin(kind, (_INSERTION, _DELETION)).sum())}

    def check(self, query: U8, target: U8, scheme: Scheme) -> None:
        """Raise InternalError if the operations do not fit the sequences (u8 codes), or score anything but `score`."""
        if self.cigar is None:
            return
        score, (q, q_end, t, t_end) = 0, self.span
        for run_query, run_target, length in self.runs().tolist():
            a, b = query[run_query : run_query + length], target[run_target : run_target + length]
            if len(a) != length or len(b) != length:
                raise InternalError("an alignment leaves its sequences; please report this")
            score += int(scheme.matrix[a, b].sum(dtype=np.int64))
        counts = self.counts()
        aligned = counts["matches"] + counts["mismatches"]
        score -= counts["gaps"] * scheme.open + (counts["inserted"] + counts["deleted"]) * scheme.extend
        spans = (q + aligned + counts["inserted"], t + aligned + counts["deleted"])
        if score != self.score or spans != (q_end, t_end):
            raise InternalError(
                f"an alignment scores {score:,} where {self.score:,} is best, or has another span; please report this"
            )


def _before(lengths: I64) -> I64:
    """Return the exclusive prefix sum."""
    found: I64 = np.cumsum(lengths) - lengths
    return found
