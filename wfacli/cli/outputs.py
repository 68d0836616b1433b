"""Options that say how alignments are written, as an OutputSpec."""

from __future__ import annotations

from pathlib import Path

from ..config import CigarStyle, Format, OutputSpec, parse_read_group
from ..errors import UsageError


def output_spec(
    command: str,
    path: str | None,
    chosen: Format | None,
    score_only: bool,
    cigar: CigarStyle,
    md: bool,
    cs: bool,
    header: bool,
    read_group: str | None,
) -> OutputSpec:
    """What the options of a command ask for. Raises UsageError where they do not go together."""
    format_ = chosen or _format_of(command, path, Format.TSV if score_only else Format.SAM)
    if score_only and format_ is not Format.TSV:
        raise UsageError(f"--score-only writes TSV, and {format_.value.upper()} holds alignments: give --format tsv")
    if format_ is not Format.SAM and read_group is not None:
        raise UsageError(f"--read-group belongs to SAM, and the output is {format_.value.upper()}")
    if format_ not in (Format.SAM, Format.PAF) and (md or cs):
        raise UsageError(f"--md and --cs are tags of SAM and PAF; {format_.value.upper()} has none")
    return OutputSpec(format_, cigar, md, cs, header, "" if read_group is None else parse_read_group(read_group))


def _format_of(command: str, path: str | None, usual: Format) -> Format:
    suffix = Path(path).suffix.lower() if path else ""
    if suffix in (".bam", ".cram"):
        flag = "-b" if suffix == ".bam" else "-C"
        raise UsageError(
            f"{suffix[1:].upper()} is not written yet: wfacli {command} … | samtools view {flag} -o {path}"
        )
    if suffix in (".gz", ".bgz", ".zst"):
        raise UsageError(f"the output is not compressed by wfacli: wfacli {command} … | gzip > {path}")
    return {".sam": Format.SAM, ".paf": Format.PAF, ".tsv": Format.TSV}.get(suffix, usual)
