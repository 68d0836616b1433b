"""The distance of each algorithm, run by the controller, against plain dynamic programming."""

from __future__ import annotations

import random

import pytest

from wfacli.config import EngineName
from wfacli.solve.distance.choose import ALGORITHMS, AlgorithmChoice, Resources
from wfacli.solve.distance.run import DistanceRun
from wfacli.solve.watchers import Watchers

from .solvers import edit_distance, pair_of

ON_CPU = [a for a in ALGORITHMS if a.engine is EngineName.CPU]


def changed(symbols, text, rate, alphabet):
    found = bytearray()
    for byte in text:
        kind = symbols.random() / rate if rate else 9
        found += b"" if kind < 1 / 3 else bytes([symbols.choice(alphabet)]) if kind < 2 / 3 else bytes([byte])
        found += bytes([symbols.choice(alphabet)]) if 2 / 3 < kind < 1 else b""
    return bytes(found)


def pairs():
    symbols = random.Random(5)
    for alphabet in (b"ACGT", b"AC", bytes(range(256))):
        for length in (0, 1, 2, 7, 63, 64, 65, 130, 300):
            for rate in (0, 0.02, 0.2, 1):
                a = bytes(symbols.choices(alphabet, k=length))
                yield a, changed(symbols, a, rate, alphabet)
    yield b"A" * 200, b"C" * 150


@pytest.mark.parametrize("algorithm", ON_CPU, ids=lambda a: a.name)
def test_distances(algorithm):
    choice = AlgorithmChoice(Resources(2), kind=algorithm.kind, algorithms=[algorithm])
    for a, b in pairs():
        expected = edit_distance(a, b)
        for most in {None, expected, expected + 1, expected // 2, max(expected - 1, 0)}:
            found = DistanceRun(pair_of(a, b), most, choice, None, Watchers()).run().distance
            assert found == (expected if most is None or most >= expected else None), (a, b, most)
