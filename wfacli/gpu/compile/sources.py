"""The kernel sources: their folder, and a key over everything that goes into a compilation."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from ...errors import DeviceError
from ..kernels.catalogue import Row

_PACKAGE = Path(__file__).parents[2]
_MARK = Path("common/task.cuh")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def source_folder() -> Path:
    """Return the folder cuda/ in the installed package, or beside the package in a checkout."""
    for folder in (_PACKAGE / "cuda", _PACKAGE.parent / "cuda"):
        if (folder / _MARK).is_file():
            return folder
    raise DeviceError("the GPU kernels' sources (wfacli/cuda) are missing from this installation; install it again")


def included_files(source: Path, folder: Path) -> list[Path]:
    """Return a source and all files that it includes in quotes, from each file's folder or from `folder`, sorted.

    Conditional includes are always counted: a key over too many files does no harm.
    """
    found: dict[Path, None] = {}
    waiting = [source]
    while waiting:
        file = waiting.pop().resolve()
        if file in found:
            continue
        found[file] = None
        for name in _INCLUDE.findall(file.read_bytes()):
            beside = [base / name.decode() for base in (file.parent, folder)]
            waiting += [path for path in beside if path.is_file()][:1]
    return sorted(found)


def row_key(row: Row, folder: Path, options: Iterable[str]) -> str:
    """Return 32 hexadecimal digits that change with a row's sources, its macros and the compiler options.

    Rows that differ only in their entry share a key: they are compiled together.
    """
    digest = hashlib.sha256()
    for part in ("1", *row.definitions, *options):
        digest.update(part.encode() + b"\0")
    root = folder.resolve()
    for file in included_files(folder / row.source, folder):
        name = file.relative_to(root) if file.is_relative_to(root) else Path(file.name)
        digest.update(name.as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:32]
