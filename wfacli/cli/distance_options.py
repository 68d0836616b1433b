"""Options of `wfacli distance`, with their help."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated

import typer

from ..config import Ambiguous, EngineName
from ..solve.distance.deliver import Form
from .groups import ENGINE, INPUT, OUTPUT
from .long_options import JsonOption, LongPair, PlotOption, ThreadsOption

DISTANCE_HELP = """Compute the edit distance (Levenshtein) of two sequences of any length.

QUERY and TARGET are one pair, aligned end to end: each mismatched, inserted or deleted symbol counts 1. For many \
pairs or other costs, see wfacli align.

The distance is exact. One of two algorithms computes it: a wavefront, whose time grows with the square of the \
distance, or bit-vectors, whose time grows with length times distance. An estimate chooses between them, and the \
run switches if the estimate was wrong. Identity is 1 - distance / length of the longer sequence. TCUPS are 10^12 \
cells of the matrix (length times length) per second, whether computed or not.

[bold]Examples[/bold]

  wfacli distance a.fa b.fa

  wfacli distance a.fa.gz b.fa.gz --path -o ab.bam --plot ab.html

  wfacli distance genomes.fa genomes.fa --query-name chr1 --target-name chr1_alt --json

  wfacli distance a.fa b.fa --max-distance 1000

  wfacli distance a.fa b.fa --checkpoint ab.ckpt --resume      # start, and resume after any interruption

  wfacli distance --lines old.txt new.txt --path -o changes.diff
"""


class AlgorithmName(enum.StrEnum):
    """Values of `--algorithm`: the kind of algorithm."""

    AUTO = "auto"
    WAVEFRONT = "wavefront"
    BITS = "bits"


@dataclass(frozen=True)
class DistancePair(LongPair):
    """Two sequences, texts, or files of lines, and what in them is equal."""

    text: Annotated[
        bool,
        typer.Option(
            "--text",
            help="Compare two files of any kind byte by byte. They are read as they are stored: case matters, "
            "nothing is decompressed.",
            rich_help_panel=INPUT,
        ),
    ] = False
    lines: Annotated[
        bool,
        typer.Option(
            "--lines",
            help="Compare two files line by line. A changed, added or missing line counts 1. Line ends (LF or CR "
            "LF) are not compared, and the last line may lack one.",
            rich_help_panel=INPUT,
        ),
    ] = False
    ambiguous: Annotated[
        Ambiguous,
        typer.Option(
            "--ambiguous",
            help="Symbols other than A C G T: literal or mismatch. Literal: each equals itself. Mismatch: they "
            "equal nothing, not even themselves; U reads as T. Case never matters.",
            rich_help_panel=INPUT,
        ),
    ] = Ambiguous.LITERAL


@dataclass(frozen=True)
class DistanceOutput:
    """What is computed and written."""

    max_distance: Annotated[
        int | None,
        typer.Option(
            "--max-distance",
            metavar="K",
            min=0,
            show_default=False,
            help="Stop once the distance is known to exceed K. That is reported, and the exit status is still 0.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    as_json: JsonOption = False
    path: Annotated[
        bool,
        typer.Option(
            "--path",
            help="Also compute the alignment, and write it. Of sequences it is the alignment of wfacli align "
            "--metric edit, as PAF, SAM or BAM; of --lines a unified diff that patch applies to QUERY; of "
            "--text a table of equal, replaced, deleted and inserted parts. Without -o it goes to standard "
            "output, and the result to standard error.",
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
            help="Output file of the result; with --path, of the alignment. It gets its name when it is complete.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    format_: Annotated[
        Form | None,
        typer.Option(
            "--format",
            show_default="from the suffix of -o, else paf, diff or tsv",
            help="Format of --path: of sequences paf, sam or bam, of lines diff or tsv, of texts tsv.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    plot: PlotOption = None


@dataclass(frozen=True)
class DistanceEngine:
    """Where and by which algorithm the distance is computed."""

    engine: Annotated[
        EngineName,
        typer.Option(
            "--engine",
            help="Where to compute. Auto chooses the one that is expected to be fastest. The distance is the same.",
            rich_help_panel=ENGINE,
        ),
    ] = EngineName.AUTO
    algorithm: Annotated[
        AlgorithmName,
        typer.Option(
            "--algorithm",
            help="wavefront or bits; auto chooses by an estimate. Auto may also switch during the run. The "
            "distance is the same.",
            rich_help_panel=ENGINE,
        ),
    ] = AlgorithmName.AUTO
    threads: ThreadsOption = None
