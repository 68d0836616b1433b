"""Options of `wfacli simulate`, with their help."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from ..config import MAX_THREADS
from ..simulate.pairs import MODELS, PairsFormat

SIMULATE_HELP = """Simulate pairs of sequences, or paired-end reads, with sequencing errors.

The target is random, or a window of --reference. The query is the target with errors. The same options and --seed \
give the same bytes on every machine and with any number of threads, and a longer run begins with the pairs of a \
shorter one.

With --paired, the pairs are reads from both ends of fragments of --reference, towards each other; the first read \
is from either strand with equal probability. Both are named simN:SEQUENCE:FIRST-LAST:STRAND:EDITS1:EDITS2, with \
the position of the fragment (from 1, both ends included), the strand of the first read, and the errors of each \
read.

[bold]Examples[/bold]

  wfacli simulate --pairs 1M --length 150 --error 0.05 -o pairs.fa

  wfacli simulate --pairs 10k | wfacli align - > out.paf

  wfacli simulate --model ont --length 1k-50k --reference genome.fa --truth truth.paf -o reads.fq

  wfacli simulate --paired --reference genome.fa --insert 400 --insert-sd 50 -o reads.fq
"""

_PAIRS, _READS, _ERRORS, _OUTPUT = "Pairs", "Pairs of reads", "Errors", "Output"

# Typer requires choices to be an enum.
Model = enum.StrEnum("Model", {name: name for name in MODELS})  # type: ignore[misc]

PairsOption = Annotated[
    str,
    typer.Option(
        "-n", "--pairs", metavar="N", help="Number of pairs, like 1000, 10k or 1.5M.", rich_help_panel=_PAIRS
    ),
]
LengthOption = Annotated[
    str,
    typer.Option(
        "-l",
        "--length",
        metavar="N|MIN-MAX",
        help="Bases of a target or read; a range like 100-20k is uniform.",
        rich_help_panel=_PAIRS,
    ),
]
ReferenceOption = Annotated[
    str | None,
    typer.Option(
        "--reference",
        metavar="FILE",
        show_default="random bases",
        help="FASTA whose windows are the targets. Windows are on the forward strand and have no other symbols "
        "than A C G T; their headers give their positions. Sequences shorter than the longest target are not "
        "used.",
        rich_help_panel=_PAIRS,
    ),
]
PairedOption = Annotated[
    bool,
    typer.Option(
        "--paired",
        help="Simulate paired-end reads of --reference. They are written to two files, for wfacli map, bwa or "
        "minimap2.",
        rich_help_panel=_READS,
    ),
]
InsertOption = Annotated[
    str | None,
    typer.Option(
        "--insert",
        metavar="N",
        show_default="400",
        help="Mean length of a fragment. It is the distance between the outer ends of both reads, at least the "
        "length of a read.",
        rich_help_panel=_READS,
    ),
]
InsertDeviationOption = Annotated[
    str | None,
    typer.Option(
        "--insert-sd",
        metavar="N",
        show_default="50",
        help="Standard deviation of the fragment length. With 0 all fragments are as long; none is more than six "
        "deviations from the mean.",
        rich_help_panel=_READS,
    ),
]
InterleavedOption = Annotated[
    bool,
    typer.Option(
        "--interleaved",
        help="Write both reads of a pair one after the other, to one file or pipe.",
        rich_help_panel=_READS,
    ),
]
SeedOption = Annotated[
    int,
    typer.Option("--seed", min=0, max=(1 << 64) - 1, metavar="N", help="Random seed.", rich_help_panel=_PAIRS),
]
ModelOption = Annotated[
    Model | None,
    typer.Option(
        "-m",
        "--model",
        show_default="uniform; illumina for --paired",
        metavar="NAME",
        help=f"Error model: {', '.join(MODELS)}. "
        + " ".join(f"{name.capitalize()}: {model.about}." for name, model in MODELS.items()),
        rich_help_panel=_ERRORS,
    ),
]
ErrorOption = Annotated[
    float | None,
    typer.Option(
        "-e",
        "--error",
        metavar="RATE",
        show_default=", ".join(f"{model.error} {name}" for name, model in MODELS.items()),
        help="Mean number of edits per base of the target.",
        rich_help_panel=_ERRORS,
    ),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        show_default="standard output, as .seq",
        help="Output file: NAME.fa, .fq, .seq or .tsv. NAME.fa makes NAME.query.fa and NAME.target.fa; NAME.fq "
        "makes NAME.query.fq, with the qualities of the model, and NAME.target.fa; .seq and .tsv hold both. "
        "With --paired, NAME.fq makes NAME_1.fq and NAME_2.fq.",
        rich_help_panel=_OUTPUT,
    ),
]
FormatOption = Annotated[
    PairsFormat | None,
    typer.Option(
        "--format",
        show_default="from the suffix of -o",
        metavar="NAME",
        help="fasta, fastq, seq or tsv.",
        rich_help_panel=_OUTPUT,
    ),
]
TruthOption = Annotated[
    str | None,
    typer.Option(
        "--truth",
        metavar="FILE",
        show_default=False,
        help="Write the simulated alignments as PAF. With many errors there are better ones.",
        rich_help_panel=_OUTPUT,
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "-t",
        "-@",
        "--threads",
        min=1,
        max=MAX_THREADS,
        show_default="all usable cores",
        metavar="N",
        help="Number of threads. The output does not depend on it.",
        rich_help_panel=_OUTPUT,
    ),
]
