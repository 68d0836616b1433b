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

DISTANCE_HELP = """Compute the exact edit (Levenshtein) distance of two sequences of any length, and their alignment.

One pair, from end to end: each mismatched, inserted or deleted symbol counts 1. For many pairs, and other costs, \
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
            help="Compare two files of any kind byte by byte, as they are stored: case matters, nothing is "
            "decompressed.",
            rich_help_panel=INPUT,
        ),
    ] = False
    lines: Annotated[
        bool,
        typer.Option(
            "--lines",
            help="Compare two files line by line: a changed, added or missing line counts 1. Line ends (LF or CR LF) "
            "are not compared; the last line may lack one.",
            rich_help_panel=INPUT,
        ),
    ] = False
    ambiguous: Annotated[
        Ambiguous,
        typer.Option(
            "--ambiguous",
            help="Symbols other than A C G T: literal (each equals itself), mismatch (they equal nothing, not even "
            "themselves; U reads as T). wildcard does not go with distance. Case never matters.",
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
            help="Stop as soon as the distance is known to exceed K, and report that; the exit status is still 0.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    as_json: JsonOption = False
    path: Annotated[
        bool,
        typer.Option(
            "--path",
            help="Also compute the alignment and write it. Of sequences (A is the query, B the target) it is the "
            "alignment of wfacli align --metric edit, as PAF, SAM or BAM; of --lines a unified diff that patch "
            "applies to A, line ends included; of --text a table of equal, replaced, deleted and inserted parts, "
            "with their positions in A and B. Without -o it goes to standard output, and the result to standard "
            "error.",
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
            show_default="by the suffix of --output, else paf, for --lines diff, for --text tsv",
            help="Format of the alignment of --path: of sequences paf, sam or bam (by pysam: pip install "
            r"'.\[bam]'), of lines diff or tsv, of texts tsv.",
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
            help="Where to compute; auto chooses the fastest. The distance is the same.",
            rich_help_panel=ENGINE,
        ),
    ] = EngineName.AUTO
    algorithm: Annotated[
        AlgorithmName,
        typer.Option(
            "--algorithm",
            help="Use only this algorithm; auto chooses by an estimate and may switch. The distance is the same.",
            rich_help_panel=ENGINE,
        ),
    ] = AlgorithmName.AUTO
    threads: ThreadsOption = None
