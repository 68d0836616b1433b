"""What is right, computed without wfacli: slow and plain, or by other people's aligners.

Sequences are bytes. Costs are (mismatch, open, extend): a gap of l letters costs open + l * extend, a match 0;
edit distance is (1, 0, 1). Rules are the values of --ambiguous.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence

import edlib
import numpy as np
import parasail
import pywfa

Costs = tuple[int, int, int]
Equal = Callable[[int, int], bool]
Pair = tuple[bytes, bytes]

EDIT: Costs = (1, 0, 1)
INFINITE = 10**9
_RUN = re.compile(r"(\d+)([MIDNSHP=X])")
_IUPAC = {
    "A": "A", "C": "C", "G": "G", "T": "T", "U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT",
    "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip


# Which letters match


def equal_by_sam(a: int, b: int) -> bool:
    """SAM: only A, C, G and T equal themselves, in either case; U reads as T."""
    x, y = (chr(c).upper().replace("U", "T") for c in (a, b))
    return x == y and x in "ACGT"


def equal_by_wildcard(a: int, b: int) -> bool:
    """Two IUPAC codes match when some nucleotide is meant by both."""
    x, y = (_IUPAC.get(chr(c).upper(), "") for c in (a, b))
    return bool(set(x) & set(y))


def equal_literally(a: int, b: int) -> bool:
    """Letters match themselves, whatever their case."""
    return chr(a).upper() == chr(b).upper()


RULES: dict[str, Equal] = {
    "mismatch": equal_by_sam,
    "wildcard": equal_by_wildcard,
    "literal": equal_literally,
}


@functools.cache
def _equal_table(rule: str) -> np.ndarray:
    equal = RULES[rule]
    return np.array([[equal(a, b) for b in range(128)] for a in range(128)])


# Costs alone


def edit_cost(query: bytes, target: bytes, equal: Equal = equal_by_sam) -> int:
    """Levenshtein distance, row by row."""
    row = list(range(len(target) + 1))
    for i, q in enumerate(query, 1):
        before, row = row, [i]
        for j, t in enumerate(target, 1):
            row.append(min(before[j - 1] + (not equal(q, t)), before[j] + 1, row[j - 1] + 1))
    return row[-1]


def affine_cost(query: bytes, target: bytes, costs: Costs, equal: Equal = equal_by_sam) -> int:
    """Gotoh's recurrences, row by row."""
    x, o, e = costs
    best = [0] + [o + e * j for j in range(1, len(target) + 1)]
    insertion = [INFINITE] * len(best)
    for i, q in enumerate(query, 1):
        before, best, deletion = best, [o + e * i], INFINITE
        insertion[0] = o + e * i
        for j, t in enumerate(target, 1):
            insertion[j] = min(insertion[j], before[j] + o) + e
            deletion = min(deletion, best[j - 1] + o) + e
            best.append(min(before[j - 1] + (0 if equal(q, t) else x), insertion[j], deletion))
    return best[-1]


# The canonical alignment: which of the equally cheap ones is written.
#
# H(i, j) is the least cost of aligning query[i:] with target[j:]; I and D are the same inside an insertion or a
# deletion whose opening is paid. The path starts at (0, 0). Outside a gap it takes the first of insertion, deletion,
# mismatch, match that achieves H; inside a gap it ends the gap before it makes it longer. So gaps lie left-most.


def canonical_plain(query: bytes, target: bytes, costs: Costs, equal: Equal = equal_by_sam) -> tuple[int, str]:
    """(cost, CIGAR) from the definition, cell by cell."""
    x, o, e = costs
    n, m = len(query), len(target)
    h, ins, dele = ([[INFINITE] * (m + 2) for _ in range(n + 2)] for _ in range(3))
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            best = 0 if (i, j) == (n, m) else INFINITE
            if i < n and j < m:
                best = h[i + 1][j + 1] + (0 if equal(query[i], target[j]) else x)
            best = min(best, o + e + ins[i + 1][j], o + e + dele[i][j + 1])
            h[i][j] = best
            ins[i][j] = min(best, e + ins[i + 1][j])
            dele[i][j] = min(best, e + dele[i][j + 1])
    return h[0][0], _walk(query, target, costs, equal, h, ins, dele)


def _walk(query: bytes, target: bytes, costs: Costs, equal: Equal, h: list, ins: list, dele: list) -> str:
    """The canonical path through matrices in which [i][j] belongs to query[i:] and target[j:]."""
    _, o, e = costs
    n, m = len(query), len(target)
    operations, i, j, gap = [], 0, 0, ""
    while (i, j) != (n, m) or gap:
        if gap and (ins if gap == "I" else dele)[i][j] == h[i][j]:
            gap = ""
            continue
        if not gap:
            if i < n and o + e + ins[i + 1][j] == h[i][j]:
                gap = "I"
            elif j < m and o + e + dele[i][j + 1] == h[i][j]:
                gap = "D"
        operations.append(gap or ("=" if equal(query[i], target[j]) else "X"))
        i += gap != "D"
        j += gap != "I"
    return _joined(operations)


def _joined(operations: Sequence[str]) -> str:
    runs: list[list] = []
    for operation in operations:
        if runs and runs[-1][1] == operation:
            runs[-1][0] += 1
        else:
            runs.append([1, operation])
    return "".join(f"{length}{operation}" for length, operation in runs) or "*"


def canonical(pairs: Sequence[Pair], costs: Costs, rule: str = "mismatch") -> list[tuple[int, str]]:
    """canonical_plain for many pairs: the same matrices, each cell computed for all pairs at once."""
    answers: list[tuple[int, str]] = []
    for first in range(0, len(pairs), 256):
        answers += _canonical_block(pairs[first : first + 256], costs, rule)
    return answers


def _canonical_block(pairs: Sequence[Pair], costs: Costs, rule: str) -> list[tuple[int, str]]:
    rows, columns = (max(len(pair[side]) for pair in pairs) for side in (0, 1))
    # A cell is addressed by the lengths of its suffixes, so that pairs of all lengths share the recurrences:
    # what lies beyond a pair's own lengths is computed from padding, and never read by the cells within.
    queries, targets = _from_the_end(pairs, 0, rows), _from_the_end(pairs, 1, columns)
    table = _equal_table(rule)
    x, o, e = costs
    h, ins, dele = (np.full((rows + 1, columns + 1, len(pairs)), INFINITE, np.int32) for _ in range(3))
    for a in range(rows + 1):
        for b in range(columns + 1):
            best = h[a, b]
            if a and b:
                best[:] = h[a - 1, b - 1] + np.where(table[queries[a - 1], targets[b - 1]], 0, x)
            elif not a and not b:
                best[:] = 0
            if a:
                np.minimum(best, ins[a - 1, b] + (o + e), out=best)
            if b:
                np.minimum(best, dele[a, b - 1] + (o + e), out=best)
            np.minimum(best, ins[a - 1, b] + e if a else INFINITE, out=ins[a, b])
            np.minimum(best, dele[a, b - 1] + e if b else INFINITE, out=dele[a, b])
    answers = []
    for p, (query, target) in enumerate(pairs):
        n, m = len(query), len(target)
        matrices = (np.flip(part[: n + 1, : m + 1, p]).tolist() for part in (h, ins, dele))
        answers.append((int(h[n, m, p]), _walk(query, target, costs, RULES[rule], *matrices)))
    return answers


def _from_the_end(pairs: Sequence[Pair], side: int, width: int) -> np.ndarray:
    letters = np.zeros((width, len(pairs)), np.uint8)
    for p, pair in enumerate(pairs):
        letters[: len(pair[side]), p] = np.frombuffer(pair[side][::-1], np.uint8)
    return letters


# CIGARs


def runs_of(cigar: str) -> list[tuple[int, str]]:
    """[(length, operation)]; none for "*"."""
    if cigar == "*":
        return []
    runs = [(int(length), operation) for length, operation in _RUN.findall(cigar)]
    assert "".join(f"{n}{op}" for n, op in runs) == cigar, f"not a CIGAR: {cigar!r}"
    return runs


def replay(query: bytes, target: bytes, cigar: str, equal: Equal = equal_by_sam) -> None:
    """Fails unless the CIGAR says, letter by letter, how the query becomes the target."""
    i = j = 0
    last = ""
    for length, operation in runs_of(cigar):
        assert length > 0 and operation in "=XID" and operation != last, f"run {length}{operation} in {cigar}"
        last = operation
        if operation in "=X":
            assert i + length <= len(query) and j + length <= len(target), f"{cigar} runs past an end"
            for q, t in zip(query[i : i + length], target[j : j + length], strict=True):
                assert equal(q, t) == (operation == "="), f"{operation} on {q:c} and {t:c} in {cigar}"
        i += length * (operation != "D")
        j += length * (operation != "I")
    assert (i, j) == (len(query), len(target)), f"{cigar} covers {i} and {j} letters"


def cigar_cost(cigar: str, costs: Costs) -> int:
    """What the operations cost."""
    x, o, e = costs
    price = {"=": lambda n: 0, "X": lambda n: n * x, "I": lambda n: o + n * e, "D": lambda n: o + n * e}
    return sum(price[operation](length) for length, operation in runs_of(cigar))


# Other aligners. They compare bytes; `distinct` makes that SAM's rule.


def distinct(query: bytes, target: bytes) -> Pair:
    """The pair in capitals, with U as T, and with other letters replaced by one that the other side does not have."""
    others = bytes(set(range(256)) - set(b"ACGTUacgtu"))
    one, two = (bytes.maketrans(others, mark * len(others)) for mark in (b"N", b"X"))
    return query.upper().translate(one).replace(b"U", b"T"), target.upper().translate(two).replace(b"U", b"T")


def edlib_cost(query: bytes, target: bytes) -> int:
    """Edit distance by SAM's rule."""
    if not query or not target:
        return len(query) + len(target)
    return edlib.align(*distinct(query, target), mode="NW", task="distance")["editDistance"]


@functools.cache
def _pywfa_aligner(costs: Costs) -> pywfa.WavefrontAligner:
    x, o, e = costs
    return pywfa.WavefrontAligner(
        distance="affine", match=0, mismatch=x, gap_opening=o, gap_extension=e,
        scope="score", span="end-to-end", heuristic=None,
    )  # fmt: skip


def pywfa_cost(query: bytes, target: bytes, costs: Costs) -> int:
    """Gap-affine cost by SAM's rule; pywfa refuses empty sequences."""
    if not query or not target:
        return affine_cost(query, target, costs)
    q, t = distinct(query, target)
    return -_pywfa_aligner(costs).wavefront_align(q.decode(), t.decode())


def parasail_cost(query: bytes, target: bytes, costs: Costs) -> int:
    """Gap-affine cost by SAM's rule; parasail's opening includes the first letter, and it refuses empty sequences.

    Of its kernels only `scan` (and the plain one) is right for gaps without opening cost and for o < e.
    """
    if not query or not target:
        return affine_cost(query, target, costs)
    x, o, e = costs
    q, t = distinct(query, target)
    matrix = parasail.matrix_create("ACGTNX", 0, -x)
    return -parasail.nw_scan_32(q.decode(), t.decode(), o + e, e, matrix).score
