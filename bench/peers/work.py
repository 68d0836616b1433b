"""The rows of the comparison: what is aligned."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pairs import write_pairs

from wfacli.batch import PairBatch
from wfacli.io.reader import PairFiles, layout_of, read_batches

from .build import CACHE

_SEED = 1
_WHOLE_FILE = 1 << 62  # bases a batch: all of them in one


@dataclass(frozen=True)
class Random:
    """Pairs of pairs.py.

    Attributes:
        pairs: how many.
        length: letters of a target.
        error: edits a letter of the target; a third each of mismatches, insertions and deletions.
    """

    pairs: int
    length: int
    error: float

    @property
    def name(self) -> str:
        """As in a table: 200k × 150 2%."""
        count = f"{self.pairs // 1000}k" if self.pairs >= 1000 else str(self.pairs)
        length = f"{self.length // 1000} kb" if self.length >= 1000 else f"{self.length} bp"
        return f"{count} × {length} {self.error:.0%}"


RANDOM = (
    Random(200_000, 150, 0.02),
    Random(200_000, 150, 0.05),
    Random(100_000, 150, 0.10),
    Random(20_000, 1000, 0.02),
    Random(20_000, 1000, 0.05),
    Random(10_000, 1000, 0.10),
    Random(200, 10_000, 0.05),
)
REAL = ("illumina150", "pacbio_clr_ecoli", "hifi_human_wfagpu", "ont_ecoli_ul")


def names() -> list[str]:
    """Names of all rows, in the table's order."""
    return [*(row.name for row in RANDOM), *REAL]


def pairs_of(name: str, data: Path | None, share: float) -> PairBatch:
    """A row's pairs as one batch.

    Args:
        name: one of names().
        data: folder with NAME.query.fa.gz and NAME.target.fa.gz of the real sets.
        share: of the row's pairs, above 0 and up to 1.

    Raises:
        FileNotFoundError: a real set that is not at hand.
    """
    random = next((row for row in RANDOM if row.name == name), None)
    if random is not None:
        return _batch(*_written(random, max(1, round(random.pairs * share))))
    if data is None:
        raise FileNotFoundError("no folder of real sets given (--data DIR)")
    files = [_first_of(data, f"{name}.{side}") for side in ("query", "target")]
    pairs = _batch(*files)
    return pairs.head(max(1, round(len(pairs) * share)))


def _written(row: Random, pairs: int) -> tuple[Path, Path]:
    """Files of a row's pairs, made where they are missing: long pairs with many edits take a while."""
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
    """Cells of all pairs' matrices together."""
    return int((pairs.q_len.astype(np.int64) * pairs.t_len).sum())
