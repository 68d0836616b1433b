"""What is right, computed without wfacli: slow and plain, or by other people's aligners.

Sequences are bytes. Costs are (mismatch, open, extend): a gap of l letters costs open + l * extend, a match 0;
edit distance is (1, 0, 1). Rules are the values of --ambiguous.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import edlib
import parasail

from tests.oracle_spans import EXTENSION as EXTENSION
from tests.oracle_spans import GLOBAL as GLOBAL
from tests.oracle_spans import HW as HW
from tests.oracle_spans import OVERLAP as OVERLAP
from tests.oracle_spans import RULES as RULES
from tests.oracle_spans import WHOLE as WHOLE
from tests.oracle_spans import AnyScheme, Ends, Equal, Pair, Scheme, equal_by_sam, optimum_plain
from tests.oracle_spans import assert_allowed as assert_allowed
from tests.oracle_spans import joined as joined
from tests.oracle_spans import optima as optima
from tests.oracle_spans import replay_span as replay_span
from tests.oracle_spans import runs_of as runs_of
from tests.oracle_spans import score_of as score_of

if TYPE_CHECKING:
    import pywfa

Costs = tuple[int, int, int]

EDIT: Costs = (1, 0, 1)
INFINITE = 10**9


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


# The canonical alignment: which of the equally cheap ones is written; tests/oracle_spans.py has the definition.


def scheme_of(costs: Costs) -> Scheme:
    """Costs as a scheme."""
    x, o, e = costs
    return Scheme(x, ((o, e),))


def canonical_plain(query: bytes, target: bytes, costs: Costs, equal: Equal = equal_by_sam) -> tuple[int, str]:
    """(cost, CIGAR) of the global alignment, from the definition, cell by cell."""
    found = optimum_plain(query, target, scheme_of(costs), GLOBAL, equal)
    return -found.score, found.cigar


def canonical(pairs: Sequence[Pair], costs: Costs, rule: str = "mismatch") -> list[tuple[int, str]]:
    """canonical_plain for many pairs at once."""
    return [(-found.score, found.cigar) for found in optima(pairs, scheme_of(costs), GLOBAL, rule)]


# CIGARs


def replay(query: bytes, target: bytes, cigar: str, equal: Equal = equal_by_sam) -> None:
    """Fails unless the CIGAR says, letter by letter, how the whole query becomes the whole target."""
    replay_span(query, target, cigar, (0, len(query), 0, len(target)), equal)


# Which letters are written '=': by SAM's rule also where more of them match for the score.
WRITTEN: dict[str, Equal] = {**RULES, "wildcard": equal_by_sam}


def relabelled(query: bytes, target: bytes, cigar: str, equal: Equal) -> str:
    """The CIGAR of both whole sequences with '=' and 'X' as `equal` has them."""
    i = j = 0
    operations: list[str] = []
    for length, operation in runs_of(cigar):
        for _ in range(length):
            operations.append(operation if operation in "ID" else "X="[equal(query[i], target[j])])
            i, j = i + (operation != "D"), j + (operation != "I")
    return joined(operations)


def cigar_cost(cigar: str, costs: Costs) -> int:
    """What the operations cost."""
    return -score_of(cigar, scheme_of(costs))


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


def _clipped(ends: Ends, query: bytes, target: bytes) -> tuple[int, ...]:
    n, m = len(query), len(target)
    return tuple(map(min, ends[:4], (n, n, m, m)))


@functools.cache
def _pywfa_aligner(scheme: Scheme, free: tuple[int, int, int, int]) -> pywfa.WavefrontAligner:
    import pywfa  # it has no wheels: a machine without it runs the tests that do not ask for it

    (o, e), (o2, e2) = (*scheme.gaps, *scheme.gaps)[:2]
    names = ("pattern_begin_free", "pattern_end_free", "text_begin_free", "text_end_free")
    return pywfa.WavefrontAligner(
        distance="affine" if len(scheme.gaps) == 1 else "affine2p", match=0, mismatch=scheme.mismatch,
        gap_opening=o, gap_extension=e, gap_opening2=o2, gap_extension2=e2,
        scope="score", span="ends-free" if any(free) else "end-to-end", heuristic=None,
        **dict(zip(names, free, strict=True)),
    )  # fmt: skip


def pywfa_score(query: bytes, target: bytes, scheme: AnyScheme, ends: Ends = GLOBAL) -> int:
    """Score by SAM's rule, of schemes without a match bonus; pywfa refuses empty sequences."""
    assert not scheme.match and not ends.extension
    if not query or not target:
        return optimum_plain(query, target, scheme, ends).score
    aligner = _pywfa_aligner(Scheme(scheme.mismatch, scheme.gaps), _clipped(ends, query, target))
    q, t = distinct(query, target)
    return aligner.wavefront_align(text=t.decode(), pattern=q.decode())  # in the order of its parameters


def pywfa_cost(query: bytes, target: bytes, costs: Costs) -> int:
    """Gap-affine cost by SAM's rule."""
    return -pywfa_score(query, target, scheme_of(costs))


@functools.cache
def _parasail_matrix(match: int, mismatch: int) -> parasail.Matrix:
    return parasail.matrix_create("ACGTNX", match, -mismatch)


def parasail_score(query: bytes, target: bytes, scheme: AnyScheme, ends: Ends = GLOBAL) -> int:
    """Score by SAM's rule, of schemes with one piece; parasail refuses empty sequences.

    Its opening includes a gap's first letter. An end is free wholly or not at all, and three ends alone cannot be.
    Of its kernels only `scan` (and the plain one) is right for gaps without opening cost and for o < e.
    """
    if not query or not target:
        return optimum_plain(query, target, scheme, ends).score
    free = _clipped(ends, query, target)
    n, m = len(query), len(target)
    assert not ends.extension and all(f in (0, w) for f, w in zip(free, (n, n, m, m), strict=True))
    sides = {(0, 0): "", (1, 0): "b", (0, 1): "e", (1, 1): "x"}
    query_side, target_side = (sides[bool(b), bool(e)] for b, e in (free[:2], free[2:]))
    names = [f"q{query_side}"] * bool(query_side) + [f"d{target_side}"] * bool(target_side)
    kernel = "sg" if names == ["qx", "dx"] else "_".join(["sg", *names]) if names else "nw"
    ((o, e),) = scheme.gaps
    q, t = distinct(query, target)
    align = getattr(parasail, f"{kernel}_scan_32")
    score = align(q.decode(), t.decode(), o + e, e, _parasail_matrix(scheme.match, scheme.mismatch)).score
    # It does not count the alignment of nothing, where an overlap may start and end at once.
    return max(0, score) if any(ends.stop(n - i, m - j) for i, j in ends.starts(n, m)) else score


def parasail_cost(query: bytes, target: bytes, costs: Costs) -> int:
    """Gap-affine cost by SAM's rule."""
    return -parasail_score(query, target, scheme_of(costs))
