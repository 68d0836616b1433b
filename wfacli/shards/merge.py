"""The merge of the parts of a plan."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from isal import isal_zlib
from isal.igzip_lib import IsalError

from .._native import sorted_bam_frames
from ..config import Container, Format, OutputSpec
from ..core.batch import U8
from ..core.interruption import deferred
from ..core.stats import counted
from ..errors import InputError, UsageError, WfacliError
from ..io.read.inflate import MAX_BLOCK, block_size
from ..io.write.bam import BamOutput, SortedOutput
from ..io.write.bgzip import BgzipOutput
from ..io.write.hts import HtsOutput
from ..io.write.output import Output
from ..io.write.parts import PartKind, frames_in
from .manifest import Manifest, Parts, State
from .plan_file import PlanFile

_SORTED_BYTES = 1 << 24  # bytes of BAM records that are sorted at a time
_BLOCK_HEADER = 18  # bytes of a BGZF block that have its size
_MOST_NAMED = 20  # shards in a message


class PartsMissing(WfacliError):
    """Parts that cannot be merged.

    Attributes:
        shards: numbers of the shards to run again.
        absent: True if these parts are missing, not damaged or of another plan.
    """

    def __init__(self, message: str, shards: list[int], absent: bool) -> None:
        super().__init__(message)
        self.shards, self.absent = shards, absent


@dataclass(frozen=True)
class Merged:
    """What a merge has written.

    Attributes:
        pairs: number of aligned pairs.
        unaligned: see Manifest; of all parts.
    """

    pairs: int
    unaligned: dict[str, int]


class _Damaged(Exception):
    """A part is damaged; all parts are then checked to name each of them."""


class Merge:
    """Puts the parts of a plan together, in the order of the shards; memory does not depend on their sizes.

    Attributes:
        bytes_read: bytes of parts that were read so far.
        bytes_total: bytes of all parts, after check().
    """

    def __init__(self, file: PlanFile, parts: Parts, spec: OutputSpec, threads: int, reference: str) -> None:
        """Take a plan and its parts.

        Args:
            file: the plan.
            parts: its parts.
            spec: how the run writes its output.
            threads: number of threads that compress.
            reference: FASTA that CRAM refers to.
        """
        self._file, self._parts, self._spec = file, parts, spec
        self._threads, self._reference = threads, reference
        self.bytes_read = self.bytes_total = 0
        self._manifests: list[Manifest] = []

    def check(self) -> None:
        """Check that all parts are there and of this plan, without reading them. Raises PartsMissing."""
        found = self._parts.states()
        self._refuse({shard: state for shard, state in found.items() if state is not State.DONE})
        self._manifests = [self._manifest(shard) for shard in self._parts.numbers]
        self.bytes_total = sum(manifest.bytes for manifest in self._manifests)

    def write(self, path: str | None, sort: bool = False, index: bool = False) -> Merged:
        """Write the output; call check() first.

        Args:
            path: path of the output; None: standard output.
            sort: sort BAM by position, also if the parts are not sorted.
            index: write the index of sorted BAM or CRAM.

        Raises:
            UsageError: the parts do not allow that.
            PartsMissing: parts are damaged; no output is left.
            OutputError: the output cannot be written.
        """
        spec = self._spec_of(sort, index)
        output: Output | None = None
        try:
            with deferred():  # a signal must not leave a file that is not known here
                output = self._open(path, spec)
            self._write_header(output)
            if PartKind.of(self._spec) is PartKind.FRAMES:
                assert isinstance(output, SortedOutput)
                output.add_runs([self._frames(shard) for shard in self._parts.numbers])
            else:
                self._copy(output, spec.sort)
            output.finish()
        except BaseException as problem:
            if output:
                output.abandon(worth=False)
            if isinstance(problem, _Damaged):
                self._refuse_damaged()
            raise
        unaligned: Counter[str] = Counter()
        for manifest in self._manifests:
            unaligned.update(manifest.unaligned)
        return Merged(sum(manifest.pairs for manifest in self._manifests), dict(unaligned))

    def _spec_of(self, sort: bool, index: bool) -> OutputSpec:
        spec = self._spec
        binary = spec.format is Format.SAM and spec.container is not Container.SAM
        if sort and not spec.sort and not binary:
            raise UsageError(
                "--sort: the parts are not sorted; for SAM, PAF and TSV the plan decides that: wfacli plan --sort"
            )
        spec = replace(spec, sort=spec.sort or sort, index=spec.index or index)
        if spec.index and not (binary and spec.sort):
            raise UsageError("--write-index is for sorted BAM and CRAM: give --sort")
        return spec

    def _open(self, path: str | None, spec: OutputSpec) -> Output:
        if spec.index and path in (None, "-"):
            raise UsageError("--write-index needs a file: give -o FILE.bam")
        if spec.format is Format.SAM and spec.container is Container.CRAM:
            return HtsOutput(path, spec, self._threads, self._reference)
        if spec.format is Format.SAM and spec.sort:
            return SortedOutput(path, spec, self._threads)
        if spec.format is Format.SAM and spec.container is Container.BAM:
            return BamOutput(path, spec, self._threads)
        return BgzipOutput(path, spec.compression) if spec.bgzip else Output(path)

    def _write_header(self, output: Output) -> None:
        for text in self._file.header():
            output.write(text)
        output.write(self._manifests[0].preamble.encode())
        output.begin_records()

    def _copy(self, output: Output, sort: bool) -> None:
        for shard in self._parts.numbers:
            blocks = self._blocks(shard)
            if sort and PartKind.of(self._spec) is PartKind.BAM:
                for frames in self._whole(_sorted_frames(_inflated(blocks))):
                    output.add(frames)
            else:
                for block in blocks:
                    output.add(block)

    def _frames(self, shard: int) -> Iterator[U8]:
        return self._whole(frames_in(self._blocks(shard)))

    def _blocks(self, shard: int) -> Iterator[bytes]:
        try:
            for block in self._parts.blocks(shard):
                self.bytes_read += len(block)
                yield block
        except InputError:
            raise _Damaged from None

    @staticmethod
    def _whole(frames: Iterator[U8]) -> Iterator[U8]:
        try:
            yield from frames
        except ValueError:
            raise _Damaged from None

    def _manifest(self, shard: int) -> Manifest:
        manifest = self._parts.manifest(shard)
        if manifest is None:  # removed since its state was found
            self._refuse({shard: State.MISSING})
        assert manifest
        return manifest

    def _refuse_damaged(self) -> NoReturn:
        """Raise PartsMissing that names all parts that are not whole."""
        found = {shard: self._parts.checked_state(shard) for shard in self._parts.numbers}
        self._refuse({shard: state for shard, state in found.items() if state is not State.DONE})
        raise WfacliError(f"{self._file.path}: a part has changed while it was read: merge again")

    def _refuse(self, bad: dict[int, State]) -> None:
        """Raise PartsMissing that names the parts, unless there are none."""
        if not bad:
            return
        reasons = []
        for state, meaning in _MEANINGS.items():
            if shards := [shard for shard, found in bad.items() if found is state]:
                reasons.append(f"{meaning}: {', '.join(map(self._parts.path, shards[:_MOST_NAMED]))}{_rest(shards)}")
        total = self._file.plan.shards
        raise PartsMissing(
            f"{self._file.path}: {counted(len(bad), 'part')} of {total:,} cannot be merged; " + "; ".join(reasons),
            sorted(bad),
            all(state is State.MISSING for state in bad.values()),
        )


_MEANINGS = {
    State.MISSING: "missing",
    State.FOREIGN: "of another plan",
    State.DAMAGED: "damaged",
}


def _rest(shards: list[int]) -> str:
    return f" and {len(shards) - _MOST_NAMED:,} more" if len(shards) > _MOST_NAMED else ""


def _inflated(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the data of BGZF blocks. Raises ValueError if they are damaged."""
    buffered = b""
    for block in blocks:
        buffered += block
        at = 0
        while at + _BLOCK_HEADER <= len(buffered):
            if not (size := block_size(buffered, at)):
                raise ValueError("no block begins here")
            if at + size > len(buffered):
                break
            yield _inflated_block(buffered[at : at + size])
            at += size
        buffered = buffered[at:]
    if buffered:
        raise ValueError("a block is incomplete")


def _inflated_block(block: bytes) -> bytes:
    try:
        return isal_zlib.decompress(block, 31, MAX_BLOCK)
    except IsalError as error:  # type: ignore[misc]
        raise ValueError(str(error)) from None


def _sorted_frames(pieces: Iterator[bytes]) -> Iterator[U8]:
    """Yield sorted frames of BAM records, some records at a time. Raises ValueError if they are damaged."""
    waiting: list[bytes] = []
    size = 0
    for piece in itertools.chain(pieces, [b""]):
        waiting.append(piece)
        size += len(piece)
        if size < _SORTED_BYTES and piece:
            continue
        records = b"".join(waiting)
        frames, done = sorted_bam_frames(np.frombuffer(records, np.uint8))
        waiting, size = [records[done:]], len(records) - done
        if len(frames):
            yield frames
    if size:
        raise ValueError("a record is incomplete")
