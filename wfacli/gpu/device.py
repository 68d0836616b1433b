"""The one thread that owns a card: it starts jobs, keeps several in flight, and hands their results over.

Every call of the driver is made here. Results come as futures; a job that fails leaves its error in its future and the
card to the next one.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, Protocol

from ..errors import DeviceError, OutOfDeviceMemory
from .arena import Arena
from .driver import Driver

IN_FLIGHT = 3  # jobs on the card: one arrives, one is computed, one leaves


class Slot:
    """What a job in flight has to itself: a stream, and memory of the card."""

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


class Job(Protocol):
    """Work for the card."""

    def start(self, slot: Slot) -> None:
        """Puts everything on the slot's stream; waits for nothing."""

    def finish(self, slot: Slot) -> Any:
        """Waits for it and returns its result."""


class Device:
    """A card with its thread."""

    def __init__(self, open_driver: Callable[[], Driver]) -> None:
        """Opens the driver in the new thread. Raises DeviceError as open_driver does."""
        self._waiting: queue.SimpleQueue[tuple[Job, Future[Any]] | None] = queue.SimpleQueue()
        opened: Future[Driver] = Future()
        self._thread = threading.Thread(target=self._run, args=(open_driver, opened), name="wfacli-gpu", daemon=True)
        self._thread.start()
        self.driver = opened.result()

    def submit(self, job: Job) -> Future[Any]:
        """The future of job.finish."""
        future: Future[Any] = Future()
        self._waiting.put((job, future))
        return future

    def call(self, function: Callable[[Driver], Any]) -> Any:
        """The function's result, called in the device's thread."""
        return self.submit(_Call(function)).result()

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
            slots = [Slot(driver) for _ in range(IN_FLIGHT)]
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
        running: deque[tuple[Job, Slot, Future[Any]]] = deque()
        more = True
        while more or running:
            item = self._next(wait=not running) if more and free else None
            if item is _ENDED:
                more = False
            elif isinstance(item, tuple):
                job, future = item
                if not future.set_running_or_notify_cancel():
                    continue
                slot = free.pop()
                try:
                    job.start(slot)
                except BaseException as error:
                    free.append(slot)
                    if isinstance(error, OutOfDeviceMemory):
                        _release(free)  # or else what jobs had when there was more would keep it from all others
                    future.set_exception(error)
                else:
                    running.append((job, slot, future))
            elif running:
                job, slot, future = running.popleft()
                try:
                    future.set_result(job.finish(slot))
                except BaseException as error:
                    future.set_exception(error)
                free.append(slot)

    def _next(self, wait: bool) -> tuple[Job, Future[Any]] | object | None:
        try:
            item = self._waiting.get(block=wait)
        except queue.Empty:
            return None
        return _ENDED if item is None else item


_ENDED = object()


def _release(idle: Iterable[Slot]) -> None:
    for slot in idle:
        with contextlib.suppress(DeviceError):  # a card that is lost has its memory already
            slot.release()


class _Call:
    def __init__(self, function: Callable[[Driver], Any]) -> None:
        self._function = function

    def start(self, slot: Slot) -> None:
        """Nothing is put on the stream."""

    def finish(self, slot: Slot) -> Any:
        """Calls it."""
        return self._function(slot.driver)
