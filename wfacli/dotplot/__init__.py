"""Dot plots of two sequences, with alignment paths.

>>> from wfacli import dotplot
>>> dotplot.save("plot.html", query, target, ("a", "b"), cigar)  # doctest: +SKIP
"""

from .draw import save
from .picture import PictureFormat, format_of

__all__ = ["PictureFormat", "format_of", "save"]
