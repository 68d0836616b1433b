"""What one search for local alignments is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.batch import U8
from ...errors import UsageError
from ...scoring.scheme import Scheme


@dataclass(frozen=True)
class Task:
    """What is to be found.

    Attributes:
        query, target: u8, codes of the scheme.
        scheme: scores of letters, costs of gaps.
        top: how many alignments, at most: each the best of those that align no two letters which one before it aligns
            with one another (M. Waterman and M. Eggert, J. Mol. Biol. 1987).
        score_only: only the best one's score and beginning.
        threads: of the CPU.
        memory: bytes of rows that are kept for the way back.
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
            raise UsageError("--top needs alignments, which --score-only leaves out")
