"""`wfacli align`: turns options into a run."""

from __future__ import annotations

import enum
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from ..io.mapper.mapped import MappedFiles
from ..io.read.reader import PairFiles
from ..io.read.sources import is_pipe
from ..plan.kernels import CPU_KERNELS
from ..run.align import align_run
from ..run.mapped import mapped_run
from ..scoring.presets import ASSEMBLIES
from .console import note
from .groups import ENGINE, REPORTING, grouped
from .mapping_options import (
    AsSamOption,
    GivenPlacement,
    Mappings,
    OnError,
    OnErrorOption,
    check_with_mappings,
    mapping_spec,
    refuse_other_than_sam,
    refuse_tags,
    refuse_without_mappings,
)
from .options import CheckOption, DebugOption, EngineOptions, MaxLineOption, Pairs, Reporting
from .outputs import ChecksumsOption, Records
from .report_options import Reports
from .requests import Request
from .scoring import Extent, HeuristicOptions, Scoring, ends_of, preset_named, spec_of
from .shard_options import ShardChoice

ALIGN_HELP = """Align record i of QUERY to record i of TARGET, exactly and end to end.

With --mode, parts of the sequences stay unaligned. With --mappings, reads are aligned to the positions that a \
mapper found on a reference.

The alignment is optimal under the chosen costs. If several are equally good, the choice is defined (gaps are \
left-aligned), so the output does not depend on threads, batch sizes, instruction sets or GPUs. MAPQ is 255, "not \
available", unless a mapping has one.

[bold]Examples[/bold]

  wfacli align reads.fq.gz targets.fa -o out.bam

  wfacli align reads.fa targets.fa --metric edit --format paf > out.paf

  wfacli align reads.fa regions.fa --mode semiglobal --score-only -o scores.tsv

  zcat pairs.seq.gz | wfacli align - --format tsv | head

  minimap2 -x map-hifi ref.fa reads.fq | wfacli align reads.fq ref.fa --mappings - --sort -o out.bam

  wfacli align --plan run.plan --shard 3/64   # a part of a run over many machines: see wfacli plan
"""

# Typer requires choices to be an enum.
Kernel = enum.StrEnum("Kernel", {name: name for name in CPU_KERNELS})  # type: ignore[misc]

KernelOption = Annotated[
    Kernel | None,
    typer.Option(
        "--kernel",
        show_default="the fastest for each pair",
        help="First kernel for every pair, for measurements. The output does not depend on it; see --explain.",
        rich_help_panel=ENGINE,
    ),
]
ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Print which kernels aligned the pairs, and why.",
        rich_help_panel=REPORTING,
    ),
]


@grouped
def align(
    *,
    pairs: Pairs,
    reads: Mappings,
    placement: GivenPlacement,
    as_sam: AsSamOption = False,
    on_error: OnErrorOption = OnError.FAIL,
    scoring: Scoring,
    extent: Extent,
    heuristics: HeuristicOptions,
    records: Records,
    checksums: ChecksumsOption = False,
    engine: EngineOptions,
    kernel: KernelOption = None,
    check: CheckOption = False,
    max_line: MaxLineOption = "16M",
    reporting: Reporting,
    reports: Reports,
    explain: ExplainOption = False,
    shard: ShardChoice,
    debug: DebugOption = False,
) -> Request:
    """Aligns record i of QUERY to record i of TARGET; the help is ALIGN_HELP."""
    shard.refuse()
    written = reports.files(reporting.stats, mapped=reads.mappings is not None, scores_only=scoring.score_only)
    if reads.mappings is not None:
        check_with_mappings(pairs.target, extent.mode, extent.free, scoring.score_only)
        extent = replace(extent, mode=placement.span.mode)
    preset = None if reads.preset is None else preset_named(reads.preset)
    spec = spec_of(scoring, extent, heuristics, preset)
    mapping = None
    if reads.mappings is not None:
        ends = ends_of(spec.penalties, preset)
        mapping = mapping_spec(placement, skip=on_error is OnError.SKIP, mates=reads.mates is not None, ends=ends)
    config = engine.config(
        spec,
        records.spec(
            "align",
            score_only=scoring.score_only,
            hard_clip=placement.hard_clip,
            assembly=reads.preset in ASSEMBLIES,
            checksums=checksums,
            piped=mapping is None and not as_sam and is_pipe(pairs.target or pairs.query),
            tell=None if reporting.quiet else note,
        ),
        check=check,
        kernel=None if kernel is None else kernel.value,
        explain=explain,
    )
    refuse_other_than_sam(as_sam, config.output.format)
    refuse_tags(placement.copy_tags, config.output.format)
    if mapping is None:
        refuse_without_mappings(reads, placement, on_error, checksums)
        files = PairFiles(pairs.query, pairs.target)
        return Request("align", config, lambda: files, align_run, records.output, reporting, reports=written)
    paths = pairs.query, pairs.target or "", reads.mappings or "", reads.mates
    mapped = MappedFiles(*paths, threads=config.threads)
    run = partial(mapped_run, mapping=mapping)
    return Request("align", config, lambda: mapped, run, records.output, reporting, mapping, reports=written)
