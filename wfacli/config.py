"""What the user asked for, validated and frozen."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .errors import UsageError

MAX_PENALTY = 10_000  # keeps every score of sequences of up to 10^5 letters, and most longer, in 32 bits
MIB = 1 << 20
WHOLE = (1 << 31) - 1  # of FreeEnds: the whole sequence may stay unaligned
MAX_SCORE = (1 << 31) - 1
CPU_BATCH, GPU_BATCH = 2_800_000, 64_000_000  # bases of queries and targets together
MAX_HEURISTIC = 1_000_000_000  # twice as much, and a sequence's length more, fit 32 bits


class Metric(enum.StrEnum):
    """What an alignment costs."""

    EDIT = "edit"
    INDEL = "indel"
    LINEAR = "linear"
    AFFINE = "affine"
    AFFINE2P = "affine2p"


class Mode(enum.StrEnum):
    """Which parts of the sequences an alignment covers."""

    GLOBAL = "global"
    HW = "hw"
    OVERLAP = "overlap"
    ENDS_FREE = "ends-free"
    EXTENSION = "extension"


class Span(enum.StrEnum):
    """Which parts of a mapped read and of its target are aligned."""

    EXTENDED = "extended"
    MAPPED = "mapped"
    PADDED = "padded"
    READ = "read"

    @property
    def mode(self) -> Mode:
        """How those parts are aligned."""
        return Mode.GLOBAL if self in (Span.EXTENDED, Span.MAPPED) else Mode.HW


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
    BLAST6 = "blast6"


class Container(enum.StrEnum):
    """What SAM records are stored in."""

    SAM = "sam"
    BAM = "bam"
    CRAM = "cram"


class CigarStyle(enum.StrEnum):
    """How aligned letters are written."""

    EQX = "eqx"
    M = "m"


@dataclass(frozen=True)
class Penalties:
    """What is charged. A gap of l letters costs open + l * extend; of two pieces, the cheaper one.

    Attributes:
        mismatch: 1 to MAX_PENALTY.
        gaps: one or two pieces (open, extend); open 0 to MAX_PENALTY, extend 1 to MAX_PENALTY.
        match: what a match earns, 0 to MAX_PENALTY.
    """

    mismatch: int = 4
    gaps: tuple[tuple[int, int], ...] = ((6, 2),)
    match: int = 0

    def __post_init__(self) -> None:
        charges = [("mismatch penalty", self.mismatch, 1), ("match bonus", self.match, 0)]
        for opening, extension in self.gaps:
            charges += [("gap opening penalty", opening, 0), ("gap extension penalty", extension, 1)]
        for name, value, least in charges:
            if not least <= value <= MAX_PENALTY:
                raise UsageError(f"the {name} is {value}; it must be {least} to {MAX_PENALTY:,}")
        if len(self.gaps) not in (1, 2):
            raise UsageError(f"a gap's cost has one or two pieces, not {len(self.gaps)}")

    @classmethod
    def of(cls, metric: Metric, values: Sequence[int] | None = None, match: int = 0) -> Penalties:
        """A metric's penalties, in the order in which the command line takes them; None for its defaults.

        Raises:
            UsageError: too many or too few values, or one out of range.
        """
        names, defaults = PENALTIES[metric]
        if values is None:
            values = defaults
        elif not names:
            raise UsageError(f"{metric} takes no penalties (--penalties): every edit costs 1")
        elif len(values) != len(names):
            raise UsageError(f"{metric} takes {len(names)} penalties ({','.join(names)}), not {len(values)}")
        if metric is Metric.INDEL:
            # A mismatch never costs less than an insertion and a deletion, which are preferred: none is written.
            return cls(2, ((0, 1),), match)
        if metric is Metric.EDIT:
            return cls(1, ((0, 1),), match)
        if metric is Metric.LINEAR:
            return cls(values[0], ((0, values[1]),), match)
        return cls(values[0], tuple(zip(values[1::2], values[2::2], strict=True)), match)

    @classmethod
    def parse(cls, metric: Metric, text: str, match: int = 0) -> Penalties:
        """Reads values like "4,6,2". Raises UsageError."""
        try:
            values = [int(part) for part in text.split(",")]
        except ValueError:
            raise UsageError(f"penalties are whole numbers like 4,6,2, not {text!r}") from None
        return cls.of(metric, values, match)


PENALTIES: dict[Metric, tuple[tuple[str, ...], tuple[int, ...]]] = {
    # names, and default values
    Metric.EDIT: ((), ()),
    Metric.INDEL: ((), ()),
    Metric.LINEAR: (("mismatch", "gap"), (4, 2)),
    Metric.AFFINE: (("mismatch", "open", "extend"), (4, 6, 2)),
    Metric.AFFINE2P: (("mismatch", "open1", "extend1", "open2", "extend2"), (4, 6, 2, 24, 1)),
}


@dataclass(frozen=True)
class FreeEnds:
    """Letters that may stay unaligned, at no cost, at each end of each sequence; WHOLE for as many as there are."""

    query_begin: int = 0
    query_end: int = 0
    target_begin: int = 0
    target_end: int = 0

    def __post_init__(self) -> None:
        if not all(0 <= letters <= WHOLE for letters in self.as_tuple()):
            raise UsageError(f"free ends are numbers of letters, 0 to {WHOLE}, not {self.as_tuple()}")

    def as_tuple(self) -> tuple[int, int, int, int]:
        """(query begin, query end, target begin, target end)."""
        return self.query_begin, self.query_end, self.target_begin, self.target_end

    @classmethod
    def of(cls, mode: Mode) -> FreeEnds:
        """What a mode leaves free; for ENDS_FREE the user says it."""
        if mode is Mode.HW:
            return cls(target_begin=WHOLE, target_end=WHOLE)
        if mode is Mode.OVERLAP:
            return cls(WHOLE, WHOLE, WHOLE, WHOLE)
        return cls()

    def __bool__(self) -> bool:
        return any(self.as_tuple())


@dataclass(frozen=True)
class Heuristics:
    """Ways to leave work out, at the risk of a worse alignment; all off by default.

    Attributes:
        band: diagonals on either side of the way that are computed; 0 for all.
        band_step: scores after which the band is centred again on the furthest diagonal; 0 leaves it where it is.
        xdrop: diagonals whose score falls this far below the best are given up; 0 for none.
        zdrop: an extension ends where its score has fallen this far, and the gap's cost, below the best; 0 for never.
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
    """What to compute for each pair. Two specs that are equal give equal results, on any engine.

    Attributes:
        metric: which penalties there are; with penalties it says what an alignment costs.
        mode: global, ends-free (hw and overlap are two of its kind), or extension from both beginnings.
        free: free ends of ends-free modes.
        score_only: no CIGARs.
        max_cost: pairs that cost more have no alignment; None for no bound.
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
        if self.metric in (Metric.EDIT, Metric.INDEL) and self.penalties != Penalties.of(
            self.metric, None, self.penalties.match
        ):
            raise UsageError(f"{self.metric} has penalties of its own (Penalties.of), not {self.penalties}")
        if self.mode in (Mode.OVERLAP, Mode.EXTENSION) and not self.penalties.match:
            raise UsageError(
                f"{self.mode} needs a match bonus (--match): where matches earn nothing, aligning nothing is best"
            )
        if self.free and self.mode in (Mode.GLOBAL, Mode.EXTENSION):
            raise UsageError(f"{self.mode} has no free ends")
        if self.heuristics.xdrop and not self.penalties.match:
            raise UsageError("an X-drop needs a match bonus (--match): without one every score falls")
        if self.heuristics.zdrop and self.mode is not Mode.EXTENSION:
            raise UsageError("a Z-drop ends extensions (--mode extension); other modes go to their ends")
        if self.max_cost is not None and not 0 <= self.max_cost <= MAX_SCORE:
            raise UsageError(f"the bound on the cost is {self.max_cost}; it must be 0 to {MAX_SCORE:,}")
        if self.max_cost is not None and self.penalties.match:
            raise UsageError("a bound on the cost (--max-score) does not go with a match bonus (--match)")


@dataclass(frozen=True)
class OutputSpec:
    """How alignments are written."""

    format: Format = Format.SAM
    cigar: CigarStyle = CigarStyle.EQX
    md: bool = False
    cs: bool = False
    header: bool = True
    read_group: str = ""  # a whole @RG line with tabs, or ""
    container: Container = Container.SAM  # of SAM
    sort: bool = False  # by position
    index: bool = False  # of the file that is written
    hard_clip: bool = False  # supplementary records hold only what of the read they align
    checksums: bool = False  # of the targets, in SAM's header (M5)
    compression: int | None = None  # of BAM and CRAM, 0 to 9; None: htslib's own

    @property
    def read_group_id(self) -> str:
        """The ID of the read group, or ""."""
        fields = self.read_group.split("\t")[1:]
        return next((f[3:] for f in fields if f.startswith("ID:")), "")


@dataclass(frozen=True)
class Ends:
    """How alignments of mapped reads are extended beyond the mapped parts.

    Attributes:
        penalties: scores under which the ends are found; a match earns something.
        zdrop: an extension ends, and an alignment is broken, where its score has fallen so far, and the gap's
            extension, below its best; 0 for never.
        least: minimum score of a piece of a broken alignment, unless it is the best one.
        bonus: score that reaching the end of the read adds, when ends are compared.
        reach: maximum number of bases of the read on either side.
        band: maximum number of bases by which the reference's part of an extension is longer than the read's.
    """

    penalties: Penalties
    zdrop: int
    least: int
    bonus: int
    reach: int
    band: int

    def __post_init__(self) -> None:
        if not self.penalties.match:
            raise UsageError("an extension needs a match bonus (--match)")
        for name, value in (("Z-drop", self.zdrop), ("end bonus", self.bonus), ("reach", self.reach)):
            if not 0 <= value <= MAX_HEURISTIC:
                raise UsageError(f"the {name} is {value}; it must be 0 to {MAX_HEURISTIC:,}")


@dataclass(frozen=True)
class MappingSpec:
    """What becomes of mappings.

    Attributes:
        span: what of a read and its target is aligned.
        pad: letters beside the mapped parts that are taken too, unless span is MAPPED.
        keep_unmapped: reads without a mapping are written: behind all others, unless mappings are in_order.
        skip: mappings that are faulty are left out and counted; else the first one ends the run.
        shelf: bytes of reads that wait in memory for their mappings; more wait in a file.
        copy_tags: what SAM has as tags in the reads' comments goes to their records.
        mates: a file of its own has the second mates of pairs.
        in_step: mates are as a mapper pairs them, or the run ends: at the same place of both files, or the second one
            behind the first one.
        in_order: mappings come in the order of the reads, as a mapper writes them.
        ends: how ends are extended; of span EXTENDED alone.
    """

    span: Span = Span.MAPPED
    pad: int = 0
    keep_unmapped: bool = False
    skip: bool = False
    shelf: int = 256 * MIB
    copy_tags: bool = False
    mates: bool = False
    in_step: bool = False
    in_order: bool = False
    ends: Ends | None = None

    def __post_init__(self) -> None:
        if (self.span is Span.EXTENDED) != (self.ends is not None):
            raise UsageError("ends are extended with --span extended, and with no other span")


@dataclass(frozen=True)
class Limits:
    """Bounds on a pair's memory, in bytes.

    Attributes:
        table: rows of a wavefront that are kept at once.
        checkpoints: rows from which a long pair's pieces are computed again.
    """

    table: int = 16 * MIB
    checkpoints: int = 768 * MIB


class EngineName(enum.StrEnum):
    """Where to align."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


@dataclass(frozen=True)
class Config:
    """Everything that a run needs beside its files."""

    spec: AlignSpec = field(default_factory=AlignSpec)
    output: OutputSpec = field(default_factory=OutputSpec)
    limits: Limits = field(default_factory=Limits)
    threads: int = 1
    batch_bases: int | None = None  # bases of queries and targets together in a batch; None for what suits the engine
    engine: EngineName = EngineName.CPU
    gpu_memory: float | None = None  # bytes of each GPU that may be used, or below 1 a share of what is free
    devices: tuple[int, ...] | None = (0,)  # GPUs, as the driver counts them; None: all that there are
    kernel: str | None = None  # one of dispatch.CPU_KERNELS that gets every pair first
    check: bool = False
    explain: bool = False  # keep what dispatch decided, and why
    command_line: str = ""


class RunConfig(Protocol):
    """What a run that reads batches of pairs and writes alignments needs, whatever it computes."""

    @property
    def output(self) -> OutputSpec:
        """How alignments are written."""

    @property
    def limits(self) -> Limits:
        """Bounds on a pair's memory."""

    @property
    def threads(self) -> int:
        """Threads that align."""

    @property
    def batch_bases(self) -> int | None:
        """Bases of a batch; None for what suits the engine."""

    @property
    def check(self) -> bool:
        """Whether alignments are replayed before they are written."""

    @property
    def explain(self) -> bool:
        """Whether to keep what dispatch decided."""

    @property
    def command_line(self) -> str:
        """As the user gave it."""


def parse_read_group(text: str) -> str:
    r"""An @RG line as the user types it, "\t" standing for tabs. Raises UsageError where it is malformed."""
    line = text.replace("\\t", "\t")
    fields = line.split("\t")
    if fields[0] != "@RG":
        raise UsageError(r"a read group looks like '@RG\tID:run1\tSM:sample1': it starts with @RG")
    if "\n" in line or "\r" in line or "\\n" in line or "\\r" in line:
        raise UsageError(r"a read group is one line, whose fields are separated by \t")
    if not line.replace("\t", "").isprintable():
        raise UsageError(f"the read group {line} holds what is no text")
    for tag in fields[1:]:
        if len(tag) < 4 or tag[2] != ":" or not tag[:2].isalnum():
            raise UsageError(rf"{tag!r} in the read group is no TAG:value (fields are separated by \t)")
    if sum(tag.startswith("ID:") for tag in fields[1:]) != 1:
        raise UsageError("a read group needs one ID: field")
    return line
