"""The user's options, validated and immutable."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .errors import UsageError

MAX_PENALTY = 10_000  # scores of sequences of up to 10^5 bases, and of most longer ones, fit 32 bits
MIB = 1 << 20
WHOLE = (1 << 31) - 1  # FreeEnds: the whole sequence may stay unaligned
MAX_SCORE = (1 << 31) - 1
CPU_BATCH, GPU_BATCH = 2_800_000, 64_000_000  # default bases of a batch, queries and targets together
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
        """Alignment mode of these parts."""
        return Mode.GLOBAL if self in (Span.EXTENDED, Span.MAPPED) else Mode.HW


class Ambiguous(enum.StrEnum):
    """How characters other than A, C, G, T and U (equal to T) are compared; case is always ignored."""

    MISMATCH = "mismatch"  # they match nothing, not even themselves
    WILDCARD = "wildcard"  # an IUPAC code matches any code that shares a nucleotide with it
    LITERAL = "literal"  # every character matches only itself (U is not T)

    @property
    def code(self) -> int:
        """Number of the rule in native code."""
        return list(Ambiguous).index(self)


class Format(enum.StrEnum):
    """Output formats."""

    SAM = "sam"
    PAF = "paf"
    TSV = "tsv"
    BLAST6 = "blast6"


class Container(enum.StrEnum):
    """File formats of SAM records."""

    SAM = "sam"
    BAM = "bam"
    CRAM = "cram"


class CigarStyle(enum.StrEnum):
    """CIGAR operations of aligned bases: = and X, or M."""

    EQX = "eqx"
    M = "m"


@dataclass(frozen=True)
class Penalties:
    """Penalties and match bonus. A gap of l bases costs open + l * extend; with two pieces, the lower of the two.

    Attributes:
        mismatch: mismatch penalty, 1 to MAX_PENALTY.
        gaps: one or two pieces (open, extend); open 0 to MAX_PENALTY, extend 1 to MAX_PENALTY.
        match: match bonus, 0 to MAX_PENALTY.
    """

    mismatch: int = 4
    gaps: tuple[tuple[int, int], ...] = ((6, 2),)
    match: int = 0

    def __post_init__(self) -> None:
        charges = [("mismatch penalty", self.mismatch, 1), ("match bonus", self.match, 0)]
        for opening, extension in self.gaps:
            charges += [("gap opening penalty", opening, 0), ("gap extension penalty", extension, 1)]
        for name, value, minimum in charges:
            if not minimum <= value <= MAX_PENALTY:
                raise UsageError(f"the {name} is {value}; it must be {minimum} to {MAX_PENALTY:,}")
        if len(self.gaps) not in (1, 2):
            raise UsageError(f"a gap's cost has one or two pieces, not {len(self.gaps)}")

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
        if mode is Mode.HW:
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
    read_group: str = ""  # a complete @RG line with tabs, or ""
    container: Container = Container.SAM  # for format SAM
    sort: bool = False  # by position
    index: bool = False  # write an index of the output file
    hard_clip: bool = False  # supplementary records contain only the aligned part of the read
    checksums: bool = False  # MD5 checksums of the targets in the SAM header (M5)
    compression: int | None = None  # level of BAM and CRAM, 0 to 9; None: 6 for BAM, htslib's default for CRAM

    @property
    def read_group_id(self) -> str:
        """ID of the read group, or ""."""
        fields = self.read_group.split("\t")[1:]
        return next((f[3:] for f in fields if f.startswith("ID:")), "")


@dataclass(frozen=True)
class Ends:
    """How alignments of mapped reads are extended beyond the mapped parts.

    Attributes:
        penalties: scoring scheme of the extensions, with a match bonus.
        zdrop: an extension ends, and an alignment is split, where its score is more than this, plus the cost of
            extending the gap, below its best; 0 for no Z-drop.
        zdrop_inversion: an alignment is split at inversions where its score is more than this below its best; 0 for
            no search for inversions.
        min_score: minimum score of an inversion, and of a piece of a split alignment, unless it is the best piece.
        bonus: end bonus, added to the score of an extension that reaches the end of the read.
        max_extension: maximum number of bases of the read on either side.
        band: maximum number of bases by which the reference part of an extension is longer than the read part.
    """

    penalties: Penalties
    zdrop: int
    zdrop_inversion: int
    min_score: int
    bonus: int
    max_extension: int
    band: int

    def __post_init__(self) -> None:
        if not self.penalties.match:
            raise UsageError("an extension needs a match bonus (--match)")
        for name, value in (
            ("Z-drop", self.zdrop),
            ("Z-drop of inversions", self.zdrop_inversion),
            ("end bonus", self.bonus),
            ("maximum extension", self.max_extension),
        ):
            if not 0 <= value <= MAX_HEURISTIC:
                raise UsageError(f"the {name} is {value}; it must be 0 to {MAX_HEURISTIC:,}")


@dataclass(frozen=True)
class MappingSpec:
    """How mappings are turned into pairs.

    Attributes:
        span: which parts of a read and its target are aligned.
        pad: bases beside the mapped parts that are included, unless span is MAPPED.
        keep_unmapped: write unmapped reads: after all others, or in the reads' order with in_order.
        skip: skip and count invalid mappings; otherwise the first one ends the run.
        spill_threshold: bytes of memory for reads that wait for their mappings; further reads are spilled to a file.
        copy_tags: copy SAM tags in the comments of the reads to their records.
        mates: the second mates of pairs are in a file of their own.
        mates_in_order: mates have to be in the order that mappers expect, or the run ends: at the same position of
            both files, or the second mate directly after the first.
        in_order: mappings are in the order of the reads, as a mapper writes them.
        ends: how ends are extended; only with span EXTENDED.
    """

    span: Span = Span.MAPPED
    pad: int = 0
    keep_unmapped: bool = False
    skip: bool = False
    spill_threshold: int = 256 * MIB
    copy_tags: bool = False
    mates: bool = False
    mates_in_order: bool = False
    in_order: bool = False
    ends: Ends | None = None

    def __post_init__(self) -> None:
        if (self.span is Span.EXTENDED) != (self.ends is not None):
            raise UsageError("ends are extended with --span extended, and with no other span")


@dataclass(frozen=True)
class Limits:
    """Maximum memory of a pair, in bytes.

    Attributes:
        table: bytes of the wavefront rows in memory at once.
        checkpoints: bytes of the checkpoint rows from which segments of a long pair are recomputed.
    """

    table: int = 16 * MIB
    checkpoints: int = 768 * MIB


class EngineName(enum.StrEnum):
    """Processor that aligns."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


@dataclass(frozen=True)
class Config:
    """All options of a run except its files."""

    spec: AlignSpec = field(default_factory=AlignSpec)
    output: OutputSpec = field(default_factory=OutputSpec)
    limits: Limits = field(default_factory=Limits)
    threads: int = 1
    batch_bases: int | None = None  # bases of a batch, queries and targets together; None for the engine's default
    engine: EngineName = EngineName.CPU
    gpu_memory: float | None = None  # maximum memory on each GPU in bytes, or below 1 a fraction of the free memory
    devices: tuple[int, ...] | None = (0,)  # GPU numbers of the driver; None: all GPUs
    kernel: str | None = None  # one of dispatch.CPU_KERNELS, used first for every pair
    check: bool = False
    explain: bool = False  # record the choices of dispatch and their reasons
    command_line: str = ""


class RunConfig(Protocol):
    """Options that every run needs which reads batches of pairs and writes alignments."""

    @property
    def output(self) -> OutputSpec:
        """How alignments are written."""

    @property
    def limits(self) -> Limits:
        """Maximum memory of a pair."""

    @property
    def threads(self) -> int:
        """Number of threads that align."""

    @property
    def batch_bases(self) -> int | None:
        """Bases of a batch; None for the engine's default."""

    @property
    def check(self) -> bool:
        """Whether alignments are verified before they are written."""

    @property
    def explain(self) -> bool:
        """Whether to record the choices of dispatch."""

    @property
    def command_line(self) -> str:
        """The command line as the user typed it."""


def parse_read_group(text: str) -> str:
    r"""Parse an @RG line as the user types it, with "\t" for tabs. Raises UsageError if it is malformed."""
    line = text.replace("\\t", "\t")
    fields = line.split("\t")
    if fields[0] != "@RG":
        raise UsageError(r"a read group looks like '@RG\tID:run1\tSM:sample1': it starts with @RG")
    if "\n" in line or "\r" in line or "\\n" in line or "\\r" in line:
        raise UsageError(r"a read group is one line, whose fields are separated by \t")
    if not line.replace("\t", "").isprintable():
        raise UsageError(f"the read group {line} contains unprintable characters")
    for tag in fields[1:]:
        if len(tag) < 4 or tag[2] != ":" or not tag[:2].isalnum():
            raise UsageError(rf"{tag!r} in the read group is not TAG:value (fields are separated by \t)")
    if sum(tag.startswith("ID:") for tag in fields[1:]) != 1:
        raise UsageError("a read group needs one ID: field")
    return line
