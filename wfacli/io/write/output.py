"""Output that is complete or visibly is not."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from ...core.batch import U8
from ...errors import OutputClosed, OutputError, UsageError
from .temporary import new_beside

_STDOUT = 1
_CLOSED = -1


_COMPRESSORS = {".gz": "gzip", ".bgz": "bgzip", ".zst": "zstd"}


def compressor_of(path: str | None) -> str | None:
    """The program that makes files of such a name, where it says that they are compressed: wfacli does not."""
    return _COMPRESSORS.get(Path(path).suffix.lower()) if path else None


def same_file(one: str, other: str) -> bool:
    """Whether two names are of one ordinary file; "-" is none."""
    if "-" in (one, other):
        return False
    if Path(one).exists() and Path(other).exists():
        return Path(one).samefile(other) and Path(one).is_file()
    return os.path.realpath(one) == os.path.realpath(other)


def is_standard_output(path: str | None) -> bool:
    """Whether a name is of what standard output is, a terminal apart: itself, or where the shell has sent it."""
    if path in (None, "-"):
        return True
    with contextlib.suppress(OSError):
        there, here = Path(path).stat(), os.fstat(_STDOUT)
        return os.path.samestat(there, here) and (stat.S_ISREG(here.st_mode) or stat.S_ISFIFO(here.st_mode))
    return False


def _is_written_by_the_shell(path: str) -> bool:
    """Whether an input is the file that standard output goes to: what is written would be read again."""
    with contextlib.suppress(OSError):
        here = os.fstat(_STDOUT)
        return stat.S_ISREG(here.st_mode) and os.path.samestat(os.fstat(0) if path == "-" else Path(path).stat(), here)
    return False


def refuse_overwriting(inputs: Sequence[str | None], outputs: Sequence[str | None]) -> None:
    """Raises UsageError where a file would be written over an input, or over another one.

    Args:
        inputs: names of files that are read; None for those that are not.
        outputs: likewise of those that are written.
    """
    if into := next((read for read in inputs if read and _is_written_by_the_shell(read)), None):
        name = "standard input" if into == "-" else into
        raise UsageError(f"{name} is an input, and the shell sends standard output to it; give -o another file")
    written = [path for path in outputs if path]
    for number, path in enumerate(written):
        if any(same_file(read, path) for read in inputs if read):
            raise UsageError(f"{path} is an input; writing to it would destroy it")
        if any(same_file(other, path) for other in written[:number]):
            raise UsageError(f"{path} is named twice to be written to")


class Output:
    """A file that gets its name when it is complete, or standard output.

    A regular file is written as NAME.partial-RANDOM beside its place (see temporary.new_beside) and renamed by
    finish(). Devices and pipes are written where they are.

    Attributes:
        written: bytes so far.
        broken: after abandon(): what makes a file of the bytes has failed, so that some of them are not in it.
    """

    broken = False

    def __init__(self, path: str | None) -> None:
        """Opens a path; None or "-" is standard output. Raises OutputError."""
        self.written = 0
        self._partial: Path | None = None
        self._final: Path | None = None
        self.name = path if path not in (None, "-") else "standard output"
        if path is None or path == "-":
            self._fd = _STDOUT
            return
        if not path:
            raise OutputError("the name of the output file is empty")
        try:
            self._fd = self._opened(path)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from None

    def _opened(self, path: str) -> int:
        if path.endswith(os.sep):  # a folder, there or not
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        try:
            kind = Path(path).stat().st_mode
        except FileNotFoundError:
            kind = stat.S_IFREG
        if not stat.S_ISREG(kind):  # a device or a pipe, under whatever name it was given; a directory fails here
            return os.open(path, os.O_WRONLY)
        final = Path(os.path.realpath(path))
        if final.exists() and not os.access(final, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        self._final = final
        descriptor, self._partial = new_beside(final, "partial")
        return descriptor

    def write(self, data: bytes | U8) -> None:
        """Writes all of it. Raises OutputError, or OutputClosed when the reader has gone."""
        view = memoryview(data) if isinstance(data, bytes) else data.data
        while len(view):
            try:
                done = os.write(self._fd, view)
            except BrokenPipeError:
                raise OutputClosed(self.name) from None
            except OSError as error:
                raise OutputError(f"{self.name}: {error.strerror}") from None
            self.written += done
            view = view[done:]

    def write_whole(self, data: bytes) -> None:
        """Writes all that the file shall hold and finishes it; leaves none where it cannot. Raises OutputError."""
        try:
            self.write(data)
            self.finish()
        except BaseException:
            self.abandon(worth=False)
            raise

    def finish(self) -> None:
        """Closes the file and gives it its name. Raises OutputError."""
        if self._fd == _STDOUT:
            return
        try:
            descriptor, self._fd = self._fd, _CLOSED
            os.close(descriptor)
            if self._partial and self._final:
                self._partial.replace(self._final)
                self._partial = None
        except OSError as error:
            raise OutputError(f"{self.name}: {error.strerror}") from None

    def abandon(self, worth: bool = True) -> Path | None:
        """Closes the file and leaves what there is under its temporary name, which is returned.

        A file into which nothing went is removed, and one that holds nothing of `worth` (a header, say); one that has
        got its name stays.
        """
        if self._fd == _STDOUT:
            return None
        if self._fd != _CLOSED:
            with contextlib.suppress(OSError):  # the failure that led here is the one to report
                os.close(self._fd)
            self._fd = _CLOSED
        if self._partial and not (self.written and worth):
            self._partial.unlink(missing_ok=True)
            return None
        return self._partial
