"""Results as JSON: which file a result goes to, and how it is laid out."""

from __future__ import annotations

import itertools
import json
import os
import platform
from pathlib import Path
from typing import Any

from wfacli._native import instruction_sets
from wfacli.core.cores import usable_cores
from wfacli.measure.machine import header

RESULTS = Path(os.environ.get("WFACLI_RESULTS") or Path(__file__).parents[1] / "results")
WIDTH = 119  # columns that an object or a list may have to stand on one line
ROWS = ("rows", "cells", "runs", "timings")  # keys of what has a row a line, at any depth
_own: dict[Path, Path] = {}  # files that this process wrote, by folder and name of the result


def save(name: str, what_is_timed: dict[str, str], result: dict[str, Any]) -> Path:
    """Write a result with everything needed to understand it.

    A part of a table never replaces the part of another run; a whole table replaces the table of the same day and
    commit. A result measured under WFACLI_ISA has the instruction set in its name.

    Returns:
        Path of the file.
    """
    name = _with_isa(name)
    report = {**header(name, what_is_timed), **result}
    RESULTS.mkdir(parents=True, exist_ok=True)
    place = f"{report['date']}-{platform.machine()}-{usable_cores()}core-{report['commit']}"
    names = (
        RESULTS / f"{place}{more}-{name}.json" for more in itertools.chain([""], (f"-{n}" for n in itertools.count(2)))
    )
    path = _own.get(RESULTS / name) or next(path for path in names if not (name.endswith("-part") and path.exists()))
    _own[RESULTS / name] = path
    path.write_text(text_of(report))
    return path


def save_so_far(name: str, what_is_timed: dict[str, str], result: dict[str, Any], whole: bool) -> Path:
    """Write a result that grows row by row, named NAME-part until it is whole.

    Returns:
        Path of the file.
    """
    path = save(name if whole else f"{name}-part", what_is_timed, result)
    name = _with_isa(name)
    if whole and (part := _own.pop(RESULTS / f"{name}-part", None)):
        part.unlink(missing_ok=True)
    return path


def text_of(report: dict[str, Any]) -> str:
    """Return a report as JSON with one row of a table a line and everything else indented."""
    return _laid_out(report, "", 0) + "\n"


def _laid_out(value: Any, key: str, depth: int) -> str:
    """Return JSON of a value that starts `depth` levels deep, after its key."""
    compact = json.dumps(value)
    if not isinstance(value, dict | list) or (depth and 2 * depth + len(key) + 4 + len(compact) <= WIDTH):
        return compact
    is_table = key in ROWS
    if isinstance(value, list):
        if not any(isinstance(item, dict | list) for item in value):
            return compact
        opening, closing, lines = "[", "]", [json.dumps(item) for item in value]
    elif depth < 2 or is_table:
        opening, closing = "{", "}"
        lines = [
            f"{json.dumps(name)}: {json.dumps(item) if is_table else _laid_out(item, name, depth + 1)}"
            for name, item in value.items()
        ]
    else:
        return compact
    indent = "  " * (depth + 1)
    return opening + "\n" + ",\n".join(indent + line for line in lines) + "\n" + "  " * depth + closing


def _with_isa(name: str) -> str:
    held = os.environ.get("WFACLI_ISA")
    if not held or held == instruction_sets()[-1]:
        return name
    stem, part, _ = name.partition("-part")
    return f"{stem}-{held}{part}"
