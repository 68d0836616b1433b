"""Options of the commands, with their help."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from ..config import DEFAULT_AFFINE, Ambiguous, CigarStyle, Format, Metric

ALIGN_HELP = """Align record i of QUERY to record i of TARGET: globally, exactly, with a CIGAR.

Of equally cheap alignments it always writes the same one (gaps left-most): the output is identical \
for every number of threads and every batch size.

[bold]Examples[/bold]

  wfacli align reads.fq.gz targets.fa -o out.sam

  wfacli align reads.fa targets.fa --metric edit --format paf > out.paf

  zcat pairs.seq.gz | wfacli align - --format tsv | head

  wfacli align reads.fq targets.fa --md | samtools view -b -o out.bam
"""

_INPUT, _SCORING, _OUTPUT, _ENGINE, _REPORTING = "Input", "Scoring", "Output", "Engine", "Reporting"


class Engine(enum.StrEnum):
    """Where to align."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


QueryArgument = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help="FASTA or FASTQ with the reads, or one file of pairs: .seq lines '>query' '<target' in turn, or a "
        "table with tabs (query, target; or name, query, target). Plain, gzip, bgzip or zstd. - is standard input.",
        rich_help_panel=_INPUT,
    ),
]
TargetArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TARGET",
        show_default=False,
        help="FASTA or FASTQ: record i is what record i of QUERY is aligned to.",
        rich_help_panel=_INPUT,
    ),
]
MetricOption = Annotated[
    Metric,
    typer.Option(
        "--metric",
        help="edit: each mismatch, inserted or deleted base costs 1. affine: a gap of l bases costs o + l·e.",
        rich_help_panel=_SCORING,
    ),
]
PenaltiesOption = Annotated[
    str | None,
    typer.Option(
        "--penalties",
        metavar="X,O,E",
        show_default=",".join(map(str, DEFAULT_AFFINE)),
        help="Costs of affine: mismatch x, gap opening o, gap extension e. A match costs 0; a gap of l bases "
        "costs o + l·e, so its first base costs o + e. AS is minus the cost.",
        rich_help_panel=_SCORING,
    ),
]
AmbiguousOption = Annotated[
    Ambiguous,
    typer.Option(
        "--ambiguous",
        help="Letters other than A C G T U: mismatch (they match nothing), wildcard (IUPAC codes match what they "
        "stand for), literal (every letter matches itself; for proteins). Case never matters; U reads as T "
        "unless literal.",
        rich_help_panel=_SCORING,
    ),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        show_default="standard output",
        help="Where alignments go. The file gets its name when it is complete.",
        rich_help_panel=_OUTPUT,
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        show_default="by the suffix of --output, else sam",
        help="What to write.",
        rich_help_panel=_OUTPUT,
    ),
]
CigarOption = Annotated[
    CigarStyle,
    typer.Option("--cigar", help="eqx: = and X. m: M for both.", rich_help_panel=_OUTPUT),
]
MdOption = Annotated[bool, typer.Option("--md", help="Add the MD tag.", rich_help_panel=_OUTPUT)]
CsOption = Annotated[bool, typer.Option("--cs", help="Add the cs tag (short form).", rich_help_panel=_OUTPUT)]
ReadGroupOption = Annotated[
    str | None,
    typer.Option(
        "--read-group",
        metavar="LINE",
        show_default=False,
        help=r"SAM read group, like '@RG\tID:run1\tSM:sample1'; each record gets its RG tag.",
        rich_help_panel=_OUTPUT,
    ),
]
HeaderOption = Annotated[
    bool,
    typer.Option("--header/--no-header", help="Begin SAM and TSV with their header.", rich_help_panel=_OUTPUT),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "-t",
        "--threads",
        min=1,
        show_default="the cores this process may use",
        help="Threads that align. The output does not depend on it.",
        rich_help_panel=_ENGINE,
    ),
]
EngineOption = Annotated[
    Engine, typer.Option("--engine", help="Where to align; auto takes the CPU.", rich_help_panel=_ENGINE)
]
BatchBasesOption = Annotated[
    int,
    typer.Option(
        "--batch-bases",
        min=1,
        help="Bases that are worked on at once; a few such batches are in memory. The output does not depend on it.",
        rich_help_panel=_ENGINE,
    ),
]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Replay every alignment against its sequences before it is written.",
        rich_help_panel=_ENGINE,
    ),
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.", rich_help_panel=_REPORTING)]
ProgressOption = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        show_default="a bar on a terminal, else a line every 10 s",
        help="Show how far the run is, on standard error.",
        rich_help_panel=_REPORTING,
    ),
]
StatsOption = Annotated[
    str | None,
    typer.Option(
        "--stats",
        metavar="FILE",
        show_default=False,
        help="Write counts, times and versions of the run as JSON.",
        rich_help_panel=_REPORTING,
    ),
]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=_REPORTING)
]
