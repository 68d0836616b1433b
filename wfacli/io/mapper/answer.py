"""Short answers of programs, such as their version, with limits on time and size."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence

_MAX_BYTES = 1 << 12
_SECONDS = 3.0  # the run waits for the answer


def answer_of(command: Sequence[str], *, on_stderr: bool = False) -> tuple[int, bytes] | None:
    """Run a program to its end, and return its exit status and what it wrote.

    Args:
        command: program and arguments; its standard input is empty.
        on_stderr: return standard error instead of standard output.

    Returns:
        None if the program cannot be started, writes more than 4 kB, or does not end in 3 seconds. It is killed, with
        the processes that it has started.
    """
    answer = "stderr" if on_stderr else "stdout"
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, answer: subprocess.PIPE}
    end = time.monotonic() + _SECONDS
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=streams["stdout"],
            stderr=streams["stderr"],
            start_new_session=True,
        )
    except OSError:
        return None
    pipe = child.stderr if on_stderr else child.stdout
    assert pipe
    try:
        said = _read(pipe.fileno(), end)
        return None if said is None else (child.wait(max(0.0, end - time.monotonic())), said)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        pipe.close()
        child.wait()


def _read(descriptor: int, end: float) -> bytes | None:
    """Return all bytes of a pipe; None if there are too many, or if it is not closed until `end` (monotonic time)."""
    said = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while len(said) <= _MAX_BYTES:
            if not selector.select(max(0.0, end - time.monotonic())):
                return None
            if not (more := os.read(descriptor, _MAX_BYTES)):
                return said
            said += more
    return None
