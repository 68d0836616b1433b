"""Parameters of a search for local alignments."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.batch import U8
from ...errors import UsageError
from ...scoring.scheme import Scheme


@dataclass(frozen=True)
class Task:
    """Parameters of a search.

    Attributes:
        query, target: u8[m] and u8[n], codes of the scheme.
        scheme: substitution scores and gap costs.
        top: maximum number of alignments; each is the best that shares no aligned pair of symbols with an earlier one
            (M. Waterman and M. Eggert, J. Mol. Biol. 1987).
        score_only: True to compute only the score and the beginning of the best alignment.
        threads: CPU threads.
        memory: bytes of matrix rows kept for the traceback.
    """

    query: U8
    target: U8
    scheme: Scheme
    top: int = 1
    score_only: bool = False
    threads: int = 1
    memory: int = 1 << 30

    def __post_init__(self) -> None:
        if self.top > 1 and self.score_only:
            raise UsageError("--top requires alignments, which --score-only omits")
