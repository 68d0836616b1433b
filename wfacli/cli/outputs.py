"""Conversion of the output options into an OutputSpec."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

from ..config import CigarStyle, Container, Format, OutputSpec, parse_read_group
from ..dotplot.picture import refuse_picture
from ..errors import UsageError
from ..io.write.hts import require_pysam
from ..io.write.output import compressor_of


class OutputFormat(enum.StrEnum):
    """Values of `--format`; the containers of SAM records are formats of their own."""

    SAM = "sam"
    BAM = "bam"
    CRAM = "cram"
    PAF = "paf"
    TSV = "tsv"
    BLAST6 = "blast6"

    @property
    def container(self) -> Container | None:
        """Container of SAM records; None for other formats."""
        return Container(self.value) if self.value in list(Container) else None


_SUFFIXES = {f".{f}": f for f in OutputFormat} | {".m8": OutputFormat.BLAST6}


@dataclass(frozen=True)
class Tags:
    """Options for tags and CIGARs of records; see OutputSpec."""

    cigar: CigarStyle = CigarStyle.EQX
    md: bool = False
    cs: bool = False
    read_group: str | None = None


@dataclass(frozen=True)
class Storage:
    """Options for header, order and storage of records; see OutputSpec."""

    header: bool = True
    sort: bool = False
    index: bool = False
    hard_clip: bool = False
    checksums: bool = False
    compression: int | None = None


def output_spec(
    command: str,
    path: str | None,
    chosen: OutputFormat | None,
    score_only: bool,
    tags: Tags,
    storage: Storage,
) -> OutputSpec:
    """Return the OutputSpec of a command's options.

    Args:
        command: name of the command, for messages.
        path: output path, whose suffix selects the format; None: standard output.
        chosen: `--format`; None: by the suffix.
        score_only: True if only scores are computed.
        tags: tags and CIGARs of records.
        storage: header, order and storage of records.

    Raises:
        UsageError: options are incompatible.
        WfacliError: pysam, which writes CRAM, is missing.
    """
    format_ = chosen or _format_of(command, path, OutputFormat.TSV if score_only else OutputFormat.SAM)
    container = format_.container
    if score_only and format_ is not OutputFormat.TSV:
        raise UsageError(f"--score-only writes TSV, and {format_.upper()} contains alignments: give --format tsv")
    if not container and tags.read_group is not None:
        raise UsageError(f"--read-group belongs to SAM, and the output is {format_.upper()}")
    if not container and format_ is not OutputFormat.PAF and (tags.md or tags.cs):
        raise UsageError(f"--md and --cs are tags of SAM and PAF; {format_.upper()} has none")
    _refuse_storage(path, format_, storage)
    if container is Container.CRAM:
        require_pysam()
    return OutputSpec(
        Format.SAM if container else Format(format_.value),
        tags.cigar,
        tags.md,
        tags.cs,
        storage.header,
        "" if tags.read_group is None else parse_read_group(tags.read_group),
        container or Container.SAM,
        storage.sort,
        storage.index,
        storage.hard_clip,
        storage.checksums,
        storage.compression,
    )


def _refuse_storage(path: str | None, format_: OutputFormat, storage: Storage) -> None:
    binary = format_ in (OutputFormat.BAM, OutputFormat.CRAM)
    if not storage.header and (binary or storage.sort):
        raise UsageError("BAM, CRAM and sorted files have a header; --no-header is for SAM and TSV")
    if storage.sort and not format_.container:
        raise UsageError(f"--sort is for SAM, BAM and CRAM, and the output is {format_.upper()}")
    if storage.index and not (binary and storage.sort and path not in (None, "-")):
        raise UsageError("--write-index is for sorted BAM and CRAM in a file: give --sort and -o FILE.bam")
    if storage.compression is not None and not binary:
        raise UsageError(f"--compression is for BAM and CRAM, and the output is {format_.upper()}")
    if storage.hard_clip and not format_.container:
        raise UsageError(f"--clip is for SAM, BAM and CRAM, and the output is {format_.upper()}")
    if storage.checksums and not (format_.container and storage.header):
        raise UsageError("--checksums go to SAM's header, and there is none")


def _format_of(command: str, path: str | None, default: OutputFormat) -> OutputFormat:
    if program := compressor_of(path):
        raise UsageError(f"the output is not compressed by wfacli: wfacli {command} … | {program} > {path}")
    refuse_picture(path, "wfacli dotplot --path ALIGNMENTS draws them")
    return _SUFFIXES.get(Path(path).suffix.lower(), default) if path else default
