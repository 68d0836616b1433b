"""Compiled things on disk: made once, also by several processes at a time, and never read when damaged."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

_MARK = b"wfacli-1"
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


class Cache:
    """Files by name. What follows their content tells damaged ones; loaders of ELF files do not mind it."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None  # where self.folder cannot be written

    def find(self, name: str) -> bytes | None:
        """The content, or None if there is none that is whole."""
        for folder in self._folders():
            content = read(folder / name)
            if content is not None:
                return content
        return None

    def make(self, name: str, build: Callable[[], bytes]) -> bytes:
        """The content; built if there is none, by one process while others that need it wait."""
        return self.find(name) or self._build(name, build)

    def path(self, name: str) -> Path:
        """Where a file that `make` gave lies."""
        return next(p for folder in self._folders() if read(p := folder / name) is not None)

    def names(self, pattern: str = "*") -> list[str]:
        """Of all files."""
        return sorted({p.name for f in self._folders() for p in f.glob(pattern) if not p.name.startswith(".")})

    def _build(self, name: str, build: Callable[[], bytes]) -> bytes:
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

    def _keep_aside(self, name: str, content: bytes, problem: OSError) -> None:
        if self._temporary is None:
            warnings.warn(f"cannot write to the cache {self.folder}: {problem.strerror}", CacheWarning, stacklevel=4)
            self._temporary = tempfile.TemporaryDirectory(prefix="wfacli-", ignore_cleanup_errors=True)
        with contextlib.suppress(OSError):  # nor there: then it is compiled again
            _write(Path(self._temporary.name) / name, content)

    def _folders(self) -> list[Path]:
        return [self.folder, *([Path(self._temporary.name)] if self._temporary else [])]


def read(path: Path) -> bytes | None:
    """Content of a file of a cache; None where there is no such file or it is damaged."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    content, tail = whole[:-_TAIL], whole[-_TAIL:]
    return content if tail == _tail(content) else None


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
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)  # and with it the lock; the file stays, or else two could hold different ones
