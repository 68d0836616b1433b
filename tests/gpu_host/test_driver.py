"""The driver protocol, on an emulated and a real GPU."""

from __future__ import annotations

import mmap
import time

import numpy as np
import pytest

from wfacli.errors import OutOfDeviceMemory
from wfacli.gpu.runtime.selftest import check_gpu

from .support import BLOCK, PROBE, PROBES, arguments, run_probe


def test_copies_and_fills_happen_in_their_order(driver):
    stream, memory = driver.stream(), driver.allocate(1000)
    sent, received = driver.pinned(1000), driver.pinned(1000)
    assert sent.dtype == np.uint8
    assert sent.shape == (1000,)
    sent[:] = np.arange(1000) % 251
    received[:] = 7
    driver.upload(memory.address, sent, stream)
    driver.fill(memory.address + 100, 0xAB, 50, stream)
    driver.download(received[:500], memory.address, stream)
    driver.wait(driver.record(stream))
    expected = (np.arange(1000) % 251).astype(np.uint8)
    expected[100:150], expected[500:] = 0xAB, 7
    assert np.array_equal(received, expected)
    driver.free(memory)
    driver.unpin(sent)
    driver.unpin(received)


def test_views_of_pinned_arrays_are_copied(driver):
    stream, memory = driver.stream(), driver.allocate(4000)
    host = driver.pinned(8000)
    numbers = host.view(np.int32)
    numbers[:] = np.arange(2000)
    driver.upload(memory.address, numbers[100:200], stream)
    driver.download(numbers[1000:1100], memory.address, stream)
    driver.wait(driver.record(stream))
    assert np.array_equal(numbers[1000:1100], np.arange(100, 200))
    driver.free(memory)
    driver.unpin(host)


def test_memory_is_locked_for_copies_and_stays_afterwards(driver):
    stream, gpu = driver.stream(), driver.allocate(4000)
    host = np.frombuffer(mmap.mmap(-1, 8000), np.uint8)
    host[:4000] = np.arange(4000) % 251
    driver.lock(host)
    driver.upload(gpu.address, host[:4000], stream)
    driver.download(host[4000:], gpu.address, stream)
    driver.wait(driver.record(stream))
    driver.unlock(host)
    assert np.array_equal(host[4000:], np.arange(4000) % 251)
    driver.lock(host)
    driver.unlock(host)
    driver.free(gpu)


def test_memory_is_aligned_and_counted(driver):
    gpu = driver.gpu
    assert 0 < driver.free_memory() <= gpu.memory_total
    pieces = [driver.allocate(size) for size in (1, 255, 257)]
    assert all(piece.address % 256 == 0 for piece in pieces)
    assert [piece.nbytes for piece in pieces] == [1, 255, 257]
    for piece in pieces:
        driver.free(piece)


def test_after_too_much_was_asked_for_less_still_fits(driver):
    with pytest.raises(OutOfDeviceMemory):
        driver.allocate(2 * driver.gpu.memory_total)
    driver.free(driver.allocate(1 << 16))


def test_kernels_are_loaded_once(driver):
    kernel = driver.kernel(PROBE)
    assert driver.kernel(PROBE) is kernel
    assert (kernel.name, kernel.threads) == ("probe", BLOCK)
    assert 0 < kernel.registers < 256


def test_resident_blocks_shrink_with_shared_memory(driver):
    kernel, most = driver.kernel(PROBE), driver.gpu.shared_per_block
    assert kernel.resident() >= kernel.resident(20_000) >= kernel.resident(most - kernel.static_shared) == 1
    assert kernel.resident(most + 1) == 0


def test_launches_copy_their_argument(driver):
    stream, memory, host = driver.stream(), driver.allocate(8 * BLOCK), driver.pinned(8 * BLOCK)
    numbers = host.view(np.int32)
    numbers[:] = np.arange(2 * BLOCK)
    driver.upload(memory.address, host, stream)
    argument = arguments(rows=memory.address, cost=memory.address + 4 * BLOCK, count=BLOCK, path=PROBES["barrier"])
    driver.launch(driver.kernel(PROBE), 1, argument, stream)
    argument["cost"] = argument["rows"] = 0
    driver.download(host, memory.address, stream)
    driver.wait(driver.record(stream))
    assert np.array_equal(numbers[BLOCK:], np.arange(BLOCK)[::-1])
    driver.free(memory)
    driver.unpin(host)


@pytest.mark.parametrize("kilobytes", [1, 48, 100, 160])
def test_dynamic_shared_memory_may_be_large(driver, kilobytes):
    rows, bytes_ = np.arange(2 * BLOCK, dtype=np.int32), kilobytes << 10
    answers = run_probe(driver, "dynamic", rows, shared_bytes=bytes_, stride=bytes_)
    assert np.array_equal(answers["cost"].reshape(2, BLOCK), np.roll(rows.reshape(2, BLOCK), -1, axis=1))


def test_events_are_done_in_the_end_and_tell_the_time(driver):
    first, second = driver.stream(), driver.stream()
    memory = driver.allocate(1 << 16)
    start = driver.record(first)
    driver.fill(memory.address, 1, 1 << 16, first)
    end = driver.record(first)
    other = driver.record(second)
    driver.wait(other)
    limit = time.monotonic() + 10
    while not driver.done(end):
        assert time.monotonic() < limit
    assert driver.done(start)
    assert 0 <= driver.elapsed(start, end) < 10
    driver.free(memory)


def test_close_may_be_called_again(driver):
    driver.close()
    driver.close()


def test_the_self_test_passes(driver):
    checks = list(check_gpu(driver, [PROBE]))
    assert [check.name for check in checks] == ["copies", "kernel probe"]
    assert not any(check.problem for check in checks)
