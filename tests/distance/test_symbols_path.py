"""Best paths of arbitrary symbols: against plain dynamic programming, and where their wavefronts meet many times."""

from __future__ import annotations

import time

import numpy as np
import pytest

from wfacli._native import CancelFlag, edit_path
from wfacli.errors import Cancelled, InternalError
from wfacli.solve.base import Pair
from wfacli.solve.distance.cpu import CpuBits
from wfacli.solve.distance.symbols_path import as_table, symbols_path

from .solvers import edit_distance, solved


def found(a, b, distance):
    """Return the path; symbols_path itself replays it and checks its cost."""
    return symbols_path(Pair(a, b, False), distance, lambda: False)


@pytest.mark.parametrize("symbols", [np.uint8, np.uint32])
def test_small_pairs(symbols):
    rng = np.random.default_rng(1)
    for _ in range(700):
        count = rng.integers(1, 6)
        a = rng.integers(0, count, rng.integers(0, 70)).astype(symbols)
        kept = a[rng.random(len(a)) > rng.choice([0.0, 0.1, 0.5])]
        b = kept if rng.random() < 0.7 else rng.integers(0, count, rng.integers(0, 70)).astype(symbols)
        found(a, b, edit_distance(a.tolist(), b.tolist()))
        found(b, a, edit_distance(a.tolist(), b.tolist()))


@pytest.mark.parametrize("rate", [0.002, 0.05, 0.6])
def test_fronts_that_meet_again_and_again(rate):
    rng = np.random.default_rng(2)
    a = rng.integers(0, 4, 12_000).astype(np.uint8)
    b = np.where(rng.random(len(a)) < rate / 2, rng.integers(0, 4, len(a)), a)[rng.random(len(a)) > rate / 2]
    b = b.astype(np.uint8)
    distance = solved(CpuBits(Pair(a, b, False), None, 1))
    assert distance > 2 * 48 or rate < 0.01, "else nothing is divided"
    path = found(a, b, distance)
    assert (found(a.astype(np.uint32), b.astype(np.uint32), distance) == path).all()
    assert (path[1:] & 15 != path[:-1] & 15).all(), "neighbours that are alike are one"


def test_operations_are_split_where_28_bits_hold_no_more():
    for extra in (0, 1, 10):
        symbols = np.zeros((1 << 28) - 1 + extra, np.uint8)  # untouched zeros share one physical page
        path = edit_path(symbols, symbols, CancelFlag())
        assert (path >> 4).tolist() == [(1 << 28) - 1, *([extra] if extra else [])] and set(path & 15) == {7}
    path = edit_path(symbols[:0], symbols, CancelFlag())
    assert (path >> 4).tolist() == [(1 << 28) - 1, 10] and set(path & 15) == {2}


def test_a_path_of_another_cost_is_refused():
    a = np.array([1, 2, 3], np.uint32)
    with pytest.raises(InternalError, match="it costs 1, and the distance is 2"):
        found(a, a[:2], 2)


def test_stops():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 4, (2, 300_000)).astype(np.uint8)
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        symbols_path(Pair(a, b, False), 1, lambda: time.monotonic() > begun + 0.2)
    assert time.monotonic() - begun < 60


def test_tables_in_blocks(monkeypatch):
    monkeypatch.setattr("wfacli.solve.distance.symbols_path._BLOCK", 2)
    path = np.array([5 << 4 | 7, 1 << 4 | 8, 2 << 4 | 1, 1 << 4 | 7, 3 << 4 | 2], np.uint32)
    assert b"".join(as_table(path)).decode().splitlines()[1:] == [
        "equal\t0\t5\t0\t5",
        "replace\t5\t6\t5\t6",
        "delete\t6\t8\t6\t6",
        "equal\t8\t9\t6\t7",
        "insert\t9\t9\t7\t10",
    ]
