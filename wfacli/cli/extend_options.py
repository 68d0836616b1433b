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
            help="Align every query to every target; the sequences of both files are kept in memory. Typically one "
            "query is aligned to many targets.",
            rich_help_panel=INPUT,
        ),
    ] = False
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            show_default=False,
            help="Align the pairs that FILE lists, one per line: names of a query and a target, separated by a tab. "
            "The sequences of both files are kept in memory.",
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
            help="Score of N, and of any base other than A C G T U, with any base (-127 to 127); not with --matrix.",
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
            help="Also write the best score of the query elsewhere in the target: in the part before the best "
            "alignment, or in the part after it (tag XS:i; with local and semiglobal).",
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
            help="local: the best-scoring parts of both. extension: from the start of both to the best-scoring end. "
            "semiglobal: the whole query anywhere in the target. global: both end to end. Unaligned bases of the "
            "query are soft-clipped in SAM.",
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
            help="Compute cells within W diagonals of the one that starts at the start of both sequences (global: of "
            "those between the two corners). Records that may be improved carry xh:i:1.",
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
            help="Abandon cells of an extension that score more than N below the best before them.",
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
            help="End an extension where the best score of an anti-diagonal falls more than N below the best before "
            "it, not counting the cost of lengthening the gap between the two.",
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
            help="Where to align. auto starts on the CPU and opens a GPU, if there is one, once a run has taken "
            "longer than opening it takes. Of the heuristics, a GPU supports --bandwidth and --zdrop of extensions "
            "with --score-only; --xdrop, --second-best and CIGARs with heuristics run on the CPU. The result is the "
            "same.",
            rich_help_panel=ENGINE,
        ),
    ] = EngineName.AUTO
    gpu_memory: GpuMemoryOption = None
    batch_bases: BatchBasesOption = None
    max_memory: MaxMemoryOption = "784M"
