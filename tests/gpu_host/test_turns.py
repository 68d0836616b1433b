"""Turns of processes on a GPU."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from wfacli.gpu.kernels.properties import Gpu
from wfacli.gpu.runtime import device as device_module
from wfacli.gpu.runtime import turns
from wfacli.gpu.runtime.device import Device, Slot
from wfacli.gpu.runtime.turns import Turns

HOLDS = """
import sys, time
from tests.gpu_host.test_turns import gpu
from wfacli.gpu.runtime import turns
turns._PATIENCE_BEHIND = 60.0
ours = turns.Turns(gpu(sys.argv[1]), 0.05, 60.0)
until = time.monotonic() + float(sys.argv[2])
print(flush=True)
while time.monotonic() < until:
    ours.take()
    begin = time.monotonic()
    while not ours.is_over() and time.monotonic() < until:
        time.sleep(0.002)
    print(begin, time.monotonic(), flush=True)
    ours.end()
"""
_numbers = itertools.count()


def gpu(bus: str) -> Gpu:
    return Gpu("made up", "sm_90", 1, 1 << 15, 1 << 16, 1 << 30, "13.0", bus)


@pytest.fixture(autouse=True)
def without_mps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CUDA_MPS_PIPE_DIRECTORY", raising=False)
    monkeypatch.setattr(turns, "_MPS", tmp_path / "control")


@pytest.fixture
def bus() -> str:
    return f"test-{os.getpid()}-{next(_numbers)}"


@contextmanager
def holding(bus: str, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Start a process that takes turns for `seconds`, and prints when each began and ended."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, bus, str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def turns_of_three(bus: str, seconds: float) -> list[int]:
    """Return which of three processes had each turn, and assert that no two had one at the same time."""
    with holding(bus, seconds) as a, holding(bus, seconds) as b, holding(bus, seconds) as c:
        said = [process.communicate()[0].split() for process in (a, b, c)]
    held = sorted(
        (float(begin), float(end), number)
        for number, times in enumerate(said)
        for begin, end in zip(times[::2], times[1::2], strict=True)
    )
    for (_, end, _), (begin, _, _) in itertools.pairwise(held):
        assert begin >= end
    return [number for _, _, number in held]


def test_processes_take_turns_and_never_have_them_together(bus: str) -> None:
    for seconds in (1.5, 3.0, 6.0):  # on a busy machine, a process may look for a free name too late several times
        order = turns_of_three(bus, seconds)
        assert set(order) == {0, 1, 2}
        middle = order[len(order) // 3 : 2 * len(order) // 3]  # all three want it then
        if len(middle) > 3 and min(middle.count(number) for number in range(3)) >= max(1, len(middle) // 5):
            return
    pytest.fail(f"a process had hardly any turns: {order}")


def test_a_killed_process_leaves_its_turn(bus: str) -> None:
    with holding(bus, 60) as other:
        assert other.stdout
        time.sleep(0.1)  # it has the turn, as no other process wants it
        ours = Turns(gpu(bus), 60, 30)
        threading.Timer(0.3, other.kill).start()
        os.kill(other.pid, signal.SIGSTOP)
        begin = time.monotonic()
        ours.take()
        assert time.monotonic() - begin < 10
    other_one = Turns(gpu(bus), 60, 0.0)
    other_one.take()
    assert not other_one.has_it
    assert ours.has_it
    ours.end()


def test_a_stopped_process_is_waited_for_only_once(bus: str) -> None:
    with holding(bus, 60) as other:
        time.sleep(0.1)
        os.kill(other.pid, signal.SIGSTOP)
        ours = Turns(gpu(bus), 0.0, 0.3)
        begin = time.monotonic()
        ours.take()
        assert 0.3 <= time.monotonic() - begin < 5
        assert not ours.has_it
        begin = time.monotonic()
        ours.take()
        assert time.monotonic() - begin < 0.25
        assert not ours.is_over()


def test_a_turn_lasts_as_long_as_nobody_waits(bus: str) -> None:
    ours = Turns(gpu(bus), 0.0)
    ours.take()
    assert not ours.is_over()
    others = Turns(gpu(bus))
    waits = threading.Thread(target=others.take)
    waits.start()
    until = time.monotonic() + 10
    while not ours.is_over() and time.monotonic() < until:
        time.sleep(0.01)
    assert ours.is_over()
    ours.end()
    waits.join()
    assert others.has_it
    others.end()


@pytest.mark.parametrize(
    ("bus_name", "variable"), [("", None), ("0000:01:00.0", "CUDA_MPS_PIPE_DIRECTORY")], ids=["emulated", "MPS"]
)
def test_some_gpus_need_no_turns(bus_name: str, variable: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if variable:
        monkeypatch.setenv(variable, "/somewhere")
    ours = Turns(gpu(bus_name))
    ours.take()
    assert not ours.has_it


@pytest.mark.parametrize("fails", ["socket", "bind"])
def test_a_system_that_denies_sockets_has_no_turns(bus: str, fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(errno.EPERM, "denied")

    class Denied(socket.socket):
        bind = denied

    monkeypatch.setattr(socket, "socket", denied if fails == "socket" else Denied)
    ours, begin = Turns(gpu(bus)), time.monotonic()
    ours.take()
    assert not ours.has_it and not ours.is_over()
    assert time.monotonic() - begin < 1
    ours.end()


def test_parts_of_a_gpu_have_turns_of_their_own(bus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both = []
    for part in ("MIG-1", "MIG-2"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", part)
        both.append(Turns(gpu(bus), patience=0.0))
        both[-1].take()
    assert [turn.has_it for turn in both] == [True, True]
    for turn in both:
        turn.end()


class _Driver:
    """A driver whose launches end after a while."""

    def __init__(self, bus: str) -> None:
        self.gpu = gpu(bus)

    def stream(self) -> int:
        return 0

    def close(self) -> None:
        pass


class _Launch:
    """A launch of some milliseconds, which notes when it ran."""

    def __init__(self, number: int, log: list[tuple[float, float, int]]) -> None:
        self._number, self._log = number, log

    def start(self, slot: Slot) -> None:
        self._begin = time.monotonic()

    def over(self, slot: Slot) -> bool:
        return time.monotonic() - self._begin > 0.004

    def finish(self, slot: Slot) -> Any:
        while not self.over(slot):
            time.sleep(0.001)
        self._log.append((self._begin, time.monotonic(), self._number))


def test_launches_of_two_devices_of_a_gpu_are_not_mixed(bus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Turns.__init__, "__defaults__", (0.1, 60.0))
    log: list[tuple[float, float, int]] = []
    devices = [Device(lambda: _Driver(bus)) for _ in range(2)]  # type: ignore[arg-type, return-value]
    futures = [devices[i % 2].submit(_Launch(i % 2, log)) for i in range(400)]
    for future in futures:
        future.result(30)
    for device in devices:
        device.close()
    log.sort()
    assert [sum(number == i for _, _, number in log) for i in (0, 1)] == [200, 200]
    changes = [(a, b) for a, b in itertools.pairwise(log) if a[2] != b[2]]
    for (_, end, _), (begin, _, _) in changes:
        assert begin >= end
    assert 2 <= len(changes) <= 20  # 200 launches of 4 ms, 3 at a time, take about three turns of each


def launched(device: Device) -> None:
    device.submit(_Launch(0, [])).result(30)


def test_a_device_keeps_its_turn_between_launches(bus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "_KEPT", 60.0)
    taken: list[bool] = []
    take = Turns.take
    monkeypatch.setattr(Turns, "take", lambda turns: (taken.append(not turns.has_it), take(turns)))
    device = Device(lambda: _Driver(bus))  # type: ignore[arg-type, return-value]
    for _ in range(3):
        launched(device)
    device.close()
    assert taken == [True, False, False]
    assert is_free(bus)


def test_an_idle_device_lets_another_process_have_its_turn(bus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "_KEPT", 60.0)
    device = Device(lambda: _Driver(bus))  # type: ignore[arg-type, return-value]
    launched(device)
    assert not is_free(bus)
    others = Turns(gpu(bus), patience=30.0)
    others.take()
    assert others.has_it
    others.end()
    launched(device)
    device.close()


def test_an_idle_device_ends_its_turn_after_a_moment(bus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "_KEPT", 0.02)
    device = Device(lambda: _Driver(bus))  # type: ignore[arg-type, return-value]
    launched(device)
    until = time.monotonic() + 30
    while not is_free(bus) and time.monotonic() < until:
        time.sleep(0.01)
    assert is_free(bus)
    device.close()


def is_free(bus: str) -> bool:
    """Return whether no process has its turn."""
    if held := turns._bound(turns._name(gpu(bus))):
        held.close()
    return held is not None
