"""Rates of reading files and writing records, beside dnaio and beside the engine, with files in TMPDIR.

    python -m bench.tables.data_path [--megabytes 300 --threads 1 2 --repeats 5] [--plain]

Readers run alternately in the same run. dnaio is not part of wfacli: without it (pip install dnaio) its columns stay
empty.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.harness import saving, table
from bench.harness.pairs import mutated
from wfacli._native import keep_memory_flat
from wfacli.config import CPU_BATCH, AlignSpec, Format, Limits, OutputSpec
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.execute import execute
from wfacli.io.read.reader import PairFiles, read_batches
from wfacli.io.write.format import Formatter
from wfacli.plan.planner import Planner

TIMED = {
    "wfacli": "from opening two files to the last batch of pairs in memory, with checks, names, bases and qualities",
    "dnaio": "from opening two files to the last record of both, as Python objects",
    "engine": "from batches in memory to alignments in memory, time of one thread",
    "paf, sam": "the same alignments formatted as text in memory, one thread",
}
_BASES = np.frombuffer(b"ACGT", np.uint8)
_CHUNK = 20_000_000
_MADE = 16_000_000  # bases generated for a file; the rest of the file repeats these records
_COMPRESSED = 5  # compressed files take this many times as long to make and read, so they hold less by this factor
_NAME = 9  # digits


def write_reads(path: Path, sequences: np.ndarray, lengths: np.ndarray, first: int, fastq: bool) -> None:
    """Append records r000000001 and so on, from sequences (u8[n, width]) of which lengths[n] bases count."""
    n, width = sequences.shape
    rng = np.random.default_rng(first)
    digits = (np.arange(first, first + n)[:, None] // 10 ** np.arange(_NAME - 1, -1, -1)) % 10 + ord("0")
    line = np.full((n, 1), ord("\n"))
    parts = [np.full((n, 1), ord("@" if fastq else ">")), np.full((n, 1), ord("r")), digits, line, sequences, line]
    if fastq:
        parts += [np.full((n, 1), ord("+")), line, rng.integers(33, 75, (n, width)), line]
    rows = np.concatenate([part.astype(np.uint8) for part in parts], axis=1)
    inside = np.arange(width)[None, :] < lengths[:, None]
    every = np.ones((n, 1), bool)
    kept = [np.repeat(every, part.shape[1], axis=1) if part.shape[1] != width else inside for part in parts]
    with path.open("ab") as file:
        file.write(rows[np.concatenate(kept, axis=1)].tobytes())


def write_pairs(query: Path, target: Path, pairs: int, length: int, error: float, fastq: bool) -> None:
    """Write queries with round(length * error) random edits of random targets; large files repeat them."""
    rng = np.random.default_rng(length)
    chunk, made = max(1, _CHUNK // length), min(pairs, max(1, _MADE // length))
    for first in range(0, made, chunk):
        n = min(chunk, made - first)
        targets = _BASES[rng.integers(0, 4, (n, length), dtype=np.uint8)]
        # Queries of long pairs have no edits, since they are only read.
        queries, lengths = mutated(targets, round(length * error), rng) if length < 1000 else (targets, None)
        write_reads(query, queries, np.full(n, length) if lengths is None else lengths, first, fastq)
        write_reads(target, targets, np.full(n, length), first, fastq)
    for path in (query, target):
        records = path.read_bytes()
        with path.open("ab") as file:
            for _ in range(round(pairs / made) - 1):
                file.write(records)


def pairs_of(megabytes: float, length: int, fastq: bool) -> int:
    """Return the number of pairs in two files of `megabytes` together."""
    return round(megabytes * 500_000 / (length * (2 if fastq else 1) + _NAME + 5))


def compressed(path: Path, how: str) -> Path:
    """Return a compressed copy of a file."""
    packed = path.with_name(f"{path.name}.{how}")
    if how == "gz":
        packed.write_bytes(gzip.compress(path.read_bytes(), 4))
    elif how == "bgz":
        import pysam

        pysam.tabix_compress(str(path), str(packed), force=True)
    else:
        from wfacli.io.read.sources import zstd

        packed.write_bytes(zstd.compress(path.read_bytes()))
    return packed


def read_all(query: Path, target: Path, threads: int, quality: bool) -> int:
    sources = PairFiles(str(query), str(target)).open()
    batches = read_batches(sources, "two", CPU_BATCH, threads=threads, keep_quality=quality)
    count = sum(len(batch) for batch in batches)
    for source in sources:
        source.close()
    return count


# In a process of its own, as in ordinary use.
_DNAIO = """
import sys, time, dnaio
begun, worked = time.perf_counter(), time.process_time()
with dnaio.open(sys.argv[1]) as query, dnaio.open(sys.argv[2]) as target:
    for pair in zip(query, target):
        pass
print(time.perf_counter() - begun, time.process_time() - worked)
"""


def dnaio_seconds(query: Path, target: Path) -> tuple[float, ...]:
    done = subprocess.run(
        [sys.executable, "-c", _DNAIO, str(query), str(target)], check=True, capture_output=True, text=True
    )
    return tuple(map(float, done.stdout.split()))


def timed(what: Callable[[], object]) -> tuple[float, ...]:
    """Return wall seconds and CPU seconds of all threads; the latter hardly depend on other load."""
    begun, worked = time.perf_counter(), time.process_time()
    what()
    return time.perf_counter() - begun, time.process_time() - worked


def readers(folder: Path, megabytes: int, threads: list[int], repeats: int, plain_only: bool) -> dict[str, dict]:
    sets = {"FASTA 150": (150, False), "FASTQ 150": (150, True), "FASTQ 15000": (15_000, True)}
    peer = subprocess.run([sys.executable, "-c", "import dnaio"], capture_output=True, check=False).returncode == 0
    if not peer:
        print("dnaio is not in the table: it is not installed, or cannot be loaded")
    rows: dict[str, dict] = {}
    for name, (length, fastq) in sets.items():
        plain = folder / "query", folder / "target"
        # pysam makes BGZF.
        kinds = ["", "gz", *(["bgz"] if importlib.util.find_spec("pysam") else []), "zst"]
        for kind in kinds if name == "FASTQ 150" and not plain_only else kinds[:1]:
            for path in folder.iterdir():
                path.unlink()
            count = pairs_of(megabytes / (_COMPRESSED if kind else 1), length, fastq)
            write_pairs(*plain, count, length, 0.02, fastq)
            size = sum(path.stat().st_size for path in plain)
            files = tuple(compressed(path, kind) for path in plain) if kind else plain
            seconds: dict[str, list[tuple[float, ...]]] = {}
            for _ in range(repeats):
                for t in threads:
                    seconds.setdefault(f"wfacli, {t} threads", []).append(
                        timed(lambda t=t, files=files: read_all(*files, t, True))
                    )
                if peer and kind != "zst":
                    seconds.setdefault("dnaio", []).append(dnaio_seconds(*files))
            best = {aligner: tuple(map(min, zip(*values, strict=True))) for aligner, values in seconds.items()}
            row = {aligner: [round(size / s / 1e9, 3) for s in values] for aligner, values in best.items()}
            rows[f"{name} {kind}".strip()] = {
                "bytes_of_text": size,
                "gigabytes_per_second": {aligner: rates[0] for aligner, rates in row.items()},
                "gigabytes_per_second_of_all_threads": {aligner: rates[1] for aligner, rates in row.items()},
            }
            words = (f"{aligner} {wall:.2f} ({work:.2f})" for aligner, (wall, work) in row.items())
            print(f"{name} {kind}", *words, "GB/s (of all threads' seconds)", sep="  ", flush=True)
    for path in folder.iterdir():
        path.unlink()
    return rows


def formatter(folder: Path, repeats: int) -> dict[str, float]:
    files = folder / "query", folder / "target"
    write_pairs(*files, 200_000, 150, 0.02, False)
    spec, limits = AlignSpec(), Limits()
    sources = PairFiles(*map(str, files)).open()
    planner = Planner(spec, limits)
    batches = [planner.estimated(b) for b in read_batches(sources, "two", CPU_BATCH)]
    engine = CpuEngine(spec, limits, 1)
    seconds: dict[str, list[tuple[float, ...]]] = {}
    for _ in range(repeats):
        aligned = []
        seconds.setdefault("engine", []).append(
            timed(lambda: aligned.extend(execute(engine, b, planner.routes(b), planner, Stats()) for b in batches))  # noqa: B023
        )
        for format in (Format.PAF, Format.SAM):
            writer = Formatter(OutputSpec(format=format), scores_only=False, heuristic=False)
            seconds.setdefault(format.value, []).append(
                timed(lambda: [writer.format(b, a) for b, a in zip(batches, aligned, strict=True)])  # noqa: B023
            )
    engine.close()
    best = {what: min(work for _, work in values) for what, values in seconds.items()}
    shares = {what: round(value / best["engine"], 3) for what, value in best.items()}
    print("of the engine's time:", shares)
    return {what: round(value, 4) for what, value in best.items()} | {f"{w}_share": s for w, s in shares.items()}


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, repeats=5)
    parser.add_argument("--megabytes", type=int, default=300, help="of each pair of files")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--plain", action="store_true", help="leave compressed files out")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    keep_memory_flat()  # as in the command
    with tempfile.TemporaryDirectory() as name:
        rows = readers(Path(name), a.megabytes, a.threads, a.repeats, a.plain)
        written = formatter(Path(name), a.repeats)
    # Other load affects wall-clock rates, and hardly those of CPU seconds.
    result = {"load_average": os.getloadavg(), "reader": rows, "formatter_seconds": written}
    print(saving.save("data-path", TIMED, result))


if __name__ == "__main__":
    main()
