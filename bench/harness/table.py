"""What the table scripts share: their common options, and the loop over rows that saves after each row."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from bench.harness import saving
from wfacli.core.cores import usable_cores
from wfacli.errors import DeviceError
from wfacli.measure.spread import Spread

NO_TIME = "no time left"
T = TypeVar("T")
Report = dict[str, Any]
_REAL_SETS = os.environ.get("WFACLI_TEST_DATA")
_OPTIONS: dict[str, dict[str, Any]] = {
    "rows": {"nargs": "+", "metavar": "TEXT", "help": "only rows whose names contain one of these"},
    "data": {"type": Path, "default": Path(_REAL_SETS) if _REAL_SETS else None, "help": "folder of real sets"},
    "share": {"type": float, "default": 1.0, "help": "share of each row's pairs"},
    "threads": {"type": int, "default": usable_cores(), "help": "CPU threads of wfacli"},
    "repeats": {"type": int, "default": 3},
    "patience": {"type": float, "help": "seconds; what takes longer is not repeated"},
    "longest": {"type": float, "help": "seconds; peers that would take longer are left out"},
    "save": {"action": "store_true", "help": "write the result to bench/results after each row"},
    "minutes": {"type": float, "metavar": "M", "help": "begin nothing more after this time"},
}


def options(doc: str | None, *names: str, **defaults: Any) -> argparse.ArgumentParser:
    """Return a parser with common options.

    Args:
        doc: docstring of the script, which --help shows.
        names: options with their usual defaults.
        defaults: further options, with defaults of their own.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in names:
        parser.add_argument(f"--{name}", **_OPTIONS[name])
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", **{**_OPTIONS[name], "default": default})
    return parser


def deadline(a: argparse.Namespace) -> float:
    """Return the end of --minutes, as time.monotonic() counts."""
    return float("inf") if a.minutes is None else time.monotonic() + 60 * a.minutes


def name_of(row: Any) -> str:
    """Return the name of a row, which is its attribute `name`, or the row itself."""
    return str(getattr(row, "name", row))


def chosen(rows: Iterable[T], a: argparse.Namespace) -> list[T]:
    """Return the rows that --rows asks for."""
    return [row for row in rows if not a.rows or any(text in name_of(row) for text in a.rows)]


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds that a call took, and its result."""
    begun = time.perf_counter()
    found = call()
    return time.perf_counter() - begun, found


def per_pair(seconds: list[float], pairs: int) -> Report:
    """Return the spread of all repeats, and the microseconds of the best one for a pair."""
    return {**Spread(seconds).report(), "us_a_pair": round(min(seconds) / pairs * 1e6, 2)}


class LeftOut(Exception):
    """A row that is not measured; the message says why."""


class Runner:
    """The rows of one table, measured in order until --minutes are over, and the file that they are saved to.

    Attributes:
        rows: reports of the rows measured so far.
        left_out: reasons for rows that were not measured, by name.
        end: end of the time, as time.monotonic() counts.
        part: True when less than the whole table was asked for.
        path: file of the result; None before anything was saved.
    """

    def __init__(
        self, name: str, what_is_timed: dict[str, str], a: argparse.Namespace, console: Console, part: bool = False
    ) -> None:
        """Begin a table.

        Args:
            name: of the result.
            what_is_timed: as for saving.save.
            a: options; a script that has --save writes a file only with it.
            console: shows status lines, and rows that are left out.
            part: True when other options than --rows and --share ask for less than the whole table.
        """
        self.rows: list[Report] = []
        self.left_out: dict[str, str] = {}
        self.end = deadline(a)
        self.part = bool(part or getattr(a, "rows", None) or getattr(a, "share", 1) != 1)
        self.path: Path | None = None
        self._name, self._timed, self._console = name, what_is_timed, console
        self._saves = getattr(a, "save", True)
        self._pending = 0

    @property
    def over(self) -> bool:
        """True after --minutes."""
        return time.monotonic() > self.end

    @property
    def whole(self) -> bool:
        """True when all rows were asked for, none is pending, and none was left out for lack of time."""
        return not (self.part or self._pending or NO_TIME in self.left_out.values())

    def each(self, work: Sequence[T]) -> Iterator[T]:
        """Yield rows while there is time, and leave out the others."""
        for number, one in enumerate(work):
            self._pending = len(work) - number - 1
            if self.over:
                self.left_out |= {name_of(late): NO_TIME for late in work[number:]}
                print(f"{NO_TIME} for {len(work) - number} rows: {name_of(one)} and later ones", file=sys.stderr)
                self._pending = 0
                return
            yield one

    def leave_out(self, name: str, why: str) -> None:
        """Note and show that a row is not in the table."""
        self.left_out[name] = why
        self._console.print(f"{name} is not in the table: {why}", markup=False)

    def measure(
        self,
        work: Sequence[T],
        row_of: Callable[[T], Report],
        result_of: Callable[[], Report] = dict,
        shown: Callable[[T, Report], str] | None = None,
        optional: bool = False,
    ) -> None:
        """Measure rows while there is time, and save after each.

        Args:
            work: what each row measures.
            row_of: report of a row; LeftOut leaves the row out, and FileNotFoundError or DeviceError end the script.
            result_of: what the result has beside its rows.
            shown: line to print after a row; without it a status line names the row that is being measured.
            optional: True to leave out rows that raise FileNotFoundError; the result should name them.
        """
        for one in self.each(work):
            try:
                with contextlib.nullcontext() if shown else self._console.status(name_of(one)):
                    self.rows.append(row_of(one))
            except (FileNotFoundError, DeviceError, LeftOut) as why:
                if isinstance(why, LeftOut) or (optional and isinstance(why, FileNotFoundError)):
                    self.leave_out(name_of(one), str(why))
                    continue
                sys.exit(f"{name_of(one)}: {why}")
            if shown:
                print(shown(one, self.rows[-1]), flush=True)
            self.save({**result_of(), "rows": self.rows})
        if self.rows and self.left_out:
            self.save({**result_of(), "rows": self.rows})

    def save(self, result: Report, whole: bool = True) -> None:
        """Write the result so far; it is a part of the table until all rows are done and `whole` is true."""
        if self._saves:
            self.path = saving.save_so_far(self._name, self._timed, result, whole and self.whole)
