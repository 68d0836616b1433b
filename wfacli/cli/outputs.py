"""Options of the batch commands for their output, and the OutputSpec made of them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..config import SORT_MEMORY, CigarStyle, Container, Format, OutputSpec, parse_read_group
from ..errors import UsageError
from ..io.write.suffixes import compressor_of
from .groups import OUTPUT
from .scoring import bytes_of


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
        help="Write MD5 sums of the reference's sequences (M5) to the header. With --mappings.",
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
            show_default="from the suffix of -o, else sam",
            metavar="NAME",
            help="sam, bam, cram, paf, tsv or blast6.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    cigar: Annotated[
        CigarStyle,
        typer.Option("--cigar", help="CIGAR operations: = and X (eqx), or M (m). CRAM has M.", rich_help_panel=OUTPUT),
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
            help=r"Read group, like '@RG\tID:run1\tSM:me'. Each record gets its RG tag. Without it, records keep "
            "the read groups of reads and mappings in SAM and BAM.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    header: Annotated[
        bool,
        typer.Option("--header/--no-header", help="Write the header of SAM and TSV.", rich_help_panel=OUTPUT),
    ] = True
    sort: Annotated[
        bool,
        typer.Option("--sort", help="Sort SAM, BAM or CRAM by position.", rich_help_panel=OUTPUT),
    ] = False
    sort_memory: Annotated[
        str | None,
        typer.Option(
            "--sort-memory",
            metavar="SIZE",
            show_default="768M",
            help="Memory of records that are sorted, for all threads. Others wait in a temporary file in TMPDIR.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    write_index: Annotated[
        bool,
        typer.Option(
            "--write-index",
            help="Write the index of sorted BAM or CRAM. It is .bai or .crai; .csi if a target is longer than 2^29.",
            rich_help_panel=OUTPUT,
        ),
    ] = False
    compression: Annotated[
        int | None,
        typer.Option(
            "--compression",
            min=0,
            max=9,
            show_default="6; for CRAM htslib's",
            metavar="N",
            help="Compression level of BAM, CRAM and .gz, 0 to 9. Level 1 takes less time than 6, and files "
            "are larger; 0 is for pipes.",
            rich_help_panel=OUTPUT,
        ),
    ] = None

    def spec(
        self,
        command: str,
        *,
        score_only: bool = False,
        hard_clip: bool | None = None,
        assembly: bool = False,
        checksums: bool = False,
        piped: bool = False,
        tell: Callable[[str], None] | None = None,
    ) -> OutputSpec:
        """Return the OutputSpec of these options.

        Args:
            command: name of the command, for messages.
            score_only: True if only scores are computed.
            hard_clip: see OutputSpec; None if that is not given.
            assembly: True if the reads are an assembly, whose supplementary records are then hard-clipped: a sequence
                may have thousands of them.
            checksums: see OutputSpec.
            piped: True if targets can be read only once, so that SAM cannot begin with their names: PAF is then the
                default, unless other options are of SAM alone.
            tell: called with a message if PAF is chosen for that reason; None: it is not said.

        Raises:
            UsageError: options are incompatible.
            WfacliError: pysam, which writes CRAM, is missing.
        """
        default = OutputFormat.TSV if score_only else OutputFormat.SAM
        if piped and self.header and not (score_only or self.sort or self.read_group or hard_clip):
            default = OutputFormat.PAF
        format_, bgzip, chosen = _format_of(command, self.output, self.format_, default)
        if tell and format_ is OutputFormat.PAF and not chosen:
            tell("writing PAF: SAM begins with the names of all targets, which a pipe gives only once (see --format)")
        container = format_.container
        if score_only and format_ is not OutputFormat.TSV:
            raise UsageError(f"--score-only writes TSV, and {format_.upper()} contains alignments: give --format tsv")
        if not container and self.read_group is not None:
            raise UsageError(f"--read-group is for SAM, BAM and CRAM, and the output is {format_.upper()}")
        if not container and format_ is not OutputFormat.PAF and (self.md or self.cs):
            raise UsageError(f"--md and --cs are tags of SAM and PAF; {format_.upper()} has none")
        self._refuse_storage(format_, bool(hard_clip), checksums, bgzip)
        if container is Container.CRAM:
            from ..io.write.hts import require_pysam  # other formats need not wait for it

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
            assembly and bool(container) if hard_clip is None else hard_clip,
            checksums,
            bgzip,
            self.compression,
            SORT_MEMORY if self.sort_memory is None else max(1, bytes_of("--sort-memory", self.sort_memory)),
        )

    def _refuse_storage(self, format_: OutputFormat, hard_clip: bool, checksums: bool, bgzip: bool) -> None:
        binary = format_ in (OutputFormat.BAM, OutputFormat.CRAM)
        if not self.header and (binary or self.sort):
            raise UsageError("BAM, CRAM and sorted files have a header; --no-header is for SAM and TSV")
        if self.sort and not format_.container:
            raise UsageError(f"--sort is for SAM, BAM and CRAM, and the output is {format_.upper()}")
        if self.sort_memory is not None and not self.sort:
            raise UsageError("--sort-memory is for --sort")
        if self.write_index and not (binary and self.sort and self.output not in (None, "-")):
            raise UsageError("--write-index is for sorted BAM and CRAM in a file: give --sort and -o FILE.bam")
        if self.compression is not None and not (binary or bgzip):
            raise UsageError(
                f"--compression is for BAM, CRAM and names in .gz, and the output is plain {format_.upper()}"
            )
        if hard_clip and not format_.container:
            raise UsageError(f"--clip is for SAM, BAM and CRAM, and the output is {format_.upper()}")
        if checksums and not (format_.container and self.header):
            raise UsageError("--checksums go to SAM's header, and there is none")


def format_of_suffix(path: str) -> OutputFormat | None:
    """Return the format that the suffix of an output names, or None."""
    inner = Path(path).with_suffix("") if compressor_of(path) else Path(path)
    return _SUFFIXES.get(inner.suffix.lower())


def _format_of(
    command: str, path: str | None, chosen: OutputFormat | None, default: OutputFormat
) -> tuple[OutputFormat, bool, bool]:
    """Return the format of an output, whether bgzip compresses it, and whether the user chose the format.

    Raises:
        UsageError: name and option differ, or the name is of something else.
    """
    program = compressor_of(path)
    inner = Path(path).with_suffix("") if path and program else Path(path or "")
    named = format_of_suffix(path or "")
    if program == "zstd":
        raise UsageError(f"zstd is not written: wfacli {command} … | zstd > {path}, or -o {inner}.gz")
    if path and chosen is named is None:
        from ..dotplot.picture import refuse_picture  # it imports numpy, and few names need it

        refuse_picture(path, "wfacli dotplot --alignments FILE draws them")
    format_ = chosen or named or default
    if named not in (None, OutputFormat.TSV, format_):
        raise UsageError(f"{path} is named as {named.upper()}, and --format is {format_}: change one of them")
    if program and format_ in (OutputFormat.BAM, OutputFormat.CRAM):
        raise UsageError(f"{format_.upper()} is compressed already: give -o {inner}")
    return format_, program is not None, bool(chosen or named)
