"""Rows of a batch are distributed over builds of a kernel: each row once, similar lengths in a warp."""

from __future__ import annotations

import numpy as np
import pytest

from wfacli._native import distribute_rows
from wfacli.core.batch import PairBatch, Records

STEP = np.minimum(np.arange(101) // 10, 4).astype(np.uint8)  # five steps; the last one for lengths from 40 on
WIDTH = np.array([8, 32, 16], np.int32)
NARROW, MOST = 500, 3000
# Indexed by the query's step, then the target's; the first build has short targets.
BUILD = np.array([[0, 0, 1, 1, 1]] * 5, np.uint8).reshape(-1)


def batch_of(lengths: list[tuple[int, int]]) -> PairBatch:
    n = len(lengths)
    q_len, t_len = (np.array([pair[side] for pair in lengths], np.int32) for side in (0, 1))
    none, zero = np.zeros(n, np.int32), np.zeros(n, np.int64)
    records = Records(np.zeros(0, np.uint8), zero, zero, none, none, zero - 1)
    return PairBatch(0, np.zeros(64, np.uint8), zero, zero, q_len, t_len, none.astype(np.uint8), none, records)


def shared(lengths: list[tuple[int, int]], rows: list[int] | None = None, narrow: int = NARROW):
    chosen = np.array(range(len(lengths)) if rows is None else rows, np.int32)
    return distribute_rows(batch_of(lengths), chosen, STEP, BUILD, WIDTH, narrow, MOST)


def build_of(query: int, target: int) -> int | None:
    """Return the build of a pair by direct lookup; None if no build supports it."""
    if not min(query, target) or max(query, target) > MOST:
        return None
    return 2 if max(query, target) > NARROW else int(BUILD[5 * STEP[min(query, 100)] + STEP[min(target, 100)]])


@pytest.mark.parametrize("some", [False, True])
def test_as_the_table_says(some: bool) -> None:
    rng = np.random.default_rng(3)
    lengths = [tuple(pair) for pair in np.exp(rng.uniform(-1, 8.3, (900, 2))).astype(int).tolist()]
    rows = rng.permutation(900)[:600].tolist() if some else list(range(900))
    order, groups, others, nbytes = shared(lengths, rows)
    pairs = [lengths[row] for row in rows]
    assert others.tolist() == [at for at, pair in enumerate(pairs) if build_of(*pair) is None]
    assert sorted([*order.tolist(), *others.tolist()]) == list(range(len(rows)))
    assert len(others) > 10 and len(groups) == 3
    assert nbytes == sum(-(-n // 16) * 16 for at in order.tolist() for n in pairs[at])
    begin = 0
    for build, count, longest_query, longest_target in groups:
        own = order[begin : begin + count].tolist()
        assert {build_of(*pairs[at]) for at in own} == {build}
        assert (longest_query, longest_target) == tuple(max(pairs[at][side] for at in own) for side in (0, 1))
        keys = [(-(-pairs[at][1] // int(WIDTH[build])), pairs[at][0], -at) for at in own]
        assert keys == sorted(keys, reverse=True)
        begin += count
    assert begin == len(order)


def test_pairs_that_are_alike_keep_their_order() -> None:
    order, groups, others, _ = shared([(30, 20)] * 50 + [(0, 4)] + [(30, 20)] * 3)
    assert order.tolist() == [at for at in range(54) if at != 50]
    assert groups == [(1, 53, 30, 20)]
    assert others.tolist() == [50]


def test_wide_ones_only() -> None:
    order, groups, _, _ = shared([(30, 20), (40, 90)], narrow=0)
    assert groups == [(2, 2, 40, 90)]
    assert order.tolist() == [1, 0]


def test_none() -> None:
    order, groups, others, nbytes = shared([])
    assert (len(order), groups, len(others), nbytes) == (0, [], 0, 0)


@pytest.mark.parametrize(("rows", "build"), [([1], BUILD), ([-1], BUILD), ([0], np.full(25, 3, np.uint8))])
def test_what_there_is_not(rows: list[int], build: np.ndarray) -> None:
    with pytest.raises(IndexError):
        distribute_rows(batch_of([(1, 1)]), np.array(rows, np.int32), STEP, build, WIDTH, NARROW, MOST)
