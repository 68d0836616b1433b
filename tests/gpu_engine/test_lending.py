"""Memory that is lent: for a batch's letters and for answers; it comes back, and outlives the GPU."""

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
from wfacli.gpu.runtime.lending import Lender

from .support import AFFINE, EDIT, aligned, all_rows, assert_equal, batch_of, of_cpu, opened_gpu, some_pairs, within

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")

KERNELS = {EDIT: "gpu-bits-64", AFFINE: "gpu-dp-128"}


@pytest.fixture
def gpu():
    """A lender, how it calls, and its driver."""
    driver, lender = EmulatedDriver(), Lender()
    yield lender, lambda work: work(driver), driver
    lender.close(driver)
    driver.close()
    assert leaks(driver) == {}


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def in_lent_memory(batch: PairBatch, engine: GpuEngine) -> PairBatch:
    memory = engine.letters_memory(len(batch.bases))
    memory[:] = batch.bases
    return replace(batch, bases=memory)


# The lender


def test_memory_is_lent_as_long_as_a_view_of_it_lives(gpu):
    lender, call, driver = gpu
    lent = lender.lend(1000, call)
    where, view = address(lent), lent[8:80].view(np.int64)[2:]
    assert (lender.lent, len(lent), lender.holds(lent)) == (1, 1000, True)
    del lent
    other = lender.lend(1000, call)
    assert address(other) != where
    assert lender.lent == 2
    view[:] = 7
    del view
    assert lender.lent == 1
    again = lender.lend(500, call)
    assert address(again) == where
    assert driver.calls["lock"] == 2
    del again, other
    assert lender.lent == 0


def test_memory_comes_back_from_any_thread(gpu):
    lender, call, driver = gpu
    for _ in range(50):
        kept = [lender.lend(100, call) for _ in range(4)]
        threads = [threading.Thread(target=kept.pop) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (lender.lent, driver.calls["lock"]) == (0, 4)


def test_memory_that_is_too_small_makes_room(gpu):
    lender, call, driver = gpu
    for size in (10, 10_000, 100, 20_000, 5_000):
        lender.lend(size, call)
    assert len(driver.locks) == 1
    assert (driver.calls["lock"], driver.calls["unlock"]) == (3, 2)


def test_the_smallest_that_fits_is_lent(gpu):
    lender, call, _ = gpu
    pieces = {size: lender.lend(size, call) for size in (3_000, 1_000, 2_000)}
    wanted = address(pieces[2_000])
    for size in list(pieces):
        del pieces[size]
    assert address(lender.lend(1_500, call)) == wanted


def test_memory_outlives_the_gpu(gpu):
    lender, call, driver = gpu
    lent = lender.lend(1000, call)
    lent[:] = 5
    lender.close(driver)
    assert not driver.locks
    assert not lender.holds(lent)
    assert (lent == 5).all()
    with pytest.raises(DeviceError, match="closed"):
        lender.lend(1000, call)


def test_what_cannot_be_locked_is_not_lent(gpu):
    lender, call, driver = gpu
    driver.fail(call="lock")
    with pytest.raises(DeviceError, match="lock"):
        lender.lend(1000, call)
    assert lender.lent == 0
    assert len(lender.lend(1000, call)) == 1000


def mapping_of(array: np.ndarray) -> tuple[str, list[str]]:
    """Of the memory that an array begins in: its permissions and its flags."""
    smaps = Path("/proc/self/smaps").read_text()
    for part in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", smaps):
        begin, end = (int(text, 16) for text in part.split(" ", 1)[0].split("-"))
        if begin <= address(array) < end:
            return part.split()[1], part.split("VmFlags:")[1].split("\n")[0].split()
    raise AssertionError("no such memory")


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells")
def test_letters_lie_in_large_pages_and_answers_where_copies_of_the_process_see_them():
    size = 16 << 20
    with opened_gpu(EDIT) as (engine, _):
        letters = engine.letters_memory(size)
        answers = engine._outbox.take("gpu-bits-64", size // 64, 8 * size)
        permissions, flags = mapping_of(letters)
        assert permissions == "rw-p"
        assert {"hg", "dc"} <= set(flags), "large pages wherever there are; not copied when the process forks"
        assert mapping_of(answers)[0] == "rw-s"


def test_what_is_lent_before_there_is_a_gpu_is_locked_when_it_comes(gpu):
    lender, call, driver = gpu
    early, gone = lender.lend_early(1000), lender.lend_early(1000)
    assert not lender.holds(early) and not driver.calls["lock"]
    del gone  # what comes back before is nobody's
    lender.opened(call)
    assert lender.holds(early)
    where = address(early)
    del early
    late = lender.lend_early(1000)
    assert address(late) == where and lender.holds(late)


def test_what_was_lent_early_and_cannot_be_locked_is_staged(gpu):
    lender, call, driver = gpu
    early = lender.lend_early(1000)
    driver.fail(call="lock", after=0, times=1, error=DeviceError)
    lender.opened(call)
    assert not lender.holds(early)
    del early
    assert lender.holds(lender.lend(1000, call))


# Letters


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "coded"])
@pytest.mark.parametrize("spec", KERNELS, ids=["edit", "affine"])
def test_letters_go_from_where_they_are(spec, coded):
    """Both ways give the same bytes; lent letters are not staged."""
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
def test_a_large_part_of_a_batch_leaves_its_letters_where_they_are(coded):
    more = b"ACGNNTTR" if coded else b""
    batch = batch_of([(more + query, more + target) for query, target in some_pairs(60, 60)])
    with opened_gpu(AFFINE) as (engine, driver):
        lent = in_lent_memory(batch, engine)
        for step, uploads in ((2, 2), (30, 1)):  # letters and columns, or both in one
            before, some = driver.calls["upload"], np.arange(1, len(batch), step, dtype=np.int32)[::-1].copy()
            assert_equal(aligned(engine, lent, KERNELS[AFFINE], some), of_cpu(AFFINE, batch, some))
            assert driver.calls["upload"] - before == uploads


def test_letters_memory_comes_back_with_its_batch():
    with opened_gpu(EDIT) as (engine, driver):
        wheres = set()
        for _ in range(5):
            lent = in_lent_memory(batch_of(some_pairs(60, 60)), engine)
            wheres.add(address(lent.bases))
            aligned(engine, lent, KERNELS[EDIT])
            del lent
            assert _soon(lambda: engine.letters.lent == 0)  # the device's thread holds nothing either
        assert len(wheres) == 1
        assert driver.calls["lock"] == 2  # and the answers'


def test_letters_and_answers_outlive_the_engine():
    batch = batch_of(some_pairs(60, 60))
    with opened_gpu(EDIT) as (engine, driver):
        lent = in_lent_memory(batch, engine)
        found = aligned(engine, lent, KERNELS[EDIT])
        within(engine.close)
        assert leaks(driver) == {}
        assert engine.letters_memory(10) is None
    assert lent.bases.tobytes() == batch.bases.tobytes()
    assert_equal(found, of_cpu(EDIT, batch))


def test_letters_are_anywhere_where_no_memory_is_to_be_had():
    with opened_gpu(EDIT, prepare=lambda d: d.fail(call="lock")) as (engine, _):
        assert engine.letters_memory(1000) is None
        assert engine.stats()["failure"] is None
        assert len(engine.letters_memory(1000)) == 1000


@pytest.mark.parametrize("call", ["upload", "launch", "download", "wait"])
def test_lent_letters_come_back_after_a_failure(call):
    with opened_gpu(EDIT) as (engine, driver):
        lent = in_lent_memory(batch_of(some_pairs(60, 60)), engine)
        driver.fail(call=call)
        assert set(aligned(engine, lent, KERNELS[EDIT]).status.tolist()) == {Status.UNSUPPORTED}
        engine._failure = None  # an error remembers where it was, as does whoever handed it on
        del lent
        assert _soon(lambda: not gc.collect() and engine.letters.lent == 0)


def test_more_batches_than_buffers():
    """Who submits them waits for no one but the GPU, also where nobody looks whether a job is done."""
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
    """They are fetched twice once, and then at once."""
    few, many = batch_of(some_pairs(300, 60, 0.01)), batch_of(some_pairs(300, 60, 0.5))
    downloads = []
    with opened_gpu(EDIT) as (engine, driver):
        for batch in (few, many, few, many):
            assert_equal(aligned(engine, batch, KERNELS[EDIT]), of_cpu(EDIT, batch))
            downloads.append(driver.calls["download"])
    assert downloads == [1, 3, 4, 5]


def test_answers_that_are_kept(monkeypatch):
    """They stay where they are, but only so many of them."""
    monkeypatch.setattr(staging, "_MOST_READ", 4)
    batches = [batch_of(some_pairs(20, 60, seed=number)) for number in range(12)]
    with opened_gpu(EDIT) as (engine, driver):
        kept = [aligned(engine, batch, KERNELS[EDIT]) for batch in batches]
        assert driver.calls["lock"] <= 6
    for found, batch in zip(kept, batches, strict=True):
        assert_equal(found, of_cpu(EDIT, batch))


# The device's thread


def test_jobs_begin_while_one_is_under_way():
    """The thread does not wait for a job as long as the GPU could have another."""
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
    code = "import builtins; from wfacli.gpu.runtime.lending import Lender; builtins.kept = Lender().lend_early(64)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
