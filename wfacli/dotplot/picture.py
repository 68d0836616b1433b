"""A dot plot, from sequences to its picture and format."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..core.interruption import deferred
from ..errors import UsageError, WfacliError, install
from .density import Density, density
from .paths import Block, Line, lines_of
from .sequences import Axis

SIZE, PAGE_SIZE = 1000, 2000  # default pixels; an HTML page can be zoomed
_MAX_SCALE_START = 0.95  # colours of identity begin here, or lower if there are lower values


class PictureFormat(enum.StrEnum):
    """File formats of a picture."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"
    HTML = "html"


@dataclass(frozen=True)
class Picture:
    """All contents of a picture.

    Attributes:
        query, target: vertical and horizontal axis.
        density: number of matches by pixel.
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
        """Unit of the lengths."""
        return "symbols" if self.density.literal else "bp"

    @property
    def min_identity(self) -> float:
        """Lowest identity of the colour scale: the 2nd percentile, rounded down, at most 0.95."""
        known = [line.identity[np.isfinite(line.identity)] for line in self.lines]
        values = np.concatenate(known) if known else np.zeros(0)
        minimum = float(np.quantile(values, 0.02)) if len(values) else _MAX_SCALE_START
        return min(int(minimum * 20) / 20, _MAX_SCALE_START)

    @property
    def identity(self) -> float | None:
        """Matches per column over all alignments; None if unknown."""
        columns = sum(int(line.columns.sum()) for line in self.lines)
        return sum(int(line.matches.sum()) for line in self.lines) / columns if columns else None

    @property
    def caption(self) -> str:
        """Description of the density in words."""
        d = self.density
        both = "" if d.literal else ", both strands"
        words = f"exact matches of {d.k} {'symbols' if d.literal else 'bases'}{both}"
        if d.sampling_rate > 1:
            words += f"; 1 in {d.sampling_rate} of them counted"
        if d.thinned:
            words += f"; {d.thinned:,} of the most repeated ones drawn at {d.places:,} places only"
        if self.identity is not None:
            words += f"; path with {100 * self.identity:.2f}% identity"
        return words


def refuse_picture(path: str | None, instead: str) -> None:
    """Raise UsageError if an output name for alignments has a picture's suffix; `instead` says how to draw one."""
    if path and _suffix(path) in list(PictureFormat):
        raise UsageError(f"{path} is the name of a picture, and -o gets alignments: {instead}")


def _suffix(path: str) -> str:
    return Path(path).suffix.lower().removeprefix(".")


def format_of(out_file: str, chosen: PictureFormat | None = None) -> PictureFormat:
    """Return the format of a picture: the chosen one, or that of the file's suffix.

    Call this before long computations: it raises UsageError for an unknown suffix, and WfacliError if matplotlib is
    required and not installed.
    """
    suffix = _suffix(out_file)
    if chosen is None and suffix not in list(PictureFormat):
        raise UsageError(f"a picture ends in .png, .svg, .pdf or .html, and {out_file!r} does not")
    format_ = chosen or PictureFormat(suffix)
    if format_ is not PictureFormat.HTML:
        try:
            with deferred():  # see write()
                import matplotlib  # noqa: F401
        except ModuleNotFoundError:
            raise WfacliError(
                f"{format_.upper()} is drawn by matplotlib, which is missing: {install('plot')} "
                "(or write .html, which needs nothing)"
            ) from None
    return format_


def default_size(format_: PictureFormat) -> int:
    """Return the default number of pixels of the longer side."""
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
    """Count matches and divide alignments into windows.

    Args:
        query: vertical axis.
        target: horizontal axis.
        blocks: alignments between them.
        k: length of a match, in symbols; None for a length that suits the sequences.
        size: pixels of the longer side, and approximate number of windows of all alignments together.
        literal: every symbol matches only itself, on one strand.
        path: name of the alignments in error messages.

    Raises:
        UsageError: k or size is out of range.
        InputError: an alignment does not fit the sequences.
    """
    counted = density(query, target, k, size, literal)
    lines = lines_of(blocks, query, target, size, counted.literal, path)
    return Picture(query, target, counted, tuple(lines), size)
