"""The data contract: pairs as they are read, and alignments as they are returned, both as columns.

All arrays are C-contiguous. A batch is immutable: functions return a new batch and do not change the old one.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
Shared = TypeVar("Shared", I32, I64, U8)
NO_SCORE = -(1 << 31)  # score of a pair without an alignment; lower than any score


class Status(enum.IntEnum):
    """Whether a pair has an alignment, and the reason if it has none."""

    OK = 0
    SCORE_LIMIT = 1
    MEMORY_LIMIT = 2
    LENGTH_LIMIT = 3
    DROPPED = 4
    UNSUPPORTED = 5
    WORK_LIMIT = 6  # another kernel is faster for this pair
    SCORE_RANGE = 7  # the score does not fit 32 bits, the width of AS:i in BAM


class Flag(enum.IntFlag):
    """Bits of PairBatch.flags."""

    NON_ACGT = 1
    NON_NUCLEOTIDE = 2


@dataclass(frozen=True)
class Records:
    """Names and qualities of n pairs; only wfacli.io reads them.

    Attributes:
        text: u8[T], names and qualities.
        q_name, t_name: i64[n], offset of each name in text.
        q_name_len, t_name_len: i32[n], bytes of each name.
        qual: i64[n], offset in text of the query's quality string, which is as long as the query; -1 if there is none.
    """

    text: U8
    q_name: I64
    t_name: I64
    q_name_len: I32
    t_name_len: I32
    qual: I64

    def query_name(self, row: int) -> str:
        """Return the name of a row's query."""
        return self._name(self.q_name[row], self.q_name_len[row])

    def target_name(self, row: int) -> str:
        """Return the name of a row's target."""
        return self._name(self.t_name[row], self.t_name_len[row])

    def _name(self, start: int, length: int) -> str:
        return self.text[start : start + length].tobytes().decode(errors="surrogateescape")


@dataclass(frozen=True)
class Mapped:
    """Positions of n mapped rows: each query is part of a read, each target a window of a reference sequence.

    All rows of a template (a read, or both mates of a pair) are in one batch and adjacent.

    Attributes:
        t_offset: i64[n], 0-based position of the window in the reference sequence.
        t_total: i64[n], length of that sequence in bases.
        read_start: i64[n], offset in Records.text of the whole read, on the aligned strand; -1 if the record has no
            sequence. Records.qual has its quality string, as long as the whole read.
        clip_begin, clip_end: i32[n], bases of the read before and after the query, on the aligned strand.
        first: i32[n], number of the template, the same for all its rows and different from the adjacent templates'.
        sam_flags: i32[n], SAM FLAG bits: 4 for an unmapped read, 16, 256, 2048; for mates 1, 64 or 128, and the bits
            that the mappings determine (2, 8, 32); 512, 1024.
        mapq: u8[n], mapping qualities; 255 where unknown.
        inner: i32[n, 4], q_beg q_end t_beg t_end of the mapped part within query and target, half open.
        room: i32[n, 4], the same of what extensions may reach while other mappings of the read limit them.
        tags, tags_len: i64[n], i32[n], offset in Records.text and number of bytes of the read's own tags, separated by
            tabs; the length is 0 if there are none.
    """

    t_offset: I64
    t_total: I64
    read_start: I64
    clip_begin: I32
    clip_end: I32
    first: I32
    sam_flags: I32
    mapq: U8
    inner: I32
    room: I32
    tags: I64
    tags_len: I32

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any]) -> Mapped:
        """Build from the columns that the native reader returns."""
        return cls(**{**columns, **{name: columns[name].reshape(-1, 4) for name in ("inner", "room")}})

    def columns(self) -> list[npt.NDArray[Any]]:
        """Return all columns, in the order of the class."""
        return [getattr(self, c.name) for c in dataclasses.fields(self)]


@dataclass(frozen=True)
class Extent:
    """Size of a set of pairs.

    Attributes:
        nbytes: bytes of all sequences, each padded to a multiple of 16.
        longest: length of the longest sequence, in bases.
        max_length_difference: maximum difference between the lengths of a pair, in bases.
        non_acgt_pairs: number of pairs with symbols other than A C G T.
    """

    nbytes: int
    longest: int
    max_length_difference: int
    non_acgt_pairs: int


@dataclass(frozen=True)
class Lengths:
    """Lengths of a set of pairs, in bases.

    Attributes:
        total: of all queries and targets together.
        longest_query: length of the longest query; 0 without pairs.
        longest_target: length of the longest target; 0 without pairs.
    """

    total: int
    longest_query: int
    longest_target: int


@dataclass(frozen=True, eq=False)
class PairBatch:
    """n pairs of sequences. A batch is equal to itself only.

    Attributes:
        ordinal: position of the batch in the input, from 0.
        bases: u8[B], symbols as read; each sequence starts at a multiple of 16, and 64 bytes follow the last.
        q_start, t_start: i64[n], offset of each sequence in bases (targets may repeat).
        q_len, t_len: i32[n], length of each sequence in bases.
        flags: u8[n], bits of Flag.
        est_edits: i32[n], estimated edit distance, -1 where unknown; with a GPU the estimated cost, in average edits.
        records: names and qualities.
        mapped: positions of the rows in reads and on a reference; None for plain pairs.
        extent: size of all pairs; None if it was not computed.
    """

    ordinal: int
    bases: U8
    q_start: I64
    t_start: I64
    q_len: I32
    t_len: I32
    flags: U8
    est_edits: I32
    records: Records
    mapped: Mapped | None = None
    extent: Extent | None = None

    def __len__(self) -> int:
        return len(self.q_len)

    @functools.cached_property
    def lengths(self) -> Lengths:
        """Lengths of all pairs; of a batch of the reader computed by it."""
        total = self.q_len.sum(dtype=np.int64) + self.t_len.sum(dtype=np.int64)
        return Lengths(int(total), int(self.q_len.max(initial=0)), int(self.t_len.max(initial=0)))

    @property
    def total_bases(self) -> int:
        """Total number of bases of all queries and targets."""
        return self.lengths.total

    @property
    def longest(self) -> int:
        """Length of the longest sequence, in bases."""
        return max(self.lengths.longest_query, self.lengths.longest_target)

    def head(self, rows: int) -> PairBatch:
        """Return the first rows as a batch that shares this one's bases and text."""
        return self.taken_by(lambda columns: [column[:rows] for column in columns])

    def subset(self, rows: npt.NDArray[np.signedinteger[Any]]) -> PairBatch:
        """Return a subset of the rows as a batch that shares this one's bases and text."""
        return self.taken_by(lambda columns: [column[rows] for column in columns])

    def taken_by(self, take: Callable[[Sequence[npt.NDArray[Any]]], Sequence[npt.NDArray[Any]]]) -> PairBatch:
        """Return the batch whose columns `take` returns for this one's columns; it shares the bases and the text."""
        own = [getattr(self, c) for c in _PAIR_COLUMNS]
        names = [getattr(self.records, c) for c in _NAME_COLUMNS]
        found = take([*own, *names, *(self.mapped.columns() if self.mapped else ())])
        columns: dict[str, Any] = dict(zip(_PAIR_COLUMNS + _NAME_COLUMNS, found, strict=False))
        records = dataclasses.replace(self.records, **{c: columns.pop(c) for c in _NAME_COLUMNS})
        mapped = Mapped(*found[len(own) + len(names) :]) if self.mapped else None
        return dataclasses.replace(self, records=records, mapped=mapped, extent=None, **columns)

    def shapes(self, rows: Any) -> PairBatch:
        """Return lengths, flags and estimates of some rows, without bases and names; kernels are chosen by these."""
        columns = (self.q_len[rows], self.t_len[rows], self.flags[rows], self.est_edits[rows])
        n, none = len(columns[0]), np.zeros(0, np.uint8)
        places, lengths = no_text(n)
        records = Records(none, places, places, lengths, lengths, places)
        return PairBatch(0, none, places, places, *columns, records)

    def with_edits(self, edits: I32, rows: I32 | None = None) -> PairBatch:
        """Return the same pairs with these estimates (i32[n]); only `rows` (i32[k], in order) have one, if given."""
        found = dataclasses.replace(self, est_edits=edits)
        if "lengths" in self.__dict__:
            found.__dict__["lengths"] = self.lengths
        if rows is not None:  # the stages that need them are spared a search of the column
            found.__dict__["rows_with_edits"] = rows
        return found

    def with_some_edits(self, rows: I32, edits: I32) -> PairBatch:
        """Return the same pairs with estimates (i32[k]) for some rows (i32[k], in order) only."""
        column = no_edits(len(self)).copy()
        column[rows] = edits
        return self.with_edits(column, rows[edits >= 0])

    @functools.cached_property
    def rows_with_edits(self) -> I32:
        """Rows (i32[k]) that have an estimate, in order. Searched once: several stages of a batch need them."""
        if self.est_edits is no_edits(len(self)):
            return all_rows(0)
        return np.flatnonzero(self.est_edits >= 0).astype(np.int32)

    @property
    def max_estimate(self) -> int:
        """Maximum estimate of the batch, in edits; -1 if no row has one."""
        return int(self.est_edits.max(initial=-1))

    @classmethod
    def from_columns(cls, ordinal: int, columns: Mapping[str, Any]) -> PairBatch:
        """Build from the columns that the native reader returns."""
        known = [c for c in _PAIR_COLUMNS if c in columns]
        batch = cls(
            ordinal=ordinal,
            bases=columns["bases"],
            est_edits=no_edits(len(columns["t_len"])),
            records=Records(text=columns["text"], **{c: columns[c] for c in _NAME_COLUMNS}),
            mapped=Mapped.from_columns(columns["mapped"]) if "mapped" in columns else None,
            **{c: columns[c] for c in known},
        )
        if "lengths" in columns:
            batch.__dict__["lengths"] = Lengths(*columns["lengths"])
        return batch


LaterBatch = Callable[[], PairBatch]  # completes a batch and returns it; call it once, in any thread


def already_complete(pairs: PairBatch) -> LaterBatch:
    """Return a batch that is complete already as one that is completed later."""
    return lambda: pairs


_NAME_COLUMNS = ("q_name", "t_name", "q_name_len", "t_name_len", "qual")
_PAIR_COLUMNS = ("q_start", "t_start", "q_len", "t_len", "flags", "est_edits")


class _Shared(Generic[Shared]):
    """An array that grows, and whose beginnings are given to all callers, so that they do not fill their own."""

    def __init__(self, make: Callable[[int], Shared]) -> None:
        """Take what makes the array of a length."""
        self._make: Callable[[int], Shared] = make
        self._array: Shared = make(0)
        self.beginning: Callable[[int], Shared] = functools.lru_cache(maxsize=256)(self._beginning)

    def _beginning(self, count: int) -> Shared:
        array = self._array
        if count > len(array):
            array = self._array = self._make(1 << (count - 1).bit_length())
        found: Shared = array[:count]
        found.setflags(write=False)
        return found


_ROWS = _Shared(lambda count: np.arange(count, dtype=np.int32))
_NO_FLAGS = _Shared(lambda count: np.zeros(count, np.uint8))
_NO_PLACES = _Shared(lambda count: np.zeros(count, np.int64))
_NO_LENGTHS = _Shared(lambda count: np.zeros(count, np.int32))
_NO_EDITS = _Shared(lambda count: np.full(count, -1, np.int32))


def all_rows(count: int) -> I32:
    """Return the rows 0 to count - 1 (i32[count], read-only); all callers share one array."""
    return _ROWS.beginning(count)


def no_edits(count: int) -> I32:
    """Return estimates of pairs that have none (i32[count], read-only); all callers share one array."""
    return _NO_EDITS.beginning(count)


def no_text(count: int) -> tuple[I64, I32]:
    """Return offsets and lengths of texts that are not there (i64[count], i32[count]); see zeros()."""
    return _NO_PLACES.beginning(count), _NO_LENGTHS.beginning(count)


def zeros(count: int) -> U8:
    """Return zeros (u8[count], read-only); all callers share one array."""
    return _NO_FLAGS.beginning(count)


def is_all_rows(rows: I32, count: int) -> bool:
    """Return True if rows are 0 to count - 1 in order; immediate for an array that all_rows returned."""
    rows_in_order = all_rows(count)
    return rows is rows_in_order or (len(rows) == count and np.array_equal(rows, rows_in_order))


@dataclass(frozen=True)
class PartialResult:
    """Alignments of m rows of a batch.

    Attributes:
        rows: i32[m], rows of the batch.
        status: u8[m], values of Status.
        cut: u8[m], 1 where a heuristic pruned the search, so that a better alignment may exist.
        score: i32[m], in the user's scoring scheme (minus the cost without a match bonus); 0 without an alignment.
        span: i32[m, 4], q_beg q_end t_beg t_end of the aligned part, half open.
        cigar: u32[C], length << 4 | operation as in BAM, with = and X.
        cigar_start: i64[m + 1], offset of each row's operations in cigar.
        second: i32[m], second best scores; None unless requested.
    """

    rows: I32
    status: U8
    cut: U8
    score: I32
    span: I32
    cigar: U32
    cigar_start: I64
    second: I32 | None = None

    @classmethod
    def unaligned(cls, rows: I32, status: Status) -> PartialResult:
        """Return rows (i32[m]) with a status and without alignments."""
        m = len(rows)
        flags, spans = np.full(m, status, np.uint8), np.zeros((m, 4), np.int32)
        none, starts = np.zeros(0, np.uint32), np.zeros(m + 1, np.int64)
        return cls(rows, flags, np.zeros(m, np.uint8), np.zeros(m, np.int32), spans, none, starts)


@dataclass(frozen=True)
class AlignmentBatch:
    """Alignments of all n rows of a batch, in its order.

    Columns are those of PartialResult; origin is u8[n], the index in `kernels` of the kernel that aligned the row.
    """

    ordinal: int
    status: U8
    cut: U8
    score: I32
    span: I32
    cigar: U32
    cigar_start: I64
    origin: U8
    kernels: tuple[str, ...]
    second: I32 | None = dataclasses.field(default=None, kw_only=True)


def join(rows: I32, parts: Sequence[PartialResult]) -> PartialResult:
    """Concatenate the results of consecutive parts of a route into the result of all its rows."""
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0] + [len(p.cigar) for p in parts])
    starts = [p.cigar_start[:-1] + b for p, b in zip(parts, before[:-1], strict=True)]
    return PartialResult(
        rows,
        np.concatenate([p.status for p in parts] or [np.zeros(0, np.uint8)]),
        np.concatenate([p.cut for p in parts] or [np.zeros(0, np.uint8)]),
        np.concatenate([p.score for p in parts] or [np.zeros(0, np.int32)]),
        np.concatenate([p.span for p in parts] or [np.zeros((0, 4), np.int32)]),
        np.concatenate([p.cigar for p in parts] or [np.zeros(0, np.uint32)]),
        np.concatenate([*starts, before[-1:]]).astype(np.int64),
    )
