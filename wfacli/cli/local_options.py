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

LOCAL_HELP = """Find the best local alignments (Smith-Waterman, affine gaps) of two sequences of any length.

One pair, several million symbols each, exactly: the best-scoring part of A with the best-scoring part of B, and with \
--top the next best ones. For many pairs there is [bold]wfacli extend[/bold]. Large pairs run on an NVIDIA GPU where \
there is one, with the same result.

[bold]Examples[/bold]

  wfacli local a.fa b.fa -o ab.paf

  wfacli local chr1.fa.gz chr1_other.fa.gz --scores 1,3,5,2 --checkpoint ab.ckpt --resume -o ab.sam

  wfacli local genomes.fa genomes.fa --name-a one --name-b two --top 5 --plot ab.html

  wfacli local p53.fa p63.fa --matrix BLOSUM62 --json -o p.paf

  wfacli local a.fa b.fa --score-only

Of equally good alignments the one that begins last in A is taken, then last in B; gaps lie left-most. \
With [bold]--top[/bold] each further alignment is the best that pairs no two symbols which one before it pairs \
(Waterman and Eggert), and takes about as long as the first. [bold]GCUPS[/bold] are the cells of the whole matrix by \
the second, in thousands of millions, computed or left out because no best alignment can lead through them.
"""


@dataclass(frozen=True)
class LocalScores(Scores):
    """Substitution scores and gap penalties."""

    ambiguous: Annotated[
        Ambiguous,
        typer.Option(
            "--ambiguous",
            help="Symbols other than A C G T U, with --scores: mismatch (they match nothing), wildcard (IUPAC codes "
            "match what they stand for), literal (each matches itself). Case never matters.",
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
            help="Find the K best alignments, or as many as there are with a score above 0.",
            rich_help_panel=OUTPUT,
        ),
    ] = 1
    score_only: Annotated[
        bool,
        typer.Option(
            "--score-only",
            help="Find the best score and the start of its alignment, and write no alignment.",
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
            help="Output file of the alignments (the result then goes to standard output, else to standard error); "
            "with --score-only, of the result. It gets its name when it is complete.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    format_: Annotated[
        Form | None,
        typer.Option(
            "--format",
            metavar="<paf|sam|bam|tsv>",
            show_default="by the suffix of --output, else paf",
            help="Format of the alignments: paf, sam, bam or tsv. A is the query, B the target.",
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
            help="Where to search; auto uses a GPU if there is one and it is expected to be faster. The GPU finds "
            "the score, and the threads of the CPU compute the alignment from the rows that it has kept. The result "
            "is the same, and a run can be resumed on the other engine.",
            rich_help_panel=ENGINE,
        ),
    ] = EngineName.AUTO
    threads: ThreadsOption = None
    max_memory: Annotated[
        str,
        typer.Option(
            "--max-memory",
            metavar="SIZE",
            help="Memory for the traceback, besides the sequences, like 500M or 2G; with less, a run takes a little "
            "longer. A checkpoint is about as large.",
            rich_help_panel=ENGINE,
        ),
    ] = "1G"
