"""Checkpoints: the state of a run on disk, from which a later run resumes.

A checkpoint is replaced atomically, and is rejected if it is damaged or belongs to other inputs or options. A file
consists of a title line, a line of JSON, the solver's arrays back to back, and a BLAKE2b hash of all that precedes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..errors import InputError, OutputError
from ..io.write.temporary import new_beside, remove_left
from .base import Pair, State, Symbols
from .facts import listed, optional, record, row, text, whole

VERSION = 1
_DIGEST = 32  # bytes
_LONGEST_LINE = 1 << 20
_NEW = "new"  # tag in the name of an incomplete file
_KINDS = "biuf"  # numpy dtype kinds that are plain numbers: no objects


_is_head = record(
    digests=listed(text, 2),
    lengths=listed(whole, 2),
    most=optional(whole),
    options=text,
    algorithm=text,
    facts=lambda value: isinstance(value, dict),
    arrays=listed(row(text, text, listed(whole))),
)


@dataclass(frozen=True)
class Identity:
    """Inputs and options to which a checkpoint belongs.

    Attributes:
        digests: hexadecimal BLAKE2b digests of the symbols of A and B, as they are compared.
        lengths: lengths of A and B, in symbols.
        max_distance: `--max-distance` of the run; None if it is not given.
        command: wfacli command that writes the checkpoint.
        options: further options that must be the same, as text.
    """

    digests: tuple[str, str]
    lengths: tuple[int, int]
    max_distance: int | None
    command: str = "distance"
    options: str = ""

    @property
    def title(self) -> bytes:
        """First bytes of a checkpoint, before its format version."""
        return f"wfacli {self.command} checkpoint ".encode()

    @classmethod
    def of(cls, pair: Pair, max_distance: int | None) -> Identity:
        """Return the identity of a pair; hashing takes about a second per gigabyte."""
        sides = pair.query, pair.target
        return cls((_digest(sides[0]), _digest(sides[1])), (len(sides[0]), len(sides[1])), max_distance)


@dataclass(frozen=True)
class Saved:
    """State from which a run resumes.

    Attributes:
        algorithm: name of the solver; for `distance`, a name of `distance.choose.ALGORITHMS`.
        state: arrays of the solver; empty if it had finished.
        facts: further values of the run, as JSON; the reader must validate them.
    """

    algorithm: str
    state: State = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


class Checkpoint:
    """A checkpoint file: written atomically, verified when read."""

    def __init__(self, path: str, identity: Identity) -> None:
        """Check that the path can be written, and write nothing yet. Raises OutputError if it cannot."""
        self.path = path
        self._identity = identity
        folder = Path(path).parent
        if not path or not folder.is_dir():
            raise OutputError(f"{path or 'the checkpoint'}: there is no folder {folder} to write it to")
        if Path(path).is_dir() or not os.access(folder, os.W_OK):
            raise OutputError(f"{path}: a checkpoint cannot be written there")

    def exists(self) -> bool:
        """Return True if the file exists."""
        return Path(self.path).exists()

    def write(self, saved: Saved) -> None:
        """Replace the checkpoint atomically; the last one stays until the new one is on disk. Raises OutputError."""
        new: Path | None = None
        try:
            descriptor, new = new_beside(Path(self.path), _NEW)
            with os.fdopen(descriptor, "wb") as file:
                _write(file, self._identity, saved)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
            folder = os.open(new.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # makes the rename durable
            finally:
                os.close(folder)
        except OSError as error:
            if new:
                with contextlib.suppress(OSError):
                    new.unlink(missing_ok=True)
            raise OutputError(f"{self.path}: the checkpoint cannot be written: {error.strerror}") from None

    def read(self) -> Saved:
        """Return the last saved state. Raises InputError if it is damaged, or of other inputs or options."""
        try:
            with Path(self.path).open("rb") as file:
                head, saved = _read(file, self.path, self._identity)
        except OSError as error:
            raise InputError(self.path, error.strerror or str(error)) from None
        self._compare(head)
        return saved

    def remove(self) -> None:
        """Remove the file, and incomplete files that killed runs have left."""
        with contextlib.suppress(OSError):
            Path(self.path).unlink(missing_ok=True)
        remove_left(Path(self.path), _NEW)

    def _compare(self, head: dict[str, Any]) -> None:
        own = self._identity
        for side, name in enumerate("AB"):
            if (head["lengths"][side], head["digests"][side]) != (own.lengths[side], own.digests[side]):
                raise InputError(self.path, f"the checkpoint is of other inputs: {name} is not what it was")
        if head["most"] != own.max_distance:
            option = "without --max-distance" if head["most"] is None else f"with --max-distance {head['most']}"
            raise InputError(self.path, f"the checkpoint was made {option}; give the same to resume it")
        if (was := head["options"]) != own.options:
            now = own.options or "none"
            raise InputError(
                self.path, f"the checkpoint was made with {was or 'none'}, not {now}; give the same to resume it"
            )


def _digest(symbols: Symbols) -> str:
    data = np.ascontiguousarray(symbols).data.cast("B") if len(symbols) else b""
    return hashlib.blake2b(data, digest_size=_DIGEST).hexdigest()


class _Hashed:
    """Binary file that hashes everything that is read or written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.hash = hashlib.blake2b(digest_size=_DIGEST)

    def write(self, data: bytes | memoryview) -> None:
        self.hash.update(data)
        self._file.write(data)

    def line(self) -> bytes:
        found = self._file.readline(_LONGEST_LINE)
        self.hash.update(found)
        return found

    def fill(self, buffer: memoryview) -> bool:
        """Fill the buffer from the file; return False if the file ends before."""
        whole = self._file.readinto(buffer) == len(buffer)  # type: ignore[attr-defined]
        self.hash.update(buffer)
        return bool(whole)


def _write(file: BinaryIO, identity: Identity, saved: Saved) -> None:
    out = _Hashed(file)
    out.write(identity.title + str(VERSION).encode() + b"\n")
    arrays = {name: np.asarray(values, order="C") for name, values in saved.state.items()}
    head = {
        "digests": identity.digests,
        "lengths": identity.lengths,
        "most": identity.max_distance,
        "options": identity.options,
        "algorithm": saved.algorithm,
        "facts": saved.facts,
        "arrays": [[name, a.dtype.str, list(a.shape)] for name, a in arrays.items()],
    }
    out.write(json.dumps(head).encode() + b"\n")
    for values in arrays.values():
        out.write(_bytes_of(values))
    file.write(out.hash.digest())


def _bytes_of(values: npt.NDArray[Any]) -> memoryview:
    return values.reshape(-1).view(np.uint8).data


def _read(file: BinaryIO, path: str, identity: Identity) -> tuple[dict[str, Any], Saved]:
    damaged = InputError(path, "the checkpoint is damaged: its content is not what was written")
    source = _Hashed(file)
    title, expected = source.line(), identity.title
    if not title.startswith(expected):
        raise InputError(path, f"is not a checkpoint of wfacli {identity.command}")
    if title != expected + str(VERSION).encode() + b"\n":
        version = title.removeprefix(expected).strip().decode(errors="replace")
        raise InputError(path, f"the checkpoint is of another version of wfacli (format {version}, here {VERSION})")
    size = os.fstat(file.fileno()).st_size
    try:
        head: dict[str, Any] = json.loads(source.line())
        if not _is_head(head):
            raise damaged
        state = {}
        for name, kind, shape in head["arrays"]:
            dtype = np.dtype(kind)
            # A damaged file must not allocate more memory than its own size.
            if dtype.kind not in _KINDS or dtype.itemsize * int(np.prod(shape, dtype=np.float64)) > size:
                raise damaged
            state[name] = np.empty(shape, dtype)
            if not source.fill(_bytes_of(state[name])):
                raise damaged
        if file.read() != source.hash.digest():
            raise damaged
        return head, Saved(head["algorithm"], state, head["facts"])
    except (ValueError, TypeError, OverflowError, MemoryError, RecursionError):
        raise damaged from None
