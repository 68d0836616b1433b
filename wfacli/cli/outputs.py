"""Options of the batch commands for their output, and the OutputSpec made of them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..config import CigarStyle, Container, Format, OutputSpec, parse_read_group
from ..dotplot.picture import refuse_picture
from ..errors import UsageError
from ..io.write.hts import require_pysam
from ..io.write.output import compressor_of
from .groups import OUTPUT


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


ChecksumsOption = Annotated[
    bool,
    typer.Option(
        "--checksums",
        help="With --mappings: MD5 sums of the reference's sequences in the header (M5).",
        rich_help_panel=OUTPUT,
    ),
]


@dataclass(frozen=True)
class Records:
    """How alignments are written."""

    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default="standard output",
            help="Output file. It gets its name when it is complete.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    format_: Annotated[
        OutputFormat | None,
        typer.Option(
            "--format",
            show_default="by the suffix of --output, else sam; tsv with --score-only",
            help="Output format.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    cigar: Annotated[
        CigarStyle,
        typer.Option("--cigar", help="eqx: = and X. m: M for both.", rich_help_panel=OUTPUT),
    ] = CigarStyle.EQX
    md: Annotated[bool, typer.Option("--md", help="Add the MD tag.", rich_help_panel=OUTPUT)] = False
    cs: Annotated[bool, typer.Option("--cs", help="Add the cs tag (short form).", rich_help_panel=OUTPUT)] = False
    read_group: Annotated[
        str | None,
        typer.Option(
            "-R",
            "--read-group",
            metavar="LINE",
            show_default=False,
            help=r"SAM read group, like '@RG\tID:run1\tSM:sample1'; each record gets its RG tag. Without it, records "
            "keep the read groups of reads and mappings in SAM and BAM.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    header: Annotated[
        bool,
        typer.Option("--header/--no-header", help="Write a header in SAM and TSV.", rich_help_panel=OUTPUT),
    ] = True
    sort: Annotated[
        bool,
        typer.Option("--sort", help="Sort SAM, BAM or CRAM by position.", rich_help_panel=OUTPUT),
    ] = False
    write_index: Annotated[
        bool,
        typer.Option(
            "--write-index",
            help="Write the index of sorted BAM or CRAM beside it (.bai, .crai; .csi where a target is longer than "
            "2^29).",
            rich_help_panel=OUTPUT,
        ),
    ] = False
    compression: Annotated[
        int | None,
        typer.Option(
            "--compression",
            min=0,
            max=9,
            show_default="6 for BAM, htslib's for CRAM",
            help="Compression level of BAM and CRAM. Compared with 6, level 1 takes a quarter of the time for BAM "
            "that is a tenth larger; 0 is for pipes.",
            rich_help_panel=OUTPUT,
        ),
    ] = None

    def spec(
        self, command: str, *, score_only: bool = False, hard_clip: bool = False, checksums: bool = False
    ) -> OutputSpec:
        """Return the OutputSpec of these options.

        Args:
            command: name of the command, for messages.
            score_only: True if only scores are computed.
            hard_clip: see OutputSpec.
            checksums: see OutputSpec.

        Raises:
            UsageError: options are incompatible.
            WfacliError: pysam, which writes CRAM, is missing.
        """
        format_ = self.format_ or _format_of(
            command, self.output, OutputFormat.TSV if score_only else OutputFormat.SAM
        )
        container = format_.container
        if score_only and format_ is not OutputFormat.TSV:
            raise UsageError(f"--score-only writes TSV, and {format_.upper()} contains alignments: give --format tsv")
        if not container and self.read_group is not None:
            raise UsageError(f"--read-group belongs to SAM, and the output is {format_.upper()}")
        if not container and format_ is not OutputFormat.PAF and (self.md or self.cs):
            raise UsageError(f"--md and --cs are tags of SAM and PAF; {format_.upper()} has none")
        self._refuse_storage(format_, hard_clip, checksums)
        if container is Container.CRAM:
            require_pysam()
        return OutputSpec(
            Format.SAM if container else Format(format_.value),
            self.cigar,
            self.md,
            self.cs,
            self.header,
            "" if self.read_group is None else parse_read_group(self.read_group),
            container or Container.SAM,
            self.sort,
            self.write_index,
            hard_clip,
            checksums,
            self.compression,
        )

    def _refuse_storage(self, format_: OutputFormat, hard_clip: bool, checksums: bool) -> None:
        binary = format_ in (OutputFormat.BAM, OutputFormat.CRAM)
        if not self.header and (binary or self.sort):
            raise UsageError("BAM, CRAM and sorted files have a header; --no-header is for SAM and TSV")
        if self.sort and not format_.container:
            raise UsageError(f"--sort is for SAM, BAM and CRAM, and the output is {format_.upper()}")
        if self.write_index and not (binary and self.sort and self.output not in (None, "-")):
            raise UsageError("--write-index is for sorted BAM and CRAM in a file: give --sort and -o FILE.bam")
        if self.compression is not None and not binary:
            raise UsageError(f"--compression is for BAM and CRAM, and the output is {format_.upper()}")
        if hard_clip and not format_.container:
            raise UsageError(f"--clip is for SAM, BAM and CRAM, and the output is {format_.upper()}")
        if checksums and not (format_.container and self.header):
            raise UsageError("--checksums go to SAM's header, and there is none")


def format_of_suffix(path: str) -> str | None:
    """Return the format that the suffix of an output names, or None."""
    return _SUFFIXES.get(Path(path).suffix.lower())


def _format_of(command: str, path: str | None, default: OutputFormat) -> OutputFormat:
    if program := compressor_of(path):
        raise UsageError(f"the output is not compressed by wfacli: wfacli {command} … | {program} > {path}")
    refuse_picture(path, "wfacli dotplot --path ALIGNMENTS draws them")
    return _SUFFIXES.get(Path(path).suffix.lower(), default) if path else default
