"""Alignments of sequences in memory, for Python programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType

from . import batch, cigar
from .batch import PairBatch, Status
from .config import (
    AlignSpec,
    Ambiguous,
    CigarStyle,
    Config,
    Format,
    FreeEnds,
    Heuristics,
    Limits,
    Metric,
    Mode,
    OutputSpec,
    Penalties,
)
from .cores import usable_cores
from .engines.cpu import CpuEngine
from .engines.rescue import align_batch
from .errors import WfacliError
from .estimate import with_estimates
from .io.format import Formatter
from .io.memory import pairs_of
from .stats import Stats


@dataclass(frozen=True)
class Alignment:
    """An alignment of a query with a target.

    Attributes:
        score: in the scheme asked for; minus the cost where a match earns nothing.
        cigar: operations in the SAM sense (I consumes the query, D the target), with = and X, of the span only;
            "*" where nothing is aligned, or where only the score was asked for.
        edits: mismatches, inserted and deleted letters of the span; -1 where only the score was asked for.
        span: query begin, query end, target begin, target end (half open): what is aligned.
        exact: whether no heuristic left anything out.
    """

    score: int
    cigar: str
    edits: int
    span: tuple[int, int, int, int]
    exact: bool = True


@dataclass(frozen=True)
class AlignmentBatch(batch.AlignmentBatch):
    """Alignments of n pairs as numpy columns, in the order of the pairs; see wfacli.batch.AlignmentBatch.

    Iterating gives an Alignment for each pair, and so does an index.
    """

    pairs: PairBatch
    spec: AlignSpec

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[Alignment]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: int) -> Alignment:
        """A pair's alignment. Raises WfacliError where it has none, IndexError."""
        row = range(len(self))[row]
        status = Status(int(self.status[row]))
        if status is not Status.OK:
            raise WfacliError(f"pair {row + 1} has no alignment: {status.name}")
        runs = self.cigar[self.cigar_start[row] : self.cigar_start[row + 1]]
        q_beg, q_end, t_beg, t_end = self.span[row].tolist()
        edits = -1 if self.spec.score_only else cigar.edits(runs)
        span = (q_beg, q_end, t_beg, t_end)
        return Alignment(int(self.score[row]), cigar.to_text(runs), edits, span, not self.cut[row])

    def cigars(self) -> list[str]:
        """Every pair's CIGAR; "*" where nothing is aligned."""
        text = cigar.to_text
        starts = self.cigar_start.tolist()
        return [text(self.cigar[a:b]) for a, b in pairwise(starts)]

    def to_paf(self, cigar_m: bool = False, md: bool = False, cs: bool = False) -> str:
        """PAF lines; pairs are named pair1, pair2, … Raises ValueError for scores alone."""
        return self._text(Format.PAF, cigar_m, md, cs)

    def to_sam(self, cigar_m: bool = False, md: bool = False, cs: bool = False) -> str:
        """SAM records without a header; see to_paf."""
        return self._text(Format.SAM, cigar_m, md, cs)

    def _text(self, format_: Format, cigar_m: bool, md: bool, cs: bool) -> str:
        if self.spec.score_only:
            raise ValueError("scores alone make no SAM or PAF")
        output = OutputSpec(format_, CigarStyle.M if cigar_m else CigarStyle.EQX, md, cs)
        text, _ = Formatter(Config(spec=self.spec, output=output)).format(self.pairs, self)
        return text.tobytes().decode()


class Aligner:
    """Aligns many pairs at a time, on threads of its own; a context manager."""

    def __init__(
        self,
        *,
        metric: str = "affine",
        penalties: Sequence[int] | None = None,
        match: int = 0,
        mode: str = "global",
        free: tuple[int, int, int, int] = (0, 0, 0, 0),
        ambiguous: str = "mismatch",
        score_only: bool = False,
        heuristics: Heuristics | None = None,
        max_cost: int | None = None,
        threads: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Says what to compute.

        Args:
            metric: "edit", "indel", "linear", "affine" or "affine2p".
            penalties: of the metric (config.PENALTIES has their names and defaults).
            match: what a match earns.
            mode: "global", "hw" (query inside target), "overlap", "ends-free" or "extension".
            free: of "ends-free": letters of query begin, query end, target begin and target end that may stay
                unaligned.
            ambiguous: how letters other than A, C, G, T compare: "mismatch", "wildcard" or "literal".
            score_only: no CIGARs.
            heuristics: ways to leave work out, if any.
            max_cost: pairs that cost more have no alignment.
            threads: CPU threads; all that the process may use unless given.
            limits: memory of a pair.

        Raises:
            ValueError: an unknown metric, mode or rule.
            UsageError: penalties out of range, or options that do not go together.
        """
        chosen = Mode(mode)
        self.spec = AlignSpec(
            metric=Metric(metric),
            penalties=Penalties.of(Metric(metric), penalties, match),
            ambiguous=Ambiguous(ambiguous),
            mode=chosen,
            free=FreeEnds(*free) if any(free) else FreeEnds.of(chosen),
            score_only=score_only,
            heuristics=heuristics or Heuristics(),
            max_cost=max_cost,
        )
        self.stats = Stats()
        self._limits = limits or Limits()
        self._engine = CpuEngine(self.spec, self._limits, threads or usable_cores(), stats=self.stats)

    def align_batch(self, queries: Sequence[str | bytes], targets: Sequence[str | bytes]) -> AlignmentBatch:
        """Aligns query i with target i.

        Raises:
            ValueError: not as many targets as queries.
            InputError: a byte that cannot stand in a sequence.
        """
        pairs = with_estimates(pairs_of(queries, targets), self.spec)
        done = align_batch(self._engine, pairs, self.spec, self._limits, self.stats)
        columns = {f.name: getattr(done, f.name) for f in dataclasses.fields(done)}
        return AlignmentBatch(**columns, pairs=pairs, spec=self.spec)

    def close(self) -> None:
        """Ends the threads."""
        self._engine.close()

    def __enter__(self) -> Aligner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def align(query: str | bytes, target: str | bytes, **options: object) -> Alignment:
    """Aligns one pair; options are Aligner's."""
    return align_pairs([query], [target], **options)[0]


def align_pairs(queries: Sequence[str | bytes], targets: Sequence[str | bytes], **options: object) -> list[Alignment]:
    """Aligns query i with target i; options are Aligner's, and threads is 1 unless given."""
    with Aligner(**{"threads": 1, **options}) as aligner:  # type: ignore[arg-type]
        return list(aligner.align_batch(queries, targets))
