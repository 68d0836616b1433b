"""The pairs of distance_table: one long pair for each row."""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wfacli.core.batch import I32, U8, PairBatch, Records
from wfacli.solve.base import Pair

_SEED = 1
_ALIGN, _BEHIND = 16, 64  # of sequences in a PairBatch: alignment of their starts, and bytes behind the last
_CHUNK = 1 << 24  # bases generated at a time, so that temporary memory is small beside the pair itself
_BASES = np.frombuffer(b"ACGT", np.uint8)


@dataclass(frozen=True)
class Row:
    """One pair.

    Attributes:
        name: in the table.
        real: set whose first records are taken; "" for a random pair.
        bases: bases of a random pair's target.
        error: edits per base of the target, a third each of mismatches, insertions and deletions; None: the query is
            another random string.
        planted: True if the number of edits is the distance by construction; see planted().
        needs_gpu: True if it is too large for a CPU.
        query: bases of the query, if it is a random string of another length.
    """

    name: str
    real: str = ""
    bases: int = 0
    error: float | None = None
    planted: bool = False
    needs_gpu: bool = False
    query: int = 0


REAL = (
    "long_mt_human_orang",
    "long_lpa_human",
    "long_ont_500k",
    "long_hpylori_puno120_sjm180",
    "long_ecoli_dh1_mg1655",
)
ROWS = (
    *(Row(name, real=name) for name in REAL),
    Row("random 1 Mb", bases=1_000_000),
    Row("5 Mb 99.9%", bases=5_000_000, error=0.001),
    Row("random 10 Mb", bases=10_000_000, needs_gpu=True),
    Row("50 Mb 99.9%", bases=50_000_000, error=0.001),
    Row("250 Mb 99%", bases=250_000_000, error=0.01, needs_gpu=True),
)
# Lengths of table 2 of the paper on long strings (Castells-Rufas 2023), of random bases.
PAPER_ROWS = (
    Row("random 157 kb × 79 kb", bases=79_314, query=156_931),
    Row("random 157 kb × 606 kb", bases=606_452, query=156_931),
    Row("random 606 kb × 1.5 Mb", bases=1_517_819, query=606_452),
    Row("random 308 kb × 3.4 Mb", bases=3_424_429, query=308_453),
)


def rows_named(texts: Sequence[str] | None) -> list[Row]:
    """Return ROWS, or those of ROWS and PAPER_ROWS whose names contain one of some texts."""
    return [row for row in (*ROWS, *PAPER_ROWS) if any(text in row.name for text in texts)] if texts else list(ROWS)


@dataclass(frozen=True)
class Work:
    """A pair as all aligners get it.

    Attributes:
        batch: one pair.
        pair: the same bases, not copied.
        known: the distance, if known by construction.
    """

    batch: PairBatch
    pair: Pair
    known: int | None = None

    @property
    def lengths(self) -> tuple[int, int]:
        """Bases of query and target."""
        return len(self.pair.query), len(self.pair.target)

    @property
    def cells(self) -> int:
        """Cells of the whole matrix."""
        return self.lengths[0] * self.lengths[1]


def made(row: Row, data: Path | None) -> Work:
    """Return a row's pair, the same bases each time.

    Args:
        row: the row.
        data: folder with NAME.query.fa.gz and NAME.target.fa.gz of real sets.

    Raises:
        FileNotFoundError: a real set is missing.
    """
    if row.real:
        if data is None:
            raise FileNotFoundError("no folder of real sets given (--data DIR)")
        files = [data / f"{row.real}.{side}.fa.gz" for side in ("query", "target")]
        if absent := [file.name for file in files if not file.exists()]:
            raise FileNotFoundError(f"no {absent[0]} in the folder of real sets")
        query, target = (np.frombuffer(first_record(file), np.uint8) for file in files)
        bases, starts = _room(len(target), len(query))
        bases[: len(target)] = target
        bases[starts[0] : starts[0] + len(query)] = query
        return work_of(bases, starts, (len(query), len(target)))
    return _random(row)


def first_record(path: Path) -> bytes:
    """Return the bases of a FASTA file's first record in upper case."""
    lines: list[bytes] = []
    with gzip.open(path) as file:
        next(file)
        for line in file:
            if line.startswith(b">"):
                break
            lines.append(line.strip())
    return b"".join(lines).upper()


def _room(target: int, query: int) -> tuple[U8, tuple[int, int]]:
    """Return memory for a target and a query behind it, and where query and target start."""
    q_start = -(-target // _ALIGN) * _ALIGN
    return np.zeros(q_start + query + _BEHIND, np.uint8), (q_start, 0)


def _random(row: Row) -> Work:
    """Make a pair of random bases, chunk by chunk."""
    rng = np.random.default_rng(_SEED)
    n = row.bases
    if row.query:
        bases, starts = _room(n, row.query)
        for start, count in ((0, n), (starts[0], row.query)):
            bases[start : start + count] = _random_bases(count, rng)
        return work_of(bases, starts, (row.query, n))
    # Far more insertions than can occur by chance.
    most = n if row.error is None else n + round(n * row.error * (0.7 if row.planted else 0.5)) + 1000
    bases, starts = _room(n, most)
    end, known = starts[0], 0
    for begin in range(0, n, _CHUNK):
        chunk = _random_bases(min(_CHUNK, n - begin), rng)
        bases[begin : begin + len(chunk)] = chunk
        if row.error is None:
            own = _random_bases(len(chunk), rng)
        elif row.planted:
            own, count = planted(chunk, row.error, rng)
            known += count
        else:
            own = changed(chunk, row.error, rng)
        bases[end : end + len(own)] = own
        end += len(own)
    work = work_of(bases, starts, (end - starts[0], n))
    return dataclasses.replace(work, known=known) if row.planted else work


def _random_bases(count: int, rng: np.random.Generator) -> U8:
    return _BASES[rng.integers(0, 4, count, np.uint8)]


def changed(bases: U8, error: float, rng: np.random.Generator) -> U8:
    """Return bases with edits at random places: a mismatch, an insertion before the base, or a deletion."""
    at = np.flatnonzero(rng.random(len(bases), np.float32) < error)
    kind = rng.integers(0, 3, len(at), np.uint8)
    copies = np.ones(len(bases), np.uint8)
    copies[at[kind == 1]] = 2
    copies[at[kind == 2]] = 0
    other = bases.copy()
    replaced = at[kind == 0]
    step = rng.integers(1, 4, len(replaced))
    other[replaced] = _BASES[(np.searchsorted(_BASES, bases[replaced]) + step) % 4]
    inserted = np.repeat(other, copies)
    # The bases before an edit have moved by the edits before it.
    moved = np.cumsum((kind == 1).astype(np.int64) - (kind == 2))
    places = (at + moved - 1)[kind == 1]
    inserted[places] = _random_bases(len(places), rng)
    return inserted


def planted(bases: U8, error: float, rng: np.random.Generator) -> tuple[U8, int]:
    """Return bases with edits at random places, and the number of edits, which is exactly the distance.

    At each place another base becomes a C, or a C is inserted. No edit adds more than one C, so at least as many edits
    are needed as Cs were added; and as many suffice.
    """
    at = np.flatnonzero(rng.random(len(bases), np.float32) < error)
    c = _BASES[1]
    put_in = (rng.integers(0, 2, len(at), np.uint8) == 1) | (bases[at] == c)
    other = bases.copy()
    other[at[~put_in]] = c
    copies = np.ones(len(bases), np.uint8)
    copies[at[put_in]] = 2
    made = np.repeat(other, copies)
    made[at[put_in] + np.arange(np.count_nonzero(put_in))] = c
    return made, len(at)


def work_of(bases: U8, starts: tuple[int, int], lengths: tuple[int, int]) -> Work:
    """Return a pair in memory that is laid out as a PairBatch's; query before target in both arguments."""
    (q_start, t_start), (q_len, t_len) = starts, lengths
    query, target = bases[q_start : q_start + q_len], bases[t_start : t_start + t_len]
    nothing = np.zeros(1, np.int64)
    short: I32 = np.zeros(1, np.int32)
    batch = PairBatch(
        0,
        bases,
        np.array([q_start], np.int64),
        np.array([t_start], np.int64),
        np.array([q_len], np.int32),
        np.array([t_len], np.int32),
        np.zeros(1, np.uint8),
        np.array([-1], np.int32),
        Records(np.zeros(0, np.uint8), nothing, nothing, short, short, np.array([-1], np.int64)),
    )
    return Work(batch, Pair(query, target, _plain(query) and _plain(target)))


def _plain(bases: U8) -> bool:
    known = np.zeros(256, np.bool_)
    known[_BASES] = True
    return all(bool(known[bases[at : at + _CHUNK]].all()) for at in range(0, len(bases), _CHUNK))
