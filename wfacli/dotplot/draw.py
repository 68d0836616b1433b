"""A picture drawn into a file, by what its format needs."""

from __future__ import annotations

from ..io.write.output import Output
from .picture import Picture, PictureFormat


def write(out: Output, picture: Picture, format_: PictureFormat) -> None:
    """Draws the picture into a file. Raises OutputError."""
    if format_ is PictureFormat.HTML:
        from .page import page

        drawn = page(picture)
    else:
        from .figure import figure

        drawn = figure(picture, format_)
    out.write(drawn)
    out.finish()
