"""New temporary files beside their final place, which never overwrite a file and never follow a link."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path

_RANDOM = 4  # random bytes in a name
_TRIES = 100
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC


class LeftoverWarning(UserWarning):
    """A file left by a killed run with the same output was removed."""


def new_beside(final: Path, mark: str) -> tuple[int, Path]:
    """Create a file beside `final` and open it for writing.

    Its name, NAME.MARK-RANDOM, is unique, independent of process ids. The file stays locked while it is open, here or
    in a child process. Files of the same name and mark without a lock were left by runs that have ended; they are
    removed, with a LeftoverWarning for each, so that at most one is left at any time.

    Args:
        final: final path of the file.
        mark: infix of its temporary name.

    Returns:
        (descriptor, path).

    Raises:
        OSError: it cannot be created.
    """
    for path in remove_left(final, mark):
        warnings.warn(f"{path} was left by a run that ended early, and is removed", LeftoverWarning, stacklevel=4)
    for _ in range(_TRIES):
        path = final.with_name(f"{final.name}.{mark}-{secrets.token_hex(_RANDOM)}")
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o666)
            if _is_ours(descriptor, path):
                return descriptor, path
            os.close(descriptor)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def remove_left(final: Path, mark: str) -> list[Path]:
    """Remove files that ended runs left beside `final`; return their paths."""
    return [path for path in _all(final, mark) if _removed(path)]


def _all(final: Path, mark: str) -> Iterator[Path]:
    start = f"{final.name}.{mark}-"
    random = re.compile(f"[0-9a-f]{{{2 * _RANDOM}}}")
    with contextlib.suppress(OSError):  # a folder that cannot be listed may still be writable
        # Names, not paths, since a folder of parts has many.
        names = [name for name in os.listdir(final.parent) if name.startswith(start)]  # noqa: PTH208
        yield from (final.parent / name for name in sorted(names) if random.fullmatch(name[len(start) :]))


def _is_ours(descriptor: int, path: Path) -> bool:
    """Lock a new file; return False if another run locked or removed it before."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks, so other runs cannot remove the file either
        return True
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    return False


def _removed(path: Path) -> bool:
    """Remove a file of this user if it is not locked; return True if it was removed."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | _FLAGS)
    except OSError:  # for example a link
        return False
    try:
        there = os.fstat(descriptor)
        if not stat.S_ISREG(there.st_mode) or there.st_uid != os.geteuid():
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
