"""What a report says about a run: figures of its records, and values of the run itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from .figures import Figures, Sum


@dataclass(frozen=True)
class Machine:
    """How and where a run was executed; these values differ between runs with the same output.

    Attributes:
        command_line: as the user entered it.
        version: version of wfacli.
        mapper: name, version and command line of the program that mapped the reads; "" if there was none.
        date: date and time of the end, as text.
        where: engine, instruction set and threads, as text.
        wall: seconds from beginning to end.
        per_second: reads or pairs per second.
        peak_memory: bytes.
        stages: thread-seconds by stage.
        kernels: pairs by the kernel that aligned them.
    """

    command_line: str = ""
    version: str = ""
    mapper: str = ""
    date: str = ""
    where: str = ""
    wall: float = 0.0
    per_second: float = 0.0
    peak_memory: int = 0
    stages: dict[str, float] = field(default_factory=dict)
    kernels: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What a report says.

    Attributes:
        command: name of the command.
        title: what the report is about, such as the output's name.
        inputs: names of the inputs, each with what it is: ("reads", "reads.fq").
        figures: figures of the records.
        machine: how the run was executed.
        mapped: True for reads on a reference, False for pairs.
        unit: "base" or "residue".
        scores_only: True if no alignments were computed, so that most figures are unknown.
        total: reads or pairs of the input.
        unaligned: pairs without an alignment, by reason; empty for reads.
        secondary, supplementary: records of mapped reads.
        skipped: faulty mappings that were left out.
        identity: matches per alignment column over all alignments, as in the summary line; nan if unknown.
        settings: how alignments were scored, as (name, value).
        cautions: warnings about the run.
    """

    command: str
    title: str
    inputs: tuple[tuple[str, str], ...]
    figures: Figures
    machine: Machine
    mapped: bool
    unit: str = "base"
    scores_only: bool = False
    total: int = 0
    unaligned: dict[str, int] = field(default_factory=dict)
    secondary: int = 0
    supplementary: int = 0
    skipped: int = 0
    identity: float = float("nan")
    settings: tuple[tuple[str, str], ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def thing(self) -> str:
        """What is counted: "read" or "pair"."""
        return "read" if self.mapped else "pair"

    @property
    def query(self) -> str:
        """What a query is: "read" or "query"."""
        return "read" if self.mapped else "query"

    @property
    def queries(self) -> str:
        """What the queries are: "reads" or "queries"."""
        return "reads" if self.mapped else "queries"

    @property
    def what(self) -> str:
        """What was computed for each pair: "an alignment" or "a score"."""
        return "a score" if self.scores_only else "an alignment"

    @property
    def alignments(self) -> str:
        """The alignments that count once for each read or pair."""
        return "primary alignments" if self.mapped else "alignments"

    @property
    def aligned(self) -> int:
        """Mapped reads, or pairs with an alignment."""
        return self.figures.total(Sum.ALIGNED)

    @property
    def left_out(self) -> int:
        """Unmapped reads without a record, of which nothing but their number is known."""
        return self.total - self.figures.total(Sum.READS)

    @property
    def query_bases(self) -> int:
        """Bases of all reads with a record, or of all queries."""
        return int(self.figures.counts["query_bases"].sum())
