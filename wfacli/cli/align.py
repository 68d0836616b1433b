"""`wfacli align`: turns options into a run."""

from __future__ import annotations

import shlex
import sys
from contextlib import AbstractContextManager

from .. import __version__
from ..config import Ambiguous, CigarStyle, Config, EngineName, Mode, Span
from ..core.cores import usable_cores
from ..io.mapper.mapped import MappedFiles
from ..io.read.reader import PairFiles
from ..run.align import align_run
from ..run.batch_run import BatchRun
from ..run.mapped import mapped_run
from .console import note
from .mapping_options import (
    Clip,
    ClipOption,
    CopyTagsOption,
    KeepUnmappedOption,
    MappingsOption,
    MatesOption,
    OnError,
    OnErrorOption,
    PadOption,
    ScoresOfOption,
    SpanOption,
    check_with_mappings,
    mapping_spec,
    refuse_tags,
    refuse_without_mappings,
)
from .options import (
    AmbiguousOption,
    BandOption,
    BatchBasesOption,
    CheckOption,
    ChecksumsOption,
    CigarOption,
    CompressionOption,
    CsOption,
    DebugOption,
    DevicesOption,
    EngineOption,
    ExplainOption,
    FormatOption,
    FreeOption,
    GpuMemoryOption,
    HeaderOption,
    KernelOption,
    MatchOrPresetOption,
    MaxLineOption,
    MaxMemoryOption,
    MaxScoreOption,
    MdOption,
    MetricOption,
    ModeOption,
    OutputOption,
    PenaltiesOption,
    ProgressOption,
    QueryArgument,
    QuietOption,
    ReadGroupOption,
    ScoreOnlyOption,
    SortOption,
    StatsOption,
    TargetArgument,
    ThreadsOption,
    WriteIndexOption,
    XdropOption,
    ZdropOption,
)
from .outputs import Storage, Tags, output_spec
from .running import execute
from .scoring import devices_of, ends_of, gpu_memory_of, limits_of, preset_named, spec_of


def align(
    query: QueryArgument,
    target: TargetArgument = None,
    mappings: MappingsOption = None,
    mates: MatesOption = None,
    preset: ScoresOfOption = None,
    span: SpanOption = Span.EXTENDED,
    pad: PadOption = None,
    keep_unmapped: KeepUnmappedOption = False,
    copy_tags: CopyTagsOption = False,
    clip: ClipOption = Clip.SOFT,
    on_error: OnErrorOption = OnError.FAIL,
    metric: MetricOption = None,
    penalties: PenaltiesOption = None,
    match: MatchOrPresetOption = None,
    ambiguous: AmbiguousOption = Ambiguous.MISMATCH,
    score_only: ScoreOnlyOption = False,
    max_score: MaxScoreOption = None,
    mode: ModeOption = Mode.GLOBAL,
    free: FreeOption = None,
    band: BandOption = None,
    xdrop: XdropOption = 0,
    zdrop: ZdropOption = 0,
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
    kernel: KernelOption = None,
    check: CheckOption = False,
    max_line: MaxLineOption = "16M",
    quiet: QuietOption = False,
    progress: ProgressOption = None,
    stats: StatsOption = None,
    explain: ExplainOption = False,
    debug: DebugOption = False,
) -> None:
    """Aligns record i of QUERY to record i of TARGET; the help is options.ALIGN_HELP."""
    if mappings is not None:
        check_with_mappings(target, mode, free, score_only)
    scores = None if preset is None else preset_named(preset)
    spec = spec_of(
        metric=metric,
        penalties=penalties,
        match=match,
        ambiguous=ambiguous,
        score_only=score_only,
        max_score=max_score,
        mode=mode if mappings is None else span.mode,
        free=free,
        band=band,
        xdrop=xdrop,
        zdrop=zdrop,
        preset=scores,
    )
    mapping = None
    if mappings is not None:
        ends = ends_of(spec.penalties, scores)
        mapping = mapping_spec(span, pad, keep_unmapped, on_error, copy_tags, mates is not None, ends)
    config = Config(
        spec=spec,
        output=output_spec(
            "align",
            output,
            format_,
            score_only,
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
        kernel=None if kernel is None else kernel.value,
        explain=explain,
        command_line=shlex.join(["wfacli", *sys.argv[1:]]),
    )
    refuse_tags(copy_tags, config.output.format)
    tell = None if quiet else note
    if mapping is None:
        refuse_without_mappings(
            {
                "--mates": mates is not None,
                "--preset": preset is not None,
                "--span": span is not Span.EXTENDED,
                "--pad": pad is not None,
                "--keep-unmapped": keep_unmapped,
                "--copy-tags": copy_tags,
                "--clip": clip is not Clip.SOFT,
                "--on-error": on_error is not OnError.FAIL,
                "--checksums": checksums,
            }
        )

    def made() -> AbstractContextManager[BatchRun]:
        if mapping is None:
            return align_run(config, PairFiles(query, target), output, __version__, stats, tell)
        files = MappedFiles(query, target or "", mappings or "", mates)
        return mapped_run(config, mapping, files, output, __version__, stats, tell)

    execute(made, progress=progress, quiet=quiet)
