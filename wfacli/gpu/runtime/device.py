"""The thread that owns a GPU: starts launches, keeps several in flight, and returns their results as futures.

All calls of the driver are made in this thread. A launch that fails sets an exception on its future, and the next one
proceeds.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from ...errors import DeviceError, OutOfDeviceMemory
from .arena import Arena
from .driver import Driver
from .turns import Turns

IN_FLIGHT = 3  # launches in flight: one copies inputs, one runs, one copies results
# Polling interval in seconds while launches run and new ones may arrive: doubles from about the time of a poll to that
# of a launch.
_SHORTEST, _LONGEST = 5e-5, 2e-4
# Seconds that an idle device keeps its turn, and its polling interval for other processes then. A run of short
# launches is idle whenever the host is behind; to take the turn again delays the next launch by 0.3 ms.
_KEPT, _KEPT_POLL = 0.05, 1e-3


class Slot:
    """Resources of a launch in flight: a stream and GPU memory."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.stream = driver.stream()
        self.arena = Arena(driver)

    def settle(self) -> None:
        """Wait for what a failed launch has enqueued, before the memory that it accesses is reused."""
        with contextlib.suppress(DeviceError):
            self.driver.wait(self.driver.record(self.stream))

    def release(self) -> None:
        """Free the GPU memory."""
        self.arena.release()


class Launch(Protocol):
    """Work for the GPU; the device's thread calls all methods."""

    def start(self, slot: Slot) -> None:
        """Enqueue all work on the slot's stream without waiting."""

    def over(self, slot: Slot) -> bool:
        """Return True if finish() would return without blocking."""

    def finish(self, slot: Slot) -> Any:
        """Wait for the work and return its result."""


class Device:
    """A GPU and the thread that owns it."""

    def __init__(self, open_driver: Callable[[], Driver], in_flight: int = IN_FLIGHT) -> None:
        """Start the thread and open the driver in it, for `in_flight` launches at a time. Raises DeviceError."""
        self.in_flight = in_flight
        self._waiting: queue.SimpleQueue[tuple[Launch, Future[Any]] | None] = queue.SimpleQueue()
        opened: Future[Driver] = Future()
        self._thread = threading.Thread(target=self._run, args=(open_driver, opened), name="wfacli-gpu", daemon=True)
        self._thread.start()
        self.driver = opened.result()

    def report(self, job_bytes: int, failure: Exception | None) -> dict[str, Any]:
        """Return the GPU's part of an engine's stats; `job_bytes`: maximum GPU memory of a launch, in bytes."""
        gpu = self.driver.gpu
        return {
            "gpu": gpu.name,
            "architecture": gpu.arch,
            "driver": gpu.driver_version,
            "through": gpu.through,
            "bus": gpu.bus,
            "memory_bytes": self.in_flight * job_bytes,
            "failure": str(failure) if failure else None,
        }

    def submit(self, job: Launch) -> Future[Any]:
        """Start a launch when a slot is free; return the future of its finish()."""
        future: Future[Any] = Future()
        self._waiting.put((job, future))
        return future

    def call(self, function: Callable[[Driver], Any]) -> Any:
        """Call a function in the device's thread after all earlier launches are done; return its result."""
        return self.submit(_Call(function)).result()

    def call_now(self, function: Callable[[Driver], Any]) -> Any:
        """Call a function in the device's thread while launches are in flight; return its result."""
        return self.submit(_Call(function, now=True)).result()

    def close(self) -> None:
        """Finish all submitted launches and close the driver."""
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
            self._serve(list(slots), Turns(driver.gpu))
            _release(slots)
        finally:
            driver.close()

    def _serve(self, free: list[Slot], turns: Turns) -> None:
        running: deque[_Running] = deque()
        more, pause = True, _SHORTEST
        while more or running:
            is_over = turns.is_over()
            if is_over and running:  # launches after these are for the next turn
                _end(running.popleft(), free)
                continue
            if is_over:
                turns.end()
            # `item` must not keep the previous launch alive while this iteration waits.
            item = None
            if more and free:
                item = self._next(0.0) if running else self._next_when_idle(turns)
            if item is None and more and free and not running[0].over():
                item = self._next(pause)
                if item is None:
                    pause = min(2 * pause, _LONGEST)
                    continue
            pause = _SHORTEST
            if item is _ENDED:
                more = False
            elif isinstance(item, tuple):
                if not isinstance(item[0], _Call):
                    turns.take()
                _begin(item[0], item[1], free, running)
            elif running:
                _end(running.popleft(), free)
            item = None
        turns.end()

    def _next_when_idle(self, turns: Turns) -> tuple[Launch, Future[Any]] | object | None:
        """Wait for a launch; meanwhile, let another process have its turn if it waits, or else after a moment."""
        until = time.monotonic() + _KEPT
        while turns.has_it and time.monotonic() < until:
            if (item := self._next(_KEPT_POLL)) is not None:
                return item
            if turns.is_wanted():
                break
        turns.end()
        return self._next(None)

    def _next(self, seconds: float | None) -> tuple[Launch, Future[Any]] | object | None:
        """Return the next submitted launch; None after `seconds` without one (None: wait)."""
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
        except BaseException:  # finish() will raise it as well
            return True


def _begin(job: Launch, future: Future[Any], free: list[Slot], running: deque[_Running]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    slot = max(free, key=lambda slot: slot.arena.nbytes)  # growing an arena would wait for all running work
    free.remove(slot)
    if isinstance(job, _Call) and job.now:
        _end(_Running(job, slot, future), free)
        return
    try:
        job.start(slot)
    except BaseException as error:
        free.append(slot)
        if isinstance(error, OutOfDeviceMemory):
            _release(free)  # idle slots may hold memory that later launches need
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
        with contextlib.suppress(DeviceError):  # a lost GPU has no memory to free
            slot.release()


class _Call:
    def __init__(self, function: Callable[[Driver], Any], now: bool = False) -> None:
        self._function, self.now = function, now

    def start(self, slot: Slot) -> None:
        """Do nothing."""

    def over(self, slot: Slot) -> bool:
        """Return True: finish() does not wait."""
        return True

    def finish(self, slot: Slot) -> Any:
        """Call the function."""
        return self._function(slot.driver)
