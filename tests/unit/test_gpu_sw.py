"""Which build scored alignment takes for pairs, and which scores its bits hold."""

from __future__ import annotations

import numpy as np

from wfacli.gpu import sw
from wfacli.gpu.catalogue import ROWS
from wfacli.scoring.scheme import Scheme


def scores_of(text: str) -> sw.Scores:
    scheme = Scheme.parse(text)
    return sw.Scores.of(scheme.matrix, scheme.same, scheme.open, scheme.extend)


def test_many_pairs_get_what_wastes_least() -> None:
    lengths = np.tile([30, 60, 100, 128, 500, 4000], 5000)
    chosen = sw.best_build(lengths, lengths)
    work = np.stack([build.work(lengths, lengths) for build in sw.BUILDS])
    assert (work[chosen, np.arange(len(lengths))] == work.min(axis=0)).all()
    assert {sw.BUILDS[k].width for k in chosen[:6]} >= {64, 128}


def test_few_pairs_get_more_lanes() -> None:
    """7,000 pairs of two a group are 1,750 warps with 16 lanes, and 875 with 8."""
    for count, least in ((20_000, 8), (7_000, 16), (3_500, 32), (3, 32), (0, 32)):
        lengths = np.full(count, 50)
        assert {sw.BUILDS[k].lanes for k in sw.best_build(lengths, lengths)} <= {least}


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
    names = {sw.row_of(b, r, p) for b in (*sw.BUILDS, sw.WIDE) for r in sw.Rule for p in (False, True)}
    assert names == {name for name in ROWS if name.startswith("sw-")}
    assert sw.row_of(sw.BUILDS[0], sw.Rule.SEMIGLOBAL, True) == sw.row_of(sw.BUILDS[0], sw.Rule.GLOBAL, True)
