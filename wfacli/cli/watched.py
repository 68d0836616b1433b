"""A command that ends when the process that started it does, however that ends: a shard on a worker of a cluster."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from . import entry

_ENDS_WITHIN = 20.0  # seconds that a command has to remove what it wrote


def run_watched() -> None:
    """Run the command of sys.argv behind a descriptor, of whose pipe only the starting process has the other end."""
    watched = int(sys.argv.pop(1))
    sys.argv[0] = "wfacli"
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
    entry()


def _end_with(descriptor: int) -> None:
    os.read(descriptor, 1)  # returns when the other end is closed
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_ENDS_WITHIN)
    os._exit(128 + signal.SIGTERM)
