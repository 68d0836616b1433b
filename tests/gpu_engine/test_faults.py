"""GPU failures: every pair still gets its alignment, nothing hangs, and nothing leaks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from tests.engines.agreement import align_batch
from tests.engines.helpers import answers
from wfacli.config import AlignSpec, Config, EngineName, Limits, Mode
from wfacli.core.batch import AlignmentBatch, PairBatch, Status
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines import choice
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.gpu import GpuEngine
from wfacli.engines.hybrid import HybridEngine
from wfacli.errors import Cancelled, DeviceError, OutOfDeviceMemory
from wfacli.gpu.runtime import session
from wfacli.gpu.runtime.device import IN_FLIGHT

from .support import (
    AFFINE,
    EDIT,
    SEED,
    aligned,
    all_rows,
    assert_equal,
    batch_of,
    of_cpu,
    opened_gpu,
    some_pairs,
    within,
)

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")

BATCHES = [batch_of(some_pairs(30 + 7 * i * i, 60, seed=SEED + i)) for i in range(5)]
KERNELS = {EDIT: "gpu-bits-64", AFFINE: "gpu-dp-128"}
OPENING = IN_FLIGHT + 1  # calls: a stream for each batch in flight, and a query of free memory
Prepare = Callable[[EmulatedDriver], None]


@pytest.fixture(scope="module")
def wanted() -> dict[AlignSpec, list[AlignmentBatch]]:
    """The CPU engine's alignments."""
    found = {}
    for spec in KERNELS:
        cpu = CpuEngine(spec, Limits(), 1)
        found[spec] = [align_batch(cpu, batch, spec, Limits(), Stats()) for batch in BATCHES]
        cpu.close()
    return found


def through(engine: GpuEngine, spec: AlignSpec, threads: int = 3) -> list[AlignmentBatch]:
    """Align all batches from several threads, as a run does, starting on the GPU."""
    cpu = CpuEngine(spec, Limits(), 1)
    both = HybridEngine(engine, cpu)

    def work(batch: PairBatch) -> AlignmentBatch:
        return align_batch(both, batch, spec, Limits(), Stats(), KERNELS[spec])

    with ThreadPoolExecutor(threads) as pool:
        found = within(lambda: list(pool.map(work, BATCHES)))
    cpu.close()
    return found


def assert_all_right(found: list[AlignmentBatch], wanted: list[AlignmentBatch], what: str) -> None:
    assert len(found) == len(wanted)
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert_equal(one, other, f"seed {SEED} {what} batch {number}")


CALLS = (
    *("upload", "launch", "download", "wait", "done", "record", "pinned", "lock", "kernel", "allocate", "fill"),
    *("elapsed", "free"),
)


@pytest.mark.parametrize("spec", KERNELS, ids=["edit", "affine"])
@pytest.mark.parametrize("after", [0, 1, 2, 4, 7, 12])
@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_fails(spec, call, after, wanted):
    fired = []

    class Failing(DeviceError):
        def __init__(self, text: str) -> None:
            super().__init__(text)
            fired.append(text)

    with opened_gpu(spec, prepare=lambda d: d.fail(call=call, after=after, error=Failing), clean=call != "free") as (
        engine,
        _,
    ):
        found = through(engine, spec)
        failure = engine.stats()["failure"]
    assert_all_right(found, wanted[spec], f"{call} after {after}")
    assert failure == (fired[0] if fired and failure else None)
    # Not every run calls fill or free; and if the query for completion fails, the batch itself may not.
    if after < 2 and call not in ("free", "fill", "done"):
        assert failure == f"injected: {call} failed"


@pytest.mark.parametrize("call", ["upload", "launch", "download", "record", "pinned", "lock", "kernel", "allocate"])
def test_a_call_that_always_fails(call, wanted):
    with opened_gpu(EDIT, prepare=lambda d: d.fail(call=call, times=None)) as (engine, driver):
        assert_all_right(through(engine, EDIT), wanted[EDIT], call)
        assert engine.stats()["failure"] == f"injected: {call} failed"
        # A failed GPU is not used again, but batches already in flight may still call it.
        assert driver.calls[call] <= 2 * IN_FLIGHT + len(BATCHES)


@pytest.mark.parametrize("after", [*range(OPENING, 40, 3), 60, 90, 130])
@pytest.mark.parametrize("spec", KERNELS, ids=["edit", "affine"])
def test_a_lost_gpu(spec, after, wanted):
    with opened_gpu(spec, prepare=lambda d: d.lose_gpu(after=after), clean=False) as (engine, _):
        assert_all_right(through(engine, spec), wanted[spec], f"lost after {after}")
        assert "injected" in (engine.stats()["failure"] or "") or after > 50


@pytest.mark.parametrize("call", ["unpin", "free", "*"])
def test_a_gpu_that_is_lost_at_the_end(call, wanted):
    with opened_gpu(EDIT, clean=False) as (engine, driver):
        assert_all_right(through(engine, EDIT), wanted[EDIT], call)
        driver.fail(call=call, times=None)


def test_results_that_came_before_the_failure_count():
    batch = BATCHES[0]
    with opened_gpu(EDIT, prepare=lambda d: d.fail(call="upload", after=1)) as (engine, _):
        first = aligned(engine, batch, KERNELS[EDIT])
        second = aligned(engine, batch, KERNELS[EDIT])
        third = aligned(engine, batch, KERNELS[EDIT])
    assert_equal(first, of_cpu(EDIT, batch))
    for refused in (second, third):
        assert set(refused.status.tolist()) == {Status.UNSUPPORTED}
        assert refused.rows.tolist() == all_rows(batch).tolist()
        assert not refused.cigar_start.any()


# Memory


@pytest.mark.parametrize("spec", KERNELS, ids=["edit", "affine"])
@pytest.mark.parametrize("times", [1, 2, 3, None])
@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_no_memory(spec, after, times, wanted):
    """If any allocation fails, any number of times, batches become smaller, down to none."""

    def prepare(driver: EmulatedDriver) -> None:
        driver.fail(call="allocate", after=after, times=times, error=OutOfDeviceMemory)

    with opened_gpu(spec, prepare=prepare) as (engine, _):
        assert_all_right(through(engine, spec), wanted[spec], f"{times} times after {after}")
        assert engine.stats()["failure"] is None


def test_half_as_much_at_a_time():
    memory = 1 << 28
    with opened_gpu(EDIT, memory) as (engine, driver):
        driver.fail(call="allocate", error=OutOfDeviceMemory)
        assert_equal(aligned(engine, BATCHES[0], KERNELS[EDIT]), of_cpu(EDIT, BATCHES[0]))
        assert engine.stats()["memory_bytes"] == memory // IN_FLIGHT // 2 * IN_FLIGHT


def test_no_memory_at_all():
    with opened_gpu(EDIT) as (engine, driver):
        driver.fail(call="allocate", error=OutOfDeviceMemory, times=None)
        found = aligned(engine, BATCHES[0], KERNELS[EDIT])
        assert set(found.status.tolist()) == {Status.MEMORY_LIMIT}
        assert driver.calls["allocate"] < 10


@pytest.mark.parametrize("failing", [2, 4, 8])
def test_parts_that_fail_together_halve_once(monkeypatch, failing):
    monkeypatch.setattr(session, "MIN_LAUNCH", 1_000)
    batch, job_bytes = batch_of(some_pairs(300, 60)), 100_000
    with opened_gpu(EDIT, IN_FLIGHT * job_bytes) as (engine, driver):
        driver.fail(call="allocate", error=OutOfDeviceMemory, times=failing)
        ticket = engine.submit(batch, Route(all_rows(batch), KERNELS[EDIT]))
        assert len(ticket.parts) >= 8
        assert_equal(within(partial(engine.collect, ticket)), of_cpu(EDIT, batch), f"seed {SEED}")
        assert engine.stats()["memory_bytes"] == IN_FLIGHT * job_bytes // 2


def test_another_process_takes_the_memory(monkeypatch):
    monkeypatch.setattr(session, "MIN_LAUNCH", 1_000)
    batch = batch_of(some_pairs(300, 60))
    wanted = answers(of_cpu(EDIT, batch))

    def check(found):
        # With so little memory, some pairs may fail, depending on the order of the batches. Launches stay so small.
        done = [row for row, answer in enumerate(found) if answer is not Status.MEMORY_LIMIT]
        assert [found[row] for row in done] == [wanted[row] for row in done], f"seed {SEED}"
        assert done

    with opened_gpu(EDIT, 0.5, memory_total=8 << 20) as (engine, driver):
        assert_equal(aligned(engine, batch, KERNELS[EDIT]), of_cpu(EDIT, batch), f"seed {SEED}")
        driver.taken = (8 << 20) - driver.most_allocated - 100_000
        tickets = [engine.submit(batch, Route(all_rows(batch), KERNELS[EDIT])) for _ in range(4)]
        for ticket in tickets:
            check(answers(within(partial(engine.collect, ticket))))
        assert engine.stats()["memory_bytes"] < 4 << 20
        assert engine.stats()["failure"] is None
        driver.taken = 0
        check(answers(aligned(engine, batch, KERNELS[EDIT])))


# Defects that no driver should have


@pytest.mark.parametrize("call", ["upload", "launch", "download", "wait", "pinned", "allocate", "kernel"])
@pytest.mark.parametrize("after", [0, 2])
def test_a_defect_is_an_error_and_no_hang(call, after):
    with opened_gpu(EDIT) as (engine, driver):
        driver.fail(call=call, after=after, error=ZeroDivisionError)

        def work() -> None:
            for batch in BATCHES:
                aligned(engine, batch, KERNELS[EDIT])

        with pytest.raises(ZeroDivisionError, match=call):
            within(work)
        driver.fail(call=call, times=0)
        assert_equal(within(lambda: aligned(engine, BATCHES[0], KERNELS[EDIT])), of_cpu(EDIT, BATCHES[0]))


# Cancelling and closing


@pytest.mark.parametrize("launch", [1, 3, 9, 20, 40])
def test_cancelled_from_another_thread(launch):
    """After cancelling at some launch, collect returns an answer or raises Cancelled, and submit raises Cancelled."""
    begun, small = threading.Event(), batch_of(some_pairs(200, 60))
    wanted = of_cpu(EDIT, small)

    def prepare(driver: EmulatedDriver) -> None:
        launched = driver.launch

        def launch_and_tell(*arguments) -> None:
            launched(*arguments)
            if driver.calls["launch"] >= launch:
                begun.set()

        driver.launch = launch_and_tell

    def work(engine: GpuEngine) -> int:
        done = 0
        while True:
            ticket = engine.submit(small, Route(all_rows(small), KERNELS[EDIT]))
            assert_equal(engine.collect(ticket), wanted)
            done += 1

    with opened_gpu(EDIT, IN_FLIGHT * 200_000, prepare=prepare) as (engine, _), ThreadPoolExecutor(3) as pool:
        workers = [pool.submit(work, engine) for _ in range(3)]
        assert begun.wait(20)
        engine.cancel()
        for worker in workers:
            with pytest.raises(Cancelled):
                worker.result(20)
        with pytest.raises(Cancelled):
            engine.submit(small, Route(all_rows(small), KERNELS[EDIT]))


@pytest.mark.parametrize("cancelled", [False, True])
@pytest.mark.parametrize("job_bytes", [90_000, 10_000_000])
def test_nobody_collects(job_bytes, cancelled):
    batch = batch_of(some_pairs(200, 60))
    with opened_gpu(EDIT, IN_FLIGHT * job_bytes) as (engine, _):
        tickets = within(lambda: [engine.submit(batch, Route(all_rows(batch), KERNELS[EDIT])) for _ in range(4)])
        if cancelled:
            engine.cancel()
        assert len(tickets) == 4


def test_some_are_collected_late():
    batch = BATCHES[0]
    with opened_gpu(EDIT) as (engine, driver):
        tickets = [engine.submit(batch, Route(all_rows(batch), KERNELS[EDIT])) for _ in range(20)]
        for ticket in reversed(tickets):
            assert_equal(within(partial(engine.collect, ticket)), of_cpu(EDIT, batch))
        pinned = driver.calls["pinned"]
        aligned(engine, batch, KERNELS[EDIT])
        assert driver.calls["pinned"] == pinned  # released memory is reused


# Choice of the engine


@pytest.fixture
def cpu():
    engine = CpuEngine(EDIT, Limits(), 1)
    yield engine
    engine.close()


def asked(engine: EngineName, **options) -> Config:
    return Config(spec=AlignSpec(**{**{"metric": EDIT.metric, "penalties": EDIT.penalties}, **options}), engine=engine)


def no_gpu(*_options) -> EmulatedDriver:
    raise DeviceError("no GPU here")


def test_without_a_gpu_the_cpu_aligns(monkeypatch, cpu):
    monkeypatch.setattr(choice, "open_driver", no_gpu)
    assert choice.with_gpu(asked(EngineName.AUTO), cpu, Stats()) is cpu
    assert_equal(aligned(cpu, BATCHES[0], "stripes"), of_cpu(EDIT, BATCHES[0]))


def test_without_a_gpu_that_is_asked_for(monkeypatch, cpu):
    monkeypatch.setattr(choice, "open_driver", no_gpu)
    with pytest.raises(DeviceError, match="no GPU here"):
        choice.with_gpu(asked(EngineName.GPU), cpu, Stats())
    with pytest.raises(RuntimeError, match="closed"):
        aligned(cpu, BATCHES[0], "stripes")


@pytest.mark.parametrize("call", ["stream", "free_memory"])
@pytest.mark.parametrize("name", [EngineName.AUTO, EngineName.GPU])
def test_a_gpu_that_fails_at_once(monkeypatch, cpu, call, name):
    drivers: list[EmulatedDriver] = []

    def opened(*_options) -> EmulatedDriver:
        drivers.append(EmulatedDriver())
        drivers[0].fail(call=call, after=2 if call == "stream" else 0)
        return drivers[0]

    monkeypatch.setattr(choice, "open_driver", opened)
    if name is EngineName.AUTO:
        assert within(lambda: choice.with_gpu(asked(name), cpu, Stats())) is cpu
    else:
        with pytest.raises(DeviceError, match=call):
            within(lambda: choice.with_gpu(asked(name), cpu, Stats()))
    assert drivers[0]._closed
    assert leaks(drivers[0]) == {}


def test_the_gpu_is_left_alone_where_it_cannot_help(monkeypatch, cpu):
    monkeypatch.setattr(choice, "open_driver", lambda *_: pytest.fail("opened"))
    assert choice.with_gpu(asked(EngineName.CPU), cpu, Stats()) is cpu
    assert choice.with_gpu(asked(EngineName.AUTO, mode=Mode.SEMIGLOBAL), cpu, Stats()) is cpu


def test_a_gpu_and_the_cpu_together(monkeypatch, cpu):
    monkeypatch.setattr(choice, "open_driver", lambda *_: EmulatedDriver())
    both = choice.with_gpu(asked(EngineName.AUTO), cpu, Stats())
    assert isinstance(both, HybridEngine)
    rows = np.arange(3, dtype=np.int32)
    for kernel in ("gpu-bits-32", "stripes"):
        assert_equal(aligned(both, BATCHES[0], kernel, rows), of_cpu(EDIT, BATCHES[0], rows))
    assert both.stats()["gpu"] == "emulated GPU"
    assert both.stats()["cpu"]["engine"] == "cpu"
    both.cancel()
    for kernel in ("gpu-bits-32", "stripes"):
        with pytest.raises(Cancelled):
            aligned(both, BATCHES[0], kernel, rows)
    within(both.close)


def test_the_cpu_is_closed_whatever_the_gpu_says(cpu):
    class Broken:
        def close(self) -> None:
            raise DeviceError("gone")

    with pytest.raises(DeviceError, match="gone"):
        HybridEngine(Broken(), cpu).close()
    with pytest.raises(RuntimeError, match="closed"):
        aligned(cpu, BATCHES[0], "stripes")
