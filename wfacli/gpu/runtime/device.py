"""The one thread that owns a GPU: it starts jobs, keeps several in flight, and hands their results over.

Every call of the driver is made here. Results come as futures; a job that fails leaves its error in its future and the
GPU to the next one.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from ...errors import DeviceError, OutOfDeviceMemory
from .arena import Arena
from .driver import Driver

IN_FLIGHT = 3  # jobs on the GPU: one arrives, one is computed, one leaves
# Seconds between two looks whether a job is done while another may come: as long as a look takes, up to a job's time.
_SHORTEST, _LONGEST = 5e-5, 2e-4


class Slot:
    """What a job in flight has to itself: a stream, and memory of the GPU."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.stream = driver.stream()
        self.arena = Arena(driver)

    def settle(self) -> None:
        """Waits for what a failed job has left on the stream, before what it reads and writes is another's."""
        with contextlib.suppress(DeviceError):
            self.driver.wait(self.driver.record(self.stream))

    def release(self) -> None:
        """Gives all memory back."""
        self.arena.release()


class Launch(Protocol):
    """Work for the GPU."""

    def start(self, slot: Slot) -> None:
        """Puts everything on the slot's stream; waits for nothing."""

    def over(self, slot: Slot) -> bool:
        """Whether finish would not wait."""

    def finish(self, slot: Slot) -> Any:
        """Waits for it and returns its result."""


class Device:
    """A GPU with its thread."""

    def __init__(self, open_driver: Callable[[], Driver], in_flight: int = IN_FLIGHT) -> None:
        """Opens the driver in the new thread, for so many jobs at a time. Raises DeviceError as open_driver does."""
        self.in_flight = in_flight
        self._waiting: queue.SimpleQueue[tuple[Launch, Future[Any]] | None] = queue.SimpleQueue()
        opened: Future[Driver] = Future()
        self._thread = threading.Thread(target=self._run, args=(open_driver, opened), name="wfacli-gpu", daemon=True)
        self._thread.start()
        self.driver = opened.result()

    def report(self, job_bytes: int, failure: Exception | None) -> dict[str, Any]:
        """What an engine's stats say of its GPU; `job_bytes`: that a job may have of its memory, at most."""
        gpu = self.driver.gpu
        return {
            "card": gpu.name,
            "architecture": gpu.arch,
            "driver": gpu.driver_version,
            "bus": gpu.bus,
            "memory_bytes": self.in_flight * job_bytes,
            "failure": str(failure) if failure else None,
        }

    def submit(self, job: Launch) -> Future[Any]:
        """The future of job.finish."""
        future: Future[Any] = Future()
        self._waiting.put((job, future))
        return future

    def call(self, function: Callable[[Driver], Any]) -> Any:
        """The function's result, called in the device's thread when all that was submitted before is done."""
        return self.submit(_Call(function)).result()

    def call_now(self, function: Callable[[Driver], Any]) -> Any:
        """The same, beside jobs that are under way."""
        return self.submit(_Call(function, now=True)).result()

    def close(self) -> None:
        """Finishes what was submitted and closes the driver."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self, open_driver: Callable[[], Driver], opened: Future[Driver]) -> None:
        try:
            driver = open_driver()
        except BaseException as error:
            opened.set_exception(error)
            return
        try:
            slots = [Slot(driver) for _ in range(self.in_flight)]
        except BaseException as error:
            driver.close()
            opened.set_exception(error)
            return
        opened.set_result(driver)
        try:
            self._serve(list(slots))
            _release(slots)
        finally:
            driver.close()

    def _serve(self, free: list[Slot]) -> None:
        running: deque[_Running] = deque()
        more, pause = True, _SHORTEST
        while more or running:
            # Nothing of the last turn may be held while this one waits.
            item = self._next(0.0 if running else None) if more and free else None
            if item is None and more and free and not running[0].over():
                item = self._next(pause)
                if item is None:
                    pause = min(2 * pause, _LONGEST)
                    continue
            pause = _SHORTEST
            if item is _ENDED:
                more = False
            elif isinstance(item, tuple):
                _begin(item[0], item[1], free, running)
            elif running:
                _end(running.popleft(), free)
            item = None

    def _next(self, seconds: float | None) -> tuple[Launch, Future[Any]] | object | None:
        """What is submitted next, within so many seconds (None: at some time)."""
        try:
            item = self._waiting.get(timeout=seconds)
        except queue.Empty:
            return None
        return _ENDED if item is None else item


@dataclass
class _Running:
    job: Launch
    slot: Slot
    future: Future[Any]

    def over(self) -> bool:
        try:
            return self.job.over(self.slot)
        except BaseException:  # which finish will meet as well
            return True


def _begin(job: Launch, future: Future[Any], free: list[Slot], running: deque[_Running]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    slot = max(free, key=lambda slot: slot.arena.nbytes)  # to grow is to wait for all that runs
    free.remove(slot)
    if isinstance(job, _Call) and job.now:
        _end(_Running(job, slot, future), free)
        return
    try:
        job.start(slot)
    except BaseException as error:
        free.append(slot)
        if isinstance(error, OutOfDeviceMemory):
            _release(free)  # or else what jobs had when there was more would keep it from all others
        future.set_exception(error)
    else:
        running.append(_Running(job, slot, future))


def _end(done: _Running, free: list[Slot]) -> None:
    try:
        done.future.set_result(done.job.finish(done.slot))
    except BaseException as error:
        done.future.set_exception(error)
    free.append(done.slot)


_ENDED = object()


def _release(idle: Iterable[Slot]) -> None:
    for slot in idle:
        with contextlib.suppress(DeviceError):  # a GPU that is lost has its memory already
            slot.release()


class _Call:
    def __init__(self, function: Callable[[Driver], Any], now: bool = False) -> None:
        self._function, self.now = function, now

    def start(self, slot: Slot) -> None:
        """Nothing is put on the stream."""

    def over(self, slot: Slot) -> bool:
        """It waits for nothing."""
        return True

    def finish(self, slot: Slot) -> Any:
        """Calls it."""
        return self._function(slot.driver)
