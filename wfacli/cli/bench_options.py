"""Options of `wfacli bench`, with their help."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from ..config import EngineName, Metric

BENCH_HELP = """Measure how fast wfacli aligns on this machine, beside what memory and bus allow.

Simulated pairs of several lengths and errors are aligned by each engine, from sequences in memory to alignments in \
memory. Each row is run once to warm up (every path is then checked against its sequences), and then several times: \
the table has the best, the middle and the slowest of these. Exact engines must agree on every pair.

[bold]Examples[/bold]

  wfacli bench                                      # two minutes on two cores

  wfacli bench --quick --json today.json --plot today.html

  wfacli bench -l 150,250 -e 0.01 --metric affine --task score -t 1,8,16

  wfacli bench -l 10k --metric affine --band 100    # how much faster, and its recall

[bold]GCUPS[/bold] are cells of the whole matrices (length times length) by the second, in thousands of millions, \
computed or not. [bold]of limit[/bold]: the time that the bases alone take through memory (CPU), or over the bus to \
the GPU (GPU), by the time taken; both rates are measured first.
"""

_WORK, _ERRORS, _TASK, _ENGINE, _OUTPUT = "Pairs", "Errors", "Scoring", "Engine", "Output"


class Wanted(enum.StrEnum):
    """Result computed for each pair: CIGAR, score, or both."""

    CIGAR = "cigar"
    SCORE = "score"
    BOTH = "both"


LengthsOption = Annotated[
    list[str] | None,
    typer.Option(
        "-l",
        "--length",
        metavar="N,...",
        show_default="150,1k,10k",
        help="Bases of targets: 150, 1k; may be given again.",
        rich_help_panel=_WORK,
    ),
]
ErrorsOption = Annotated[
    list[str] | None,
    typer.Option(
        "-e",
        "--error",
        metavar="RATE,...",
        show_default="0.02,0.05,0.1; with another --model its own",
        help="Edits per base of the target; may be given again.",
        rich_help_panel=_ERRORS,
    ),
]
PairsOption = Annotated[
    str | None,
    typer.Option(
        "-n",
        "--pairs",
        metavar="N",
        show_default="as many as take some tenths of a second",
        help="Pairs of each row: 1000, 10k, 1.5M.",
        rich_help_panel=_WORK,
    ),
]
MetricsOption = Annotated[
    list[Metric] | None,
    typer.Option(
        "--metric",
        show_default="affine and edit",
        help="What an alignment costs, as for wfacli align; may be given again.",
        rich_help_panel=_TASK,
    ),
]
WantedOption = Annotated[
    Wanted,
    typer.Option("--task", help="Alignments, scores alone, or both, one after the other.", rich_help_panel=_TASK),
]
ThreadCountsOption = Annotated[
    list[str] | None,
    typer.Option(
        "-t",
        "--threads",
        metavar="N,...",
        show_default="1, and the cores this process may use",
        help="Threads of the CPU engine, each count measured separately; may be given again. A GPU uses the largest "
        "count.",
        rich_help_panel=_ENGINE,
    ),
]
BenchEngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        help="Engines to measure; auto: the CPU, and a GPU if there is one that works.",
        rich_help_panel=_ENGINE,
    ),
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="A quarter of the pairs, fewer repeats: half a minute.", rich_help_panel=_WORK)
]
MinutesOption = Annotated[
    float | None,
    typer.Option(
        "--minutes",
        metavar="M",
        min=0.0,
        show_default="as long as it takes",
        help="Start no measurement after this time; what was not measured is listed below the table.",
        rich_help_panel=_WORK,
    ),
]
RepeatsOption = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        metavar="N",
        min=1,
        show_default="5; 3 with --quick",
        help="Repeats of each row, after one run that is not counted.",
        rich_help_panel=_WORK,
    ),
]
JsonOption = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        show_default=False,
        help="Also write every repeat, with machine, versions, commit and what the times include; "
        "bench/harness/compare.py of the repository compares two such files.",
        rich_help_panel=_OUTPUT,
    ),
]
BenchPlotOption = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        show_default=False,
        help="Also draw the results: .html (self-contained, with the whole table), .png, .svg or .pdf (by "
        r"matplotlib: pip install '.\[plot]').",
        rich_help_panel=_OUTPUT,
    ),
]
