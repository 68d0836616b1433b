"""`wfacli dotplot`: dot plot of two sequences, with alignments of them."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from ..config import Ambiguous
from ..dotplot import PictureFormat
from ..dotplot.density import MAX_SIZE
from ..dotplot.draw import write
from ..dotplot.paths import read_blocks
from ..dotplot.picture import Picture, default_size, picture_of
from ..dotplot.sequences import Axis, read_records, read_text
from ..errors import UsageError
from ..io.read.reader import PairFiles
from ..io.write.output import Output, refuse_overwriting
from .console import note, warning
from .options import DebugOption, MaxLineOption, QuietOption
from .pictures import picture_format

DOTPLOT_HELP = """Draw a dot plot of two sequences or genomes, with alignments.

TARGET is the horizontal axis and QUERY the vertical one, both from the lower left corner. A dot is a k-mer that \
both contain: blue on the same strand, orange for the reverse complement of the query, and darker where a pixel has \
more of them (logarithmic). Conserved sequence forms rising diagonals and inversions falling ones; repeats form \
parallels, and gaps shift the diagonal.

[bold]Examples[/bold]

  wfacli dotplot mine.fa.gz reference.fa.gz -o plot.png

  wfacli dotplot a.fa b.fa --alignments ab.paf -o plot.html

  wfacli dotplot asm.fa ref.fa --target-name chr1 --target-name chr2 -o plot.svg

  wfacli dotplot p53.fa p63.fa --ambiguous literal -k 3 -o proteins.png

  wfacli dotplot old.txt new.txt --text -o texts.html
"""

_INPUT, _DOTS, _OUTPUT, _REPORTING = "Input", "Dots", "Output", "Reporting"

QueryArgument = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help="FASTA or FASTQ, plain, gzip, bgzip or zstd; - is standard input. Records are drawn one after "
        "another, with lines between them.",
        rich_help_panel=_INPUT,
    ),
]
TargetArgument = Annotated[
    str, typer.Argument(metavar="TARGET", help="As QUERY; the reference, if there is one.", rich_help_panel=_INPUT)
]
QueryNameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--query-name",
        metavar="NAME",
        show_default="all records",
        help="A record of QUERY to draw; may be repeated.",
        rich_help_panel=_INPUT,
    ),
]
TargetNameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--target-name",
        metavar="NAME",
        show_default="all records",
        help="A record of TARGET to draw; may be repeated.",
        rich_help_panel=_INPUT,
    ),
]
AlignmentsOption = Annotated[
    str | None,
    typer.Option(
        "--alignments",
        metavar="FILE",
        show_default=False,
        help="PAF or SAM with alignments to draw as lines. The color of a line is its identity, window by window, "
        "which is also drawn as a profile below the plot. PAF needs CIGARs (cg:Z).",
        rich_help_panel=_INPUT,
    ),
]
TextOption = Annotated[
    bool,
    typer.Option("--text", help="Read each file as one sequence of bytes.", rich_help_panel=_INPUT),
]
KmerOption = Annotated[
    int | None,
    typer.Option(
        "-k",
        "--kmer",
        metavar="N",
        min=1,
        show_default="by length",
        help="Length of the k-mers, 1 to 32. With --ambiguous literal or --text it is up to 64. A smaller number "
        "shows weaker similarity among more noise.",
        rich_help_panel=_DOTS,
    ),
]
AmbiguousOption = Annotated[
    Ambiguous | None,
    typer.Option(
        "--ambiguous",
        metavar="NAME",
        show_default="mismatch; with --text literal",
        help="Symbols other than A C G T U: literal or mismatch. Literal: each symbol matches itself, on one strand, "
        "for proteins. Mismatch: they match nothing. Case matters only with --text.",
        rich_help_panel=_DOTS,
    ),
]
SizeOption = Annotated[
    int | None,
    typer.Option(
        "--size",
        metavar="N",
        min=16,
        max=MAX_SIZE,
        show_default="1,000; 4,000 in HTML",
        help="Pixels of the longer side.",
        rich_help_panel=_OUTPUT,
    ),
]
PlotOption = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Output file: .html (self-contained, zooms), .png, .svg or .pdf. The last three are drawn by "
        "matplotlib (extra plot).",
        rich_help_panel=_OUTPUT,
    ),
]
PlotFormatOption = Annotated[
    PictureFormat | None,
    typer.Option(
        "--format",
        show_default="from the suffix of -o",
        metavar="NAME",
        help="png, svg, pdf or html.",
        rich_help_panel=_OUTPUT,
    ),
]


def dotplot(
    query: QueryArgument,
    target: TargetArgument,
    output: PlotOption,
    alignments: AlignmentsOption = None,
    query_name: QueryNameOption = None,
    target_name: TargetNameOption = None,
    text: TextOption = False,
    kmer: KmerOption = None,
    ambiguous: AmbiguousOption = None,
    size: SizeOption = None,
    format_: PlotFormatOption = None,
    max_line: MaxLineOption = "16M",
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Draws QUERY against TARGET; the help is DOTPLOT_HELP."""
    begun = time.perf_counter()
    PairFiles(query, target)  # rejects standard input for both
    if alignments == "-" and "-" in (query, target):
        raise UsageError("only one of QUERY, TARGET and --alignments can be standard input")
    if text and (query_name or target_name):
        raise UsageError("--text reads whole files; --query-name and --target-name select records of FASTA")
    if text and ambiguous is Ambiguous.MISMATCH:
        raise UsageError("--text compares all bytes; --ambiguous mismatch is for sequences")
    if ambiguous is Ambiguous.WILDCARD:
        raise UsageError("a dot is an exact match: --ambiguous is literal or mismatch")
    literal = text or ambiguous is Ambiguous.LITERAL
    chosen = picture_format(output, format_)
    refuse_overwriting((query, target, alignments), (output,))
    out = Output(output)
    try:
        axes = _axis(query, query_name, text, literal), _axis(target, target_name, text, literal)
        blocks = [] if alignments is None else read_blocks(alignments, *axes)
        size = size or default_size(chosen)
        picture = picture_of(*axes, blocks, k=kmer, size=size, literal=literal, path=alignments or "path")
        write(out, picture, chosen)
    except BaseException:
        out.abandon()
        raise
    if not quiet:
        _conclude(picture, literal, time.perf_counter() - begun)


def _axis(path: str, names: list[str] | None, text: bool, literal: bool) -> Axis:
    return read_text(path) if text else read_records(path, names or (), fold=literal)


def _conclude(picture: Picture, literal: bool, seconds: float) -> None:
    counted = picture.density
    if not counted.shared and len(picture.query) and len(picture.target):
        hint = "" if literal else "; for proteins and other texts give --ambiguous literal"
        unit = "symbols" if literal else "bases"
        warning(f"the sequences have no exact match of {counted.k} {unit}: try a smaller -k{hint}")
    lengths = f"{len(picture.query):,} by {len(picture.target):,} {picture.unit}"
    note(f"{lengths}, {picture.caption}, {seconds:.2f} s")
