"""Drawing of a picture to a file in any of its formats."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.batch import U32
from ..core.interruption import deferred
from ..io.write.output import Output
from .paths import Block
from .picture import Picture, PictureFormat, default_size, format_of, picture_of
from .sequences import Axis


def write(out: Output, picture: Picture, format_: PictureFormat) -> None:
    """Draw the picture to a file. Raises OutputError."""
    if format_ is PictureFormat.HTML:
        from .page import page

        drawn = page(picture)
    else:
        with deferred():  # an import that is interrupted may leave locks behind, for which Python waits when it exits
            from .figure import figure
        drawn = figure(picture, format_)
    out.write(drawn)
    out.finish()


_Sequence = str | bytes | bytearray | npt.NDArray[np.uint8] | npt.NDArray[np.uint32]


def _symbols_of(sequence: _Sequence, what: str) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint32]:
    """Return a sequence as an array. Raises TypeError."""
    if isinstance(sequence, str):
        sequence = sequence.encode()
    symbols: Any = np.frombuffer(sequence, np.uint8) if isinstance(sequence, (bytes, bytearray)) else sequence
    if not isinstance(symbols, np.ndarray) or symbols.ndim != 1 or symbols.dtype not in (np.uint8, np.uint32):
        kind = f"{symbols.dtype}" if isinstance(symbols, np.ndarray) else type(symbols).__name__
        raise TypeError(f"the {what} must be str, bytes, u8[n] or u32[n], not {kind}")
    contiguous: npt.NDArray[np.uint8] = np.ascontiguousarray(symbols)
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
    """Draw a dot plot of two sequences, with the path of a global alignment, to a .png, .svg, .pdf or .html file.

    Args:
        out_file: path of the file; its suffix determines the format.
        query: sequence as str, bytes or u8[m]; or u32[m], whose values are compared literally.
        target: sequence of the same types; u32[n] if the query is u32.
        names: titles of the axes.
        cigar: u32[...] in BAM's packing, from the beginning of both sequences to their ends; None for no path.
        k: length of a match, in symbols; None for a length that suits the sequences.
        size: pixels of the longer side; None for 1,000, or 2,000 in HTML.
        literal: every symbol matches only itself, on one strand; otherwise nucleotides in either case, both strands.

    Returns:
        The picture.

    Raises:
        TypeError: an argument is not a sequence.
        UsageError: the suffix is unknown, or k or size is out of range.
        InputError: the CIGAR does not fit the sequences.
        OutputError: the file cannot be written.
        WfacliError: matplotlib is not installed (HTML does not need it).
    """
    path = os.fspath(out_file)
    format_ = format_of(path)
    axes = Axis.of(_symbols_of(query, "query"), names[0]), Axis.of(_symbols_of(target, "target"), names[1])
    blocks = [] if cigar is None else [Block((0, len(axes[0])), (0, len(axes[1])), cigar=cigar)]
    picture = picture_of(*axes, blocks, k=k, size=size or default_size(format_), literal=literal)
    out = Output(path)
    try:
        write(out, picture, format_)
    except BaseException:
        out.abandon()
        raise
    return picture
