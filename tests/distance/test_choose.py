"""The choice of the algorithm for a pair, and when to switch to another one."""

from __future__ import annotations

import numpy as np
import pytest

from wfacli.config import EngineName
from wfacli.errors import DeviceError, UsageError
from wfacli.solve.base import Pair
from wfacli.solve.distance.choose import ALGORITHMS, AlgorithmChoice, Resources

from .solvers import Clock, Table, pair_of

PAIR = pair_of(b"ACGT" * 250, b"ACGT" * 240)
MEANS = Resources(2)
ON_CPU = [a for a in ALGORITHMS if a.engine is EngineName.CPU]


def choice(kind=None, **options):
    return AlgorithmChoice(MEANS, EngineName.AUTO, kind, Table(Clock(), 1, **options).algorithms)


def test_the_soonest_is_first():
    both = choice(bits=lambda edits: 10_000.0)
    assert both.first(PAIR, 99).name == "cpu-wavefront"
    assert both.first(PAIR, 101).name == "cpu-bits"
    # The lengths differ by 40 bases, so the distance is at least 40, whatever the estimate.
    assert choice(bits=lambda edits: 1_000.0).first(PAIR, 0).name == "cpu-bits"


def test_without_an_estimate_a_wavefront_shows_how_it_grows():
    both = choice(bits=lambda edits: 0.0)
    assert both.first(PAIR, None).name == "cpu-wavefront"
    assert choice("bits").first(PAIR, None).name == "cpu-bits"


def test_a_kind_that_is_asked_for_stays():
    for kind in ("wavefront", "bits"):
        only = choice(kind, bits=lambda edits: 0.0)
        assert only.first(PAIR, 1).name == only.first(PAIR, 900).name == f"cpu-{kind}"
        assert only.faster_alternative(only.first(PAIR, 1), PAIR, 500, 1e6, None, None) is None


def test_an_algorithm_that_cannot_take_the_symbols():
    wide = Pair(np.arange(300, dtype=np.uint32), np.arange(300, dtype=np.uint32), False)
    both = choice(bits=lambda edits: 0.0)
    wavefront = both.first(wide, 300)
    assert wavefront.name == "cpu-wavefront"
    assert both.faster_alternative(wavefront, wide, 200, 1e6, None, None) is None
    with pytest.raises(UsageError, match="256 different lines"):
        choice("bits").first(wide, 300)


def test_what_is_not_there():
    with pytest.raises(UsageError, match="there are bits, wavefront"):
        choice("magic")
    with pytest.raises(DeviceError, match="--engine gpu"):
        AlgorithmChoice(MEANS, EngineName.GPU, None, Table(Clock(), 1).algorithms)
    assert choice().named("cpu-bits").name == "cpu-bits"
    with pytest.raises(UsageError, match="the checkpoint is of cpu-wavefront"):
        choice("bits").named("cpu-wavefront")


def test_leaves_a_wavefront_when_the_rest_would_take_longer():
    both = choice(bits=lambda edits: edits / 11)
    wavefront, bits = both.named("cpu-wavefront"), both.named("cpu-bits")
    # 100 edits took 10 s and 200 are expected: 30 s remain, more than 1.5 times the 18 s of bits.
    assert both.faster_alternative(wavefront, PAIR, 100, 10.0, 200, None) is bits
    # 100 edits took 6 s: 18 s remain.
    assert both.faster_alternative(wavefront, PAIR, 100, 6.0, 200, None) is None
    # Without an estimate, or with one that is too low, expect 141 edits, which take as long again.
    for estimate in (None, 50, 100):
        assert both.faster_alternative(wavefront, PAIR, 100, 13.0, estimate, None) is bits
        assert both.faster_alternative(wavefront, PAIR, 100, 12.8, estimate, None) is None
    assert both.faster_alternative(wavefront, PAIR, 0, 1e6, None, None) is None
    assert both.faster_alternative(bits, PAIR, 100, 1e6, 200, None) is None


def test_believes_growth_but_not_for_ever():
    both = choice(bits=lambda edits: edits / 11)
    wavefront, bits = both.named("cpu-wavefront"), both.named("cpu-bits")
    assert both.faster_alternative(wavefront, PAIR, 100, 10.0, None, 200.0) is bits
    assert both.faster_alternative(wavefront, PAIR, 100, 10.0, 200, 110.0) is bits
    # By growth the end is near; this prediction is trusted for up to twice the time of bits.
    assert both.faster_alternative(wavefront, PAIR, 100, 25.6, None, 101.0) is None
    assert both.faster_alternative(wavefront, PAIR, 100, 25.8, None, 101.0) is bits


def test_a_machine_that_is_busy_is_so_for_every_algorithm():
    # The wavefront's model says 10 s.
    both = choice(bits=lambda edits: edits / 11, wavefront=lambda edits: edits**2 / 1000)
    wavefront, bits = both.named("cpu-wavefront"), both.named("cpu-bits")
    assert both.faster_alternative(wavefront, PAIR, 100, 10.0, 200, None) is bits
    assert both.faster_alternative(wavefront, PAIR, 100, 20.0, 180, None) is None
    # A slowdown of 10 is no longer attributed to the machine, but to the algorithm.
    assert both.faster_alternative(wavefront, PAIR, 100, 100.0, 180, None) is bits


def test_models_have_the_shapes_of_the_algorithms():
    def seconds(kind, length, edits, threads=2):
        symbols = np.zeros(length, np.uint8)
        (found,) = (
            a.seconds(Pair(symbols, symbols, True), edits, Resources(threads)) for a in ON_CPU if a.kind == kind
        )
        return found

    assert seconds("wavefront", 10**7, 4e4) > 8 * seconds("wavefront", 10**7, 1e4)
    assert 2 < seconds("bits", 10**7, 4e4) / seconds("bits", 10**7, 1e4) < 6
    assert seconds("bits", 10**7, 1e4, 2) < seconds("bits", 10**7, 1e4, 1)
    # The wavefront is always slower for unrelated sequences, and always faster for nearly equal ones.
    for length in (10**4, 10**6, 10**8):
        assert seconds("bits", length, 0.53 * length) < seconds("wavefront", length, 0.53 * length)
        assert seconds("bits", length, 1e-4 * length) > seconds("wavefront", length, 1e-4 * length)
