"""Temporary folders that go with the process, however it ends."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path

# Waits until nobody has the other end of its input, then removes the folder, into which a child may still write.
_KEEPER = 'read -r _; n=0; while rm -rf -- "$0"; [ -e "$0" ] && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.1; done'


class Scratch:
    """A folder in TMPDIR, and a process that removes it when this one is killed.

    Attributes:
        name: its path.
    """

    def __init__(self) -> None:
        """Makes the folder. Raises OSError."""
        # It is made last, so that a signal at any moment meets somebody who removes it. Nobody can guess the name.
        self.name = str(Path(tempfile.gettempdir()) / f"wfacli-{secrets.token_hex(8)}")
        keeper: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):  # without a shell the folder stays after a kill
            # In a session of its own, so that it outlives what is sent to all processes of a terminal or a group.
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
        """Removes the folder with all that is in it."""
        self._end()

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_raised: object) -> None:
        self.cleanup()


def _end(name: str, keeper: subprocess.Popen[bytes] | None, process: int) -> None:
    if os.getpid() != process:  # a copy, which has made nothing
        return
    shutil.rmtree(name, ignore_errors=True)
    if keeper:
        assert keeper.stdin
        keeper.stdin.close()
        keeper.wait()
