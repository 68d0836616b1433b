"""Compare bidirectional wavefronts over one long pair on the emulated GPU with plain dynamic programming."""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from tests.pairgen import KINDS, edge_pairs, mutated, pair, random_pairs, sequence
from wfacli.errors import OutOfDeviceMemory
from wfacli.gpu.kernels import long_wavefront as sizes
from wfacli.gpu.kernels.long_wavefront import Shape
from wfacli.solve.base import Pair
from wfacli.solve.gpu.bit_planes import Uploader
from wfacli.solve.gpu.wavefront import GpuWavefront, forecast

TINY = Shape(2, diagonals=1, window_scores=2, ghosts=(8, 4))  # many tiles and launches for few bases
SMALL = Shape(2, diagonals=2, window_scores=4, ghosts=(16, 8, 4))
TINY_WIDE = Shape(2, bits=64, diagonals=1, window_scores=2, ghosts=(8, 4))
BUILT = sizes.shape_for(2, 0)
SYMBOLS = {"ACGT": b"ACGT", "bytes": bytes(range(256)), "few": b"\x00\x80\xff"}


@functools.cache
def plain(query: bytes, target: bytes) -> int:
    """Return the distance, computed row by row; insertions are a running minimum."""
    a, b = np.frombuffer(query, np.uint8), np.frombuffer(target, np.uint8)
    place = np.arange(len(b) + 1)
    row = place
    for i, symbol in enumerate(a, 1):
        best = np.concatenate(([i], np.minimum(row[1:] + 1, row[:-1] + (b != symbol))))
        row = np.minimum.accumulate(best - place) + place
    return int(row[-1])


def symbols_of(query: bytes, target: bytes, planes: int = 2) -> Pair:
    a, b = (np.frombuffer(s, np.uint8) for s in (query, target))
    if planes < 32:
        return Pair(a, b, planes == 2)
    spread = np.random.default_rng(1).integers(0, 2**32, 256, dtype=np.uint32)  # all distinct with this seed
    assert len(set(spread.tolist())) == 256
    return Pair(spread[a], spread[b], False)


class Run:
    """A solver with its own driver, which is checked at the end."""

    def __init__(self, query, target, most=None, shape=None, *, order=0, planes=2):
        self.driver = EmulatedDriver(order=order)
        self.solver = GpuWavefront(self.driver, symbols_of(query, target, planes), most, shape)

    def __enter__(self):
        return self.solver

    def __exit__(self, *what):
        self.solver.close()
        self.solver.close()
        assert not leaks(self.driver)
        self.driver.close()


def distance(*args, **more):
    with Run(*args, **more) as solver:
        before = -1
        while not solver.advance(0):
            assert before <= solver.position.lower_bound <= plain(*args[:2]), (
                "more than the distance, or less than before"
            )
            before = solver.position.lower_bound
            assert 0 <= solver.position.fraction_done <= 1
        return solver.distance


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    """Start with little memory, so that it must grow."""
    monkeypatch.setattr("wfacli.solve.gpu.fronts._INITIAL_DIAGONALS", 8)
    monkeypatch.setattr("wfacli.solve.gpu.wavefront._GROWTH", 1.5)


@pytest.fixture
def single_launches(monkeypatch):
    """Return to the host after every launch."""
    monkeypatch.setattr("wfacli.solve.gpu.wavefront._FIRST_BATCH", 1)
    monkeypatch.setattr("wfacli.solve.gpu.wavefront._LARGEST_BATCH", 1)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", [TINY, SMALL, BUILT], ids=["tiny", "small", "built"])
def test_random_pairs(shape, order):
    for query, target in random_pairs(order, 40, 150, b"ACGT"):
        assert distance(query, target, None, shape, order=order) == plain(query, target), (query, target)


@pytest.mark.parametrize("shape", [TINY, TINY_WIDE, BUILT], ids=["tiny", "wide", "built"])
def test_edges_of_words(shape):
    for query, target in list(edge_pairs(1, b"ACGT"))[: 14 * 12 : 3]:
        assert distance(query, target, None, shape) == plain(query, target), (query, target)


@pytest.mark.parametrize("edits", [0, 1, 2, 3, 6, 7, 8, 9, 14, 15, 16, 17, 30, 31, 32, 33, 62, 63, 64, 65, 127, 129])
@pytest.mark.parametrize("shape", [TINY, BUILT], ids=["tiny", "built"])
@pytest.mark.usefixtures("single_launches")
def test_known_distances_around_launches(shape, edits):
    """Test insertions in one sequence only: the distance is the difference of the lengths."""
    rng = random.Random(edits)
    target = sequence(rng, 300, b"ACGT")
    at = rng.randint(0, 300)
    longer = target[:at] + sequence(rng, edits, b"ACGT") + target[at:]
    for query, other in (
        (longer, target),
        (target, longer),
        (b"A" * edits, b""),
        (b"A" * 40, b"A" * 40 + b"C" * edits),
    ):
        assert distance(query, other, None, shape) == edits
    if edits <= 100:
        assert distance(b"A" * edits + b"G" * 50, b"C" * edits + b"G" * 50, None, shape) == edits


@pytest.mark.parametrize(("planes", "bits"), [(2, 32), (8, 32), (32, 64), (2, 64)])
def test_catalogue_builds(planes, bits):
    shape = next(s for s in sizes.SHAPES if (s.planes, s.bits) == (planes, bits))
    rng = random.Random(planes)
    alphabets = ["ACGT"] if planes == 2 else list(SYMBOLS)
    for kind in KINDS:
        for name in alphabets:
            query, target = pair(rng, rng.randint(0, 200), SYMBOLS[name], rng.choice((0.05, 0.3)), kind)
            assert distance(query, target, None, shape, planes=planes) == plain(query, target), (query, target)


@pytest.mark.parametrize(("planes", "bits"), [(2, 32), (8, 32), (32, 64), (2, 64)])
def test_long_runs(planes, bits):
    """Test runs over many windows in both directions, and repeats with a run on every diagonal."""
    rng = random.Random(planes)
    shape = next(s for s in sizes.SHAPES if (s.planes, s.bits) == (planes, bits))
    unit = sequence(rng, 5000, b"ACGT")
    query = mutated(rng, unit, b"ACGT", 0.001)
    assert distance(query, unit, None, shape, planes=planes) == plain(query, unit)
    assert distance(unit, unit, None, shape, planes=planes) == 0
    repeated = b"ACG" * 400
    query = mutated(rng, repeated, b"ACGT", 0.02)
    assert distance(query, repeated, None, shape, planes=planes) == plain(query, repeated)


@pytest.mark.parametrize("planes", [2, 8])
def test_a_difference_anywhere_in_a_run(planes):
    """Test a mismatch at the edges of windows, and of the range that a warp compares at once, from either end."""
    symbols = sequence(random.Random(11), 2200, b"ACG")
    for place in (0, 31, 32, 1023, 1024, 1040, 1056, 1087, 2047, 2048, 2199):
        query = symbols[:place] + b"T" + symbols[place + 1 :]
        for a, b in ((query, symbols), (symbols, query), (query[::-1], symbols[::-1])):
            assert distance(a, b, planes=planes) == 1, place
        assert distance(query + b"T", symbols, planes=planes) == 2, place


@pytest.mark.parametrize("order", [0, 1])
def test_real_build_over_many_tiles(order):
    """Test fronts wide enough for several tiles of each ghost size."""
    rng = random.Random(7 + order)
    query, target = sequence(rng, 900, b"ACGT"), sequence(rng, 700, b"ACGT")
    assert distance(query, target, order=order) == plain(query, target)


@pytest.mark.parametrize("shape", [TINY, BUILT], ids=["tiny", "built"])
def test_most_edits_that_matter(shape):
    rng = random.Random(3)
    for length, error in ((0, 0), (40, 0), (60, 0.1), (150, 0.3), (200, 0.6)):
        query, target = pair(rng, length, b"ACGT", error, "uniform")
        query += sequence(rng, rng.choice((0, 30)), b"ACGT")
        true = plain(query, target)
        for most in {0, 1, true // 2, true - 1, true, true + 1, 2 * true + 1}:
            if most >= 0:
                expected = true if true <= most else None
                assert distance(query, target, most, shape) == expected, (query, target, most)


@pytest.mark.parametrize("shape", [TINY, BUILT], ids=["tiny", "built"])
def test_unlike_lengths_leave_diagonals_out(shape):
    """Diagonals that cannot reach the end are skipped, without changing the distance."""
    rng = random.Random(4)
    target = sequence(rng, 400, b"ACGT")
    for query in (target[150:], target[:90] + target[200:], sequence(rng, 60, b"ACGT"), target[::3]):
        for a, b in ((query, target), (target, query)):
            true = plain(a, b)
            assert (
                distance(a, b, None, shape) == distance(a, b, true, shape) == distance(a, b, true + 5, shape) == true
            )


@pytest.mark.usefixtures("single_launches")
def test_bounds_are_none_too_small():
    """The gap between the fronts gives an upper bound of the distance, tight when little is left."""
    rng = random.Random(12)
    for edits in range(1, 40):
        target = sequence(rng, 200, b"ACGT")
        query = target[edits // 2 :] + sequence(rng, edits, b"ACGT")
        true = plain(query, target)
        with Run(query, target, None, TINY) as solver:
            bounds = []
            while not solver.advance(0):
                bounds.append(solver._bound)
            assert solver.distance == true <= min(bounds, default=true)
    for symbols in range(1, 40):  # the remaining lengths alone give the bound
        with Run(b"A" * 20 + b"C" * symbols, b"A" * 20 + b"G" * symbols, None, TINY) as solver:
            while not solver.advance(0):
                assert solver._bound >= symbols
            assert solver.distance == symbols


def test_bounds_save_work():
    target = sequence(random.Random(5), 1500, b"ACGT")
    cells = []
    for most in (None, 320):
        with Run(target[300:], target, most, TINY) as solver:
            while not solver.advance(1):
                pass
            assert solver.distance == 300
            cells.append(solver.position.cells)
    assert cells[1] < 0.4 * cells[0]


@pytest.mark.parametrize("shape", [TINY, TINY_WIDE], ids=["narrow", "wide"])
@pytest.mark.usefixtures("single_launches")
def test_goes_on_from_a_saved_state(shape):
    rng = random.Random(6)
    query, target = pair(rng, 300, b"ACGT", 0.5, "uniform")
    true = plain(query, target)
    saved = []
    with Run(query, target, None, shape) as solver:
        saved.append(solver.save())
        while not solver.advance(0):
            saved.append(solver.save())
        saved.append(solver.save())
    assert len(saved) > 4
    for state in saved:
        for most in (None, true - 1, true):
            with Run(query, target, most, shape, order=1) as solver:
                solver.advance(0)
                solver.restore(state)
                cells = solver.position.cells
                assert cells == state["cells"][0]
                while not solver.advance(0):
                    pass
                assert solver.distance == (None if most == true - 1 else true)
                assert "distance" in solver.save()


@pytest.mark.usefixtures("single_launches")
def test_other_states_are_refused():
    query, target = pair(random.Random(8), 200, b"ACGT", 0.5, "uniform")
    with Run(query, target, 100, TINY) as solver:
        solver.advance(0)
        bounded = solver.save()
    with Run(query, target, None, TINY) as solver:
        with pytest.raises(ValueError, match="no more"):
            solver.restore(bounded)
        solver.advance(0)
        state = dict(solver.save())
        for name, value in (
            ("lengths", np.array([1, 2])),
            ("fronts", state["fronts"][:1]),
            ("fronts", state["fronts"].astype(np.int64)),
            ("place", np.zeros(3)),
        ):
            with pytest.raises(ValueError, match="state"):
                solver.restore({**state, name: value})
        with pytest.raises(ValueError, match="another"):
            solver.restore({})
        solver.restore(state)
        while not solver.advance(0):
            pass
        assert solver.distance == plain(query, target)


def test_symbols_in_pieces(monkeypatch):
    """Rows at the edges of chunks contain the bits of the next row."""
    monkeypatch.setattr("wfacli.solve.gpu.bit_planes.CHUNK", 128)
    rng = random.Random(9)
    for planes in (2, 8, 32):
        for length in (0, 1, 31, 32, 33, 128, 129, 1000):
            query, target = pair(rng, length, b"ACGT", 0.05, "uniform")
            assert distance(query, target, planes=planes) == plain(query, target)


@pytest.mark.parametrize("planes", [2, 8, 32])
def test_planes_of_symbols(planes):
    driver = EmulatedDriver()
    stream = driver.stream()
    kind, codes = (np.uint32, 2**32) if planes == 32 else (np.uint8, 256)
    symbols = np.random.default_rng(1).integers(0, codes, 100, dtype=kind)
    row_bytes = Shape(planes).row_bytes
    uploader = Uploader(driver, stream, symbols.nbytes)
    memory = driver.allocate(uploader.nbytes(len(symbols), row_bytes))
    uploader.make(symbols, planes, row_bytes, memory)
    host = driver.pinned(memory.nbytes)
    driver.download(host, memory.address, stream)
    uploader.close()
    rows = host.view(np.uint32).reshape(-1, row_bytes // 4)
    values = (symbols >> 1 & 3 if planes == 2 else symbols).astype(np.uint64)
    for place in range(100):
        row, bit = sizes.PAD_ROWS + place // 32, 31 - place % 32
        for p in range(planes):
            expected = int(values[place]) >> p & 1
            assert rows[row, p] >> bit & 1 == expected
            if planes == 2:
                assert rows[row - 1, 2 + p] >> bit & 1 == expected


def test_memory_that_is_not_there():
    """A GPU with too little memory raises OutOfDeviceMemory, and all allocations are freed."""
    query, target = pair(random.Random(10), 1500, b"ACGT", 0.9, "uniform")
    ended = set()
    for total in (*range(1000, 16_000, 1500), 1 << 20):
        driver = EmulatedDriver(memory_total=total)
        solver = None
        try:
            solver = GpuWavefront(driver, symbols_of(query, target))
            while not solver.advance(0):
                pass
            ended.add("distance")
        except OutOfDeviceMemory:
            ended.add("later" if solver else "at once")
        if solver:
            solver.close()
        assert not leaks(driver), total
        driver.close()
    assert ended == {"at once", "later", "distance"}


def test_forecast_grows_with_edits():
    gpu = EmulatedDriver(multiprocessors=132).gpu
    times = [forecast(gpu, (5_000_000, 5_000_000), edits) for edits in (0, 1000, 30_000, 300_000, 3_000_000)]
    assert times == sorted(times)
    assert times[-1] > 8 * times[-2]


WIDE_SMALL = Shape(2, bits=64, diagonals=2, window_scores=4, ghosts=(16, 8, 4))


def fronts_of(solver):
    """Yield the fronts after each launch, and finally the distance."""
    while not solver.advance(0):
        state = solver.save()
        if "fronts" in state:
            yield state["place"].tolist(), state["fronts"].tolist()
    yield solver.distance


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", [SMALL, WIDE_SMALL, BUILT], ids=["small", "wide", "built"])
@pytest.mark.usefixtures("single_launches")
def test_tiles_that_go_along(monkeypatch, shape, order):
    """Slanted and straight tiles compute the same fronts.

    Tested beside a path through similar sequences, in repeats, and where runs leave their windows.
    """
    rng = random.Random(order)
    symbols = (b"ACGT", b"AT")[order]
    unit = sequence(rng, 9, symbols)
    parts = [sequence(rng, 700, symbols) + unit * rng.randint(1, 40) for _ in range(5)]
    target = b"".join(parts)
    query = mutated(rng, parts[0] + parts[1] + sequence(rng, 60, symbols) + parts[2] + parts[4], symbols, 0.05)
    for a, b in ((query, target), (target, query)):
        found = []
        for slant in (True, False):
            launch = sizes.Launch(min(16, shape.ghosts[0]), slant)
            monkeypatch.setattr(sizes, "best_launch", lambda *_, launch=launch: launch)
            with Run(a, b, None, shape, order=order) as solver:
                found.append(list(fronts_of(solver)))
        assert found[0] == found[1]
        assert found[0][-1] == plain(a, b)


def test_wide_fast_fronts_go_along():
    narrow, wide = (sizes.best_launch(BUILT, 132, diagonals, 100.0) for diagonals in (1_000, 1_000_000))
    assert not narrow.slant and wide.slant
    assert not sizes.best_launch(BUILT, 132, 1_000_000, 2.0).slant  # dissimilar sequences
    assert not sizes.best_launch(sizes.shape_for(8, 0), 132, 1_000_000, 100.0).slant
