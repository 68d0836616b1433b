"""Options for costs and modes, and their conversion, and that of memory and devices, into specifications."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from ..config import MIB, WHOLE, AlignSpec, Ambiguous, Ends, FreeEnds, Heuristics, Limits, Metric, Mode, Penalties
from ..errors import UsageError
from ..scoring.presets import DEFAULT, PRESETS
from .groups import HEURISTICS, SCORING, SPAN
from .numbers import MAX_BYTES

_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?", re.IGNORECASE)
_MIN_MEMORY, _MIN_GPU_MEMORY = 1 * MIB, 64 * MIB


_MATCH_HELP = "Score of each match."
PenaltiesOption = Annotated[
    str | None,
    typer.Option(
        "--penalties",
        metavar="X,O,E",
        show_default="4,6,2; linear 4,2; affine2p 4,6,2,24,1",
        help="Mismatch x, gap opening o, gap extension e. Linear takes x,e and affine2p x,o1,e1,o2,e2. A gap of l "
        "bases costs o + l·e, so its first base costs o + e. AS is the score: minus the cost, plus --match.",
        rich_help_panel=SCORING,
    ),
]
MatchOption = Annotated[
    int,
    typer.Option(
        "--match",
        metavar="N",
        min=0,
        show_default="0; with --preset the preset's",
        help="Score of a match.",
        rich_help_panel=SCORING,
    ),
]
AmbiguousOption = Annotated[
    Ambiguous,
    typer.Option(
        "--ambiguous",
        help="What N and other symbols match: mismatch, wildcard or literal. Mismatch: symbols other than A C G T "
        "U match nothing. Wildcard: IUPAC codes match the bases that they stand for, at no cost, and are X in "
        "CIGARs, as in SAM. Literal: every symbol matches itself, for proteins. Case never matters; U reads as T "
        "unless literal.",
        rich_help_panel=SCORING,
    ),
]
ScoreOnlyOption = Annotated[
    bool,
    typer.Option(
        "--score-only", help="Write scores without alignments, as TSV. This is faster.", rich_help_panel=SCORING
    ),
]
BandOption = Annotated[
    str | None,
    typer.Option(
        "--band",
        metavar="W[,STEP]",
        show_default=False,
        help="Compute only W diagonals on either side. They lie beside the line between the ends; with STEP, "
        "beside the diagonal that is ahead, which is chosen again every STEP scores. Records that may be "
        "improved carry xh:i:1.",
        rich_help_panel=HEURISTICS,
    ),
]
XdropOption = Annotated[
    int,
    typer.Option(
        "--xdrop",
        metavar="N",
        min=0,
        show_default=False,
        help="Drop diagonals more than N below the best score. Needs --match.",
        rich_help_panel=HEURISTICS,
    ),
]


@dataclass(frozen=True)
class Costs:
    """What an alignment costs."""

    metric: Annotated[
        Metric | None,
        typer.Option(
            "--metric",
            show_default="affine; with --preset affine2p",
            help="edit, indel, linear, affine or affine2p. Edit: each mismatched, inserted or deleted base costs "
            "1. Indel: as edit, without mismatches. Linear: a gap of l bases costs l·e. Affine: it costs o + "
            "l·e. Affine2p: it costs the lower of two affine costs.",
            rich_help_panel=SCORING,
        ),
    ] = None
    penalties: PenaltiesOption = None
    match: Annotated[
        int | None,
        typer.Option(
            "--match",
            metavar="N",
            min=0,
            show_default="0; with --preset the preset's",
            help="Score of a match.",
            rich_help_panel=SCORING,
        ),
    ] = None
    ambiguous: AmbiguousOption = Ambiguous.MISMATCH
    n_penalty: Annotated[
        int | None,
        typer.Option(
            "--n-penalty",
            metavar="N",
            min=0,
            show_default="that of a mismatch; with the scores of a preset 1",
            help="Penalty of aligning N, or another symbol than A C G T U, with anything. Not with edit, indel, "
            "--band or --xdrop.",
            rich_help_panel=SCORING,
        ),
    ] = None


@dataclass(frozen=True)
class Scoring(Costs):
    """What an alignment costs, and whether it is wanted."""

    score_only: ScoreOnlyOption = False
    max_cost: Annotated[
        int | None,
        typer.Option(
            "--max-cost",
            metavar="N",
            min=0,
            show_default=False,
            help="Write pairs that cost more than N without an alignment. Not with --match.",
            rich_help_panel=SCORING,
        ),
    ] = None


@dataclass(frozen=True)
class Extent:
    """Which parts of two sequences are aligned."""

    mode: Annotated[
        Mode,
        typer.Option(
            "--mode",
            help="global, semiglobal, overlap, ends-free or extension. Global: both sequences end to end. "
            "Semiglobal: the whole query, anywhere in the target (HW of edlib). Overlap: an end of one with "
            "an end of the other, or one inside the other; needs --match. Ends-free: see --free. Extension: "
            "from the start of both to the best-scoring end; needs --match. Unaligned bases of the query are "
            "soft-clipped in SAM. For local alignments see wfacli extend.",
            rich_help_panel=SPAN,
        ),
    ] = Mode.GLOBAL
    free: Annotated[
        str | None,
        typer.Option(
            "--free",
            metavar="QB,QE,TB,TE",
            show_default=False,
            help="Maximum unaligned bases at four ends. They are those at the start and the end of the query, and "
            "at the start and the end of the target, for ends-free; 'all' is the whole sequence. At either "
            "end, at most one of the two sequences is left unaligned.",
            rich_help_panel=SPAN,
        ),
    ] = None


@dataclass(frozen=True)
class HeuristicOptions:
    """Heuristics, which are off by default."""

    band: BandOption = None
    xdrop: XdropOption = 0
    zdrop: Annotated[
        int,
        typer.Option(
            "--zdrop",
            metavar="N",
            min=0,
            show_default=False,
            help="End an extension that falls N below its best score. The gap in between does not count.",
            rich_help_panel=HEURISTICS,
        ),
    ] = 0


def spec_of(scoring: Costs, extent: Extent, heuristics: HeuristicOptions, preset: Ends | None = None) -> AlignSpec:
    """Return the AlignSpec of a command's options; --metric, --penalties and --match override the scores of `preset`.

    Raises:
        UsageError: options are incompatible.
    """
    width, step = _band(heuristics.band)
    plain = scoring.ambiguous is Ambiguous.MISMATCH and not (width or heuristics.xdrop)
    metric, charged = _charged(scoring, preset if plain or preset is None else _without_n(preset))
    mode, free = extent.mode, extent.free
    if free is not None and mode is not Mode.ENDS_FREE:
        raise UsageError(f"--free requires --mode ends-free, not {mode}")
    if mode is Mode.ENDS_FREE and free is None:
        raise UsageError("--mode ends-free needs --free QB,QE,TB,TE")
    wanted = scoring if isinstance(scoring, Scoring) else Scoring()
    return AlignSpec(
        metric=metric,
        penalties=charged,
        ambiguous=scoring.ambiguous,
        mode=mode,
        free=FreeEnds.of(mode) if free is None else _free(free),
        score_only=wanted.score_only,
        heuristics=Heuristics(width, step, heuristics.xdrop, heuristics.zdrop),
        max_cost=wanted.max_cost,
    )


def preset_named(name: str) -> Ends:
    """Return the scores and extension parameters of a minimap2 preset. Raises UsageError if it is unknown."""
    if name not in PRESETS:
        raise UsageError(f"--preset: no scores are known for {name!r}; known presets are {', '.join(PRESETS)}")
    return PRESETS[name]


def ends_of(penalties: Penalties, preset: Ends | None) -> Ends:
    """Return the parameters for end extension, with `penalties` if their match bonus is above 0, else the preset's.

    The penalty of N is always that of `penalties`, which may have none of its own.
    """
    ends = preset or PRESETS[DEFAULT]
    if penalties.match:
        return replace(ends, penalties=penalties)
    charge = penalties.ambiguous
    most = ends.penalties.mismatch
    return replace(ends, penalties=replace(ends.penalties, ambiguous=None if charge is None else min(charge, most)))


def _without_n(preset: Ends) -> Ends:
    return replace(preset, penalties=replace(preset.penalties, ambiguous=None))


def _charged(costs: Costs, preset: Ends | None) -> tuple[Metric, Penalties]:
    metric, penalties = _before_n(costs, preset)
    return metric, penalties if costs.n_penalty is None else replace(penalties, ambiguous=costs.n_penalty)


def _before_n(costs: Costs, preset: Ends | None) -> tuple[Metric, Penalties]:
    """Return metric and penalties before --n-penalty."""
    if preset and costs.metric is None and costs.penalties is None:
        earned = preset.penalties.match if costs.match is None else costs.match
        return Metric.AFFINE2P, replace(preset.penalties, match=earned)
    metric, match = costs.metric or Metric.AFFINE, costs.match or 0
    if costs.penalties is None:
        return metric, Penalties.of(metric, None, match)
    return metric, Penalties.parse(metric, costs.penalties, match)


def limits_of(max_memory: str) -> Limits:
    """Parse `--max-memory`, the memory of a thread per pair, into limits. Raises UsageError."""
    nbytes = bytes_of("--max-memory", max_memory)
    if nbytes < _MIN_MEMORY:
        raise UsageError(f"--max-memory is {max_memory}; the minimum is 1M")
    table = min(Limits.table, nbytes // 8)
    return Limits(table=table, checkpoints=nbytes - table)


def gpu_memory_of(text: str | None) -> float | None:
    """Parse `--gpu-memory`: bytes, or below 1 a fraction of the free GPU memory. Raises UsageError."""
    if text is None:
        return None
    if re.fullmatch(r"0?\.\d+|1(\.0*)?", text.strip()) and float(text) > 0:
        return min(float(text), 0.95)
    nbytes = bytes_of("--gpu-memory", text)
    if nbytes < _MIN_GPU_MEMORY:
        raise UsageError(f"--gpu-memory is {text}; the minimum is 64M, or a fraction like 0.5")
    return float(nbytes)


def devices_of(text: str) -> tuple[int, ...] | None:
    """Parse `--devices` into GPU indices; None: all. Raises UsageError."""
    if text.strip() == "all":
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise UsageError(f"--devices expects 'all' or numbers like 0,2, not {text!r}")
    devices = tuple(int(part) for part in parts)
    if len(set(devices)) < len(devices):
        raise UsageError(f"--devices names a GPU twice: {text!r}")
    return devices


def bytes_of(option: str, text: str) -> int:
    """Parse a size like 500M (powers of 1024) into bytes. Raises UsageError."""
    size = _SIZE.fullmatch(text.strip())
    if not size:
        raise UsageError(f"{option} expects a size like 500M or 2G, not {text!r}")
    found = float(size[1]) * 1024 ** " KMGT".index(size[2].upper() or " ")
    if found > MAX_BYTES:
        raise UsageError(f"{option} is {text}; it must be {MAX_BYTES >> 40:,}T at most")
    return int(found)


def _free(text: str) -> FreeEnds:
    parts = text.split(",")
    if len(parts) != 4 or not all(part.isdecimal() or part == "all" for part in parts):
        raise UsageError(f"--free expects four numbers (or 'all') like 0,0,all,all, not {text!r}")
    return FreeEnds(*(WHOLE if part == "all" else int(part) for part in parts))


def _band(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 0
    parts = text.split(",")
    if len(parts) > 2 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"--band expects a width, or a width and a step, like 100 or 100,50, not {text!r}")
    return int(parts[0]), int(parts[1]) if len(parts) == 2 else 0
