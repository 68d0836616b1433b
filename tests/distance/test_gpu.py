"""Distance runs with algorithms on an emulated GPU, which is opened when it is worthwhile, and closed."""

from __future__ import annotations

import json
import random
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from tests.pairgen import mutated, sequence
from wfacli import cli
from wfacli.cli import long_run
from wfacli.config import EngineName
from wfacli.core import tuning
from wfacli.errors import Cancelled, DeviceError, OutOfDeviceMemory
from wfacli.gpu.kernels import long_wavefront
from wfacli.solve.base import Pair
from wfacli.solve.checkpoint import Checkpoint, Identity
from wfacli.solve.distance import run as run_module
from wfacli.solve.distance.choose import ALGORITHMS, AlgorithmChoice, Resources
from wfacli.solve.distance.cpu import CpuWavefront
from wfacli.solve.distance.run import DistanceRun
from wfacli.solve.gpu import wavefront as gpu_wavefront
from wfacli.solve.gpu.bits import GpuBits
from wfacli.solve.gpu.on_demand import GpuOnDemand
from wfacli.solve.watchers import Watchers

from .solvers import edit_distance, pair_of


class Gpus:
    """Opens emulated GPUs, and records the attempts and the opened drivers."""

    def __init__(self, broken=False):
        self.broken, self.asked, self.drivers = broken, 0, []

    def __call__(self):
        self.asked += 1
        if self.broken:
            raise DeviceError("there is no GPU")
        self.drivers.append(EmulatedDriver(multiprocessors=132))
        return self.drivers[-1]


def run(pair, engine, kind=None, estimate=None, most=None, gpus=None):
    gpus = gpus or Gpus()
    gpu = GpuOnDemand(gpus)
    try:
        choice = AlgorithmChoice(Resources(1, gpu), engine, kind)
        return DistanceRun(pair, most, choice, estimate, Watchers()).run()
    finally:
        for driver in gpus.drivers:
            assert not leaks(driver)
        gpu.close()
        gpu.close()


def some_pair(length=700, error=0.1):
    rng = random.Random(length)
    target = sequence(rng, length, b"ACGT")
    query = mutated(rng, target, b"ACGT", error)
    return pair_of(query, target), edit_distance(query, target)


@pytest.mark.parametrize("kind", ["wavefront", "bits"])
@pytest.mark.parametrize("estimate", [None, 1, 60, 5000])
def test_algorithms_of_a_gpu(kind, estimate):
    pair, wanted = some_pair()
    outcome = run(pair, EngineName.GPU, kind, estimate)
    assert outcome.distance == wanted and outcome.algorithm == f"gpu-{kind}"
    assert run(pair, EngineName.GPU, kind, estimate, most=wanted - 1).distance is None


def test_small_pairs_open_no_gpu():
    pair, wanted = some_pair()
    gpus = Gpus()
    for estimate in (None, 60):
        assert run(pair, EngineName.AUTO, estimate=estimate, gpus=gpus).distance == wanted
    assert not gpus.asked


def test_large_pairs_open_one():
    symbols = np.zeros(3_000_000, np.uint8)
    pair, gpus = Pair(symbols, symbols, False), Gpus()
    choice = AlgorithmChoice(Resources(1, GpuOnDemand(gpus)), EngineName.AUTO)
    assert choice.first(pair, 300_000).engine is EngineName.GPU and gpus.asked == 1
    assert choice.first(pair, None).name == "gpu-wavefront"
    assert choice.first(pair, 10).engine is EngineName.CPU
    wavefront = choice.named("cpu-wavefront")
    assert choice.faster_alternative(wavefront, pair, 100_000, 10.0, None, None).engine is EngineName.GPU
    gpus.drivers[0].close()


def test_without_a_gpu():
    pair, wanted = some_pair()
    gpus = Gpus(broken=True)
    with pytest.raises(DeviceError, match="there is no GPU"):
        run(pair, EngineName.GPU, gpus=gpus)
    big = Pair(np.zeros(3_000_000, np.uint8), np.zeros(3_000_000, np.uint8), False)
    choice = AlgorithmChoice(Resources(1, GpuOnDemand(gpus)), EngineName.AUTO)
    for _ in range(3):
        assert choice.first(big, 300_000).engine is EngineName.CPU
    assert gpus.asked == 2, "a GPU that has failed is asked once"
    assert run(pair, EngineName.AUTO, gpus=gpus).distance == wanted


def test_lines_go_to_wavefronts():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 1000, 300).astype(np.uint32)
    b = np.delete(a, [5, 100, 200])
    outcome = run(Pair(a, b, False), EngineName.GPU)
    assert outcome.distance == 3 and outcome.algorithm == "gpu-wavefront"


def test_growth_says_how_many_edits_there_will_be(monkeypatch):
    monkeypatch.setattr(long_wavefront, "best_launch", lambda *_: long_wavefront.Launch(8))
    monkeypatch.setattr(gpu_wavefront, "_FIRST_BATCH", 1)
    monkeypatch.setattr(gpu_wavefront, "_LARGEST_BATCH", 1)
    pair, distance = some_pair(1200, 0.2)
    driver = EmulatedDriver(multiprocessors=8)
    solver, seen = gpu_wavefront.GpuWavefront(driver, pair), []
    try:
        while not solver.advance(0.0):
            if solver.position.fraction_done > 0.2:
                seen.append(solver.position.lower_bound / solver.position.fraction_done / distance)
    finally:
        solver.close()
        driver.close()
    assert len(seen) > 3 and all(0.75 < one < 1.33 for one in seen), seen


# GPUs that fail


class Failing(Gpus):
    """Opens GPUs with an injected fault."""

    def __init__(self, happens):
        super().__init__()
        self.happens = happens

    def __call__(self):
        driver = super().__call__()
        self.happens(driver)
        return driver


class Steps(DistanceRun):
    """A run with the shortest possible slices."""

    def _advance(self, algorithm, solver):
        return super()._advance(replace(algorithm, slice=0.0), solver)


def auto_on_gpu(monkeypatch, gpus, kind, checkpoint=None, estimate=60, threads=1):
    """Return a run whose models prefer the GPU, the expected distance, and the list of its warnings."""
    monkeypatch.setattr(tuning, "GPU_OPEN_SECONDS", 0.0)
    monkeypatch.setattr(long_wavefront, "best_launch", lambda *_: long_wavefront.Launch(8))
    monkeypatch.setattr(gpu_wavefront, "_FIRST_BATCH", 1)
    monkeypatch.setattr(gpu_wavefront, "_LARGEST_BATCH", 1)
    monkeypatch.setattr(GpuBits, "advance", lambda self, seconds: self.compute_stripes(1) or self._finished)
    slow = [replace(a, seconds=lambda *_: 1.0) if a.engine is EngineName.CPU else a for a in ALGORITHMS]
    fast = [replace(a, seconds=lambda *_: 1e-6) if a.engine is EngineName.GPU else a for a in slow]
    choice, warnings = AlgorithmChoice(Resources(threads, GpuOnDemand(gpus)), EngineName.AUTO, kind, fast), []
    monkeypatch.setattr(choice, "faster_alternative", lambda *_: None)
    pair, wanted = some_pair()
    controller = Steps(pair, None, choice, estimate, Watchers(warn=warnings.append), checkpoint, interval=0.0)
    return controller, wanted, warnings


ON_ITS_WAY = {"wavefront": 40, "bits": 30}  # number of calls after which it has started, but not finished


@pytest.mark.parametrize("kind", ["wavefront", "bits"])
@pytest.mark.parametrize("call", ["launch", "allocate", "kernel", "pinned", "upload"])
@pytest.mark.parametrize("after", [0, 3])
def test_a_call_that_fails(monkeypatch, kind, call, after):
    class Told(OutOfDeviceMemory):
        def __init__(self, message):
            super().__init__(message)
            happened.append(message)

    happened = []
    gpus = Failing(lambda driver: driver.fail(call=call, after=after, error=Told))
    controller, wanted, warnings = auto_on_gpu(monkeypatch, gpus, kind)
    outcome = controller.run()
    assert outcome.distance == wanted
    if not happened:
        assert after and not warnings and outcome.gpu_failure is None
        return
    assert outcome.algorithm == f"cpu-{kind}"
    assert [p.end for p in outcome.phases] == ["failed", "done"]
    assert outcome.gpu_failure == outcome.phases[0].failure == f"injected: {call} failed"
    assert len(warnings) == 1
    assert warnings[0].startswith(f"the GPU failed (injected: {call} failed): continuing with cpu-{kind} from ")
    assert gpus.drivers[0]._closed and not leaks(gpus.drivers[0]), "a GPU that failed is given back at once"


def test_fronts_go_on_from_where_the_gpu_was(monkeypatch):
    begun, restore = [], CpuWavefront.restore

    def restored(self, state):
        restore(self, state)
        begun.append(self.position.lower_bound)

    monkeypatch.setattr(CpuWavefront, "restore", restored)
    for after in range(3, 40):
        before = len(begun)
        gpus = Failing(lambda driver, after=after: driver.fail(call="launch", after=after))
        controller, wanted, warnings = auto_on_gpu(monkeypatch, gpus, "wavefront")
        assert controller.run().distance == wanted
        if not warnings:
            break
        if len(begun) > before:
            assert len(begun) == before + 1 and f"cpu-wavefront from {begun[-1]:,} edits on" in warnings[0]
    assert len(set(begun)) > 3 and begun == sorted(begun) and 0.8 * wanted < begun[-1] <= wanted


def test_a_lost_gpu(monkeypatch):
    for kind, after in ON_ITS_WAY.items():
        gpus = Failing(lambda driver, after=after: driver.lose_gpu(after=after))
        controller, wanted, warnings = auto_on_gpu(monkeypatch, gpus, kind)
        outcome = controller.run()
        assert (outcome.distance, outcome.algorithm) == (wanted, f"cpu-{kind}")
        assert len(warnings) == 1 and warnings[0].endswith("from the beginning")


def test_a_lost_gpu_and_a_checkpoint(monkeypatch, tmp_path):
    pair, _ = some_pair()
    checkpoint = Checkpoint(str(tmp_path / "c"), Identity.of(pair, None))
    gpus = Failing(lambda driver: driver.lose_gpu(after=110))
    controller, wanted, warnings = auto_on_gpu(monkeypatch, gpus, "wavefront", checkpoint)
    outcome = controller.run()
    assert (outcome.distance, outcome.algorithm) == (wanted, "cpu-wavefront")
    assert outcome.checkpoints and warnings[0].endswith(" edits on")
    assert [p["end"] for p in checkpoint.read().facts["phases"]][:1] == ["failed"]


def test_a_checkpoint_of_a_gpu_where_there_is_none(monkeypatch, tmp_path):
    pair, _ = some_pair()
    checkpoint = Checkpoint(str(tmp_path / "c"), Identity.of(pair, None))
    gpus = Gpus()
    controller, wanted, _ = auto_on_gpu(monkeypatch, gpus, "wavefront", checkpoint)
    controller._watchers.stop = lambda: controller._phases[-1].at_least > 20
    with pytest.raises(Cancelled):
        controller.run()
    saved = checkpoint.read()
    assert saved.algorithm == "gpu-wavefront"
    again, _, warnings = auto_on_gpu(monkeypatch, Gpus(broken=True), None)
    outcome = again.run(saved)
    assert (outcome.distance, outcome.resumed) == (wanted, 1)
    assert [p.algorithm for p in outcome.phases] == ["gpu-wavefront", "cpu-wavefront"]
    assert "there is no GPU" in warnings[0] and " edits on" in warnings[0]


def test_a_gpu_that_fails_when_it_is_changed_over_to(monkeypatch):
    """If the GPU fails at a switch, the CPU's wavefront continues from its last state."""
    gpus = Failing(lambda driver: driver.fail(call="kernel"))
    controller, wanted, warnings = auto_on_gpu(monkeypatch, gpus, None, estimate=1)
    choice = controller._choice
    monkeypatch.setattr(choice, "first", lambda *_: choice.named("cpu-wavefront"))
    to = choice.named("gpu-bits")
    monkeypatch.setattr(choice, "faster_alternative", lambda running, *_: None if running is to or warnings else to)
    monkeypatch.setattr(run_module, "_SURE", 0)
    native = CpuWavefront.advance
    monkeypatch.setattr(CpuWavefront, "advance", lambda self, seconds: native(self, 0.0))
    outcome = controller.run()
    assert outcome.distance == wanted
    assert [(p.algorithm, p.end) for p in outcome.phases] == [
        ("cpu-wavefront", "switched"),
        ("gpu-bits", "failed"),
        ("cpu-wavefront", "done"),
    ]
    assert warnings[0].endswith(f"from {outcome.phases[0].at_least:,} edits on")


@pytest.mark.parametrize("call", ["launch", "kernel"])
def test_only_a_gpu(call):
    gpus = Failing(lambda driver: driver.fail(call=call))
    with pytest.raises(DeviceError, match=rf"injected: {call} failed \(--engine auto continues with the CPU\)"):
        run(some_pair()[0], EngineName.GPU, "bits", 60, gpus=gpus)


def test_the_command_says_it_once(monkeypatch, tmp_path, capfd):
    gpus = Failing(lambda driver: driver.fail(call="launch", after=1))
    monkeypatch.setattr(long_run, "any_gpu", lambda tell: GpuOnDemand(gpus))
    monkeypatch.setattr(tuning, "GPU_OPEN_SECONDS", 0.0)
    slow = tuple(replace(a, seconds=lambda *_: 1.0) if a.engine is EngineName.CPU else a for a in ALGORITHMS)
    monkeypatch.setattr(AlgorithmChoice.__init__, "__defaults__", (EngineName.AUTO, None, slow))
    rng = random.Random(3)
    a = sequence(rng, 300, b"ACGT")
    for name, symbols in (("a.fa", a), ("b.fa", mutated(rng, a, b"ACGT", 0.1))):
        (tmp_path / name).write_bytes(b">x\n" + symbols + b"\n")
    monkeypatch.chdir(tmp_path)

    def exit_code(*options):
        monkeypatch.setattr(sys, "argv", ["wfacli", "distance", "a.fa", "b.fa", *options])
        with pytest.raises(SystemExit) as end:
            cli.entry()
        return end.value.code or 0

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        assert exit_code("--json", "-o", "x.json", "--stats", "s.json") == 0
        err = capfd.readouterr().err
        assert err.count("\n") == 1 and err.startswith(
            "wfacli: warning: the GPU failed (injected: launch failed): continuing"
        )
        for report in ("x.json", "s.json"):
            history = json.loads((tmp_path / report).read_text())["history"]
            assert history["gpu_failure"] == "injected: launch failed"
            assert [phase["end"] for phase in history["phases"]] == ["failed", "done"]
        assert exit_code("--engine", "gpu") == 1
        out, err = capfd.readouterr()
        assert out == ""
        assert err == "wfacli: error: injected: launch failed (--engine auto continues with the CPU)\n"
        assert exit_code() == 0
        assert " (failed), then cpu-" in capfd.readouterr().out
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
