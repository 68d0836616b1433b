"""Options of `wfacli distance`, with their help."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from ..config import Ambiguous, EngineName
from ..solve.distance.deliver import Form
from .numbers import MAX_THREADS

DISTANCE_HELP = """Compute the exact edit (Levenshtein) distance of two sequences of any length, and their alignment.

One pair, from end to end: each mismatched, inserted or deleted letter counts 1. For many pairs, and other costs, \
there is [bold]wfacli align[/bold].

[bold]Examples[/bold]

  wfacli distance a.fa b.fa

  wfacli distance genomes.fa genomes.fa --name-a chr1 --name-b chr1_alt --json

  wfacli distance a.fa.gz b.fa.gz --path -o ab.bam --plot ab.html

  wfacli distance a.fa b.fa --max-distance 1000

  wfacli distance a.fa b.fa --checkpoint ab.ckpt --resume      # once, and again after whatever ended it

  wfacli distance --lines old.txt new.txt --path -o changes.diff

The [bold]distance[/bold] is exact, whatever the algorithm: a wavefront, whose time goes with the square of the \
distance, or bit-vectors, whose time goes with length times distance. An estimate chooses; where it turns out wrong, \
the run changes over. [bold]identity[/bold] is 1 - distance / length of the longer sequence. [bold]TCUPS[/bold] are \
the cells of the whole matrix (length times length) by the second, in millions of millions, computed or not.
"""

_INPUT, _OUTPUT, _LONG, _ENGINE, _REPORTING = "Input", "Output", "Long runs", "Engine", "Reporting"


class AlgorithmName(enum.StrEnum):
    """Values of `--algorithm`: the kind of algorithm."""

    AUTO = "auto"
    WAVEFRONT = "wavefront"
    BITS = "bits"


def _side(metavar: str) -> typer.models.ArgumentInfo:
    found: typer.models.ArgumentInfo = typer.Argument(
        metavar=metavar,
        help="FASTA or FASTQ with one record; plain, gzip, bgzip or zstd. - is standard input.",
        rich_help_panel=_INPUT,
    )
    return found


AArgument = Annotated[str, _side("A")]
BArgument = Annotated[str, _side("B")]
NameAOption = Annotated[
    str | None,
    typer.Option(
        "--name-a",
        metavar="NAME",
        show_default=False,
        help="The record of A, where it has several (the header up to its first blank).",
        rich_help_panel=_INPUT,
    ),
]
NameBOption = Annotated[
    str | None,
    typer.Option("--name-b", metavar="NAME", show_default=False, help="The record of B.", rich_help_panel=_INPUT),
]
TextOption = Annotated[
    bool,
    typer.Option(
        "--text",
        help="Compare two files of any kind byte by byte, as they are stored: case matters, nothing is decompressed.",
        rich_help_panel=_INPUT,
    ),
]
LinesOption = Annotated[
    bool,
    typer.Option(
        "--lines",
        help="Compare two files line by line: a changed, added or missing line counts 1. A line ends with a line "
        "feed, or carriage return and line feed, which do not belong to it; the last line may end without.",
        rich_help_panel=_INPUT,
    ),
]
AmbiguousOption = Annotated[
    Ambiguous,
    typer.Option(
        "--ambiguous",
        help="Letters other than A C G T: literal (each equals itself), mismatch (they equal nothing, not even "
        "themselves; U reads as T). wildcard does not go with distance. Case never matters.",
        rich_help_panel=_INPUT,
    ),
]
MaxDistanceOption = Annotated[
    int | None,
    typer.Option(
        "--max-distance",
        metavar="K",
        min=0,
        show_default=False,
        help="Stop as soon as the distance is known to be more than K, and say so; the exit status is 0 all the same.",
        rich_help_panel=_OUTPUT,
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Write the result as one JSON object.", rich_help_panel=_OUTPUT)
]
PathOption = Annotated[
    bool,
    typer.Option(
        "--path",
        help="Also make the alignment, and write it. Of sequences (A is the query, B the target) it is the one that "
        "wfacli align --metric edit makes, as PAF, SAM or BAM; of --lines a unified diff with which patch makes B of "
        "A, line ends included; of --text a table of what is equal, replaced, deleted or inserted, with places in A "
        "and in B. Without -o it goes to standard output, and the result to standard error.",
        rich_help_panel=_OUTPUT,
    ),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        show_default="standard output",
        help="Where the result goes; with --path, where the alignment goes. The file gets its name when complete.",
        rich_help_panel=_OUTPUT,
    ),
]
FormatOption = Annotated[
    Form | None,
    typer.Option(
        "--format",
        show_default="by the suffix of --output, else paf, for --lines diff, for --text tsv",
        help=r"How --path writes the alignment: sequences as paf, sam or bam (by pysam: pip install 'wfacli\[bam]'), "
        "lines as diff or tsv, texts as tsv.",
        rich_help_panel=_OUTPUT,
    ),
]
PlotOption = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        show_default=False,
        help="Also draw the alignment, over what A and B have in common, as wfacli dotplot does: .html (nothing else "
        r"needed), .png, .svg or .pdf (by matplotlib: pip install 'wfacli\[plot]').",
        rich_help_panel=_OUTPUT,
    ),
]
CheckpointOption = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        show_default=False,
        help="Keep in FILE what a run needs to go on after its end by whatever cause; at most the time since the last "
        "writing is lost. Ctrl-C, SIGTERM and SIGHUP write once more. FILE is removed when the result is out.",
        rich_help_panel=_LONG,
    ),
]
CheckpointEveryOption = Annotated[
    str | None,
    typer.Option(
        "--checkpoint-every",
        metavar="TIME",
        show_default="120s",
        help="How often, like 30s, 5m or 1h.",
        rich_help_panel=_LONG,
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on from --checkpoint's FILE; where there is none yet, begin. One of other inputs is refused.",
        rich_help_panel=_LONG,
    ),
]
EngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine", help="Where to compute; auto takes the soonest. The distance is the same.", rich_help_panel=_ENGINE
    ),
]
AlgorithmOption = Annotated[
    AlgorithmName,
    typer.Option(
        "--algorithm",
        help="Which to take, and to stay with; auto chooses by an estimate. The distance is the same.",
        rich_help_panel=_ENGINE,
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "-t",
        "--threads",
        min=1,
        max=MAX_THREADS,
        show_default="the cores this process may use",
        help="Threads that compute.",
        rich_help_panel=_ENGINE,
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option("-q", "--quiet", help="Print nothing but the result and errors.", rich_help_panel=_REPORTING),
]
VerboseOption = Annotated[
    bool,
    typer.Option("-v", "--verbose", help="Say on standard error what is done, and why.", rich_help_panel=_REPORTING),
]
ProgressOption = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        show_default="a bar on a terminal, else a line every 10 s",
        help="Show what is found so far, and how long it may take, on standard error.",
        rich_help_panel=_REPORTING,
    ),
]
StatsOption = Annotated[
    str | None,
    typer.Option(
        "--stats",
        metavar="FILE",
        show_default=False,
        help="Write what was done (algorithms, times, memory, versions) as JSON.",
        rich_help_panel=_REPORTING,
    ),
]
