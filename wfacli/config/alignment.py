"""What to compute for each pair: cost models, penalties, modes, free ends, heuristics."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import UsageError

MAX_PENALTY = 10_000  # scores of sequences of up to 10^5 bases, and of most longer ones, fit 32 bits
WHOLE = (1 << 31) - 1  # FreeEnds: the whole sequence may stay unaligned
MAX_SCORE = (1 << 31) - 1
MAX_HEURISTIC = 1_000_000_000  # twice this value plus the length of a sequence fits 32 bits


class Metric(enum.StrEnum):
    """Cost model of an alignment."""

    EDIT = "edit"
    INDEL = "indel"
    LINEAR = "linear"
    AFFINE = "affine"
    AFFINE2P = "affine2p"


class Mode(enum.StrEnum):
    """Which parts of the sequences an alignment covers."""

    GLOBAL = "global"
    SEMIGLOBAL = "semiglobal"
    HW = SEMIGLOBAL  # its former name, that of edlib
    OVERLAP = "overlap"
    ENDS_FREE = "ends-free"
    EXTENSION = "extension"

    @classmethod
    def _missing_(cls, value: object) -> Mode | None:
        if value != "hw":
            return None
        warnings.warn("mode 'hw' is now called 'semiglobal'", DeprecationWarning, stacklevel=4)
        return cls.SEMIGLOBAL


class Ambiguous(enum.StrEnum):
    """How characters other than A, C, G, T and U (equal to T) are compared; case is always ignored."""

    MISMATCH = "mismatch"  # they match nothing, not even themselves
    WILDCARD = "wildcard"  # an IUPAC code matches any code that shares a nucleotide with it
    LITERAL = "literal"  # every character matches only itself (U is not T)

    @property
    def code(self) -> int:
        """Number of the rule in native code."""
        return list(Ambiguous).index(self)


@dataclass(frozen=True)
class Penalties:
    """Penalties and match bonus. A gap of l bases costs open + l * extend; with two pieces, the lower of the two.

    Attributes:
        mismatch: mismatch penalty, 1 to MAX_PENALTY.
        gaps: one or two pieces (open, extend); open 0 to MAX_PENALTY, extend 1 to MAX_PENALTY.
        match: match bonus, 0 to MAX_PENALTY.
        ambiguous: penalty of a column with a character other than A, C, G, T and U, 0 to the mismatch penalty; None:
            the mismatch penalty.
    """

    mismatch: int = 4
    gaps: tuple[tuple[int, int], ...] = ((6, 2),)
    match: int = 0
    ambiguous: int | None = None

    def __post_init__(self) -> None:
        charges = [("mismatch penalty", self.mismatch, 1), ("match bonus", self.match, 0)]
        for opening, extension in self.gaps:
            charges += [("gap opening penalty", opening, 0), ("gap extension penalty", extension, 1)]
        for name, value, minimum in charges:
            if not minimum <= value <= MAX_PENALTY:
                raise UsageError(f"the {name} is {value}; it must be {minimum} to {MAX_PENALTY:,}")
        if self.ambiguous is not None and not 0 <= self.ambiguous <= self.mismatch:
            most = f"that of a mismatch, {self.mismatch}"
            raise UsageError(f"the penalty of N (--n-penalty) is {self.ambiguous}; it must be 0 to {most}")
        if len(self.gaps) not in (1, 2):
            raise UsageError(f"a gap's cost has one or two pieces, not {len(self.gaps)}")

    @property
    def of_ambiguous(self) -> int:
        """Penalty of a column with an ambiguous base."""
        return self.mismatch if self.ambiguous is None else self.ambiguous

    @classmethod
    def of(cls, metric: Metric, values: Sequence[int] | None = None, match: int = 0) -> Penalties:
        """Return a metric's penalties.

        Args:
            metric: the cost model.
            values: penalties in the order of the command line; None for the metric's defaults.
            match: match bonus.

        Raises:
            UsageError: too many or too few values, or one out of range.
        """
        names, defaults = PENALTIES[metric]
        if values is None:
            values = defaults
        elif not names:
            raise UsageError(f"{metric} has no penalties (--penalties): every edit costs 1")
        elif len(values) != len(names):
            raise UsageError(f"{metric} has {len(names)} penalties ({','.join(names)}), not {len(values)}")
        if metric is Metric.INDEL:
            # A mismatch costs as much as an insertion and a deletion, which are preferred: CIGARs have no mismatch.
            return cls(2, ((0, 1),), match)
        if metric is Metric.EDIT:
            return cls(1, ((0, 1),), match)
        if metric is Metric.LINEAR:
            return cls(values[0], ((0, values[1]),), match)
        return cls(values[0], tuple(zip(values[1::2], values[2::2], strict=True)), match)

    @classmethod
    def parse(cls, metric: Metric, text: str, match: int = 0) -> Penalties:
        """Parse values like "4,6,2". Raises UsageError."""
        try:
            values = [int(part) for part in text.split(",")]
        except ValueError:
            raise UsageError(f"penalties are whole numbers like 4,6,2, not {text!r}") from None
        return cls.of(metric, values, match)


PENALTIES: dict[Metric, tuple[tuple[str, ...], tuple[int, ...]]] = {
    # names, default values
    Metric.EDIT: ((), ()),
    Metric.INDEL: ((), ()),
    Metric.LINEAR: (("mismatch", "gap"), (4, 2)),
    Metric.AFFINE: (("mismatch", "open", "extend"), (4, 6, 2)),
    Metric.AFFINE2P: (("mismatch", "open1", "extend1", "open2", "extend2"), (4, 6, 2, 24, 1)),
}


@dataclass(frozen=True)
class FreeEnds:
    """Bases that may stay unaligned at no cost at each end of each sequence; WHOLE for no limit."""

    query_begin: int = 0
    query_end: int = 0
    target_begin: int = 0
    target_end: int = 0

    def __post_init__(self) -> None:
        if not all(0 <= bases <= WHOLE for bases in self.as_tuple()):
            raise UsageError(f"free ends are numbers of bases, 0 to {WHOLE}, not {self.as_tuple()}")

    def as_tuple(self) -> tuple[int, int, int, int]:
        """Return (query begin, query end, target begin, target end)."""
        return self.query_begin, self.query_end, self.target_begin, self.target_end

    @classmethod
    def of(cls, mode: Mode) -> FreeEnds:
        """Return the free ends of a mode; none for ENDS_FREE, whose free ends the user specifies."""
        if mode is Mode.SEMIGLOBAL:
            return cls(target_begin=WHOLE, target_end=WHOLE)
        if mode is Mode.OVERLAP:
            return cls(WHOLE, WHOLE, WHOLE, WHOLE)
        return cls()

    def __bool__(self) -> bool:
        return any(self.as_tuple())


@dataclass(frozen=True)
class Heuristics:
    """Pruning of the search, which may miss the best alignment; all heuristics are off by default.

    Attributes:
        band: number of diagonals computed on either side of the path; 0 for all.
        band_step: number of scores after which the band is centred again on the furthest diagonal; 0 for a fixed band.
        xdrop: a diagonal is dropped if its score is more than this below the best score; 0 for no X-drop.
        zdrop: an extension ends if its score is more than this, plus the gap extension cost, below the best; 0 for no
            Z-drop.
    """

    band: int = 0
    band_step: int = 0
    xdrop: int = 0
    zdrop: int = 0

    def __post_init__(self) -> None:
        names = ("band's width", "band's step", "X-drop", "Z-drop")
        for name, value in zip(names, (self.band, self.band_step, self.xdrop, self.zdrop), strict=True):
            if not 0 <= value <= MAX_HEURISTIC:
                raise UsageError(f"the {name} is {value}; it must be 0 to {MAX_HEURISTIC:,}")

    def __bool__(self) -> bool:
        return bool(self.band or self.xdrop or self.zdrop)


@dataclass(frozen=True)
class AlignSpec:
    """What to compute for each pair. Equal specs give equal results on every engine.

    Attributes:
        metric: cost model; it determines which penalties there are.
        penalties: penalties and match bonus.
        ambiguous: how characters other than A, C, G, T and U are compared.
        mode: global, ends-free (hw and overlap are special cases), or extension from the beginnings of both sequences.
        free: free ends of the ends-free modes.
        score_only: compute scores without CIGARs.
        heuristics: pruning of the search, if any.
        max_cost: maximum cost; pairs that cost more have no alignment; None for no maximum.
    """

    metric: Metric = Metric.AFFINE
    penalties: Penalties = field(default_factory=Penalties)
    ambiguous: Ambiguous = Ambiguous.MISMATCH
    mode: Mode = Mode.GLOBAL
    free: FreeEnds = field(default_factory=FreeEnds)
    score_only: bool = False
    heuristics: Heuristics = field(default_factory=Heuristics)
    max_cost: int | None = None

    def __post_init__(self) -> None:
        if self.metric in (Metric.EDIT, Metric.INDEL) and self.penalties.ambiguous is not None:
            raise UsageError(f"a penalty of N (--n-penalty) cannot be used with the metric {self.metric}")
        if self.metric in (Metric.EDIT, Metric.INDEL) and self.penalties != Penalties.of(
            self.metric, None, self.penalties.match
        ):
            raise UsageError(f"{self.metric} has penalties of its own (Penalties.of), not {self.penalties}")
        if self.penalties.ambiguous is not None:
            if self.ambiguous is not Ambiguous.MISMATCH:
                raise UsageError(f"a penalty of N (--n-penalty) cannot be used with --ambiguous {self.ambiguous}")
            if self.heuristics.band or self.heuristics.xdrop:
                raise UsageError("a penalty of N (--n-penalty) cannot be used with a band or an X-drop")
        if self.mode in (Mode.OVERLAP, Mode.EXTENSION) and not self.penalties.match:
            raise UsageError(
                f"{self.mode} requires a match score (--match): without it, the empty alignment is the best"
            )
        if self.free and self.mode in (Mode.GLOBAL, Mode.EXTENSION):
            raise UsageError(f"{self.mode} has no free ends")
        if self.heuristics.xdrop and not self.penalties.match:
            raise UsageError("an X-drop requires a match score (--match): without it, every score falls")
        if self.heuristics.zdrop and self.mode is not Mode.EXTENSION:
            raise UsageError("a Z-drop requires --mode extension")
        if self.max_cost is not None and not 0 <= self.max_cost <= MAX_SCORE:
            raise UsageError(f"the bound on the cost is {self.max_cost}; it must be 0 to {MAX_SCORE:,}")
        if self.max_cost is not None and self.penalties.match:
            raise UsageError("a bound on the cost (--max-cost) cannot be used with a match score (--match)")

    @property
    def charges_ambiguous(self) -> bool:
        """True if ambiguous bases have a penalty of their own, which few kernels support."""
        return self.penalties.of_ambiguous != self.penalties.mismatch

    @property
    def by_bits(self) -> bool:
        """True if ambiguous bases are compared by bits of their codes, which some kernels do not support."""
        return self.ambiguous is Ambiguous.WILDCARD or self.charges_ambiguous

    @property
    def rule(self) -> int:
        """Number of the rule for ambiguous bases in native code (native/base/types.hpp)."""
        return len(Ambiguous) if self.charges_ambiguous else self.ambiguous.code
