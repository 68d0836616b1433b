"""What runs in the workers of a cluster. Arguments and results are built-in types, whatever version the worker has."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.cores import usable_cores
from ..io.read.remote import open_binary, stored_size
from ..io.read.urls import is_url
from ..io.write.python_child import python_command

_CHILD = "from wfacli.cli.watched import run_watched\nrun_watched()"
_LAST_LINES = 20  # lines of a shard's messages that are returned
_GPUS = "nvidia[0-9]*"

_running: dict[str, set[subprocess.Popen[bytes]]] = defaultdict(set)  # processes of each run
_stopped: set[str] = set()
_lock = threading.Lock()


def look(folder: str, token_file: str, token: str, inputs: list[tuple[str, int]]) -> dict[str, Any]:
    """Return what a client must know of this worker.

    Args:
        folder: working directory of the run.
        token_file: file in the work folder.
        token: its content.
        inputs: input files, as the user named them, and their sizes in bytes.

    Returns:
        version: of wfacli.
        host: name of the machine.
        cores: number of cores that a process may use.
        gpus: number of GPUs of the machine.
        visible: CUDA_VISIBLE_DEVICES, or None.
        problem: why the worker cannot run shards; "" if it can.
    """
    return {
        "version": __version__,
        "host": socket.gethostname(),
        "cores": usable_cores(),
        "gpus": len(list(Path("/dev").glob(_GPUS))),
        "visible": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "problem": _problem(folder, token_file, token, inputs),
    }


def _problem(folder: str, token_file: str, token: str, inputs: list[tuple[str, int]]) -> str:
    try:
        with open_binary(_there(folder, token_file)) as file:
            if file.read().decode() != token:
                return f"has another folder under the name {token_file.rpartition('/')[0] or folder}"
    except Exception as error:  # also of fsspec, which need not be installed there
        return f"cannot read the work folder ({token_file}: {_reason(error)})"
    for path, size in inputs:
        try:
            found = stored_size(_there(folder, path))
        except Exception as error:
            return f"cannot read {path} ({_reason(error)})"
        if found != size:
            return f"has another file as {path}: {found:,} bytes instead of {size:,}"
    return ""


def _there(folder: str, path: str) -> str:
    return path if is_url(path) else str(Path(folder) / path)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def run_shard(run: str, words: list[str], folder: str, slots: dict[str, int]) -> dict[str, Any]:
    """Run a shard in a process of its own, which ends with this one.

    Args:
        run: name of the run, for stop().
        words: command line of the shard, without the program; threads are added unless it has them.
        folder: working directory of the run; another one is taken where it does not exist, if all names are URLs.
        slots: number of shards that run at a time on a machine, by its name.

    Returns:
        status: exit status, negative for a signal.
        said: last lines of its messages.
        seconds: time that its process took.
        host: name of the machine.
    """
    host = socket.gethostname()
    if "--threads" not in words:
        words = [*words, "--threads", str(max(1, usable_cores() // slots.get(host, 1)))]
    watched, ours = os.pipe()
    process: subprocess.Popen[bytes] | None = None
    try:
        with _lock:
            if run in _stopped:
                return {"status": -signal.SIGTERM, "said": [], "seconds": 0.0, "host": host}
            begun = time.monotonic()
            process = subprocess.Popen(
                python_command(_CHILD, [str(watched), *words]),
                cwd=folder if Path(folder).is_dir() else tempfile.gettempdir(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(watched,),
                start_new_session=True,  # a signal to the worker's terminal ends the worker, and that the shard
            )
            _running[run].add(process)
        said = process.communicate()[1].decode(errors="replace")
    finally:
        os.close(watched)
        os.close(ours)
        if process:
            with _lock:
                _running[run].discard(process)
    seconds = time.monotonic() - begun
    return {"status": process.returncode, "said": said.splitlines()[-_LAST_LINES:], "seconds": seconds, "host": host}


def stop(run: str) -> None:
    """End the shards of a run here, and run no others of it."""
    with _lock:
        _stopped.add(run)
        for process in _running.pop(run, ()):
            with contextlib.suppress(OSError):
                process.terminate()


def new_run() -> str:
    """Return a name for a run."""
    return secrets.token_hex(4)
