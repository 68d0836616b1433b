"""What the measurements share: the machine, the commit, and where results go."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from wfacli._native import instruction_sets
from wfacli.core.cores import usable_cores
from wfacli.measure.machine import commit, header, machine
from wfacli.measure.spread import Spread

__all__ = [
    "COMMAND",
    "RESULTS",
    "commit",
    "deadline",
    "machine",
    "pace",
    "row_by_row",
    "run_command",
    "save",
    "save_so_far",
    "summed_up",
]

RESULTS = Path(os.environ.get("WFACLI_RESULTS") or Path(__file__).parents[1] / "results")
_own: dict[Path, Path] = {}  # what this process wrote, by folder and name
COMMAND = [sys.executable, "-m", "wfacli"]


def pace(parser: argparse.ArgumentParser, default: float | None = None) -> None:
    """Adds --minutes."""
    told = "after these, nobody has a turn any more"
    parser.add_argument("--minutes", type=float, default=default, metavar="M", help=told)


def deadline(a: argparse.Namespace) -> float:
    """When --minutes are over, by time.monotonic()."""
    return float("inf") if a.minutes is None else time.monotonic() + 60 * a.minutes


def summed_up(seconds: list[float]) -> dict[str, Any]:
    return Spread(seconds).report()


def save(name: str, what_is_timed: dict[str, str], result: dict[str, Any]) -> Path:
    """Writes a result with everything needed to understand it; returns its path.

    A part of a table never replaces that of another run; the whole table does. One that was held to an instruction set
    by WFACLI_ISA has a name of its own.
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
    path.write_text(json.dumps(report, indent=2) + "\n")
    return path


def save_so_far(name: str, what_is_timed: dict[str, str], result: dict[str, Any], whole: bool) -> Path:
    """Writes a result that grows: under NAME-part until it is the whole table."""
    path = save(name if whole else f"{name}-part", what_is_timed, result)
    name = _with_isa(name)
    if whole and (part := _own.pop(RESULTS / f"{name}-part", None)):
        part.unlink(missing_ok=True)
    return path


def row_by_row(
    a: argparse.Namespace,
    name: str,
    what_is_timed: dict[str, str],
    every: Sequence[tuple[Any, ...]],
    name_of: Callable[..., str],
    row_of: Callable[..., dict[str, Any]],
    beside: Callable[[dict[str, Any]], str],
) -> list[dict[str, Any]]:
    """A table of what we and a peer take for a pair, measured and shown row by row until --minutes are over.

    Args:
        a: has rows, letters, repeats, save and minutes.
        name: of the result that --save writes after each row.
        what_is_timed: as for save.
        every: what a row is of; those are measured whose names contain one of --rows.
        name_of: a row's name.
        row_of: measures it, from what it is of, letters and repeats; "ours" has "us_a_pair".
        beside: what is said of its peer.
    """
    work = [one for one in every if any(text in name_of(*one) for text in a.rows)]
    rows: list[dict[str, Any]] = []
    end, file = deadline(a), None
    for one in work:
        if time.monotonic() > end:
            print(f"no time left for {len(work) - len(rows)} rows", file=sys.stderr)
            break
        row = row_of(*one, a.letters, a.repeats)
        rows.append(row)
        print(f"{name_of(*one):32} {row['ours']['us_a_pair']:10.2f} us a pair   {beside(row)}", flush=True)
        if a.save:
            file = save_so_far(name, what_is_timed, {"rows": rows}, len(rows) == len(every))
    if file:
        print(file)
    return rows


def _with_isa(name: str) -> str:
    held = os.environ.get("WFACLI_ISA")
    if not held or held == instruction_sets()[-1]:
        return name
    stem, part, _ = name.partition("-part")
    return f"{stem}-{held}{part}"


def run_command(arguments: list[str], stats: Path) -> dict[str, Any]:
    """Runs wfacli with --stats and returns the report. Raises CalledProcessError."""
    subprocess.run([*COMMAND, *arguments, "--quiet", "--stats", str(stats)], check=True)
    return json.loads(stats.read_text())
