"""Turns of the processes that share a GPU, so that their kernels do not interrupt each other.

A GPU runs kernels of several processes in slices of milliseconds, and saves and restores the state of all
multiprocessors between them. Two runs side by side on an H100 took 9 to 11% longer than one with all of their pairs,
and 4 to 7% longer in turns that last for many launches.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from pathlib import Path

from ..kernels.properties import Gpu

_TURN = 0.6  # seconds of a turn while another process waits; then the launches in flight are finished
# Seconds to wait as the next process, and as one of several behind it. The process that has the turn may be suspended,
# or a launch may take long. A process that has waited so long takes no more turns, and its kernels get slices.
_PATIENCE, _PATIENCE_BEHIND = 2.0, 10.0
_POLL = 5e-4  # seconds
_MPS = Path("/tmp/nvidia-mps/control")  # exists while NVIDIA MPS runs kernels of processes together


class Turns:
    """The turns of this process on a GPU.

    The process that has bound an abstract socket to the name of the GPU has the turn, and the next one has bound
    another socket to a second name. The operating system frees the names of a process that ends. Processes in other
    network namespaces are not seen.

    Attributes:
        has_it: whether this process has its turn.
    """

    def __init__(self, gpu: Gpu, seconds: float = _TURN, patience: float = _PATIENCE) -> None:
        """Take the GPU, the seconds of a turn, and the maximum seconds to wait as the next process."""
        self._name = _name(gpu)
        self._seconds, self._patience = seconds, patience
        self._held: socket.socket | None = None
        self._until = 0.0  # moment at which the turn is over if another process waits
        self._is_over = False

    @property
    def has_it(self) -> bool:
        """See the class."""
        return self._held is not None

    def take(self) -> None:
        """Wait for the turn of this process, unless it has it."""
        if self._held or not self._name:
            return
        if self._is_over:
            time.sleep(8 * _POLL)  # those that waited during the last turn look for a free name meanwhile
            self._is_over = False
        if next_one := _bound(f"{self._name}-next", time.monotonic() + _PATIENCE_BEHIND):
            with next_one:
                self._held = _bound(self._name, time.monotonic() + self._patience)
        if not self._held:
            self._name = ""
        self._until = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        """Return whether this process has had its turn and another one waits."""
        if not self._held or (now := time.monotonic()) < self._until:
            return False
        if not self.is_wanted():
            self._until = now + self._seconds
            return False
        self._is_over = True
        return True

    def is_wanted(self) -> bool:
        """Return whether another process waits for the turn."""
        if next_one := _bound(f"{self._name}-next"):
            next_one.close()
        return next_one is None

    def end(self) -> None:
        """Let the next process have its turn."""
        if self._held:
            self._held.close()
            self._held = None


def _name(gpu: Gpu) -> str:
    """Return the name of a GPU among this machine's processes; "" if they need no turns."""
    if not gpu.bus or os.environ.get("CUDA_MPS_PIPE_DIRECTORY") or _MPS.exists() or not hasattr(socket, "AF_UNIX"):
        return ""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")  # parts of a GPU have the address of the whole
    return f"\0wfacli-{gpu.bus}-{visible if 'MIG' in visible else ''}"


def _bound(name: str, until: float = 0.0) -> socket.socket | None:
    """Bind a name as soon as it is free, until a moment of time.monotonic() at most; None if that failed."""
    try:
        held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    except OSError:
        return None
    while True:
        try:
            held.bind(name)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() >= until:
                held.close()
                return None
            time.sleep(_POLL)
        else:
            return held
