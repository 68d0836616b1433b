"""Results of the Python API: single alignments, and batches of them as columns."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._native import cigar_counts, cigar_texts
from .config import AlignSpec, CigarStyle, Config, Format, OutputSpec
from .core import batch
from .core.batch import I32, PairBatch, Status
from .core.stats import counted
from .io.read.names import with_sam_names
from .io.write.format import Formatter
from .io.write.header import header_around
from .io.write.targets import named_targets, sq_lines

_ROWS = 1 << 14  # rows that iteration converts to objects at a time


class Alignment(NamedTuple):
    """Alignment of a query to a target.

    Attributes:
        score: score in the given scheme: match bonuses minus costs. NO_SCORE, lower than any score, without an
            alignment.
        cigar: operations as in SAM (I consumes the query, D the target), with = and X, of the span only; "*" where
            nothing is aligned, or for scores alone. A base that matches only by wildcard is written as X and counts as
            an edit, although the score charges nothing for it, as SAM requires.
        edits: mismatches, inserted and deleted bases in the span, as the CIGAR has them; -1 without an alignment, or
            for scores alone.
        span: query begin, query end, target begin, target end of the aligned part (0-based, half open).
        exact: True if no heuristic pruned the search; False without an alignment.
        status: OK, or why there is no alignment: SCORE_LIMIT (it would cost more than max_cost), DROPPED (a heuristic
            pruned all paths), MEMORY_LIMIT, LENGTH_LIMIT (both sequences together have more than 2^30 bases),
            SCORE_RANGE (the score does not fit 32 bits).
    """

    score: int
    cigar: str
    edits: int
    span: tuple[int, int, int, int]
    exact: bool = True
    status: Status = Status.OK

    @property
    def aligned(self) -> bool:
        """True if there is an alignment."""
        return self.status == Status.OK

    def __repr__(self) -> str:
        shown = f"score={self.score}, cigar={self.cigar!r}, edits={self.edits}, span={self.span}, exact={self.exact}"
        return f"Alignment({shown}{'' if self.aligned else f', status={self.status.name}'})"


@dataclass(frozen=True, eq=False, repr=False)
class AlignmentBatch(batch.AlignmentBatch):
    """Alignments of n pairs as numpy columns, in the order of the pairs; indexing and iteration give Alignments.

    >>> import wfacli
    >>> with wfacli.Aligner(metric="edit") as aligner:
    ...     done = aligner.align_batch(["ACGT", "AAAA"], ["AGGT", "AAA"])
    >>> done.score, done.edits, done.cigars()
    (array([-1, -1], dtype=int32), array([1, 1], dtype=int32), ['1=1X2=', '1I3='])
    >>> done[1]
    Alignment(score=-1, cigar='1I3=', edits=1, span=(0, 4, 0, 3), exact=True)
    >>> print(done.to_paf(), end="")  # doctest: +NORMALIZE_WHITESPACE
    pair1  4  0  4  +  pair1  4  0  4  3  4  255  NM:i:1  AS:i:-1  de:f:0.2500  tp:A:P  cg:Z:1=1X2=
    pair2  4  0  4  +  pair2  3  0  3  3  4  255  NM:i:1  AS:i:-1  de:f:0.2500  tp:A:P  cg:Z:1I3=

    Attributes:
        status: u8[n], values of wfacli.Status; 0 with an alignment.
        cut: u8[n], 1 where a heuristic pruned the search, so that a better alignment may exist; 0 without an
            alignment, which is never exact.
        score: i32[n], as in Alignment; NO_SCORE without an alignment.
        span: i32[n, 4], q_beg q_end t_beg t_end in bases, half open; zeros without an alignment.
        cigar: u32[C], operations of all rows: length << 4 | operation, numbered as in BAM (SAM specification, 4.2:
            1 for I, 2 for D, 7 for =, 8 for X).
        cigar_start: i64[n + 1]; row i has cigar[cigar_start[i]:cigar_start[i + 1]].
        origin: u8[n], index in kernels of the kernel that aligned the row.
        kernels: names of the kernels.
        ordinal: not used here.
        pairs: the sequences, as they were packed.
        spec: the options that the alignments were computed with.
    """

    pairs: PairBatch
    spec: AlignSpec

    # Batches are equal only if they are the same object: comparing arrays gives no single truth value.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        aligned = int((self.status == Status.OK).sum())
        return (
            f"<AlignmentBatch: {self.spec.metric}, {self.spec.mode}, {counted(len(self), 'pair')}, {aligned} aligned>"
        )

    def __iter__(self) -> Iterator[Alignment]:
        for first in range(0, len(self), _ROWS):
            yield from self._rows(first, min(first + _ROWS, len(self)))

    def __getitem__(self, row: int) -> Alignment:
        """Return one pair's alignment; its status says if there is none. Iteration over the batch is much faster.

        Raises:
            IndexError: there is no such row.
            TypeError: the index is not an integer.
        """
        if not -len(self) <= operator.index(row) < len(self):
            raise IndexError(f"row {row} of {len(self)} pairs")
        row = range(len(self))[row]
        return next(self._rows(row, row + 1))

    def _rows(self, first: int, last: int) -> Iterator[Alignment]:
        rows, starts = slice(first, last), self.cigar_start[first : last + 1]
        texts = cigar_texts(self.cigar, starts, False)
        edits = _edits(cigar_counts(self.cigar, starts).reshape(-1, 4), self.status[rows], self.spec)
        status = self.status[rows]
        statuses = map(Status, status.tolist()) if status.any() else repeat(Status.OK)
        spans = map(tuple, self.span[rows].tolist())
        columns = zip(
            self.score[rows].tolist(),
            texts,
            edits.tolist(),
            spans,
            ((self.cut[rows] == 0) & (status == Status.OK)).tolist(),
            statuses,
            strict=False,
        )
        # Same as Alignment(*row), without a Python call for each row.
        return map(partial(tuple.__new__, Alignment), columns)

    def cigars(self, cigar_m: bool = False) -> list[str]:
        """Return the CIGARs of all pairs (n strings), of the spans only; "*" where nothing is aligned.

        Args:
            cigar_m: write M instead of = and X.
        """
        return cigar_texts(self.cigar, self.cigar_start, cigar_m)

    @cached_property
    def operation_counts(self) -> I32:
        """i32[n, 4]: matches, mismatches, inserted and deleted bases of each alignment; zeros without a CIGAR."""
        return cigar_counts(self.cigar, self.cigar_start).reshape(-1, 4)

    @property
    def edits(self) -> I32:
        """i32[n]: mismatches, inserted and deleted bases; -1 without an alignment, or for scores alone."""
        return _edits(self.operation_counts, self.status, self.spec)

    @property
    def identity(self) -> npt.NDArray[np.float64]:
        """f64[n]: matches per alignment column (aligned pairs and gap bases); nan without columns."""
        columns = self.operation_counts.sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.operation_counts[:, 0] / columns)

    def to_paf(self, cigar_m: bool = False, md: bool = False, cs: bool = False) -> str:
        """Return the alignments as PAF, one line a pair, in order.

        Pairs are named pair1, pair2 and so on unless their batch has names.

        Args:
            cigar_m: write M instead of = and X in cg:Z.
            md: write MD:Z tags.
            cs: write cs:Z tags in short form.

        Raises:
            ValueError: there are only scores, which are not enough for PAF.
        """
        return self._text(Format.PAF, cigar_m, md, cs, False)

    def to_sam(self, cigar_m: bool = False, md: bool = False, cs: bool = False, header: bool = True) -> str:
        """Return the alignments as SAM, one record a pair, in order; pairs without an alignment are unmapped.

        Names are those of to_paf.

        Args:
            cigar_m: write M instead of = and X.
            md: write MD:Z tags.
            cs: write cs:Z tags in short form.
            header: write a complete file, with names and lengths of the targets; False for records only.

        Raises:
            ValueError: there are only scores, which are not enough for SAM.
            InputError: names that SAM does not allow, or targets with the same name and different lengths.
        """
        return self._text(Format.SAM, cigar_m, md, cs, header)

    def _text(self, format_: Format, cigar_m: bool, md: bool, cs: bool, header: bool) -> str:
        if self.spec.score_only:
            raise ValueError("scores alone are not enough for SAM or PAF")
        output = OutputSpec(format_, CigarStyle.M if cigar_m else CigarStyle.EQX, md, cs)
        config = Config(spec=self.spec, output=output, command_line="wfacli.AlignmentBatch.to_sam")
        if format_ is Format.SAM:
            for _ in with_sam_names(iter([self.pairs]), "the batch", "the batch"):
                pass
        text, _ = Formatter.of(config).format(self.pairs, self)
        pieces = [_decoded(text)]
        if header:
            from . import __version__

            targets = sq_lines("the batch", iter([named_targets("the batch", self.pairs)]))
            pieces[:0] = map(_decoded, header_around(targets, config, __version__))
        return "".join(pieces)


def _edits(counts: I32, status: batch.U8, spec: AlignSpec) -> I32:
    if spec.score_only:
        return np.full(len(counts), -1, np.int32)
    return np.where(status == Status.OK, counts[:, 1:].sum(axis=1, dtype=np.int32), np.int32(-1))


def _decoded(text: bytes | batch.U8) -> str:
    # Names read from files may contain any bytes.
    return str(text if isinstance(text, bytes) else text.data, "utf-8", "surrogateescape")
