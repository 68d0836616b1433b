"""Duplicates a stream that can be read only once, for a mapper and for this process."""

from __future__ import annotations

import os
import threading
from typing import IO

from ...errors import InputError
from ..read.unnamed import temporary_folder, unnamed_file

_CHUNK = 1 << 18
_PIECE = 1 << 26  # bytes of a spill file, which is deleted when both readers have read it
_CLOSED = 1 << 62  # position of a reader that has closed its pipe


class Tee:
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
        self._spilled, self._read_offsets, self._ended = 0, [0, 0], False
        self._fault: InputError | None = None
        self._writers = [
            threading.Thread(target=self._feed, args=(reader, pipe[1]), name="wfacli-tee", daemon=True)
            for reader, pipe in enumerate(pipes)
        ]
        # A thread that waits for a pipe cannot be stopped: this one runs until the program exits.
        self._input_thread = threading.Thread(target=self._spill_input, name="wfacli-tee-input", daemon=True)
        for thread in (self._input_thread, *self._writers):
            thread.start()

    def _spill_input(self) -> None:
        try:
            while data := self._read(min(_CHUNK, _PIECE - self._spilled % _PIECE)):
                number, place = divmod(self._spilled, _PIECE)
                if place == 0:
                    file = unnamed_file(buffering=0)  # closed when it was read
                    with self._changed:
                        self._pieces[number] = file
                view = memoryview(data)
                while len(view):
                    done = os.pwrite(file.fileno(), view, place)
                    view, place = view[done:], place + done
                with self._changed:
                    self._spilled += len(data)
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._ended or self._spilled - self._read_offsets[0] <= _PIECE)
        except OSError as error:
            self._fault = InputError(
                self._path,
                f"cannot be spilled to {temporary_folder()}: {error.strerror} "
                "(set TMPDIR to another folder, or give a file instead of a pipe)",
            )
        os.close(self._stream)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _read(self, size: int) -> bytes:
        if self._ended or min(self._read_offsets) == _CLOSED:
            return b""
        try:
            return os.read(self._stream, size)
        except OSError as error:
            self._fault = InputError(self._path, error.strerror or str(error))
            return b""

    def _feed(self, reader: int, pipe: int) -> None:
        try:
            while data := self._next(reader):
                view = memoryview(data)
                while len(view):
                    view = view[os.write(pipe, view) :]
                self._set_offset(reader, self._read_offsets[reader] + len(data))
        except BrokenPipeError:  # a reader may stop early
            pass
        self._set_offset(reader, _CLOSED)
        os.close(pipe)

    def _next(self, reader: int) -> bytes:
        with self._changed:
            offset = self._read_offsets[reader]
            self._changed.wait_for(lambda: offset < self._spilled or self._ended)
            number, place = divmod(offset, _PIECE)
            size = min(_CHUNK, self._spilled - offset, _PIECE - place)
            return os.pread(self._pieces[number].fileno(), size, place) if size else b""

    def _set_offset(self, reader: int, to: int) -> None:
        with self._changed:
            self._read_offsets[reader] = to
            # The last piece may still be written, even if both readers are past it.
            offset = min(*self._read_offsets, self._spilled)
            for number in [n for n in self._pieces if (n + 1) * _PIECE <= offset]:
                self._pieces.pop(number).close()
            self._changed.notify_all()

    def close_reader(self, reader: int) -> None:
        """Close this process's copy of a read end, once another process or object has it or none will."""
        if self.readers[reader] >= 0:
            os.close(self.readers[reader])
            self.readers[reader] = -1

    def check(self) -> None:
        """Raise InputError if the stream was not passed on completely."""
        if self._fault:
            raise self._fault

    def close(self) -> None:
        """Stop the threads and close the pipes."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for reader in range(len(self.readers)):
            self.close_reader(reader)
        for writer in self._writers:
            writer.join()
        if not self._input_thread.is_alive():
            for piece in self._pieces.values():
                piece.close()
