"""Exact pairwise alignment of sequencing reads; `wfacli --help` for the command line.

>>> import wfacli
>>> wfacli.align("ACGTTGCA", "ACGTGCA")
Alignment(score=-8, cigar='3=1I4=', edits=1)
"""

from importlib.metadata import version

from .api import Alignment, align, align_pairs
from .errors import InputError, UsageError, WfacliError

__version__ = version("wfacli")
__all__ = ["Alignment", "InputError", "UsageError", "WfacliError", "__version__", "align", "align_pairs"]
