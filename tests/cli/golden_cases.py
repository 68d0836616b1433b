"""Golden files and the commands that create them; `make golden` rewrites them.

The expected outputs are verified by test_golden_truth, which `make golden` also runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .support import run

GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True)
class Case:
    """A command's arguments and the file with its expected output."""

    expected: str
    inputs: tuple[str, ...]
    options: tuple[str, ...] = ()
    metric: str = "affine"
    ambiguous: str = "mismatch"

    @property
    def arguments(self) -> list[str]:
        """Return the arguments of `wfacli align`."""
        scoring = ["--metric", self.metric, "--ambiguous", self.ambiguous]
        return [*self.inputs, "--format", self.expected.rsplit(".", 1)[1], *scoring, *self.options]


READS = ("reads.fq", "targets.fa")
CASES = (
    Case("reads.sam", READS),
    Case("reads.tags.sam", READS, ("--md", "--cs", "--cigar", "m", "--read-group", r"@RG\tID:run1\tSM:s1")),
    Case("reads.paf", READS, ("--md", "--cs")),
    Case("reads.edit.tsv", READS, metric="edit"),
    Case("reads.wildcard.sam", READS, ("--md",), ambiguous="wildcard"),
    Case("reads.literal.tsv", READS, ambiguous="literal"),
    Case("pairs.sam", ("pairs.seq",), ("--no-header",)),
    Case("table.paf", ("table.tsv",)),
)

_MAPPED = ("mapped.reads.fq", "mapped.ref.fa", "--mappings", "mapped.paf")
# tests/mapped verifies the content of these records; this checks the output of the command.
MAPPED_CASES = (
    Case("mapped.extended.sam", _MAPPED, ("--match", "2", "--md", "--no-header")),
    Case(
        "mapped.tags.sam",
        _MAPPED,
        ("--span", "mapped", "--copy-tags", "--keep-unmapped", "--md", "--cs", "--checksums"),
    ),
    Case("mapped.hard.sam", _MAPPED, ("--clip", "hard", "--span", "padded", "--pad", "20", "--no-header")),
    Case(
        "mapped.out.paf",
        _MAPPED,
        (
            "--span",
            "read",
        ),
        metric="edit",
    ),
    Case("mapped.tsv", _MAPPED, ("--span", "mapped", "--keep-unmapped")),
)


def without_versions(text: bytes) -> bytes:
    """Blank version and command line of @PG, the only parts of the output that may change."""
    return re.sub(rb"(?m)^(@PG\tID:wfacli\tPN:wfacli\tVN:)[^\t\n]+(\tCL:).*$", rb"\1*\2*", text)


def write_all() -> None:
    for case in (*CASES, *MAPPED_CASES):
        result = run("align", *case.arguments, "-t", "1", cwd=GOLDEN)
        assert result.code == 0, result.err
        (GOLDEN / case.expected).write_bytes(without_versions(result.out))


if __name__ == "__main__":
    write_all()
