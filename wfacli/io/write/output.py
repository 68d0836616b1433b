"""Output files that get their final names only when they are complete."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ..._native import TargetIds, guard_file, release_file
from ...core.batch import U8
from ...core.interruption import deferred
from ...errors import OutputClosed, OutputError, UsageError, shown
from ..read.urls import is_url
from .temporary import new_beside
from .upload import Upload

_STDIN, _STDOUT = 0, 1
_CLOSED = -1
_MOST_PIECES = 64  # that are written together


# Indexes beside sequences and alignments; every program looks for them under these names.
_INDEX_SUFFIXES = (".fai", ".gzi", ".bai", ".csi", ".crai")


def same_file(one: str, other: str) -> bool:
    """Return True if two names are of the same regular file; "-" never is."""
    if "-" in (one, other):
        return False
    if Path(one).exists() and Path(other).exists():
        return Path(one).samefile(other) and Path(one).is_file()
    return os.path.realpath(one) == os.path.realpath(other)


def is_standard_output(path: str | None) -> bool:
    """Return True if a path is standard output, or the regular file or pipe that it is redirected to."""
    if path in (None, "-"):
        return True
    with contextlib.suppress(OSError):
        there, here = Path(path).stat(), os.fstat(_STDOUT)
        return os.path.samestat(there, here) and (stat.S_ISREG(here.st_mode) or stat.S_ISFIFO(here.st_mode))
    return False


def _input_stat(path: str) -> os.stat_result:
    return os.fstat(_STDIN) if path == "-" else Path(path).stat()


def _is_written_by_the_shell(path: str) -> bool:
    """Return True if an input is the file that standard output is redirected to: it would be read while written."""
    with contextlib.suppress(OSError):
        here = os.fstat(_STDOUT)
        return stat.S_ISREG(here.st_mode) and os.path.samestat(_input_stat(path), here)
    return False


def refuse_overwriting(inputs: Sequence[str | None], outputs: Sequence[str | None]) -> None:
    """Raise UsageError if an output would overwrite an input, the index of an input or another output.

    The name of an index is refused even if there is no such file: the run itself may make it, and every other program
    would take the output for the index.

    Args:
        inputs: paths of input files; None for absent ones.
        outputs: paths of output files; None for absent ones.
    """
    if into := next((read for read in inputs if read and _is_written_by_the_shell(read)), None):
        name = "standard input" if into == "-" else into
        raise UsageError(f"{name} is an input, and the shell sends standard output to it; give -o another file")
    written = [path for path in outputs if path]
    for number, path in enumerate(written):
        if any(_is_read(read, path) for read in inputs if read):
            raise UsageError(f"{path} is an input; writing to it would destroy it")
        indexed = (read for read in inputs if read and read != "-")
        if of := next((read for read in indexed if _is_index_of(read, path)), None):
            raise UsageError(f"{path} is the name of the index of {of}; give another file")
        if any(same_file(other, path) for other in written[:number]):
            raise UsageError(f"{path} is named twice to be written to")


def _is_read(read: str, path: str) -> bool:
    """Return True if an input is the regular file of this name; "-" is the file that standard input comes from."""
    if read != "-":
        return same_file(read, path)
    with contextlib.suppress(OSError):  # there is no such file yet
        here = _input_stat(read)
        return path != "-" and stat.S_ISREG(here.st_mode) and os.path.samestat(here, Path(path).stat())
    return False


def _is_index_of(read: str, path: str) -> bool:
    return any(same_file(f"{read}{suffix}", path) for suffix in _INDEX_SUFFIXES)


def _behind(views: list[memoryview], done: int) -> list[memoryview]:
    """Return what is left of pieces of which `done` bytes are written."""
    left = []
    for view in views:
        left.append(view[min(done, len(view)) :])
        done -= min(done, len(view))
    return left


class Output:
    """A file that gets its final name when it is complete, or standard output.

    A regular file is written as NAME.partial-RANDOM in the same folder (see temporary.new_beside) and renamed by
    finish(). Devices and pipes are written directly. What a URL names is uploaded, and nothing of it is kept unless it
    is complete.

    A batch command writes the header, calls begin_records(), and then add() for each batch, in order, with what
    packed() returned for it.

    Attributes:
        written: bytes written so far.
        broken: after abandon(): True if records may be missing in the file that were added to it.
    """

    broken = False

    def __init__(self, path: str | None) -> None:
        """Open a path; None or "-" is standard output. Raises OutputError."""
        self.written = 0
        self._partial: Path | None = None
        self._final: Path | None = None
        self._upload: Upload | None = None
        self.name = path if path not in (None, "-") else "standard output"
        if path is None or path == "-":
            self._fd = _STDOUT
            return
        if not path:
            raise OutputError("the name of the output file is empty")
        if is_url(path):
            self._fd, self._upload = _CLOSED, Upload(path)
            return
        self._fd = _CLOSED
        try:
            self._fd = self._opened(path)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from None
        except BaseException:  # a signal
            Output.abandon(self, worth=False)
            raise

    def _opened(self, path: str) -> int:
        if path.endswith(os.sep):  # a folder, even if it does not exist
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        try:
            kind = Path(path).stat().st_mode
        except FileNotFoundError:
            kind = stat.S_IFREG
        if not stat.S_ISREG(kind):  # a device or pipe, under any name; opening a directory fails here
            return os.open(path, os.O_WRONLY)
        final = Path(os.path.realpath(path))
        if final.exists() and not os.access(final, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        self._final = final
        with deferred():
            self._fd, self._partial = new_beside(final, "partial")
        guard_file(bytes(self._partial), f"wfacli: incomplete: {shown(str(self._partial))}\n".encode())
        return self._fd

    def write(self, data: bytes | U8) -> None:
        """Write all bytes. Raises OutputError, or OutputClosed if the reader has closed the pipe."""
        self._put(data)

    def _put(self, *pieces: bytes | U8) -> None:
        """Write pieces unchanged. Raises OutputError, or OutputClosed."""
        views = [memoryview(piece) if isinstance(piece, bytes) else piece.data for piece in pieces]
        if self._upload:
            for view in views:
                self._upload.write(view)
                self.written += len(view)
            return
        while views := [view for view in views if len(view)]:
            try:
                done = os.writev(self._fd, views[:_MOST_PIECES])
            except BrokenPipeError:
                raise OutputClosed(self.name) from None
            except OSError as error:
                raise OutputError(f"{self.name}: {error.strerror}") from None
            self.written += done
            views = _behind(views, done)

    @property
    def streams(self) -> bool:
        """True for standard output, pipes and devices, which receive bytes at once."""
        return self._final is None and self._upload is None

    def uninterrupted(self, size: int) -> AbstractContextManager[None]:
        """Return a context in which signals are deferred if writing `size` bytes in it does not block.

        What is written in it and what is counted then agree. A regular file does not block, nor does a pipe that has
        room for little, which this waits for.
        """
        if self._partial:
            return deferred()
        if self._upload or size > select.PIPE_BUF:
            return contextlib.nullcontext()
        has_room = select.poll()  # unlike select(), for any descriptor
        has_room.register(self._fd, select.POLLOUT)
        has_room.poll()
        return deferred()

    def begin_records(self) -> None:
        """Complete the header. Raises OutputError, or OutputClosed."""

    def targets(self) -> TargetIds | None:
        """Return what formatting needs of the header, which this waits for; None if nothing. Any thread."""
        return None

    def packed(self, records: U8) -> Any:
        """Return the formatted records of a batch in the form that add() takes. Any thread."""
        return records

    def add(self, *packed: Any) -> None:
        """Write the next batches. Raises OutputError, or OutputClosed if the reader has closed the pipe."""
        self._put(*packed)

    def cancel(self) -> None:
        """Wake threads that wait in targets()."""

    def write_whole(self, data: bytes) -> None:
        """Write the complete content and finish; leave no file if that fails. Raises OutputError."""
        try:
            self.write(data)
            self.finish()
        except BaseException:
            self.abandon(worth=False)
            raise

    def finish(self) -> None:
        """Close the file and rename it to its final name. Raises OutputError."""
        if self._upload:
            return self._upload.commit()
        if self._fd == _STDOUT:
            return
        try:
            descriptor, self._fd = self._fd, _CLOSED
            os.close(descriptor)
            if self._partial and self._final:
                self._partial.replace(self._final)
                release_file(bytes(self._partial))
                self._partial = None
        except OSError as error:
            raise OutputError(f"{self.name}: {error.strerror}") from None

    def abandon(self, worth: bool = True) -> Path | None:
        """Close an incomplete file and return its temporary name, or None if there is no file.

        A file without any bytes is removed, and so is one without content of `worth` (for example with a header
        only). A file that already has its final name stays.
        """
        if self._upload:
            self._upload.abandon()
        if self._fd == _STDOUT or self._upload:
            return None
        if self._fd != _CLOSED:
            with contextlib.suppress(OSError):  # the error that led here is the one to report
                os.close(self._fd)
            self._fd = _CLOSED
        if self._partial:
            release_file(bytes(self._partial))
        if self._partial and not (self.written and worth):
            self._partial.unlink(missing_ok=True)
            return None
        return self._partial
