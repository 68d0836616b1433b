"""Memory limits too small for most kernels: the last one aligns every short pair, alone or in a batch."""

import random

import pytest

import wfacli
from tests import pairgen
from tests.engines.agreement import SCHEMES, TIMES, seed_of
from wfacli.config import Limits, Mode
from wfacli.core.batch import Status

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
    [*((mode, False) for mode in Mode), (Mode.GLOBAL, True), (Mode.SEMIGLOBAL, True), (Mode.ENDS_FREE, True)],
)
def test_one_pair_alone_is_aligned_like_one_of_many(mode, rule, bounded):
    """A pair gets the same status alone and in a batch.

    Regression test: pairs of 7 bases failed with MEMORY_LIMIT alone that bits-64 aligned in a batch, and vice versa.
    """
    rng = random.Random(seed_of(mode, rule, bounded))
    for _ in range(25 * TIMES):
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
                assert alone.aligned or (bounded and alone.status == Status.SCORE_LIMIT), (options, pair)
