"""Batches: rows with estimates, plans, and merging of parts."""

import dataclasses
import random
import weakref

import numpy as np
import pytest

from wfacli._native import count_nonzero
from wfacli.config import AlignSpec, Metric, Penalties
from wfacli.core.batch import Lengths, PartialResult
from wfacli.engines.parts import gather
from wfacli.io.read.memory import pairs_of
from wfacli.plan.planner import Planner

KERNELS = ("first", "second")


def part(rows, answers):
    """Return a result whose row r has status, cut, score and operations of answers[r]."""
    status, cut, score, runs = zip(*(answers[r] for r in rows), strict=True) if rows else ((), (), (), ())
    start = np.cumsum([0, *map(len, runs)]).astype(np.int64)
    span = [[r, r + 1, r + 2, r + 3] for r in rows]
    return PartialResult(
        np.array(rows, np.int32),
        np.array(status, np.uint8),
        np.array(cut, np.uint8),
        np.array(score, np.int32),
        np.array(span, np.int32).reshape(-1, 4),
        np.array([run for some in runs for run in some], np.uint32),
        start,
    )


def rows_of(batch):
    cuts = zip(batch.cigar_start[:-1], batch.cigar_start[1:], strict=True)
    runs = [batch.cigar[a:b].tolist() for a, b in cuts]
    return list(zip(batch.status.tolist(), batch.cut.tolist(), batch.score.tolist(), runs, strict=True))


def answers_for(n, seed):
    rng = random.Random(seed)
    runs = [[rng.randrange(1, 999) for _ in range(rng.randrange(4))] for _ in range(n)]
    return [(rng.randrange(3), rng.randrange(2), -rng.randrange(99), some) for some in runs]


def batch_of(n):
    return pairs_of(["A"] * n, ["C"] * n)


def test_lengths_of_a_batch_and_of_its_parts():
    batch = pairs_of(["ACGT", "", "ACGTACG"], ["A", "CCCCCCCCC", ""])
    assert batch.lengths == batch.with_edits(np.zeros(3, np.int32)).lengths == Lengths(21, 7, 9)
    shorter = dataclasses.replace(batch, q_len=np.array([4, 0, 0], np.int32))
    for some in (batch.head(2), batch.subset(np.array([1, 0], np.int32)), shorter):
        assert some.lengths == Lengths(14, 4, 9) and some.total_bases == 14 and some.longest == 9
    assert batch.head(0).lengths == pairs_of([], []).lengths == Lengths(0, 0, 0)


@pytest.mark.parametrize("n", [0, 1, 15, 300])
def test_values_other_than_0_are_counted(n):
    column = np.arange(n, dtype=np.uint8) % 5
    assert count_nonzero(column) == np.count_nonzero(column)


def test_one_part_in_order_is_taken_as_it_is():
    whole = part([0, 1, 2], answers_for(3, 1))
    result = gather([whole], [1], batch_of(3), KERNELS)
    assert result.cigar is whole.cigar and result.score is whole.score
    assert result.origin.tolist() == [1, 1, 1]
    assert result.kernels == KERNELS


@pytest.mark.parametrize("seed", range(20))
def test_parts_in_any_order(seed):
    rng = random.Random(seed)
    n = rng.randrange(1, 30)
    answers, order = answers_for(n, seed), rng.sample(range(n), n)
    cut = rng.randrange(n + 1)
    result = gather([part(order[:cut], answers), part(order[cut:], answers)], [0, 1], batch_of(n), KERNELS)
    assert rows_of(result) == answers
    assert result.span.tolist() == [[r, r + 1, r + 2, r + 3] for r in range(n)]
    assert [r for r in range(n) if result.origin[r] == 1] == sorted(order[cut:])


@pytest.mark.parametrize("seed", range(20))
def test_where_parts_overlap_the_last_one_counts(seed):
    rng = random.Random(seed)
    n = rng.randrange(1, 30)
    first, second = answers_for(n, seed), answers_for(n, seed + 100)
    again = rng.sample(range(n), rng.randrange(n + 1))
    result = gather([part(list(range(n)), first), part(again, second)], [0, 1], batch_of(n), KERNELS)
    assert rows_of(result) == [second[r] if r in again else first[r] for r in range(n)]
    assert result.origin.tolist() == [int(r in again) for r in range(n)]


@pytest.mark.parametrize("seed", range(40))
def test_few_rows_beside_nearly_all(seed):
    rng = random.Random(seed)
    n = rng.randrange(64, 300)
    answers = [answers_for(n, seed + 100 * p) for p in range(3)]
    lacking, nowhere = rng.sample(range(n), rng.randrange(4)), rng.sample(range(n), rng.choice([0, 0, 1]))
    most = [r for r in range(n) if r not in lacking and r not in nowhere]
    again = rng.sample([r for r in range(n) if r not in nowhere], rng.randrange(4))
    rng.shuffle(lacking)
    result = gather(
        [part(most, answers[0]), part(lacking, answers[1]), part(again, answers[2])], [0, 1, 1], batch_of(n), KERNELS
    )
    expected = [(0, 0, 0, [])] * n
    for rows, some in zip((most, lacking, again), answers, strict=True):
        for r in rows:
            expected[r] = some[r]
    assert rows_of(result) == expected
    assert [r for r in range(n) if result.origin[r]] == sorted({*lacking, *again})


def test_many_rows_are_copied_by_several_threads():
    n, again = 50_000, [7, 20_000, 49_999]
    answers = [(0, 0, -r, [r % 999 + 16] * 7) for r in range(n)]
    others = [(0, 1, r, [5] * 3) for r in range(n)]
    result = gather([part(list(range(n)), answers), part(again, others)], [0, 1], batch_of(n), KERNELS)
    found = rows_of(result)
    assert found == [others[r] if r in again else answers[r] for r in range(n)]


def test_no_pairs():
    result = gather([], [], batch_of(0), KERNELS)
    assert rows_of(result) == [] and result.cigar_start.tolist() == [0]
    assert result.cigar.dtype == np.uint32


def test_a_row_that_no_part_has_is_empty():
    answers = answers_for(3, 5)
    result = gather([part([2], answers), part([0], answers)], [0, 1], batch_of(3), KERNELS)
    assert rows_of(result) == [answers[0], (0, 0, 0, []), answers[2]]
    assert result.span[1].tolist() == [0] * 4 and result.origin.tolist() == [1, 0, 0]


def test_columns_that_do_not_fit_are_refused():
    good = part([0, 1], answers_for(2, 1))
    for column in ("status", "cut", "score", "span", "cigar_start"):
        bad = dataclasses.replace(good, **{column: getattr(good, column)[:-1]})
        with pytest.raises(ValueError, match=r"length|columns"):
            gather([good, bad], [0, 1], batch_of(3), KERNELS)
    with pytest.raises(ValueError, match="columns"):
        gather([good, dataclasses.replace(good, cigar=np.zeros(99, np.uint32))], [0, 1], batch_of(3), KERNELS)
    with pytest.raises(IndexError):
        gather([good, good], [0, 1], batch_of(1), KERNELS)


def test_rows_with_edits_are_those_of_the_column():
    batch = pairs_of([b"ACGT"] * 9, [b"ACGA"] * 9)
    some = batch.with_some_edits(np.array([1, 4, 8], np.int32), np.array([3, -1, 0], np.int32))
    assert some.rows_with_edits.tolist() == [1, 8] and some.rows_with_edits.dtype == np.int32
    assert some.subset(np.array([8, 0, 1])).rows_with_edits.tolist() == [0, 2]
    assert some.with_edits(np.arange(9, dtype=np.int32) - 7).rows_with_edits.tolist() == [7, 8]
    assert batch.rows_with_edits.tolist() == []


@pytest.mark.parametrize("count", [0, 3, 3000])
def test_a_prepared_plan_goes_with_its_batch(count):
    batch = pairs_of([b"ACGT" * 30] * count, [b"ACGA" * 30] * count)
    planner = Planner(AlignSpec(Metric.AFFINE, Penalties.of(Metric.AFFINE)), gpus=1)
    planner.prepare(batch)
    plan = planner.plan(batch)
    assert plan.pairs.bases is batch.bases and sum(len(route.rows) for route in plan.routes) == count
    planner.prepare(batch)
    bases = weakref.ref(batch.bases)
    del batch, plan
    assert bases() is None
