"""A child process whose output is read like a file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...errors import InputError, text_of
from ..read.unnamed import unnamed_file

if TYPE_CHECKING:
    from ..read.sources import Source

_LONGEST_MESSAGE = 1 << 12  # bytes
_PIPE = 1 << 20  # bytes of output that the process may be ahead: more than Linux's 64 KiB, and the most it allows


class Process:
    """A child process that runs until it exits or close() kills it.

    Attributes:
        command: program and arguments.
    """

    def __init__(
        self,
        command: Sequence[str],
        path: str,
        pass_fds: Collection[int] = (),
        subject: str = "",
        last_words: str = "",
        environment: Mapping[str, str] | None = None,
        yields: int = 0,
    ) -> None:
        """Start the process.

        Args:
            command: program and arguments.
            path: name of the output in error messages.
            pass_fds: further descriptors that the child inherits.
            subject: subject of the error message if the process fails without one; "" for the path alone.
            last_words: start of the last line on standard error of a process that has written everything; "" if it
                has none.
            environment: environment variables of the process; None for those of this process.
            yields: by how much its priority is lower than that of this process (nice).

        Raises InputError if it cannot be started.
        """
        self.command, self._last_words = tuple(command), last_words
        self._path, self._subject = path, f"{subject} " if subject else ""
        try:
            self._stderr = unnamed_file()  # close() closes it
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,  # a group of its own: see stop
                pass_fds=pass_fds,
                env=environment,
            )
        except OSError as error:
            raise InputError(path, f"{self._subject}cannot be started: {error.strerror}") from None
        if yields:
            with contextlib.suppress(OSError):  # it has ended already
                os.setpriority(os.PRIO_PROCESS, self._child.pid, os.getpriority(os.PRIO_PROCESS, 0) + yields)
        assert self._child.stdout
        # Linux limits the memory of a user's pipes together; other systems lack the call.
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(self._child.stdout.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)

    @cached_property
    def source(self) -> Source:
        """Standard output of the process, uncompressed. Raises InputError; the process is then closed."""
        from ..read.sources import Source  # it imports numpy, and a process can begin before that

        assert self._child.stdout
        try:
            # A mapper may take minutes to its first line, and what else a run needs is opened meanwhile.
            return Source(f"/dev/fd/{self._child.stdout.fileno()}", self._path, plain=True)
        except BaseException:
            self.close()
            raise

    def finished(self, seconds: float | None = None) -> None:
        """Wait for the exit, at most `seconds`. Raises InputError if the process failed and output may be missing."""
        try:
            status = self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return
        if status < 0:  # earlier messages are not the reason
            hint = " (the machine may have run out of memory)" if status == -signal.SIGKILL else ""
            raise InputError(self._path, f"{self._subject}was ended by signal {-status}{hint}")
        words = self._last_line()
        if status:
            # The last line of a run that has gone well is not the reason.
            reason = "" if self._last_words and words.startswith(self._last_words) else words
            raise InputError(self._path, reason or f"{self._subject}ended with status {status}")
        if not words.startswith(self._last_words):
            last = f"; its last message: {words}" if words else ""
            raise InputError(
                self._path,
                f'{self._subject}ended without an error, but not with "{self._last_words}" on standard error, so '
                f"output may be missing{last}",
            )

    def _last_line(self) -> str:
        """Return the last line on standard error, or its end if it is long; "" if there is none."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _LONGEST_MESSAGE))
        words = text_of(self._stderr.read(_LONGEST_MESSAGE)).strip().splitlines()
        return words[-1] if words else ""

    def stop(self) -> None:
        """Kill the process if it still runs, and those that it has started; its output then ends. Any thread."""
        if self._child.returncode is None:  # its number is still its own, and its group's
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process if it still runs, and free its resources."""
        assert self._child.stdout
        self.stop()
        self._child.stdout.close()
        self._child.wait()
        self._stderr.close()
