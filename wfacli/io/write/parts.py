"""Parts of an output, which shards write and a merge puts together.

A part has records only: text as it is, text in .gz and BAM as BGZF blocks, or, if the output is sorted, sorted frames
(native/format/sorted_frames.hpp) in deflated chunks.
"""

from __future__ import annotations

import enum
import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import deflate
import numpy as np
from isal import isal_zlib
from isal.igzip_lib import IsalError

from ...config import Container, Format, OutputSpec
from ...core.batch import U8
from .bam import BamOutput, Numbered, SortedOutput
from .bgzf import DEFAULT_LEVEL, compressed
from .output import Output

_CHUNK = 1 << 16  # bytes of frames in a chunk; of each part, a merge has one chunk in memory
_MAX_CHUNK = (1 << 32) + _CHUNK  # bytes of a chunk with the longest possible record
_LEVEL = 1  # of libdeflate, which gives equal records equal bytes, whoever writes the part
_SIZES = struct.Struct("<II")  # bytes of a chunk: deflated, and as they were
_Header = Callable[[], Iterable[bytes]]


class PartKind(enum.StrEnum):
    """Contents of parts."""

    TEXT = "text"
    BGZIP = "bgzip"
    BAM = "bam"
    FRAMES = "frames"

    @classmethod
    def of(cls, spec: OutputSpec) -> PartKind:
        """Return the kind of the parts of an output."""
        text = cls.BGZIP if spec.bgzip else cls.TEXT
        if spec.format is not Format.SAM or spec.container is Container.CRAM:
            return text  # htslib makes CRAM of SAM, and sorts it
        if spec.sort:
            return cls.FRAMES
        return cls.BAM if spec.container is Container.BAM else text

    @property
    def in_blocks(self) -> bool:
        """True if parts are BGZF blocks, which are those of the output."""
        return self in (PartKind.BGZIP, PartKind.BAM)


class Part(Output):
    """A part of an output; nothing of an incomplete one is kept.

    Attributes:
        preamble: what was written before the records and is not in the part: titles of a table.
    """

    def __init__(self, path: str) -> None:
        """Open a path. Raises OutputError."""
        super().__init__(path)
        self.preamble = b""
        self._sha256 = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Digest of what is written, in hexadecimal."""
        return self._sha256.hexdigest()

    def _put(self, *pieces: bytes | U8) -> None:
        """See Output."""
        super()._put(*pieces)
        for piece in pieces:
            self._sha256.update(piece if isinstance(piece, bytes) else piece.data)

    def abandon(self, worth: bool = True) -> Path | None:
        """See Output."""
        del worth
        return super().abandon(worth=False)


class TextPart(Part):
    """Records of a text format."""

    _begun = False

    def write(self, data: bytes | U8) -> None:
        """Add titles of a table before begin_records(), records after it. See Output."""
        if self._begun:
            super().write(data)
        else:
            self.preamble += bytes(data)

    def begin_records(self) -> None:
        """See Output."""
        self._begun = True


class BgzipPart(TextPart):
    """Records of a text format, in the blocks that BgzipOutput writes them in."""

    def __init__(self, path: str, level: int | None) -> None:
        """Open a path; see BgzipOutput. Raises OutputError."""
        super().__init__(path)
        self._level = DEFAULT_LEVEL if level is None else level

    def packed(self, records: U8) -> U8 | bytes:
        """See Output."""
        return compressed(records, self._level).data


class _Headed(Numbered):
    """Binary output whose numbers of targets are those of the whole output, which its header is not part of."""

    def __init__(self, path: str, spec: OutputSpec, threads: int, header: _Header) -> None:
        """Open a path; see Numbered. `header`: returns the header of the whole output."""
        super().__init__(path, spec, threads)
        self._whole_header = header

    def begin_records(self) -> None:
        """See Output. Raises OutputError if BAM cannot hold the header."""
        for text in self._whole_header():
            self._header.add(text)
        self._header.begin()
        self._header.number()


class BamPart(_Headed, BamOutput, Part):
    """BAM records in the blocks that BamOutput writes them in."""

    def finish(self) -> None:
        """See Output; other parts follow, so that nothing marks the end."""
        Numbered.finish(self)

    def abandon(self, worth: bool = True) -> Path | None:
        """See Part."""
        return Numbered.abandon(self, worth)


class FramesPart(_Headed, SortedOutput, Part):
    """Sorted records with their keys."""

    def finish(self) -> None:
        """Sort the records, write them, and rename the file. Raises OutputError."""
        for frames in self._sorter.merged(_CHUNK, keep_frames=True):
            deflated = deflate.deflate_compress(frames.data, _LEVEL)
            self._put(_SIZES.pack(len(deflated), len(frames)) + deflated)
        self._sorter.close()
        Numbered.finish(self)

    def abandon(self, worth: bool = True) -> Path | None:
        """See Part."""
        self._sorter.close()
        return Numbered.abandon(self, worth)


def open_part(path: str, spec: OutputSpec, threads: int, header: _Header) -> Part:
    """Open a part of an output for writing.

    Args:
        path: path of the part.
        spec: how the whole output is written.
        threads: number of threads that compress.
        header: returns SAM's header of the whole output, in pieces.

    Raises:
        OutputError: the file cannot be written.
    """
    kind = PartKind.of(spec)
    if kind is PartKind.TEXT:
        return TextPart(path)
    if kind is PartKind.BGZIP:
        return BgzipPart(path, spec.compression)
    return (BamPart if kind is PartKind.BAM else FramesPart)(path, spec, threads, header)


def frames_in(blocks: Iterator[bytes]) -> Iterator[U8]:
    """Yield the frames of a FRAMES part, chunk by chunk. Raises ValueError if it is damaged."""
    buffered = b""
    for block in blocks:
        buffered += block
        while len(buffered) >= _SIZES.size:
            deflated, size = _SIZES.unpack_from(buffered)
            end = _SIZES.size + deflated
            if len(buffered) < end:
                break
            yield _inflated(buffered[_SIZES.size : end], size)
            buffered = buffered[end:]
    if buffered:
        raise ValueError("a chunk is incomplete")


def _inflated(deflated: bytes, size: int) -> U8:
    try:
        frames = isal_zlib.decompress(deflated, -15, min(size, _MAX_CHUNK))
    except IsalError as error:  # type: ignore[misc]
        raise ValueError(str(error)) from None
    if len(frames) != size:
        raise ValueError("a chunk has another size")
    return np.frombuffer(frames, np.uint8)
