"""The path of one long pair on the emulated GPU is canonical, whatever the segments and their groups."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from tests.emulation.test_long_wavefront import symbols_of
from tests.oracles import EDIT, canonical, canonical_plain
from tests.pairgen import KINDS, mutated, pair, random_pairs, sequence
from wfacli.core.cigar import to_text
from wfacli.errors import DeviceError, OutOfDeviceMemory
from wfacli.gpu.kernels import long_path as sizes
from wfacli.gpu.kernels.long_bits import Shape
from wfacli.solve.gpu import segments as gpu_segments
from wfacli.solve.gpu.path import METHODS, find_path, forecast
from wfacli.solve.gpu.path_fronts import FrontsPath
from wfacli.solve.gpu.path_stripes import StripesPath
from wfacli.solve.gpu.segments import joined

ONE, TWO, BYTES = Shape(2, 1), Shape(2, 2), Shape(8, 1)
LITERAL = "literal"


def walked(query: bytes, target: bytes) -> tuple[int, str]:
    """Return the distance and the canonical CIGAR, from the costs of all suffixes, row by row."""
    a, b = np.frombuffer(query, np.uint8), np.frombuffer(target, np.uint8)
    m, n = len(a), len(b)
    place = np.arange(n, -1, -1)  # target bases left
    costs = np.empty((m + 1, n + 1), np.int32)
    costs[m] = place
    for i in range(m - 1, -1, -1):
        best = np.append(np.minimum(costs[i + 1, :-1] + 1, costs[i + 1, 1:] + (b != a[i])), m - i)
        costs[i] = (np.minimum.accumulate((best - place)[::-1]))[::-1] + place
    i, j, operations = 0, 0, []
    while i < m or j < n:
        if i < m and costs[i, j] == costs[i + 1, j] + 1:
            operations.append(1)
            i += 1
        elif j < n and costs[i, j] == costs[i, j + 1] + 1:
            operations.append(2)
            j += 1
        else:
            operations.append(7 if a[i] == b[j] else 8)
            i, j = i + 1, j + 1
    runs = np.array(operations, np.uint32)
    return int(costs[0, 0]), to_text(joined([runs | np.uint32(1 << 4)]))


def test_the_oracle_is_the_oracle():
    for query, target in random_pairs(1, 40, 30, b"ACG"):
        if query or target:
            assert walked(query, target) == canonical_plain(query, target, EDIT)


class Gpu(EmulatedDriver):
    """A GPU that must have no allocations left when it is closed."""

    def __enter__(self):
        return self

    def __exit__(self, *what):
        assert not leaks(self)
        self.close()


def path(make, query, target, distance, planes=2, order=0, memory=1 << 29, **more):
    with Gpu(order=order) as driver:
        way = make(driver, symbols_of(query, target, planes), distance, memory, **more)
        try:
            return to_text(joined(way.find(lambda: None)))
        finally:
            way.close()


def check(make, query, target, **more):
    distance, cigar = walked(query, target)
    if distance:
        assert path(make, query, target, distance, **more) == cigar, (query, target, more)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("make", [StripesPath, FrontsPath])
def test_small_pairs(make, order):
    for query, target in random_pairs(order, 25, 120, b"ACGT"):
        if query and target:
            check(make, query, target, order=order)


@pytest.mark.parametrize("make", [StripesPath, FrontsPath])
def test_any_symbols(make):
    for query, target in random_pairs(3, 12, 120, bytes(range(256))):
        if query and target:
            check(make, query, target, planes=8)


@pytest.mark.parametrize("rows", [1023, 1024, 1025, 2049, 4097])
@pytest.mark.parametrize("shape", [ONE, TWO], ids=["one", "two"])
def test_edges_of_stripes(rows, shape):
    rng = random.Random(rows)
    for error, kind in ((0.01, "uniform"), (0.2, "insertions"), (0.3, "deletions")):
        query = sequence(rng, rows, b"ACGT")
        target = mutated(rng, query, b"ACGT", error, kind)
        for every, group in ((4, 0), (12, 1 + rows % 2)):
            check(StripesPath, query, target, shape=shape, every=every, group=group, order=rows % 2)


@pytest.mark.parametrize("scores", [16, 32, 64])
@pytest.mark.parametrize("group", [0, 1, 3])
def test_edges_of_segments(scores, group):
    rng = random.Random(scores + group)
    for edits in (scores - 1, scores, scores + 1, 3 * scores):
        query = sequence(rng, 1500, b"ACGT")
        target = bytearray(query)
        for at in rng.sample(range(1500), edits):
            target[at] = b"ACGT"[b"ACGT".index(target[at]) ^ rng.randint(1, 3)]
        check(FrontsPath, query, bytes(target), scores=scores, group=group, order=group % 2)


@pytest.mark.parametrize("make", [StripesPath, FrontsPath])
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_pairs(make, kind):
    """Test repetitive pairs, with many ties, and unrelated ones, whose segments start at unpredictable places."""
    rng = random.Random(len(kind))
    for alphabet, error in ((b"ACGT", 0.3), (b"AC", 0.6)):
        query, target = pair(rng, 1500, alphabet, error, kind)
        check(make, query, target, group=2)
        check(make, target, query)


@pytest.mark.parametrize("make", [StripesPath, FrontsPath])
def test_long_gaps(make):
    """Test gaps across whole stripes, and longer than segments; in either sequence, at both ends."""
    rng = random.Random(5)
    longer = sequence(rng, 1800, b"ACGT")
    for begin, end in ((0, 40), (900, 940), (1760, 1800), (0, 1100), (600, 1500)):
        shorter = longer[begin:end]
        check(make, longer, shorter)
        check(make, shorter, longer)
        check(make, longer, longer[:begin] + longer[end:], group=6)


def test_guesses_decide_nothing(monkeypatch):
    """Without guesses the path is the same, after more rounds."""
    rng = random.Random(6)
    query = sequence(rng, 5000, b"ACGT")
    target = mutated(rng, query, b"ACGT", 0.05)
    distance, cigar = walked(query, target)
    with Gpu() as driver:
        rounds = []
        for guess in (True, False):
            way = StripesPath(driver, symbols_of(query, target), distance, 1 << 29, shape=ONE)
            if not guess:
                monkeypatch.setattr(way, "_guess_entries", lambda _: None)
            assert to_text(joined(way.find(lambda: None))) == cigar
            rounds.append(way.rounds)
            way.close()
    assert rounds[0] < rounds[1]


def test_walks_that_are_given_up(monkeypatch):
    """If nearly all uncertain walks are abandoned, each round completes one more stripe."""
    monkeypatch.setattr(gpu_segments, "_LIMITS", ())
    monkeypatch.setattr(gpu_segments, "_LAST_LIMIT", 2)
    rng = random.Random(10)
    query = sequence(rng, 5000, b"ACGT")
    target = mutated(rng, query[:1500] + query[2300:], b"ACGT", 0.05)
    distance, cigar = walked(query, target)
    for order in (0, 1):
        with Gpu(order=order) as driver:
            way = StripesPath(driver, symbols_of(query, target), distance, 1 << 29, shape=ONE, every=4)
            way._segments._parts_per_segment = 1
            assert to_text(joined(way.find(lambda: None))) == cigar
            assert way.rounds >= 5
            way.close()


@pytest.mark.parametrize("make", [StripesPath, FrontsPath])
def test_little_memory_takes_groups(make):
    rng = random.Random(7)
    query = sequence(rng, 6200, b"ACGT")
    target = mutated(rng, query, b"ACGT", 0.3)
    distance, cigar = walked(query, target)
    needs = []
    for memory in (1 << 29, {StripesPath: 500_000, FrontsPath: 1_200_000}[make]):
        with Gpu(multiprocessors=1) as driver:
            more = {"shape": ONE} if make is StripesPath else {"scores": 16}
            way = make(driver, symbols_of(query, target), distance, memory, **more)
            assert to_text(joined(way.find(lambda: None))) == cigar
            needs.append((way._plan.group < way._plan.count, driver.most_allocated))
            way.close()
    assert [grouped for grouped, _ in needs] == [False, True]
    assert needs[1][1] < needs[0][1]
    with Gpu() as driver, pytest.raises(OutOfDeviceMemory):
        make(driver, symbols_of(query, target), distance, 1000)


@pytest.mark.parametrize("way", METHODS)
def test_trouble_leaves_nothing_behind(way):
    rng = random.Random(8)
    query = sequence(rng, 1500, b"ACGT")
    target = mutated(rng, query, b"ACGT", 0.1)
    pair, distance = symbols_of(query, target), walked(query, target)[0]
    for call in ("allocate", "launch", "download", "upload", "kernel"):
        for after in (0, 2, 5, 9, 12):
            driver = EmulatedDriver()
            driver.fail(call=call, after=after, error=DeviceError)
            try:
                found = find_path(driver, pair, distance, way, lambda: None)
                assert to_text(found.cigar) == walked(query, target)[1]
            except DeviceError:
                pass
            assert not leaks(driver), (call, after)
            driver.close()


def test_who_looks_may_stop_it():
    class Stop(Exception):
        pass

    def look():
        raise Stop

    rng = random.Random(9)
    query = sequence(rng, 4000, b"ACGT")
    target = mutated(rng, query, b"ACGT", 0.2)
    with Gpu() as driver:
        way = StripesPath(driver, symbols_of(query, target), walked(query, target)[0], 1 << 29, shape=ONE, group=2)
        with pytest.raises(Stop):
            way.find(look)
        way.close()


def test_operations_are_joined():
    longest = (1 << 28) - 1
    pieces = [
        np.array(runs, np.uint32) for runs in ([3 << 4 | 7, 1 << 4 | 8], [], [1 << 4 | 8, 2 << 4 | 7], [9 << 4 | 7])
    ]
    assert to_text(joined(pieces)) == "3=2X11="
    long = [np.array([longest << 4 | 7], np.uint32)] * 3 + [np.array([5 << 4 | 2], np.uint32)]
    assert to_text(joined(long)) == f"{longest}={longest}={longest}=5D"
    assert to_text(joined([*long[:2], np.array([7 << 4 | 7], np.uint32)])) == f"{longest}={longest}=7="
    assert not len(joined([np.zeros(0, np.uint32)]))


def test_forecasts():
    """Few edits are solved with fronts, many with stripes; the same machine takes longer for more edits."""
    with Gpu(multiprocessors=132) as driver:
        symbols = np.zeros(2_000_000, np.uint8)
        pair = symbols_of(symbols, symbols)
        few, many = (forecast(driver.gpu, pair, edits) for edits in (2_000, 900_000))
    assert few[1] == "gpu-fronts" and many[1] == "gpu-stripes" and few[0] < many[0]
    assert {shape.planes for shape in sizes.SHAPES} == {front.planes for front in sizes.FRONTS} == {2, 8}


def test_the_gpu_agrees_with_the_batch_oracle():
    pairs = [p for p in random_pairs(10, 30, 60, b"ACGT") if p[0] and p[1]]
    for (query, target), (cost, cigar) in zip(pairs, canonical(pairs, EDIT, LITERAL), strict=True):
        if cost:
            for make in (StripesPath, FrontsPath):
                assert path(make, query, target, cost) == cigar
