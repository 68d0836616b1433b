"""Commands run one after another within a time: the share of each, how a late one is ended, and how each went."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from rich.table import Table

from bench.harness.steps import Step

AHEAD = 0.75  # share of its time after which a paced step begins nothing more
MORE = 2.0  # multiple of its time after which a step is ended, if earlier ones did not leave it more
PATIENCE = 5.0  # seconds between a signal and the next, harder one
DONE, LATE = "done", "ended: no time left"


@dataclass(frozen=True)
class Turn:
    """How a step went.

    Attributes:
        name: its script.
        seconds: time that it took.
        why: DONE, or why it failed or was left out.
        ran: True if it was started.
    """

    name: str
    seconds: float
    why: str
    ran: bool = True

    @property
    def failed(self) -> bool:
        """True if it was started and did not finish."""
        return self.ran and self.why != DONE


class Clock:
    """A time that steps share by their expected times; what one step leaves goes to the next ones."""

    def __init__(self, minutes: float | None, steps: Sequence[Step]) -> None:
        self._end = None if minutes is None else time.monotonic() + 60 * minutes
        self._left = [step.minutes for step in steps]
        self._least = [step.least for step in steps]
        self.short = minutes is not None and minutes < sum(self._left)  # less time than all steps need

    def part_of_next(self) -> tuple[float, float] | None:
        """Return the next step's expected and maximum time in seconds; None when there is no limit."""
        own, least, whole = self._left[0], self._least[0], sum(self._left)
        self._left, self._least = self._left[1:], self._least[1:]
        if self._end is None:
            return None
        left = max(0.0, self._end - time.monotonic())
        should = left * own / whole
        return should, min(left, max(least, MORE * should))


def words_of_pace(step: Step, part: tuple[float, float] | None) -> list[str]:
    """Return the options that tell a step how long it may take."""
    return ["--minutes", f"{AHEAD * part[0] / 60:.2f}"] if part and step.paced else []


def run(words: Sequence[str], most: float | None, environment: Mapping[str, str]) -> str:
    """Run a command; return DONE, LATE, or why it failed, with its last line of output.

    Args:
        words: the command.
        most: maximum time in seconds; then the command is ended as by Ctrl-C, so that it saves what it has, and by
            harder signals if it does not end.
        environment: environment of the command.
    """
    done = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, start_new_session=True)
    assert done.stderr is not None
    said: list[str] = []
    reader = threading.Thread(target=_passed_on, args=(done.stderr, said), daemon=True)
    reader.start()
    try:
        status = done.wait(most)
    except subprocess.TimeoutExpired:
        _end(done)
        return LATE
    except BaseException:
        _end(done)
        raise
    reader.join(1)
    if status == 0:
        return DONE
    how = f"exit status {status}" if status > 0 else signal.Signals(-status).name
    return f"{how}: {said[-1]}" if said else how


def _passed_on(source: BinaryIO, said: list[str]) -> None:
    for line in source:
        sys.stderr.buffer.write(line)
        sys.stderr.flush()
        if text := line.decode(errors="replace").strip():
            said[:] = [text[:200]]


def _end(done: subprocess.Popen[bytes]) -> None:
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(done.pid, how)
            done.wait(PATIENCE)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def table_of(turns: Sequence[Turn]) -> Table:
    """Return a table of how all steps went."""
    table = Table("table", "seconds", "how it went")
    for turn in turns:
        colour = "red" if turn.failed else "green" if turn.ran else "yellow"
        why = turn.why.replace("[", r"\[")
        table.add_row(turn.name, f"{turn.seconds:.0f}" if turn.ran else "–", f"[{colour}]{why}[/]")
    return table
