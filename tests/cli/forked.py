"""Run the command as forks of a process that has imported it, since most of the time of a short run is its start.

Each run is a separate process with its own standard streams, folder, environment and exit status, so that it behaves
like a command that was started; only the imports are shared. Tests of the start itself use real processes (support.run
with `program`, support.start).

Half of the time of such a run would be the interpreter's shutdown. Most forks therefore end after the exit handlers,
without freeing every object; one of _SHUT_DOWN runs, chosen by its arguments, is shut down as a started process is.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from tests.interruption_points import Points

ROOT = Path(__file__).parents[2]
_COMMANDS = (
    *("align", "map", "extend", "distance", "local", "dotplot", "simulate", "bench", "doctor"),
    "plan",
    "shard",
    "merge",
)
# What most runs import later; its import depends on no variable that tests set.
_MODULES = ("wfacli.cli.app", "wfacli.cli.old_names", "typer.rich_utils", "typer._click.decorators", "pysam")
_STREAMS = 3
_SHUT_DOWN = 8
_lock = threading.Lock()


def run(arguments: Sequence[str], cwd: Path, data: bytes | int, stdout: int | None, environment: dict[str, str],
        timeout: float, memory: int = 0, more: Mapping[str, str] | None = None,
        stop: Callable[[], bool] | None = None, signal_at: int | None = None,
        ) -> tuple[int, bytes, bytes]:  # fmt: skip
    """Run the command; return its exit status (minus the signal number if a signal ended it), stdout and stderr.

    Args:
        arguments: arguments without the program name.
        cwd: working directory.
        data: standard input: bytes, which come through a pipe, or an open file descriptor.
        stdout: descriptor for standard output; None: a pipe.
        environment: environment of the process that is forked; the same for all calls.
        timeout: seconds, after which the process is killed and TimeoutExpired raised.
        memory: limit of the address space in bytes; 0: no limit.
        more: variables that differ in this run. Those that Python reads at its start have no effect.
        stop: is called until it returns True; then the process is killed, and its status is that of SIGKILL.
        signal_at: point of SIGTERM, counted from the start of the command (interruption_points.py); -1 for no
            signal; None to count none. The last line of stderr is a JSON object: `where` is the place of the signal,
            `first` has the first point at each place.
    """
    with _lock, contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        ends: dict[str, int] = {}

        def pipe(name: str, child_reads: bool) -> int:
            read, write = os.pipe()
            own, other = (write, read) if child_reads else (read, write)
            theirs.callback(os.close, other)
            ends[name] = own
            return other

        descriptors = [
            pipe("in", True) if isinstance(data, bytes) else data,
            pipe("out", False) if stdout is None else stdout,
            pipe("err", False),
        ]
        server = _server(tuple(environment.items()))
        asked = {"arguments": list(arguments), "cwd": str(cwd), "memory": memory, "environment": dict(more or {})}
        asked["signal_at"] = signal_at
        request = json.dumps(asked).encode()
        socket.send_fds(server, [len(request).to_bytes(4, "big")], descriptors)
        server.sendall(request)
        pid = int.from_bytes(_exactly(server, 4), "big")
        theirs.close()
        over = threading.Timer(timeout, os.kill, (pid, signal.SIGKILL))
        over.start()
        ours.callback(over.cancel)
        if stop is not None:
            ended = threading.Event()
            ours.callback(ended.set)
            threading.Thread(target=_kill_when, args=(stop, pid, ended), daemon=True).start()
        began = time.monotonic()
        out, err = _exchange(ends, data if isinstance(data, bytes) else b"")
        code = int.from_bytes(_exactly(server, 4), "big", signed=True)
        if code == -signal.SIGKILL and time.monotonic() - began >= timeout:
            raise subprocess.TimeoutExpired(["wfacli", *arguments], timeout, out, err)
        return code, out, err


def _kill_when(stop: Callable[[], bool], pid: int, ended: threading.Event) -> None:
    while not ended.wait(0.01):
        if stop():
            os.kill(pid, signal.SIGKILL)
            return


def _exchange(ends: dict[str, int], data: bytes) -> tuple[bytes, bytes]:
    """Write standard input and read the other streams until all are closed."""
    read: dict[str, list[bytes]] = {"out": [], "err": []}
    left = memoryview(data)
    with selectors.DefaultSelector() as waiting:
        for name, end in ends.items():
            os.set_blocking(end, False)
            waiting.register(end, selectors.EVENT_WRITE if name == "in" else selectors.EVENT_READ, name)
        while waiting.get_map():
            for key, _ in waiting.select():
                done = False
                if key.data == "in":
                    try:
                        left = left[os.write(key.fd, left[:65536]) :] if left else left
                        done = not left
                    except BrokenPipeError:
                        done = True
                else:
                    block = os.read(key.fd, 65536)
                    read[key.data].append(block)
                    done = not block
                if done:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return b"".join(read["out"]), b"".join(read["err"])


@functools.cache
def _server(environment: tuple[tuple[str, str], ...]) -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "tests.cli.forked", str(theirs.fileno())]
        process = subprocess.Popen(command, cwd=ROOT, env=dict(environment), pass_fds=[theirs.fileno()])

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _exactly(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        block = connection.recv(count - len(found))
        if not block:
            raise EOFError
        found += block
    return found


def _serve(connection: socket.socket) -> tuple[Sequence[str], int | None]:
    """Fork for each request; return, in the children only, its arguments and `signal_at`.

    A child is in the state of a newly started process.
    """
    while True:
        try:
            head, descriptors, _, _ = socket.recv_fds(connection, 4, _STREAMS)
            if not head:
                os._exit(0)
            request = json.loads(
                _exactly(connection, int.from_bytes(head + _exactly(connection, 4 - len(head)), "big"))
            )
        except (EOFError, ConnectionError):
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            break
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(pid.to_bytes(4, "big"))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(code.to_bytes(4, "big", signed=True))
    connection.close()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    if request["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (request["memory"],) * 2)
    return request["arguments"], request["signal_at"]


def _entry(signal_at: int | None) -> None:
    entry = import_module("wfacli.cli").entry
    if signal_at is None:
        entry()
    points = Points(signal.SIGTERM, signal_at)
    try:
        with points:
            entry()
    finally:
        print(json.dumps({"where": points.where, "first": points.first}), file=sys.stderr)


def _run(arguments: Sequence[str], signal_at: int | None) -> None:
    """Run the command and end the process."""
    sys.argv = ["wfacli", *arguments]
    try:
        _entry(signal_at)
    except SystemExit as end:
        if zlib.crc32("\0".join(arguments).encode(errors="surrogateescape")) % _SHUT_DOWN == 0:
            raise
        threading._shutdown()
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            raise end from None  # the interpreter's shutdown reports it
        os._exit(int(end.code or 0))


def main() -> None:
    for name in (*_MODULES, *(f"wfacli.cli.{name}" for name in _COMMANDS)):
        import_module(name)
    gc.freeze()
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a process with threads cannot be copied"
    _run(*_serve(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
