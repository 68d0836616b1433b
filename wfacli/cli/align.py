"""`wfacli align`: options to a run, and the run's end to messages."""

from __future__ import annotations

import enum
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..config import (
    DEFAULT_AFFINE,
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
from .progress import shown
from .report import check_writable, summary, write_stats

_INPUT, _SCORING, _OUTPUT, _ENGINE, _REPORTING = "Input", "Scoring", "Output", "Engine", "Reporting"


class Engine(enum.StrEnum):
    """Where to align."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


def align(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY|PAIRS",
            help="FASTA or FASTQ with the reads, or one file of pairs: .seq lines '>query' '<target' in turn, or a "
            "table with tabs (query, target; or name, query, target). Plain, gzip, bgzip or zstd. - is standard input.",
            rich_help_panel=_INPUT,
        ),
    ],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]",
            show_default=False,
            help="FASTA or FASTQ: record i is what record i of QUERY is aligned to.",
            rich_help_panel=_INPUT,
        ),
    ] = None,
    metric: Annotated[
        Metric,
        typer.Option(
            "--metric",
            help="edit: each mismatch, inserted or deleted base costs 1. affine: a gap of l bases costs o + l·e.",
            rich_help_panel=_SCORING,
        ),
    ] = Metric.AFFINE,
    penalties: Annotated[
        str | None,
        typer.Option(
            "--penalties",
            metavar="X,O,E",
            show_default=",".join(map(str, DEFAULT_AFFINE)),
            help="Costs of affine: mismatch x, gap opening o, gap extension e. A match costs 0; a gap of l bases "
            "costs o + l·e, so its first base costs o + e. AS is minus the cost.",
            rich_help_panel=_SCORING,
        ),
    ] = None,
    ambiguous: Annotated[
        Ambiguous,
        typer.Option(
            "--ambiguous",
            help="Letters other than A C G T U: mismatch (they match nothing), wildcard (IUPAC codes match what they "
            "stand for), literal (every letter matches itself; for proteins). Case never matters; U reads as T "
            "unless literal.",
            rich_help_panel=_SCORING,
        ),
    ] = Ambiguous.MISMATCH,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE",
            show_default="standard output",
            help="Where alignments go. The file gets its name when it is complete.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format", show_default="by the suffix of --output, else sam", help="What to write.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    cigar: Annotated[
        CigarStyle,
        typer.Option("--cigar", help="eqx: = and X. m: M for both.", rich_help_panel=_OUTPUT),
    ] = CigarStyle.EQX,
    md: Annotated[bool, typer.Option("--md", help="Add the MD tag.", rich_help_panel=_OUTPUT)] = False,
    cs: Annotated[bool, typer.Option("--cs", help="Add the cs tag (short form).", rich_help_panel=_OUTPUT)] = False,
    read_group: Annotated[
        str | None,
        typer.Option(
            "--read-group", metavar="LINE", show_default=False,
            help=r"SAM read group, like '@RG\tID:run1\tSM:sample1'; each record gets its RG tag.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    header: Annotated[
        bool, typer.Option("--header/--no-header", help="Begin SAM and TSV with their header.", rich_help_panel=_OUTPUT)
    ] = True,
    threads: Annotated[
        int,
        typer.Option(
            "-t", "--threads", min=1, show_default="the cores this process may use",
            help="Threads that align. The output does not depend on it.", rich_help_panel=_ENGINE,
        ),
    ] = usable_cores(),
    engine: Annotated[
        Engine, typer.Option("--engine", help="Where to align; auto takes the CPU.", rich_help_panel=_ENGINE)
    ] = Engine.AUTO,
    batch_bases: Annotated[
        int,
        typer.Option(
            "--batch-bases", min=1,
            help="Bases that are worked on at once; a few such batches are in memory. The output does not depend on it.",
            rich_help_panel=_ENGINE,
        ),
    ] = Config.batch_bases,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Replay every alignment against its sequences before it is written.",
            rich_help_panel=_ENGINE,
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print errors only.", rich_help_panel=_REPORTING)
    ] = False,
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--no-progress", show_default="a bar on a terminal, else a line every 10 s",
            help="Show how far the run is, on standard error.", rich_help_panel=_REPORTING,
        ),
    ] = None,
    stats: Annotated[
        str | None,
        typer.Option(
            "--stats", metavar="FILE", show_default=False,
            help="Write counts, times and versions of the run as JSON.", rich_help_panel=_REPORTING,
        ),
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=_REPORTING)
    ] = False,
) -> None:
    """Align record i of QUERY to record i of TARGET: globally, exactly, with a CIGAR.

    Of equally cheap alignments it always writes the same one (gaps left-most), so the output is identical for every
    number of threads and every batch size.

    [bold]Examples[/bold]

      wfacli align reads.fq.gz targets.fa -o out.sam

      wfacli align reads.fa targets.fa --metric edit --format paf > out.paf

      zcat pairs.seq.gz | wfacli align - --format tsv | head

      wfacli align reads.fq targets.fa --md | samtools view -b -o out.bam
    """
    if engine is Engine.GPU:
        raise UsageError("this version has no GPU engine; --engine cpu (or auto) aligns on the CPU")
    config = Config(
        spec=AlignSpec(metric, _penalties(metric, penalties), ambiguous),
        output=_output_spec(output, format_, cigar, md, cs, header, read_group),
        threads=threads,
        batch_bases=batch_bases,
        check=check,
        command_line=shlex.join(["wfacli", *sys.argv[1:]]),
    )
    check_writable(stats)
    run = AlignRun(config, PairFiles(query, target), output, __version__)
    complete = False
    try:
        with shown(run.watch, bar=progress, quiet=quiet):
            run.run()
        complete = True
    except OutputClosed:
        raise
    except BaseException:
        if run.partial and not quiet:
            note(f"incomplete: {run.stats.counts['pairs']:,} pairs were written, to {run.partial}")
        raise
    finally:
        if stats:
            write_stats(stats, run, complete)
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
    path: str | None, chosen: Format | None, cigar: CigarStyle, md: bool, cs: bool, header: bool, read_group: str | None
) -> OutputSpec:
    format_ = chosen or _format_of(path)
    if format_ is not Format.SAM and read_group:
        raise UsageError(f"--read-group belongs to SAM, and the output is {format_.value.upper()}")
    if format_ is Format.TSV and (md or cs):
        raise UsageError("--md and --cs are tags of SAM and PAF; TSV has none")
    return OutputSpec(format_, cigar, md, cs, header, parse_read_group(read_group) if read_group else "")


def _format_of(path: str | None) -> Format:
    suffix = Path(path).suffix.lower() if path else ""
    if suffix in (".bam", ".cram"):
        raise UsageError(
            f"{suffix[1:].upper()} is not written yet: wfacli align … | samtools view {'-b' if suffix == '.bam' else '-C'}"
        )
    if suffix in (".gz", ".bgz", ".zst"):
        raise UsageError(f"the output is not compressed by wfacli: wfacli align … | gzip > {path}")
    return {".paf": Format.PAF, ".tsv": Format.TSV}.get(suffix, Format.SAM)
