"""Candidates for cuts, and the choice among them."""

from __future__ import annotations

import random

import pytest

from wfacli.io.read.section import Position
from wfacli.shards.cuts import Places
from wfacli.shards.ranges import ranges


def places(works: list[int], **options: int) -> Places:
    """Return the places behind batches of this work, at offsets that are the work before them."""
    made, offset = Places(1, **options), 0
    for work in works:
        offset += work
        made.add(1, work, [Position(offset, 0, offset, 0)])
    return made


@pytest.mark.parametrize("seed", range(20))
def test_no_other_choice_of_a_cut_is_nearer_to_the_balance(seed):
    rng = random.Random(seed)
    works = [rng.choice((1, 10, 1000)) for _ in range(rng.randrange(1, 200))]
    shards = rng.randrange(1, 20)
    cuts = places(works).balanced(shards)
    candidates = [sum(works[:i]) for i in range(len(works) + 1)]
    assert len(cuts) == shards + 1
    assert [cuts[0].work, cuts[-1].work] == [0, sum(works)]
    for number, cut in enumerate(cuts[1:-1], 1):
        wanted = number * sum(works) / shards
        assert abs(cut.work - wanted) == min(abs(c - wanted) for c in candidates)
        assert cut.positions[0].offset == cut.work


def test_an_input_without_records_has_empty_shards():
    made = Places(2)
    made.end([Position(7, 0, 7, 1), Position(9, 0, 9, 1)])
    cuts = made.balanced(3)
    assert [cut.records for cut in cuts] == [0, 0, 0, 0]
    assert cuts[-1].positions[1].offset == 9


def test_memory_is_bounded_and_the_balance_still_good():
    made = places([1] * 10_000, max_places=100)
    assert len(made) <= 100
    made.end([Position(10_000, 0, 10_000, 0)])
    works = [cut.work for cut in made.balanced(4)]
    assert works[0] == 0 and works[-1] == 10_000
    assert max(abs(work - 2500 * i) for i, work in enumerate(works)) <= 200


def test_places_that_a_mapping_spans_are_dropped():
    made = Places(1)
    for early in (0, 0, 3, 5):
        made.add(1, 1, [Position(early, 0, early, 0)], early)
    made.drop(2)
    assert len(made) == 3  # the beginning, and two
    made.drop(0)
    assert len(made) == 3


@pytest.mark.parametrize(
    ("numbers", "text"), [([], ""), ([4], "4"), ([1, 2, 3, 7, 9, 10], "1-3,7,9-10"), ([2, 4], "2,4")]
)
def test_ranges(numbers, text):
    assert ranges(numbers) == text
