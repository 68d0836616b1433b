"""Pairs among the hits of minimap2's library, and their SAM lines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from wfacli.io.mapper import by_mappy


def hit(begin: int, strand: int, **more: Any) -> Any:
    """Return a hit of 100 matches."""
    told = {"ctg": "a", "r_st": begin, "r_en": begin + 100, "strand": strand, "mlen": 100, "NM": 0}
    return SimpleNamespace(
        **{**told, "q_st": 0, "q_en": 100, "mapq": 60, "cigar": [[100, 0]], "cigar_str": "100M", **more}
    )


def test_the_library_tells_no_pairs_so_they_are_found_here() -> None:
    first, near, far = hit(1000, 1), hit(1600, -1), hit(1701, -1)
    found = by_mappy.proper_pair
    assert found([first], [near], 200) == (first, near)
    assert found([near], [first], 200) == (near, first)
    assert found([first], [far], 200) is None  # 601 bases between them; the fragment is 800 long
    assert found([first], [far], 199) == (first, far)
    assert found([first], [far, near], 200) == (first, near)
    assert found([first], [hit(1600, 1)], 200) is None
    assert found([first], [hit(999, -1)], 200) is None
    assert found([first], [hit(1600, -1, ctg="b")], 200) is None
    assert found([first], [], 200) is None
    # A concordant place is preferred to a better discordant one, up to a score difference of 33.
    worse = hit(1600, -1, mlen=97, NM=3)
    assert by_mappy.score(worse) == 2 * 97 - 3 * 8
    assert found([first], [far, worse], 200) == (first, worse)
    assert found([first], [far, hit(1600, -1, mlen=96, NM=4)], 200) is None
    assert by_mappy.score(hit(0, 1, mlen=90, NM=30, cigar=[[60, 0], [30, 2], [30, 0]])) == 180 - 54


def test_which_reads_are_pairs_in_one_file() -> None:
    names = ["a/1", "a/2", "b", "c", "c", "d/1", "e/1", "e/2"]
    found = by_mappy.fragments([[(name, "A", None) for name in names]])
    pairs = [" ".join(name for name, _ in reads) for reads in found]
    assert pairs == ["a/1 a/2", "b", "c c", "d/1", "e/1 e/2"]


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("strand", [1, -1])
def test_clips_of_a_second_mate(mirrored: bool, strand: int) -> None:
    """Bases 10 to 110 of 130 lie on the target."""
    part = hit(5, strand, q_st=20 if mirrored else 10, q_en=120 if mirrored else 110)
    line = by_mappy.sam_line("r", 129, part, 130, mirrored)
    clips = "10S100M20S" if strand > 0 else "20S100M10S"
    assert line.split("\t")[:6] == ["r", str(129 | 16 * (strand < 0)), "a", "6", "60", clips]


def test_a_hit_of_the_pair_is_primary() -> None:
    """The hit that forms the pair is primary, even if another hit of the read comes first."""
    alone, fits, second = hit(5, 1, read_num=1), hit(1000, 1, read_num=1), hit(1200, -1, read_num=2)
    lesser = replace_hit(second, is_primary=False)
    reads = [("a/1", "A" * 100), ("a/2", "A" * 100)]
    hits = [replace_hit(h, is_primary=True) for h in (alone, fits, second)]
    lines = [line.split("\t") for line in by_mappy.sam_lines(reads, [*hits, lesser], False).splitlines()]
    assert [(r[0], int(r[1]), r[3]) for r in lines] == [("a", 2113, "6"), ("a", 67, "1001"), ("a", 147, "1201")]
    lost = by_mappy.sam_lines(reads, hits[:1], False).splitlines()
    assert [line.split("\t")[:2] for line in lost] == [["a", "65"], ["a", str(1 | 4 | 128)]]


def replace_hit(hit: Any, **more: Any) -> Any:
    return SimpleNamespace(**{**vars(hit), **more})
