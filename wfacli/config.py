"""What the user asked for, validated and frozen."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from .errors import UsageError

MAX_PENALTY = 10_000  # keeps every score of sequences of up to 10^5 letters, and most longer, in 32 bits
DEFAULT_AFFINE = (4, 6, 2)
MIB = 1 << 20


class Metric(enum.StrEnum):
    """What an alignment costs."""

    EDIT = "edit"
    AFFINE = "affine"


class Ambiguous(enum.StrEnum):
    """How letters other than A, C, G, T and U (which reads as T) compare; case never matters."""

    MISMATCH = "mismatch"  # they match nothing, not even themselves
    WILDCARD = "wildcard"  # an IUPAC code matches any code that shares a nucleotide with it
    LITERAL = "literal"  # every letter matches itself and nothing else (U is not T)

    @property
    def code(self) -> int:
        """The number that native code uses."""
        return list(Ambiguous).index(self)


class Format(enum.StrEnum):
    """Output formats."""

    SAM = "sam"
    PAF = "paf"
    TSV = "tsv"


class CigarStyle(enum.StrEnum):
    """How aligned letters are written."""

    EQX = "eqx"
    M = "m"


@dataclass(frozen=True)
class Penalties:
    """Costs of gap-affine alignment: a gap of l letters costs open + l * extend; a match costs 0.

    Attributes:
        mismatch: 1 to MAX_PENALTY.
        open: 0 to MAX_PENALTY.
        extend: 1 to MAX_PENALTY.
    """

    mismatch: int = DEFAULT_AFFINE[0]
    open: int = DEFAULT_AFFINE[1]
    extend: int = DEFAULT_AFFINE[2]

    def __post_init__(self) -> None:
        for name, value, least in (
            ("mismatch", self.mismatch, 1),
            ("gap opening", self.open, 0),
            ("gap extension", self.extend, 1),
        ):
            if not least <= value <= MAX_PENALTY:
                raise UsageError(f"the {name} penalty is {value}; it must be {least} to {MAX_PENALTY:,}")

    @classmethod
    def parse(cls, text: str) -> Penalties:
        """Reads "mismatch,open,extend". Raises UsageError."""
        try:
            values = [int(part) for part in text.split(",")]
        except ValueError:
            raise UsageError(f"penalties are whole numbers like 4,6,2, not {text!r}") from None
        if len(values) != 3:
            raise UsageError(f"affine takes 3 penalties (mismatch,open,extend), {text!r} has {len(values)}")
        return cls(*values)

    def as_tuple(self) -> tuple[int, int, int]:
        """(mismatch, open, extend)."""
        return self.mismatch, self.open, self.extend


@dataclass(frozen=True)
class AlignSpec:
    """What to compute for each pair. Two specs that are equal give equal results, on any engine."""

    metric: Metric = Metric.AFFINE
    penalties: Penalties = field(default_factory=Penalties)
    ambiguous: Ambiguous = Ambiguous.MISMATCH


@dataclass(frozen=True)
class OutputSpec:
    """How alignments are written."""

    format: Format = Format.SAM
    cigar: CigarStyle = CigarStyle.EQX
    md: bool = False
    cs: bool = False
    header: bool = True
    read_group: str = ""  # a whole @RG line with tabs, or ""

    @property
    def read_group_id(self) -> str:
        """The ID of the read group, or ""."""
        fields = self.read_group.split("\t")[1:]
        return next((f[3:] for f in fields if f.startswith("ID:")), "")


@dataclass(frozen=True)
class Limits:
    """Bounds on a pair's memory, in bytes.

    Attributes:
        table: rows of a wavefront that are kept at once.
        checkpoints: rows from which a long pair's pieces are computed again.
    """

    table: int = 16 * MIB
    checkpoints: int = 768 * MIB


@dataclass(frozen=True)
class Config:
    """Everything that a run needs beside its files."""

    spec: AlignSpec = field(default_factory=AlignSpec)
    output: OutputSpec = field(default_factory=OutputSpec)
    limits: Limits = field(default_factory=Limits)
    threads: int = 1
    batch_bases: int = 2_800_000  # bases of queries and targets together that a batch holds
    isa: str = ""  # build of the CPU kernel; "" takes the fastest that the machine runs
    check: bool = False
    command_line: str = ""


def parse_read_group(text: str) -> str:
    r"""An @RG line as the user types it, "\t" standing for tabs. Raises UsageError where it is malformed."""
    line = text.replace("\\t", "\t")
    fields = line.split("\t")
    if fields[0] != "@RG":
        raise UsageError(r"a read group looks like '@RG\tID:run1\tSM:sample1': it starts with @RG")
    if "\n" in line or "\r" in line:
        raise UsageError("a read group is one line")
    for tag in fields[1:]:
        if len(tag) < 4 or tag[2] != ":" or not tag[:2].isalnum():
            raise UsageError(rf"{tag!r} in the read group is no TAG:value (fields are separated by \t)")
    if sum(tag.startswith("ID:") for tag in fields[1:]) != 1:
        raise UsageError("a read group needs one ID: field")
    return line
