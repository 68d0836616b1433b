"""Alignment of two texts, by bytes or by lines, and its output: a table of runs or a unified diff."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._native import CancelFlag, edit_path
from ...core import cigar as cigars
from ...core.batch import U32
from ...errors import Cancelled, InternalError
from ..base import Pair, Symbols
from .inputs import Inputs

_POLL_SECONDS = 0.1  # seconds between two polls of `stop`
_CONTEXT = 3  # lines of context around a change, as in diff -u
_BLOCK = 1 << 16  # runs per block of output
_WORDS = {"=": "equal", "X": "replace", "I": "delete", "D": "insert"}  # from A to B
TITLES = b"operation\ta_start\ta_end\tb_start\tb_end\n"


def symbols_path(pair: Pair, distance: int, stop: Callable[[], bool]) -> U32:
    """Return an optimal path (u32[C], BAM's packing) of any symbols, in time quadratic in the distance.

    Raises:
        Cancelled: `stop` returned True.
        InternalError: the path does not cost the distance, or does not fit the texts.
    """
    flag = CancelFlag()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(edit_path, pair.query, pair.target, flag)
        try:
            while True:
                try:
                    found = future.result(_POLL_SECONDS)
                    break
                except TimeoutError:
                    if stop():
                        raise Cancelled("stopped") from None
        except BaseException:
            flag.set()
            raise
    if found is None:
        raise Cancelled("stopped")
    _check(pair, found, distance)
    return found


def _check(pair: Pair, cigar: U32, distance: int) -> None:
    i = j = 0
    for operation, length in _runs(cigar):
        if operation in "=X":
            same: Symbols = pair.query[i : i + length] == pair.target[j : j + length]
            if not (same.all() if operation == "=" else not same.any()):
                raise InternalError("the alignment does not fit the texts; please report this")
        i, j = i + length * (operation != "D"), j + length * (operation != "I")
    cost = cigars.edits(cigar)
    if (i, j, cost) != (len(pair.query), len(pair.target), distance):
        raise InternalError(
            f"the alignment is wrong (it costs {cost:,}, and the distance is {distance:,}); please report this"
        )


def _runs(cigar: U32) -> Iterator[tuple[str, int]]:
    for begin in range(0, len(cigar), _BLOCK):
        for run in cigar[begin : begin + _BLOCK].tolist():
            yield cigars.OPERATIONS[run & 15], run >> 4


def operation_counts(cigar: U32) -> dict[str, Any]:
    """Return the number of symbols of each operation, for editing A into B, and the number of gaps."""
    kinds = cigar & 15
    gaps = np.count_nonzero((kinds == cigars.OPERATIONS.index("I")) | (kinds == cigars.OPERATIONS.index("D")))
    counts = {"matches": "=", "mismatches": "X", "inserted": "D", "deleted": "I"}
    return {name: cigars.operation_length(cigar, operation) for name, operation in counts.items()} | {
        "gaps": int(gaps)
    }


def as_table(cigar: U32) -> Iterator[bytes]:
    """Yield blocks of TSV lines: an operation and its 0-based, half-open intervals in A and B."""
    yield TITLES
    i = j = 0
    rows: list[str] = []
    for operation, length in _runs(cigar):
        to_i, to_j = i + length * (operation != "D"), j + length * (operation != "I")
        rows.append(f"{_WORDS[operation]}\t{i}\t{to_i}\t{j}\t{to_j}\n")
        i, j = to_i, to_j
        if len(rows) == _BLOCK:
            yield "".join(rows).encode()
            rows.clear()
    yield "".join(rows).encode()


def as_patch(cigar: U32, inputs: Inputs) -> Iterator[bytes]:
    """Yield a unified diff, with which `patch` turns A into B; nothing if they are identical.

    Lines that differ only in their ends match in the alignment, but are changes here, since a patch is byte-exact.
    """
    matcher: Any = SequenceMatcher(None, "", "")
    matcher.opcodes = _opcodes(cigar, _same_ends(inputs))
    head = True
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        if all(tag == "equal" for tag, *_ in group):
            continue
        if head:
            yield b"--- %s\n+++ %s\n" % (_file_name(inputs.a.path), _file_name(inputs.b.path))
            head = False
        spans = _span(group[0][1], group[-1][2]), _span(group[0][3], group[-1][4])
        yield f"@@ -{spans[0]} +{spans[1]} @@\n".encode()
        for tag, i, to_i, j, to_j in group:
            if tag == "equal":
                yield from _lines(inputs, b" ", 0, i, to_i)
            else:
                yield from _lines(inputs, b"-", 0, i, to_i)
                yield from _lines(inputs, b"+", 1, j, to_j)


def _file_name(path: str) -> bytes:
    """Return a name as `diff` and `patch` have it: unprintable characters are octal, and the name in quotes."""
    if path.isprintable() and not path.startswith('"'):
        return path.encode()
    plain = [c for c in range(ord(" "), 0x7F) if chr(c) not in '"\\']
    return b'"%s"' % b"".join(bytes([c]) if c in plain else b"\\%03o" % c for c in os.fsencode(path))


Ends = Callable[[int, int, int], npt.NDArray[np.bool_]]


def _same_ends(inputs: Inputs) -> Ends:
    """Return a function (i, j, count) -> bool[count]: whether lines i + k of A and j + k of B have the same ends."""
    # Bit 0: carriage return; bit 1: no line feed.
    a, b = (np.frombuffer(returns, np.uint8).copy() for returns in inputs.carriage_returns)
    for ends, is_open in zip((a, b), inputs.open_ends, strict=True):
        ends[len(ends) - is_open :] += 2
    return lambda i, j, count: a[i : i + count] == b[j : j + count]


def _opcodes(cigar: U32, same_ends: Ends) -> list[tuple[str, int, int, int, int]]:
    """Return opcodes as of difflib, with neighbouring changes merged into one."""
    codes: list[tuple[str, int, int, int, int]] = []
    i = j = 0
    for tag, lines_a, lines_b in _changes(cigar, same_ends):
        begin_i, begin_j = i, j
        if codes and codes[-1][0] == tag:
            _, begin_i, _, begin_j, _ = codes.pop()
        i, j = i + lines_a, j + lines_b
        codes.append((tag, begin_i, i, begin_j, j))
    return codes


def _changes(cigar: U32, same_ends: Ends) -> Iterator[tuple[str, int, int]]:
    """Yield (tag, lines of A, lines of B): "equal" for byte-identical lines, else "replace"."""
    i = j = 0
    for operation, length in _runs(cigar):
        lines_a, lines_b = length * (operation != "D"), length * (operation != "I")
        if operation != "=":
            yield "replace", lines_a, lines_b
        else:
            same = same_ends(i, j, length)
            # Split the run where lines with equal ends and lines with different ends alternate.
            bounds = [0, *(np.flatnonzero(same[1:] != same[:-1]) + 1).tolist(), length]
            for begin, end in itertools.pairwise(bounds):
                yield "equal" if same[begin] else "replace", end - begin, end - begin
        i, j = i + lines_a, j + lines_b


def _span(begin: int, end: int) -> str:
    """Format a range of lines as a unified diff does: 1-based; an empty range names the line before it."""
    return f"{begin + (end > begin)},{end - begin}"


def _lines(inputs: Inputs, mark: bytes, side: int, begin: int, end: int) -> Iterator[bytes]:
    numbers = (inputs.pair.query, inputs.pair.target)[side]
    for at in range(begin, end):
        yield mark + inputs.lines[int(numbers[at])] + b"\r" * inputs.carriage_returns[side][at] + b"\n"
        if at + 1 == len(numbers) and inputs.open_ends[side]:
            yield b"\\ No newline at end of file\n"
