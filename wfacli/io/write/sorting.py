"""Sorting of records by position, in memory up to a bound and beyond it in a temporary file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO

import numpy as np
from isal import isal_zlib

from ..._native import FrameMerge
from ...core.batch import U8
from ...errors import OutputError
from ..read.unnamed import temporary_folder, unnamed_file
from .in_order import in_order

# Uncompressed bytes of a spilled chunk. Two chunks of each run are in memory while runs are merged: for 1,500 runs, a
# terabyte of records by default, as much as of records before.
_CHUNK = 1 << 18
_BLOCK = 1 << 26  # bytes of a block of batches: more than malloc takes from memory that it keeps
_LEVEL = 1  # of ISA-L: a third of the bytes, at half a gigabyte per second
_END = -2  # FrameMerge.kEnd: nothing is left to be merged
_NONE = np.empty(0, np.uint8)

_Place = tuple[int, int]  # offset and size of a chunk in the temporary file


class Sorter:
    """Sorts batches of frames (native/format/sorted_frames.hpp); the order of equal keys is kept."""

    def __init__(self, threads: int, memory: int) -> None:
        """Take the number of threads that compress spilled records, and the maximum bytes of records in memory."""
        self._threads, self._memory = threads, memory
        self._batches: list[U8] = []
        self._room = _NONE  # unused part of the block that has the last batch
        self._bytes = 0
        self._spilled: list[list[_Place]] = []  # chunks of each run
        self._file: IO[bytes] | None = None
        self._given: list[Iterator[U8]] = []

    def add_runs(self, runs: list[Iterator[U8]]) -> None:
        """Add sorted runs of frames, which merged() reads, after all batches."""
        self._given += runs

    def add(self, frames: U8) -> None:
        """Add a batch of sorted frames.

        Raises:
            OutputError: they do not fit the memory, and cannot be spilled. They are kept all the same.
        """
        if not len(frames):
            return
        self._batches.append(self._kept(frames))
        self._bytes += len(frames)
        if self._bytes > self._memory:
            self._spill()

    def _kept(self, frames: U8) -> U8:
        """Return a copy of frames in a large block; in small ones, memory between them that is free again is lost."""
        if len(self._room) < len(frames):
            self._room = np.empty(max(len(frames), _BLOCK), np.uint8)
        kept, self._room = self._room[: len(frames)], self._room[len(frames) :]
        kept[:] = frames
        return kept

    def merged(self, piece: int, keep_frames: bool = False) -> Iterator[U8]:
        """Yield the records, sorted, in pieces of complete records of about `piece` bytes. Raises OutputError.

        The records are not kept. With `keep_frames`, pieces have frames instead.
        """
        with ThreadPoolExecutor(self._threads, "wfacli-merge") as pool:
            runs = [self._chunks(places, pool) for places in self._spilled]
            runs += _each(self._batches)
            runs += self._given
            self._forget_batches()
            yield from _merged(runs, piece, keep_frames)

    def close(self) -> None:
        """Delete the temporary file."""
        self._forget_batches()
        if self._file:
            with contextlib.suppress(OSError):  # buffered data that does not fit the disk is not needed any more
                self._file.close()
            self._file = None

    def _forget_batches(self) -> None:
        self._batches, self._bytes, self._room = [], 0, _NONE

    def _spill(self) -> None:
        """Write the batches in memory to the temporary file as one sorted run, and forget them once that is done."""

        def work(frames: U8) -> bytes:
            return isal_zlib.compress(frames, _LEVEL, -15)

        places: list[_Place] = []
        try:
            self._file = self._file or unnamed_file()  # closed by close()
            with ThreadPoolExecutor(self._threads, "wfacli-spill") as pool:
                pieces = _merged(_each(self._batches), _CHUNK, keep_frames=True)
                for chunk in in_order(pool, work, pieces, self._threads + 2):
                    places.append((self._file.tell(), len(chunk)))
                    self._file.write(chunk)
            self._file.flush()
        except OSError as error:
            raise _fault(error) from None
        self._spilled.append(places)
        self._forget_batches()

    def _chunks(self, places: list[_Place], pool: ThreadPoolExecutor) -> Iterator[U8]:
        """Yield the frames of a spilled run; each chunk is read while the one before it is merged."""
        ahead: Future[U8] = pool.submit(self._read, places[0])
        for place in places[1:]:
            frames = ahead.result()
            ahead = pool.submit(self._read, place)
            yield frames
        yield ahead.result()

    def _read(self, place: _Place) -> U8:
        assert self._file
        offset, size = place
        try:
            stored = os.pread(self._file.fileno(), size, offset)
        except OSError as error:
            raise _fault(error) from None
        return np.frombuffer(isal_zlib.decompress(stored, -15, 2 * _CHUNK), np.uint8)


def _each(batches: list[U8]) -> list[Iterator[U8]]:
    """Return each batch as a run."""
    return [iter([batch]) for batch in batches]


def _merged(runs: list[Iterator[U8]], piece: int, keep_frames: bool) -> Iterator[U8]:
    """Merge sorted runs; yield pieces of complete records, with their frames if `keep_frames`."""
    merge = FrameMerge(len(runs))
    while True:
        run = merge.merge(piece, keep_frames)
        if run >= 0:
            merge.feed(run, next(runs[run], _NONE))
            continue
        records = merge.take()
        if len(records):
            yield records
        if run == _END:
            return


def _fault(error: OSError) -> OutputError:
    reason = error.strerror or error
    return OutputError(f"temporary file for sorting, in {temporary_folder()} (TMPDIR): {reason}")
