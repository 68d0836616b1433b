"""Options of `align` and `map` for reads, a reference and mappings, with their help."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ..config import WHOLE, Ends, Format, MappingSpec, Mode, Span
from ..errors import UsageError
from .groups import MAPPED

_DEFAULT_PAD = 100


class OnError(enum.StrEnum):
    """Reaction to an invalid mapping."""

    FAIL = "fail"
    SKIP = "skip"


class Clip(enum.StrEnum):
    """Clipping of supplementary records: bases that other records of the read align."""

    SOFT = "soft"
    HARD = "hard"


def mates_option(description: str) -> Any:
    """Return the option --mates with a command's help text."""
    return typer.Option("--mates", metavar="FILE", show_default=False, help=description, rich_help_panel=MAPPED)


AsSamOption = Annotated[
    bool,
    typer.Option(
        "-a",
        help="Write SAM. That is the default; the option is accepted as in minimap2.",
        rich_help_panel=MAPPED,
    ),
]
_UNMAPPED = "--keep-unmapped/--drop-unmapped"
OnErrorOption = Annotated[
    OnError,
    typer.Option(
        "--on-error",
        help="What a faulty mapping does: fail or skip. Fail: an unknown name, a position outside its sequence, "
        "or the like ends the run. Skip: it is left out and counted.",
        rich_help_panel=MAPPED,
    ),
]


@dataclass(frozen=True)
class Mappings:
    """Mappings of reads, and what belongs to them."""

    mappings: Annotated[
        str | None,
        typer.Option(
            "--mappings",
            metavar="FILE",
            show_default=False,
            help="PAF, SAM or BAM with the positions of reads. QUERY then contains reads, and TARGET is the "
            "reference. Mappings are those of minimap2 without -c, wfmash -m and similar programs. Each "
            "becomes a record; of its CIGAR only the span is used. - is standard input, where the mappings "
            "of a read must be adjacent; in a file they may be in any order.",
            rich_help_panel=MAPPED,
        ),
    ] = None
    mates: Annotated[
        str | None,
        mates_option(
            "FASTA or FASTQ with the second reads of pairs; QUERY then has the first ones. Without it, mates are both "
            "in QUERY: in BAM, named NAME/1 and NAME/2, or the first before the second. Flags identify the mappings "
            "of mates, in SAM and BAM."
        ),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            "-x",
            "--preset",
            metavar="NAME",
            show_default=False,
            help="Scores of a minimap2 preset: map-ont, map-hifi, sr, asm5, ... AS is then scored as by minimap2. "
            "--metric, --penalties and --match replace them.",
            rich_help_panel=MAPPED,
        ),
    ] = None


@dataclass(frozen=True)
class Placement:
    """What of a mapped read is aligned to what, and which records are written; `map`."""

    span: Annotated[
        Span,
        typer.Option(
            "--span",
            help="What is aligned: extended, mapped, padded or read. Extended: the mapped parts, extended outward "
            "while the score rises, with a Z-drop; the rest is soft-clipped. Mapped: the mapped part of the "
            "read and that of the target, end to end. Padded: the mapped part of the read, anywhere in that "
            "of the target and --pad bases beside it. Read: the whole read, for reads that map to one place; "
            "a split read is aligned as a whole for each mapping, which takes long.",
            rich_help_panel=MAPPED,
        ),
    ] = Span.EXTENDED
    pad: Annotated[
        int | None,
        typer.Option(
            "--pad",
            metavar="N",
            min=0,
            max=WHOLE,
            show_default="100; extended and mapped have none",
            help="Bases of the target beside the mapped part, on either side.",
            rich_help_panel=MAPPED,
        ),
    ] = None
    keep_unmapped: Annotated[
        bool | None,
        typer.Option(
            _UNMAPPED,
            show_default="keep in SAM, BAM and CRAM, drop in PAF and TSV",
            help="Write reads without a mapping as unmapped records (flag 4). They keep the order of the reads.",
            rich_help_panel=MAPPED,
        ),
    ] = None
    copy_tags: Annotated[
        bool,
        typer.Option(
            "--copy-tags",
            help="Copy the tags of the reads, for SAM, BAM and CRAM. They come from BAM, or from FASTQ headers, "
            "where tabs separate them (samtools fastq -T '*').",
            rich_help_panel=MAPPED,
        ),
    ] = False
    clip: Annotated[
        Clip | None,
        typer.Option(
            "--clip",
            show_default="soft; hard with asm presets",
            help="Clipping of supplementary records: soft or hard. Soft: they contain the whole read. Hard: only "
            "the part that they align.",
            rich_help_panel=MAPPED,
        ),
    ] = None

    @property
    def hard_clip(self) -> bool | None:
        """True for hard clipping, False for soft clipping, None if that is not given."""
        return None if self.clip is None else self.clip is Clip.HARD


@dataclass(frozen=True)
class GivenPlacement(Placement):
    """As Placement, for `align --mappings`."""

    keep_unmapped: Annotated[
        bool,
        typer.Option(
            _UNMAPPED,
            help="Write reads without a mapping as unmapped records (flag 4). They follow all others.",
            rich_help_panel=MAPPED,
        ),
    ] = False


def mapping_spec(placement: Placement, *, skip: bool = False, mates: bool, ends: Ends) -> MappingSpec:
    """Return the MappingSpec of a command's options.

    Args:
        placement: options of the command.
        skip: True to skip faulty mappings.
        mates: True if second reads are in a file of their own.
        ends: parameters of --span extended.

    Raises:
        UsageError: options are incompatible.
    """
    span, pad = placement.span, placement.pad
    without = span in (Span.EXTENDED, Span.MAPPED)
    if pad is not None and without:
        raise UsageError(f"--pad requires --span padded or read, not {span}")
    return MappingSpec(
        span,
        0 if without else _DEFAULT_PAD if pad is None else pad,
        bool(placement.keep_unmapped),
        skip,
        copy_tags=placement.copy_tags,
        mates=mates,
        ends=ends if span is Span.EXTENDED else None,
    )


def refuse_without_mappings(reads: Mappings, placement: GivenPlacement, on_error: OnError, checksums: bool) -> None:
    """Raise UsageError for an option that is given but has no effect without --mappings."""
    given = {
        "--mates": reads.mates is not None,
        "--preset": reads.preset is not None,
        "--span": placement.span is not Span.EXTENDED,
        "--pad": placement.pad is not None,
        "--keep-unmapped": placement.keep_unmapped,
        "--copy-tags": placement.copy_tags,
        "--clip": placement.clip is not None,
        "--on-error": on_error is not OnError.FAIL,
        "--checksums": checksums,
    }
    for option, used in given.items():
        if used:
            raise UsageError(f"{option} is for reads against a reference: give --mappings FILE")


def refuse_tags(copy_tags: bool, format_: Format) -> None:
    """Raise UsageError if tags of reads are to be copied to a format without tags."""
    if copy_tags and format_ is not Format.SAM:
        raise UsageError(f"--copy-tags is for SAM, BAM and CRAM, and the output is {format_.upper()}")


def refuse_other_than_sam(as_sam: bool, format_: Format) -> None:
    """Raise UsageError if -a is given and the output is not SAM, BAM or CRAM."""
    if as_sam and format_ is not Format.SAM:
        raise UsageError(f"-a asks for SAM, and the output is {format_.upper()}")


def check_with_mappings(target: str | None, mode: Mode, free: str | None, score_only: bool) -> None:
    """Raise UsageError if --mappings is incompatible with other options."""
    if target is None:
        raise UsageError("--mappings needs reads and a reference: wfacli align READS REFERENCE --mappings FILE")
    if mode is not Mode.GLOBAL or free is not None:
        raise UsageError("--mode and --free are for pairs; with --mappings, --span sets what is aligned")
    if score_only:
        raise UsageError("--score-only is for pairs; --format tsv has the scores of mapped reads")
