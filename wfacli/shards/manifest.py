"""Manifests of parts: what a part has, written after it, so that a part without a manifest is not complete."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, OutputError
from ..io.read.remote import RemoteFile, create_folder, exists, open_binary, stored_size
from ..io.read.urls import is_url, joined
from ..io.write.output import Output
from .plan_file import PlanFile

# Bytes of the blocks of all parts, which a merge of sorted parts has in memory at once, and bounds of a block.
_BLOCKS, _MIN_BLOCK, _MAX_BLOCK = 1 << 26, 1 << 16, 1 << 20
_LONGEST = 1 << 24  # bytes of a manifest; longer files are not read, whatever they are
_AT_ONCE = 16  # parts in a store that are looked at, at a time
FOLDER = ".parts"  # suffix of the folder with the parts, after the plan's name


@dataclass(frozen=True)
class Manifest:
    """Contents of a part.

    Attributes:
        plan: SHA-256 that identifies the plan.
        shard: number of the shard, from 1.
        pairs: number of pairs that were aligned.
        bytes: size of the part.
        sha256: digest of the part, in hexadecimal.
        preamble: what precedes the records of all parts in the output: titles of a table.
        unaligned: numbers of pairs without an alignment, by status, other than by the user's own limits.
    """

    plan: str
    shard: int
    pairs: int
    bytes: int
    sha256: str
    preamble: str
    unaligned: dict[str, int]


class State(enum.StrEnum):
    """State of the part of a shard."""

    DONE = "done"
    MISSING = "missing"
    FOREIGN = "foreign"
    DAMAGED = "damaged"


class Parts:
    """The folder with the parts of a plan."""

    def __init__(self, file: PlanFile, folder: str | None = None) -> None:
        """Take a plan, and its folder if that is not the one beside the plan."""
        self._file = file
        self._folder = f"{file.path}{FOLDER}" if folder is None else folder
        self._digits = len(str(file.plan.shards))
        self._block = min(max(_BLOCKS // file.plan.shards, _MIN_BLOCK), _MAX_BLOCK)

    @property
    def numbers(self) -> range:
        """Numbers of all shards."""
        return range(1, self._file.plan.shards + 1)

    def create_folder(self) -> None:
        """Create the folder unless it exists. Raises OutputError."""
        try:
            create_folder(self._folder)
        except OSError as error:
            raise OutputError(f"{self._folder}: cannot be created: {error.strerror}") from None

    def path(self, shard: int) -> str:
        """Return the path of the part of a shard."""
        return joined(self._folder, f"{shard:0{self._digits}}-of-{self._file.plan.shards}.part")

    def manifest_path(self, shard: int) -> str:
        """Return the path of the manifest of a shard."""
        return f"{self.path(shard)}.json"

    def complete(self, shard: int, manifest: Manifest) -> None:
        """Write the manifest of a part that is there, which makes it complete. Raises OutputError."""
        data = json.dumps(dataclasses.asdict(manifest), indent=2).encode("ascii") + b"\n"
        Output(self.manifest_path(shard)).write_whole(data)

    def manifest(self, shard: int) -> Manifest | None:
        """Return the manifest of a shard; None if there is none, or it is damaged."""
        try:
            with open_binary(self.manifest_path(shard)) as file:
                return Manifest(**json.loads(file.read(_LONGEST)))
        except (OSError, ValueError, TypeError):
            return None

    def state(self, shard: int) -> State:
        """Return the state of a part, without reading it: its manifest's plan, and its size."""
        manifest = self.manifest(shard)
        try:
            size = stored_size(self.path(shard))
        except OSError:
            return State.MISSING
        if manifest is None:  # a shard is running, was killed, or the manifest is damaged
            return State.DAMAGED if exists(self.manifest_path(shard)) else State.MISSING
        if (manifest.plan, manifest.shard) != (self._file.digest, shard):
            return State.FOREIGN
        return State.DONE if size == manifest.bytes else State.DAMAGED

    def states(self) -> dict[int, State]:
        """Return the states of all parts, without reading them; of parts in a store, several at a time."""
        if not is_url(self._folder):
            return {shard: self.state(shard) for shard in self.numbers}
        with ThreadPoolExecutor(_AT_ONCE, "wfacli-states") as pool:
            return dict(zip(self.numbers, pool.map(self.state, self.numbers), strict=True))

    def checked_state(self, shard: int) -> State:
        """Return the state of a part after reading it."""
        if (state := self.state(shard)) is not State.DONE:
            return state
        try:
            for _ in self.blocks(shard):
                pass
        except InputError:
            return State.DAMAGED
        return State.DONE

    def blocks(self, shard: int) -> Iterator[bytes]:
        """Yield the bytes of a part in blocks; it must have a manifest. Raises InputError if they are not its own."""
        path, manifest = self.path(shard), self.manifest(shard)
        digest, size = hashlib.sha256(), 0
        for block in _blocks_of(path, self._block):
            digest.update(block)
            size += len(block)
            yield block
        if manifest is None or (digest.hexdigest(), size) != (manifest.sha256, manifest.bytes):
            raise InputError(path, "is damaged")


def _blocks_of(path: str, size: int) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks. Raises InputError."""
    if not is_url(path):
        at = 0
        while block := _read_at(path, at, size):
            at += len(block)
            yield block
        return
    try:
        with closing(RemoteFile(path)) as file:
            while block := file.read(size):
                yield block
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None


def _read_at(path: str, offset: int, size: int) -> bytes:
    """Return bytes of a file. It is not kept open: there may be more parts than a process can have files open."""
    try:
        with Path(path).open("rb", buffering=0) as file:
            return os.pread(file.fileno(), size, offset)
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
