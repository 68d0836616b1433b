"""Duplicates a stream that can be read only once, for a mapper and for this process."""

from __future__ import annotations

import os
import tempfile
import threading
from typing import IO

from ...errors import InputError

_AT_ONCE = 1 << 18
_PIECE = 1 << 26  # bytes of a spill file, which is deleted when both readers have read it
_GONE = 1 << 62  # position of a reader that has closed its pipe


class Doubled:
    """Two pipes that deliver the same bytes as one stream, without decompression.

    Threads write the pipes. Data that only the mapper has read is spilled to unnamed temporary files, so that neither
    reader waits for the other; the stream is read at most one piece ahead of the mapper.

    Attributes:
        readers: read ends of the pipes: the mapper's and this process's. Call close_reader() once another process or
            object has a copy.
    """

    def __init__(self, path: str) -> None:
        """Take the path of a pipe or device; "-" is standard input. Raises InputError."""
        self._path = path
        try:
            self._stream = os.dup(0) if path == "-" else os.open(path, os.O_RDONLY)
        except OSError as error:
            raise InputError(path, error.strerror or str(error)) from None
        pipes = [os.pipe(), os.pipe()]
        self.readers = [reader for reader, _ in pipes]
        self._changed = threading.Condition()
        self._pieces: dict[int, IO[bytes]] = {}
        self._kept, self._had, self._ended = 0, [0, 0], False
        self._fault: InputError | None = None
        self._writers = [
            threading.Thread(target=self._hand_on, args=(who, pipe[1]), name="wfacli-doubled", daemon=True)
            for who, pipe in enumerate(pipes)
        ]
        # A thread that waits for a pipe cannot be stopped: this one runs until the program exits.
        self._keeper = threading.Thread(target=self._keep, name="wfacli-doubled-input", daemon=True)
        for thread in (self._keeper, *self._writers):
            thread.start()

    def _keep(self) -> None:
        try:
            while data := self._read(min(_AT_ONCE, _PIECE - self._kept % _PIECE)):
                number, place = divmod(self._kept, _PIECE)
                if place == 0:
                    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed when it was read
                    with self._changed:
                        self._pieces[number] = file
                view = memoryview(data)
                while len(view):
                    done = os.pwrite(file.fileno(), view, place)
                    view, place = view[done:], place + done
                with self._changed:
                    self._kept += len(data)
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._ended or self._kept - self._had[0] <= _PIECE)
        except OSError as error:
            self._fault = InputError(
                self._path,
                f"cannot be kept in {tempfile.gettempdir()} until it is aligned: {error.strerror} "
                "(TMPDIR names another folder; a file instead of a pipe needs none)",
            )
        os.close(self._stream)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _read(self, most: int) -> bytes:
        if self._ended or min(self._had) == _GONE:
            return b""
        try:
            return os.read(self._stream, most)
        except OSError as error:
            self._fault = InputError(self._path, error.strerror or str(error))
            return b""

    def _hand_on(self, who: int, pipe: int) -> None:
        try:
            while data := self._next(who):
                view = memoryview(data)
                while len(view):
                    view = view[os.write(pipe, view) :]
                self._move(who, self._had[who] + len(data))
        except BrokenPipeError:  # a reader may stop early
            pass
        self._move(who, _GONE)
        os.close(pipe)

    def _next(self, who: int) -> bytes:
        with self._changed:
            had = self._had[who]
            self._changed.wait_for(lambda: had < self._kept or self._ended)
            number, place = divmod(had, _PIECE)
            most = min(_AT_ONCE, self._kept - had, _PIECE - place)
            return os.pread(self._pieces[number].fileno(), most, place) if most else b""

    def _move(self, who: int, to: int) -> None:
        with self._changed:
            self._had[who] = to
            # The last piece may still be written, even if both readers are past it.
            had = min(*self._had, self._kept)
            for number in [n for n in self._pieces if (n + 1) * _PIECE <= had]:
                self._pieces.pop(number).close()
            self._changed.notify_all()

    def close_reader(self, who: int) -> None:
        """Close this process's copy of a read end, once another process or object has it or none will."""
        if self.readers[who] >= 0:
            os.close(self.readers[who])
            self.readers[who] = -1

    def check(self) -> None:
        """Raise InputError if the stream was not passed on completely."""
        if self._fault:
            raise self._fault

    def close(self) -> None:
        """Stop the threads and close the pipes."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for who in range(len(self.readers)):
            self.close_reader(who)
        for writer in self._writers:
            writer.join()
        if not self._keeper.is_alive():
            for piece in self._pieces.values():
                piece.close()
