"""Alignments as SAM, PAF or TSV text."""

from __future__ import annotations

from typing import Any

from .._native import FormatOptions, format_batch
from ..batch import U8, AlignmentBatch, PairBatch
from ..config import CigarStyle, Config, Format

TSV_TITLES = b"query\ttarget\tscore\tedits\tidentity\tcigar\n"


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
            read_group=out.read_group_id if out.format is Format.SAM else "",
        )

    def format(self, pairs: PairBatch, alignments: AlignmentBatch) -> tuple[U8, dict[str, Any]]:
        """(text u8[...], sums over its records)."""
        return format_batch(pairs, alignments, self._options)
