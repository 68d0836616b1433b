"""The choice of the build for scored alignment, and the scores that its bits hold."""

from __future__ import annotations

import numpy as np

from wfacli.gpu.kernels import sw, sw_choice, sw_guided
from wfacli.gpu.kernels.catalogue import ROWS
from wfacli.scoring.scheme import Scheme


def scores_of(text: str) -> sw.Scores:
    scheme = Scheme.parse(text)
    return sw.Scores.of(scheme.matrix, scheme.same, scheme.open, scheme.extend)


def chosen(length: int, count: int, path: bool = False, codes: int = 5) -> sw.Build:
    builds = (*sw.BUILDS, *sw.ALL_DIRECTIONS) if path else sw.BUILDS
    steps, step = sw_choice.STEP[-1] + 1, sw_choice.STEP[length]
    return builds[sw_choice.best_builds(builds, count, path, codes).reshape(steps, steps)[step, step]]


def test_many_pairs_get_what_wastes_least() -> None:
    """The builds that were fastest when measured.

    Short pairs take a single stripe, long ones a few wide stripes, as there are fewer of them.
    """
    shapes = ((30, 64), (64, 64), (128, 128), (256, 256), (512, 256), (1024, 512), (2048, 512), (4096, 512))
    for length, width in shapes:
        assert chosen(length, 32_000_000 // length).width == width
    path = [chosen(length, 32_000_000 // length, True) for length in (64, 128, 256, 512, 1024, 2048, 4096)]
    assert [build.lanes for build in path] == [2, 4, 8, 8, 8, 32, 32]
    assert [build.all_directions for build in path] == [True] * 4 + [False] * 3
    # Score tables of many codes leave no shared memory for wide lanes.
    assert chosen(256, 1_000_000, codes=25).columns == 16


def test_steps_of_lengths() -> None:
    """Steps end at stripe ends; all lengths above the last end share one step."""
    ends = np.flatnonzero(np.diff(sw_choice.STEP))
    assert (np.diff(sw_choice.STEP) <= 1).all()
    assert (ends % 16 == 0).all()
    assert len(sw_choice.best_builds(sw.BUILDS, 5)) == (len(ends) + 1) ** 2


def test_few_pairs_get_more_lanes() -> None:
    assert [chosen(64, count).lanes for count in (1_000_000, 8000, 3)] == [2, 8, 8]
    assert [chosen(700, count).lanes for count in (1_000_000, 2000, 3)] == [8, 32, 32]
    assert chosen(64, 0).lanes == 8


def test_directions_are_kept_where_they_are_few() -> None:
    assert [chosen(length, 1_000_000, True).all_directions for length in (30, 100, 1000, 4096)] == [
        True,
        True,
        False,
        False,
    ]
    for build in sw.ALL_DIRECTIONS:
        kept = [n for n in range(1, 4000) if build.fits_directions(np.array([n]), np.array([n]))[0]]
        assert build.stride(sw.Rule.LOCAL, True, kept[-1], kept[-1]) < 600 << 10
        assert build.stride(sw.Rule.LOCAL, True, kept[-1] + 64, kept[-1] + 64) > 512 << 10
        assert build.stride(sw.Rule.LOCAL, False, 100, 100) < build.stride(sw.Rule.LOCAL, True, 100, 100)


def test_lengths_that_bits_hold() -> None:
    """The limit follows from the lowest score of any cell: gaps along both edges, and cells beyond them."""
    assert scores_of("2,4,4,2").longest(16, sw.Rule.LOCAL) > 1 << 30
    assert 5000 < scores_of("2,4,5,2").longest(16, sw.Rule.GLOBAL) < 7000
    assert 12_000 < scores_of("2,4,4,2").longest(16, sw.Rule.GLOBAL) < 14_000
    assert scores_of("1,4,4,0").longest(16, sw.Rule.GLOBAL) == 27_999
    assert scores_of("2,4,4,100").longest(16, sw.Rule.GLOBAL) == 0
    assert scores_of("2,4,4,2").longest(32, sw.Rule.GLOBAL) > 8_000_000
    assert scores_of("127,4,4,2").longest(32, sw.Rule.LOCAL) > 8_000_000
    assert 1000 < scores_of("127,4,4,100").longest(32, sw.Rule.GLOBAL) < 8_000_000
    n = scores_of("2,4,5,2").longest(16, sw.Rule.EXTENSION)
    least = [-(3 * 5 + (2 * longest + 2 * sw.WIDE.width + 64) * 2 + 2 * 4) for longest in (n, n + 1)]
    assert least[0] > -28_000 >= least[1]


def test_scores_in_units() -> None:
    """Kernels get scores and costs divided by their greatest common divisor; `unit` restores them."""
    scores = scores_of("4,8,6,2")
    assert (scores.unit, scores.max_score, scores.min_score, scores.open, scores.extend) == (2, 2, -4, 3, 1)
    assert scores_of("4,8,6,3").unit == 1 and scores_of("3,0,6,0").unit == 3
    assert [scores_of(f"1,1,{opening},1").digits for opening in (0, 1, 3, 4)] == [False, True, True, False]


def test_few_uneven_pairs_share_a_launch() -> None:
    """Small groups of pairs join a launch with more lanes; large ones are split by length."""
    lengths, builds = np.repeat([200, 700, 3000], [3000, 3000, 10_000]), (*sw.BUILDS, *sw.ALL_DIRECTIONS)
    for path in (False, True):
        few = sw_choice.builds_to_launch(builds, lengths, lengths, path, 5, True)
        assert {build.lanes for build in few} == {32}
        many = sw_choice.builds_to_launch(builds, *[np.repeat(lengths, 60)] * 2, path, 5, True)
        assert len({build.lanes for build in many}) > 2
        beside = sw_choice.builds_to_launch(builds, lengths, lengths, path, 5, True, 8 * len(lengths))
        assert min(build.lanes for build in beside) < 32, "others have what the end of a launch leaves"
    assert sw_choice.builds_to_launch(builds, lengths[:1], lengths[:1], True, 5, True) == builds


def test_warps_draw_seldom_where_memory_is_the_pairs() -> None:
    """A warp draws pairs for about a fixed number of rows over all stripes, but at least one pair."""
    build, scores = sw.Build(8, 32, all_directions=True), scores_of("2,4,4,2")
    lengths = ((64, 64), (256, 256), (256, 257), (600, 10))
    works = [sw.Work(build, sw.Rule.LOCAL, scores, True, 1000, *pair) for pair in lengths]
    assert [work.draws for work in works] == [8, 2, 1, 1]


def test_scores_of_symbols() -> None:
    """The table is indexed by target code, then query code.

    Codes beyond the alphabet score no more than any symbol pair, and less than 0.
    """
    matrix = np.array([[5, -3], [2, 7]], np.int8)
    scores = sw.Scores.of(matrix, np.array([1, 0], np.uint8), 4, 2)
    assert scores.table[1, 0] == -3
    assert scores.table[0, 1] == 2
    assert (scores.table[2:] == -3).all() and (scores.table[:, 2:] == -3).all()
    assert (scores.self_match, scores.codes, scores.max_score, scores.min_score) == (1, 2, 7, -3)
    assert sw.Scores.of(np.ones((1, 1), np.int8), np.ones(1, np.uint8), 0, 1).table[1, 0] == -1


def test_every_build_has_its_rows() -> None:
    every = (*sw.BUILDS, *sw.ALL_DIRECTIONS, sw.WIDE)
    names = {sw.row_of(b, r, p) for b in every for r in sw.Rule for p in (False, True)}
    names |= {sw.traceback_row_of(b, r) for b in sw.ALL_DIRECTIONS for r in sw.Rule if r is not sw.Rule.EXTENSION}
    names |= {sw_guided.row_of(b) for b in sw_guided.BUILDS}
    assert names == {name for name in ROWS if name.startswith("sw-")}
    assert sw.row_of(sw.BUILDS[0], sw.Rule.SEMIGLOBAL, True) == sw.row_of(sw.BUILDS[0], sw.Rule.GLOBAL, True)
