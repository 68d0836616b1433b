"""Outputs are byte-identical to the golden files, whatever the number of threads and the batch size."""

from __future__ import annotations

import shlex

import pytest

from .golden_cases import CASES, GOLDEN, MAPPED_CASES, Case, without_versions
from .support import assert_success, header_of, run

# One base per batch means one pair per batch; 100 and 1000 end batches within the file.
WAYS = ("-t 1", "-t 2 --batch-bases 1", "-t 1 --batch-bases 100", "-t 2 --batch-bases 1000")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", (*CASES, *MAPPED_CASES), ids=lambda case: case.expected)
def test_output_is_golden(case: Case, way: str) -> None:
    result = run("align", *case.arguments, *way.split(), cwd=GOLDEN)
    assert_success(result)
    assert without_versions(result.out) == (GOLDEN / case.expected).read_bytes()


def test_check_changes_nothing() -> None:
    case = CASES[0]
    result = run("align", *case.arguments, "--check", cwd=GOLDEN)
    assert_success(result)
    assert without_versions(result.out) == (GOLDEN / case.expected).read_bytes()


def test_program_line_tells_the_command_and_the_version() -> None:
    # Options with blanks and special characters are quoted, so that the line can be pasted into a shell.
    arguments = ["align", "reads.fq", "targets.fa", "--read-group", r"@RG\tID:a b\tDS:it's", "-q"]
    result = run(*arguments, cwd=GOLDEN)
    assert_success(result)
    (program,) = [line for line in header_of(result.out) if line.startswith("@PG")]
    fields = dict(field.split(":", 1) for field in program.split("\t")[1:])
    assert shlex.split(fields["CL"]) == ["wfacli", *arguments]
    assert fields["VN"] == run("--version", cwd=GOLDEN).text.strip()
