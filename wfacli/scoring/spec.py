"""What `wfacli extend` is to compute for each pair."""

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
    EXTENSION = "extension"  # from both beginnings to the best end
    SEMIGLOBAL = "semiglobal"  # the query whole, the target's ends free
    GLOBAL = "global"  # both whole

    @property
    def code(self) -> int:
        """The number that native code uses."""
        return list(ExtendMode).index(self)


@dataclass(frozen=True)
class ExtendSpec:
    """What to compute for each pair. Two specs that are equal give equal results, on any engine.

    Attributes:
        scheme: scores of letters, costs of gaps.
        mode: which parts are aligned.
        score_only: no CIGARs, and no spans.
        second_best: also the best score beside the best alignment's part of the target.
        band: of extension and global: only cells (i, j) with min(0, d) - band <= j - i <= max(0, d) + band, where d is
            the target's letters less the query's in a global alignment and else 0; 0 for all cells.
        xdrop: of extension: cells that score this much less than the best so far are given up; 0 for none.
        zdrop: an extension ends where an anti-diagonal's best score has fallen more than this, and the gap's
            extension, below the best so far; 0 for never.
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
            raise UsageError("X-drop and Z-drop end extensions (--mode extension); other modes go to their ends")
        if self.band and self.mode not in (ExtendMode.EXTENSION, ExtendMode.GLOBAL):
            raise UsageError(f"a band (--bandwidth) needs an end that is fixed, and {self.mode} has none")
        if self.second_best and self.mode not in (ExtendMode.LOCAL, ExtendMode.SEMIGLOBAL):
            raise UsageError(
                f"a second best place (--second-best) makes no sense where the place is fixed: {self.mode}"
            )

    @property
    def plain(self) -> bool:
        """Whether all cells count, and one alignment of them."""
        return not (self.heuristic or self.second_best)

    @property
    def guided(self) -> bool:
        """Whether it is extensions' scores in a band, until a Z-drop, which GPUs have kernels for."""
        return self.mode is ExtendMode.EXTENSION and self.score_only and self.heuristic and not self.xdrop

    def cells(self, query_len: npt.NDArray[np.int64], target_len: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """How many cells extensions of such pairs have in the band, i64[n]; without one all are."""
        cells: npt.NDArray[np.int64] = query_len * target_len
        for one, other in ((query_len, target_len), (target_len, query_len)) if self.band else ():
            # A corner beside the band is a triangle, less what would lie beyond the other sequence's end.
            corner, beyond = np.maximum(one - self.band - 1, 0), np.maximum(one - self.band - 1 - other, 0)
            cells = cells - (corner * (corner + 1) - beyond * (beyond + 1)) // 2
        return cells

    @property
    def for_gpus(self) -> bool:
        """Whether GPUs' kernels compute it."""
        return self.plain or self.guided

    @property
    def heuristic(self) -> bool:
        """Whether alignments may be worse than the best."""
        return bool(self.band or self.xdrop or self.zdrop)
