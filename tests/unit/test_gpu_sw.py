"""Which build scored alignment takes for pairs, and which scores its bits hold."""

from __future__ import annotations

import numpy as np

from wfacli.gpu import sw
from wfacli.gpu.catalogue import ROWS
from wfacli.scoring.scheme import Scheme


def scores_of(text: str) -> sw.Scores:
    scheme = Scheme.parse(text)
    return sw.Scores.of(scheme.matrix, scheme.same, scheme.open, scheme.extend)


def chosen(length: int, count: int, path: bool = False, codes: int = 5) -> sw.Build:
    builds = (*sw.BUILDS, *sw.WHOLE) if path else sw.BUILDS
    lengths = np.full(count, length, np.int32)
    return builds[sw.best_build(lengths, lengths, builds, path, codes)[0]]


def test_many_pairs_get_what_wastes_least() -> None:
    """As measured: a stripe for all of a short pair, few stripes for long ones."""
    for length, width in ((30, 64), (64, 64), (128, 128), (256, 256), (1000, 256), (4096, 512)):
        assert chosen(length, 1_000_000).width == width
    # Scores of many codes leave no room for wide lanes.
    assert chosen(256, 1_000_000, codes=25).columns == 16


def test_each_length_has_the_build_of_its_step() -> None:
    """That of the greatest length of the step, whatever else is in the batch."""
    rng = np.random.default_rng(1)
    lengths = [rng.integers(1, 20_000, 3000) for _ in range(2)]
    found = sw.best_build(*lengths)
    for at in range(0, 3000, 100):
        alone = np.full(3000, lengths[0][at]), np.full(3000, lengths[1][at])
        assert sw.best_build(*alone)[at] == found[at]


def test_few_pairs_get_more_lanes() -> None:
    assert [chosen(64, count).lanes for count in (1_000_000, 8000, 3)] == [2, 8, 8]
    assert [chosen(700, count).lanes for count in (1_000_000, 8000, 3)] == [8, 32, 32]
    assert len(sw.best_build(np.zeros(0, np.int32), np.zeros(0, np.int32))) == 0


def test_directions_are_kept_where_they_are_few() -> None:
    assert [chosen(length, 1_000_000, True).whole for length in (30, 100, 1000, 4096)] == [True, True, False, False]
    for build in sw.WHOLE:
        kept = [n for n in range(1, 4000) if build.keeps(np.array([n]), np.array([n]))[0]]
        groups = 32 // build.lanes
        assert build.stride(sw.Rule.LOCAL, True, kept[-1], kept[-1]) * groups < 3 << 20
        assert build.stride(sw.Rule.LOCAL, True, kept[-1] + 64, kept[-1] + 64) * groups > 2 << 20
        assert build.stride(sw.Rule.LOCAL, False, 100, 100) < build.stride(sw.Rule.LOCAL, True, 100, 100)


def test_the_longest_first() -> None:
    """Neighbours need as many stripes, and rows as near as there are."""
    build, rng = sw.BUILDS[0], np.random.default_rng(2)
    query_len, target_len = (rng.integers(1, longest, 1000, dtype=np.int32) for longest in (100_000, 300))
    order = sw.longest_first(query_len, target_len, build)
    stripes = [-(-int(n) // build.width) for n in target_len]
    key = [(stripes[at], min(int(query_len[at]), 0xFFFF), -at) for at in order]
    assert sorted(order.tolist()) == list(range(1000))
    assert key == sorted(key, reverse=True)


def test_bits_that_hold() -> None:
    lengths = np.array([10, 1000, 10_000, 20_000])
    assert scores_of("2,4,4,2").holds(16, sw.Rule.LOCAL, lengths, lengths).all()
    assert scores_of("2,4,4,2").holds(16, sw.Rule.GLOBAL, lengths, lengths).tolist() == [True, True, False, False]
    assert scores_of("1,4,4,0").holds(16, sw.Rule.GLOBAL, lengths, lengths).tolist() == [True, True, True, True]
    assert scores_of("2,4,4,100").holds(16, sw.Rule.GLOBAL, lengths, lengths).tolist() == [False] * 4
    long = np.array([1_000, 8_000_000])
    assert scores_of("2,4,4,2").holds(32, sw.Rule.GLOBAL, long, long[::-1]).all()
    assert scores_of("127,4,4,2").holds(32, sw.Rule.LOCAL, long, long).tolist() == [True, True]
    assert scores_of("127,4,4,100").holds(32, sw.Rule.GLOBAL, long, long).tolist() == [True, False]


def test_scores_of_letters() -> None:
    """By the target's code and then the query's; what lies beyond scores less than all letters, and less than 0."""
    matrix = np.array([[5, -3], [2, 7]], np.int8)
    scores = sw.Scores.of(matrix, np.array([1, 0], np.uint8), 4, 2)
    assert scores.table[1, 0] == -3
    assert scores.table[0, 1] == 2
    assert (scores.table[2:] == -3).all() and (scores.table[:, 2:] == -3).all()
    assert (scores.same, scores.codes, scores.most, scores.least) == (1, 2, 7, -3)
    assert sw.Scores.of(np.ones((1, 1), np.int8), np.ones(1, np.uint8), 0, 1).table[1, 0] == -1


def test_every_build_has_its_rows() -> None:
    every = (*sw.BUILDS, *sw.WHOLE, sw.WIDE)
    names = {sw.row_of(b, r, p) for b in every for r in sw.Rule for p in (False, True)}
    assert names == {name for name in ROWS if name.startswith("sw-")}
    assert sw.row_of(sw.BUILDS[0], sw.Rule.SEMIGLOBAL, True) == sw.row_of(sw.BUILDS[0], sw.Rule.GLOBAL, True)
