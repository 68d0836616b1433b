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
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

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


@functools.cache
def _equal_table(rule: str) -> np.ndarray:
    equal = RULES[rule]
    return np.array([equal(a, b) for a in range(128) for b in range(128)])


# Parameters and results


class AnyScheme(Protocol):
    """Scoring parameters: a Scheme, or the Penalties of wfacli.config."""

    @property
    def mismatch(self) -> int: ...
    @property
    def gaps(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def match(self) -> int: ...


class Scheme(NamedTuple):
    """A gap of length l costs open + l * extend, by the cheapest of its pieces; a match scores `match`."""

    mismatch: int = 4
    gaps: tuple[tuple[int, int], ...] = ((6, 2),)
    match: int = 0


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


def _suffixes(query: bytes, target: bytes, scheme: AnyScheme, ends: Ends, equal: Equal) -> tuple[list, list]:
    """Return S, and the scores inside each kind of gap; [i][j] is for query[i:] and target[j:]."""
    n, m, gaps = len(query), len(target), _gaps(scheme)
    s, *inside = ([[NEVER] * (m + 2) for _ in range(n + 2)] for _ in range(1 + 2 * len(scheme.gaps)))
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            best = 0 if ends.stop(n - i, m - j) else NEVER
            if i < n and j < m:
                best = max(best, s[i + 1][j + 1] + (scheme.match if equal(query[i], target[j]) else -scheme.mismatch))
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


# Many pairs at once: the same matrices, each anti-diagonal computed for all pairs of a block.

_BLOCK_CELLS = 1 << 22  # maximum cells of one block; measured: fewer pay for calls, more exceed the cache
_BLOCK_PAIRS = 2048
_STOP = 7  # choices of a cell: diagonal 0, gap kinds from 1, or this end; bit 3 + g: gap g closes here


@dataclass
class _Block:
    """Matrices of a block of pairs of up to `rows` query and `columns` target symbols.

    A cell is addressed by the lengths of its suffixes, a and b, so that pairs of all lengths share the recurrences.
    Cells beyond a pair's own lengths are computed from padding, and the cells within never read them.
    """

    rows: int
    columns: int
    score: np.ndarray  # S at [a + b + 2, a + 1, pair]; the margin holds values far below any score
    flags: np.ndarray  # choice and closing gaps, at [a + b, a, pair]
    queries: np.ndarray  # symbols at [a, pair], times 128
    targets: np.ndarray  # symbols at [columns - b, pair]: along an anti-diagonal, b falls while a rises


def optima(pairs: Sequence[Pair], scheme: AnyScheme, ends: Ends = GLOBAL, rule: str = "mismatch") -> list[Optimum]:
    """Compute optimum_plain for many pairs of up to a few thousand symbols, at 15,000 pairs of 60 symbols a second.

    Recent results are cached: tests ask for the same pairs once per kernel, build or order.
    """
    return list(_optima(tuple(map(tuple, pairs)), scheme, ends, rule))


@functools.lru_cache(maxsize=32)
def _optima(pairs: tuple[Pair, ...], scheme: AnyScheme, ends: Ends, rule: str) -> tuple[Optimum, ...]:
    if ends.extension:
        prefixes = zip(pairs, _by_block(pairs, scheme, rule, _furthest), strict=True)
        return _optima(tuple((q[:i], t[:j]) for (q, t), (i, j) in prefixes), scheme, GLOBAL, rule)
    return tuple(_by_block(pairs, scheme, rule, functools.partial(_block_optima, ends=ends)))


def _by_block(pairs: Sequence[Pair], scheme: AnyScheme, rule: str, solve: Callable) -> list:
    """Return what `solve` returns for each pair; pairs of similar lengths share a block."""
    order = sorted(range(len(pairs)), key=lambda p: (max(map(len, pairs[p])), len(pairs[p][0])))
    answers: list = [None] * len(pairs)
    while order:
        longest = max(map(len, pairs[order[-1]]))
        count = max(1, min(_BLOCK_PAIRS, _BLOCK_CELLS // ((2 * longest + 1) * (longest + 1))))
        order, block = order[:-count], order[-count:]
        for p, answer in zip(block, solve([pairs[p] for p in block], scheme=scheme, rule=rule), strict=True):
            answers[p] = answer
    return answers


def _letters(sequences: Sequence[bytes], width: int) -> np.ndarray:
    """Return the first symbol of the suffix of each length, at [length, pair]; 0 where there is none."""
    text = b"".join(b"\0" + sequence[::-1].ljust(width, b"\0") for sequence in sequences)
    letters = np.frombuffer(text, np.uint8).reshape(len(sequences), width + 1)
    assert (letters < 128).all()
    return np.ascontiguousarray(letters.T)


def _fill(pairs: Sequence[Pair], scheme: AnyScheme, ends: Ends, rule: str) -> _Block:
    rows, columns = (max(len(pair[side]) for pair in pairs) for side in (0, 1))
    gaps = _gaps(scheme)
    # The extreme scores are those of all symbols in gaps and of all symbols matching; `low` is below any candidate.
    most = max(e for _, e in scheme.gaps) * (rows + columns) + scheme.match * min(rows, columns)
    most += 3 * max(o + e for o, e in scheme.gaps) + scheme.mismatch + scheme.match
    assert 3 * most < 2**31
    kind, low = (np.int16 if 3 * most < 2**15 else np.int32), -2 * most
    worth = np.where(_equal_table(rule), scheme.match, -scheme.mismatch).astype(kind)
    queries = _letters([query for query, _ in pairs], rows).astype(np.int16) << 7
    targets = _letters([target for _, target in pairs], columns)[::-1].astype(np.int16)
    score = np.full((rows + columns + 3, rows + 2, len(pairs)), low, kind)
    flags = np.zeros((rows + columns + 1, rows + 1, len(pairs)), np.uint8)
    inside = [np.full((rows + 2, len(pairs)), low, kind) for _ in gaps]  # [a + 1, pair], one anti-diagonal each
    for d in range(rows + columns + 1):
        first, last = max(0, d - columns), min(rows, d)
        here, above = slice(first + 1, last + 2), slice(first, last + 1)
        letters = queries[first : last + 1] + targets[columns - d + first : columns - d + last + 1]
        best = score[d + 2, here]
        np.add(score[d, above], worth.take(letters), out=best)
        longer = [inside[g][above if di else here] - kind(e) for g, (_, di, _, _, e) in enumerate(gaps)]
        opened = [longer[g] - kind(o) for g, (_, _, _, o, _) in enumerate(gaps)]
        for candidate in opened:
            np.maximum(best, candidate, out=best)
        flag = flags[d, first : last + 1]
        for g in reversed(range(len(gaps))):  # last, the winner among ties
            np.putmask(flag, opened[g] == best, g + 1)
        for a in {first, last}:
            if ends.stop(a, d - a):
                np.putmask(flag[a - first], best[a - first] <= 0, _STOP)
                np.maximum(best[a - first], 0, out=best[a - first])
        for g, matrix in enumerate(inside):
            flag |= (longer[g] <= best).view(np.uint8) << (3 + g)
            np.maximum(best, longer[g], out=matrix[here])
    return _Block(rows, columns, score, flags, queries, targets)


def _block_optima(pairs: Sequence[Pair], *, scheme: AnyScheme, ends: Ends, rule: str) -> list[Optimum]:
    block = _fill(pairs, scheme, ends, rule)
    lengths = np.array([[len(query), len(target)] for query, target in pairs])
    starts = np.array(list(ends.starts(block.rows, block.columns)))
    left = lengths[None] - starts[:, None]  # query and target symbols left, at [start, pair, side]
    within = (left >= 0).all(2)
    left[~within] = 0
    numbers = np.arange(len(pairs))
    scores = np.where(within, block.score[left.sum(2) + 2, left[:, :, 0] + 1, numbers].astype(np.int64), NEVER)
    chosen = scores.argmax(0)  # the first among ties
    paths, ends_left = _walks(block, left[chosen, numbers], len(scheme.gaps), rule)
    spans = np.stack([starts[chosen], lengths - ends_left], 2).reshape(-1, 4)
    found = zip(scores[chosen, numbers].tolist(), paths, map(tuple, spans.tolist()), strict=True)
    return [Optimum(score, joined(path), span) for score, path, span in found]


def _walks(block: _Block, left: np.ndarray, pieces: int, rule: str) -> tuple[list[str], np.ndarray]:
    """Return the operations of each pair's path, and the symbols left at its end.

    `left` holds the symbols left at its start, at [pair, side].
    """
    table = _equal_table(rule)
    steps = np.array([[1, 1], *[[1, 0]] * pieces, *[[0, 1]] * pieces])  # of a choice, in the query and the target
    signs = np.frombuffer(b"X" + b"I" * pieces + b"D" * pieces, np.uint8)
    ends_left = left.copy()
    paths = np.zeros((len(left), block.rows + block.columns), np.uint8)
    going = np.arange(len(left))
    gap = np.zeros(len(left), np.uint8)
    for step in itertools.count():
        a, b = ends_left[going].T
        flag = block.flags[a + b, a, going]
        gap[(flag >> (gap + 2)) & 1 == 1] = 0  # bit 2 belongs to no gap: ignored where none is open
        choice = np.where(gap > 0, gap, flag & 7)
        on = choice != _STOP
        if not on.all():
            going, choice, a, b = going[on], choice[on], a[on], b[on]
        if not len(going):
            texts = [path.tobytes().rstrip(b"\0").decode() for path in paths]
            return texts, ends_left
        same = (choice == 0) & table.take(block.queries[a, going] + block.targets[block.columns - b, going])
        paths[going, step] = np.where(same, ord("="), signs[choice])
        ends_left[going] -= steps[choice]
        gap = choice


def _furthest(pairs: Sequence[Pair], *, scheme: AnyScheme, rule: str) -> list[tuple[int, int]]:
    """Return the query and target lengths of each pair's best-scoring prefixes."""
    block = _fill([(query[::-1], target[::-1]) for query, target in pairs], scheme, GLOBAL, rule)
    scores = block.score[2:, 1:].copy()  # at [i + j, i, pair]
    i, both = np.arange(block.rows + 1)[:, None], np.arange(len(scores))[:, None, None]
    lengths = np.array([[len(query), len(target)] for query, target in pairs])
    scores[(i > lengths[:, 0]) | (both - i > lengths[:, 1])] = np.iinfo(scores.dtype).min
    both, i = np.divmod(scores.reshape(-1, len(pairs)).argmax(0), block.rows + 1)  # the first among ties
    return list(zip(i.tolist(), (both - i).tolist(), strict=True))


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
