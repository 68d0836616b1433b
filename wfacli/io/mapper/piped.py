"""Streams that other processes read through a pipe."""

from __future__ import annotations

import contextlib
import os
import threading

import numpy as np

from ...errors import InputError
from ..read.sources import Source

_CHUNK = 1 << 18


class Piped:
    """Feeds a stream that another process cannot read as it is stored to a pipe, by a thread.

    Attributes:
        reader: descriptor of the read end.
    """

    def __init__(self, source: Source) -> None:
        """Take a stream that has no other reader, and start."""
        self._source = source
        self.reader, self._writer = os.pipe()
        self._thread = threading.Thread(target=self._write, name="wfacli-mapper-input", daemon=True)
        self._thread.start()

    def _write(self) -> None:
        buffer = np.empty(_CHUNK, np.uint8)
        # The process may stop early. A fault ends the pipe here: the other reader of the same file reports it.
        with contextlib.suppress(InputError, BrokenPipeError):
            while got := self._source.readinto(buffer):
                view = buffer[:got].data
                while len(view):
                    view = view[os.write(self._writer, view) :]
        os.close(self._writer)
        self._source.close()

    def close_reader(self) -> None:
        """Close the read end, once the process has it or if there will be none."""
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1

    def close(self) -> None:
        """Stop the thread and close the pipe."""
        self.close_reader()
        self._thread.join()
