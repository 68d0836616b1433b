"""Options specific to `wfacli local`, with their help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ..config import Ambiguous, EngineName
from ..solve.distance.deliver import Form
from .extend_options import Scores
from .groups import ENGINE, OUTPUT, SCORING
from .long_options import JsonOption, PlotOption, ThreadsOption

LOCAL_HELP = """Find the best local alignments (Smith-Waterman) of two sequences of any length.

QUERY and TARGET are one pair, of several million symbols each. Gaps are affine, and the alignments are exact. \
--top finds further ones. For many pairs see wfacli extend. Large pairs run on an NVIDIA GPU if there is one, with \
the same result.

Of equally good alignments, the one that starts last in QUERY is chosen, then last in TARGET; gaps are \
left-aligned. With --top, each further alignment is the best one that aligns no two symbols which an earlier one \
aligns (Waterman and Eggert), and takes about as long as the first. GCUPS are 10^9 cells of the matrix (length \
times length) per second, computed or skipped because no best alignment leads through them.

[bold]Examples[/bold]

  wfacli local a.fa b.fa -o ab.paf

  wfacli local p53.fa p63.fa --matrix BLOSUM62 --json -o p.paf

  wfacli local genomes.fa genomes.fa --query-name one --target-name two --top 5 --plot ab.html

  wfacli local chr1.fa.gz chr1_other.fa.gz --scores 1,3,5,2 --checkpoint ab.ckpt --resume -o ab.sam

  wfacli local a.fa b.fa --score-only
"""


@dataclass(frozen=True)
class LocalScores(Scores):
    """Substitution scores and gap penalties."""

    ambiguous: Annotated[
        Ambiguous,
        typer.Option(
            "--ambiguous",
            help="What N and other symbols match: mismatch, wildcard or literal. With --scores. Mismatch: symbols "
            "other than A C G T U match nothing. Wildcard: IUPAC codes match the bases that they stand for. "
            "Literal: each matches itself. Case never matters.",
            rich_help_panel=SCORING,
        ),
    ] = Ambiguous.MISMATCH


@dataclass(frozen=True)
class LocalOutput:
    """What is searched and written."""

    top: Annotated[
        int,
        typer.Option(
            "--top",
            metavar="K",
            min=1,
            help="Find the K best alignments. Fewer are found if no others have a score above 0.",
            rich_help_panel=OUTPUT,
        ),
    ] = 1
    score_only: Annotated[
        bool,
        typer.Option(
            "--score-only",
            help="Find the best score and its start, without an alignment.",
            rich_help_panel=OUTPUT,
        ),
    ] = False
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default="standard output",
            help="Output file of the alignments. The result then goes to standard output, else to standard error; "
            "with --score-only the file gets the result. It gets its name when it is complete.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    format_: Annotated[
        Form | None,
        typer.Option(
            "--format",
            metavar="NAME",
            show_default="from the suffix of -o, else paf",
            help="Format of the alignments: paf, sam, bam or tsv.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    as_json: JsonOption = False
    plot: PlotOption = None


@dataclass(frozen=True)
class LocalEngine:
    """Where alignments are searched, and with which resources."""

    engine: Annotated[
        EngineName,
        typer.Option(
            "--engine",
            help="Where to search. Auto uses a GPU if it is expected to be faster. The GPU finds the score, and "
            "CPU threads compute the alignment from the rows that it has kept. The result is the same, and a "
            "run can be resumed on the other engine.",
            rich_help_panel=ENGINE,
        ),
    ] = EngineName.AUTO
    threads: ThreadsOption = None
    max_memory: Annotated[
        str,
        typer.Option(
            "--max-memory",
            metavar="SIZE",
            help="Memory for the traceback, besides the sequences. With less, a run takes a little longer. A "
            "checkpoint is about as large.",
            rich_help_panel=ENGINE,
        ),
    ] = "1G"
