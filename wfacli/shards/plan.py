"""The plan of a run in shards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..config import OutputSpec
from ..errors import InputError, UsageError
from ..io.read.section import Position
from ..io.read.urls import is_url
from .cuts import CutTable
from .fingerprint import Fingerprint


@dataclass(frozen=True)
class PlannedFile:
    """An input file of a plan.

    Attributes:
        path: as the user named it.
        content: fingerprint of the content.
    """

    path: str
    content: Fingerprint

    @classmethod
    def of(cls, path: str) -> PlannedFile:
        """Take the fingerprint of a file. Raises InputError."""
        return cls(path, Fingerprint.of(path))

    def check(self, folder: str) -> None:
        """Raise InputError if the file cannot be read, or its content is another one; `folder`: see Plan."""
        named_here = not is_url(self.path) and not Path(self.path).is_absolute()
        if named_here and not Path(self.path).exists():
            raise InputError(self.path, f"is not here: paths of the plan are relative to {folder}, where it was made")
        found = Fingerprint.of(self.path)
        if found != self.content:
            what = f"has {found.size:,} bytes" if found.size != self.content.size else "has other content"
            raise InputError(self.path, f"{what}, unlike the file that the plan was made of: make a new plan")


@dataclass(frozen=True)
class Plan:
    """Everything that the shards of a run and their merge need beside the input files.

    Attributes:
        version: version of wfacli; other versions do not use the plan.
        command: align, map or extend.
        arguments: words of the command line of the run, without the command.
        command_line: the command line of the run on one machine; @PG has it.
        output: output of the run as its -o names it; None: standard output.
        spec: how the output is written.
        reference: file with the targets.
        inputs: all input files.
        streams: indices in `inputs` of the files that are cut.
        prefixes: for each of these, bytes of the decompressed file that come before its first record, and which every
            shard reads: a header.
        layout: of the pairs (see reader.layout_of), "" for reads against a reference.
        columns: columns of a table of pairs, or 0.
        batch_bases: bases of a batch, if the run's bytes depend on it; None: each shard chooses.
        folder: working directory when the plan was made, to which relative paths refer.
        cuts: shards + 1 places, from the beginning to the end of the inputs.
    """

    version: str
    command: str
    arguments: tuple[str, ...]
    command_line: str
    output: str | None
    spec: OutputSpec
    reference: str
    inputs: tuple[PlannedFile, ...]
    streams: tuple[int, ...]
    prefixes: tuple[int, ...]
    layout: str
    columns: int
    batch_bases: int | None
    folder: str
    cuts: CutTable

    @property
    def shards(self) -> int:
        """Number of shards."""
        return len(self.cuts) - 1

    @property
    def records(self) -> int:
        """Number of pairs, mappings or reads of all shards."""
        return self.cuts[-1].records

    @property
    def work(self) -> int:
        """Estimated work of all shards, in bases."""
        return self.cuts[-1].work

    def section(self, shard: int, path: str) -> tuple[Position, Position, int]:
        """Return (begin, end, bytes of the prefix) of a shard, from 1, in an input that is cut."""
        number = [self.inputs[stream].path for stream in self.streams].index(path)
        begin, end = self.cuts[shard - 1].positions[number], self.cuts[shard].positions[number]
        return begin, end, self.prefixes[number]

    def is_empty(self, shard: int, path: str) -> bool:
        """Return True if a shard, from 1, has nothing of an input that is cut."""
        begin, end, _ = self.section(shard, path)
        return begin.offset == end.offset

    def records_of(self, shard: int) -> int:
        """Return the number of pairs or reads of a shard, from 1."""
        return self.cuts[shard].records - self.cuts[shard - 1].records

    def work_of(self, shard: int) -> int:
        """Return the estimated work of a shard, from 1, in bases."""
        return self.cuts[shard].work - self.cuts[shard - 1].work


def shard_of(text: str, plan: Plan) -> int:
    """Return the shard that "I/N" names. Raises UsageError unless N is the plan's number and I is 1 to N."""
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal()):
        raise UsageError(f"--shard is I/N, like 3/{plan.shards}, not {text!r}")
    if int(count) != plan.shards:
        raise UsageError(f"--shard {text}: the plan has {plan.shards:,} shards, not {int(count):,}")
    if not 1 <= int(number) <= plan.shards:
        raise UsageError(f"--shard {text}: shards are numbered from 1 to {plan.shards:,}")
    return int(number)
