"""Run commands on damaged files, each in its own process with limits, and shrink findings."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cli import forked
from tests.cli.support import environment

from .cases import Case, cases
from .rules import Run, problem_of

FOUND = Path(__file__).parent / "found"
SECONDS, MEMORY = 20.0, 3 << 30
_SHRINK_RUNS, _SHRINK_SECONDS = 150, 60.0


@dataclass(frozen=True)
class Input:
    """A case with one changed file, and a command.

    Attributes:
        case: name of the case.
        file: name of the changed file.
        content: its content.
        command: arguments.
    """

    case: str
    file: str
    content: bytes
    command: str


class Driver:
    """Runs commands in a folder, one at a time."""

    def __init__(self, folder: Path) -> None:
        """Use an empty folder."""
        self._work, self._scratch = folder / "work", folder / "scratch"
        self._scratch.mkdir()
        self._environment = environment(TMPDIR=str(self._scratch), OMP_NUM_THREADS="1")
        self._cases = {case.name: case for case in cases()}
        # Sanitizers reserve terabytes of address space and are slow.
        self._sanitized = "WFACLI_SANITIZE" in os.environ

    def run(self, given: Input) -> str:
        """Run a command; return the rule that it breaks, or ""."""
        case = self._cases[given.case]
        for folder in (self._work, self._scratch):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for name, content in case.files.items():
            (self._work / name).write_bytes(given.content if name == given.file else content)
        if any(name.endswith((".fai", ".gzi")) for name in case.files):  # an index must not be older than its file
            for name in case.files:
                os.utime(self._work / name, (1_700_000_000, 1_700_000_000))
        code: int | None
        try:
            code, out, err = forked.run(
                given.command.split(),
                self._work,
                b"",
                None,
                self._environment,
                (SECONDS / 5 if case.long else SECONDS) * (5 if self._sanitized else 1),
                0 if self._sanitized else MEMORY,
            )
        except subprocess.TimeoutExpired as late:
            code, out, err = None, late.output or b"", late.stderr or b""
        found = Run(code, out, err.decode(errors="replace"), self._work, self._scratch)
        return problem_of(found, case, given.command)

    def smaller(self, given: Input, problem: str) -> Input:
        """Return a smaller input with the same problem, by removing parts of the content."""
        rule, left, late = problem.split(":")[0], _SHRINK_RUNS, time.monotonic() + _SHRINK_SECONDS
        size = max(1, len(given.content) // 2)
        while size and left > 0:
            at, gone = 0, False
            while at < len(given.content) and left > 0:
                if time.monotonic() > late:
                    return given
                content = given.content[:at] + given.content[at + size :]
                tried = Input(given.case, given.file, content, given.command)
                left -= 1
                if self.run(tried).split(":")[0] == rule:
                    given, gone = tried, True
                else:
                    at += size
            if not gone or size > len(given.content):
                size //= 2
        return given


def inputs(seed: int) -> Iterator[Input]:
    """Yield damaged inputs endlessly; deterministic for a seed."""
    rng = random.Random(seed)
    some = cases()
    weights = [case.weight for case in some]
    while True:
        (case,) = rng.choices(some, weights)
        yield _input(rng, case)


def _input(rng: random.Random, case: Case) -> Input:
    file = rng.choice(case.damaged)
    return Input(case.name, file, case.change(rng, case.files[file]), rng.choice(case.commands))


def keep(given: Input, problem: str, folder: Path = FOUND) -> Path:
    """Save a finding to be replayed by tests; return its path."""
    rule = problem.split(":")[0]
    path = (
        folder / f"{given.case.replace(' ', '-')}-{rule}-{zlib.crc32(given.content + given.command.encode()):08x}.json"
    )
    values = {"problem": problem, "case": given.case, "command": given.command, "file": given.file}
    coded = base64.b64encode(zlib.compress(given.content, 9)).decode()
    path.write_text(json.dumps({**values, "content": coded}, indent=1) + "\n")
    return path


def kept(path: Path) -> Input:
    """Load the input of a finding."""
    values = json.loads(path.read_text())
    content = zlib.decompress(base64.b64decode(values["content"]))
    return Input(values["case"], values["file"], content, values["command"])


def fuzz(seed: int, seconds: float, most: int, found: Path) -> tuple[Counter[str], list[str]]:
    """Run the inputs of a seed; return the number per case, and one finding for each case and rule."""
    begun, counts, problems = time.monotonic(), Counter[str](), dict[tuple[str, ...], str]()
    with tempfile.TemporaryDirectory(prefix="input-fuzz-") as folder:
        driver = Driver(Path(folder))
        for number, given in enumerate(inputs(seed)):
            if number >= most or time.monotonic() - begun > seconds:
                break
            counts[given.case] += 1
            problem = driver.run(given)
            if not problem:
                continue
            key = (given.case, given.file, problem.split(":")[0], problem[:40])
            if key in problems:
                counts["found again"] += 1
                continue
            # Print the finding before shrinking it, which may crash this process.
            print(f"seed {seed}, input {number}: {given.command}: {problem}", flush=True)
            path = keep(driver.smaller(given, problem), problem, found)
            problems[key] = f"{path.name}: {given.command}: {problem}"
    return counts, list(problems.values())
