"""The canonical alignment under any substitution scores: local, extension, semiglobal and global, cell by cell.

S(i, j) is the best score of an alignment of query[i:] with target[j:] that begins at (i, j) and ends where the mode
allows it: a local alignment anywhere, a semiglobal one at the end of the query, a global one at the end of both
sequences. Inside a gap, whose opening is already paid, the score is the maximum of S and of extending the gap by one
symbol.

The path begins at the cell with the best S among those that the mode allows: any cell for a local alignment, any
target position for a semiglobal one, (0, 0) for a global one. Ties go to the last cell, by query position and then by
target position. Outside a gap, the path stops at the first cell where stopping scores as well as continuing. A local
alignment therefore has no prefix or suffix that scores 0: without it, the alignment would begin later or end earlier.
Otherwise the path takes the first of insertion, deletion and diagonal that achieves S. Inside a gap, closing it has
priority over extending it. If no alignment scores more than 0, the local alignment is empty.

An extension begins at (0, 0) and may end anywhere. It ends at the prefixes with the best score; ties go to the
smallest total length, then to the shortest query prefix. Its path is the canonical global alignment of these prefixes.

The second-best score of a local or semiglobal alignment is the best score of the query against the part of the target
before the best alignment's target span, or the part after it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import parasail

from tests.oracle_spans import NEVER, RULES, Optimum, Pair, joined, runs_of

MODES = ("local", "extension", "semiglobal", "global")
SYMBOLS = 128


class Charges(NamedTuple):
    """Scores by symbol, as they occur in a sequence; a gap of length l costs open + l * extend."""

    worth: np.ndarray  # i64[128, 128]: score of query symbol and target symbol
    same: np.ndarray  # bool[128, 128]: whether the pair is written '='
    open: int
    extend: int


def charges(match: int, mismatch: int, opening: int, extend: int, rule: str = "mismatch", n_score=None) -> Charges:
    """Return scores in which symbols match by a rule of --ambiguous; `n_score` is for symbols other than ACGTU."""
    every = [(a, b) for a in range(SYMBOLS) for b in range(SYMBOLS)]
    matches = np.array([RULES[rule](a, b) for a, b in every]).reshape(SYMBOLS, SYMBOLS)
    worth = np.where(matches, match, -mismatch)
    if n_score is not None:
        other = np.array([chr(c) not in "ACGTUacgtu" for c in range(SYMBOLS)])
        worth[other[:, None] | other] = n_score
    written = "literal" if rule == "literal" else "mismatch"  # '=' follows SAM
    same = np.array([RULES[written](a, b) for a, b in every]).reshape(SYMBOLS, SYMBOLS)
    return Charges(worth, same, opening, extend)


@functools.cache
def protein_charges(name: str, opening: int, extend: int) -> Charges:
    """Return the scores of a substitution matrix of parasail."""
    table = getattr(parasail, name.lower())
    codes = np.array([table.mapper[c] for c in range(SYMBOLS)])
    worth = table.matrix[codes][:, codes].astype(np.int64)
    upper = np.array([ord(chr(c).upper()) for c in range(SYMBOLS)])
    return Charges(worth, upper[:, None] == upper, opening, extend)


def best_score(query: bytes, target: bytes, charged: Charges, mode: str) -> int:
    """Return the best score."""
    return optima([(query, target)], charged, mode)[0].score


def second_best(query: bytes, target: bytes, charged: Charges, mode: str, best: Optimum) -> int:
    """Return the best score outside the target span of the best alignment."""
    _, _, begin, end = best.span
    return max(best_score(query, part, charged, mode) for part in (target[:begin], target[end:]))


def optima(pairs: Sequence[Pair], charged: Charges, mode: str) -> list[Optimum]:
    """Return the canonical alignments. Each cell is computed for all pairs at once: group pairs of similar lengths."""
    if not pairs:
        return []
    if mode == "extension":
        return optima(
            [(q[:i], t[:j]) for (q, t), (i, j) in zip(pairs, _best_prefixes(pairs, charged), strict=True)],
            charged,
            "global",
        )
    matrices = _suffixes(pairs, charged, mode)
    found = []
    for p, (query, target) in enumerate(pairs):
        s, insertion, deletion = (m[len(query) :: -1, len(target) :: -1, p] for m in matrices)
        found.append(_walk(query, target, charged, mode, s, insertion, deletion))
    return found


def banded_optimum(query: bytes, target: bytes, charged: Charges, low: int, high: int) -> Optimum:
    """Return the canonical global alignment restricted to cells (i, j) with low <= j - i <= high."""
    apart = len(target) - len(query)
    (s, insertion, deletion) = (
        m[::-1, ::-1, 0]
        for m in _suffixes([(query, target)], charged, "global", lambda a, b: not low <= apart - (b - a) <= high)
    )
    return _walk(query, target, charged, "global", s, insertion, deletion)


def cut_extension(
    query: bytes, target: bytes, charged: Charges, band: int, xdrop: int, zdrop: int
) -> tuple[Optimum, bool]:
    """Return (extension, whether cells were dropped) under a band, X-drop and Z-drop; 0 disables one.

    The thresholds are tested on each anti-diagonal.
    """
    _, i, j, cut = cut_prefixes(query, target, charged, band, xdrop, zdrop)
    band = band or len(query) + len(target)
    return banded_optimum(query[:i], target[:j], charged, -band, band), cut


def cut_prefixes(
    query: bytes, target: bytes, charged: Charges, band: int, xdrop: int, zdrop: int
) -> tuple[int, int, int, bool]:
    """Return (score, query length, target length, whether cells were dropped) at the best cell.

    Arguments are those of cut_extension.
    """
    n, m, gap = len(query), len(target), charged.open + charged.extend
    band = band or n + m
    worth = charged.worth[np.frombuffer(query, np.uint8)][:, np.frombuffer(target, np.uint8)]
    rows = np.arange(n + 1)
    # H, and the scores of paths that end in an insertion or a deletion, by row of the anti-diagonal. Dropped cells are
    # NEVER.
    h, insertion, deletion = np.where(rows == 0, 0, NEVER), np.full(n + 1, NEVER), np.full(n + 1, NEVER)
    before = np.full(n + 1, NEVER)  # H of the previous anti-diagonal
    best, best_i, best_j, cut = 0, 0, 0, max(n, m) > band
    for d in range(1, n + m + 1):
        columns = d - rows
        cells = (columns >= 0) & (columns <= m) & (abs(columns - rows) <= band)
        above, opened, diagonal = (np.append(NEVER, values[:-1]) for values in (insertion, h, before))
        insertion = np.maximum(opened - gap, above - charged.extend)
        deletion = np.maximum(h - gap, deletion - charged.extend)
        inner = cells & (rows > 0) & (columns > 0)
        match = np.full(n + 1, NEVER)
        match[inner] = diagonal[inner] + worth[rows[inner] - 1, columns[inner] - 1]
        score = np.maximum(match, np.maximum(insertion, deletion))
        live = cells & (score > NEVER // 2)
        dropped = live & (score < best - xdrop) if xdrop else np.zeros(n + 1, bool)
        cut |= bool(dropped.any())
        live &= ~dropped
        before = h
        h, insertion, deletion = (np.where(live, values, NEVER) for values in (score, insertion, deletion))
        if not live.any():
            continue
        i = int(h.argmax())
        most, j = int(h[i]), d - i
        if most > best:
            best, best_i, best_j = most, i, j
        elif (
            zdrop
            and i >= best_i
            and j >= best_j
            and best - most > zdrop + charged.extend * abs(i - j - best_i + best_j)
        ):
            cut |= d < n + m
            break
    return best, best_i, best_j, cut


def _best_prefixes(pairs: Sequence[Pair], charged: Charges) -> list[tuple[int, int]]:
    # The global score of prefixes equals the global score of the same suffixes of the reversed sequences.
    (scores, _, _) = _suffixes([(query[::-1], target[::-1]) for query, target in pairs], charged, "global")
    prefixes = []
    for p, (query, target) in enumerate(pairs):
        s = scores[: len(query) + 1, : len(target) + 1, p]
        best = np.argwhere(s == s.max()).tolist()
        prefixes.append(min(((i, j) for i, j in best), key=lambda cell: (sum(cell), cell[0])))
    return prefixes


def _ends(mode: str, query_left: int, target_left: int) -> bool:
    return mode == "local" or (query_left == 0 and (mode == "semiglobal" or target_left == 0))


def _suffixes(
    pairs: Sequence[Pair], charged: Charges, mode: str, outside=None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return S, and the scores inside an insertion and a deletion, at [query left, target left, pair].

    `outside(a, b)` returns whether the cell with these suffix lengths is excluded.
    """
    rows, columns = (max(len(pair[side]) for pair in pairs) for side in (0, 1))
    # First symbol of the suffix of each length; 0 beyond a sequence. Cells within a pair never read cells beyond it.
    queries, targets = (
        np.array([list((b"\0" + pair[side][::-1]).ljust(size + 1, b"\0")) for pair in pairs]).T
        for side, size in ((0, rows), (1, columns))
    )
    s, insertion, deletion = (np.full((rows + 1, columns + 1, len(pairs)), NEVER) for _ in range(3))
    opening, extend = charged.open, charged.extend
    for a in range(rows + 1):
        for b in range(columns + 1):
            best = np.full(len(pairs), 0 if _ends(mode, a, b) else NEVER)
            if a and b:
                best = np.maximum(best, s[a - 1, b - 1] + charged.worth[queries[a], targets[b]])
            if a:
                best = np.maximum(best, insertion[a - 1, b] - opening - extend)
            if b:
                best = np.maximum(best, deletion[a, b - 1] - opening - extend)
            if outside and outside(a, b):
                continue
            s[a, b] = best
            insertion[a, b] = np.maximum(best, insertion[a - 1, b] - extend) if a else best
            deletion[a, b] = np.maximum(best, deletion[a, b - 1] - extend) if b else best
    return s, insertion, deletion


def _start(mode: str, s: np.ndarray) -> tuple[int, int]:
    if mode == "local":
        i, j = np.argwhere(s == s.max())[-1].tolist()  # last in row order
        return (i, j) if s[i, j] > 0 else (0, 0)
    return (0, int(np.flatnonzero(s[0] == s[0].max())[-1])) if mode == "semiglobal" else (0, 0)


def _walk(query, target, charged: Charges, mode: str, s, insertion, deletion) -> Optimum:
    """Return the canonical path; matrices are indexed by [query position, target position]."""
    n, m = len(query), len(target)
    first_i, first_j = i, j = _start(mode, s)
    inside, operations = "", []
    while True:
        if inside and {"I": insertion, "D": deletion}[inside][i, j] == s[i, j]:
            inside = ""
        if not inside:
            if _ends(mode, n - i, m - j) and s[i, j] == 0:
                break
            if i < n and insertion[i + 1, j] - charged.open - charged.extend == s[i, j]:
                inside = "I"
            elif j < m and deletion[i, j + 1] - charged.open - charged.extend == s[i, j]:
                inside = "D"
        operations.append(inside or "X="[int(charged.same[query[i], target[j]])])
        i, j = i + (inside != "D"), j + (inside != "I")
    span = (first_i, i, first_j, j) if operations else (0, 0, 0, 0)
    return Optimum(int(s[first_i, first_j]), joined(operations), span)


def score_of(query: bytes, target: bytes, charged: Charges, found: Optimum) -> int:
    """Return the score of an alignment, and assert that its CIGAR fits the sequences."""
    i, i_end, j, j_end = found.span
    score, last = 0, ""
    for length, operation in runs_of(found.cigar):
        assert operation != last and length > 0
        last = operation
        if operation in "=X":
            for q, t in zip(query[i : i + length], target[j : j + length], strict=True):
                assert charged.same[q, t] == (operation == "="), f"{operation} on {q:c} and {t:c} in {found.cigar}"
                score += int(charged.worth[q, t])
        else:
            score -= charged.open + length * charged.extend
        i += length * (operation != "D")
        j += length * (operation != "I")
    assert (i, j) == (i_end, j_end)
    return score
