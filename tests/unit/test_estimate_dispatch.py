"""Which kernel a pair tries first, and which next."""

import dataclasses
import random

import numpy as np
import pytest

from tests import oracles, pairgen
from tests.engines.helpers import engine, spec_of
from wfacli.batch import Status
from wfacli.config import Limits
from wfacli.dispatch import LINEAR, TABLE, Route, next_rung, route
from wfacli.estimate import with_estimates
from wfacli.io.memory import pairs_of


def with_edits(edits):
    batch = pairs_of(["A"] * len(edits), ["A"] * len(edits))
    return dataclasses.replace(batch, est_edits=np.array(edits, np.int32))


def test_the_estimate_is_a_lower_bound():
    pairs = pairgen.random_pairs(1, 200, 60, pairgen.ALPHABETS["mixed"])
    batch = pairs_of(*zip(*pairs, strict=True))
    assert (batch.est_edits == -1).all()
    estimated = with_estimates(batch)
    assert estimated.est_edits.dtype == np.int32
    assert all(e <= oracles.edlib_cost(*p) for e, p in zip(estimated.est_edits.tolist(), pairs, strict=True))
    assert estimated.bases is batch.bases


@pytest.mark.parametrize("metric", ["edit", "affine"])
def test_every_row_has_one_first_route(metric):
    edits = [0, 10**6, 3, -1, 10**7, 50]
    routes = route(with_edits(edits), spec_of(metric, (4, 6, 2)), Limits())
    assert {r.kernel: r.rows.tolist() for r in routes} == {TABLE: [0, 2, 3, 5], LINEAR: [1, 4]}
    assert all(r.rows.dtype == np.int32 for r in routes)
    assert route(with_edits([]), spec_of(metric, (4, 6, 2)), Limits()) == []


@pytest.mark.parametrize(
    ("metric", "costs"),
    [("edit", oracles.EDIT), ("affine", (4, 6, 2)), ("affine", (1, 1, 3)), ("affine", (40, 60, 20)),
     ("affine", (1, 60, 1))],
    ids=str,
)  # fmt: skip
def test_only_hopeless_pairs_skip_the_table(metric, costs):
    """What goes to the linear kernel at once would have failed in the table."""
    rng = random.Random(2)
    spec, pairs = spec_of(metric, costs), []
    for _ in range(300):
        target = pairgen.sequence(rng, rng.randrange(300), b"ACGT")
        at = rng.randrange(len(target) + 1)
        gap = rng.choice((0, 0, rng.randrange(120), len(target)))
        pairs.append((target[:at] + target[at + gap :], target))
    batch = with_estimates(pairs_of(*zip(*pairs, strict=True)))
    for table in (1000, 20_000, 100_000, 400_000):
        hopeless = [r.rows for r in route(batch, spec, Limits(table=table)) if r.kernel == LINEAR]
        if not hopeless:
            continue
        with engine(spec, Limits(table=table)) as cpu:
            tried = cpu.collect(cpu.submit(batch, Route(hopeless[0], TABLE)))
        solved = hopeless[0][tried.status == Status.OK]
        assert not len(solved), f"{len(solved)} of {len(hopeless[0])} fit {table} bytes: {pairs[solved[0]]}"


def test_the_next_rung():
    status = np.array([Status.OK, Status.MEMORY_LIMIT, Status.LENGTH_LIMIT, Status.MEMORY_LIMIT], np.uint8)
    rows = np.array([4, 9, 2, 7], np.int32)
    further = next_rung(TABLE, status, rows)
    assert further is not None and further.kernel == LINEAR and further.rows.tolist() == [9, 7]
    assert next_rung(LINEAR, status, rows) is None
    assert next_rung(TABLE, status[:1], rows[:1]) is None
