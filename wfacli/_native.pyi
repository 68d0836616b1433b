"""Types of the extension module."""

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .batch import I32, I64, U8, U32, U64, AlignmentBatch, PairBatch, PartialResult, Status

class Next(enum.Enum):
    FULL = 0
    NEED_QUERY = 1
    NEED_TARGET = 2
    NEED_MATES = 3
    END = 4
    FAILED = 5

class StreamReader:
    def lend(self, memory: U8) -> None: ...
    def prepare(self, stream: int, bytes: int) -> U8: ...
    def commit(self, stream: int, bytes: int) -> None: ...
    def help(self, threads: int) -> None: ...
    def attach(self, stream: int, descriptor: int, position: int, block: int) -> None: ...
    def bytes_read(self, stream: int) -> int: ...
    def fill(self, weight: int) -> Next: ...
    @property
    def pending_pairs(self) -> int: ...
    def fault(self) -> tuple[int, bytes, int, bytes] | None: ...

class PairReader(StreamReader):
    def __init__(self, layout: str, keep_letters: bool = True, keep_quality: bool = True) -> None: ...
    def take(self) -> Mapping[str, Any]: ...

class Reference:
    def __init__(self) -> None: ...
    def add(self, batch: PairBatch) -> None: ...
    def __len__(self) -> int: ...
    def name(self, number: int) -> bytes: ...
    def length(self, number: int) -> int: ...
    def leave_in(self, descriptor: int) -> None: ...
    def add_place(self, name: bytes, length: int, offset: int, line_letters: int, line_bytes: int) -> None: ...
    def bring_by(self, starts: I64, bring: Callable[[list[int]], None]) -> None: ...
    @property
    def fits(self) -> bool: ...
    def letters(self, number: int, begin: int, end: int) -> U8: ...

class MappedReader(StreamReader):
    def __init__(
        self,
        reference: Reference,
        *,
        span: str,
        pad: int,
        whole_reads: bool,
        keep_unmapped: bool,
        copy_tags: bool,
        read_group: bool,
        skip: bool,
        mates: bool,
        in_step: bool,
        folder: str,
        shelf: int,
    ) -> None: ...
    def take(self) -> Mapping[str, Any]: ...
    def counts(self) -> dict[str, int]: ...
    def first_skipped(self) -> tuple[bytes, int]: ...

class MappingGroups:
    def __init__(self, places: bool) -> None: ...
    def prepare(self, bytes: int) -> U8: ...
    def commit(self, bytes: int) -> None: ...
    @property
    def grouped(self) -> bool: ...
    @property
    def ended_inside(self) -> bool: ...
    def write(self, text: U8, descriptor: int) -> None: ...

class BamCount:
    def __init__(self) -> None: ...
    def take(self, bytes: U8) -> None: ...
    @property
    def records(self) -> int: ...
    @property
    def whole(self) -> bool: ...

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

class AlignJob:
    def __init__(
        self,
        batch: PairBatch,
        rows: I32,
        options: AlignOptions,
        cancelled: CancelFlag,
        letters: int,
        least_rows: int,
    ) -> None: ...
    @property
    def parts(self) -> int: ...
    def work(self, aligner: Aligner) -> None: ...
    def joined(self) -> tuple[U8, U8, I32, I32, U32, I64]: ...

class Aligner:
    def __init__(self, isa: str = "") -> None: ...
    @property
    def isa(self) -> str: ...
    def align(
        self, batch: PairBatch, rows: I32, options: AlignOptions, cancelled: CancelFlag
    ) -> tuple[U8, U8, I32, I32, U32, I64]: ...

class ExtendOptions:
    def __init__(
        self,
        *,
        matrix: npt.NDArray[np.int8],
        same: U8,
        codes: U8,
        open: int,
        extend: int,
        mode: int,
        path: bool,
        second_best: bool,
        cuts: tuple[int, int, int],
        memory_bytes: int,
        kernel: str = "",
        wide: bool = False,
    ) -> None: ...

_Extended = tuple[tuple[U8, U8, I32, I32, U32, I64], I32 | None]

class ExtendJob:
    def __init__(
        self,
        batch: PairBatch,
        rows: I32,
        options: ExtendOptions,
        cancelled: CancelFlag,
        letters: int,
        least_rows: int,
    ) -> None: ...
    @property
    def parts(self) -> int: ...
    def work(self, aligner: Extender) -> None: ...
    def joined(self) -> _Extended: ...

class Extender:
    def __init__(self, isa: str = "") -> None: ...
    @property
    def isa(self) -> str: ...
    def align(self, batch: PairBatch, rows: I32, options: ExtendOptions, cancelled: CancelFlag) -> _Extended: ...

def foreign_letter(batch: PairBatch, codes: U8) -> tuple[int, int] | None: ...
def share_rows(
    batch: PairBatch, rows: I32, step: U8, build: U8, width: I32, narrow: int, most: int
) -> tuple[I32, list[tuple[int, int, int, int]], I32, int]: ...

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
        second: bool = False,
        hard_clip: bool = False,
        read_group: str,
        significance: tuple[float, float, int] = (0.0, 0.0, 1),
    ) -> None: ...

class OnePair:
    @property
    def query_len(self) -> int: ...
    @property
    def longest(self) -> int: ...
    @property
    def flags(self) -> int: ...
    @property
    def est_edits(self) -> int: ...

class OneByOne:
    def __init__(
        self, kernels: Sequence[AlignOptions], estimated: bool, far: int, asked_above: int, ok: Status
    ) -> None: ...
    def kind(self, pair: OnePair) -> tuple[int, int, int, bool]: ...
    def align(
        self, engine: object, query: object, target: object
    ) -> tuple[int, str, int, tuple[int, int, int, int], bool, Status]: ...
    def align_with(
        self, pair: OnePair, kernel: int
    ) -> tuple[int, tuple[int, str, int, tuple[int, int, int, int], bool, Status] | None]: ...

class Forecaster:
    def __init__(self, models: Sequence[tuple[float, ...]], usual_error: float) -> None: ...
    def microseconds(self, batch: PairBatch) -> npt.NDArray[np.float64]: ...
    def fastest(self, batch: PairBatch) -> list[tuple[int, I32]]: ...
    def for_all(self, batch: PairBatch, rows: I32, choosing: float) -> int | None: ...

def edit_path(query: U8 | U32, target: U8 | U32, stop: CancelFlag) -> U32 | None: ...
def estimate_long(query: U8, target: U8) -> float: ...

class EditSolver:
    def advance(self, seconds: float) -> bool: ...
    @property
    def distance(self) -> int | None: ...
    @property
    def position(self) -> tuple[int, float, int]: ...
    def save(self) -> dict[str, I64]: ...
    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None: ...
    def close(self) -> None: ...

class EditWavefront(EditSolver):
    def __init__(
        self,
        query: U8 | U32,
        target: U8 | U32,
        most: int = -1,
        threads: int = 1,
        wide: bool = False,
        isa: str = "",
    ) -> None: ...

class EditBits(EditSolver):
    def __init__(self, query: U8 | U32, target: U8 | U32, most: int = -1, threads: int = 1, isa: str = "") -> None: ...

class LocalWalk:
    def __init__(
        self,
        query: U8,
        target: U8,
        matrix: npt.NDArray[np.int8],
        open: int,
        extend: int,
        same: U8,
        barred: I64,
        memory: int = 1 << 30,
        trace: int = 1 << 22,
        isa: str = "",
    ) -> None: ...
    def walk(self, pieces: I64, h: I32, f: I32, threads: int = 1) -> tuple[I64, I64, U32]: ...

class LocalSolver:
    def __init__(
        self,
        query: U8,
        target: U8,
        matrix: npt.NDArray[np.int8],
        open: int,
        extend: int,
        same: U8,
        barred: I64,
        threads: int = 1,
        path: bool = True,
        memory: int = 1 << 30,
        trace: int = 1 << 22,
        steps: int = 512,
        prune: bool = True,
        isa: str = "",
    ) -> None: ...
    def advance(self, seconds: float) -> bool: ...
    @property
    def position(self) -> tuple[int, bool, float, int]: ...
    def alignment(self) -> tuple[int, tuple[int, int, int, int], U32]: ...
    def save(self) -> dict[str, I64]: ...
    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None: ...
    def close(self) -> None: ...

def pack_pairs(queries: Iterable[Any], targets: Iterable[Any]) -> Mapping[str, Any]: ...
def cigar_texts(cigar: U32, cigar_start: I64, cigar_m: bool) -> list[str]: ...
def cigar_letters(cigar: U32, cigar_start: I64) -> I32: ...
def dot_counts(
    query: U8 | U32,
    target: U8 | U32,
    query_starts: I64,
    target_starts: I64,
    *,
    k: int,
    literal: bool,
    sampled: int,
    columns: int,
    rows: int,
    most: int,
) -> tuple[U32, U32, int, int, int, int]: ...
def path_windows(
    query: U8 | U32, target: U8 | U32, cigar: U32, *, reverse: bool, literal: bool, windows: int
) -> tuple[I64, I64, I64, I64]: ...

class PairSimulator:
    def __init__(
        self,
        reference: Reference | None,
        *,
        chance: U32,
        phred: U8,
        mismatch: int,
        insertion: int,
        longer: int,
        runs: int,
        seed: int,
        shortest: int,
        longest: int,
        format: str,
        truth: bool,
    ) -> None: ...
    def make(self, first: int, count: int) -> tuple[U8, U8, U8, int, int]: ...

def keep_memory_flat() -> None: ...
def estimate_edits(
    batch: PairBatch,
    rows: I32 | None = None,
    most: int = ...,
    costs: tuple[int, int, int] | None = None,
    threads: int = 1,
    free: tuple[int, int] | None = None,
) -> I32: ...
def survey(
    batch: PairBatch, every: int, longest: int, most: int, costs: tuple[int, int, int] | None, threads: int
) -> tuple[int, int, int, int, I32 | None]: ...
def letter_codes(ambiguous: int) -> U8: ...
def stage_rows(batch: PairBatch, rows: I32, buffer: U8, letters: int) -> None: ...
def stage_columns(batch: PairBatch, rows: I32, buffer: U8) -> None: ...
def rows_summary(batch: PairBatch, rows: I32) -> tuple[int, int, int, int, int, int]: ...
def unstage_rows(batch: PairBatch, rows: I32, cost: I32, status: U8, unit: int, bonus: int) -> tuple[U8, I32, I32]: ...
def gather_parts(
    parts: Sequence[PartialResult], origins: Sequence[int], pairs: int
) -> tuple[U8, U8, I32, I32, U32, I64, U8]: ...
def instruction_sets() -> list[str]: ...
def instruction_set() -> str: ...
def format_batch(
    batch: PairBatch, alignments: AlignmentBatch, options: FormatOptions
) -> tuple[U8, dict[str, Any]]: ...
def check_batch(
    batch: PairBatch, alignments: AlignmentBatch, options: AlignOptions | ExtendOptions
) -> tuple[int, str] | None: ...
