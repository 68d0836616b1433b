"""`wfacli align`: options to a run, and the run's end to messages."""

from __future__ import annotations

import gc
import shlex
import sys

from .. import __version__
from .._native import keep_memory_flat
from ..config import (
    Ambiguous,
    CigarStyle,
    Config,
    EngineName,
    Metric,
    Mode,
)
from ..cores import usable_cores
from ..errors import OutputClosed
from ..io.reader import PairFiles
from ..run import SWITCH_BESIDE_A_CARD, AlignRun
from .console import note, warning
from .explain import explain as print_routes
from .options import (
    AmbiguousOption,
    BandOption,
    BatchBasesOption,
    CheckOption,
    CigarOption,
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
    MatchOption,
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
    StatsOption,
    TargetArgument,
    ThreadsOption,
    XdropOption,
    ZdropOption,
)
from .outputs import output_spec
from .progress import shown
from .report import fail_if_unaligned, summary, write_stats
from .scoring import devices_of, gpu_memory_of, limits_of, spec_of


def align(
    query: QueryArgument,
    target: TargetArgument = None,
    metric: MetricOption = Metric.AFFINE,
    penalties: PenaltiesOption = None,
    match: MatchOption = 0,
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
    threads: ThreadsOption = None,
    engine: EngineOption = EngineName.AUTO,
    gpu_memory: GpuMemoryOption = None,
    devices: DevicesOption = "0",
    batch_bases: BatchBasesOption = None,
    max_memory: MaxMemoryOption = "784M",
    kernel: KernelOption = None,
    check: CheckOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = None,
    stats: StatsOption = None,
    explain: ExplainOption = False,
    debug: DebugOption = False,
) -> None:
    """Aligns record i of QUERY to record i of TARGET; the help is options.ALIGN_HELP."""
    config = Config(
        spec=spec_of(
            metric=metric,
            penalties=penalties,
            match=match,
            ambiguous=ambiguous,
            score_only=score_only,
            max_score=max_score,
            mode=mode,
            free=free,
            band=band,
            xdrop=xdrop,
            zdrop=zdrop,
        ),
        output=output_spec("align", output, format_, score_only, cigar, md, cs, header, read_group),
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
    keep_memory_flat()
    gc.freeze()  # what the imports made stays to the end; it need not be looked through again and again
    run = AlignRun(config, PairFiles(query, target), output, __version__, stats, None if quiet else note)
    if run.on_gpu:
        sys.setswitchinterval(SWITCH_BESIDE_A_CARD)
    complete = False
    try:
        with shown(run.watch, bar=progress, quiet=quiet):
            run.run()
        complete = True
    except OutputClosed:
        raise
    except BaseException:
        if run.partial:
            note(f"incomplete: {run.stats.counts['pairs']:,} pairs were written, to {run.partial}")
        raise
    finally:
        if run.report:
            write_stats(run.report, run, complete)
    _conclude(run, quiet)


def _conclude(run: AlignRun, quiet: bool) -> None:
    counts = run.stats.counts
    if not quiet:
        if counts["non_nucleotide"] and run.config.spec.ambiguous is not Ambiguous.LITERAL:
            warning(
                f"{counts['non_nucleotide']:,} pairs hold letters that are no nucleotide code and match nothing; "
                "for proteins give --ambiguous literal"
            )
        if failure := run.engine.stats().get("failure"):
            warning(f"the GPU failed, and the CPU aligned the rest: {failure}")
        note(summary(run))
    if run.config.explain:
        print_routes(run)
    fail_if_unaligned(run)
