"""Batches of mapped reads do not depend on the threads that parse reads and fill batches."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from wfacli.config import MappingSpec
from wfacli.core.batch import PairBatch
from wfacli.io.mapper.mapped import MappedFiles, mapped_reader, read_reference
from wfacli.io.read import reader
from wfacli.io.read.reader import batches_of


def write(folder: Path, rng: random.Random, reads: int, longest: int) -> MappedFiles:
    """Write reads from both strands of a reference, not in the order of their mappings.

    Some are mapped twice, some are unmapped.
    """
    reference = "".join(rng.choices("ACGTNacgtR", (30, 30, 30, 30, 1, 3, 3, 3, 3, 1), k=3 * longest))
    records, mappings = [], []
    for i in range(reads):
        length = rng.randrange(1, longest)
        symbols = "".join(rng.choices("ACGTUNRYacgt", (30, 30, 30, 30, 1, 1, 1, 1, 3, 3, 3, 3), k=length))
        quality = "".join(chr(rng.randrange(33, 127)) for _ in range(length))
        records.append(f"@r{i} c\n{symbols}\n+\n{quality}\n")
        lines = []
        for kind in rng.choice(["P", "P", "PS", "PP", "SP", ""]):
            first, at = rng.randrange(length), rng.randrange(2 * longest)
            lines.append(
                f"r{i}\t{length}\t{first}\t{length}\t{rng.choice('+-')}\tchr\t{len(reference)}\t{at}\t"
                f"{at + length - first}\t1\t1\t7\ttp:A:{kind}\n"
            )
        mappings.append("".join(lines))
    rng.shuffle(mappings)
    for name, text in (("ref", f">chr\n{reference}\n"), ("reads", "".join(records)), ("map", "".join(mappings))):
        (folder / name).write_text(text)
    return MappedFiles(*(str(folder / name) for name in ("reads", "ref", "map")))


def batches(files: MappedFiles, spec: MappingSpec, whole_reads: bool, threads: int) -> list[PairBatch]:
    opened = files.open()
    try:
        join = mapped_reader(read_reference(opened[2], threads), spec, whole_reads)
        return list(batches_of(join, opened[:2], 400_000, threads=threads))
    finally:
        for source in opened:
            source.close()


def columns(batch: PairBatch) -> list[np.ndarray]:
    mapped = batch.mapped
    assert mapped is not None
    parts = [batch.bases, batch.q_start, batch.t_start, batch.q_len, batch.t_len, batch.flags]
    return [*parts, *vars(batch.records).values(), *vars(mapped).values()]


@pytest.mark.parametrize("whole_reads", [True, False])
@pytest.mark.parametrize(("reads", "longest", "block"), [(300, 400, 1000), (60, 30_000, 20_000)])
def test_several_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: int, longest: int, block: int, whole_reads: bool
) -> None:
    monkeypatch.setattr(reader, "_BLOCK", block)
    files = write(tmp_path, random.Random(reads), reads, longest)
    spec = MappingSpec(keep_unmapped=True)
    alone, shared = (batches(files, spec, whole_reads, threads) for threads in (1, 4))
    assert len(alone) == len(shared) and sum(map(len, alone)) > reads
    for one, other in zip(alone, shared, strict=True):
        for left, right in zip(columns(one), columns(other), strict=True):
            assert np.array_equal(left, right)
