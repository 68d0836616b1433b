"""Text compressed by bgzip: SAM, PAF and tables in files that end in .gz."""

from __future__ import annotations

import contextlib
from pathlib import Path

from ...core.batch import U8
from ...errors import OutputClosed, OutputError
from .bgzf import BLOCK_BYTES, DEFAULT_LEVEL, END, compressed
from .output import Output


class BgzipOutput(Output):
    """Text as BGZF blocks, which gzip and bgzip read; threads compress the records of batches. See Output.

    What precedes the records is cut into blocks as a whole, whatever the pieces that write() gets. Each batch of
    records begins a block.
    """

    def __init__(self, path: str | None, level: int | None = None) -> None:
        """Open a path; None or "-" is standard output.

        Args:
            path: path of the output file.
            level: compression level, 0 to 9; None: the default.

        Raises:
            OutputError: the file cannot be written.
        """
        super().__init__(path)
        self._level = DEFAULT_LEVEL if level is None else level
        self._head = bytearray()  # the end of what precedes the records, less than a block
        self._ended = False

    def write(self, data: bytes | U8) -> None:
        """Compress and write what precedes the records. Raises OutputError, or OutputClosed."""
        self._head += data if isinstance(data, bytes) else data.data
        if whole := len(self._head) // BLOCK_BYTES * BLOCK_BYTES:
            blocks = self.packed(bytes(self._head[:whole]))
            del self._head[:whole]
            self._put(blocks)

    def begin_records(self) -> None:
        """See Output."""
        blocks = self.packed(bytes(self._head))
        self._head.clear()
        if len(blocks):
            self._put(blocks)

    def packed(self, records: U8 | bytes) -> U8 | bytes:
        """Return records as BGZF blocks. Any thread."""
        return compressed(records, self._level).data

    def finish(self) -> None:
        """Write the block that ends the file, and rename it. Raises OutputError."""
        self._end()
        super().finish()

    def abandon(self, worth: bool = True) -> Path | None:
        """See Output. What is written so far can be read, unless a block could not be written."""
        if self.written and worth and not self.broken:
            with contextlib.suppress(OutputError, OutputClosed):
                self._end()
        return super().abandon(worth)

    def _end(self) -> None:
        if not self._ended:
            self.begin_records()  # of a run that ended before it had records
            self._ended = True
            self._put(END)

    def _put(self, *pieces: bytes | U8) -> None:
        """See Output."""
        try:
            super()._put(*pieces)
        except OutputError:
            self.broken = self._partial is not None
            raise
