"""`wfacli map`: a mapper locates reads, which are aligned as by `align --mappings`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated

import typer

from .. import __version__
from ..config import Ambiguous, CigarStyle, Config, EngineName, Format, Span
from ..core.cores import usable_cores
from ..errors import UsageError
from ..io.mapper.mapper import MapperFiles
from ..io.mapper.presets import PAIRING
from ..run.batch_run import BatchRun
from ..run.mapped import mapped_run
from ..scoring.presets import DEFAULT, PRESETS
from .console import note, warning
from .mapping_options import (
    PANEL,
    Clip,
    ClipOption,
    CopyTagsOption,
    DropUnmappedOption,
    OnError,
    PadOption,
    SpanOption,
    mapping_spec,
    mates_option,
    refuse_tags,
)
from .options import (
    AmbiguousOption,
    BatchBasesOption,
    CheckOption,
    ChecksumsOption,
    CigarOption,
    CompressionOption,
    CsOption,
    DebugOption,
    DevicesOption,
    EngineOption,
    FormatOption,
    GpuMemoryOption,
    HeaderOption,
    MatchOrPresetOption,
    MaxLineOption,
    MaxMemoryOption,
    MdOption,
    MetricOption,
    OutputOption,
    PenaltiesOption,
    ProgressOption,
    QuietOption,
    ReadGroupOption,
    SortOption,
    StatsOption,
    ThreadsOption,
    WriteIndexOption,
)
from .outputs import Storage, Tags, output_spec
from .running import execute
from .scoring import devices_of, ends_of, gpu_memory_of, limits_of, spec_of

_LONG_READS = "map-ont"
MAP_HELP = """Map READS to REFERENCE and align them where they lie.

minimap2 finds the places, with its presets (its library, mappy, does where it is not on PATH); then each is aligned \
as `wfacli align --mappings` does it: exactly, and always the same.

[bold]Examples[/bold]

  wfacli map ref.fa reads.fq --preset map-hifi --md --sort --write-index -o out.bam

  wfacli map ref.fa R1.fq.gz R2.fq.gz --sort --write-index -o pairs.bam

  wfacli map -ax map-ont -R '@RG\\tID:run1\\tSM:me' ref.fa run1/*.fq.gz --sort -o run1.bam

  wfacli map ref.fa.gz reads.fq.gz --preset map-ont --metric edit --format paf > out.paf
"""

ReferenceArgument = Annotated[
    str,
    typer.Argument(
        metavar="REFERENCE",
        help="FASTA with the sequences to map to. Plain, gzip, bgzip or zstd; a file, since it is read twice.",
    ),
]
ReadsArgument = Annotated[
    str,
    typer.Argument(
        metavar="READS",
        help="FASTA, FASTQ, or BAM or SAM (extra bam), which are files. - is standard input. Of pairs in two files "
        "the first reads, with the others as MATES. Several files of single reads are mapped one after the other.",
    ),
]
OthersArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MATES | READS]...",
        show_default=False,
        help="One more file, without --preset or with sr: the second reads of pairs. With another preset, or several "
        "more: further reads, which are mapped one file behind the other, as minimap2 does.",
    ),
]
SamOption = Annotated[
    bool,
    typer.Option("-a", help="Nothing: as minimap2 writes SAM by it, which is written anyway.", rich_help_panel=PANEL),
]
MatesOption = Annotated[
    str | None,
    mates_option(
        "Another way to give MATES: FASTA or FASTQ, in the order of READS, which has the first ones. With --preset sr "
        "mates may also follow one another in READS, under one name or as NAME/1 and NAME/2."
    ),
]
PresetOption = Annotated[
    str | None,
    typer.Option(
        "-x",
        "--preset",
        metavar="NAME",
        show_default="map-ont; with --mates sr",
        help="minimap2's: map-ont, map-hifi, map-pb, lr:hq, sr, asm5, asm10, asm20, … Its scores (match, mismatch, "
        "gaps) are those of the alignments, so that AS is what minimap2 would give, unless --metric, --penalties or "
        "--match replace them.",
        rich_help_panel=PANEL,
    ),
]


def map_(
    reference: ReferenceArgument,
    reads: ReadsArgument,
    others: OthersArgument = None,
    mates: MatesOption = None,
    preset: PresetOption = None,
    as_sam: SamOption = False,
    span: SpanOption = Span.EXTENDED,
    pad: PadOption = None,
    keep_unmapped: DropUnmappedOption = None,
    copy_tags: CopyTagsOption = False,
    clip: ClipOption = Clip.SOFT,
    metric: MetricOption = None,
    penalties: PenaltiesOption = None,
    match: MatchOrPresetOption = None,
    ambiguous: AmbiguousOption = Ambiguous.MISMATCH,
    output: OutputOption = None,
    format_: FormatOption = None,
    cigar: CigarOption = CigarStyle.EQX,
    md: MdOption = False,
    cs: CsOption = False,
    read_group: ReadGroupOption = None,
    header: HeaderOption = True,
    sort: SortOption = False,
    write_index: WriteIndexOption = False,
    compression: CompressionOption = None,
    checksums: ChecksumsOption = False,
    threads: ThreadsOption = None,
    engine: EngineOption = EngineName.AUTO,
    gpu_memory: GpuMemoryOption = None,
    devices: DevicesOption = "0",
    batch_bases: BatchBasesOption = None,
    max_memory: MaxMemoryOption = "784M",
    check: CheckOption = False,
    max_line: MaxLineOption = "16M",
    quiet: QuietOption = False,
    progress: ProgressOption = None,
    stats: StatsOption = None,
    debug: DebugOption = False,
) -> None:
    """Maps and aligns; the help is MAP_HELP."""
    mates, more = _mates_or_more(others or [], mates, preset)
    default_preset = preset is None
    preset = preset or (_LONG_READS if mates is None else PAIRING[0])
    scores = PRESETS.get(preset, PRESETS[DEFAULT])
    wanted = spec_of(
        metric=metric,
        penalties=penalties,
        match=match,
        ambiguous=ambiguous,
        score_only=False,
        max_score=None,
        mode=span.mode,
        free=None,
        band=None,
        xdrop=0,
        zdrop=0,
        preset=scores,
    )
    ends = ends_of(wanted.penalties, scores)
    spec = mapping_spec(span, pad, bool(keep_unmapped), OnError.FAIL, copy_tags, mates is not None, ends)
    config = Config(
        spec=wanted,
        output=output_spec(
            "map",
            output,
            format_,
            False,
            Tags(cigar, md, cs, read_group),
            Storage(header, sort, write_index, clip is Clip.HARD, checksums, compression),
        ),
        limits=limits_of(max_memory),
        engine=engine,
        gpu_memory=gpu_memory_of(gpu_memory),
        devices=devices_of(devices),
        threads=threads or usable_cores(),
        batch_bases=batch_bases,
        check=check,
        command_line=shlex.join(["wfacli", *sys.argv[1:]]),
    )
    refuse_tags(copy_tags, config.output.format)
    keep = config.output.format is Format.SAM if keep_unmapped is None else keep_unmapped
    spec = replace(spec, mates_in_order=preset in PAIRING, in_order=True, keep_unmapped=keep)
    if as_sam and config.output.format is not Format.SAM:
        raise UsageError(f"-a asks for SAM, and the output is {config.output.format.upper()}")
    files = MapperFiles(reads, reference, preset, config.threads, mates, more)

    @contextmanager
    def opened() -> Iterator[BatchRun]:
        with mapped_run(config, spec, files, output, __version__, stats, None if quiet else note) as run:
            if files.swap_warning and not quiet:
                warning(files.swap_warning)
            elif files.short_read_length and default_preset and mates is None and not quiet:
                warning(
                    f"reads of at most {files.short_read_length} bases are mapped with preset {preset}; "
                    f"--preset {PAIRING[0]} is for short reads, and pairs adjacent ones as mates"
                )
            yield run

    execute(opened, progress=progress, quiet=quiet)


def _mates_or_more(others: list[str], mates: str | None, preset: str | None) -> tuple[str | None, list[str]]:
    """Split the files after READS into (file of mates, files of further reads). Raises UsageError."""
    if not others:
        return mates, []
    pairing = preset in PAIRING or (preset is None and len(others) == 1)
    if mates is not None:
        if pairing and len(others) == 1:
            raise UsageError("the second reads of pairs are given twice: as a third file and by --mates")
        raise UsageError("--mates is of one file of reads; several files are single reads")
    if not pairing:
        return None, others
    if len(others) > 1:
        raise UsageError(
            f"--preset {preset} pairs the reads of two files, and there are {len(others) + 1}: "
            "map them pair by pair, or put files together (cat)"
        )
    return others[0], []
