"""Temporary folders are removed with their process, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wfacli.io.write.scratch import Scratch

_MAKER = """
import sys, time
from wfacli.io.write.scratch import Scratch
scratch = Scratch()
open(scratch.name + "/file", "w").close()
print(scratch.name, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None])
def test_nothing_stays(sent: signal.Signals | None) -> None:
    maker = [sys.executable, "-c", _MAKER]
    with subprocess.Popen(maker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          start_new_session=True) as process:  # fmt: skip
        assert process.stdin and process.stdout
        folder = Path(process.stdout.readline().decode().strip())
        assert (folder / "file").exists()
        if sent:
            os.killpg(process.pid, sent)
    until = time.monotonic() + 30
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not folder.exists()


def test_it_is_removed_when_asked_for() -> None:
    scratch = Scratch()
    with scratch as name:
        (Path(name) / "file").touch()
    scratch.cleanup()
    assert not Path(name).exists()
    other = Path(Scratch().name)  # has no owner
    assert not other.exists()


def test_a_copy_of_the_process_removes_nothing() -> None:
    scratch = Scratch()
    copy = os.fork()
    if copy == 0:
        scratch.cleanup()
        os._exit(0)
    os.waitpid(copy, 0)
    assert Path(scratch.name).exists()
    scratch.cleanup()


def test_it_is_removed_when_no_file_can_be_opened() -> None:
    """The process that removes it has two more files than this one, which has reached its limit."""
    code = """if True:
        import os, resource, tempfile
        from wfacli.io.write.scratch import Scratch
        tempfile.gettempdir()  # tries the folder with a file, once
        resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))
        opened = [os.open("/", os.O_RDONLY) for _ in range(2)]
        scratch = Scratch()  # its keeper cannot be started
        os.symlink("/", scratch.name + "/link")
        scratch.cleanup()
        print(os.path.lexists(scratch.name))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\n", "")
