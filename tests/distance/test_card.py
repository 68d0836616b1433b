"""Runs whose algorithms are on a card: an emulated one, opened when it is worth it and given back."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from tests.pairgen import mutated, sequence
from wfacli.config import EngineName
from wfacli.distance.card import CardOnDemand
from wfacli.distance.choose import Choice, Means
from wfacli.distance.run import DistanceRun, Watchers
from wfacli.distance.solver import Pair
from wfacli.errors import DeviceError

from .solvers import edit_distance, pair_of


class Cards:
    """How often a card was opened, and the ones that were."""

    def __init__(self, broken=False):
        self.broken, self.asked, self.drivers = broken, 0, []

    def __call__(self):
        self.asked += 1
        if self.broken:
            raise DeviceError("there is no card")
        self.drivers.append(EmulatedDriver(multiprocessors=132))
        return self.drivers[-1]


def run(pair, engine, kind=None, estimate=None, most=None, cards=None):
    cards = cards or Cards()
    card = CardOnDemand(cards)
    try:
        choice = Choice(Means(1, card), engine, kind)
        return DistanceRun(pair, most, choice, estimate, Watchers()).run()
    finally:
        for driver in cards.drivers:
            assert not leaks(driver)
        card.close()
        card.close()


def some_pair(length=700, error=0.1):
    rng = random.Random(length)
    target = sequence(rng, length, b"ACGT")
    query = mutated(rng, target, b"ACGT", error)
    return pair_of(query, target), edit_distance(query, target)


@pytest.mark.parametrize("kind", ["wavefront", "bits"])
@pytest.mark.parametrize("estimate", [None, 1, 60, 5000])
def test_algorithms_of_a_card(kind, estimate):
    pair, wanted = some_pair()
    outcome = run(pair, EngineName.GPU, kind, estimate)
    assert outcome.distance == wanted and outcome.algorithm == f"gpu-{kind}"
    assert run(pair, EngineName.GPU, kind, estimate, most=wanted - 1).distance is None


def test_small_pairs_open_no_card():
    pair, wanted = some_pair()
    cards = Cards()
    for estimate in (None, 60):
        assert run(pair, EngineName.AUTO, estimate=estimate, cards=cards).distance == wanted
    assert not cards.asked


def test_large_pairs_open_one():
    letters = np.zeros(3_000_000, np.uint8)
    pair, cards = Pair(letters, letters, False), Cards()
    choice = Choice(Means(1, CardOnDemand(cards)), EngineName.AUTO)
    assert choice.first(pair, 300_000).engine is EngineName.GPU and cards.asked == 1
    assert choice.first(pair, None).name == "gpu-wavefront"
    assert choice.first(pair, 10).engine is EngineName.CPU
    wavefront = choice.named("cpu-wavefront")
    assert choice.instead(wavefront, pair, 100_000, 10.0, None, None).engine is EngineName.GPU
    cards.drivers[0].close()


def test_without_a_card():
    pair, wanted = some_pair()
    cards = Cards(broken=True)
    with pytest.raises(DeviceError, match="there is no card"):
        run(pair, EngineName.GPU, cards=cards)
    big = Pair(np.zeros(3_000_000, np.uint8), np.zeros(3_000_000, np.uint8), False)
    choice = Choice(Means(1, CardOnDemand(cards)), EngineName.AUTO)
    for _ in range(3):
        assert choice.first(big, 300_000).engine is EngineName.CPU
    assert cards.asked == 2, "a card that has failed is asked once"
    assert run(pair, EngineName.AUTO, cards=cards).distance == wanted


def test_lines_go_to_wavefronts():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 1000, 300).astype(np.uint32)
    b = np.delete(a, [5, 100, 200])
    outcome = run(Pair(a, b, False), EngineName.GPU)
    assert outcome.distance == 3 and outcome.algorithm == "gpu-wavefront"
