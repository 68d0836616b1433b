"""The oracle of the whole option space: oracle.cpp, compiled on first use, aligns a block of pairs in one call."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.oracle_spans import AnyScheme
from wfacli.config import AlignSpec, Ambiguous, Mode

SOURCE = Path(__file__).with_name("oracle.cpp")
FOLDER = Path(__file__).parents[2] / "build" / "oracle"
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-shared", "-fPIC")
_ADDRESSES = [ctypes.c_void_p] * 3, [ctypes.c_void_p] * 6
Pair = tuple[bytes, bytes]


@dataclass(frozen=True)
class Optima:
    """Canonical alignments of n pairs.

    Attributes:
        score: i64[n].
        span: i32[n, 4], query begin, query end, target begin, target end.
        cigar, cigar_start: u32[C], length << 4 | operation as in BAM, "=" by the rule of the spec, "M" for ambiguous
            bases with a penalty of their own; i64[n + 1].
        sam, sam_start: the same with SAM's "=": only A, C, G and T match.
    """

    score: np.ndarray
    span: np.ndarray
    cigar: np.ndarray
    cigar_start: np.ndarray
    sam: np.ndarray
    sam_start: np.ndarray

    def text(self, row: int, by_sam: bool = False) -> str:
        """Return the CIGAR of a row as text, "*" when it is empty."""
        runs, starts = (self.sam, self.sam_start) if by_sam else (self.cigar, self.cigar_start)
        return text_of(runs[starts[row] : starts[row + 1]])


def text_of(runs: np.ndarray) -> str:
    """Return operations as text, "*" when there are none."""
    return "".join(f"{run >> 4}{'MIDNSHP=X'[run & 15]}" for run in runs.tolist()) or "*"


def compiled(source: str, level: str = "-O3") -> ctypes.CDLL:
    """Compile an oracle, or load the library compiled earlier from the same source by the same compiler.

    Raises:
        AssertionError: the compiler failed; the message has its output.
    """
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    version = subprocess.check_output([*compiler, "--version"], text=True)
    key = hashlib.sha256("\0".join([*FLAGS, level, version, source]).encode()).hexdigest()[:24]
    library = FOLDER / f"oracle.{key}.so"
    if not library.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            (made := Path(folder) / "oracle.cpp").write_text(source)
            command = [*compiler, *FLAGS, level, str(made), "-o", f"{folder}/oracle.so"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            Path(folder, "oracle.so").replace(library)  # atomic: other processes may compile it too
    loaded = ctypes.CDLL(str(library))
    before, behind = _ADDRESSES
    address = ctypes.c_void_p
    loaded.oracle.argtypes = [ctypes.c_int64, address, address, ctypes.c_int, ctypes.c_int, *before, *behind]
    loaded.oracle.restype = None
    return loaded


@functools.cache
def _own() -> ctypes.CDLL:
    return compiled(SOURCE.read_text())


def optima(pairs: Sequence[Pair], spec: AlignSpec, library: ctypes.CDLL | None = None) -> Optima:
    """Compute the canonical alignments of pairs under a spec, whatever its bound on the cost; the GIL is released."""
    return solved(pairs, spec.penalties, spec.free.as_tuple(), spec.mode is Mode.EXTENSION, spec.ambiguous, library)


def solved(
    pairs: Sequence[Pair],
    costs: AnyScheme,
    free: Sequence[int],
    extension: bool,
    rule: str,
    library: ctypes.CDLL | None = None,
) -> Optima:
    """Compute the canonical alignments of pairs; the GIL is released.

    Args:
        pairs: queries and targets, in ASCII.
        costs: mismatch, one or two gap pieces, match, and ambiguous bases.
        free: maximum number of unaligned symbols at the beginning and end of the query, then of the target.
        extension: starts at the beginnings, and may end anywhere.
        rule: "mismatch", "wildcard" or "literal".
        library: another build of the oracle.
    """
    count = len(pairs)
    assert len(costs.gaps) <= 2
    pieces = [*itertools.chain(*costs.gaps), 0, 0]
    ambiguous = costs.mismatch if costs.ambiguous is None else costs.ambiguous
    scheme = np.array([costs.mismatch, costs.match, ambiguous, len(costs.gaps), *pieces[:4]], np.int64)
    ends = np.array(free, np.int64)
    lengths = np.array([[len(q), len(t)] for q, t in pairs], np.int64).reshape(-1, 2)
    starts = (np.cumsum(lengths) - lengths.ravel()).reshape(-1, 2)
    bases = np.frombuffer(b"".join(itertools.chain(*pairs)) + b"\0", np.uint8)
    assert (bases < 128).all()
    total = int(lengths.sum()) + 1
    found = Optima(
        np.zeros(count, np.int64),
        np.zeros((count, 4), np.int32),
        np.zeros(total, np.uint32),
        np.zeros(count + 1, np.int64),
        np.zeros(total, np.uint32),
        np.zeros(count + 1, np.int64),
    )
    columns = (found.score, found.span, found.cigar, found.cigar_start, found.sam, found.sam_start)
    addresses = [column.ctypes.data for column in (bases, starts, lengths, *columns)]
    numbers = scheme.ctypes.data, ends.ctypes.data, int(extension), list(Ambiguous).index(Ambiguous(rule))
    (library or _own()).oracle(count, *numbers, *addresses)
    cigar, sam = found.cigar[: found.cigar_start[-1]], found.sam[: found.sam_start[-1]]
    return Optima(found.score, found.span, cigar, found.cigar_start, sam, found.sam_start)
