"""Options specific to `wfacli extend`, with their help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ..config import Ambiguous, EngineName
from ..scoring.matrix_file import BUILT_IN
from ..scoring.spec import ExtendMode
from .groups import ENGINE, HEURISTICS, INPUT, SCORING, SPAN
from .options import BatchBasesOption, GpuMemoryOption, MaxMemoryOption, Pairs, ThreadsOption
from .scoring import AmbiguousOption, ScoreOnlyOption

EXTEND_HELP = """Align pairs under any scores: local, semiglobal, global, or extended from a seed's end.

Record i of QUERY is aligned to record i of TARGET, or every query to every target (--all), or the pairs that a \
file lists by name (--pairs). All cells of the matrix count, so alignments are exact whatever the pairs look like; of \
equally good ones always the same is written. Long runs use an NVIDIA GPU where there is one, with the same result.

[bold]Scores[/bold]

Nucleotides match or do not: --scores 2,4,4,2 gives 2 for a match and -4 for a mismatch, and a gap of length l costs \
4 + l·2. Proteins need a matrix: --matrix BLOSUM62, or a file in NCBI's format.

[bold]Examples[/bold]

  wfacli extend reads.fq.gz windows.fa -o out.sam

  wfacli extend seeds.query.fa seeds.target.fa --mode extension --zdrop 400 --format paf

  wfacli extend query.fa proteome.fa --all --matrix BLOSUM62 --format blast6 -o hits.tsv

  wfacli extend a.fa b.fa --pairs candidates.txt --matrix BLOSUM62 --gaps 11,1 --score-only
"""


@dataclass(frozen=True)
class Selection(Pairs):
    """Files with sequences, and which of their pairs are aligned."""

    all_: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Align every query to every target; both files' sequences are kept in memory. One query against many "
            "targets is the usual case.",
            rich_help_panel=INPUT,
        ),
    ] = False
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            show_default=False,
            help="Align the pairs that FILE lists: a query's and a target's name a line, with a tab between. Both "
            "files' sequences are kept in memory.",
            rich_help_panel=INPUT,
        ),
    ] = None


@dataclass(frozen=True)
class Scores:
    """Substitution scores and gap penalties."""

    scores: Annotated[
        str | None,
        typer.Option(
            "--scores",
            metavar="M,X,O,E",
            show_default="2,4,4,2",
            help="Score of a match, and penalties of a mismatch, a gap opening and a gap extension: a gap of length "
            "l costs o + l·e. 0 to 127 each.",
            rich_help_panel=SCORING,
        ),
    ] = None
    matrix: Annotated[
        str | None,
        typer.Option(
            "--matrix",
            metavar="NAME|FILE",
            show_default=False,
            help=f"Scores of any two symbols: {', '.join(BUILT_IN)}, or a file in NCBI's format (rows are of the "
            "query). Symbols that it lacks are an error.",
            rich_help_panel=SCORING,
        ),
    ] = None
    gaps: Annotated[
        str | None,
        typer.Option(
            "--gaps",
            metavar="O,E",
            show_default=", ".join(f"{name} {o},{e}" for name, (o, e) in BUILT_IN.items()),
            help="With --matrix: penalties of a gap opening and a gap extension.",
            rich_help_panel=SCORING,
        ),
    ] = None
    ambiguous: AmbiguousOption = Ambiguous.MISMATCH
    n_score: Annotated[
        int | None,
        typer.Option(
            "--n-score",
            metavar="N",
            show_default="a mismatch",
            help="Score of N, and of any other base than A C G T U, beside any base (-127 to 127); not with --matrix.",
            rich_help_panel=SCORING,
        ),
    ] = None


@dataclass(frozen=True)
class ExtendScores(Scores):
    """Substitution scores and gap penalties, and which scores are wanted."""

    score_only: ScoreOnlyOption = False
    second_best: Annotated[
        bool,
        typer.Option(
            "--second-best",
            help="Also write the best score that the query has beside its place: with the target's symbols before the "
            "best alignment, or with those after it (tag XS:i; with local and semiglobal).",
            rich_help_panel=SCORING,
        ),
    ] = False


@dataclass(frozen=True)
class ExtendExtent:
    """Which parts of two sequences are aligned, and heuristics."""

    mode: Annotated[
        ExtendMode,
        typer.Option(
            "--mode",
            help="local: the best-scoring parts of both. extension: from both beginnings to the best-scoring end. "
            "semiglobal: the whole query anywhere in the target. global: both whole. What stays unaligned of the "
            "query is soft-clipped in SAM.",
            rich_help_panel=SPAN,
        ),
    ] = ExtendMode.LOCAL
    bandwidth: Annotated[
        int,
        typer.Option(
            "--bandwidth",
            metavar="W",
            min=0,
            show_default="off",
            help="Compute cells within W diagonals of the one that begins at both beginnings (global: of those "
            "between the two corners). Records that may be improved carry xh:i:1.",
            rich_help_panel=HEURISTICS,
        ),
    ] = 0
    xdrop: Annotated[
        int,
        typer.Option(
            "--xdrop",
            metavar="N",
            min=0,
            show_default="off",
            help="Give up cells of an extension that score more than N below the best before them.",
            rich_help_panel=HEURISTICS,
        ),
    ] = 0
    zdrop: Annotated[
        int,
        typer.Option(
            "--zdrop",
            metavar="N",
            min=0,
            show_default="off",
            help="End an extension where an anti-diagonal's best score falls more than N below the best before it, "
            "what lengthening the gap between the two costs left aside.",
            rich_help_panel=HEURISTICS,
        ),
    ] = 0


@dataclass(frozen=True)
class ExtendEngineOptions:
    """Where batches are aligned, and with which resources."""

    threads: ThreadsOption = None
    engine: Annotated[
        EngineName,
        typer.Option(
            "--engine",
            help="Where to align. auto begins on the CPU and opens a GPU, where there is one, once a run has taken "
            "longer than that takes. Of bands and drops it has the scores of extensions (--bandwidth, --zdrop, "
            "--score-only); their CIGARs, --xdrop and --second-best are the CPU's alone. The result is the same.",
            rich_help_panel=ENGINE,
        ),
    ] = EngineName.AUTO
    gpu_memory: GpuMemoryOption = None
    batch_bases: BatchBasesOption = None
    max_memory: MaxMemoryOption = "784M"
