"""Formats of pictures that commands draw."""

from __future__ import annotations

from ..dotplot.picture import PictureFormat, format_of
from ..dotplot.settings import packaged_settings


def picture_format(out_file: str, chosen: PictureFormat | None = None) -> PictureFormat:
    """Return a picture's format as dotplot.format_of does, and import matplotlib if the format requires it.

    Commands call this instead of format_of, before they start threads: matplotlib then ignores the user's settings.

    Raises:
        UsageError: an unknown suffix.
        WfacliError: matplotlib is required and not installed.
    """
    with packaged_settings():
        return format_of(out_file, chosen)
