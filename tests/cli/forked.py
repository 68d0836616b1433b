"""Run the command as forks of a process that has imported it, since most of the time of a short run is its start.

Each run is a separate process with its own standard streams, folder and exit status, so that it behaves like a command
that was started; only the imports are shared. Tests of the start itself use real processes (support.run with `env` or
`program`, support.start).
"""

from __future__ import annotations

import atexit
import contextlib
import functools
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
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_COMMANDS = ("align", "map", "extend", "distance", "local", "dotplot", "simulate", "bench", "doctor")
_STREAMS = 3
_lock = threading.Lock()


def run(arguments: Sequence[str], cwd: Path, data: bytes | int, stdout: int | None, environment: dict[str, str],
        timeout: float, memory: int = 0) -> tuple[int, bytes, bytes]:  # fmt: skip
    """Run the command; return its exit status (minus the signal number if a signal ended it), stdout and stderr.

    Args:
        arguments: arguments without the program name.
        cwd: working directory.
        data: standard input: bytes, which come through a pipe, or an open file descriptor.
        stdout: descriptor for standard output; None: a pipe.
        environment: environment of the forked process; the same for all calls.
        timeout: seconds, after which the process is killed and TimeoutExpired raised.
        memory: limit of the address space in bytes; 0: no limit.
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
        request = json.dumps({"arguments": list(arguments), "cwd": str(cwd), "memory": memory}).encode()
        socket.send_fds(server, [len(request).to_bytes(4, "big")], descriptors)
        server.sendall(request)
        pid = int.from_bytes(_exactly(server, 4), "big")
        theirs.close()
        over = threading.Timer(timeout, os.kill, (pid, signal.SIGKILL))
        over.start()
        ours.callback(over.cancel)
        began = time.monotonic()
        out, err = _exchange(ends, data if isinstance(data, bytes) else b"")
        code = int.from_bytes(_exactly(server, 4), "big", signed=True)
        if code == -signal.SIGKILL and time.monotonic() - began >= timeout:
            raise subprocess.TimeoutExpired(["wfacli", *arguments], timeout, out, err)
        return code, out, err


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


def _serve(connection: socket.socket) -> None:
    """Fork for each request; return in the children only, in the state of a newly started process."""
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
    os.chdir(request["cwd"])
    if request["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (request["memory"],) * 2)
    sys.argv = ["wfacli", *request["arguments"]]


def main() -> None:
    from importlib import import_module

    from wfacli import cli

    for name in _COMMANDS:
        import_module(f"wfacli.cli.{name}")
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a process with threads cannot be copied"
    _serve(socket.socket(fileno=int(sys.argv[1])))
    cli.entry()


if __name__ == "__main__":
    main()
