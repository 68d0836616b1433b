"""One picture from its sequences to its file."""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.batch import U32
from ..errors import UsageError, WfacliError
from ..io.write.output import Output
from .density import Density, density
from .draw import write
from .paths import Block, Line, lines_of
from .sequences import Axis

SIZE, PAGE_SIZE = 1000, 2000  # pixels unless asked otherwise; in a page one can look closer
_USUAL_IDENTITY = 0.95  # colours of identity go down so far, or farther where there is less

_Sequence = str | bytes | bytearray | npt.NDArray[np.uint8] | npt.NDArray[np.uint32]


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


def _letters_of(sequence: _Sequence, what: str) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint32]:
    """As an array. Raises TypeError."""
    if isinstance(sequence, str):
        sequence = sequence.encode()
    letters: Any = np.frombuffer(sequence, np.uint8) if isinstance(sequence, (bytes, bytearray)) else sequence
    if not isinstance(letters, np.ndarray) or letters.ndim != 1 or letters.dtype not in (np.uint8, np.uint32):
        kind = f"{letters.dtype}" if isinstance(letters, np.ndarray) else type(letters).__name__
        raise TypeError(f"the {what} is letters, as str, bytes, u8[n] or u32[n], not {kind}")
    contiguous: npt.NDArray[np.uint8] = np.ascontiguousarray(letters)
    return contiguous


def save(
    out_file: str | os.PathLike[str],
    query: _Sequence,
    target: _Sequence,
    names: tuple[str, str] = ("query", "target"),
    cigar: U32 | None = None,
    *,
    k: int | None = None,
    size: int | None = None,
    literal: bool = False,
) -> Picture:
    """Draws two sequences and the path of their global alignment into a .png, .svg, .pdf or .html file.

    Args:
        out_file: where to; the suffix says what is written.
        query: letters, as str, bytes or u8[m]; or u32[m], which are literal.
        target: likewise; u32[n] where the query is u32.
        names: what the axes are called.
        cigar: u32[...] in BAM's packing, from both beginnings to both ends; None for the density alone.
        k: letters of a match; None for what suits the length.
        size: pixels of the longer side; None for 1,000, or 2,000 in HTML.
        literal: every letter matches itself, on one strand; else nucleotides in either case, and both strands.

    Returns:
        What was drawn.

    Raises:
        TypeError: at what are no letters.
        UsageError: at a suffix, k or size that makes no sense.
        InputError: where the CIGAR is of other sequences.
        OutputError: where the file cannot be written.
        WfacliError: where matplotlib is missing (HTML needs none).
    """
    path = os.fspath(out_file)
    format_ = format_of(path)
    axes = Axis.of(_letters_of(query, "query"), names[0]), Axis.of(_letters_of(target, "target"), names[1])
    blocks = [] if cigar is None else [Block((0, len(axes[0])), (0, len(axes[1])), cigar=cigar)]
    picture = picture_of(*axes, blocks, k=k, size=size or usual_size(format_), literal=literal)
    out = Output(path)
    try:
        write(out, picture, format_)
    except BaseException:
        out.abandon()
        raise
    return picture
