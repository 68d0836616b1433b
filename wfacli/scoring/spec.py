"""Specification of what `wfacli extend` computes for each pair."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..config import MAX_HEURISTIC
from ..errors import UsageError
from .scheme import Scheme


class ExtendMode(enum.StrEnum):
    """Which parts of the sequences an alignment covers."""

    LOCAL = "local"  # the best-scoring parts of both
    EXTENSION = "extension"  # from the beginning of both to the best end
    SEMIGLOBAL = "semiglobal"  # the whole query, with free target ends
    GLOBAL = "global"  # both end to end

    @property
    def code(self) -> int:
        """Number of the mode in native code."""
        return list(ExtendMode).index(self)


@dataclass(frozen=True)
class ExtendSpec:
    """What to compute for each pair. Equal specs give equal results on every engine.

    Attributes:
        scheme: substitution scores and gap costs.
        mode: which parts are aligned.
        score_only: compute scores without CIGARs and spans.
        second_best: also compute the best score outside the best alignment's part of the target.
        band: in extension and global mode: compute only cells (i, j) with min(0, d) - band <= j - i <= max(0, d) +
            band, where d is target length minus query length for global alignments, otherwise 0; 0 for all cells.
        xdrop: in extension mode: cells that score more than this below the best so far are dropped; 0 for no X-drop.
        zdrop: an extension ends where an anti-diagonal's best score is more than this, plus the gap extension cost,
            below the best so far; 0 for no Z-drop.
    """

    scheme: Scheme
    mode: ExtendMode = ExtendMode.LOCAL
    score_only: bool = False
    second_best: bool = False
    band: int = 0
    xdrop: int = 0
    zdrop: int = 0

    def __post_init__(self) -> None:
        if self.mode in (ExtendMode.LOCAL, ExtendMode.EXTENSION):
            self.scheme.require_positive(self.mode)
        for name, value in (("bandwidth", self.band), ("X-drop", self.xdrop), ("Z-drop", self.zdrop)):
            if not 0 <= value <= MAX_HEURISTIC:
                raise UsageError(f"the {name} is {value}; it must be 0 to {MAX_HEURISTIC:,}")
        if (self.xdrop or self.zdrop) and self.mode is not ExtendMode.EXTENSION:
            raise UsageError("X-drop and Z-drop require --mode extension")
        if self.band and self.mode not in (ExtendMode.EXTENSION, ExtendMode.GLOBAL):
            raise UsageError(f"a band (--band) needs an end that is fixed, and {self.mode} has none")
        if self.second_best and self.mode not in (ExtendMode.LOCAL, ExtendMode.SEMIGLOBAL):
            raise UsageError(
                f"a second best place (--second-best) requires --mode local or semiglobal, not {self.mode}"
            )

    @property
    def plain(self) -> bool:
        """True if all cells are computed, and only the best alignment is wanted."""
        return not (self.heuristic or self.second_best)

    @property
    def guided(self) -> bool:
        """True for scores of extensions with a band or a Z-drop and no X-drop, for which GPUs have kernels."""
        return self.mode is ExtendMode.EXTENSION and self.score_only and self.heuristic and not self.xdrop

    def cells(self, query_len: npt.NDArray[np.int64], target_len: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the number of cells in the band, i64[n]; all cells without a band."""
        cells: npt.NDArray[np.int64] = query_len * target_len
        for one, other in ((query_len, target_len), (target_len, query_len)) if self.band else ():
            # A corner outside the band is a triangle, minus the part beyond the other sequence's end.
            corner, beyond = np.maximum(one - self.band - 1, 0), np.maximum(one - self.band - 1 - other, 0)
            cells = cells - (corner * (corner + 1) - beyond * (beyond + 1)) // 2
        return cells

    @property
    def for_gpus(self) -> bool:
        """True if there are GPU kernels for it."""
        return self.plain or self.guided

    @property
    def heuristic(self) -> bool:
        """True if alignments may score less than the best."""
        return bool(self.band or self.xdrop or self.zdrop)
