"""Exact pairwise alignment of sequencing reads; `wfacli --help` for the command line.

>>> import wfacli
>>> wfacli.align("ACGTTGCA", "ACGTGCA")
Alignment(score=-8, cigar='3=1I4=', edits=1, span=(0, 8, 0, 7), exact=True)

For many pairs, align_batch runs the loop in native code:

>>> with wfacli.Aligner(metric="edit") as aligner:
...     batch = aligner.align_batch(["ACGTTGCA", "ACGT"], ["ACGTGCA", "ACCT"])
>>> batch.cigars()
['3=1I4=', '2=1X1=']
>>> batch.edits
array([1, 1], dtype=int32)
"""

# The command imports this first, and its handlers of signals are installed later: nothing is imported here.
TYPE_CHECKING = False  # as in typing, which takes longer to import than the handlers
if TYPE_CHECKING:
    from typing import Any

    from .api import Aligner, align, align_pairs, pack
    from .config import Heuristics, Limits
    from .core.batch import NO_SCORE, PairBatch, Status
    from .errors import InputError, UsageError, WfacliError
    from .results import Alignment, AlignmentBatch

__version__ = "0.1.0"
__all__ = [
    "NO_SCORE",
    "Aligner",
    "Alignment",
    "AlignmentBatch",
    "Heuristics",
    "InputError",
    "Limits",
    "PairBatch",
    "Status",
    "UsageError",
    "WfacliError",
    "__version__",
    "align",
    "align_pairs",
    "pack",
]


def __getattr__(name: str) -> "Any":
    # Loaded on first use: importing numpy would delay command lines that do not need it.
    if name in ("InputError", "UsageError", "WfacliError", "errors"):
        from importlib import import_module  # `from . import errors` would call this function

        errors = import_module(".errors", __name__)
        return errors if name == "errors" else getattr(errors, name)
    if name in __all__:
        try:
            from . import api, config, results
            from .core import batch
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}._native":
                raise
            from .errors import NOT_COMPILED

            raise ModuleNotFoundError(f"{error} ({NOT_COMPILED})", name=error.name) from None

        modules = (api, batch, config, results)
        value = globals()[name] = next(getattr(module, name) for module in modules if hasattr(module, name))
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
