"""Common part of the commands for one long pair: signals, checkpoints, results and reports."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from .. import __version__
from ..config import EngineName
from ..core.stats import Stats, peak_memory, versions
from ..errors import Cancelled, UsageError
from ..io.write.output import Output, is_standard_output, refuse_overwriting
from ..solve.checkpoint import Checkpoint, Identity, Saved
from ..solve.gpu.on_demand import GpuOnDemand, any_gpu
from ..solve.watchers import Watchers
from .console import note, warning
from .long_options import Checkpoints, LongPair, LongReporting
from .options import command_line
from .signals import REPEAT_SECONDS

_TERMINATING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class LongOrder:
    """Common options of such a command: files, checkpoints and messages.

    Attributes:
        pair: both input files.
        output, plot: output files; None: not written (of `output`: standard output).
        checkpoints: checkpoint file, and whether to resume from it.
        interval: seconds between two checkpoints.
        reporting: messages, progress and report.
    """

    pair: LongPair
    output: str | None
    plot: str | None
    checkpoints: Checkpoints
    interval: float
    reporting: LongReporting

    def refuse_overwriting(self) -> None:
        """Raise UsageError if an output would overwrite an input, another output or an existing checkpoint."""
        stats, checkpoint = self.reporting.stats, self.checkpoints.checkpoint
        refuse_overwriting((self.pair.a, self.pair.b), (self.output, stats, checkpoint, self.plot))
        if stats is not None and is_standard_output(stats) and is_standard_output(self.output):
            raise UsageError("--stats and the result cannot both go to standard output")
        if checkpoint and not self.checkpoints.resume and Path(checkpoint).exists():
            raise UsageError(f"{checkpoint} exists: give --resume to continue from it, or remove it")


@contextlib.contextmanager
def gpu_for(engine: EngineName, quiet: bool) -> Iterator[GpuOnDemand | None]:
    """Yield a GPU to be opened on demand, None if the engine excludes it; it is closed at the end."""
    if engine is EngineName.CPU:
        yield None
        return
    with contextlib.closing(any_gpu(_ignore if quiet else note)) as gpu:
        yield gpu


class LongCommand(ABC):
    """Execution of one command, from reading the inputs to writing the outputs."""

    def __init__(self, order: LongOrder) -> None:
        self._long = order
        self._stats = Stats()
        self._stop = Stop()
        self._found: dict[str, Any] = {}
        self._checkpoint: Checkpoint | None = None
        self._picture: Output | None = None  # None once it is drawn

    def run(self) -> None:
        """Execute the command; outputs get their final names only when it is complete."""
        order = self._long
        stats = order.reporting.stats
        report, complete = Output(stats) if stats else None, False
        opened = [report] if report else []
        try:
            out = Output(order.output)
            opened.append(out)
            self._picture = Output(order.plot) if order.plot else None
        except BaseException:
            for one in opened:
                one.abandon()
            raise
        try:
            self._compute(out)
            out.finish()
            complete = True
        except BaseException:
            out.abandon()
            if self._picture:
                self._picture.abandon()
            raise
        finally:
            if report:
                self._report(report, complete)
        if self._checkpoint:
            self._checkpoint.remove()

    @abstractmethod
    def _compute(self, out: Output) -> None:
        """Read, compute and write; set `_found`, the values of the report."""

    @property
    def _watchers(self) -> Watchers:
        reporting = self._long.reporting
        return Watchers(
            note if reporting.steps else _ignore,
            _ignore if reporting.quiet else warning,
            lambda: self._stop.requested,
        )

    def _opened_checkpoint(self, identity: Callable[[], Identity]) -> Saved | None:
        """Open the checkpoint, if there is to be one; return the state to resume from. Raises InputError."""
        path = self._long.checkpoints.checkpoint
        if not path:
            return None
        with self._stats.timed("checkpoint"):
            self._checkpoint = Checkpoint(path, identity())
            return self._saved(self._checkpoint)

    def _saved(self, checkpoint: Checkpoint) -> Saved | None:
        if not self._long.checkpoints.resume:
            return None
        if not checkpoint.exists():
            if not self._long.reporting.quiet:
                note(f"there is no checkpoint {checkpoint.path} yet: starting from the beginning")
            return None
        return checkpoint.read()

    def _stop_message(self) -> str:
        if self._long.reporting.quiet or not self._long.checkpoints.checkpoint:
            return ""
        return f"stopped; the same command with --resume continues from {self._long.checkpoints.checkpoint}"

    def _write(self, words: str | None, out: Output, records: bool) -> None:
        """Write the result; if records go to standard output, to standard error.

        Args:
            words: the result as text; None: write JSON.
            out: output of the result, or of the records.
            records: True if `out` receives records.
        """
        if words is None:
            words = json.dumps({"wfacli": __version__, **self._found}, indent=2) + "\n"
        if records and self._long.output in (None, "-"):
            if not self._long.reporting.quiet:
                sys.stderr.write(words)
        else:
            (Output(None) if records else out).write(words.encode(errors="surrogateescape"))

    def _report(self, report: Output, complete: bool) -> None:
        values = {
            "complete": complete,
            "versions": versions(__version__),
            "command_line": command_line(),
            **self._found,
            "wall_seconds": round(self._stats.wall, 6),
            "stage_seconds": {stage: round(s, 6) for stage, s in sorted(self._stats.seconds.items())},
            "peak_memory_bytes": peak_memory(),
        }
        report.write_whole(json.dumps(values, indent=2).encode() + b"\n")


class Stop:
    """Defers terminating signals to the end of a slice, when the state can be saved."""

    def __init__(self) -> None:
        self._caught: int | None = None
        self._caught_at = 0.0
        self._handlers: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """True if a signal has arrived."""
        return self._caught is not None

    @contextlib.contextmanager
    def between_slices(self, words: str) -> Iterator[None]:
        """Defer terminating signals while the block runs; once the block raises Cancelled, the signal is re-raised.

        A second signal takes effect at once, unless it only repeats the first (see signals.REPEAT_SECONDS). One that
        arrives when the work is already done has no effect.

        Args:
            words: message to print when the run is stopped; "": none.
        """
        handled = [n for n in _TERMINATING if signal.getsignal(n) is not signal.SIG_IGN]  # nohup ignores SIGHUP
        self._handlers = {number: signal.signal(number, self._catch) for number in handled}
        try:
            yield
        except Cancelled:
            self._restore()
            if words:
                note(words)
            if self._caught is not None:
                signal.raise_signal(self._caught)
            raise
        finally:
            self._restore()

    def _catch(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._caught is None:
            self._caught, self._caught_at = number, now
        elif now - self._caught_at > REPEAT_SECONDS:
            self._restore()
            signal.raise_signal(number)

    def _restore(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)


def _ignore(_: str) -> None:
    pass
