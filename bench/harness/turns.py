"""Commands one after another within a time: what each has of it, how one that takes longer is ended, how each went."""

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

AHEAD = 0.75  # of its part, after which a step that can begins nothing more
MORE = 2.0  # times its part, after which a step is ended, if others did not leave it time
PATIENCE = 5.0  # seconds between one way to end a step and the next harder one
DONE, LATE = "done", "ended: no time left"


@dataclass(frozen=True)
class Turn:
    """How a step went.

    Attributes:
        name: its script.
        seconds: that it took.
        why: it failed, or was left out; DONE where it did neither.
        ran: whether it was begun.
    """

    name: str
    seconds: float
    why: str
    ran: bool = True

    @property
    def failed(self) -> bool:
        """Whether it was begun and not done."""
        return self.ran and self.why != DONE


class Clock:
    """A time that steps share by their own estimates; what one leaves is the next ones'."""

    def __init__(self, minutes: float | None, steps: Sequence[Step]) -> None:
        self._end = None if minutes is None else time.monotonic() + 60 * minutes
        self._left = [step.minutes for step in steps]
        self._least = [step.least for step in steps]
        self.short = minutes is not None and minutes < sum(self._left)  # whether there is less time than they all take

    def part_of_next(self) -> tuple[float, float] | None:
        """Of the next step, in seconds: what it should take, and at most; None for no end."""
        own, least, whole = self._left[0], self._least[0], sum(self._left)
        self._left, self._least = self._left[1:], self._least[1:]
        if self._end is None:
            return None
        left = max(0.0, self._end - time.monotonic())
        should = left * own / whole
        return should, min(left, max(least, MORE * should))


def words_of_pace(step: Step, part: tuple[float, float] | None) -> list[str]:
    """What tells a step how long it may take."""
    return ["--minutes", f"{AHEAD * part[0] / 60:.2f}"] if part and step.paced else []


def run(words: Sequence[str], most: float | None, environment: Mapping[str, str]) -> str:
    """Runs a command; DONE, LATE, or why it failed: what it said last.

    Args:
        words: the command.
        most: seconds, after which it is ended: as by Ctrl-C, so that it saves what it has, and then harder.
        environment: of it.
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
    """How everything went."""
    table = Table("table", "seconds", "how it went")
    for turn in turns:
        colour = "red" if turn.failed else "green" if turn.ran else "yellow"
        why = turn.why.replace("[", r"\[")
        table.add_row(turn.name, f"{turn.seconds:.0f}" if turn.ran else "–", f"[{colour}]{why}[/]")
    return table
