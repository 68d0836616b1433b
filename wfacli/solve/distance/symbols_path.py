"""The alignment of two texts, byte by byte or line by line, and how it is written: as runs, or as a patch."""

from __future__ import annotations

import itertools
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
from ..base import Letters, Pair
from .inputs import Inputs

_LOOK = 0.1  # seconds between two looks at whether to stop
_CONTEXT = 3  # equal lines around a change
_BLOCK = 1 << 16  # runs that are written at a time
_WORDS = {"=": "equal", "X": "replace", "I": "delete", "D": "insert"}  # from A to B
TITLES = b"operation\ta_start\ta_end\tb_start\tb_end\n"


def symbols_path(pair: Pair, distance: int, stop: Callable[[], bool]) -> U32:
    """A best path (u32[...] in BAM's packing), whatever the symbols; its time goes with the square of the distance.

    Raises:
        Cancelled: stop said so.
        InternalError: the path does not cost the distance, or does not fit.
    """
    flag = CancelFlag()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(edit_path, pair.query, pair.target, flag)
        try:
            while True:
                try:
                    found = future.result(_LOOK)
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
            same: Letters = pair.query[i : i + length] == pair.target[j : j + length]
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


def sums_of(cigar: U32) -> dict[str, Any]:
    """What there is of each operation on the way from A to B."""
    kinds = cigar & 15
    gaps = np.count_nonzero((kinds == cigars.OPERATIONS.index("I")) | (kinds == cigars.OPERATIONS.index("D")))
    counts = {"matches": "=", "mismatches": "X", "inserted": "D", "deleted": "I"}
    return {name: cigars.letters(cigar, operation) for name, operation in counts.items()} | {"gaps": int(gaps)}


def as_table(cigar: U32) -> Iterator[bytes]:
    """Lines of TSV in blocks: a run of an operation, and where it is in both, from 0 on, ends not included."""
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
    """Yield a unified diff from A to B, which `patch` applies to A to make B; nothing where they are the same.

    Lines that are equal but for their ends are no edits of the alignment, and yet a change here: a patch is of bytes.
    """
    matcher: Any = SequenceMatcher(None, "", "")
    matcher.opcodes = _opcodes(cigar, _same_ends(inputs))
    head = True
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        if all(tag == "equal" for tag, *_ in group):
            continue
        if head:
            yield f"--- {inputs.a.path}\n+++ {inputs.b.path}\n".encode(errors="surrogateescape")
            head = False
        spans = _span(group[0][1], group[-1][2]), _span(group[0][3], group[-1][4])
        yield f"@@ -{spans[0]} +{spans[1]} @@\n".encode()
        for tag, i, to_i, j, to_j in group:
            if tag == "equal":
                yield from _lines(inputs, b" ", 0, i, to_i)
            else:
                yield from _lines(inputs, b"-", 0, i, to_i)
                yield from _lines(inputs, b"+", 1, j, to_j)


Ends = Callable[[int, int, int], npt.NDArray[np.bool_]]


def _same_ends(inputs: Inputs) -> Ends:
    """Return what says whether so many lines, from two places on, end with the same bytes in A and in B."""
    # 2 for an end without a line feed.
    a, b = (np.frombuffer(returns, np.uint8).copy() for returns in inputs.returns)
    for ends, is_open in zip((a, b), inputs.open_ends, strict=True):
        ends[len(ends) - is_open :] += 2
    return lambda i, j, count: a[i : i + count] == b[j : j + count]


def _opcodes(cigar: U32, same_ends: Ends) -> list[tuple[str, int, int, int, int]]:
    """Return opcodes as difflib has them: what is changed between two equal parts is one."""
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
    """Yield what is equal to the last byte and what is replaced: lines of A, and of B."""
    i = j = 0
    for operation, length in _runs(cigar):
        lines_a, lines_b = length * (operation != "D"), length * (operation != "I")
        if operation != "=":
            yield "replace", lines_a, lines_b
        else:
            same = same_ends(i, j, length)
            # Where runs of lines begin whose ends are all the same, or all not.
            bounds = [0, *(np.flatnonzero(same[1:] != same[:-1]) + 1).tolist(), length]
            for begin, end in itertools.pairwise(bounds):
                yield "equal" if same[begin] else "replace", end - begin, end - begin
        i, j = i + lines_a, j + lines_b


def _span(begin: int, end: int) -> str:
    """Lines as a unified diff counts them: from 1 on, or the one before where there are none."""
    return f"{begin + (end > begin)},{end - begin}"


def _lines(inputs: Inputs, mark: bytes, side: int, begin: int, end: int) -> Iterator[bytes]:
    numbers = (inputs.pair.query, inputs.pair.target)[side]
    for at in range(begin, end):
        yield mark + inputs.lines[int(numbers[at])] + b"\r" * inputs.returns[side][at] + b"\n"
        if at + 1 == len(numbers) and inputs.open_ends[side]:
            yield b"\\ No newline at end of file\n"
