"""Formatting of alignments as SAM, PAF or TSV text, or as BAM records."""

from __future__ import annotations

from typing import Any

from ..._native import BatchFigures, FormatOptions, TargetIds, format_batch
from ...config import Ambiguous, CigarStyle, Config, Container, Format, OutputSpec, Penalties
from ...core.batch import U8, AlignmentBatch, PairBatch
from ...errors import OutputError
from ...scoring.statistics import Significance


def tsv_titles(scores_only: bool, heuristic: bool, second: bool = False, mapped: bool = False) -> bytes:
    """Return the header line of TSV for scores alone, heuristic marks, second best scores and mappings."""
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
    """Formats batches of alignments; thread-safe."""

    def __init__(
        self,
        out: OutputSpec,
        *,
        scores_only: bool,
        heuristic: bool,
        second: bool = False,
        rule: int = Ambiguous.MISMATCH.code,
        mapped: bool = False,
        significance: Significance | None = None,
        penalties: Penalties | None = None,
    ) -> None:
        """Take the format, and the optional fields of its records.

        Args:
            out: format and tags.
            scores_only: alignments have no CIGARs.
            heuristic: alignments may be marked as affected by a heuristic.
            second: alignments have second best scores.
            rule: number of the rule for ambiguous bases (AlignSpec.rule), by which = and X are those of SAM.
            mapped: batches have Mapped columns.
            significance: statistics of scores, for BLAST's table.
            penalties: scoring scheme, for the score of an alignment's best part.
        """
        self.titles = tsv_titles(scores_only, heuristic, second, mapped)
        container = out.container if out.format is Format.SAM else None
        self._options = FormatOptions(
            format="bam" if container is Container.BAM else out.format.value,
            ambiguous=rule,
            # CRAM keeps no = and X, and MC is the mate's CIGAR.
            cigar_m=out.cigar is CigarStyle.M or container is Container.CRAM,
            md=out.md,
            cs=out.cs,
            scores_only=scores_only,
            heuristic=heuristic,
            second=second,
            sort=out.sort and container in (Container.SAM, Container.BAM),  # htslib sorts CRAM
            hard_clip=out.hard_clip,
            read_group=out.read_group_id if out.format is Format.SAM else "",
            significance=significance.parameters if significance else (0.0, 0.0, 1),
            operation_scores=_scores(penalties),
        )

    @classmethod
    def of(cls, config: Config, mapped: bool = False) -> Formatter:
        """Return the formatter for a configuration of `align`."""
        spec = config.spec
        return cls(
            config.output,
            scores_only=spec.score_only,
            heuristic=bool(spec.heuristics),
            rule=spec.rule,
            mapped=mapped,
            penalties=spec.penalties,
        )

    def format(
        self,
        pairs: PairBatch,
        alignments: AlignmentBatch,
        targets: TargetIds | None = None,
        figures: BatchFigures | None = None,
    ) -> tuple[U8, dict[str, Any]]:
        """Return the records of a batch, and sums over them.

        Args:
            pairs: the batch.
            alignments: its alignments.
            targets: the header's targets, which BAM and sorted records refer to.
            figures: receives the figures of the records for a report; None if there is none.

        Returns:
            (u8[...], sums): text or BAM records; if the output is sorted, frames (native/format/sorted_frames.hpp).

        Raises:
            OutputError: BAM cannot hold a record.
        """
        try:
            return format_batch(pairs, alignments, self._options, targets, figures)
        except OverflowError as error:
            raise OutputError(str(error)) from None


def _scores(penalties: Penalties | None) -> tuple[int, int, int, list[tuple[int, int]]]:
    """Return what operations score (FormatOptions), or zeros."""
    if penalties is None:
        return 0, 0, 0, []
    return penalties.match, penalties.mismatch, penalties.of_ambiguous, list(penalties.gaps)
