"""The rows of cpu_table: what is aligned."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.harness.pairs import write_pairs
from wfacli.core.batch import PairBatch
from wfacli.io.read.reader import PairFiles, layout_of, read_batches

from .build import CACHE

_SEED = 1
_WHOLE_FILE = 1 << 62  # bases per batch: all of them in one


@dataclass(frozen=True)
class Random:
    """Pairs of pairs.py.

    Attributes:
        pairs: number of pairs.
        length: bases of a target.
        error: edits per base of the target; a third each of mismatches, insertions and deletions.
        least: minimum pairs of a share.
    """

    pairs: int
    length: int
    error: float
    least: int

    @property
    def name(self) -> str:
        """Name in a table, like "200k × 150 bp 2%"."""
        count = f"{self.pairs // 1000}k" if self.pairs >= 1000 else str(self.pairs)
        length = f"{self.length // 1000} kb" if self.length >= 1000 else f"{self.length} bp"
        return f"{count} × {length} {self.error:.0%}"


@dataclass(frozen=True)
class Real:
    """Pairs of a real set, repeated a number of times.

    Attributes:
        set: its name.
        least: minimum pairs of a share.
        times: number of repetitions.
    """

    set: str
    least: int
    times: int = 1

    @property
    def name(self) -> str:
        """Name in a table, like "illumina150"."""
        return f"{self.set} × {self.times}" if self.times > 1 else self.set


# A row with few pairs measures the cost of a call: 0.05 to 0.1 ms for ours, whatever its size, and almost nothing for
# peers, which loop in native code. A tenth of HiFi's 50 pairs took ours 0.17 ms, all of them 0.54 ms; 20 pairs of 10
# kb, which leave vector lanes empty, took 0.16 ms each, 200 of them 0.10 ms (distances alone, one thread:
# 2026-11-22-x86_64-2core-0e7f83d-cpu-table-part.json, …-0e7f83d-2-cpu-table-part.json and
# 2026-11-20-x86_64-2core-eab866e+-cpu-table.json). So the minimum of a row is the number of pairs whose distances take
# ours 2 ms by these files, more if vector lanes need them; and HiFi's set, which as a whole takes less, is repeated.
ROWS: tuple[Random | Real, ...] = (
    Random(200_000, 150, 0.02, least=15_000),
    Random(200_000, 150, 0.05, least=15_000),
    Random(100_000, 150, 0.10, least=12_000),
    Random(20_000, 1000, 0.02, least=2_500),
    Random(20_000, 1000, 0.05, least=2_000),
    Random(10_000, 1000, 0.10, least=1_000),
    Random(200, 10_000, 0.05, least=100),
    Real("illumina150", least=8_000),
    Real("pacbio_clr_ecoli", least=60),
    Real("hifi_human_wfagpu", least=200, times=10),
    Real("ont_ecoli_ul", least=15),
)


def names() -> list[str]:
    """Return the names of all rows, in the table's order."""
    return [row.name for row in ROWS]


def pairs_of(name: str, data: Path | None, share: float) -> PairBatch:
    """Return a share of a row's pairs as one batch, at least its minimum.

    Args:
        name: one of names().
        data: folder with NAME.query.fa.gz and NAME.target.fa.gz of the real sets.
        share: share of the row's pairs, above 0 and up to 1.

    Raises:
        FileNotFoundError: a real set is missing.
    """
    row = next(row for row in ROWS if row.name == name)
    if isinstance(row, Random):
        return _batch(*_written(row, _some(row.pairs, share, row.least)))
    once = real_pairs(row.set, data)
    count = _some(row.times * len(once), share, row.least)
    return once.subset(np.arange(count) % len(once))


def real_pairs(name: str, data: Path | None) -> PairBatch:
    """Return a real set as one batch. Raises FileNotFoundError."""
    if data is None:
        raise FileNotFoundError("no folder of real sets given (--data DIR)")
    return _batch(*(_first_of(data, f"{name}.{side}") for side in ("query", "target")))


def _some(pairs: int, share: float, least: int) -> int:
    return min(pairs, max(round(pairs * share), least))


def _written(row: Random, pairs: int) -> tuple[Path, Path]:
    """Return the files of a row's pairs; they are made once, since long pairs with many edits take a while."""
    folder = CACHE / "pairs"
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{pairs}x{row.length}-{row.error}-{_SEED}"
    files = folder / f"{stem}.query.fa", folder / f"{stem}.target.fa"
    if not all(file.exists() for file in files):
        fresh = [file.with_suffix(f".{os.getpid()}") for file in files]
        write_pairs(fresh[0], fresh[1], pairs, row.length, row.error, _SEED)
        for new, file in zip(fresh, files, strict=True):
            new.replace(file)
    return files


def _first_of(folder: Path, stem: str) -> Path:
    for ending in (".fa.gz", ".fa", ".fasta.gz", ".fasta"):
        if (folder / (stem + ending)).exists():
            return folder / (stem + ending)
    raise FileNotFoundError(f"no {stem}.fa.gz in the folder of real sets")


def _batch(query: Path, target: Path) -> PairBatch:
    sources = PairFiles(str(query), str(target)).open()
    try:
        (batch,) = read_batches(sources, layout_of(sources), _WHOLE_FILE)
    finally:
        for source in sources:
            source.close()
    return batch


def matrix_cells(pairs: PairBatch) -> int:
    """Return the cells of all pairs' matrices together."""
    return int((pairs.q_len.astype(np.int64) * pairs.t_len).sum())
