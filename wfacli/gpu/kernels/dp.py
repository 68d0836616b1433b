"""Banded dynamic programming (cuda/dp/): memory, bands, and the costs that they prove."""

from __future__ import annotations

import numpy as np

NEVER = 2**31 - 1  # higher than any cost
SLOTS = 64  # per warp of dp_align
MAX_THREAD_BAND = 64  # diagonals; wider bands use one warp per pair
_ROWS = 16  # rows between two clamps of large values

Gaps = tuple[tuple[int, int], ...]  # (open, extend) of each piece


def pieces_macro(gaps: Gaps) -> int:
    """Return WFACLI_PIECES of the build for these gap costs: 0 if there is no opening cost."""
    return 0 if len(gaps) == 1 and gaps[0][0] == 0 else len(gaps)


def thread_stride(band: int, pieces: int, longest: int) -> int:
    """Return the workspace in bytes of a warp of dp_align (64 pairs) for paths; `longest`: maximum query length."""
    return longest * band * (1024 if pieces == 2 else 512) // 16


def warp_stride(band: int, pieces: int, longest: int) -> int:
    """Return the workspace in bytes of a resident warp of dp_warp_align for paths."""
    directions = band // 32  # words per lane and step
    per_word = 32 // (8 if pieces == 2 else 4)  # directions per word; each of two 16-bit values has half
    words = -(-directions // per_word)
    return (longest + 1) * words * 128


def gap_cost(gaps: Gaps, lengths: np.ndarray) -> np.ndarray:
    """Return the cost of gaps of the given lengths, i64."""
    length = lengths.astype(np.int64)
    minimum: np.ndarray = np.min([opened + extend * length for opened, extend in gaps], axis=0)
    return np.where(length == 0, 0, minimum)


def unproven_cost(
    gaps: Gaps, query_len: np.ndarray, target_len: np.ndarray, band: int | np.ndarray, odd: bool | None = None
) -> np.ndarray:
    """Return the minimum cost of a path that leaves the band, i64: lower costs are proved. NEVER: no path leaves it.

    0 if the band contains no path.

    Args:
        gaps: gap costs.
        query_len: lengths of the queries, [n].
        target_len: lengths of the targets, [n].
        band: band width in diagonals, of all pairs or of each.
        odd: whether the band's first diagonal has an odd number, as in dp_warp.cu; None: if the widest band is
            one of that kernel.
    """
    last = target_len.astype(np.int64) - query_len
    low = (last - (band - 1)) >> 1  # the first diagonal
    if int(np.max(band)) > MAX_THREAD_BAND if odd is None else odd:
        low -= low % 2 == 0
    above, below = low + band, low - 1
    holds = (low <= np.minimum(0, last)) & (above > np.maximum(0, last))
    up = gap_cost(gaps, np.maximum(above, 0)) + gap_cost(gaps, np.maximum(above - last, 0))
    down = gap_cost(gaps, np.maximum(-below, 0)) + gap_cost(gaps, np.maximum(last - below, 0))
    minimum = np.minimum(np.where(above > target_len, NEVER, up), np.where(below < -query_len, NEVER, down))
    bound: np.ndarray = np.where(holds, np.minimum(minimum, NEVER), 0)
    return bound


def provable_cost(
    mismatch: int, gaps: Gaps, query_len: np.ndarray, target_len: np.ndarray, band: int, bits: int = 16
) -> np.ndarray:
    """Return the maximum cost, i64, that a build can prove for pairs of these lengths; -1: none.

    Costs are those of the task, divided by their greatest common divisor. Pairs that cost more return ScoreLimit.
    Pairs with an empty sequence always succeed.
    `bits`: bits of a cost.
    """
    drift = min(extend for _, extend in gaps)
    growth = (_ROWS + 1) * mismatch + max(opened + extend + drift for opened, extend in gaps)
    exact = max(0, (2 ** (bits - 1) - 1) // 16 - growth) + (target_len.astype(np.int64) - query_len) * drift
    limit = np.minimum(unproven_cost(gaps, query_len, target_len, band), exact) - 1
    return np.where((query_len == 0) | (target_len == 0), NEVER, np.maximum(limit, -1))
