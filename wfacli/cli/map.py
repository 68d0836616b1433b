"""`wfacli map`: a mapper locates reads, which are aligned as by `align --mappings`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..config import Config, Format
from ..core.interruption import deferred
from ..errors import UsageError
from ..io.mapper.presets import PAIRING
from ..io.mapper.start import EarlyMapper
from ..scoring.presets import ASSEMBLIES, DEFAULT, PRESETS
from .console import warning
from .early import Imports
from .groups import MAPPED, grouped
from .mapping_options import (
    AsSamOption,
    Placement,
    mapping_spec,
    mates_option,
    refuse_other_than_sam,
    refuse_tags,
)
from .options import CheckOption, DebugOption, EngineOptions, MaxLineOption, Reporting
from .outputs import ChecksumsOption, Records
from .report_options import Reports
from .requests import Request
from .scoring import Costs, Extent, HeuristicOptions, ends_of, spec_of
from .shard_options import ShardChoice

if TYPE_CHECKING:
    from ..io.mapper.mapper import MapperFiles
    from ..run.batch_run import BatchRun

_LONG_READS = "map-ont"
MAP_HELP = """Map READS to REFERENCE with minimap2, and align them exactly.

minimap2 locates the reads, with its presets; its library, mappy, is used if the program is not on PATH. wfacli \
then computes the optimal alignment at each location, as wfacli align --mappings does. MAPQ is minimap2's.

[bold]Examples[/bold]

  wfacli map ref.fa reads.fq -x map-hifi --md --sort --write-index -o out.bam

  wfacli map ref.fa R1.fq.gz R2.fq.gz --sort --write-index -o pairs.bam

  wfacli map -ax map-ont -R '@RG\\tID:run1\\tSM:me' ref.fa run1/*.fq.gz --sort -o run1.bam

  wfacli map ref.fa.gz reads.fq.gz -x map-ont --metric edit --format paf > out.paf
"""


@dataclass(frozen=True)
class ReadFiles:
    """A reference, and files of reads."""

    reference: Annotated[
        str,
        typer.Argument(
            metavar="REFERENCE",
            help="FASTA, plain, gzip, bgzip or zstd. It is read twice, so it cannot be a pipe.",
        ),
    ]
    reads: Annotated[
        str,
        typer.Argument(
            metavar="READS",
            help="FASTA, FASTQ, BAM or SAM; - is standard input, and s3://bucket/name a URL. For pairs in two "
            "files, these are the first reads. Several files of single reads are mapped one after the other.",
        ),
    ]
    others: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MATES | READS]...",
            show_default=False,
            help="The second reads of pairs, or further reads. One more file, without --preset or with sr, has "
            "the second reads of pairs. With another preset, or several more files, they are further reads.",
        ),
    ] = None


@dataclass(frozen=True)
class Mapper:
    """How reads are mapped."""

    mates: Annotated[
        str | None,
        mates_option(
            "The second reads of pairs, as MATES: FASTA or FASTQ in the order of READS. With --preset sr, mates may "
            "also be adjacent in READS, under one name or as NAME/1 and NAME/2."
        ),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            "-x",
            "--preset",
            metavar="NAME",
            show_default="map-ont; with mates sr",
            help="Preset of minimap2: map-ont, map-hifi, map-pb, lr:hq, sr, asm5, asm10, asm20, ... Alignments "
            "use its scores (match, mismatch, gaps), so that AS is scored as by minimap2, unless --metric, "
            "--penalties or --match replace them.",
            rich_help_panel=MAPPED,
        ),
    ] = None
    as_sam: AsSamOption = False


@grouped
def map_(
    *,
    files: ReadFiles,
    mapper: Mapper,
    placement: Placement,
    costs: Costs,
    records: Records,
    checksums: ChecksumsOption = False,
    engine: EngineOptions,
    check: CheckOption = False,
    max_line: MaxLineOption = "16M",
    reporting: Reporting,
    reports: Reports,
    shard: ShardChoice,
    debug: DebugOption = False,
) -> Request:
    """Maps and aligns; the help is MAP_HELP."""
    shard.refuse()
    written = reports.files(reporting.stats, mapped=True)
    mates, more = _mates_or_more(files.others or [], mapper.mates, mapper.preset)
    preset = (_LONG_READS if mates is None else PAIRING[0]) if mapper.preset is None else mapper.preset
    scores = PRESETS.get(preset, PRESETS[DEFAULT])
    spec = spec_of(costs, Extent(placement.span.mode), HeuristicOptions(), scores)
    mapping = mapping_spec(placement, mates=mates is not None, ends=ends_of(spec.penalties, scores))
    output = records.spec("map", hard_clip=placement.hard_clip, assembly=preset in ASSEMBLIES, checksums=checksums)
    config = engine.config(spec, output, check=check)
    refuse_tags(placement.copy_tags, config.output.format)
    sam = config.output.format is Format.SAM
    keep = sam if placement.keep_unmapped is None else placement.keep_unmapped
    mapping = replace(mapping, mates_in_order=preset in PAIRING, in_order=True, keep_unmapped=keep)
    refuse_other_than_sam(mapper.as_sam, config.output.format)
    paths = (files.reads, *more) if mates is None else (files.reads, mates)
    early = EarlyMapper(preset, config.threads, files.reference, paths)
    quiet, unasked = reporting.quiet, mapper.preset is None and mates is None

    def inputs() -> MapperFiles:
        # Imported here and below because the mapper begins before, and indexes the reference meanwhile.
        with Imports(), deferred():
            from ..io.mapper.mapper import MapperFiles

        return MapperFiles(files.reads, files.reference, preset, config.threads, mates, more, early)

    @contextmanager
    def run(config: Config, files: MapperFiles, **outputs: Any) -> Iterator[BatchRun]:
        with Imports(), deferred():
            from ..run.mapped import mapped_run

        with mapped_run(config, mapping, files, **outputs) as opened:
            if files.swap_warning and not quiet:
                warning(files.swap_warning)
            elif files.short_read_length and unasked and not quiet:
                warning(
                    f"reads of at most {files.short_read_length} bases are mapped with preset {preset}; "
                    f"--preset {PAIRING[0]} is for short reads, and pairs adjacent ones as mates"
                )
            yield opened

    return Request("map", config, inputs, run, records.output, reporting, mapping, reports=written, early=early)


def _mates_or_more(others: list[str], mates: str | None, preset: str | None) -> tuple[str | None, list[str]]:
    """Split the files after READS into (file of mates, files of further reads). Raises UsageError."""
    if not others:
        return mates, []
    pairing = preset in PAIRING or (preset is None and len(others) == 1)
    if mates is not None:
        if pairing and len(others) == 1:
            raise UsageError("the second reads of pairs are given twice: as a third file and by --mates")
        raise UsageError("--mates requires one file of reads; several files are single reads")
    if not pairing:
        return None, others
    if len(others) > 1:
        raise UsageError(
            f"--preset {preset} pairs the reads of two files, and there are {len(others) + 1}: "
            "map them pair by pair, or put files together (cat)"
        )
    return others[0], []
