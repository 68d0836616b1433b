"""The rows of the GPU table: pairs as files that every aligner reads."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from wfacli.core.batch import U8, PairBatch
from wfacli.io.read.reader import PairFiles, layout_of, read_batches

from . import work

_BASES = np.frombuffer(b"ACGT", np.uint8)
_SEED = 1
_CHUNK = 20_000_000  # bases of targets generated at a time
HEAD = 100_000  # pairs for aligners whose results take long to print


@dataclass(frozen=True)
class Row:
    """Random pairs, or a real set repeated a number of times.

    Attributes:
        name: in a table.
        pairs: number of random pairs, or 0.
        length: bases of their targets.
        error: edits per base of the target; a third each of mismatches, insertions and deletions.
        real: name of a real set, or "".
        times: number of repetitions of the set.
    """

    name: str
    pairs: int = 0
    length: int = 0
    error: float = 0.0
    real: str = ""
    times: int = 1

    @property
    def stem(self) -> str:
        """First part of its file names."""
        return self.real or f"{self.length}-{self.error}-{_SEED}"


_ERRORS = (0.02, 0.05, 0.1)


def _random(pairs: int, length: int, errors: Sequence[float] = _ERRORS) -> list[Row]:
    count = f"{pairs // 1_000_000} M" if pairs >= 1_000_000 else f"{pairs // 1000} k"
    bases = f"{length // 1000} kb" if length >= 1000 else f"{length} bp"
    return [Row(f"{count} × {bases} {100 * error:g}%", pairs, length, error) for error in errors]


ROWS = (
    *_random(2_000_000, 150),
    *_random(300_000, 1000),
    *_random(10_000, 10_000),
    Row("illumina150 × 30", real="illumina150", times=30),
    Row("illumina250 × 1000", real="illumina250", times=1000),
    Row("hifi_human × 100", real="hifi_human_wfagpu", times=100),
    Row("pacbio_clr_ecoli × 10", real="pacbio_clr_ecoli", times=10),
    Row("ont_ecoli_ul × 5", real="ont_ecoli_ul", times=5),
)

# Further rows of the papers: table 1 and figure 5 of eWFA-GPU (35 and 75 errors per pair).
PAPER_ROWS = (*_random(500_000, 300), *_random(300_000, 1000, (0.035, 0.075)))


def rows_named(texts: Sequence[str] | None) -> list[Row]:
    """Return ROWS, or those of ROWS and PAPER_ROWS whose names contain one of some texts."""
    return [row for row in (*ROWS, *PAPER_ROWS) if any(text in row.name for text in texts)] if texts else list(ROWS)


@dataclass(frozen=True)
class Files:
    """One row's pairs in the formats that aligners read.

    Attributes:
        seq: alternating lines of ">query" and "<target".
        fasta: queries and targets, named 0, 1, 2, …
        head: the same for the first HEAD pairs.
    """

    seq: Path
    fasta: tuple[Path, Path]
    head: tuple[Path, Path]

    @classmethod
    def of(cls, folder: Path, stem: str) -> Files:
        """Return the paths of a row's files in a folder."""
        sides = [(folder / f"{stem}{part}.query.fa", folder / f"{stem}{part}.target.fa") for part in ("", ".head")]
        return cls(folder / f"{stem}.seq", *sides)


class Pairs:
    """A row's pairs in memory."""

    def __init__(self, batches: Sequence[PairBatch]) -> None:
        self.batches = list(batches)

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    @cached_property
    def bases(self) -> int:
        """Bases of all queries and targets."""
        return sum(batch.total_bases for batch in self.batches)

    @cached_property
    def cells(self) -> int:
        """Cells of all pairs' matrices together."""
        return sum(map(work.matrix_cells, self.batches))

    @cached_property
    def longest(self) -> int:
        """Length of the longest sequence in bases."""
        return max(int(max(b.q_len.max(), b.t_len.max())) for b in self.batches if len(b))


def read(files: Files, batch_bases: int) -> Pairs:
    """Return a row's pairs in batches of about `batch_bases` bases."""
    sources = PairFiles(str(files.seq), None).open()
    try:
        return Pairs(list(read_batches(sources, layout_of(sources), batch_bases)))
    finally:
        for source in sources:
            source.close()


def write(row: Row, data: Path | None, share: float, folder: Path, fasta: bool) -> Files:
    """Write the row's files that are missing.

    Args:
        row: the row.
        data: folder with NAME.query.fa.gz and NAME.target.fa.gz of the real sets.
        share: share of the row's pairs, above 0 and up to 1.
        folder: for the files.
        fasta: True to write FASTA too.

    Raises:
        FileNotFoundError: a real set is missing.
    """
    stem = f"{row.stem}-{share:g}"
    files = Files.of(folder, stem)
    if not files.seq.exists():
        fresh = files.seq.with_suffix(".new")
        if row.real:
            _write_real(row, data, share, fresh)
        else:
            _write_random(row, max(1, round(row.pairs * share)), fresh)
        fresh.replace(files.seq)
    if fasta and not files.head[1].exists():
        _write_fasta(files)
    return files


def _write_real(row: Row, data: Path | None, share: float, path: Path) -> None:
    pairs = work.real_pairs(row.real, data)
    text = b"".join(
        b">%s\n<%s\n" % (_bases(pairs, q, n), _bases(pairs, t, m))
        for q, n, t, m in zip(pairs.q_start, pairs.q_len, pairs.t_start, pairs.t_len, strict=True)
    )
    times = max(1, round(row.times * share))
    with path.open("wb") as file:
        for _ in range(times):
            file.write(text)


def _bases(pairs: PairBatch, start: int, length: int) -> bytes:
    return pairs.bases[start : start + length].tobytes()


def _write_random(row: Row, pairs: int, path: Path) -> None:
    chunk = max(1, _CHUNK // row.length)
    rng = np.random.default_rng([_SEED, row.length, round(row.error * 1000)])
    with path.open("wb") as file:
        for first in range(0, pairs, chunk):
            file.write(random_seq(min(chunk, pairs - first), row.length, round(row.length * row.error), rng))


def random_seq(n: int, length: int, edits: int, rng: np.random.Generator) -> U8:
    """Return the text of a .seq file: targets of uniform bases, and queries with `edits` edits."""
    codes = rng.integers(0, 4, (n, length), np.uint8)
    spots = np.sort(rng.integers(0, length - edits + 1, (n, edits)), axis=1) + np.arange(edits)  # no base twice
    kinds = rng.integers(0, 3, (n, edits))  # mismatch, insertion before the base, deletion
    width = 2 * length + 4
    text = np.empty((n, width), np.uint8)
    text[:, 0], text[:, length + 1], text[:, length + 2], text[:, -1] = b">\n<\n"
    text[:, 1 : length + 1] = text[:, length + 3 : -1] = _BASES[codes]
    copies = np.ones((n, width), np.uint8)
    rows = np.broadcast_to(np.arange(n)[:, None], spots.shape)
    changed, added, gone = (kinds == kind for kind in range(3))
    other = (codes[rows[changed], spots[changed]] + rng.integers(1, 4, int(changed.sum()))) % 4
    text[rows[changed], 1 + spots[changed]] = _BASES[other]
    copies[rows[added], 1 + spots[added]] = 2  # the first of two copies becomes the inserted base
    copies[rows[gone], 1 + spots[gone]] = 0
    longer = added.astype(np.int64) - gone
    starts = np.cumsum(width + longer.sum(axis=1)) - width - longer.sum(axis=1)
    places = starts[:, None] + 1 + spots + np.cumsum(longer, axis=1) - longer
    written: U8 = np.repeat(text.ravel(), copies.ravel())
    written[places[added]] = _BASES[rng.integers(0, 4, int(added.sum()))]
    return written


def _write_fasta(files: Files) -> None:
    lines = files.seq.read_bytes().split(b"\n")
    for side in range(2):
        records = [b">%d\n%s\n" % (i, line[1:]) for i, line in enumerate(lines[side:-1:2])]
        for path, some in ((files.fasta[side], records), (files.head[side], records[:HEAD])):
            fresh = path.with_suffix(".new")
            fresh.write_bytes(b"".join(some))
            fresh.replace(path)


def folder_in_memory() -> Path | None:
    """Return a folder in memory with enough room, so that reading files costs no disk access; None for the default."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > 16 << 30 else None


def in_slices(pairs: Pairs, count: int) -> list[PairBatch]:
    """Return about `count` batches with similar numbers of pairs, in order; they are views of the pairs' columns."""
    size = max(1, -(-len(pairs) // count))
    return [
        batch.subset(np.arange(first, min(first + size, len(batch))))
        for batch in pairs.batches
        for first in range(0, len(batch), size)
    ]
