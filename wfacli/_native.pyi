"""Types of the extension module."""

import enum
from collections.abc import Mapping
from typing import Any

from .batch import I32, I64, U8, U32, U64, AlignmentBatch, PairBatch

class Next(enum.Enum):
    FULL = 0
    NEED_QUERY = 1
    NEED_TARGET = 2
    END = 3
    FAILED = 4

class PairReader:
    def __init__(self, layout: str, keep_letters: bool = True) -> None: ...
    def prepare(self, stream: int, bytes: int) -> U8: ...
    def commit(self, stream: int, bytes: int) -> None: ...
    def attach(self, stream: int, descriptor: int, position: int, block: int) -> None: ...
    def bytes_read(self, stream: int) -> int: ...
    def fill(self, weight: int) -> Next: ...
    @property
    def pending_pairs(self) -> int: ...
    def take(self) -> Mapping[str, Any]: ...
    def fault(self) -> tuple[int, str, int, bytes] | None: ...

class TargetTable:
    def __init__(self, most: int) -> None: ...
    def add(self, batch: PairBatch) -> tuple[int, U8, U64, U8]: ...

class CancelFlag:
    def __init__(self) -> None: ...
    def set(self) -> None: ...
    @property
    def is_set(self) -> bool: ...

class AlignOptions:
    def __init__(
        self,
        *,
        mismatch: int,
        gaps: tuple[tuple[int, int], ...],
        match: int,
        ambiguous: int,
        extension: bool,
        free: tuple[int, int, int, int],
        path: bool,
        heuristics: tuple[int, int, int, int],
        max_cost: int,
        algorithm: str,
        memory: str,
        words: int,
        cap: tuple[float, float],
        table_bytes: int,
        checkpoint_bytes: int,
    ) -> None: ...

class Aligner:
    def __init__(self, isa: str = "") -> None: ...
    @property
    def isa(self) -> str: ...
    def align(
        self, batch: PairBatch, rows: I32, options: AlignOptions, cancelled: CancelFlag
    ) -> tuple[U8, U8, I32, I32, U32, I64]: ...

class FormatOptions:
    def __init__(
        self,
        *,
        format: str,
        ambiguous: int,
        cigar_m: bool,
        md: bool,
        cs: bool,
        scores_only: bool,
        heuristic: bool,
        read_group: str,
    ) -> None: ...

def keep_memory_flat() -> None: ...
def estimate_edits(batch: PairBatch) -> I32: ...
def instruction_sets() -> list[str]: ...
def format_batch(
    batch: PairBatch, alignments: AlignmentBatch, options: FormatOptions
) -> tuple[U8, dict[str, Any]]: ...
def check_batch(batch: PairBatch, alignments: AlignmentBatch, options: AlignOptions) -> tuple[int, str] | None: ...
