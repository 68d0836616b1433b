"""Alignments as SAM, PAF or TSV text."""

from __future__ import annotations

from typing import Any

from ..._native import FormatOptions, format_batch
from ...config import Ambiguous, CigarStyle, Config, Format, OutputSpec, Penalties
from ...core.batch import U8, AlignmentBatch, PairBatch
from ...scoring.statistics import Significance


def tsv_titles(scores_only: bool, heuristic: bool, second: bool = False, mapped: bool = False) -> bytes:
    """The first line of TSV: whether there are scores alone, marks of heuristics, second best scores, mappings."""
    titles = ["query", "target", "score"]
    if not scores_only:
        titles += ["edits", "identity", "query_start", "query_end", "target_start", "target_end", "cigar"]
    if mapped:
        titles += ["strand", "mapq"]
    if second:
        titles.append("second_best")
    if heuristic:
        titles.append("heuristic")
    return "\t".join(titles).encode() + b"\n"


class Formatter:
    """Writes batches of alignments as text; safe to share between threads."""

    def __init__(
        self,
        out: OutputSpec,
        *,
        scores_only: bool,
        heuristic: bool,
        second: bool = False,
        ambiguous: Ambiguous = Ambiguous.MISMATCH,
        mapped: bool = False,
        significance: Significance | None = None,
        penalties: Penalties | None = None,
    ) -> None:
        """Takes what else there is to write.

        Args:
            out: format and tags.
            scores_only: there are no CIGARs.
            heuristic: alignments may be marked as found by a heuristic.
            second: there are second best scores.
            ambiguous: WILDCARD where '=' may hold what SAM calls mismatches.
            mapped: batches have Mapped columns.
            significance: of scores, for BLAST's table.
            penalties: what scores are made of, for the score of an alignment's best part.
        """
        self.titles = tsv_titles(scores_only, heuristic, second, mapped)
        self._options = FormatOptions(
            format=out.format.value,
            ambiguous=ambiguous.code,
            cigar_m=out.cigar is CigarStyle.M,
            md=out.md,
            cs=out.cs,
            scores_only=scores_only,
            heuristic=heuristic,
            second=second,
            hard_clip=out.hard_clip,
            read_group=out.read_group_id if out.format is Format.SAM else "",
            significance=significance.parameters if significance else (0.0, 0.0, 1),
            prices=(penalties.match, penalties.mismatch, list(penalties.gaps)) if penalties else (0, 0, []),
        )

    @classmethod
    def of(cls, config: Config, mapped: bool = False) -> Formatter:
        """What a configuration of `align` asks for."""
        spec = config.spec
        return cls(
            config.output,
            scores_only=spec.score_only,
            heuristic=bool(spec.heuristics),
            ambiguous=spec.ambiguous,
            mapped=mapped,
            penalties=spec.penalties,
        )

    def format(self, pairs: PairBatch, alignments: AlignmentBatch) -> tuple[U8, dict[str, Any]]:
        """(text u8[...], sums over its records)."""
        return format_batch(pairs, alignments, self._options)
