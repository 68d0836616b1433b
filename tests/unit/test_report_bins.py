"""Bins of a report's histograms beside the native ones, and quantiles, bars and depth beside what they are made of."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wfacli._native import BatchFigures, length_bin
from wfacli.report import bins
from wfacli.report.charts import linear_ticks, log_ticks
from wfacli.report.depth import MAX_WINDOWS, Depth
from wfacli.report.words import length, percent, percentage, seconds, short


def histogram(lengths):
    found = np.zeros(len(bins.EDGES) - 1, np.int64)
    np.add.at(found, [length_bin(one) for one in lengths], 1)
    return found


def sampled(seed, longest, count=500):
    rng = np.random.default_rng(seed)
    return np.sort((longest ** rng.random(count)).astype(np.int64))


def test_edges_are_those_of_the_native_bins():
    assert len(BatchFigures().counts()["query_lengths"]) == len(bins.EDGES) - 1
    assert len(BatchFigures().counts()["identity"]) == bins.IDENTITIES + 1
    inner = bins.EDGES[:-1].tolist()
    assert [length_bin(edge) for edge in inner] == list(range(len(inner)))
    assert [length_bin(edge - 1) for edge in inner[1:]] == list(range(len(inner) - 1))
    assert length_bin(2**31 - 1) == length_bin(2**40) == len(inner) - 1
    widths = np.diff(bins.EDGES)
    assert (widths[1024:] <= bins.EDGES[1024:-1] / 64).all()


@pytest.mark.parametrize("longest", [900, 30_000, 5_000_000])
def test_quantiles_and_n50_are_those_of_all_lengths(longest):
    lengths = sampled(1, longest)
    found, bases = histogram(lengths), np.zeros(len(bins.EDGES) - 1, np.int64)
    np.add.at(bases, [length_bin(one) for one in lengths], lengths)
    near = 0.016 if longest > 1023 else 0
    for share in (0.001, 0.25, 0.5, 0.9, 1):
        exact = lengths[math.ceil(share * len(lengths)) - 1]
        assert bins.quantile(found, share) == pytest.approx(exact, rel=near, abs=0)
        assert bins.quantile(found, share, bases) == pytest.approx(exact, rel=near, abs=0)
    n50 = max(one for one in lengths if 2 * lengths[lengths >= one].sum() >= lengths.sum())
    assert bins.n50(found, bases) == pytest.approx(n50, rel=near, abs=0)
    assert bins.extremes(found) == (lengths[0], pytest.approx(lengths[-1], rel=near, abs=0))


@pytest.mark.parametrize("lengths", [[150], [0], [0, 0, 7], [1023, 1024], [10_000, 10_050], [2**31 - 1], [5, 2**20]])
def test_bars_of_few_lengths_hold_all_of_them(lengths):
    shown = bins.bars(histogram(lengths))
    assert shown.counts.sum() == len(lengths)
    assert (np.diff(shown.edges) > 0).all()
    assert np.isin(shown.edges, bins.EDGES).all()
    for one in set(lengths) - {0}:
        at = np.searchsorted(shown.edges, one, side="right") - 1
        assert shown.counts[at] >= lengths.count(one)


@pytest.mark.parametrize("longest", [40, 900, 3000, 10**6, 2 * 10**9])
@pytest.mark.parametrize("linear", [False, True])
def test_bars_count_the_lengths_between_their_edges(longest, linear):
    lengths = sampled(2, longest)
    shown = bins.bars(histogram(lengths), linear=linear)
    assert len(shown.counts) <= 52
    assert shown.logarithmic is (not linear and longest > 80)
    assert shown.counts.tolist() == np.histogram(lengths, shown.edges)[0].tolist()
    upto = bins.bars(histogram(lengths), linear=linear, upto=0.9)
    assert upto.counts.sum() == len(lengths)
    assert upto.beyond == (lengths >= upto.edges[-1]).sum()
    assert upto.beyond or longest < 80


def test_identity_bars_reach_to_one_and_hold_all():
    for low in (0, 3000, 9500, 9979, 9990, 10_000):
        found = np.zeros(bins.IDENTITIES + 1, np.int64)
        found[low::3] = 1
        found[10] += 1
        begin, counts = bins.identity_bars(found)
        assert counts.sum() == found.sum()
        assert 20 <= len(counts) <= 41 or low == 10
        assert begin <= bins.identity_quantile(found, 0.01)
        assert counts[-1] >= found[-1]


def test_identity_quantiles():
    found = np.zeros(bins.IDENTITIES + 1, np.int64)
    assert math.isnan(bins.identity_quantile(found, 0.5))
    found[[9000, 9500, 10_000]] = 1
    assert [bins.identity_quantile(found, share) for share in (0.3, 0.5, 1)] == [0.9, 0.95, 1]


@pytest.mark.parametrize("lengths", [[1], [1000], [7, 0, 1200, 499, 500, 501], [300] * 600])
def test_depth_is_that_of_every_base(lengths, monkeypatch):
    monkeypatch.setattr("wfacli.report.depth._ALL_WINDOWS", 5000)
    rng = np.random.default_rng(len(lengths))
    depth = Depth(np.array(lengths, np.int64))
    bases = [np.zeros(length, np.int64) for length in lengths]
    for _ in range(3):  # batches
        targets = np.array([t for t in rng.integers(0, len(lengths), 40) if lengths[t]], np.int32)
        begins = np.array([rng.integers(0, lengths[t]) for t in targets], np.int64)
        ends = np.array([rng.integers(b, lengths[t]) + 1 for t, b in zip(targets, begins, strict=True)], np.int64)
        depth.add(targets, begins, ends)
        for target, begin, end in zip(targets, begins, ends, strict=True):
            bases[target][begin:end] += 1
    assert depth.aligned_bases().tolist() == [one.sum() for one in bases]
    for target in range(min(len(lengths), 20)):
        sizes, aligned = depth.profile(target)
        assert sizes.sum() == lengths[target]
        assert len(sizes) <= min(MAX_WINDOWS, max(5000 // len(lengths), 1))
        pieces = np.split(bases[target], np.cumsum(sizes)[:-1]) if lengths[target] else []
        assert aligned.tolist() == [piece.sum() for piece in pieces]


def test_memory_of_depth_is_bounded():
    assert Depth(np.full(3366, 10**6, np.int64)).first[-1] <= (1 << 18) + 3366
    assert Depth(np.full(500_000, 1000, np.int64)).first[-1] == 1_000_000


def test_ticks_are_few_round_and_inside():
    assert linear_ticks(0, 1000, lambda v: f"{v:g}")[1] == (0.2, "200")
    for low, high in ((1, 30_000_000), (1, 90), (95, 210), (1, 2)):
        for ticks in (log_ticks(low, high, str), linear_ticks(low, high, str)):
            assert 1 <= len(ticks) <= 7
            assert all(0 <= at <= 1 for at, _ in ticks)


def test_words():
    assert [short(v) for v in (0, 7, 0.0214, 999.4, 999.6, 1234, 15_091_295)] == [
        "0", "7", "0.0214", "999", "1 k", "1.23 k", "15.1 M"]  # fmt: skip
    assert [percentage(v) for v in (0, 1, 0.00001, 0.999999, 0.9566, 0.5)] == [
        "0%", "100%", "<0.01%", ">99.99%", "95.66%", "50%"]  # fmt: skip
    assert percent(1, 0) == "–"
    assert [length(v, "base") for v in (1, 384, 2716)] == ["1 base", "384 bases", "2.72 kb"]
    assert length(2716, "residue") == "2.72 k residues"
    assert [seconds(v) for v in (1e-5, 0.0123, 3.4, 600, 7200)] == ["<1 ms", "12.3 ms", "3.4 s", "10 min", "2 h"]
