"""Searches on an emulated GPU: chosen by a model, interrupted, resumed, and with failures."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tests import pairgen
from tests.emulation.driver import EmulatedDriver, leaks
from wfacli.core import tuning
from wfacli.errors import Cancelled, DeviceError, OutOfDeviceMemory
from wfacli.gpu.kernels import local as sizes
from wfacli.scoring.scheme import Scheme
from wfacli.solve.base import Pair
from wfacli.solve.checkpoint import Checkpoint, Identity
from wfacli.solve.gpu import local as gpu_local
from wfacli.solve.gpu.local_traceback import Traceback
from wfacli.solve.gpu.on_demand import GpuOnDemand
from wfacli.solve.local import searches
from wfacli.solve.local.run import LocalRun
from wfacli.solve.local.searches import OnGpu
from wfacli.solve.local.task import Task
from wfacli.solve.watchers import Watchers

PLAIN = Scheme.of_scores(2, 4, 4, 2)


@pytest.fixture(scope="module")
def task():
    """A pair with three strips of the GPU, and four saved rows of a state."""
    rng = random.Random(1)
    query = pairgen.sequence(rng, 1700, b"ACGT")
    target = pairgen.sequence(rng, 50, b"ACGT") + pairgen.mutated(rng, query[600:], b"ACGT", 0.15)
    return Task(*(PLAIN.codes[np.frombuffer(side, np.uint8)] for side in (query, target)), PLAIN)


class Gpus:
    """Opens emulated GPUs, and records them."""

    def __init__(self, broken=False):
        self.broken, self.drivers = broken, []

    def __call__(self):
        if self.broken:
            raise DeviceError("there is no GPU")
        self.drivers.append(EmulatedDriver(multiprocessors=4))
        return self.drivers[-1]


def run(task, asked=True, gpus=None, trouble=None, **more):
    """Return (outcome, warnings)."""
    gpus, warned, told = gpus or Gpus(), [], []
    gpu = GpuOnDemand(gpus)
    if trouble:
        trouble(gpu.driver())
    try:
        watchers = replace(more.pop("watchers", Watchers()), warn=warned.append)
        outcome = LocalRun(task, watchers, searches=OnGpu(gpu, asked, told.append), **more).run()
        return outcome, warned + told
    finally:
        for driver in gpus.drivers:
            assert not leaks(driver) or trouble
        gpu.close()


def same(one, other):
    assert [(f.score, f.span, f.cigar.tolist()) for f in one.found] == [
        (f.score, f.span, f.cigar.tolist()) for f in other.found
    ]


def test_the_same_as_the_cpus_alignments(task):
    task = replace(task, top=3, threads=2)
    outcome, warned = run(task)
    assert outcome.engines == ("gpu",) * 3 and not warned and outcome.gpu_failed is None
    same(outcome, LocalRun(task, Watchers()).run())
    assert outcome.cells > 3 * 1700 and outcome.path_seconds <= outcome.seconds


def test_a_gpu_is_used_where_that_is_sooner(task, monkeypatch):
    gpus = Gpus()
    assert run(task, asked=False, gpus=gpus)[0].engines == ("cpu",) and not gpus.drivers
    monkeypatch.setattr(tuning, "CPU_LOCAL_CELLS", 1e5)
    assert run(task, asked=False)[0].engines == ("gpu",)
    outcome, warned = run(task, asked=False, gpus=Gpus(broken=True))
    assert outcome.engines == ("cpu",) and not warned
    build = sizes.BUILDS[0]
    times = [sizes.seconds(build, 132, n, n) for n in (10_000, 100_000, 1_000_000, 10_000_000)]
    assert times == sorted(times) and times[3] > 30 * times[2]


def test_what_a_gpu_cannot_do(task):
    heavy = replace(task, scheme=Scheme.of_scores(127, 127, 0, 1))
    outcome, warned = run(heavy)
    assert outcome.engines == ("cpu",) and "do not support" in warned[0]
    nothing = replace(task, query=task.query[:0])
    assert run(nothing)[0].found == ()


CALLS = ["allocate", "pinned", "upload", "download", "fill", "launch", "record", "wait", "kernel"]


@pytest.mark.parametrize("call", CALLS)
def test_where_a_gpu_fails_the_cpu_goes_on(task, call):
    want = LocalRun(task, Watchers()).run()
    for after in (0, 1, 2, 3, 5, 8):
        outcome, warned = run(task, trouble=lambda driver, n=after: driver.fail(call=call, after=n))
        same(outcome, want)
        failed = outcome.engines != ("gpu",)
        assert failed or after > (call != "pinned"), call  # called once only
        assert not failed or ("the CPU continues from the beginning" in warned[0] and "injected" in outcome.gpu_failed)


def test_a_gpu_that_is_lost(task):
    want = LocalRun(task, Watchers()).run()
    for after in range(0, 40, 3):
        outcome, _ = run(task, trouble=lambda driver, n=after: driver.lose_gpu(after=n))
        same(outcome, want)
        assert outcome.engines[-1] == "cpu" and outcome.gpu_failed


def test_little_memory_on_a_gpu(task):
    outcome, _ = run(task, trouble=lambda driver: driver.fail(call="allocate", after=9, error=OutOfDeviceMemory))
    same(outcome, LocalRun(task, Watchers()).run())


def test_a_gpu_that_is_wrong(task, monkeypatch):
    """If the GPU's alignment does not have its score, the CPU repeats the search."""
    good = Traceback.path
    monkeypatch.setattr(Traceback, "path", lambda traceback: (*good(traceback)[:2], good(traceback)[2][1:]))
    outcome, warned = run(task)
    same(outcome, LocalRun(task, Watchers()).run())
    assert outcome.engines == ("gpu", "cpu") and "has another span" in outcome.gpu_failed and len(warned) == 1


def test_a_checkpoint_of_either_goes_on_with_the_other(task, tmp_path):
    """Interrupt before the path, either in a search on the GPU and resume on the CPU, or vice versa."""
    identity = Identity.of(Pair(task.query, task.target, False), None)
    want = LocalRun(task, Watchers()).run()
    for first_on_gpu in (True, False):
        checkpoint = Checkpoint(str(tmp_path / "c"), identity)
        stopped = Watchers(stop=lambda: True)
        with pytest.raises(Cancelled):
            if first_on_gpu:
                run(task, checkpoint=checkpoint, watchers=stopped)
            else:
                LocalRun(task, stopped, checkpoint).run()
        saved = checkpoint.read()
        if first_on_gpu:
            outcome = LocalRun(task, Watchers(), checkpoint).run(saved)
        else:
            gpu = GpuOnDemand(Gpus())
            outcome = LocalRun(task, Watchers(), checkpoint, searches=OnGpu(gpu, True, print)).run(saved)
            gpu.close()
        same(outcome, want)
        assert outcome.resumed == 1 and outcome.engines == ("cpu" if first_on_gpu else "gpu",)
        older = replace(saved, algorithm="cpu-strips")
        with pytest.raises(Exception, match="of another version"):
            LocalRun(task, Watchers(), checkpoint).run(older)


def walks_of(monkeypatch):
    """Return a list to which each round appends the number of parts that it traces back."""
    walked, traceback = [], Traceback._trace
    monkeypatch.setattr(Traceback, "_trace", lambda self, todo: (walked.append(len(todo)), traceback(self, todo))[1])
    return walked


def as_the_cpu(query, target):
    """Assert that the GPU finds the CPU's alignment."""
    long = Task(*(PLAIN.codes[np.frombuffer(side, np.uint8)] for side in (query, target)), PLAIN)
    outcome, warned = run(long)
    assert not warned and outcome.engines == ("gpu",)
    same(outcome, LocalRun(long, Watchers()).run())


def test_wrong_beliefs_are_corrected(monkeypatch):
    """The best cell of rows crossed by the path belongs to another alignment, which lacks the path's start.

    Where the path runs straight, one round corrects all of them.
    """
    rng, walked = random.Random(5), walks_of(monkeypatch)
    first, second = (pairgen.sequence(rng, length, b"ACGT") for length in (2100, 4000))
    worse = b"".join(second[begin : begin + 24] + b"A" for begin in range(0, len(second), 25))
    as_the_cpu(first + second, first + worse + b"ACGT" * 1300 + second)
    assert len(walked) == 2 and walked[1] > 5, walked


def test_wrong_corrections_are_corrected(monkeypatch):
    """Test a path that changes its diagonal repeatedly, to columns on either side, some of them far away."""
    rng, walked = random.Random(5), walks_of(monkeypatch)
    first, second = (pairgen.sequence(rng, length, b"ACGT") for length in (2100, 4000))
    as_the_cpu(first + second, first + pairgen.mutated(rng, second, b"ACGT", 0.04) + b"ACGT" * 1300 + second)
    assert len(walked) > 2, walked
    for most in (30, 600):
        turning = first
        for begin in range(0, len(second), 400):
            more, less = (rng.randrange(most) if rng.random() < 0.5 else 0 for _ in range(2))
            turning += pairgen.sequence(rng, more, b"ACGT") + second[begin + min(less, 300) : begin + 400]
        as_the_cpu(first + second, turning + b"ACGT" * 1300 + second)


def test_scores_alone(task):
    short = replace(task, score_only=True)
    (one,), (other,) = run(short)[0].found, LocalRun(short, Watchers()).run().found
    assert (one.score, one.span, one.cigar) == (other.score, other.span, None)


def test_a_long_launch_is_stopped(task, tmp_path, monkeypatch):
    """An interrupted launch ends at once, and leaves the previous state, which is in the checkpoint."""
    monkeypatch.setattr(gpu_local, "_INTERRUPTIBLE", -1.0)
    checkpoint = Checkpoint(str(tmp_path / "c"), Identity.of(Pair(task.query, task.target, False), None))
    with pytest.raises(Cancelled):
        run(task, checkpoint=checkpoint, watchers=Watchers(stop=lambda: True))
    saved = checkpoint.read()
    assert saved.state["numbers"][3] == saved.state["numbers"][4] == 0 and not saved.state["row"].any()
    outcome, _ = run(task)
    same(outcome, LocalRun(task, Watchers(), checkpoint).run(saved))


def test_names_of_engines():
    assert {searches.CPU, searches.GPU} == {"cpu", "gpu"}
