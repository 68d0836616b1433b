"""One picture from its sequences to its file."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import UsageError, WfacliError
from .density import Density, density
from .paths import Block, Line, lines_of
from .sequences import Axis

SIZE, PAGE_SIZE = 1000, 2000  # pixels unless asked otherwise; in a page one can look closer
_USUAL_IDENTITY = 0.95  # colours of identity go down so far, or farther where there is less


class PictureFormat(enum.StrEnum):
    """What is written."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"
    HTML = "html"


@dataclass(frozen=True)
class Picture:
    """All that is drawn.

    Attributes:
        query, target: the axes, upwards and to the right.
        density: matches.
        lines: alignments.
        size: pixels of the longer side.
    """

    query: Axis
    target: Axis
    density: Density
    lines: tuple[Line, ...]
    size: int

    @property
    def unit(self) -> str:
        """What lengths count."""
        return "letters" if self.density.literal else "bp"

    @property
    def least_identity(self) -> float:
        """Where the colours of identity begin: what nearly all that is aligned has, rounded down."""
        known = [line.identity[np.isfinite(line.identity)] for line in self.lines]
        values = np.concatenate(known) if known else np.zeros(0)
        least = float(np.quantile(values, 0.02)) if len(values) else _USUAL_IDENTITY
        return min(int(least * 20) / 20, _USUAL_IDENTITY)

    @property
    def identity(self) -> float | None:
        """Matches a column of all alignments; None where it is not known."""
        columns = sum(int(line.columns.sum()) for line in self.lines)
        return sum(int(line.matches.sum()) for line in self.lines) / columns if columns else None

    @property
    def caption(self) -> str:
        """What the density is, in words."""
        d = self.density
        both = "" if d.literal else ", both strands"
        words = f"exact matches of {d.k} letters{both}"
        if d.one_of > 1:
            words += f"; 1 in {d.one_of} of them looked at"
        if d.thinned:
            words += f"; {d.thinned:,} of the most repeated ones drawn at {d.places:,} places only"
        if self.identity is not None:
            words += f"; path with {100 * self.identity:.2f}% identity"
        return words


def refuse_picture(path: str | None, instead: str) -> None:
    """Raises UsageError where a name of alignments is a picture's; `instead` says how one is drawn."""
    if path and _suffix(path) in list(PictureFormat):
        raise UsageError(f"{path} is the name of a picture, and -o gets alignments: {instead}")


def _suffix(path: str) -> str:
    return Path(path).suffix.lower().removeprefix(".")


def format_of(out_file: str, chosen: PictureFormat | None = None) -> PictureFormat:
    """What to write into a file, by its suffix unless it was chosen.

    To be asked before long work: raises UsageError where the suffix says nothing, and WfacliError where what draws it
    is not installed.
    """
    suffix = _suffix(out_file)
    if chosen is None and suffix not in list(PictureFormat):
        raise UsageError(f"a picture ends in .png, .svg, .pdf or .html, and {out_file!r} does not")
    format_ = chosen or PictureFormat(suffix)
    if format_ is not PictureFormat.HTML:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            raise WfacliError(
                f"{format_.upper()} is drawn by matplotlib, which is missing: pip install 'wfacli[plot]' "
                "(or write .html, which needs nothing)"
            ) from None
    return format_


def usual_size(format_: PictureFormat) -> int:
    """Pixels of the longer side."""
    return PAGE_SIZE if format_ is PictureFormat.HTML else SIZE


def picture_of(
    query: Axis,
    target: Axis,
    blocks: Sequence[Block] = (),
    *,
    k: int | None = None,
    size: int = SIZE,
    literal: bool = False,
    path: str = "path",
) -> Picture:
    """Counts matches and cuts alignments into windows.

    Args:
        query: the axis upwards.
        target: the axis to the right.
        blocks: alignments between them.
        k: letters of a match; None for what suits the length.
        size: pixels of the longer side, and windows of all alignments together, about.
        literal: every letter matches itself, on one strand.
        path: what messages call the alignments.

    Raises:
        UsageError: where k or size make no sense.
        InputError: where an alignment does not fit the sequences.
    """
    counted = density(query, target, k, size, literal)
    lines = lines_of(blocks, query, target, size, counted.literal, path)
    return Picture(query, target, counted, tuple(lines), size)
