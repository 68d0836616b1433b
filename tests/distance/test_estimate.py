"""Accuracy of the estimate of a long pair's distance: real pairs, and features that sampling alone misses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.test_real_sets import pairs_of_set
from wfacli._native import estimate_long
from wfacli.solve.base import Pair
from wfacli.solve.distance.cpu import CpuBits

from .solvers import edit_distance, solved

REAL = {
    "long_mt_human_orang": 3_315,
    "long_mpxv": 6_832,
    "long_lpa_human": 12_160,
    "long_ont_500k": 39_743,
    "long_hpylori_puno120_sjm180": 333_283,
    "long_ecoli_dh1_mg1655": 28_152,
}
NEAR = 1.25


def symbols(rng, count, alphabet=b"ACGT"):
    return np.frombuffer(alphabet, np.uint8)[rng.integers(0, len(alphabet), count)]


def changed(rng, text, rate, alphabet=b"ACGT"):
    kind = rng.random(len(text)) / max(rate, 1e-9)
    other = np.where(kind < 1 / 3, symbols(rng, len(text), alphabet), text)
    copies = np.where((kind > 1 / 3) & (kind < 2 / 3), 0, np.where((kind > 2 / 3) & (kind < 1), 2, 1))
    return np.repeat(other, copies)


def ratio(a, b):
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    true = solved(CpuBits(Pair(a, b, False), None, 2))
    return estimate_long(a, b) / max(true, 1)


@pytest.mark.parametrize("name", REAL)
def test_real_pairs(name):
    ((query, target),) = pairs_of_set(name, 1)
    found = estimate_long(np.frombuffer(query.upper(), np.uint8), np.frombuffer(target.upper(), np.uint8))
    assert REAL[name] / NEAR < found < REAL[name] * NEAR


@pytest.mark.parametrize("rate", [0.0005, 0.01, 0.1, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("count", [300, 5_000, 60_000])
def test_edits_all_over(rate, count):
    rng = np.random.default_rng(round(count * (1 + rate)))
    a = symbols(rng, count)
    b = changed(rng, a, rate) if rate < 1 else symbols(rng, count)
    assert ratio(a, b) == 0 if np.array_equal(a, b) else 1 / NEAR < ratio(a, b) < NEAR


def test_big_differences_between_places():
    rng = np.random.default_rng(1)
    a = symbols(rng, 200_000)
    b = np.concatenate([a[:50_700], symbols(rng, 6_100), a[50_700:121_000], a[128_500:]])
    assert 1 / NEAR < ratio(a, b) < NEAR  # an insertion and a deletion
    assert 1 / NEAR < ratio(changed(rng, a, 0.01), b) < NEAR  # and scattered edits
    moved = np.concatenate([a[:30_000], a[45_000:150_000], a[30_000:45_000], a[150_000:]])
    assert 1 / NEAR < ratio(a, moved) < NEAR
    other = np.concatenate([a[:80_000], symbols(rng, 9_000), a[89_000:]])
    assert 1 / NEAR < ratio(a, other) < NEAR


def test_repeats_do_not_lead_astray():
    rng = np.random.default_rng(2)
    element, a = symbols(rng, 2_500), symbols(rng, 300_000)
    for at in (20_000, 90_000, 150_000, 270_000):
        a[at : at + 2_500] = element
    b = np.delete(changed(rng, a, 0.002), np.arange(91_000, 93_000))
    assert 1 / NEAR < ratio(a, b) < NEAR
    unit = symbols(rng, 5_500)
    copies = [np.concatenate([changed(rng, unit, 0.02) for _ in range(n)]) for n in (12, 9)]
    x, y = (np.concatenate([a[:60_000], copy, a[60_000:120_000]]) for copy in copies)
    assert 1 / NEAR < ratio(x, changed(rng, y, 0.01)) < NEAR


def test_other_symbols():
    rng = np.random.default_rng(3)
    everything = bytes(range(256))
    for alphabet in (b"A", b"AB", everything[:20], everything):
        a = symbols(rng, 9_000, alphabet)
        assert 1 / NEAR < ratio(a, changed(rng, a, 0.05, alphabet)) < NEAR or len(alphabet) == 1
        assert 0.75 < ratio(a, symbols(rng, 9_000, alphabet)) < NEAR or len(alphabet) == 1
        assert estimate_long(a, a) == 0


def test_short_pairs_and_bounds():
    rng = np.random.default_rng(4)
    for _ in range(300):
        a = symbols(rng, rng.integers(0, 90), b"ACGT"[: rng.integers(1, 5)])
        b = changed(rng, a, rng.random()) if rng.random() < 0.7 else symbols(rng, rng.integers(0, 90))
        found = estimate_long(np.ascontiguousarray(a), np.ascontiguousarray(b))
        assert abs(len(a) - len(b)) <= found <= max(len(a), len(b))
        true = edit_distance(a.tolist(), b.tolist())
        # The sampled path is an alignment as long as it does not lose track.
        assert found >= true or found == pytest.approx(true, abs=0.35 * max(len(a), len(b)))
        assert found <= 1.6 * true + 3


def test_the_same_every_time():
    rng = np.random.default_rng(5)
    a = symbols(rng, 40_000)
    b = np.ascontiguousarray(changed(rng, a, 0.15))
    assert len({estimate_long(a, b) for _ in range(3)}) == 1


def test_what_it_does_not_take():
    with pytest.raises(TypeError):
        estimate_long(np.zeros(3, np.uint32), np.zeros(3, np.uint32))
