"""Exact pairwise alignment of sequencing reads; `wfacli --help` for the command line.

>>> import wfacli
>>> wfacli.align("ACGTTGCA", "ACGTGCA")
Alignment(score=-8, cigar='3=1I4=', edits=1, span=(0, 8, 0, 7), exact=True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import InputError, UsageError, WfacliError

if TYPE_CHECKING:
    from .api import Aligner, Alignment, AlignmentBatch, align, align_pairs

__version__ = "0.1.0"
__all__ = [
    "Aligner",
    "Alignment",
    "AlignmentBatch",
    "InputError",
    "UsageError",
    "WfacliError",
    "__version__",
    "align",
    "align_pairs",
]


def __getattr__(name: str) -> Any:
    # The functions need numpy; the command line starts without waiting for what it may not use.
    if name in ("Aligner", "Alignment", "AlignmentBatch", "align", "align_pairs"):
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
