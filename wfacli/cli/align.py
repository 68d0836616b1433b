"""`wfacli align`: options to a run, and the run's end to messages."""

from __future__ import annotations

import gc
import shlex
import sys
from pathlib import Path

from .. import __version__
from .._native import keep_memory_flat
from ..config import (
    AlignSpec,
    Ambiguous,
    CigarStyle,
    Config,
    Format,
    Metric,
    OutputSpec,
    Penalties,
    parse_read_group,
)
from ..cores import usable_cores
from ..errors import OutputClosed, UsageError, WfacliError
from ..io.reader import PairFiles
from ..run import AlignRun
from .console import note, warning
from .options import (
    AmbiguousOption,
    BatchBasesOption,
    CheckOption,
    CigarOption,
    CsOption,
    DebugOption,
    Engine,
    EngineOption,
    FormatOption,
    HeaderOption,
    MdOption,
    MetricOption,
    OutputOption,
    PenaltiesOption,
    ProgressOption,
    QueryArgument,
    QuietOption,
    ReadGroupOption,
    StatsOption,
    TargetArgument,
    ThreadsOption,
)
from .progress import shown
from .report import summary, write_stats


def align(
    query: QueryArgument,
    target: TargetArgument = None,
    metric: MetricOption = Metric.AFFINE,
    penalties: PenaltiesOption = None,
    ambiguous: AmbiguousOption = Ambiguous.MISMATCH,
    output: OutputOption = None,
    format_: FormatOption = None,
    cigar: CigarOption = CigarStyle.EQX,
    md: MdOption = False,
    cs: CsOption = False,
    read_group: ReadGroupOption = None,
    header: HeaderOption = True,
    threads: ThreadsOption = None,
    engine: EngineOption = Engine.AUTO,
    batch_bases: BatchBasesOption = Config.batch_bases,
    check: CheckOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = None,
    stats: StatsOption = None,
    debug: DebugOption = False,
) -> None:
    """Aligns record i of QUERY to record i of TARGET; the help is options.ALIGN_HELP."""
    if engine is Engine.GPU:
        raise UsageError("this version has no GPU engine; --engine cpu (or auto) aligns on the CPU")
    config = Config(
        spec=AlignSpec(metric, _penalties(metric, penalties), ambiguous),
        output=_output_spec(output, format_, cigar, md, cs, header, read_group),
        threads=threads or usable_cores(),
        batch_bases=batch_bases,
        check=check,
        command_line=shlex.join(["wfacli", *sys.argv[1:]]),
    )
    keep_memory_flat()
    gc.freeze()  # what the imports made stays to the end; it need not be looked through again and again
    run = AlignRun(config, PairFiles(query, target), output, __version__, stats)
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
        note(summary(run))
    failed = sum(run.stats.unaligned.values())
    if failed:
        reasons = ", ".join(f"{n:,} {status}" for status, n in sorted(run.stats.unaligned.items()))
        raise WfacliError(f"{failed:,} pairs were written without an alignment ({reasons})")


def _penalties(metric: Metric, text: str | None) -> Penalties:
    if text is None:
        return Penalties()
    if metric is Metric.EDIT:
        raise UsageError("--penalties belongs to --metric affine; edit distance charges 1 for everything")
    return Penalties.parse(text)


def _output_spec(
    path: str | None,
    chosen: Format | None,
    cigar: CigarStyle,
    md: bool,
    cs: bool,
    header: bool,
    read_group: str | None,
) -> OutputSpec:
    format_ = chosen or _format_of(path)
    if format_ is not Format.SAM and read_group is not None:
        raise UsageError(f"--read-group belongs to SAM, and the output is {format_.value.upper()}")
    if format_ is Format.TSV and (md or cs):
        raise UsageError("--md and --cs are tags of SAM and PAF; TSV has none")
    return OutputSpec(format_, cigar, md, cs, header, "" if read_group is None else parse_read_group(read_group))


def _format_of(path: str | None) -> Format:
    suffix = Path(path).suffix.lower() if path else ""
    if suffix in (".bam", ".cram"):
        flag = "-b" if suffix == ".bam" else "-C"
        raise UsageError(f"{suffix[1:].upper()} is not written yet: wfacli align … | samtools view {flag} -o {path}")
    if suffix in (".gz", ".bgz", ".zst"):
        raise UsageError(f"the output is not compressed by wfacli: wfacli align … | gzip > {path}")
    return {".paf": Format.PAF, ".tsv": Format.TSV}.get(suffix, Format.SAM)
