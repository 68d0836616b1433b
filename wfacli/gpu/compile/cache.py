"""A cache of compiled files on disk: safe to share between processes; damaged files are detected and never used."""

from __future__ import annotations

import contextlib
import fcntl
import grp
import hashlib
import os
import pwd
import stat
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

_MARK = b"wfacli-1"
TRUST = "WFACLI_TRUST_CACHE"  # environment variable that allows a cache that others can write to
_TAIL = len(_MARK) + 32  # bytes after the content: the mark, and SHA-256 of the content


class CacheWarning(UserWarning):
    """The cache cannot be written, so kernels compiled now will be compiled again."""


def default_folder() -> Path:
    """Return $WFACLI_CACHE_DIR, or else wfacli in $XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get("WFACLI_CACHE_DIR")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path("~/.cache").expanduser()) / "wfacli"


def distrust_reason(folder: Path) -> str:
    """Return why the folder's content cannot be trusted, or "".

    Kernels are code, and a hash inside a file does not prove its origin. So the folder must belong to this user or
    root, no other user may write to it, and no folder above it may be writable by everybody.
    """
    if os.environ.get(TRUST):
        return ""
    here = folder.resolve()
    for path in here.parents:
        with contextlib.suppress(FileNotFoundError):
            mode = path.stat().st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:  # the sticky bit keeps others from replacing entries
                return f"others can write to {path}"
    try:
        there = here.stat()
    except FileNotFoundError:
        return ""
    if not _is_ours(there.st_uid):
        return f"{here} belongs to another user"
    if there.st_mode & stat.S_IWOTH:
        return f"others can write to {here}"
    if there.st_mode & stat.S_IWGRP and not _is_own_group(there.st_gid):
        return f"a group can write to {here}"
    return ""


def _is_ours(owner: int) -> bool:
    return owner in (0, os.geteuid())


def _is_own_group(group: int) -> bool:
    """Return whether a group is this user's own or root's, and has no other members."""
    try:
        user = pwd.getpwuid(os.geteuid())
        return group in (0, user.pw_gid) and set(grp.getgrgid(group).gr_mem) <= {user.pw_name}
    except KeyError:
        return False


class Cache:
    """Files by name. A trailer after the content detects damage; loaders of ELF files ignore it.

    A folder that others can write to is not used, and neither are other users' files in it (see distrust_reason).
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self._distrust: str | None = None  # of the folder; None until it has been checked
        self._warned = False  # whether the user has been warned that the cache is not writable
        self._temporary: tempfile.TemporaryDirectory[str] | None = None  # replaces self.folder if that is not writable

    def find(self, name: str) -> bytes | None:
        """Return the content of a file, or None if it is missing or damaged."""
        for folder in self._folders():
            content = _read_own(folder / name)
            if content is not None:
                return content
        return None

    def make(self, name: str, build: Callable[[], bytes]) -> bytes:
        """Return the content; build it if it is missing, in one process while others that need it wait."""
        return self.find(name) or self._build(name, build)

    def path(self, name: str) -> Path:
        """Return the path of a file that `make` returned."""
        return next(p for folder in self._folders() if _read_own(p := folder / name) is not None)

    def names(self, pattern: str = "*") -> list[str]:
        """Return the names of all files that match a pattern."""
        return sorted({p.name for f in self._folders() for p in f.glob(pattern) if not p.name.startswith(".")})

    def _build(self, name: str, build: Callable[[], bytes]) -> bytes:
        if not self._is_trusted():
            content = build()
            self._write_temporary(name, content)
            return content
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(_locked(self.folder, name))
            except OSError as problem:  # read-only, full, or without support for locks
                content = build()
                self._write_temporary(name, content, problem)
                return content
            content = self.find(name) or build()
            try:
                _write(self.folder / name, content)
            except OSError as problem:
                self._write_temporary(name, content, problem)
            return content

    def _is_trusted(self) -> bool:
        if self._distrust is None:
            self._distrust = distrust_reason(self.folder)
            if self._distrust:
                advice = f"make it yours alone, or set {TRUST}=1 where you trust it"
                warnings.warn(
                    f"the cache {self.folder} is not used: {self._distrust}; {advice}", CacheWarning, stacklevel=5
                )
        return not self._distrust

    def _write_temporary(self, name: str, content: bytes, problem: OSError | None = None) -> None:
        if self._temporary is None:
            if problem and not self._warned:
                self._warned = True
                words = f"cannot write to the cache {self.folder}: {problem.strerror}"
                warnings.warn(words, CacheWarning, stacklevel=4)
            try:
                self._temporary = tempfile.TemporaryDirectory(prefix="wfacli-", ignore_cleanup_errors=True)
            except OSError:  # not writable either
                return
        with contextlib.suppress(OSError):  # if this fails, the kernel is compiled again
            _write(Path(self._temporary.name) / name, content)

    def _folders(self) -> list[Path]:
        return [*[self.folder] * self._is_trusted(), *([Path(self._temporary.name)] if self._temporary else [])]


def read(path: Path) -> bytes | None:
    """Return the content of a cache file; None if it is missing or damaged."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    content, tail = whole[:-_TAIL], whole[-_TAIL:]
    return content if tail == _tail(content) else None


def _read_own(path: Path) -> bytes | None:
    """Return the content of a cache file; None also for a link or a file of another user."""
    try:
        there = path.stat(follow_symlinks=False)
    except OSError:
        return None
    own = stat.S_ISREG(there.st_mode) and _is_ours(there.st_uid) and not there.st_mode & stat.S_IWOTH
    return read(path) if own or os.environ.get(TRUST) else None


def sealed(content: bytes) -> bytes:
    """Return content with its trailer, as it is stored."""
    return content + _tail(content)


def _tail(content: bytes) -> bytes:
    return _MARK + hashlib.sha256(content).digest()


def _write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(sealed(content))
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _locked(folder: Path, name: str) -> Iterator[None]:
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)  # releases the lock; the file stays, since otherwise two processes could lock different ones
