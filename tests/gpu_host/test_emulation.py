"""Behaviour of the emulated driver itself: lazy streams, rejected calls, injected failures, kernel defects."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from tests.emulation.compiled import ROOT
from tests.emulation.driver import EmulatedDriver, leaks
from wfacli.errors import DeviceError, OutOfDeviceMemory

from .support import BLOCK, DEFECTS, PROBE, arguments, run_probe


def test_nothing_happens_before_somebody_waits(emulated):
    stream, memory, host = emulated.stream(), emulated.allocate(16), emulated.pinned(32)
    host[:] = 1
    emulated.upload(memory.address, host[:16], stream)
    emulated.download(host[16:], memory.address, stream)
    host[:16] = 2  # too early: the pending copy reads this
    event = emulated.record(stream)
    assert set(host[16:].tolist()) == {1}
    assert [emulated.done(event) for _ in range(4)] == [False, False, True, True]
    assert set(host[16:].tolist()) == {2}


def test_fresh_memory_holds_nothing_useful(emulated):
    stream, memory, host = emulated.stream(), emulated.allocate(64), emulated.pinned(64)
    host[:] = 0
    emulated.download(host, memory.address, stream)
    emulated.wait(emulated.record(stream))
    assert set(host.tolist()) == {0xB5}


def test_what_the_protocol_forbids(emulated):
    stream, memory, host = emulated.stream(), emulated.allocate(16), emulated.pinned(32)
    for source in (np.zeros(16, np.uint8), host[::2]):
        with pytest.raises(AssertionError):
            emulated.upload(memory.address, source, stream)
    with pytest.raises(AssertionError):
        emulated.unpin(host[:16])
    emulated.upload(memory.address + 1, host[:16], stream)
    with pytest.raises(AssertionError, match="beyond"):
        emulated.wait(emulated.record(stream))
    emulated.download(host, memory.address, stream)
    emulated.free(memory)
    with pytest.raises(AssertionError, match="beyond"):
        emulated.wait(emulated.record(stream))
    with pytest.raises(AssertionError):
        emulated.free(memory)
    raised = []

    def elsewhere():
        try:
            emulated.free_memory()
        except AssertionError as problem:
            raised.append(problem)

    other = threading.Thread(target=elsewhere)
    other.start()
    other.join()
    assert "another thread" in str(raised[0])


def test_memory_has_an_end_and_leaks_are_seen(emulated):
    emulated.taken = 1 << 19
    assert emulated.free_memory() == 1 << 19
    memory = emulated.allocate(1 << 18)
    assert emulated.free_memory() == 1 << 18
    with pytest.raises(OutOfDeviceMemory):
        emulated.allocate((1 << 18) + 1)
    assert leaks(emulated) == {"gpu": {memory.address: 1 << 18}}
    emulated.free(memory)
    assert not leaks(emulated)
    assert emulated.most_allocated == 1 << 18
    assert emulated.calls["allocate"] == 2


def test_injected_faults(emulated):
    emulated.fail(call="allocate", after=1, error=OutOfDeviceMemory)
    emulated.fail(call="launch", times=2)
    pieces = [emulated.allocate(8)]
    with pytest.raises(OutOfDeviceMemory, match="injected"):
        emulated.allocate(8)
    pieces.append(emulated.allocate(8))
    stream, kernel = emulated.stream(), emulated.kernel(PROBE)
    for _ in range(2):
        with pytest.raises(DeviceError, match="launch"):
            emulated.launch(kernel, 1, arguments(), stream)
    with pytest.raises(DeviceError, match="cannot launch"):
        emulated.launch(kernel, 1, arguments(), stream, emulated.gpu.shared_per_block + 1)
    emulated.lose_gpu(after=1)
    emulated.free(pieces[0])
    for _ in range(3):
        with pytest.raises(DeviceError):
            emulated.free_memory()
    emulated.close()


def test_launches_with_few_and_many_threads_take_turns():
    driver = EmulatedDriver()
    rows = np.arange(BLOCK, dtype=np.int32)
    for _ in range(20):
        assert run_probe(driver, "barrier", rows)["cost"][0] == BLOCK - 1
    driver.close()


SAID = {
    "lost": "no thread can go on",
    "mixed": "lanes meet in different operations",
    "left_out": "whose mask leaves it out",
    "misaligned": "misaligned address",
    "beyond": "heap-buffer-overflow",
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_defects_of_kernels_are_reported(defect):
    if defect == "beyond" and "address" not in os.environ.get("WFACLI_SANITIZE", ""):
        pytest.skip("only AddressSanitizer sees it: make sanitize")
    code = f"""
import numpy as np
from tests.emulation.driver import EmulatedDriver
from tests.gpu_host.support import run_probe
run_probe(EmulatedDriver(), {defect!r}, np.arange({BLOCK}, dtype=np.int32))
"""
    # Write sanitizer reports to standard error, instead of the files that make a test run fail.
    quiet = dict.fromkeys(("ASAN_OPTIONS", "UBSAN_OPTIONS"), "log_path=stderr:detect_leaks=0")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | quiet
    )
    assert done.returncode
    assert SAID[defect] in done.stderr
