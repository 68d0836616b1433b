"""Rules for runs on damaged files: what a run may leave behind, whatever its inputs."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path

from tests.cli.support import BGZF_END

from .cases import Case

_MAPPER = "minimap2, line"
_DOCUMENTED = {0, 1, 2}
_ERROR = re.compile(r"^wfacli: error: |─ Error ─", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
# Errors about a whole file, or reported by a child process, which name no line.
_NO_LINE = re.compile(
    r"has no |holds \d+ records?|truncated|damaged|is compressed with|is BAM|is CRAM|is SAM|looks like|samtools|"
    r"htslib|"
    r"more than one record|does not match|is the name of|is not a matrix|is empty|checkpoint|does not fit|"
    r"the file name|the reads? |two sequences have|a sequence has no name|a target|BAM|No such|names of at most|"
    r"SAM cannot|is not read as|--name|SAM allows|cannot use|no alignment|the file ends inside|non-ASCII bytes|"
    r"reads in|wrote no line|has a header of|no window|Failed to read|contains no matrix|index|mates|CRAM refers"
)


@dataclass(frozen=True)
class Run:
    """A run and its results.

    Attributes:
        code: exit status; minus the signal number if a signal ended it; None after a timeout.
        out, err: standard output and standard error.
        folder: its working directory.
        scratch: its TMPDIR.
    """

    code: int | None
    out: bytes
    err: str
    folder: Path
    scratch: Path


def problem_of(run: Run, case: Case, command: str) -> str:
    """Return the rule that a run breaks, as "rule: details", or ""."""
    if run.code is None:
        return "" if case.long else "time: it takes too long"
    if run.code < 0:
        return f"signal: ended by {-run.code}"
    if "Traceback" in run.err:
        last = run.err.strip().splitlines()[-1]
        return f"traceback: {last[:200]}"
    if run.code not in _DOCUMENTED:
        return f"status: {run.code}"
    return _of_message(run, case) or _of_files(run, case, command)


def _of_message(run: Run, case: Case) -> str:
    if found := _CONTROL.search(run.err):
        return f"control: {found[0]!r} in a message"
    errors = len(_ERROR.findall(run.err))
    if errors != (run.code != 0):
        return f"message: {errors} errors and status {run.code}"
    if "out of memory" in run.err:
        return "memory: out of it"
    if run.code != 1:
        return ""
    said = run.err[run.err.index("error: ") :]
    named = (*case.files, _MAPPER)  # the mapper, if it is the source of the faulty line
    if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) for name in named):
        return f"name: no file is named in {said[:200]!r}"
    if not re.search(", (line|record) ", said) and not _NO_LINE.search(said):
        return f"line: none in {said[:200]!r}"
    return ""


def _of_files(run: Run, case: Case, command: str) -> str:
    left = sorted(path.name for path in run.scratch.iterdir())
    if left:
        return f"scratch: {left} in TMPDIR"
    output = next((word for word in command.split() if word.startswith("out.")), None)
    final, partial = None, []
    for path in run.folder.iterdir():
        if path.name in case.files:
            continue
        if path.name == output:
            final = path
        elif output and path.name.startswith(f"{output}.partial-"):
            partial.append(path)
        elif path.name not in case.helpers or (run.code and path.name.startswith("out.")):
            return f"file: {path.name} is left"
    if output and (final is not None) != (run.code == 0):
        return f"final: status {run.code}, and the output {'is' if final else 'is not'} there"
    if partial and (run.code == 0 or len(partial) > 1 or partial[0].name not in run.err):
        return f"partial: {[path.name for path in partial]}, which is not said"
    for path in [final] if final else partial:
        if fault := _fault_of(path.name.split(".")[1], path.read_bytes()):
            return f"output: {path.name.split('-')[0]} {fault}"
    return ""


def _fault_of(suffix: str, content: bytes) -> str:
    """Return what is wrong with a complete or partial output, or ""."""
    if suffix == "bam":
        if not content.endswith(BGZF_END):
            return "has no last block"
        return "" if gzip.decompress(content).startswith(b"BAM\1") else "is no BAM"
    if suffix in ("cram", "html"):
        return "" if content.startswith((b"CRAM", b"<!")) else "is none"
    if content and not content.endswith(b"\n"):
        return "ends inside a line"
    rows = [line.split(b"\t") for line in content.split(b"\n")[:-1]]
    if suffix == "sam":
        return _fault_of_sam(rows)
    if suffix == "paf" and any(len(row) < 12 or not row[1].isdigit() or not row[6].isdigit() for row in rows):
        return "has a line that is no PAF"
    if suffix == "tsv" and len({len(row) for row in rows}) > 1:
        return "has lines of several widths"
    return ""


def _fault_of_sam(rows: list[list[bytes]]) -> str:
    targets = {row[1][3:] for row in rows if row[0] == b"@SQ"} | {b"*"}
    for row in rows:
        if re.fullmatch(rb"@(HD|SQ|RG|PG|CO)", row[0]):
            continue
        if len(row) < 11 or not row[1].isdigit() or not row[3].isdigit():
            return "has a line that is no SAM"
        if row[2] not in targets:
            return "has a record on a target without @SQ"
        if row[9] != b"*" and row[10] != b"*" and len(row[9]) != len(row[10]):
            return "has a quality of another length"
        if re.search(rb"[^!-~]", row[0]) or not 0 < len(row[0]) <= 254:
            return "has a name that SAM cannot hold"
    return ""
