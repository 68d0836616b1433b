"""Alignments as SAM, PAF or TSV text."""

from __future__ import annotations

from typing import Any

from .._native import FormatOptions, format_batch
from ..batch import U8, AlignmentBatch, PairBatch
from ..config import AlignSpec, CigarStyle, Config, Format


def tsv_titles(spec: AlignSpec) -> bytes:
    """The first line of TSV."""
    titles = ["query", "target", "score"]
    if not spec.score_only:
        titles += ["edits", "identity", "query_start", "query_end", "target_start", "target_end", "cigar"]
    if spec.heuristics:
        titles.append("heuristic")
    return "\t".join(titles).encode() + b"\n"


class Formatter:
    """Writes batches of alignments as text; safe to share between threads."""

    def __init__(self, config: Config) -> None:
        out = config.output
        self._options = FormatOptions(
            format=out.format.value,
            ambiguous=config.spec.ambiguous.code,
            cigar_m=out.cigar is CigarStyle.M,
            md=out.md,
            cs=out.cs,
            scores_only=config.spec.score_only,
            heuristic=bool(config.spec.heuristics),
            read_group=out.read_group_id if out.format is Format.SAM else "",
        )

    def format(self, pairs: PairBatch, alignments: AlignmentBatch) -> tuple[U8, dict[str, Any]]:
        """(text u8[...], sums over its records)."""
        return format_batch(pairs, alignments, self._options)
