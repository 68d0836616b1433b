"""The file of a plan.

A first line with the format's version; a line of JSON; then two sections, each deflated: the cuts (i64, row by row),
and SAM's header; at the end the SHA-256 of everything before it, which identifies the plan. The JSON has the sizes of
the sections.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import zlib
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from ..config import CigarStyle, Container, Format, OutputSpec
from ..core.batch import U8
from ..core.interruption import deferred
from ..errors import InputError
from ..io.read.remote import open_binary
from ..io.read.unnamed import unnamed_file
from ..io.write.output import Output
from .cuts import POSITION_FIELDS, CutTable
from .fingerprint import Fingerprint
from .plan import Plan, PlannedFile

_FORMAT = 1
_START = b"wfacli plan, format "
_LONGEST_LINE = 1 << 28  # bytes; longer lines are not read, whatever the file is
_BLOCK = 1 << 20
_LEVEL = 6
_DIGEST_BYTES = 32


class HeaderSpool:
    """SAM's header, deflated into a temporary file while it is made."""

    def __init__(self) -> None:
        """Create the file. Raises OSError."""
        self._file: IO[bytes] = unnamed_file()  # closed by close()
        self._deflate = zlib.compressobj(_LEVEL)

    def add(self, text: bytes | U8) -> None:
        """Add the next part. Raises OSError."""
        self._file.write(self._deflate.compress(text if isinstance(text, bytes) else text.data))

    def blocks(self) -> tuple[int, Iterator[bytes]]:
        """Return (size, blocks) of the deflated header, which is complete. Raises OSError."""
        self._file.write(self._deflate.flush())
        size = self._file.tell()
        self._file.seek(0)
        return size, iter(lambda: self._file.read(_BLOCK), b"")

    def close(self) -> None:
        """Delete the file."""
        self._file.close()


def write_plan(path: str, plan: Plan, header: HeaderSpool) -> str:
    """Write a plan, and return the SHA-256 that identifies it, in hexadecimal. Raises OutputError, OSError."""
    cuts = zlib.compress(plan.cuts.rows.tobytes(), _LEVEL)
    header_size, blocks = header.blocks()
    apart = ("cuts", "inputs", "spec")
    described = {
        **{f.name: getattr(plan, f.name) for f in dataclasses.fields(plan) if f.name not in apart},
        "spec": dataclasses.asdict(plan.spec),
        "inputs": [dataclasses.asdict(one) for one in plan.inputs],
        "shards": plan.shards,
        "sections": [len(cuts), header_size],
    }
    # ASCII, so that names which are not UTF-8 survive as surrogates.
    lines = _START + b"%d\n" % _FORMAT + json.dumps(described).encode("ascii") + b"\n"
    digest = hashlib.sha256()
    output: Output | None = None
    try:
        with deferred():  # a signal must not leave a file that is not known here
            output = Output(path)
        for piece in (lines, cuts):
            digest.update(piece)
            output.write(piece)
        for piece in blocks:
            digest.update(piece)
            output.write(piece)
        output.write(digest.digest())
        output.finish()
    except BaseException:
        if output:
            output.abandon(worth=False)
        raise
    return digest.hexdigest()


@dataclasses.dataclass(frozen=True)
class PlanFile:
    """A plan that was read, and where.

    Attributes:
        path: of the file.
        plan: the plan.
        digest: SHA-256 that identifies it, in hexadecimal.
    """

    path: str
    plan: Plan
    digest: str
    _header_at: int
    _header_size: int

    def header(self) -> Iterator[bytes]:
        """Yield SAM's header in blocks. Raises InputError."""
        inflate = zlib.decompressobj()
        try:
            with open_binary(self.path) as file:
                file.seek(self._header_at)
                left = self._header_size
                while left and (block := file.read(min(left, _BLOCK))):
                    left -= len(block)
                    while block:
                        yield inflate.decompress(block, _BLOCK)
                        block = inflate.unconsumed_tail
        except (OSError, zlib.error) as error:
            raise InputError(self.path, f"cannot be read: {error}") from None


def read_plan(path: str, version: str) -> PlanFile:
    """Read a plan, and check that it is undamaged.

    Args:
        path: of the file.
        version: version of wfacli; the plan must be of the same.

    Raises:
        InputError: the file cannot be read, is no plan, is damaged, or is of another version.
    """
    try:
        with open_binary(path) as file:
            start = file.readline(len(_START) + 8)
            if not start.startswith(_START):
                raise InputError(path, "is not a plan: wfacli plan QUERY TARGET --shards N -o PLAN makes one")
            if start != _START + b"%d\n" % _FORMAT:
                raise InputError(path, "is a plan in the format of another version of wfacli: make a new plan")
            described = json.loads(file.readline(_LONGEST_LINE))
            at = file.tell()
            cuts_size, header_size = described.pop("sections")
            if (other := described["version"]) != version:
                raise InputError(path, f"is of wfacli {other}, and this is {version}: make a new plan")
            table = file.read(cuts_size)
            digest = _checked(file, path, at + cuts_size + header_size)
            plan = _plan(described, table)
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, zlib.error):
        raise InputError(path, "is damaged: make a new plan") from None
    return PlanFile(path, plan, digest, at + cuts_size, header_size)


def _checked(file: IO[bytes], path: str, size: int) -> str:
    """Return the digest at the end of a plan. Raises InputError if it is not that of the plan."""
    file.seek(0)
    digest, left = hashlib.sha256(), size
    while left and (block := file.read(min(left, _BLOCK))):
        digest.update(block)
        left -= len(block)
    if left or file.read(_DIGEST_BYTES + 1) != digest.digest():
        raise InputError(path, "is damaged: make a new plan")
    return digest.hexdigest()


def _plan(described: dict[str, Any], table: bytes) -> Plan:
    """Return the plan of a description and its deflated cuts. Raises ValueError, KeyError, TypeError, zlib.error."""
    inputs = tuple(PlannedFile(one["path"], Fingerprint(**one["content"])) for one in described.pop("inputs"))
    spec = _spec(described.pop("spec"))
    lists: dict[str, Any] = {name: tuple(described.pop(name)) for name in ("arguments", "streams", "prefixes")}
    streams, shape = lists["streams"], (described.pop("shards") + 1, 2 + POSITION_FIELDS * len(lists["streams"]))
    if len(lists["prefixes"]) != len(streams) or not all(0 <= stream < len(inputs) for stream in streams):
        raise ValueError("streams are not inputs")
    size = math.prod(shape) * np.dtype(np.int64).itemsize
    rows = np.frombuffer(zlib.decompressobj().decompress(table, size), np.int64).reshape(shape)
    return Plan(**described, **lists, spec=spec, inputs=inputs, cuts=CutTable(rows))


def _spec(values: dict[str, Any]) -> OutputSpec:
    enums: dict[str, Any] = {"format": Format, "cigar": CigarStyle, "container": Container}
    given: dict[str, Any] = {name: enums[name](value) if name in enums else value for name, value in values.items()}
    return OutputSpec(**given)
