"""Temporary folders that are removed when the process ends, even if it is killed."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import weakref
from pathlib import Path

from ..read.unnamed import temporary_folder

# Waits until the other end of its input is closed, then removes the folder, to which a child may still be writing.
_KEEPER = 'read -r _; n=0; while rm -rf -- "$0"; [ -e "$0" ] && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.1; done'


class Scratch:
    """A folder in TMPDIR, with a process that removes it if this one is killed.

    Attributes:
        name: path of the folder.
    """

    def __init__(self) -> None:
        """Create the folder. Raises OSError."""
        # The folder is created last, so that it is removed after a signal at any moment. Its name is unpredictable.
        self.name = str(Path(temporary_folder()) / f"wfacli-{secrets.token_hex(8)}")
        keeper: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):  # without a shell, the folder remains if this process is killed
            # A session of its own, so that signals to the terminal's processes or to the group do not reach it.
            keeper = subprocess.Popen(
                ["/bin/sh", "-c", _KEEPER, self.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        self._end = weakref.finalize(self, _end, self.name, keeper, os.getpid())
        Path(self.name).mkdir(mode=0o700)

    def cleanup(self) -> None:
        """Remove the folder and its contents."""
        self._end()

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_raised: object) -> None:
        self.cleanup()


def _end(name: str, keeper: subprocess.Popen[bytes] | None, process: int) -> None:
    if os.getpid() != process:  # a forked child, which does not own the folder
        return
    shutil.rmtree(name, ignore_errors=True)
    if keeper:
        assert keeper.stdin
        keeper.stdin.close()
        keeper.wait()
    if os.path.lexists(name):
        _remove_by_a_child(name)


def _remove_by_a_child(name: str) -> None:
    """Remove a folder by a process of its own, since rmtree opens the folder, which fails if too many files are open.

    No file is opened in this process, unlike by the subprocess module.
    """
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    with contextlib.suppress(OSError):
        child = os.posix_spawn("/bin/sh", ["sh", "-c", 'exec rm -rf -- "$0"', name], os.environ, file_actions=silent)
        os.waitpid(child, 0)
