"""How alignments are written: formats, fields, read groups."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..errors import UsageError

SORT_MEMORY = 768 << 20  # bytes of records, by default


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
    bgzip: bool = False  # text is compressed by bgzip
    compression: int | None = None  # level of BAM, CRAM and bgzip, 0 to 9; None: 6, for CRAM htslib's default
    sort_memory: int = SORT_MEMORY  # maximum bytes of records in memory while they are sorted; others wait in a file

    @property
    def read_group_id(self) -> str:
        """ID of the read group, or ""."""
        fields = self.read_group.split("\t")[1:]
        return next((f[3:] for f in fields if f.startswith("ID:")), "")


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


@dataclass(frozen=True)
class ReportFiles:
    """Paths of the reports of a run, which its caller writes.

    Attributes:
        stats: JSON of --stats; None: none.
        page: page of --report; None: none.
        prefix: prefix of --multiqc; None: none.
        multiqc: its files.
    """

    stats: str | None = None
    page: str | None = None
    prefix: str | None = None
    multiqc: tuple[str, ...] = ()

    @property
    def options(self) -> list[tuple[str, str]]:
        """All paths, each with the option that names it."""
        named = [(self.stats, "--stats"), (self.page, "--report"), *((path, "--multiqc") for path in self.multiqc)]
        return [(path, option) for path, option in named if path is not None]

    @property
    def paths(self) -> list[str]:
        """All paths."""
        return [path for path, _ in self.options]

    @property
    def show_figures(self) -> bool:
        """Whether figures of the records are to be collected."""
        return self.page is not None or bool(self.multiqc)


NO_REPORTS = ReportFiles()
