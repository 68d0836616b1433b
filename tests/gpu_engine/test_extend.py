"""Scored alignment on an emulated GPU: every column equals the CPU engine's."""

from __future__ import annotations

import contextlib
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import fasta
from tests.emulation.driver import EmulatedDriver, leaks
from tests.engines.extending import SCHEMES, extended, spec_of
from tests.oracle_local import MODES
from tests.pairgen import mutated, sequence
from wfacli import cli
from wfacli.config import Limits
from wfacli.core import tuning
from wfacli.core.batch import PairBatch, PartialResult
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines import choice, extend_gpu
from wfacli.engines.extend_auto import AutoExtendEngine
from wfacli.engines.extend_cpu import KERNEL, ExtendEngine
from wfacli.engines.extend_gpu import ExtendGpuEngine
from wfacli.errors import Cancelled, DeviceError
from wfacli.gpu.kernels import sw, sw_choice
from wfacli.gpu.runtime import sw_launch
from wfacli.io.read.memory import pairs_of
from wfacli.run import extend as run_extend
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendSpec

from .support import assert_equal

NARROWEST = sw.BUILDS[:1]  # each build takes seconds to compile for the emulation


def uneven_pairs(count: int, longest: int, symbols: bytes, seed: int = 3) -> list[tuple[bytes, bytes]]:
    """Return pairs that are similar in parts, of 0 to `longest` symbols."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        target = sequence(rng, rng.randrange(longest + 1), symbols)
        begin = rng.randrange(len(target) + 1)
        pairs.append((mutated(rng, target[begin : begin + rng.randrange(1, longest)], symbols, 0.15), target))
    return [*pairs, (b"", b""), (b"", symbols[:1]), (symbols[:1], b"")]


@contextlib.contextmanager
def opened_gpu(
    spec: ExtendSpec,
    memory: float = 1 << 28,
    stats: Stats | None = None,
    builds: tuple[sw.Build, ...] = NARROWEST,
    **gpu,
) -> Iterator[ExtendGpuEngine]:
    """Open an engine, and check its GPU for leaks after closing."""
    drivers: list[EmulatedDriver] = []

    def opened() -> EmulatedDriver:
        drivers.append(EmulatedDriver(**gpu))
        return drivers[-1]

    engine = ExtendGpuEngine(spec, ExtendEngine(spec, Limits(), 1), opened, stats, memory, builds)
    try:
        yield engine
    finally:
        engine.close()
    assert leaks(drivers[0]) == {}


def found(engine: ExtendGpuEngine, pairs: list[tuple[bytes, bytes]], rows: list[int] | None = None) -> PartialResult:
    chosen = np.arange(len(pairs)) if rows is None else np.array(rows)
    return engine.collect(engine.submit(pairs_of(*zip(*pairs, strict=True)), Route(chosen.astype(np.int32), KERNEL)))


def launched(stats: Stats) -> set[str]:
    return {name.removeprefix("gpu ") for name in stats.seconds if name.startswith("gpu sw")}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scheme", ["n-score", "BLOSUM62"])
def test_as_the_cpu(scheme: str, mode: str) -> None:
    symbols = b"ACGTN" if scheme == "n-score" else b"ARNDCQEGHILKMFPSTWYVX"
    pairs, spec, stats = uneven_pairs(30, 200, symbols), spec_of(SCHEMES[scheme][0], mode), Stats()
    with opened_gpu(spec, stats=stats) as engine:
        assert_equal(found(engine, pairs), extended(pairs, spec))
        some = [7, 3, 32, 31, 8]
        assert_equal(found(engine, pairs, some), extended(pairs, spec, rows=some))
    kinds = {"local": {"local"}, "extension": {"extension", "ends"}}.get(mode, {"ends"})
    assert launched(stats) == {f"sw-{kind}-2x32-bits-16-path" for kind in kinds}


def test_scores_alone() -> None:
    pairs, spec, stats = (
        uneven_pairs(20, 150, b"ACGT"),
        spec_of(SCHEMES["2,4,4,2"][0], "local", score_only=True),
        Stats(),
    )
    with opened_gpu(spec, stats=stats) as engine:
        assert_equal(found(engine, pairs), extended(pairs, spec))
    assert launched(stats) == {"sw-local-2x32-bits-16"}


@pytest.mark.parametrize("lent", [False, True])
def test_pairs_are_shared_out_among_builds(lent: bool) -> None:
    """Short pairs store all directions, long ones states; bases are uploaded directly from the reader's memory."""
    pairs, spec, stats = uneven_pairs(30, 100, b"ACGT", 4), spec_of(SCHEMES["2,4,4,2"][0], "local"), Stats()
    pairs += [(b"ACGGT" * 130, b"ACGAGT" * 130), *uneven_pairs(20, 100, b"ACGT", 5)]
    batch = pairs_of(*zip(*pairs, strict=True))
    with opened_gpu(spec, stats=stats, builds=(sw.BUILDS[0], sw.ALL_DIRECTIONS[0])) as engine:
        if lent:
            memory = engine.batch_memory(len(batch.bases))
            assert memory is not None
            memory[:] = batch.bases
            batch = replace(batch, bases=memory)
        route = Route(np.arange(len(pairs), dtype=np.int32), KERNEL)
        assert_equal(engine.collect(engine.submit(batch, route)), extended(pairs, spec))
    assert launched(stats) == {f"sw-local-2x32-bits-16-{kind}" for kind in ("path", "whole", "walk")}


@pytest.mark.parametrize("mode", ["local", "extension"])
def test_directions_of_some_pairs_at_a_time(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """Directions are stored for some pairs at a time, if memory does not suffice for all."""
    monkeypatch.setattr(sw_launch, "_MOST_KEPT", 1)
    pairs, spec, stats = uneven_pairs(200, 30, b"ACGT", 4), spec_of(SCHEMES["2,4,4,2"][0], mode), Stats()
    with opened_gpu(spec, stats=stats, builds=(sw.ALL_DIRECTIONS[0],)) as engine:
        assert_equal(found(engine, pairs), extended(pairs, spec))
    assert f"sw-{'local' if mode == 'local' else 'ends'}-2x32-bits-16-walk" in launched(stats)


@pytest.mark.parametrize("cuts", [{"band": 20, "zdrop": 60}, {"band": 300}, {"zdrop": 25}], ids=str)
def test_in_a_band_until_a_drop(cuts: dict[str, int]) -> None:
    """Scores of banded extensions with a Z-drop; uncertain pairs, and scores beyond 16 bits, are left to the CPU."""
    pairs = uneven_pairs(30, 200, b"ACGTN")
    for scheme in (SCHEMES["n-score"][0], Scheme.parse("127,4,4,2")):
        spec, stats = spec_of(scheme, "extension", score_only=True, **cuts), Stats()
        with opened_gpu(spec, stats=stats) as engine:
            assert_equal(found(engine, pairs), extended(pairs, spec))
            assert_equal(found(engine, pairs, [7, 3, 32, 31, 8]), extended(pairs, spec, rows=[7, 3, 32, 31, 8]))
        assert launched(stats) == {"sw-guided-8x16-bits-16"}


def test_pairs_of_one_length_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of equal lengths need no sorting, and their answers no merging."""
    rng = random.Random(8)
    pairs = [(sequence(rng, 40, b"ACGT"), sequence(rng, 50, b"ACGT")) for _ in range(40)]
    spec = spec_of(SCHEMES["2,4,4,2"][0], "local")
    monkeypatch.setattr(extend_gpu, "gather_parts", None)
    with opened_gpu(spec) as engine:
        assert_equal(found(engine, pairs), extended(pairs, spec))


def test_builds_are_chosen_for_all_pairs_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice of builds counts the other batches in flight, which fill the GPU at the end of launches."""
    counts: list[int] = []
    best = sw_choice.best_builds

    def seen(builds: tuple[sw.Build, ...], count: int, *rest: bool) -> np.ndarray:
        counts.append(count)
        return best(builds, count, *rest)

    monkeypatch.setattr(extend_gpu.sw_choice, "best_builds", seen)
    pairs = pairs_of([b"ACGT"] * 10, [b"ACGA"] * 10)
    route = Route(np.arange(10, dtype=np.int32), KERNEL)
    with opened_gpu(spec_of(SCHEMES["2,4,4,2"][0], "local", score_only=True)) as engine:
        tickets = [engine.submit(pairs, route) for _ in range(3)]
        asked, counts[:] = counts[-1], []
        assert asked == 30
        for ticket in tickets:
            assert (engine.collect(ticket).score == 6).all()
        engine.collect(engine.submit(pairs, route))
    assert counts == [10, 10]


def test_what_16_bits_do_not_hold() -> None:
    """A pair whose score exceeds 16 bits is retried alone with the 32-bit build."""
    scheme, stats = Scheme.parse("127,4,4,2"), Stats()
    pairs = [(b"ACGT" * 140, b"ACGT" * 140), (b"ACGT" * 5, b"ACGTT" * 5)]
    spec = spec_of(scheme, "local")
    with opened_gpu(spec, stats=stats) as engine:
        assert_equal(found(engine, pairs), extended(pairs, spec))
    assert launched(stats) == {"sw-local-2x32-bits-16-path", "sw-local-32x16-bits-32-path"}


def test_in_little_memory() -> None:
    """With little memory, launches take few pairs, and the CPU aligns pairs that do not fit at all."""
    spec, stats = spec_of(SCHEMES["2,4,4,2"][0], "local"), Stats()
    pairs = [*uneven_pairs(40, 60, b"ACGT"), (b"ACGGT" * 200, b"ACGAGT" * 200)]
    with opened_gpu(spec, memory=2 << 20, stats=stats) as engine:
        assert_equal(found(engine, pairs), extended(pairs, spec))
    assert launched(stats)


def test_symbols_without_scores() -> None:
    """The CPU reports symbols without a code, and aligns the other pairs."""
    spec = spec_of(SCHEMES["BLOSUM62"][0], "local")
    pairs = [(b"ARND", b"ARND"), (b"ARJD", b"ARND")]
    with opened_gpu(spec) as engine:
        assert_equal(found(engine, pairs), extended(pairs, spec))


def test_gpu_that_fails() -> None:
    spec = spec_of(SCHEMES["2,4,4,2"][0], "local")
    pairs = uneven_pairs(10, 60, b"ACGT")

    class Failing(EmulatedDriver):
        def launch(self, *_: object) -> None:
            raise DeviceError("the GPU is on fire")

    engine = ExtendGpuEngine(spec, ExtendEngine(spec, Limits(), 1), Failing, None, 1 << 28, NARROWEST)
    try:
        for _ in range(2):
            assert_equal(found(engine, pairs), extended(pairs, spec))
        assert engine.stats()["failure"] == "the GPU is on fire"
    finally:
        engine.close()


def test_cancelled() -> None:
    spec = spec_of(SCHEMES["2,4,4,2"][0], "local")
    with opened_gpu(spec) as engine:
        engine.cancel()
        with pytest.raises(Cancelled):
            found(engine, [(b"A", b"A")])


def _submit_and_wait(engine: AutoExtendEngine, pairs: PairBatch, route: Route) -> object:
    """Submit a route, and wait until the GPU is open, so that the next batch uses it."""
    ticket = SUBMIT(engine, pairs, route)
    if engine._opening:
        engine._opening.join()
    return ticket


SUBMIT = AutoExtendEngine.submit


@pytest.mark.parametrize("suffix", [".sam", ".paf"])
def test_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suffix: str) -> None:
    """--engine gpu and --engine auto write the same as --engine cpu."""
    pairs = [pair for pair in uneven_pairs(30, 120, b"ACGTN", 5) if pair[0] and pair[1]]
    for name, side in (("q.fa", 0), ("t.fa", 1)):
        (tmp_path / name).write_bytes(fasta([pair[side].decode() for pair in pairs]))
    drivers: list[EmulatedDriver] = []

    def open_driver(index: int, compiler: object) -> EmulatedDriver:
        drivers.append(EmulatedDriver())
        return drivers[-1]

    monkeypatch.setattr(choice, "open_driver", open_driver)
    monkeypatch.setattr(ExtendGpuEngine.__init__, "__defaults__", (None, None, NARROWEST))
    # Make `auto` expect a slow CPU.
    monkeypatch.setattr(run_extend, "may_have_gpu", lambda: True)
    monkeypatch.setattr(tuning, "CPU_EXTEND_CELLS", (1.0, 1.0))
    monkeypatch.setattr(AutoExtendEngine, "submit", _submit_and_wait)
    monkeypatch.chdir(tmp_path)
    written = []
    for engine in ("auto", "cpu", "gpu"):
        words = [
            "wfacli",
            "extend",
            "q.fa",
            "t.fa",
            "--engine",
            engine,
            "-o",
            f"{engine}{suffix}",
            "--batch-bases",
            "300",
        ]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as end:
            cli.entry()
        assert not end.value.code
        written.append(re.sub(rb"\tCL:.*", b"", (tmp_path / f"{engine}{suffix}").read_bytes()))
    assert written[0] == written[1] == written[2]
    assert len(drivers) == 2
    for driver in drivers:
        assert driver.calls["launch"] > 0
        assert leaks(driver) == {}
