"""Golden files of `wfacli extend` and the commands that create them; `make golden` rewrites them."""

from __future__ import annotations

from dataclasses import dataclass

from .golden_cases import GOLDEN, READS, without_versions
from .support import run

PROTEINS = ("proteins.query.fa", "proteins.target.fa")


@dataclass(frozen=True)
class ExtendCase:
    """A command's arguments and the file with its expected output."""

    expected: str
    inputs: tuple[str, ...]
    mode: str
    options: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """Return the arguments of `wfacli extend`."""
        return [*self.inputs, "--format", self.expected.rsplit(".", 1)[1], "--mode", self.mode, *self.options]


EXTEND_CASES = (
    ExtendCase("extend.local.sam", READS, "local", ("--second-best", "--md", "--cs")),
    ExtendCase("extend.extension.tsv", READS, "extension", ("--n-score", "-1", "--zdrop", "8")),
    ExtendCase("extend.global.paf", READS, "global", ("--scores", "1,3,5,2", "--ambiguous", "wildcard")),
    ExtendCase("extend.proteins.blast6", PROTEINS, "local", ("--matrix", "BLOSUM62", "--all")),
    ExtendCase("extend.pairs.paf", PROTEINS, "semiglobal", ("--matrix", "PAM250", "--pair-list", "candidates.txt")),
)


def write_all() -> None:
    for case in EXTEND_CASES:
        result = run("extend", *case.arguments, "-t", "1", cwd=GOLDEN)
        assert result.code == 0, result.err
        (GOLDEN / case.expected).write_bytes(without_versions(result.out))


if __name__ == "__main__":
    write_all()
