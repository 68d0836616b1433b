"""A run's state on disk, from which another run goes on: whole or not there, and of these inputs or refused.

A file is a line that says what it is, a line of JSON, the solver's arrays one after the other, and a hash of all that.
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
from .base import Letters, Pair, State
from .facts import listed, optional, record, row, text, whole

VERSION = 1
_DIGEST = 32  # bytes
_LONGEST_LINE = 1 << 20
_NEW = "new"  # what the name of one that is being written says
_KINDS = "biuf"  # numpy's, of arrays that are nothing but numbers


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
    """What a checkpoint belongs to.

    Attributes:
        digests: of both sequences' symbols, as they are compared.
        lengths: of both.
        most: the run's --max-distance.
        command: that wrote it.
        options: what else must be the same, in words.
    """

    digests: tuple[str, str]
    lengths: tuple[int, int]
    most: int | None
    command: str = "distance"
    options: str = ""

    @property
    def title(self) -> bytes:
        """How a checkpoint begins, before its version."""
        return f"wfacli {self.command} checkpoint ".encode()

    @classmethod
    def of(cls, pair: Pair, most: int | None) -> Identity:
        """That of a pair. Takes a second for a gigabyte."""
        sides = pair.query, pair.target
        return cls((_digest(sides[0]), _digest(sides[1])), (len(sides[0]), len(sides[1])), most)


@dataclass(frozen=True)
class Saved:
    """What a run goes on from.

    Attributes:
        algorithm: the solver's name in distance.choose.
        state: the solver's; empty where it has come to its end.
        facts: what else the run has to know, as plain values; who reads them checks what they are.
    """

    algorithm: str
    state: State = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


class Checkpoint:
    """A checkpoint's file."""

    def __init__(self, path: str, identity: Identity) -> None:
        """Nothing is written yet. Raises OutputError where that would fail."""
        self.path = path
        self._identity = identity
        folder = Path(path).parent
        if not path or not folder.is_dir():
            raise OutputError(f"{path or 'the checkpoint'}: there is no folder {folder} to write it to")
        if Path(path).is_dir() or not os.access(folder, os.W_OK):
            raise OutputError(f"{path}: a checkpoint cannot be written there")

    def exists(self) -> bool:
        """Whether there is one."""
        return Path(self.path).exists()

    def write(self, saved: Saved) -> None:
        """Puts a new one in place of the last, which stays until the new one is on the disk. Raises OutputError."""
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
                os.fsync(folder)  # the name too
            finally:
                os.close(folder)
        except OSError as error:
            if new:
                with contextlib.suppress(OSError):
                    new.unlink(missing_ok=True)
            raise OutputError(f"{self.path}: the checkpoint cannot be written: {error.strerror}") from None

    def read(self) -> Saved:
        """What was written last. Raises InputError where it is damaged, or of other inputs or options."""
        try:
            with Path(self.path).open("rb") as file:
                head, saved = _read(file, self.path, self._identity)
        except OSError as error:
            raise InputError(self.path, error.strerror or str(error)) from None
        self._compare(head)
        return saved

    def remove(self) -> None:
        """Removes the file, and what a killed run has left of a new one."""
        with contextlib.suppress(OSError):
            Path(self.path).unlink(missing_ok=True)
        remove_left(Path(self.path), _NEW)

    def _compare(self, head: dict[str, Any]) -> None:
        own = self._identity
        for side, name in enumerate("AB"):
            if (head["lengths"][side], head["digests"][side]) != (own.lengths[side], own.digests[side]):
                raise InputError(self.path, f"the checkpoint is of other inputs: {name} is not what it was")
        if head["most"] != own.most:
            most = "without --max-distance" if head["most"] is None else f"with --max-distance {head['most']}"
            raise InputError(self.path, f"the checkpoint was made {most}; give the same to go on from it")
        if (was := head["options"]) != own.options:
            now = own.options or "none"
            raise InputError(
                self.path, f"the checkpoint was made with {was or 'none'}, not {now}; give the same to go on from it"
            )


def no_state(checkpoint: Checkpoint | None) -> InputError:
    """What is raised where what was read is no state of a run."""
    path = checkpoint.path if checkpoint else "--resume"
    return InputError(path, "the checkpoint is damaged: what it says is no state of a run")


def _digest(letters: Letters) -> str:
    data = np.ascontiguousarray(letters).data.cast("B") if len(letters) else b""
    return hashlib.blake2b(data, digest_size=_DIGEST).hexdigest()


class _Hashed:
    """A file of which everything that goes through is hashed."""

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

    def fill(self, room: memoryview) -> bool:
        """Whether there was as much as there is room."""
        whole = self._file.readinto(room) == len(room)  # type: ignore[attr-defined]
        self.hash.update(room)
        return bool(whole)


def _write(file: BinaryIO, identity: Identity, saved: Saved) -> None:
    out = _Hashed(file)
    out.write(identity.title + str(VERSION).encode() + b"\n")
    arrays = {name: np.asarray(values, order="C") for name, values in saved.state.items()}
    head = {
        "digests": identity.digests,
        "lengths": identity.lengths,
        "most": identity.most,
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
        raise InputError(path, f"is no checkpoint of wfacli {identity.command}")
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
            # A damaged file shall not ask for more memory than it is large.
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
