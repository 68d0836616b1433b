"""Options that several commands share, with their help."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from ..config import CPU_BATCH, GPU_BATCH, Ambiguous, CigarStyle, EngineName, Metric, Mode
from ..errors import UsageError
from ..plan.kernels import CPU_KERNELS
from .numbers import MAX_BYTES, MAX_THREADS
from .outputs import OutputFormat
from .scoring import bytes_of

ALIGN_HELP = """Align record i of QUERY to record i of TARGET, exactly and (unless --mode says otherwise) end to end.

Of equally good alignments it always writes the same one (gaps left-most): the output is identical \
for every number of threads and every batch size.

[bold]Examples[/bold]

  wfacli align reads.fq.gz targets.fa -o out.sam

  wfacli align reads.fa targets.fa --metric edit --format paf > out.paf

  wfacli align reads.fa regions.fa --mode hw --score-only -o scores.tsv

  zcat pairs.seq.gz | wfacli align - --format tsv | head

  wfacli align reads.fq targets.fa --md -o out.bam

  minimap2 -x map-hifi ref.fa reads.fq | wfacli align reads.fq ref.fa --mappings - --sort -o out.bam
"""

_INPUT, _SCORING, _SPAN, _HEURISTICS = "Input", "Scoring", "Span", "Heuristics (may miss the best alignment)"
_OUTPUT, _ENGINE, _REPORTING = "Output", "Engine", "Reporting"


# Typer requires choices to be an enum.
Kernel = enum.StrEnum("Kernel", {name: name for name in CPU_KERNELS})  # type: ignore[misc]

QueryArgument = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help="FASTA or FASTQ with the reads, or one file of pairs: .seq lines '>query' '<target' in turn, or a "
        "table with tabs (query, target; or name, query, target). Plain, gzip, bgzip or zstd. - is standard input.",
        rich_help_panel=_INPUT,
    ),
]
TargetArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TARGET",
        show_default=False,
        help="FASTA or FASTQ: record i is what record i of QUERY is aligned to.",
        rich_help_panel=_INPUT,
    ),
]
MetricOption = Annotated[
    Metric | None,
    typer.Option(
        "--metric",
        show_default="affine; with --preset affine2p with its scores",
        help="edit: each mismatch, inserted or deleted base costs 1. indel: no mismatches. linear: a gap of l bases "
        "costs l·e. affine: o + l·e. affine2p: the cheaper of two such.",
        rich_help_panel=_SCORING,
    ),
]
PenaltiesOption = Annotated[
    str | None,
    typer.Option(
        "--penalties",
        metavar="X,O,E",
        show_default="linear 4,2; affine 4,6,2; affine2p 4,6,2,24,1",
        help="Costs: mismatch x, gap opening o, gap extension e (linear: x,e; affine2p: x,o1,e1,o2,e2). A gap of l "
        "bases costs o + l·e, so its first base costs o + e. AS is the score: minus the cost, plus --match.",
        rich_help_panel=_SCORING,
    ),
]
_MATCH_HELP = "What each match earns."
MatchOption = Annotated[
    int,
    typer.Option("--match", metavar="N", min=0, help=_MATCH_HELP, rich_help_panel=_SCORING),
]
MatchOrPresetOption = Annotated[
    int | None,
    typer.Option(
        "--match",
        metavar="N",
        min=0,
        show_default="0; with --preset the preset's",
        help=_MATCH_HELP,
        rich_help_panel=_SCORING,
    ),
]
ScoreOnlyOption = Annotated[
    bool,
    typer.Option("--score-only", help="Write scores and no alignments (TSV). Faster.", rich_help_panel=_SCORING),
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--mode",
        help="global: both sequences whole. hw: the query whole, anywhere inside the target. overlap: an end of one "
        "with an end of the other, or one inside the other (needs --match). ends-free: see --free. extension: from "
        "both beginnings to the best-scoring end (needs --match). What stays unaligned is soft-clipped in SAM. For "
        "local alignments see wfacli extend.",
        rich_help_panel=_SPAN,
    ),
]
FreeOption = Annotated[
    str | None,
    typer.Option(
        "--free",
        metavar="QB,QE,TB,TE",
        show_default=False,
        help="Bases that ends-free may leave unaligned: at the query's begin, its end, the target's begin, its end. "
        "At either end, one of the two sequences at most is left unaligned. 'all' for the whole sequence.",
        rich_help_panel=_SPAN,
    ),
]
ZdropOption = Annotated[
    int,
    typer.Option(
        "--zdrop",
        metavar="N",
        min=0,
        show_default="off",
        help="End an extension where its score falls more than N below its best, a gap in between left aside.",
        rich_help_panel=_HEURISTICS,
    ),
]
XdropOption = Annotated[
    int,
    typer.Option(
        "--xdrop",
        metavar="N",
        min=0,
        show_default="off",
        help="Give up diagonals whose score is more than N below the best (needs --match).",
        rich_help_panel=_HEURISTICS,
    ),
]
BandOption = Annotated[
    str | None,
    typer.Option(
        "--band",
        metavar="W[,STEP]",
        show_default="off",
        help="Compute W diagonals on either side of the way between the ends; with STEP, of the diagonal that is "
        "ahead, looked for again every STEP scores. Records that may be improved carry xh:i:1.",
        rich_help_panel=_HEURISTICS,
    ),
]
MaxScoreOption = Annotated[
    int | None,
    typer.Option(
        "--max-score",
        metavar="N",
        min=0,
        show_default=False,
        help="Write pairs that cost more than N without an alignment (not with --match).",
        rich_help_panel=_SCORING,
    ),
]
MaxMemoryOption = Annotated[
    str,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Memory that a thread may use for a pair, 1M or more, like 500M or 2G. Longer pairs take more time "
        "instead.",
        rich_help_panel=_ENGINE,
    ),
]
AmbiguousOption = Annotated[
    Ambiguous,
    typer.Option(
        "--ambiguous",
        help="Letters other than A C G T U: mismatch (they match nothing), wildcard (IUPAC codes match what they "
        "stand for), literal (every letter matches itself; for proteins). Case never matters; U reads as T "
        "unless literal.",
        rich_help_panel=_SCORING,
    ),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        show_default="standard output",
        help="Where alignments go. The file gets its name when it is complete.",
        rich_help_panel=_OUTPUT,
    ),
]
FormatOption = Annotated[
    OutputFormat | None,
    typer.Option(
        "--format",
        show_default="by the suffix of --output, else sam; tsv with --score-only",
        help="What to write.",
        rich_help_panel=_OUTPUT,
    ),
]
CigarOption = Annotated[
    CigarStyle,
    typer.Option("--cigar", help="eqx: = and X. m: M for both.", rich_help_panel=_OUTPUT),
]
MdOption = Annotated[bool, typer.Option("--md", help="Add the MD tag.", rich_help_panel=_OUTPUT)]
CsOption = Annotated[bool, typer.Option("--cs", help="Add the cs tag (short form).", rich_help_panel=_OUTPUT)]
ReadGroupOption = Annotated[
    str | None,
    typer.Option(
        "-R",
        "--read-group",
        metavar="LINE",
        show_default=False,
        help=r"SAM read group, like '@RG\tID:run1\tSM:sample1'; each record gets its RG tag. Without it, reads "
        "and mappings keep those that SAM or BAM says.",
        rich_help_panel=_OUTPUT,
    ),
]
HeaderOption = Annotated[
    bool,
    typer.Option("--header/--no-header", help="Begin SAM and TSV with their header.", rich_help_panel=_OUTPUT),
]
SortOption = Annotated[
    bool,
    typer.Option("--sort", help="Sort SAM, BAM or CRAM by position.", rich_help_panel=_OUTPUT),
]
WriteIndexOption = Annotated[
    bool,
    typer.Option(
        "--write-index",
        help="Write the index of sorted BAM or CRAM beside it (.bai, .crai; .csi where a target is longer than 2^29).",
        rich_help_panel=_OUTPUT,
    ),
]
CompressionOption = Annotated[
    int | None,
    typer.Option(
        "--compression",
        min=0,
        max=9,
        show_default="6 for BAM, htslib's for CRAM",
        help="Level of compression of BAM and CRAM. 1 takes a quarter of 6's time, for BAM a tenth larger; 0 for "
        "pipes.",
        rich_help_panel=_OUTPUT,
    ),
]
ChecksumsOption = Annotated[
    bool,
    typer.Option(
        "--checksums",
        help="With --mappings: MD5 sums of the reference's sequences in the header (M5).",
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
        help="Threads that align. The output does not depend on it.",
        rich_help_panel=_ENGINE,
    ),
]
EngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        help="Where to align; auto takes a GPU where there is one. The output does not depend on it.",
        rich_help_panel=_ENGINE,
    ),
]
GpuMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--gpu-memory",
        metavar="SIZE",
        show_default="half of what is free, 24G at most",
        help="Memory of each GPU that may be used, like 4G, or a share of what is free, like 0.8.",
        rich_help_panel=_ENGINE,
    ),
]
DevicesOption = Annotated[
    str,
    typer.Option(
        "--devices",
        metavar="all|N,...",
        help="Which GPUs to use, counted from 0 among those that CUDA_VISIBLE_DEVICES leaves. One that fails is left "
        "out with a warning. The output does not depend on it.",
        rich_help_panel=_ENGINE,
    ),
]
BatchBasesOption = Annotated[
    int | None,
    typer.Option(
        "--batch-bases",
        min=1,
        max=MAX_BYTES,
        show_default=f"{CPU_BATCH:,} on the CPU, {GPU_BATCH:,} on a GPU",
        help="Bases that are worked on at once; a few such batches are in memory. The output does not depend on it.",
        rich_help_panel=_ENGINE,
    ),
]
KernelOption = Annotated[
    Kernel | None,
    typer.Option(
        "--kernel",
        show_default="the fastest for each pair",
        help="The kernel that gets every pair first. The output does not depend on it; see --explain.",
        rich_help_panel=_ENGINE,
    ),
]
ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Print which kernels aligned the pairs, and why.",
        rich_help_panel=_REPORTING,
    ),
]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Replay every alignment against its sequences before it is written.",
        rich_help_panel=_ENGINE,
    ),
]


def _set_longest_line(size: str) -> str:
    from .._native import set_max_line_bytes  # imported late: help does not need it

    # The limit is global to the process, since lines are read in many places.
    longest = bytes_of("--max-line", size)
    if not longest:
        raise UsageError(f"--max-line is {size}; it must be 1 at least")
    set_max_line_bytes(longest)
    return size


MaxLineOption = Annotated[
    str,
    typer.Option(
        "--max-line",
        metavar="SIZE",
        callback=_set_longest_line,
        help="Bytes that a header, a mapping or another line may have that is no sequence, like 64M; SEQ and QUAL of "
        "SAM and BAM do not count. Sequences and their lines have no such bound.",
        rich_help_panel=_INPUT,
    ),
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.", rich_help_panel=_REPORTING)]
ProgressOption = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        show_default="a bar on a terminal, else a line every 10 s",
        help="Show how far the run is, on standard error.",
        rich_help_panel=_REPORTING,
    ),
]
StatsOption = Annotated[
    str | None,
    typer.Option(
        "--stats",
        metavar="FILE",
        show_default=False,
        help="Write counts, times and versions of the run as JSON.",
        rich_help_panel=_REPORTING,
    ),
]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=_REPORTING)
]
