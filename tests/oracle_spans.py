"""The canonical alignment under any scheme and span: cell by cell, and for many pairs at once.

Among the alignments that the span allows, the best score wins. S(i, j) is the best score of an alignment of query[i:]
with target[j:] up to an allowed end. Inside a gap of one of the pieces, whose opening is already paid, the score is
the maximum of S and of extending the gap by one symbol. The path starts at the allowed start with the best S; ties go
to the fewest unaligned query symbols, then to the fewest unaligned target symbols. Outside a gap it stops at an
allowed end. Otherwise it takes the first of insertion (piece 1, piece 2), deletion (piece 1, piece 2), mismatch and
match that achieves S. Inside a gap, closing it has priority over extending it, so that gaps are left-aligned. Stopping
never ties with continuing: beyond an allowed end only one sequence is left, so that the path would continue with a
gap, which costs at least 1.

An extension starts at (0, 0) and may end anywhere. It ends at the prefixes with the best score; ties go to the
smallest total length, then to the shortest query prefix. Its path is the canonical global alignment of these prefixes.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

Equal = Callable[[int, int], bool]
Pair = tuple[bytes, bytes]
Span = tuple[int, int, int, int]  # query begin, query end, target begin, target end; half-open, in symbols

WHOLE = 10**9  # in Ends: no limit
NEVER = -(10**12)  # below any reachable score, even after additions
_RUN = re.compile(r"(\d+)([MIDNSHP=X])")
_IUPAC = {
    "A": "A", "C": "C", "G": "G", "T": "T", "U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT",
    "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip


# Which symbols match


@functools.cache
def equal_by_sam(a: int, b: int) -> bool:
    """Return whether symbols match as in SAM: only A, C, G and T, in either case; U is read as T."""
    x, y = (chr(c).upper().replace("U", "T") for c in (a, b))
    return x == y and x in "ACGT"


@functools.cache
def equal_by_wildcard(a: int, b: int) -> bool:
    """Return whether two IUPAC codes share a nucleotide."""
    x, y = (_IUPAC.get(chr(c).upper(), "") for c in (a, b))
    return bool(set(x) & set(y))


@functools.cache
def equal_literally(a: int, b: int) -> bool:
    """Return whether two symbols are equal, ignoring case."""
    return chr(a).upper() == chr(b).upper()


RULES: dict[str, Equal] = {
    "mismatch": equal_by_sam,
    "wildcard": equal_by_wildcard,
    "literal": equal_literally,
}


# Parameters and results


class AnyScheme(Protocol):
    """Scoring parameters: a Scheme, or the Penalties of wfacli.config."""

    @property
    def mismatch(self) -> int: ...
    @property
    def gaps(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def match(self) -> int: ...
    @property
    def ambiguous(self) -> int | None: ...


class Scheme(NamedTuple):
    """A gap of length l costs open + l * extend, by the cheapest of its pieces; a match scores `match`.

    `ambiguous` is the penalty of symbols other than A, C, G, T and U; None: that of a mismatch.
    """

    mismatch: int = 4
    gaps: tuple[tuple[int, int], ...] = ((6, 2),)
    match: int = 0
    ambiguous: int | None = None


class Ends(NamedTuple):
    """Maximum number of free unaligned symbols at each end; an `extension` starts at (0, 0) and may end anywhere."""

    query_begin: int = 0
    query_end: int = 0
    target_begin: int = 0
    target_end: int = 0
    extension: bool = False

    def stop(self, query_left: int, target_left: int) -> bool:
        """Return whether an alignment may end with this many symbols left in each sequence."""
        return (query_left == 0 and target_left <= self.target_end) or (
            target_left == 0 and query_left <= self.query_end
        )

    def starts(self, n: int, m: int) -> Iterator[tuple[int, int]]:
        """Yield the cells (i, j) where an alignment of lengths n and m may start, in order of priority among ties."""
        for j in range(min(self.target_begin, m) + 1):
            yield 0, j
        for i in range(1, min(self.query_begin, n) + 1):
            yield i, 0


GLOBAL = Ends()
HW = Ends(target_begin=WHOLE, target_end=WHOLE)
OVERLAP = Ends(WHOLE, WHOLE, WHOLE, WHOLE)
EXTENSION = Ends(extension=True)


class Optimum(NamedTuple):
    """An alignment of query[span[0]:span[1]] with target[span[2]:span[3]]; the CIGAR is "*" when both are empty."""

    score: int
    cigar: str
    span: Span


# One pair, cell by cell


def optimum_plain(
    query: bytes, target: bytes, scheme: AnyScheme, ends: Ends = GLOBAL, equal: Equal = equal_by_sam
) -> Optimum:
    """Return the canonical alignment, computed from the definition."""
    n, m = len(query), len(target)
    if ends.extension:
        # The score of prefixes equals the score of the same suffixes of the reversed sequences.
        s, _ = _suffixes(query[::-1], target[::-1], scheme, GLOBAL, equal)
        cells = itertools.product(range(n + 1), range(m + 1))
        i, j = min(cells, key=lambda cell: (-s[n - cell[0]][m - cell[1]], sum(cell), cell[0]))
        return optimum_plain(query[:i], target[:j], scheme, GLOBAL, equal)
    s, inside = _suffixes(query, target, scheme, ends, equal)
    i, j = max(ends.starts(n, m), key=lambda cell: s[cell[0]][cell[1]])  # max returns the first among ties
    operations, end_i, end_j = _walk(query, target, scheme, ends, equal, s, inside, i, j)
    return Optimum(s[i][j], joined(operations), (i, end_i, j, end_j))


def _gaps(scheme: AnyScheme) -> list[tuple[str, int, int, int, int]]:
    """Return (operation, query step, target step, open, extend) of each gap kind, by priority among ties."""
    return [("I", 1, 0, o, e) for o, e in scheme.gaps] + [("D", 0, 1, o, e) for o, e in scheme.gaps]


def _worth(a: int, b: int, scheme: AnyScheme, equal: Equal) -> int:
    """Return the score of two aligned symbols."""
    if equal(a, b):
        return scheme.match
    ambiguous = not (equal_by_sam(a, a) and equal_by_sam(b, b))
    return -(scheme.mismatch if scheme.ambiguous is None or not ambiguous else scheme.ambiguous)


def _suffixes(query: bytes, target: bytes, scheme: AnyScheme, ends: Ends, equal: Equal) -> tuple[list, list]:
    """Return S, and the scores inside each kind of gap; [i][j] is for query[i:] and target[j:]."""
    n, m, gaps = len(query), len(target), _gaps(scheme)
    s, *inside = ([[NEVER] * (m + 2) for _ in range(n + 2)] for _ in range(1 + 2 * len(scheme.gaps)))
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            best = 0 if ends.stop(n - i, m - j) else NEVER
            if i < n and j < m:
                best = max(best, s[i + 1][j + 1] + _worth(query[i], target[j], scheme, equal))
            for matrix, (_, di, dj, o, e) in zip(inside, gaps, strict=True):
                best = max(best, matrix[i + di][j + dj] - o - e)
            s[i][j] = best
            for matrix, (_, di, dj, _, e) in zip(inside, gaps, strict=True):
                matrix[i][j] = max(best, matrix[i + di][j + dj] - e)
    return s, inside


def _walk(
    query: bytes, target: bytes, scheme: AnyScheme, ends: Ends, equal: Equal, s: list, inside: list, i: int, j: int
) -> tuple[list[str], int, int]:
    """Return the operations of the canonical path from (i, j), and its end."""
    n, m, gaps = len(query), len(target), _gaps(scheme)
    operations = []
    gap = -1
    while True:
        if gap >= 0 and inside[gap][i][j] == s[i][j]:
            gap = -1
        if gap < 0:
            if ends.stop(n - i, m - j):
                return operations, i, j
            for g, (_, di, dj, o, e) in enumerate(gaps):
                if inside[g][i + di][j + dj] - o - e == s[i][j]:
                    gap = g
                    break
        operation, di, dj = ("=" if gap < 0 and equal(query[i], target[j]) else "X"), 1, 1
        if gap >= 0:
            operation, di, dj, _, _ = gaps[gap]
        operations.append(operation)
        i += di
        j += dj


def joined(operations: Sequence[str]) -> str:
    """Return the CIGAR of a sequence of single operations."""
    return "".join(f"{len(list(run))}{operation}" for operation, run in itertools.groupby(operations)) or "*"


# Many pairs at once


def optima(pairs: Sequence[Pair], scheme: AnyScheme, ends: Ends = GLOBAL, rule: str = "mismatch") -> list[Optimum]:
    """Compute optimum_plain for many pairs of up to some thousand symbols, by the same definition in C++.

    Recent results are cached: tests ask for the same pairs once per kernel, build or order.
    """
    return list(_optima(tuple(map(tuple, pairs)), scheme, ends, rule))


@functools.lru_cache(maxsize=32)
def _optima(pairs: tuple[Pair, ...], scheme: AnyScheme, ends: Ends, rule: str) -> tuple[Optimum, ...]:
    from tests.space.oracle import solved

    found = solved(pairs, scheme, ends[:4], ends.extension, rule)
    spans = map(tuple, found.span.tolist())
    return tuple(map(Optimum, found.score.tolist(), map(found.text, range(len(pairs))), spans))


# CIGARs


def runs_of(cigar: str) -> list[tuple[int, str]]:
    """Return [(length, operation)]; an empty list for "*"."""
    if cigar == "*":
        return []
    runs = [(int(length), operation) for length, operation in _RUN.findall(cigar)]
    assert "".join(f"{n}{op}" for n, op in runs) == cigar, f"not a CIGAR: {cigar!r}"
    return runs


def replay_span(query: bytes, target: bytes, cigar: str, span: Span, rule: str | Equal = "mismatch") -> None:
    """Assert that the CIGAR is a correct alignment of the span's part of the query with that of the target."""
    equal = RULES[rule] if isinstance(rule, str) else rule
    i, i_end, j, j_end = span
    assert 0 <= i <= i_end <= len(query) and 0 <= j <= j_end <= len(target), f"{span} is not in the sequences"
    last = ""
    for length, operation in runs_of(cigar):
        assert length > 0 and operation in "=XID" and operation != last, f"run {length}{operation} in {cigar}"
        last = operation
        if operation in "=X":
            assert i + length <= i_end and j + length <= j_end, f"{cigar} runs past an end of {span}"
            for q, t in zip(query[i : i + length], target[j : j + length], strict=True):
                assert equal(q, t) == (operation == "="), f"{operation} on {q:c} and {t:c} in {cigar}"
        i += length * (operation != "D")
        j += length * (operation != "I")
    assert (i, j) == (i_end, j_end), f"{cigar} ends at {i} and {j}, not as {span} says"


def assert_allowed(query: bytes, target: bytes, span: Span, ends: Ends) -> None:
    """Assert that the span is allowed for an alignment with these ends."""
    n, m = len(query), len(target)
    i, i_end, j, j_end = span
    assert (i, j) in ends.starts(n, m), f"{span} starts where {ends} does not allow it"
    assert ends.extension or ends.stop(n - i_end, m - j_end), f"{span} ends where {ends} does not allow it"


def score_of(cigar: str, scheme: AnyScheme) -> int:
    """Return the score of a CIGAR."""
    score = 0
    for length, operation in runs_of(cigar):
        gap = min(o + length * e for o, e in scheme.gaps)
        score += {"=": length * scheme.match, "X": -length * scheme.mismatch, "I": -gap, "D": -gap}[operation]
    return score
