"""Replay earlier findings, and run a sample of `make fuzz-input` and `make fuzz-kill`."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from .cases import cases
from .drive import FOUND, Driver, Input, fuzz, kept
from .kill import kill
from .rules import Run, problem_of

INPUTS = int(os.environ.get("WFACLI_FUZZ_INPUTS", "80"))


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    return Driver(tmp_path_factory.mktemp("fuzz"))


def test_what_was_found(driver: Driver) -> None:
    here = {case.name for case in cases()}  # those of `map` need minimap2
    inputs = {path.name: kept(path) for path in sorted(FOUND.glob("*.json"))}
    problems = {name: driver.run(given) for name, given in inputs.items() if given.case in here}
    assert problems and not any(problems.values()), {name: what for name, what in problems.items() if what}


def test_good_files_break_no_rule(driver: Driver) -> None:
    for case in cases():
        if case.long:
            continue
        for command in case.commands:
            given = Input(case.name, case.damaged[0], case.files[case.damaged[0]], command)
            assert driver.run(given) == "", (case.name, command)


@pytest.mark.parametrize("job", range(2))
def test_a_share(tmp_path: Path, job: int) -> None:
    counts, problems = fuzz(27 + job, 600, INPUTS, tmp_path)
    assert not problems, problems
    assert counts.total() == INPUTS


def test_a_share_of_kills(tmp_path: Path) -> None:
    _, problems = kill(27, 8, 1000, tmp_path)
    assert not problems, problems


# The rules themselves


def ran(folder: Path, code: int | None, err: str = "", files: dict[str, bytes] | None = None) -> str:
    """Return what the rules report for a run of the first case that wrote these files."""
    (folder / "work").mkdir()
    (folder / "scratch").mkdir()
    for name, content in (files or {}).items():
        (folder / name).write_bytes(content)
    case = next(case for case in cases() if case.name == "fasta")
    return problem_of(Run(code, b"", err, folder / "work", folder / "scratch"), case, "align q t -o out.sam")


SAID = "wfacli: error: q, line 1: a fault\n"
SAM = b"@SQ\tSN:t\tLN:4\nr\t0\tt\t1\t60\t4=\t*\t0\t0\tACGT\tIIII\n"


@pytest.mark.parametrize(
    ("rule", "code", "err", "files"),
    [
        ("", 0, "", {"work/out.sam": SAM}),
        ("", 1, SAID, {}),
        ("", 1, f"wfacli: incomplete: out.sam.partial-1\n{SAID}", {"work/out.sam.partial-1": SAM}),
        ("time", None, "", {}),
        ("signal", -signal.SIGSEGV, "", {}),
        ("traceback", 1, "Traceback (most recent call last):\nValueError: x", {}),
        ("status", 3, "", {}),
        ("control", 1, "wfacli: error: q, line 1: \x1b[2J\n", {}),
        ("message", 1, "", {}),
        ("message", 0, SAID, {"work/out.sam": SAM}),
        ("memory", 1, "wfacli: error: out of memory\n", {}),
        ("name", 1, "wfacli: error: something\n", {}),
        ("line", 1, "wfacli: error: q: something\n", {}),
        ("scratch", 0, "", {"work/out.sam": SAM, "scratch/x": b""}),
        ("file", 0, "", {"work/out.sam": SAM, "work/x": b""}),
        ("final", 0, "", {}),
        ("final", 1, SAID, {"work/out.sam": SAM}),
        ("partial", 1, SAID, {"work/out.sam.partial-1": SAM}),
        ("output", 0, "", {"work/out.sam": SAM[:-1]}),
        ("output", 0, "", {"work/out.sam": SAM.replace(b"SN:t", b"SN:x")}),
        ("output", 0, "", {"work/out.sam": SAM.replace(b"IIII", b"III")}),
    ],
)
def test_rules(tmp_path: Path, rule: str, code: int | None, err: str, files: dict[str, bytes]) -> None:
    assert ran(tmp_path, code, err, files).split(":")[0] == rule
