"""Options of `wfacli simulate`, with their help."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from ..config import MAX_THREADS
from ..simulate.pairs import MODELS, PairsFormat

SIMULATE_HELP = """Make pairs of sequences that differ by errors of sequencing, to try and to time aligners.

The target is random, or a window of --reference; the query is what is read of it, with errors. The same options and \
--seed make the same bytes on every machine and with any number of threads, and a longer run begins with a shorter \
one's pairs.

[bold]Examples[/bold]

  wfacli simulate --pairs 1M --length 150 --error 0.05 -o pairs.fa      # pairs.query.fa, pairs.target.fa

  wfacli simulate --pairs 10k | wfacli align - --format paf > out.paf

  wfacli simulate --model ont --length 1k-50k --reference genome.fa --truth truth.paf -o reads.fq

  wfacli simulate --paired --reference genome.fa --insert 400 --insert-sd 50 -o reads.fq    # reads_1.fq, reads_2.fq

With --paired the pairs are reads of --reference, as paired-end sequencing makes them: from both ends of a fragment, \
towards each other, the first one from either strand as often. The name of both is \
simN:SEQUENCE:FIRST-LAST:STRAND:EDITS1:EDITS2: where the fragment lies (from 1, both ends included), the strand of \
the first read, and the errors of each.
"""

_PAIRS, _READS, _ERRORS, _OUTPUT = "Pairs", "Pairs of reads", "Errors", "Output"

# Typer requires choices to be an enum.
Model = enum.StrEnum("Model", {name: name for name in MODELS})  # type: ignore[misc]

PairsOption = Annotated[
    str, typer.Option("-n", "--pairs", metavar="N", help="How many: 1000, 10k, 1.5M.", rich_help_panel=_PAIRS)
]
LengthOption = Annotated[
    str,
    typer.Option(
        "-l",
        "--length",
        metavar="N|MIN-MAX",
        help="Bases of the target, or of each read: 150, 10k; 100-20k for all lengths between, as frequent.",
        rich_help_panel=_PAIRS,
    ),
]
ReferenceOption = Annotated[
    str | None,
    typer.Option(
        "--reference",
        metavar="FILE",
        show_default="random bases",
        help="FASTA, plain, gzip, bgzip or zstd: targets are windows of it that have no other symbols than A C G T, "
        "on the forward strand; their headers say where they lie. Sequences shorter than the longest target are "
        "left out.",
        rich_help_panel=_PAIRS,
    ),
]
PairedOption = Annotated[
    bool,
    typer.Option(
        "--paired",
        help="Make pairs of reads of --reference, in two files for wfacli map, bwa or minimap2.",
        rich_help_panel=_READS,
    ),
]
InsertOption = Annotated[
    str | None,
    typer.Option(
        "--insert",
        metavar="N",
        show_default="400",
        help="Mean length of a fragment, from the outer end of one read to that of the other; never less than a "
        "read's.",
        rich_help_panel=_READS,
    ),
]
InsertDeviationOption = Annotated[
    str | None,
    typer.Option(
        "--insert-sd",
        metavar="N",
        show_default="50",
        help="Standard deviation of these; 0 makes all alike, none is more than six deviations from the mean.",
        rich_help_panel=_READS,
    ),
]
InterleavedOption = Annotated[
    bool,
    typer.Option(
        "--interleaved",
        help="Write both reads of a pair to one file or pipe, one behind the other.",
        rich_help_panel=_READS,
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        "--seed", min=0, max=(1 << 64) - 1, help="Of two seeds come two sets of pairs.", rich_help_panel=_PAIRS
    ),
]
ModelOption = Annotated[
    Model | None,
    typer.Option(
        "-m",
        "--model",
        show_default="uniform; with --paired illumina",
        help="; ".join(f"{name}: {model.about}" for name, model in MODELS.items()) + ".",
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
        help="Edits per base of the target, in the mean of many pairs: 0.05.",
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
        help="Where pairs go. NAME.fa makes NAME.query.fa and NAME.target.fa; NAME.fq makes NAME.query.fq, with "
        "qualities by the model's chances, and NAME.target.fa; NAME.seq and NAME.tsv hold both. With --paired NAME.fq "
        "makes NAME_1.fq and NAME_2.fq.",
        rich_help_panel=_OUTPUT,
    ),
]
FormatOption = Annotated[
    PairsFormat | None,
    typer.Option("--format", show_default="by the suffix of --output", help="What to write.", rich_help_panel=_OUTPUT),
]
TruthOption = Annotated[
    str | None,
    typer.Option(
        "--truth",
        metavar="FILE",
        show_default=False,
        help="PAF with the alignments that the errors make, in cg:Z; with many errors there are better ones.",
        rich_help_panel=_OUTPUT,
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "-t",
        "--threads",
        min=1,
        max=MAX_THREADS,
        show_default="the cores this process may use",
        help="Threads that make pairs. The output does not depend on it.",
        rich_help_panel=_OUTPUT,
    ),
]
