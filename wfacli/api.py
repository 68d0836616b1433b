"""Alignments of sequences in memory, for Python programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import cigar
from .batch import AlignmentBatch, Status
from .config import AlignSpec, Ambiguous, Limits, Metric, Penalties
from .engines.cpu import CpuEngine
from .engines.rescue import align_batch
from .errors import WfacliError
from .estimate import with_estimates
from .io.memory import pairs_of
from .stats import Stats


@dataclass(frozen=True)
class Alignment:
    """An optimal global alignment of a query with a target.

    Attributes:
        score: minus the cost.
        cigar: operations in the SAM sense (I consumes the query, D the target), with = and X; "*" when both
            sequences are empty.
        edits: mismatches, inserted and deleted letters.
    """

    score: int
    cigar: str
    edits: int


def align(
    query: str | bytes,
    target: str | bytes,
    *,
    metric: str = "affine",
    penalties: tuple[int, int, int] = (4, 6, 2),
    ambiguous: str = "mismatch",
) -> Alignment:
    """Aligns one pair globally; see align_pairs."""
    return align_pairs([query], [target], metric=metric, penalties=penalties, ambiguous=ambiguous)[0]


def align_pairs(
    queries: Sequence[str | bytes],
    targets: Sequence[str | bytes],
    *,
    metric: str = "affine",
    penalties: tuple[int, int, int] = (4, 6, 2),
    ambiguous: str = "mismatch",
    threads: int = 1,
) -> list[Alignment]:
    """Aligns query i with target i, globally and exactly.

    Args:
        queries: sequences.
        targets: as many sequences.
        metric: "edit", or "affine" for gaps that cost open + length * extend.
        penalties: mismatch, open and extend of "affine".
        ambiguous: how letters other than A, C, G, T compare: "mismatch", "wildcard" or "literal".
        threads: CPU threads.

    Raises:
        ValueError: an unknown metric or rule, or not as many targets as queries.
        UsageError: penalties out of range.
        InputError: a byte that cannot stand in a sequence.
        WfacliError: a pair needs more memory than its bound.
    """
    spec = AlignSpec(Metric(metric), Penalties(*penalties), Ambiguous(ambiguous))
    pairs, limits, stats = with_estimates(pairs_of(queries, targets)), Limits(), Stats()
    engine = CpuEngine(spec, limits, threads, stats=stats)
    try:
        result = align_batch(engine, pairs, spec, limits, stats)
    finally:
        engine.close()
    return [_alignment(result, row) for row in range(len(pairs))]


def _alignment(result: AlignmentBatch, row: int) -> Alignment:
    status = Status(int(result.status[row]))
    if status is not Status.OK:
        raise WfacliError(f"pair {row + 1} has no alignment: {status.name}")
    runs = result.cigar[result.cigar_start[row] : result.cigar_start[row + 1]]
    return Alignment(int(result.score[row]), cigar.to_text(runs), cigar.edits(runs))
