"""Options of `wfacli bench`, with their help."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from ..config import EngineName, Metric

BENCH_HELP = """Measure how fast wfacli aligns on this machine.

Simulated pairs of several lengths and error rates are aligned by each engine, from sequences in memory to \
alignments in memory. Each row is run once to warm up, with every alignment checked, and then several times; the \
table shows the best, the median and the slowest run. Exact engines must agree on every pair.

GCUPS are 10^9 cells of the matrices (length times length) per second, computed or not. "of limit" is the time that \
the bases alone need to pass through memory (CPU) or over the bus to the GPU, divided by the time taken; both rates \
are measured first.

[bold]Examples[/bold]

  wfacli bench --quick --stats today.json --plot today.html

  wfacli bench -l 150,250 -e 0.01 --metric affine --task score -t 1,8,16

  wfacli bench -l 10k --metric affine --band 100
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
        help="Bases of targets; may be repeated.",
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
        help="Edits per base of the target; may be repeated.",
        rich_help_panel=_ERRORS,
    ),
]
PairsOption = Annotated[
    str | None,
    typer.Option(
        "-n",
        "--pairs",
        metavar="N",
        show_default="some tenths of a second's",
        help="Pairs per row, like 1000, 10k or 1.5M.",
        rich_help_panel=_WORK,
    ),
]
MetricsOption = Annotated[
    list[Metric] | None,
    typer.Option(
        "--metric",
        show_default="affine and edit",
        metavar="NAME",
        help="Cost model, as in wfacli align; may be repeated.",
        rich_help_panel=_TASK,
    ),
]
WantedOption = Annotated[
    Wanted,
    typer.Option("--task", help="What to compute: alignments (cigar), scores, or both.", rich_help_panel=_TASK),
]
ThreadCountsOption = Annotated[
    list[str] | None,
    typer.Option(
        "-t",
        "-@",
        "--threads",
        metavar="N,...",
        show_default="1, and all usable cores",
        help="Threads of the CPU engine; each count is measured. May be repeated. A GPU uses the largest count.",
        rich_help_panel=_ENGINE,
    ),
]
BenchEngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        help="Engines to measure. Auto: the CPU, and a GPU if there is one that works.",
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
        show_default=False,
        help="Start no measurement after M minutes. What was not measured is listed below the table.",
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
        help="Repeats of each row, after a warm-up run.",
        rich_help_panel=_WORK,
    ),
]
BenchStatsOption = Annotated[
    str | None,
    typer.Option(
        "--stats",
        metavar="FILE",
        show_default=False,
        help="Write all repeats, versions and the machine as JSON. In a checkout, bench/harness/compare.py compares "
        "two such files.",
        rich_help_panel=_OUTPUT,
    ),
]
BenchPlotOption = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        show_default=False,
        help="Draw the results: .html, .png, .svg or .pdf. The HTML page is self-contained and has the whole "
        "table; the others are drawn by matplotlib (extra plot).",
        rich_help_panel=_OUTPUT,
    ),
]
