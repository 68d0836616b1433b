"""Bounds on memory that are too small for most kernels: one pair alone is aligned wherever one of many is."""

import random

import numpy as np
import pytest

import wfacli
from tests import pairgen
from tests.engines.agreement import SCHEMES, TIMES, seed_of, spec_for
from wfacli.batch import Status
from wfacli.config import FreeEnds, Limits, Mode
from wfacli.dispatch import Route
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.rescue import align_batch
from wfacli.estimate import with_estimates
from wfacli.forecast import BITS, CAPPED, CPU_KERNELS, DIFFERENCE, LINEAR, READS, STRIPES, TABLE
from wfacli.io.memory import pairs_of
from wfacli.resorts import is_final, last_tries
from wfacli.stats import Stats

ENDS = {Mode.ENDS_FREE: (2, 1, 3, 2)}
TABLES, CHECKPOINTS = (1, 64, 512, 2048, 8192, 32768), (1, 512, 4096)


def some_pairs(rng):
    found = []
    for length in (1, 3, 7, 7, 7, 12, 40, 150, 400):
        query = pairgen.sequence(rng, length, rng.choice([b"ACGT", b"ACGT", b"ACGTN"]))
        other = pairgen.sequence(rng, rng.randrange(2 * length + 1), b"ACGT")
        found.append(
            (query, rng.choice([other, *(pairgen.mutated(rng, query, b"ACGT", e) for e in (0.05, 0.3, 0.8))]))
        )
    return found


@pytest.mark.parametrize("rule", ["mismatch", "wildcard", "literal"])
@pytest.mark.parametrize(
    ("mode", "bounded"),
    [*((mode, False) for mode in Mode), (Mode.GLOBAL, True), (Mode.HW, True), (Mode.ENDS_FREE, True)],
)
def test_one_pair_alone_is_aligned_like_one_of_many(mode, rule, bounded):
    """Pairs of 7 bases had MEMORY_LIMIT alone that bits-64 aligned in a batch, and others the other way round."""
    rng = random.Random(seed_of(mode, rule, bounded))
    seen = set()
    for _ in range(40 * TIMES):
        metric, penalties, match = rng.choice(SCHEMES)
        if mode in (Mode.OVERLAP, Mode.EXTENSION):
            match = match or 1
        if bounded and match:
            continue
        limits = Limits(table=rng.choice(TABLES), checkpoints=rng.choice(CHECKPOINTS))
        options = {"metric": metric, "penalties": penalties, "match": match, "mode": mode, "ambiguous": rule}
        options |= {"limits": limits, "score_only": rng.random() < 0.3, "max_cost": 20 if bounded else None}
        options |= {"free": ENDS[mode]} if mode in ENDS else {}
        pairs = some_pairs(rng)
        with wfacli.Aligner(**options, threads=1) as aligner, wfacli.Aligner(**options | {"limits": None}) as ample:
            many = list(aligner.align_batch(*zip(*pairs, strict=True)))
            for pair, of_many in zip(pairs, many, strict=True):
                alone, one = aligner.align(*pair), aligner.align_batch(*([s] for s in pair))[0]
                assert alone.status == of_many.status == one.status, (options, pair)
                assert alone == of_many == one, (options, pair)
                assert not alone.aligned or alone == ample.align(*pair), (options, pair)
                seen.add(alone.status)
    assert {Status.OK, Status.MEMORY_LIMIT} <= seen


@pytest.mark.parametrize("mode", list(Mode))
def test_what_is_given_up_no_kernel_aligns(mode):
    rng = random.Random(seed_of("no kernel", mode))
    unaligned = 0
    for _ in range(12 * TIMES):
        scheme = rng.choice([s for s in SCHEMES if s[2] or mode not in (Mode.OVERLAP, Mode.EXTENSION)])
        spec = spec_for(scheme, mode, FreeEnds(*ENDS[mode]) if mode in ENDS else None)
        limits = Limits(table=rng.choice(TABLES), checkpoints=rng.choice(CHECKPOINTS))
        pairs = with_estimates(pairs_of(*zip(*some_pairs(rng), strict=True)), spec)
        engine = CpuEngine(spec, limits, 1)
        found = align_batch(engine, pairs, spec, limits, Stats())
        for row in np.flatnonzero(found.status).astype(np.int32):
            unaligned += 1
            assert found.status[row] == Status.MEMORY_LIMIT
            for kernel in CPU_KERNELS:
                part = engine.collect(engine.submit(pairs, Route(np.array([row], np.int32), kernel)))
                assert part.status[0], (spec, limits, kernel, row)
        engine.close()
    assert unaligned


def test_every_kernel_is_tried_once():
    spec = spec_for(SCHEMES[0])
    tries = last_tries(spec, ("bits-64", STRIPES, LINEAR), 5, 4)
    assert len({*tries}) == len(tries) and "bits-64" not in dict(tries)
    assert [edits for name, edits in tries if name == STRIPES] == [-1, 4]
    assert [edits for name, edits in tries if name == "bits-128"] == [-1]
    assert [edits for name, edits in last_tries(spec, (STRIPES,), 4, 4) if name == STRIPES] == [-1]
    assert {*resorted(spec, ())} == {*BITS, STRIPES, CAPPED, TABLE, LINEAR}
    assert {*resorted(spec_for(SCHEMES[6], max_cost=3), ())} == {DIFFERENCE, TABLE, LINEAR}
    assert {*resorted(spec_for(SCHEMES[9], Mode.EXTENSION), ())} == {TABLE, LINEAR}
    assert {*resorted(spec_for(SCHEMES[9], Mode.OVERLAP), ())} == {CAPPED, TABLE, LINEAR, DIFFERENCE, READS}


def resorted(spec, tried):
    return [name for name, _ in last_tries(spec, tried, -1, -1)]


def test_a_cost_over_the_user_s_bound_is_an_answer():
    bounded, free = spec_for(SCHEMES[6], max_cost=3), spec_for(SCHEMES[6])
    assert is_final(Status.SCORE_LIMIT, bounded) and not is_final(Status.SCORE_LIMIT, free)
    assert is_final(Status.OK, free) and is_final(Status.DROPPED, free)
    assert not any(is_final(s, bounded) for s in (Status.MEMORY_LIMIT, Status.UNSUPPORTED, Status.LENGTH_LIMIT))
