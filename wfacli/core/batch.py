"""The data contract: pairs on their way in, alignments on their way out, as columns.

Everything here is C-contiguous and, once made, left alone: a batch is handed on, not changed.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
NO_SCORE = -(1 << 31)  # of a pair without an alignment: worse than any score


class Status(enum.IntEnum):
    """Whether a pair has an alignment, and if not, why."""

    OK = 0
    SCORE_LIMIT = 1
    MEMORY_LIMIT = 2
    LENGTH_LIMIT = 3
    DROPPED = 4
    UNSUPPORTED = 5
    WORK_LIMIT = 6  # another kernel takes less time
    SCORE_RANGE = 7  # the score does not fit 32 bits, as AS:i has it in BAM


class Flag(enum.IntFlag):
    """Bits of PairBatch.flags."""

    NON_ACGT = 1
    NON_NUCLEOTIDE = 2


@dataclass(frozen=True)
class Records:
    """Names and qualities of n pairs; only wfacli.io looks inside.

    Attributes:
        text: u8[T], names and qualities.
        q_name, t_name: i64[n], where a name starts in text.
        q_name_len, t_name_len: i32[n].
        qual: i64[n], where the query's quality starts (as long as the query), or -1.
    """

    text: U8
    q_name: I64
    t_name: I64
    q_name_len: I32
    t_name_len: I32
    qual: I64

    def query_name(self, row: int) -> str:
        """The query's name in a row."""
        return self._name(self.q_name[row], self.q_name_len[row])

    def target_name(self, row: int) -> str:
        """The target's name in a row."""
        return self._name(self.t_name[row], self.t_name_len[row])

    def _name(self, start: int, length: int) -> str:
        return self.text[start : start + length].tobytes().decode(errors="surrogateescape")


@dataclass(frozen=True)
class Mapped:
    """Where n rows lie whose queries are parts of reads, and whose targets are windows of a reference.

    All rows of a read are of one batch and follow one another; so are those of both mates of a pair, a template.

    Attributes:
        t_offset: i64[n], letters of the reference's sequence before the window.
        t_total: i64[n], letters of that sequence.
        letters: i64[n], where the whole read, on the strand that is aligned, starts in Records.text; -1 where a record
            is to have none. Its quality is at Records.qual, as long as the whole read.
        clip_begin, clip_end: i32[n], letters of the read before and behind the query, on that strand.
        first: i32[n], the same number for all rows of a template, another one than its neighbours'.
        sam_flags: i32[n], SAM's FLAG: 4 for a read without a mapping, 16, 256, 2048; of mates, 1, 64 or 128, and what
            the mappings say (2, 8, 32); 512, 1024.
        mapq: u8[n], mapping qualities; 255 where unknown.
        inner: i32[n, 4], q_beg q_end t_beg t_end of the mapped parts, half open, inside query and target.
        tags, tags_len: i64[n], i32[n], where the read's own tags are in Records.text, with tabs between them, and how
            many bytes; 0 where there are none.
    """

    t_offset: I64
    t_total: I64
    letters: I64
    clip_begin: I32
    clip_end: I32
    first: I32
    sam_flags: I32
    mapq: U8
    inner: I32
    tags: I64
    tags_len: I32

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any]) -> Mapped:
        """From the columns that the native reader hands over."""
        return cls(**{**columns, "inner": columns["inner"].reshape(-1, 4)})

    def rows(self, rows: Any) -> Mapped:
        """Some rows, chosen as numpy chooses."""
        return Mapped(**{c.name: getattr(self, c.name)[rows] for c in dataclasses.fields(self)})


@dataclass(frozen=True)
class Extent:
    """What pairs take, all of them together.

    Attributes:
        nbytes: of their letters, each sequence padded to a multiple of 16.
        longest: letters of the longest sequence.
        apart: the most by which a pair's lengths differ.
        others: how many pairs have letters other than A C G T.
    """

    nbytes: int
    longest: int
    apart: int
    others: int


@dataclass(frozen=True)
class PairBatch:
    """n pairs of sequences.

    Attributes:
        ordinal: position of the batch in the input, from 0.
        bases: u8[B], letters as read; each sequence starts at a multiple of 16, and 64 bytes follow the last.
        q_start, t_start: i64[n], where sequences start in bases (targets may repeat).
        q_len, t_len: i32[n], letters.
        flags: u8[n], bits of Flag.
        est_edits: i32[n], estimated edit distance, -1 where unknown; beside a GPU its cost, in average edits.
        records: names and qualities.
        mapped: where rows lie in reads and on a reference; None for pairs that are no more than that.
        extent: of all pairs; None where nobody has looked.
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

    @property
    def total_bases(self) -> int:
        """Letters of all queries and targets."""
        return int(self.q_len.sum(dtype=np.int64) + self.t_len.sum(dtype=np.int64))

    def head(self, rows: int) -> PairBatch:
        """The first rows as a batch that shares this one's letters and text."""
        return self._some(slice(rows))

    def part(self, rows: npt.NDArray[np.signedinteger[Any]]) -> PairBatch:
        """Some rows as a batch that shares this one's letters and text."""
        return self._some(rows)

    def _some(self, rows: Any) -> PairBatch:
        names = {c: getattr(self.records, c)[rows] for c in _NAME_COLUMNS}
        pairs = {c: getattr(self, c)[rows] for c in _PAIR_COLUMNS}
        mapped = None if self.mapped is None else self.mapped.rows(rows)
        records = dataclasses.replace(self.records, **names)
        return dataclasses.replace(self, records=records, mapped=mapped, extent=None, **pairs)

    def shapes(self, rows: Any) -> PairBatch:
        """Some rows without their letters and names: what kernels are chosen by, in memory of its own."""
        columns = (self.q_len[rows], self.t_len[rows], self.flags[rows], self.est_edits[rows])
        n, none = len(columns[0]), np.zeros(0, np.uint8)
        places, lengths = np.zeros(n, np.int64), np.zeros(n, np.int32)
        records = Records(none, places, places, lengths, lengths, places)
        return PairBatch(0, none, places, places, *columns, records)

    def with_edits(self, edits: I32) -> PairBatch:
        """The same pairs with other estimates (i32[n])."""
        return dataclasses.replace(self, est_edits=edits)

    def with_some_edits(self, rows: I32, edits: I32) -> PairBatch:
        """The same pairs with estimates (i32[k]) of some rows (i32[k], in order) and no others."""
        column: I32 = np.full(len(self), -1, np.int32)
        column[rows] = edits
        return dataclasses.replace(self, est_edits=column)

    def rows_with_edits(self) -> I32:
        """Rows (i32[k]) that have an estimate."""
        return np.flatnonzero(self.est_edits >= 0).astype(np.int32)

    @property
    def most_edits(self) -> int:
        """The most that is estimated; -1 where nothing is."""
        return int(self.est_edits.max(initial=-1))

    @classmethod
    def from_columns(cls, ordinal: int, columns: Mapping[str, Any]) -> PairBatch:
        """From the columns that the native reader hands over."""
        known = [c for c in _PAIR_COLUMNS if c in columns]
        return cls(
            ordinal=ordinal,
            bases=columns["bases"],
            est_edits=np.full(len(columns["t_len"]), -1, np.int32),
            records=Records(text=columns["text"], **{c: columns[c] for c in _NAME_COLUMNS}),
            mapped=Mapped.from_columns(columns["mapped"]) if "mapped" in columns else None,
            **{c: columns[c] for c in known},
        )


_NAME_COLUMNS = ("q_name", "t_name", "q_name_len", "t_name_len", "qual")
_PAIR_COLUMNS = ("q_start", "t_start", "q_len", "t_len", "flags", "est_edits")


@functools.lru_cache(maxsize=256)
def every_row(count: int) -> I32:
    """The rows of a batch of so many, in order (i32[count], read-only); one array for all who ask."""
    global _rows
    rows = _rows
    if count > len(rows):
        rows = _rows = np.arange(1 << (count - 1).bit_length(), dtype=np.int32)
    beginning = rows[:count]
    beginning.setflags(write=False)
    return beginning


def is_every_row(rows: I32, count: int) -> bool:
    """Whether rows are all of a batch of so many, in order; at once where they are every_row's."""
    every = every_row(count)
    return rows is every or (len(rows) == count and np.array_equal(rows, every))


_rows: I32 = np.zeros(0, np.int32)  # of which every_row gives the beginning


@dataclass(frozen=True)
class PartialResult:
    """Alignments of m rows of a batch.

    Attributes:
        rows: i32[m], rows of the batch.
        status: u8[m], values of Status.
        cut: u8[m], 1 where a heuristic left something out, so that a better alignment may exist.
        score: i32[m], in the user's scheme (minus the cost where a match earns nothing); 0 without an alignment.
        span: i32[m, 4], q_beg q_end t_beg t_end, half open: what is aligned.
        cigar: u32[C], length << 4 | operation as in BAM, with = and X.
        cigar_start: i64[m + 1], where each row's operations start in cigar.
        second: i32[m], second best scores, where they are asked for.
    """

    rows: I32
    status: U8
    cut: U8
    score: I32
    span: I32
    cigar: U32
    cigar_start: I64
    second: I32 | None = None


@dataclass(frozen=True)
class AlignmentBatch:
    """Alignments of all n rows of a batch, in its order.

    Columns as in PartialResult; origin is u8[n], the index into `kernels` of the kernel that answered.
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
    """Results of parts of a route, one after another, as those of all its rows."""
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
