"""Distinct targets of an input, in bounded memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import numpy as np

from ..._native import TargetTable, unfit_target
from ...core.batch import I64, U8, U64, PairBatch
from ...errors import InputError, OutputError
from ..read.names import NO_TARGET
from ..read.unnamed import temporary_folder, unnamed_file

# Bounds on the targets kept in memory: the minimum holds those of a genome, a transcriptome or a set of amplicons; in
# between, a fixed share of the machine's memory.
_MIN_TARGETS, _MAX_TARGETS = 1 << 18, 1 << 24
_SHARE, _BYTES = 1 / 128, 32
_PARTS = 64
_CHUNK = 1 << 20
_TWO_LENGTHS = "is the name of targets of two lengths, which SAM cannot express; --format paf can"
_NO_NAME = "a target has no name, which SAM cannot express; --format paf can"


Named = tuple[PairBatch, InputError | None]  # pairs whose targets have names that SAM allows, and what follows them


def named_targets(path: str, pairs: PairBatch) -> Named:
    """Return the pairs before the first target without a name or with one that SAM does not allow, and the error.

    Args:
        path: origin of the batch, for the error.
        pairs: a batch.
    """
    unnamed = np.flatnonzero((pairs.records.t_name_len == 0) & (pairs.t_len > 0))
    unfit = unfit_target(pairs)
    if len(unnamed) and not 0 <= unfit < unnamed[0]:
        return pairs.head(int(unnamed[0])), InputError(path, _NO_NAME)
    if unfit >= 0:
        return pairs.head(unfit), InputError(path, NO_TARGET, pairs.records.target_name(unfit))
    return pairs, None


def sq_lines(
    path: str, batches: Iterator[Named], in_memory: int | None = None, threads: int = 1
) -> Iterator[bytes | U8]:
    """Yield @SQ lines of the distinct targets that are not empty, in the order of first appearance.

    Targets are kept in a table until it has `in_memory` of them. Those of later batches are spilled to temporary
    files, partitioned by hash, which are searched for duplicates one at a time.

    Args:
        path: origin of the batches, for error messages.
        batches: pairs with names and lengths of the targets, from named_targets().
        in_memory: distinct targets that fill the table; None for a number that suits the machine's memory.
        threads: threads that fill the table.

    Raises:
        InputError: one name with two lengths, or the error behind a batch; the first in the order of the targets.
        OutputError: temporary files cannot be created or written.
    """
    table = TargetTable(_default_table_size() if in_memory is None else in_memory)
    spill: _Spill | None = None
    fault: InputError | None = None
    try:
        for pairs, fault in batches:
            clash, lines, spilled = table.add(pairs, threads)
            if len(spilled):
                spill = spill or _Spill(path)
                spill.add(spilled.reshape(-1, 3), lines)
            elif len(lines):
                yield lines
            if clash >= 0:
                fault = InputError(path, _TWO_LENGTHS, pairs.records.target_name(clash))
            if fault:
                break
        if spill:
            yield from spill.distinct()
        if fault:
            raise fault
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"temporary files for targets, in {temporary_folder()} (TMPDIR): {reason}") from None
    finally:
        if spill:
            spill.close()


def _default_table_size() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(max(int(_SHARE * memory) // _BYTES, _MIN_TARGETS), _MAX_TARGETS)


def _of_equal_hash(hashes: U64) -> I64:
    """Return the positions of hashes that occur more than once, which are usually few."""
    order: I64 = np.argsort(hashes)
    same = hashes[order][1:] == hashes[order][:-1]
    chosen = np.zeros(len(hashes), bool)
    chosen[1:] |= same
    chosen[:-1] |= same
    some: I64 = order[chosen]
    return some


class _Spill:
    """Targets on disk: their lines in order, and (hash, hash, length, ordinal), partitioned by hash."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._count = 0
        self._lines = unnamed_file()  # closed by close()
        self._parts = [unnamed_file() for _ in range(_PARTS)]

    def add(self, targets: U64, lines: U8) -> None:
        """Add targets (u64[k, 3]: hash, hash, length) and their lines."""
        ordinals = np.arange(self._count, self._count + len(targets), dtype=np.uint64)
        rows = np.column_stack([targets, ordinals])
        part = (targets[:, 0] % np.uint64(_PARTS)).astype(np.uint8)
        order = np.argsort(part, kind="stable")
        cuts = np.searchsorted(part[order], np.arange(1, _PARTS))
        for file, some in zip(self._parts, np.split(rows[order], cuts), strict=True):
            file.write(some.tobytes())
        self._lines.write(lines.data)
        self._count += len(targets)

    def distinct(self) -> Iterator[U8]:
        """Yield the lines of targets at their first appearance. Raises InputError for a name with two lengths."""
        repeated, clashing = np.zeros(self._count, bool), np.zeros(self._count, bool)
        for file in self._parts:
            file.seek(0)
            rows = np.frombuffer(file.read(), np.uint64).reshape(-1, 4)
            rows = rows[_of_equal_hash(rows[:, 0])]
            rows = rows[np.lexsort((rows[:, 3], rows[:, 1], rows[:, 0]))]
            again = np.zeros(len(rows), bool)
            again[1:] = (rows[1:, :2] == rows[:-1, :2]).all(axis=1)
            other = np.zeros(len(rows), bool)
            other[1:] = again[1:] & (rows[1:, 2] != rows[:-1, 2])
            repeated[rows[again, 3].astype(np.int64)] = True
            clashing[rows[other, 3].astype(np.int64)] = True
        yield from self._first_lines(repeated, clashing)

    def _first_lines(self, repeated: np.ndarray, clashing: np.ndarray) -> Iterator[U8]:
        self._lines.seek(0)
        if not (repeated.any() or clashing.any()):
            while block := self._lines.read(_CHUNK):
                yield np.frombuffer(block, np.uint8)
            return
        done, rest = 0, b""
        while block := self._lines.read(_CHUNK):
            text = np.frombuffer(rest + block, np.uint8)
            ends: I64 = np.flatnonzero(text == ord("\n")) + 1
            if not len(ends):
                rest += block
                continue
            here = slice(done, done + len(ends))
            bad = np.flatnonzero(clashing[here])
            if len(bad):
                line = text[: ends[bad[0]]].tobytes().rsplit(b"\n", 2)[-2]
                name = line.split(b"\t")[1].removeprefix(b"SN:")
                raise InputError(self._path, _TWO_LENGTHS, name)
            complete = text[: ends[-1]]
            if repeated[here].any():
                lengths = np.diff(ends, prepend=0)
                complete = complete[~np.repeat(repeated[here], lengths)]
            yield complete
            done += len(ends)
            rest = text[ends[-1] :].tobytes()

    def close(self) -> None:
        """Close the files, which deletes them."""
        for file in (self._lines, *self._parts):
            with contextlib.suppress(OSError):  # buffered data that does not fit the disk is not needed any more
                file.close()
