"""Compiled things on disk: made once, also by several processes at a time, and never read when damaged."""

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
TRUST = "WFACLI_TRUST_CACHE"  # says that a cache may be used whoever can write to it
_TAIL = len(_MARK) + 32  # after the content: the mark and SHA-256 of the content


class CacheWarning(UserWarning):
    """The cache cannot be written; what is compiled now will be compiled again."""


def default_folder() -> Path:
    """$WFACLI_CACHE_DIR, else wfacli in $XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get("WFACLI_CACHE_DIR")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path("~/.cache").expanduser()) / "wfacli"


def fault_of(folder: Path) -> str:
    """Why what a folder holds may be somebody else's, or "": kernels are code, and a hash in a file proves no origin.

    The folder must be this user's or root's, and nobody else may write to it, nor everybody to a folder above it.
    """
    if os.environ.get(TRUST):
        return ""
    here = folder.resolve()
    for path in here.parents:
        with contextlib.suppress(FileNotFoundError):
            mode = path.stat().st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:  # with it others replace nothing
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
    """Whether nobody but this user is in it; the superuser's has nobody else either."""
    try:
        user = pwd.getpwuid(os.geteuid())
        return group in (0, user.pw_gid) and set(grp.getgrgid(group).gr_mem) <= {user.pw_name}
    except KeyError:
        return False


class Cache:
    """Files by name. What follows their content tells damaged ones; loaders of ELF files do not mind it.

    A folder that others can write to is not used, nor files of others in it (see fault_of).
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self._fault: str | None = None  # of the folder, once it was looked at
        self._told = False  # that it cannot be written
        self._temporary: tempfile.TemporaryDirectory[str] | None = None  # where self.folder cannot be written

    def find(self, name: str) -> bytes | None:
        """The content, or None if there is none that is whole."""
        for folder in self._folders():
            content = _read_own(folder / name)
            if content is not None:
                return content
        return None

    def make(self, name: str, build: Callable[[], bytes]) -> bytes:
        """The content; built if there is none, by one process while others that need it wait."""
        return self.find(name) or self._build(name, build)

    def path(self, name: str) -> Path:
        """Where a file that `make` gave lies."""
        return next(p for folder in self._folders() if _read_own(p := folder / name) is not None)

    def names(self, pattern: str = "*") -> list[str]:
        """Of all files."""
        return sorted({p.name for f in self._folders() for p in f.glob(pattern) if not p.name.startswith(".")})

    def _build(self, name: str, build: Callable[[], bytes]) -> bytes:
        if not self._is_trusted():
            content = build()
            self._keep_aside(name, content)
            return content
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(_locked(self.folder, name))
            except OSError as problem:  # read-only, full, or no locks there
                content = build()
                self._keep_aside(name, content, problem)
                return content
            content = self.find(name) or build()
            try:
                _write(self.folder / name, content)
            except OSError as problem:
                self._keep_aside(name, content, problem)
            return content

    def _is_trusted(self) -> bool:
        if self._fault is None:
            self._fault = fault_of(self.folder)
            if self._fault:
                advice = f"make it yours alone, or set {TRUST}=1 where you trust it"
                warnings.warn(
                    f"the cache {self.folder} is not used: {self._fault}; {advice}", CacheWarning, stacklevel=5
                )
        return not self._fault

    def _keep_aside(self, name: str, content: bytes, problem: OSError | None = None) -> None:
        if self._temporary is None:
            if problem and not self._told:
                self._told = True
                words = f"cannot write to the cache {self.folder}: {problem.strerror}"
                warnings.warn(words, CacheWarning, stacklevel=4)
            try:
                self._temporary = tempfile.TemporaryDirectory(prefix="wfacli-", ignore_cleanup_errors=True)
            except OSError:  # likewise
                return
        with contextlib.suppress(OSError):  # nor there: then it is compiled again
            _write(Path(self._temporary.name) / name, content)

    def _folders(self) -> list[Path]:
        return [*[self.folder] * self._is_trusted(), *([Path(self._temporary.name)] if self._temporary else [])]


def read(path: Path) -> bytes | None:
    """Content of a file of a cache; None where there is no such file or it is damaged."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    content, tail = whole[:-_TAIL], whole[-_TAIL:]
    return content if tail == _tail(content) else None


def _read_own(path: Path) -> bytes | None:
    """Likewise; None too for a link, or a file that is another user's."""
    try:
        there = path.stat(follow_symlinks=False)
    except OSError:
        return None
    own = stat.S_ISREG(there.st_mode) and _is_ours(there.st_uid) and not there.st_mode & stat.S_IWOTH
    return read(path) if own or os.environ.get(TRUST) else None


def sealed(content: bytes) -> bytes:
    """Content as files of a cache have it."""
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
        os.close(handle)  # and with it the lock; the file stays, or else two could hold different ones
