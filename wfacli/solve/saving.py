"""What a long run does between two slices: it writes checkpoints, and stops when the user asks for that."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..errors import Cancelled, InputError, OutputError
from .base import Sliced, State
from .checkpoint import Checkpoint, Saved
from .watchers import Watchers


class Saving:
    """Checkpoints of a run, at intervals and when it is stopped.

    Attributes:
        checkpoint: the file; None: nothing is saved.
        written: number of checkpoints written.
    """

    def __init__(self, checkpoint: Checkpoint | None, interval: float, watchers: Watchers) -> None:
        """Begin the first interval, of `interval` seconds."""
        self.checkpoint, self.written = checkpoint, 0
        self._interval, self._watchers = interval, watchers
        self._saved_at = watchers.clock()

    def after_slice(self, current: Callable[[], Saved]) -> None:
        """Save the current state if an interval has passed or the run is to stop. Raises Cancelled if it is."""
        stop = self._watchers.stop()
        if self.checkpoint and (stop or self._watchers.clock() - self._saved_at >= self._interval):
            self.write(current())
            self._saved_at = self._watchers.clock()
        if stop:
            raise Cancelled("stopped")

    def write(self, saved: Saved) -> None:
        """Write a checkpoint, if there is to be one.

        A failure only warns, so that a run of hours is not lost. The last checkpoint stays.
        """
        if not self.checkpoint:
            return
        try:
            self.checkpoint.write(saved)
            self.written += 1
            self._watchers.note(f"checkpoint written to {self.checkpoint.path}")
        except OutputError as error:
            self._watchers.warn(str(error))

    def restore(self, solver: Sliced, state: State) -> None:
        """Resume a new solver from a saved state. Raises InputError if the state does not fit."""
        try:
            solver.restore(state)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise self.unfit(f"the checkpoint cannot be used: {error}") from None

    def unfit(self, reason: str = "the checkpoint is damaged: it does not contain the state of a run") -> InputError:
        """Return the error for a checkpoint whose values are of no use."""
        return InputError(self.checkpoint.path if self.checkpoint else "--resume", reason)


def remaining_seconds(fraction_done: float | None, fraction_before: float, elapsed: float) -> float | None:
    """Return the expected remaining seconds of a solver; None if unknown.

    Args:
        fraction_done: fraction of its work that is done, 0 to 1; None if unknown.
        fraction_before: fraction that was done when the solver was made or restored.
        elapsed: seconds since then.
    """
    if fraction_done is None or fraction_done <= fraction_before:
        return None
    seconds = (1 - fraction_done) / (fraction_done - fraction_before) * elapsed
    return seconds if math.isfinite(seconds) else None
