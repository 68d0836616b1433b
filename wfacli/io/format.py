"""Alignments as SAM, PAF or TSV text."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import FormatOptions, format_batch
from ..batch import U8, AlignmentBatch, PairBatch
from ..config import CigarStyle, Config, Format
from ..errors import InputError

TSV_TITLES = b"query\ttarget\tscore\tedits\tidentity\tcigar\n"
_SAM_NAME = 254  # letters; longer names do not fit BAM, and samtools refuses them


class Formatter:
    """Writes batches of alignments as text; safe to share between threads."""

    def __init__(self, config: Config) -> None:
        out = config.output
        self._sam = out.format is Format.SAM
        self._options = FormatOptions(
            format=out.format.value,
            ambiguous=config.spec.ambiguous.code,
            cigar_m=out.cigar is CigarStyle.M,
            md=out.md,
            cs=out.cs,
            read_group=out.read_group_id if self._sam else "",
        )

    def format(self, pairs: PairBatch, alignments: AlignmentBatch) -> tuple[U8, dict[str, Any]]:
        """(text u8[...], sums over its records).

        Raises:
            InputError: a query's name is longer than SAM allows.
        """
        if self._sam:
            long = np.flatnonzero(pairs.records.q_name_len > _SAM_NAME)
            if len(long):
                name = pairs.records.query_name(int(long[0]))
                raise InputError("QUERY", f"SAM allows names of {_SAM_NAME} letters; --format paf any", name)
        return format_batch(pairs, alignments, self._options)
