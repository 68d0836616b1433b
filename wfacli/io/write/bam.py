"""BAM in the order of the records, and sorted BAM and SAM."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

from ..._native import BamIndex, TargetIds
from ...config import Container, OutputSpec
from ...core.batch import U8
from ...core.interruption import deferred
from ...errors import OutputClosed, OutputError
from ..read.remote import remove
from .bgzf import BLOCK_BYTES, DEFAULT_LEVEL, END, Blocks, compressed
from .header_targets import HeaderTargets
from .in_order import in_order
from .output import Output
from .sorting import Sorter

LONGEST_IN_BAI = 1 << 29  # maximum bases of a target in a .bai index (SAM specification, 5.2)
_PIECE = 16 * BLOCK_BYTES  # bytes that a thread compresses at a time
_LARGE = 16 * _PIECE  # bytes of records of a batch that several threads compress, more than one of the CPU engine has


def _pieces(data: U8) -> Iterator[U8]:
    return (data[at : at + _PIECE] for at in range(0, len(data), _PIECE))


class Numbered(Output):
    """Output whose records refer to the header's targets by number. What write() gets is the header."""

    def __init__(self, path: str | None, spec: OutputSpec, threads: int) -> None:
        """Open a path; None or "-" is standard output.

        Args:
            path: path of the output file.
            spec: container, sort, index, compression.
            threads: number of threads that compress.

        Raises:
            OutputError: the file cannot be written.
        """
        # The file last: a signal while the rest is made would leave it.
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, "wfacli-compress")
        self._level = DEFAULT_LEVEL if spec.compression is None else spec.compression
        self._header = HeaderTargets(spec.sort, threads)
        self._begun = False  # a part of the header is written, so that a file without records is complete, too
        super().__init__(path)

    def write(self, data: bytes | U8) -> None:
        """Add to the header, which begin_records() writes."""
        self._header.add(data)

    def targets(self) -> TargetIds | None:
        """See Output. Raises CancelledError after cancel()."""
        return self._header.targets()

    def cancel(self) -> None:
        """See Output."""
        self._header.cancel()

    def finish(self) -> None:
        """See Output."""
        self._pool.shutdown()
        super().finish()

    def abandon(self, worth: bool = True) -> Path | None:
        """See Output."""
        self._pool.shutdown()
        return super().abandon(worth)

    def _put(self, *pieces: bytes | U8) -> None:
        """See Output."""
        try:
            super()._put(*pieces)
        except OutputError:
            self.broken = self._partial is not None
            raise

    def _put_bam_header(self) -> None:
        header = self._header.begin()
        self._begun = True
        # Records wait for the targets' numbers. The text, which is long if targets are many, is compressed meanwhile.
        with ThreadPoolExecutor(1, "wfacli-number") as beside:
            numbered = beside.submit(self._header.number)
            self._put_compressed(header.begin)
            numbered.result()
        self._put_compressed(header.sequences)

    def _put_compressed(self, data: U8) -> None:
        for _, blocks in self._compressed(_pieces(data)):
            self._put(blocks.data)

    def _compressed(self, pieces: Iterable[U8]) -> Iterator[tuple[U8, Blocks]]:
        """Yield each piece and its blocks, in order; threads compress them."""

        def work(piece: U8) -> tuple[U8, Blocks]:
            return piece, compressed(piece, self._level)

        return in_order(self._pool, work, pieces, self._threads + 2)


class BamOutput(Numbered):
    """BAM in the order of the records; see Output."""

    def begin_records(self) -> None:
        """Write the header. Raises OutputError, or OutputClosed."""
        self._put_bam_header()

    def packed(self, records: U8) -> U8 | bytes:
        """Return BAM records, compressed: those of large batches, which are few, by several threads."""
        if len(records) <= _LARGE:
            return compressed(records, self._level).data
        return b"".join(bytes(blocks.data) for _, blocks in self._compressed(_pieces(records)))

    def finish(self) -> None:
        """Write the end of the file and rename it. Raises OutputError."""
        self._put(END)
        self._begun = False
        super().finish()

    def abandon(self, worth: bool = True) -> Path | None:
        """See Output. The records so far are a complete file, unless they could not be written."""
        if self._begun and not self.broken:
            self._begun = False
            with contextlib.suppress(OutputError, OutputClosed):
                self._put(END)
        return super().abandon(worth)


class SortedOutput(Numbered):
    """BAM or SAM sorted by position, as samtools sorts it, with an index of BAM; see Output."""

    def __init__(self, path: str | None, spec: OutputSpec, threads: int) -> None:
        """See Numbered."""
        self._binary = spec.container is Container.BAM
        self._bgzip = spec.bgzip
        self._wants_index = spec.index
        self._index: BamIndex | None = None
        self._sorter = Sorter(threads, spec.sort_memory)
        super().__init__(path, spec, threads)

    def begin_records(self) -> None:
        """Write the header. Raises OutputError, or OutputClosed."""
        if self._binary:
            self._put_bam_header()
        else:
            text = self._header.begin().text
            self._header.number()
            self._begun = True
            self._put(compressed(text, self._level).data if self._bgzip else text)
        targets = self._header.targets()
        if self._wants_index:
            self._index = BamIndex(targets, targets.longest > LONGEST_IN_BAI)

    def add(self, *packed: U8) -> None:
        """Keep sorted frames. Raises OutputError if they do not fit the memory, and cannot be spilled."""
        for frames in packed:
            self._sorter.add(frames)

    def add_runs(self, runs: list[Iterator[U8]]) -> None:
        """Add sorted runs of frames, in the order of the records; finish() reads them, after what add() has kept."""
        self._sorter.add_runs(runs)

    def finish(self) -> None:
        """Sort the records, write them, rename the file, and write its index. Raises OutputError."""
        self._write_sorted()
        # No file is left without its index. An upload takes too long for that.
        with deferred() if self._partial else contextlib.nullcontext():
            super().finish()
            if self._index:
                self._write_index(self._index)

    def abandon(self, worth: bool = True) -> Path | None:
        """See Output. The records so far are sorted and a complete file.

        If that fails, or began before, the file is removed, since it is not known which records it has.
        """
        worth = worth and not self.broken
        try:
            if worth and self._begun:
                self._write_sorted()
        except (OutputError, OutputClosed):
            worth = False
        except BaseException:
            super().abandon(worth=False)
            raise
        finally:
            self._sorter.close()
        return super().abandon(worth)

    def _write_sorted(self) -> None:
        """Write all records and the end of the file. If that fails, `broken` is true."""
        self.broken, self._begun = self._partial is not None, False
        with contextlib.closing(self._sorter):
            pieces = self._sorter.merged(_PIECE)
            if self._binary or self._bgzip:
                self._put_blocks(pieces)
            else:
                for piece in pieces:
                    self._put(piece)
        self.broken = False

    def _put_blocks(self, pieces: Iterator[U8]) -> None:
        for piece, blocks in self._compressed(pieces):
            if self._index:
                offsets = accumulate(blocks.sizes.tolist(), initial=self.written)
                self._index.add(piece, BLOCK_BYTES, list(offsets))
            self._put(blocks.data)
        self._put(END)

    def _write_index(self, index: BamIndex) -> None:
        """Write the index of the file beside it. Raises OutputError."""
        targets = self._header.targets()
        csi = targets.longest > LONGEST_IN_BAI
        try:
            for suffix in (".bai", ".csi"):  # an index of an earlier file could be used instead of the new one
                remove(self.name + suffix)
            data = bytes(index.finish())
            if csi:
                data = bytes(compressed(data).data) + END
            Output(self.name + (".csi" if csi else ".bai")).write_whole(data)
        except OSError as error:
            raise OutputError(f"{self.name} is complete, but has no index: {error.strerror}") from None
        except OutputError as error:
            raise OutputError(f"{self.name} is complete, but has no index: {error}") from None
