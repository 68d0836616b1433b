"""`wfacli dotplot`: dot plot of two sequences, with alignments of them."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from ..dotplot import PictureFormat
from ..dotplot.density import MAX_SIZE
from ..dotplot.draw import write
from ..dotplot.paths import read_blocks
from ..dotplot.picture import PAGE_SIZE, SIZE, Picture, default_size, picture_of
from ..dotplot.sequences import Axis, read_records, read_text
from ..errors import UsageError
from ..io.read.reader import PairFiles
from ..io.write.output import Output, refuse_overwriting
from .console import note, warning
from .options import DebugOption, MaxLineOption, QuietOption
from .pictures import picture_format

DOTPLOT_HELP = """Draw which parts of two sequences or genomes are alike, to look at them before you believe a number.

TARGET runs to the right, QUERY upwards, both from the lower left corner. A dot is a k-mer that both have: blue on \
the same strand, orange where the query's reverse complement has them, darker where a pixel has more of them \
(logarithmic). So what is conserved rises along the diagonal, an inversion falls, a repeat stands beside the \
diagonal, and a gap shifts it.

[bold]Examples[/bold]

  wfacli dotplot mine.fa.gz reference.fa.gz -o plot.png

  wfacli align a.fa b.fa --metric edit -o ab.paf && wfacli dotplot a.fa b.fa --path ab.paf -o plot.html

  wfacli dotplot assembly.fa genome.fa --target-name chr1 --target-name chr2 -o plot.svg

  wfacli dotplot p53.fa p63.fa --literal -k 3 -o proteins.png

  wfacli dotplot old.txt new.txt --text -o texts.html
"""

_INPUT, _DOTS, _OUTPUT, _REPORTING = "Input", "Dots", "Output", "Reporting"

QueryArgument = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help="FASTA or FASTQ, plain, gzip, bgzip or zstd; - is standard input. Several records stand one after "
        "another, with lines between them.",
        rich_help_panel=_INPUT,
    ),
]
TargetArgument = Annotated[
    str, typer.Argument(metavar="TARGET", help="Likewise; the reference, where there is one.", rich_help_panel=_INPUT)
]
QueryNameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--query-name",
        metavar="NAME",
        show_default="all records",
        help="A record of QUERY to draw; may be given again.",
        rich_help_panel=_INPUT,
    ),
]
TargetNameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--target-name",
        metavar="NAME",
        show_default="all records",
        help="A record of TARGET to draw; may be given again.",
        rich_help_panel=_INPUT,
    ),
]
PathOption = Annotated[
    str | None,
    typer.Option(
        "--path",
        metavar="FILE",
        show_default=False,
        help="PAF (cg:Z has the CIGAR) or SAM with alignments of these sequences, by wfacli or any other program: "
        "drawn as lines in the colour of their identity, window by window, and as a profile below the picture.",
        rich_help_panel=_INPUT,
    ),
]
TextOption = Annotated[
    bool,
    typer.Option("--text", help="Read each file as one sequence of bytes instead of FASTA.", rich_help_panel=_INPUT),
]
KmerOption = Annotated[
    int | None,
    typer.Option(
        "-k",
        "--kmer",
        metavar="N",
        min=1,
        show_default="by length, such that few match by chance",
        help="Symbols of a dot: 1 to 32 nucleotides, up to 64 with --literal or --text. A smaller number shows "
        "weaker similarity among more noise.",
        rich_help_panel=_DOTS,
    ),
]
LiteralOption = Annotated[
    bool,
    typer.Option(
        "--literal",
        help="Every symbol matches itself, on one strand; for proteins. Otherwise only A C G T U do. Case never "
        "matters, but with --text.",
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
        show_default=f"{SIZE:,}; {PAGE_SIZE:,} in HTML, where one can look closer",
        help="Pixels of the longer sequence.",
        rich_help_panel=_OUTPUT,
    ),
]
PlotOption = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Output file: .html (one self-contained page that zooms), .png, .svg or .pdf (by matplotlib: pip "
        r"install '.\[plot]').",
        rich_help_panel=_OUTPUT,
    ),
]
PlotFormatOption = Annotated[
    PictureFormat | None,
    typer.Option("--format", show_default="by the suffix of --output", help="What to write.", rich_help_panel=_OUTPUT),
]


def dotplot(
    query: QueryArgument,
    target: TargetArgument,
    output: PlotOption,
    path: PathOption = None,
    query_name: QueryNameOption = None,
    target_name: TargetNameOption = None,
    text: TextOption = False,
    kmer: KmerOption = None,
    literal: LiteralOption = False,
    size: SizeOption = None,
    format_: PlotFormatOption = None,
    max_line: MaxLineOption = "16M",
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Draws QUERY against TARGET; the help is DOTPLOT_HELP."""
    begun = time.perf_counter()
    PairFiles(query, target)  # rejects standard input for both
    if path == "-" and "-" in (query, target):
        raise UsageError("only one of QUERY, TARGET and --path can be standard input")
    if text and (query_name or target_name):
        raise UsageError("--text reads whole files; --query-name and --target-name select records of FASTA")
    chosen = picture_format(output, format_)
    refuse_overwriting((query, target, path), (output,))
    out = Output(output)
    try:
        axes = _axis(query, query_name, text, literal), _axis(target, target_name, text, literal)
        blocks = [] if path is None else read_blocks(path, *axes)
        size = size or default_size(chosen)
        picture = picture_of(*axes, blocks, k=kmer, size=size, literal=literal or text, path=path or "path")
        write(out, picture, chosen)
    except BaseException:
        out.abandon()
        raise
    if not quiet:
        _conclude(picture, literal or text, time.perf_counter() - begun)


def _axis(path: str, names: list[str] | None, text: bool, literal: bool) -> Axis:
    return read_text(path) if text else read_records(path, names or (), fold=literal)


def _conclude(picture: Picture, literal: bool, seconds: float) -> None:
    counted = picture.density
    if not counted.shared and len(picture.query) and len(picture.target):
        hint = "" if literal else "; for proteins and other texts give --literal"
        unit = "symbols" if literal else "bases"
        warning(f"the sequences have no exact match of {counted.k} {unit}: try a smaller -k{hint}")
    lengths = f"{len(picture.query):,} by {len(picture.target):,} {picture.unit}"
    note(f"{lengths}, {picture.caption}, {seconds:.2f} s")
