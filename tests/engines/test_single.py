"""Pairs aligned one at a time: the first kernel, how often it is chosen anew, and retries.

The answers are tested in tests/unit.
"""

import random

import pytest

from tests import pairgen
from wfacli.config import AlignSpec, FreeEnds, Limits, Metric, Mode, Penalties
from wfacli.core.batch import Status
from wfacli.engines.single import SingleEngine
from wfacli.errors import InputError
from wfacli.plan.kernels import CAPPED, CPU_KERNELS, DIFFERENCE, INSIDE, TABLE


class Watched(SingleEngine):
    """An engine that records its choices and its failures."""

    def __init__(self, mode=Mode.GLOBAL, metric=Metric.AFFINE, limits=None, **more):
        spec = AlignSpec(metric, Penalties.of(metric, None, 0), mode=mode, free=FreeEnds.of(mode), **more)
        super().__init__(spec, limits or Limits())
        self.first, self.failed = [], []

    def first_kernel(self, pair, query, target):
        number = super().first_kernel(pair, query, target)
        self.first.append(CPU_KERNELS[number])
        return number

    def further(self, pair, kernel, status):
        self.failed.append((CPU_KERNELS[kernel], Status(status)))
        return super().further(pair, kernel, status)


def sequence(length, seed=1):
    return pairgen.sequence(random.Random(seed), length, b"ACGT")


def test_a_kind_of_pair_is_asked_for_once():
    engine = Watched()
    for seed in range(20):
        symbols = sequence(150 - seed % 4, seed)
        assert engine.align(symbols, symbols) == (0, f"{len(symbols)}=", 0, (0, len(symbols)) * 2, True, Status.OK)
    assert engine.first == [CAPPED]
    symbols = sequence(150)
    others = (sequence(400), symbols[:75] + symbols[90:], b"N" + symbols[1:])
    for number, other in enumerate(others, 2):
        for _ in range(3):
            engine.align(symbols, other)
        assert len(engine.first) == number


def test_far_targets_are_looked_through():
    engine = Watched(Mode.SEMIGLOBAL, Metric.EDIT)
    query = sequence(150)
    near, far = (sequence(n, 2) + query + sequence(n, 3) for n in (20, 400))
    for target in (near, far, near, far):
        assert engine.align(query, target)[0] == 0
    assert len(engine.first) == 2 and engine.first[0] != INSIDE and engine.first[1] == INSIDE


def test_long_queries_with_free_ends_are_estimated_each_by_itself():
    engine = Watched(Mode.SEMIGLOBAL)
    clean = sequence(3000)
    noisy = pairgen.mutated(random.Random(5), clean, b"ACGT", 0.2)
    for query in (clean, noisy, clean):
        engine.align(query, clean + sequence(50, 4))
    assert engine.first == [TABLE, DIFFERENCE, TABLE]


def test_a_pair_beyond_its_first_kernel_has_another():
    ample, scarce = (Watched(Mode.SEMIGLOBAL, Metric.EDIT, limits) for limits in (None, Limits(table=20_000)))
    query = sequence(1000)
    target = sequence(200, 2) + pairgen.mutated(random.Random(6), query, b"ACGT", 0.2) + sequence(200, 3)
    answer = scarce.align(query, target)
    assert answer == ample.align(query, target) and answer[5] is Status.OK
    assert scarce.first == [TABLE] and scarce.failed == [(TABLE, Status.MEMORY_LIMIT)]


def test_there_may_be_no_alignment():
    engine = Watched(max_cost=3)
    none = engine.align("ACGT", "TTTT")
    assert none == (-(1 << 31), "*", -1, (0, 0, 0, 0), False, Status.SCORE_LIMIT) and none[5] is Status.SCORE_LIMIT
    assert engine.align("ACGT", "ACGT")[5] is Status.OK


@pytest.mark.parametrize(("query", "target", "side"), [("AC T", "ACGT", "query"), ("ACGT", b"AC\nT", "target")])
def test_the_sequence_to_blame_is_named(query, target, side):
    with pytest.raises(InputError, match=f"{side}.*pair1"):
        Watched().align(query, target)


def test_what_goes_wrong_in_a_choice_is_told():
    class Failing(Watched):
        def first_kernel(self, pair, query, target):
            raise RuntimeError("no kernel")

    with pytest.raises(RuntimeError, match="no kernel"):
        Failing().align("ACGT", "ACGT")
    for number in (-1, 99):
        Failing.first_kernel = lambda *_, number=number: number
        with pytest.raises(IndexError):
            Failing().align("ACGT", "ACGT")
