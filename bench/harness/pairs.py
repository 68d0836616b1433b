"""Random pairs for measurements: uniform bases, a fixed number of edits in each pair.

    python -m bench.harness.pairs --pairs 1000000 --length 150 --error 0.02 --seed 1 OUT.query.fa OUT.target.fa

Each target is random; its query has round(length * error) edits at random places, each a mismatch, an insertion or a
deletion with equal probability. The same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

_BASES = np.frombuffer(b"ACGT", np.uint8)
_CHUNK_BASES = 20_000_000


def mutated(targets: np.ndarray, edits: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return queries (u8[n, length + edits]) and their lengths (i64[n]) made from targets (u8[n, length])."""
    n, length = targets.shape
    width = length + edits
    queries = np.zeros((n, width), np.uint8)
    queries[:, :length] = targets
    lengths = np.full(n, length)
    columns = np.arange(width)[None, :]
    for _ in range(edits):
        at = (rng.random(n) * lengths).astype(np.int64)[:, None]
        kind = rng.integers(0, 3, n)[:, None]
        # An insertion moves the bases behind it one place on, a deletion one place back.
        shift = np.where((kind == 1) & (columns > at), -1, np.where((kind == 2) & (columns >= at), 1, 0))
        queries = np.take_along_axis(queries, np.clip(columns + shift, 0, width - 1), axis=1)
        rows = np.flatnonzero(kind[:, 0] != 2)
        spot = at[rows, 0]
        old = np.searchsorted(_BASES, queries[rows, spot])
        step = np.where(kind[rows, 0] == 0, rng.integers(1, 4, len(rows)), rng.integers(0, 4, len(rows)))
        queries[rows, spot] = _BASES[(old + step) % 4]
        lengths += (kind[:, 0] == 1).astype(np.int64) - (kind[:, 0] == 2)
    return queries, lengths


def noisy(part: bytes, edits: int, rng: np.random.Generator) -> bytes:
    """Return a sequence with edits at different places: a third each of mismatches, insertions and deletions."""
    places, kinds = np.sort(rng.choice(len(part), edits, replace=False)), rng.integers(0, 3, edits)
    made, done = [], 0
    for place, kind, base in zip(places.tolist(), kinds.tolist(), rng.integers(0, 3, edits).tolist(), strict=True):
        made.append(part[done:place])
        other = b"ACGT".replace(part[place : place + 1], b"")[base : base + 1]
        made.append((other, other + part[place : place + 1], b"")[kind])
        done = place + 1
    return b"".join([*made, part[done:]])


def _fasta(ordinal: int, sequences: np.ndarray, lengths: np.ndarray) -> bytes:
    rows = [sequences[i, : lengths[i]].tobytes() for i in range(len(sequences))]
    return b"".join(b">r%d\n%s\n" % (ordinal + i, row) for i, row in enumerate(rows))


def write_pairs(query: Path, target: Path, pairs: int, length: int, error: float, seed: int, first: int = 0) -> None:
    """Write a FASTA file of queries and one of targets, with names from r<first> on."""
    rng = np.random.default_rng(seed)
    edits = round(length * error)
    chunk = max(1, _CHUNK_BASES // length)
    with query.open("wb") as q, target.open("wb") as t:
        for done in range(0, pairs, chunk):
            n = min(chunk, pairs - done)
            targets = _BASES[rng.integers(0, 4, (n, length))]
            queries, lengths = mutated(targets, edits, rng)
            q.write(_fasta(first + done, queries, lengths))
            t.write(_fasta(first + done, targets, np.full(n, length)))


def simulated(folder: Path, pairs: int, length: int, error: float) -> tuple[Path, Path]:
    """Return files of queries and of targets made by `wfacli simulate`, with the same content each time."""
    words = ["simulate", "--pairs", str(pairs), "--length", str(length), "--error", str(error), "--quiet"]
    subprocess.run([sys.executable, "-m", "wfacli", *words, "-o", str(folder / "pairs.fa")], check=True)
    return folder / "pairs.query.fa", folder / "pairs.target.fa"


def write_many(query: Path, target: Path, pairs: int, length: int, error: float, processes: int) -> None:
    """Write the same kind of pairs from several processes, each with its own seed."""
    share = -(-pairs // processes)
    starts = range(0, pairs, share)
    parts = [(query.with_name(f"{query.name}.{s}"), target.with_name(f"{target.name}.{s}")) for s in starts]
    with ProcessPoolExecutor(processes) as pool:
        written = [
            pool.submit(write_pairs, *files, min(share, pairs - s), length, error, s + 1, s)
            for files, s in zip(parts, starts, strict=True)
        ]
        for done in written:
            done.result()
    for whole, pieces in zip((query, target), zip(*parts, strict=True), strict=True):
        with whole.open("wb") as file:
            for piece in pieces:
                with piece.open("rb") as some:
                    shutil.copyfileobj(some, file, 1 << 24)
                piece.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("query", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--length", type=int, default=150)
    parser.add_argument("--error", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    write_pairs(a.query, a.target, a.pairs, a.length, a.error, a.seed)


if __name__ == "__main__":
    main()
