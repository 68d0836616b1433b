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

EXTEND_HELP = """Align many pairs by scores: local, semiglobal, global, or extended from a seed.

Record i of QUERY is aligned to record i of TARGET, or every query to every target (--all), or the pairs that a \
file lists by name (--pair-list). Alignments are exact for any input. If several are equally good, the choice is \
defined. Long runs use an NVIDIA GPU if there is one, with the same output. MAPQ is 255, "not available".

For nucleotides, --scores 2,4,4,2 gives 2 for a match and -4 for a mismatch, and a gap of length l costs 4 + l·2. \
Proteins need a matrix: --matrix BLOSUM62, or a file in NCBI's format.

[bold]Examples[/bold]

  wfacli extend reads.fq.gz windows.fa --mode local -o out.sam

  wfacli extend p.fa db.fa --mode local --all --matrix BLOSUM62 -o hits.m8

  wfacli extend seeds.query.fa seeds.target.fa --mode extension --zdrop 400 --format paf

  wfacli extend a.fa b.fa --mode local --pair-list candidates.txt --matrix BLOSUM62 --gaps 11,1 --score-only
"""


@dataclass(frozen=True)
class Selection(Pairs):
    """Files with sequences, and which of their pairs are aligned."""

    all_: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Align every query to every target. The sequences of both files are kept in memory. Typically "
            "one query is aligned to many targets.",
            rich_help_panel=INPUT,
        ),
    ] = False
    pair_list: Annotated[
        str | None,
        typer.Option(
            "--pair-list",
            metavar="FILE",
            show_default=False,
            help="Align the pairs that FILE lists by name. Each line has the names of a query and a target, "
            "separated by a tab. The sequences of both files are kept in memory.",
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
            help="Match score; penalties of mismatch, gap opening, gap extension. A gap of length l costs O + "
            "l·E. Each is 0 to 127.",
            rich_help_panel=SCORING,
        ),
    ] = None
    matrix: Annotated[
        str | None,
        typer.Option(
            "--matrix",
            metavar="NAME|FILE",
            show_default=False,
            help=f"Substitution matrix: {', '.join(BUILT_IN)}, or a file. A file is in NCBI's format, and its rows "
            "are of the query. Symbols that it lacks are an error.",
            rich_help_panel=SCORING,
        ),
    ] = None
    gaps: Annotated[
        str | None,
        typer.Option(
            "--gaps",
            metavar="O,E",
            show_default="those of the matrix",
            help="Gap opening and gap extension, with --matrix. Without it: "
            + ", ".join(f"{name} {o},{e}" for name, (o, e) in BUILT_IN.items())
            + ".",
            rich_help_panel=SCORING,
        ),
    ] = None
    ambiguous: AmbiguousOption = Ambiguous.MISMATCH
    n_score: Annotated[
        int | None,
        typer.Option(
            "--n-score",
            metavar="N",
            show_default="as a mismatch",
            help="Score of N with any base, -127 to 127. It is also that of any other symbol than A C G T U; not "
            "with --matrix.",
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
            help="Also write the best score elsewhere in the target (tag XS:i). Elsewhere is the part before the "
            "best alignment, or the part after it. With local and semiglobal.",
            rich_help_panel=SCORING,
        ),
    ] = False


@dataclass(frozen=True)
class ExtendExtent:
    """Which parts of two sequences are aligned, and heuristics."""

    mode: Annotated[
        ExtendMode | None,
        typer.Option(
            "--mode",
            show_default="local",
            help="local, extension, semiglobal or global. Local: the best-scoring parts of both sequences. "
            "Extension: from the start of both to the best-scoring end. Semiglobal: the whole query, "
            "anywhere in the target. Global: both end to end. Unaligned bases of the query are soft-clipped "
            "in SAM.",
            rich_help_panel=SPAN,
        ),
    ] = None
    band: Annotated[
        int,
        typer.Option(
            "--band",
            metavar="W",
            min=0,
            show_default=False,
            help="Compute only W diagonals on either side. They lie beside the one through the start of both "
            "sequences (global: beside those between the two corners). Records that may be improved carry "
            "xh:i:1.",
            rich_help_panel=HEURISTICS,
        ),
    ] = 0
    xdrop: Annotated[
        int,
        typer.Option(
            "--xdrop",
            metavar="N",
            min=0,
            show_default=False,
            help="Drop cells of an extension more than N below the best score.",
            rich_help_panel=HEURISTICS,
        ),
    ] = 0
    zdrop: Annotated[
        int,
        typer.Option(
            "--zdrop",
            metavar="N",
            min=0,
            show_default=False,
            help="End an extension that falls N below its best score. What counts is the best score of an "
            "anti-diagonal; the cost of lengthening the gap in between does not count.",
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
            help="Where to align. Auto starts on the CPU, and opens a GPU once the run has taken longer than that "
            "takes. Of the heuristics, a GPU supports --band and --zdrop of extensions with --score-only; "
            "--xdrop, --second-best and CIGARs with heuristics run on the CPU. The output does not depend on "
            "it.",
            rich_help_panel=ENGINE,
        ),
    ] = EngineName.AUTO
    gpu_memory: GpuMemoryOption = None
    batch_bases: BatchBasesOption = None
    max_memory: MaxMemoryOption = "784M"
