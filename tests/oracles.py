"""Reference results computed without wfacli: by slow, simple code, or by other aligners.

Sequences are bytes. Costs are (mismatch, open, extend): a gap of length l costs open + l * extend, a match 0; edit
distance is (1, 0, 1). Rules are the values of --ambiguous.
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


# Costs only


def edit_cost(query: bytes, target: bytes, equal: Equal = equal_by_sam) -> int:
    """Return the Levenshtein distance, computed row by row."""
    row = list(range(len(target) + 1))
    for i, q in enumerate(query, 1):
        before, row = row, [i]
        for j, t in enumerate(target, 1):
            row.append(min(before[j - 1] + (not equal(q, t)), before[j] + 1, row[j - 1] + 1))
    return row[-1]


def affine_cost(query: bytes, target: bytes, costs: Costs, equal: Equal = equal_by_sam) -> int:
    """Return the gap-affine cost, computed row by row with Gotoh's recurrences."""
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


# The canonical alignment: which of several optimal alignments is reported. tests/oracle_spans.py defines it.


def scheme_of(costs: Costs) -> Scheme:
    """Convert costs to a scheme."""
    x, o, e = costs
    return Scheme(x, ((o, e),))


def canonical_plain(query: bytes, target: bytes, costs: Costs, equal: Equal = equal_by_sam) -> tuple[int, str]:
    """Return (cost, CIGAR) of the canonical global alignment, computed cell by cell from the definition."""
    found = optimum_plain(query, target, scheme_of(costs), GLOBAL, equal)
    return -found.score, found.cigar


def canonical(pairs: Sequence[Pair], costs: Costs, rule: str = "mismatch") -> list[tuple[int, str]]:
    """Compute canonical_plain for many pairs at once."""
    return [(-found.score, found.cigar) for found in optima(pairs, scheme_of(costs), GLOBAL, rule)]


def replay(query: bytes, target: bytes, cigar: str, equal: Equal = equal_by_sam) -> None:
    """Assert that the CIGAR is a correct alignment of the whole query with the whole target."""
    replay_span(query, target, cigar, (0, len(query), 0, len(target)), equal)


# Which symbols are written '='. Under "wildcard" the CIGAR still follows SAM, although more symbols match for the
# score.
WRITTEN: dict[str, Equal] = {**RULES, "wildcard": equal_by_sam}


def relabelled(query: bytes, target: bytes, cigar: str, equal: Equal) -> str:
    """Return the CIGAR of a global alignment with '=' and 'X' assigned by `equal`."""
    i = j = 0
    operations: list[str] = []
    for length, operation in runs_of(cigar):
        for _ in range(length):
            operations.append(operation if operation in "ID" else "X="[equal(query[i], target[j])])
            i, j = i + (operation != "D"), j + (operation != "I")
    return joined(operations)


def cigar_cost(cigar: str, costs: Costs) -> int:
    """Return the cost of a CIGAR."""
    return -score_of(cigar, scheme_of(costs))


# Other aligners. They compare bytes; `distinct` rewrites a pair so that this gives SAM's rule.


def distinct(query: bytes, target: bytes) -> Pair:
    """Return the pair in upper case, with U as T, and other symbols replaced by N in the query and X in the target."""
    others = bytes(set(range(256)) - set(b"ACGTUacgtu"))
    one, two = (bytes.maketrans(others, mark * len(others)) for mark in (b"N", b"X"))
    return query.upper().translate(one).replace(b"U", b"T"), target.upper().translate(two).replace(b"U", b"T")


def edlib_cost(query: bytes, target: bytes) -> int:
    """Return the edit distance by SAM's rule."""
    if not query or not target:
        return len(query) + len(target)
    return edlib.align(*distinct(query, target), mode="NW", task="distance")["editDistance"]


def _clipped(ends: Ends, query: bytes, target: bytes) -> tuple[int, ...]:
    n, m = len(query), len(target)
    return tuple(map(min, ends[:4], (n, n, m, m)))


@functools.cache
def _pywfa_aligner(scheme: Scheme, free: tuple[int, int, int, int]) -> pywfa.WavefrontAligner:
    import pywfa  # imported lazily: it has no wheels, so it may be missing

    (o, e), (o2, e2) = (*scheme.gaps, *scheme.gaps)[:2]
    names = ("pattern_begin_free", "pattern_end_free", "text_begin_free", "text_end_free")
    return pywfa.WavefrontAligner(
        distance="affine" if len(scheme.gaps) == 1 else "affine2p", match=0, mismatch=scheme.mismatch,
        gap_opening=o, gap_extension=e, gap_opening2=o2, gap_extension2=e2,
        scope="score", span="ends-free" if any(free) else "end-to-end", heuristic=None,
        **dict(zip(names, free, strict=True)),
    )  # fmt: skip


def pywfa_score(query: bytes, target: bytes, scheme: AnyScheme, ends: Ends = GLOBAL) -> int:
    """Return the score by SAM's rule for a scheme without a match bonus.

    Handles empty sequences, which pywfa rejects.
    """
    assert not scheme.match and not ends.extension
    if not query or not target:
        return optimum_plain(query, target, scheme, ends).score
    aligner = _pywfa_aligner(Scheme(scheme.mismatch, scheme.gaps), _clipped(ends, query, target))
    q, t = distinct(query, target)
    return aligner.wavefront_align(text=t.decode(), pattern=q.decode())  # in order of its parameters


def pywfa_cost(query: bytes, target: bytes, costs: Costs) -> int:
    """Return the gap-affine cost by SAM's rule."""
    return -pywfa_score(query, target, scheme_of(costs))


@functools.cache
def _parasail_matrix(match: int, mismatch: int) -> parasail.Matrix:
    return parasail.matrix_create("ACGTNX", match, -mismatch)


def parasail_score(query: bytes, target: bytes, scheme: AnyScheme, ends: Ends = GLOBAL) -> int:
    """Return the score by SAM's rule for a scheme with one piece.

    Handles empty sequences, which parasail rejects. Its gap opening includes the first base of the gap. Each end is
    entirely free or not free, and it has no function with exactly three free ends. Of its kernels, only `scan` and the
    plain one are correct for gaps without an opening cost and for o < e.
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
    # parasail does not consider the empty alignment, which is allowed where an overlap may start and end in one cell.
    return max(0, score) if any(ends.stop(n - i, m - j) for i, j in ends.starts(n, m)) else score


def parasail_cost(query: bytes, target: bytes, costs: Costs) -> int:
    """Return the gap-affine cost by SAM's rule."""
    return -parasail_score(query, target, scheme_of(costs))
