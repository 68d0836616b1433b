"""Page-locked memory leased for a batch's bases and for answers is returned, and outlives the GPU."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from wfacli.core.batch import PairBatch, Status
from wfacli.core.route import Route
from wfacli.engines.gpu import GpuEngine
from wfacli.errors import DeviceError
from wfacli.gpu.runtime import staging
from wfacli.gpu.runtime.device import IN_FLIGHT
from wfacli.gpu.runtime.pinned_pool import PinnedPool

from .support import AFFINE, EDIT, aligned, all_rows, assert_equal, batch_of, of_cpu, opened_gpu, some_pairs, within

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")

KERNELS = {EDIT: "gpu-bits-64", AFFINE: "gpu-dp-128"}


@pytest.fixture
def gpu():
    """A pool, a function that runs its calls on the driver, and the driver."""
    driver, lender = EmulatedDriver(), PinnedPool()
    yield lender, lambda work: work(driver), driver
    lender.close(driver)
    driver.close()
    assert leaks(driver) == {}


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def in_lent_memory(batch: PairBatch, engine: GpuEngine) -> PairBatch:
    memory = engine.batch_memory(len(batch.bases))
    memory[:] = batch.bases
    return replace(batch, bases=memory)


# The pool


def test_memory_is_lent_as_long_as_a_view_of_it_lives(gpu):
    lender, call, driver = gpu
    lent = lender.lease(1000, call)
    where, view = address(lent), lent[8:80].view(np.int64)[2:]
    assert (lender.leased, len(lent), lender.owns(lent)) == (1, 1000, True)
    del lent
    other = lender.lease(1000, call)
    assert address(other) != where
    assert lender.leased == 2
    view[:] = 7
    del view
    assert lender.leased == 1
    again = lender.lease(500, call)
    assert address(again) == where
    assert driver.calls["lock"] == 2
    del again, other
    assert lender.leased == 0


def test_memory_comes_back_from_any_thread(gpu):
    lender, call, driver = gpu
    for _ in range(50):
        kept = [lender.lease(100, call) for _ in range(4)]
        threads = [threading.Thread(target=kept.pop) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (lender.leased, driver.calls["lock"]) == (0, 4)


def test_memory_that_is_too_small_makes_room(gpu):
    lender, call, driver = gpu
    for size in (10, 10_000, 100, 20_000, 5_000):
        lender.lease(size, call)
    assert len(driver.locks) == 1
    assert (driver.calls["lock"], driver.calls["unlock"]) == (3, 2)


def test_the_smallest_that_fits_is_lent(gpu):
    lender, call, _ = gpu
    pieces = {size: lender.lease(size, call) for size in (3_000, 1_000, 2_000)}
    wanted = address(pieces[2_000])
    for size in list(pieces):
        del pieces[size]
    assert address(lender.lease(1_500, call)) == wanted


def test_memory_outlives_the_gpu(gpu):
    lender, call, driver = gpu
    lent = lender.lease(1000, call)
    lent[:] = 5
    lender.close(driver)
    assert not driver.locks
    assert not lender.owns(lent)
    assert (lent == 5).all()
    with pytest.raises(DeviceError, match="closed"):
        lender.lease(1000, call)


def test_what_cannot_be_locked_is_not_lent(gpu):
    lender, call, driver = gpu
    driver.fail(call="lock")
    with pytest.raises(DeviceError, match="lock"):
        lender.lease(1000, call)
    assert lender.leased == 0
    assert len(lender.lease(1000, call)) == 1000


def mapping_of(array: np.ndarray) -> tuple[str, list[str]]:
    """Return the permissions and flags of the mapping that contains the start of an array."""
    smaps = Path("/proc/self/smaps").read_text()
    for part in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", smaps):
        begin, end = (int(text, 16) for text in part.split(" ", 1)[0].split("-"))
        if begin <= address(array) < end:
            return part.split()[1], part.split("VmFlags:")[1].split("\n")[0].split()
    raise AssertionError("no such memory")


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells")
def test_symbols_lie_in_large_pages_and_answers_where_copies_of_the_process_see_them():
    size = 16 << 20
    with opened_gpu(EDIT) as (engine, _):
        symbols = engine.batch_memory(size)
        answers = engine.session.results.lease("gpu-bits-64", size // 64, 8 * size)
        permissions, flags = mapping_of(symbols)
        assert permissions == "rw-p"
        assert {"hg", "dc"} <= set(flags), "large pages wherever there are; not copied when the process forks"
        assert mapping_of(answers)[0] == "rw-s"


def test_what_is_lent_before_there_is_a_gpu_is_locked_when_it_comes(gpu):
    lender, call, driver = gpu
    early, gone = lender.lease_early(1000), lender.lease_early(1000)
    assert not lender.owns(early) and not driver.calls["lock"]
    del gone  # memory returned before the GPU is open is not reused
    lender.opened(call)
    assert lender.owns(early)
    where = address(early)
    del early
    late = lender.lease_early(1000)
    assert address(late) == where and lender.owns(late)


def test_what_was_lent_early_and_cannot_be_locked_is_staged(gpu):
    lender, call, driver = gpu
    early = lender.lease_early(1000)
    driver.fail(call="lock", after=0, times=1, error=DeviceError)
    lender.opened(call)
    assert not lender.owns(early)
    del early
    assert lender.owns(lender.lease(1000, call))


# Bases


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "coded"])
@pytest.mark.parametrize("spec", KERNELS, ids=["edit", "affine"])
def test_symbols_go_from_where_they_are(spec, coded):
    """Leased and staged bases give the same bytes; leased ones are not copied to a staging buffer."""
    spec, kernel = (AFFINE, "gpu-dp-128") if coded else (spec, KERNELS[spec])
    more = b"ACGNNTTR" if coded else b""
    batch = batch_of([(more + query, more + target) for query, target in some_pairs(60, 60)])
    with opened_gpu(spec) as (engine, driver):
        lent = in_lent_memory(batch, engine)
        assert_equal(aligned(engine, lent, kernel), of_cpu(spec, batch))
        assert driver.calls["upload"] == 2
        assert sum(driver.pins.values()) < len(batch.bases)
        assert_equal(aligned(engine, batch, kernel), of_cpu(spec, batch))
        assert driver.calls["upload"] == 3
        some = np.array([5, 3, 8], np.int32)
        assert_equal(aligned(engine, lent, kernel, some), of_cpu(spec, batch, some))
        assert driver.calls["upload"] == 4


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "coded"])
def test_a_large_part_of_a_batch_leaves_its_symbols_where_they_are(coded):
    more = b"ACGNNTTR" if coded else b""
    batch = batch_of([(more + query, more + target) for query, target in some_pairs(60, 60)])
    with opened_gpu(AFFINE) as (engine, driver):
        lent = in_lent_memory(batch, engine)
        for step, uploads in ((2, 2), (30, 1)):  # bases and columns separately, or in one upload
            before, some = driver.calls["upload"], np.arange(1, len(batch), step, dtype=np.int32)[::-1].copy()
            assert_equal(aligned(engine, lent, KERNELS[AFFINE], some), of_cpu(AFFINE, batch, some))
            assert driver.calls["upload"] - before == uploads


def test_symbols_memory_comes_back_with_its_batch():
    with opened_gpu(EDIT) as (engine, driver):
        wheres = set()
        for _ in range(5):
            lent = in_lent_memory(batch_of(some_pairs(60, 60)), engine)
            wheres.add(address(lent.bases))
            aligned(engine, lent, KERNELS[EDIT])
            del lent
            assert _soon(lambda: engine.session.bases.leased == 0)  # the device thread keeps no reference either
        assert len(wheres) == 1
        assert driver.calls["lock"] == 2  # one of them for the answers


def test_symbols_and_answers_outlive_the_engine():
    batch = batch_of(some_pairs(60, 60))
    with opened_gpu(EDIT) as (engine, driver):
        lent = in_lent_memory(batch, engine)
        found = aligned(engine, lent, KERNELS[EDIT])
        within(engine.close)
        assert leaks(driver) == {}
        assert engine.batch_memory(10) is None
    assert lent.bases.tobytes() == batch.bases.tobytes()
    assert_equal(found, of_cpu(EDIT, batch))


def test_symbols_are_anywhere_where_no_memory_is_to_be_had():
    with opened_gpu(EDIT, prepare=lambda d: d.fail(call="lock")) as (engine, _):
        assert engine.batch_memory(1000) is None
        assert engine.stats()["failure"] is None
        assert len(engine.batch_memory(1000)) == 1000


@pytest.mark.parametrize("call", ["upload", "launch", "download", "wait"])
def test_lent_symbols_come_back_after_a_failure(call):
    with opened_gpu(EDIT) as (engine, driver):
        lent = in_lent_memory(batch_of(some_pairs(60, 60)), engine)
        driver.fail(call=call)
        assert set(aligned(engine, lent, KERNELS[EDIT]).status.tolist()) == {Status.UNSUPPORTED}
        engine.session.failure = None  # an exception references its frames, as does one that re-raised it
        del lent
        assert _soon(lambda: not gc.collect() and engine.session.bases.leased == 0)


def test_more_batches_than_buffers():
    """Submitting more batches than buffers waits only for the GPU, even if nothing polls for completion."""
    batch, submitted = batch_of(some_pairs(20, 60)), threading.Event()
    with opened_gpu(EDIT) as (engine, driver):
        lent, done = in_lent_memory(batch, engine), driver.done
        driver.done = lambda event: submitted.is_set() and done(event)
        route = Route(all_rows(batch), KERNELS[EDIT])
        tickets = within(lambda: [engine.submit(lent, route) for _ in range(30)])
        submitted.set()
        for ticket in tickets:
            assert_equal(within(lambda t=ticket: engine.collect(t)), of_cpu(EDIT, batch))
        assert driver.calls["pinned"] <= 2 * IN_FLIGHT + 2


# Answers


def test_answers_that_are_larger_than_the_last_ones():
    """After larger answers than before, a second download fetches the rest; later batches take one."""
    few, many = batch_of(some_pairs(300, 60, 0.01)), batch_of(some_pairs(300, 60, 0.5))
    downloads = []
    with opened_gpu(EDIT) as (engine, driver):
        for batch in (few, many, few, many):
            assert_equal(aligned(engine, batch, KERNELS[EDIT]), of_cpu(EDIT, batch))
            downloads.append(driver.calls["download"])
    assert downloads == [1, 3, 4, 5]


def test_answers_that_are_kept(monkeypatch):
    """Answers stay in page-locked memory while they are referenced, up to a limit."""
    monkeypatch.setattr(staging, "_MOST_READ", 4)
    batches = [batch_of(some_pairs(20, 60, seed=number)) for number in range(12)]
    with opened_gpu(EDIT) as (engine, driver):
        kept = [aligned(engine, batch, KERNELS[EDIT]) for batch in batches]
        assert driver.calls["lock"] <= 6
    for found, batch in zip(kept, batches, strict=True):
        assert_equal(found, of_cpu(EDIT, batch))


# The device thread


def test_jobs_begin_while_one_is_under_way():
    """The thread does not block on a batch while it could submit another one."""
    batch, over, waited = batch_of(some_pairs(20, 60)), threading.Event(), []
    with opened_gpu(EDIT) as (engine, driver):
        done, wait = driver.done, driver.wait
        driver.done = lambda event: over.is_set() and done(event)
        driver.wait = lambda event: (waited.append(over.is_set()), wait(event))
        route = Route(all_rows(batch), KERNELS[EDIT])
        first = engine.submit(batch, route)
        assert _soon(lambda: driver.calls["download"] == 1)
        second = engine.submit(batch, route)
        assert _soon(lambda: driver.calls["download"] == 2)
        over.set()
        for ticket in (first, second):
            assert_equal(within(lambda t=ticket: engine.collect(t)), of_cpu(EDIT, batch))
        assert all(waited)


def _soon(happened) -> bool:
    pause = threading.Event()
    return any(happened() or pause.wait(0.002) for _ in range(5000))


def test_memory_that_comes_back_as_the_program_ends_says_nothing():
    """Nothing can be imported any more then, and numpy imports to tell an address."""
    made = "from wfacli.gpu.runtime.pinned_pool import PinnedPool"
    code = f"import builtins; {made}; builtins.kept = PinnedPool().lease_early(64)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
