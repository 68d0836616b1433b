"""`wfacli` and `samtools` for shells, as forks of one process that has imported them, since starting is slow.

A command is a short script (written by `install`) that sends its streams, folder and arguments over a socket, and ends
when the fork ends. Forks run in parallel, as a pipeline requires (tests/cli/forked.py runs one at a time).
"""

from __future__ import annotations

import ast
import contextlib
import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from wfacli import cli

ROOT = Path(__file__).parents[2]
_SCRIPT = """#!{python} -IS
import _socket, sys, posix
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({place!r})
said = repr([{name!r}, posix.getcwd(), *sys.argv[1:]]).encode()
streams = b"".join(n.to_bytes(4, sys.byteorder) for n in (0, 1, 2))
server.sendmsg([len(said).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
server.sendall(said)
posix._exit(server.recv(1)[0])
"""


# Used where minimap2 is not installed: prints what minimap2 -x map-ont found for data/nanopore.query.fa.gz.
MAPPER = """#!/bin/sh
case "$*" in *--version*) echo 2.31; exit ;; esac
gzip -dc data/nanopore.paf.gz && echo '[M::main] Real time: 0 sec' >&2
"""


def install(folder: Path) -> subprocess.Popen[str]:
    """Write the commands into `folder`, and start the server process; the caller ends it."""
    if shutil.which("minimap2") is None:
        (folder / "minimap2").write_text(MAPPER)
        (folder / "minimap2").chmod(0o755)
    place = folder / "socket"
    for name in ("wfacli", "samtools"):
        script = folder / name
        script.write_text(_SCRIPT.format(python=sys.executable, place=str(place), name=name))
        script.chmod(0o755)
    served = [sys.executable, "-m", "tests.docs.served", str(place)]
    paths = f"{folder}{os.pathsep}{os.environ['PATH']}"  # wfacli itself looks for minimap2
    process = subprocess.Popen(served, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": paths})
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _samtools(arguments: list[str]) -> None:
    import pysam

    command = getattr(pysam.samtools, arguments[0].replace("-", "_"))
    sys.stdout.write(command(*arguments[1:]) or "")
    sys.stdout.flush()


def _run(connection: socket.socket) -> None:
    """Run one command in a fork, and return its status when it has ended."""
    head, streams, _, _ = socket.recv_fds(connection, 4, 3)
    said = b""
    while len(said) < int.from_bytes(head, "big"):
        said += connection.recv(1 << 16)
    name, folder, *arguments = ast.literal_eval(said.decode())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if child := os.fork():
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(bytes([code if code >= 0 else 128 - code]))
        os._exit(0)
    connection.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    os.chdir(folder)
    sys.argv = [name, *arguments]
    code: int | str | None = 0
    try:
        if name == "samtools":
            _samtools(arguments)
        else:
            cli.entry()
    except SystemExit as end:
        code = end.code
    except BrokenPipeError:
        code = 141
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    # Skip the interpreter's shutdown, which takes longer than most commands.
    os._exit(int(code or 0))


def main() -> None:
    from tests.cli.forked import _COMMANDS

    for name in _COMMANDS:
        import_module(f"wfacli.cli.{name}")
    import_module("wfacli.run.mapped")
    gc.freeze()
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a process with threads cannot be copied"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(sys.argv[1])
    listening.listen()
    print("ready", flush=True)
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _run(connection)
        connection.close()


if __name__ == "__main__":
    main()
