"""Batches of mapped reads do not depend on the threads that parse reads and fill batches."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from wfacli._native import MappingGroups, scan_grouping
from wfacli.config import MappingSpec
from wfacli.core.batch import PairBatch
from wfacli.errors import InputError
from wfacli.io.mapper.mapped import MappedFiles, mapped_reader, read_reference
from wfacli.io.read import reader
from wfacli.io.read.reader import batches_of, later_batches_of


def write(folder: Path, rng: random.Random, reads: int, longest: int, in_order: bool) -> MappedFiles:
    """Write reads from both strands of a reference. Some are mapped twice, some are unmapped.

    `in_order`: whether the mappings are in the order of the reads.
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
    if not in_order:
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


def completed_late(files: MappedFiles, spec: MappingSpec, whole_reads: bool, threads: int) -> list[PairBatch]:
    """Return the same, completed from the last to the first by other threads when the files are closed."""
    opened = files.open()
    try:
        join = mapped_reader(read_reference(opened[2], threads), spec, whole_reads)
        later = list(later_batches_of(join, opened[:2], 400_000, threads=threads))
    finally:
        for source in opened:
            source.close()
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda complete: complete(), later[::-1]))[::-1]


def columns(batch: PairBatch) -> list[np.ndarray]:
    mapped = batch.mapped
    assert mapped is not None
    parts = [batch.bases, batch.q_start, batch.t_start, batch.q_len, batch.t_len, batch.flags]
    return [*parts, *vars(batch.records).values(), *vars(mapped).values()]


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("whole_reads", [True, False])
@pytest.mark.parametrize(("reads", "longest", "block"), [(300, 400, 1000), (60, 30_000, 20_000)])
def test_several_threads(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reads: int,
    longest: int,
    block: int,
    whole_reads: bool,
    in_order: bool,
) -> None:
    monkeypatch.setattr(reader, "_BLOCK", block)
    files = write(tmp_path, random.Random(reads), reads, longest, in_order)
    spec = MappingSpec(keep_unmapped=True, in_order=in_order)
    alone, shared = (batches(files, spec, whole_reads, threads) for threads in (1, 4))
    assert len(alone) == len(shared) and sum(map(len, alone)) > reads
    for threads in (1, 4):
        late = completed_late(files, spec, whole_reads, threads)
        for one, other, third in zip(alone, shared, late, strict=True):
            for left, right, last in zip(columns(one), columns(other), columns(third), strict=True):
                assert np.array_equal(left, right) and np.array_equal(left, last)


def short_reads(folder: Path, sam: bool) -> MappedFiles:
    """Write mappings of which several threads parse pieces of a few hundred each; some are faulty."""
    rng, count, length = random.Random(11), 3_000, 30
    reference = "".join(rng.choices("ACGT", k=1_000))
    lines = [f"@SQ\tSN:chr\tLN:{len(reference)}\n@PG\tID:mapper\n"] if sam else ["# mapper\n\n"]
    for i in range(count):
        at, reverse, name = rng.randrange(900), rng.random() < 0.5, f"r{i}"
        target = "chr" if i % 700 != 699 else "unknown"
        tags = f"s1:i:{i}\ts2:i:0"
        if sam:
            lines.append(f"{name}\t{16 * reverse}\t{target}\t{at + 1}\t60\t{length}M\t*\t0\t0\t*\t*\t{tags}\n")
        else:
            place = f"{'-' if reverse else '+'}\t{target}\t{len(reference)}\t{at}\t{at + length}"
            lines.append(f"{name}\t{length}\t0\t{length}\t{place}\t30\t30\t60\ttp:A:P\t{tags}\n")
    records = (f"@r{i}\n{''.join(rng.choices('ACGT', k=length))}\n+\n{'I' * length}\n" for i in range(count))
    for name, text in (("ref", f">chr\n{reference}\n"), ("reads", "".join(records)), ("map", "".join(lines))):
        (folder / name).write_text(text)
    return MappedFiles(*(str(folder / name) for name in ("reads", "ref", "map")))


@pytest.mark.parametrize("header_inside", [False, True])
@pytest.mark.parametrize("sam", [False, True])
def test_mappings_parsed_by_several_threads(tmp_path: Path, sam: bool, header_inside: bool) -> None:
    files = short_reads(tmp_path, sam)
    if header_inside:  # in SAM, a length that later mappings contradict; in PAF, a faulty mapping
        lines = (tmp_path / "map").read_text().splitlines(keepends=True)
        lines.insert(2_000, "@SQ\tSN:chr\tLN:77\n")
        (tmp_path / "map").write_text("".join(lines))

    def rows(threads: int) -> tuple[list[PairBatch], dict[str, int], tuple[bytes, int]]:
        opened = files.open()
        try:
            join = mapped_reader(read_reference(opened[2]), MappingSpec(skip=True), True)
            return list(batches_of(join, opened[:2], 20_000, threads=threads)), join.counts(), join.first_skipped()
        finally:
            for source in opened:
                source.close()

    (alone, counts, skipped), *others = (rows(threads) for threads in (1, 2, 5))
    assert counts["skipped"] == (4 if not header_inside else 1_004 if sam else 5) and skipped[1] == 702
    for batches_, counts_, skipped_ in others:
        assert (counts_, skipped_, len(batches_)) == (counts, skipped, len(alone))
        for one, other in zip(alone, batches_, strict=True):
            for left, right in zip(columns(one), columns(other), strict=True):
                assert np.array_equal(left, right)


@pytest.mark.parametrize("threads", [1, 4])
def test_a_faulty_mapping_is_found_by_its_line(tmp_path: Path, threads: int) -> None:
    files = short_reads(tmp_path, True)
    opened = files.open()
    join = mapped_reader(read_reference(opened[2]), MappingSpec(), True)
    rows = 0
    with pytest.raises(InputError, match="unknown, which is not in the reference") as raised:
        for batch in batches_of(join, opened[:2], 20_000, threads=threads):
            rows += len(batch)
    for source in opened:
        source.close()
    # The mappings of r698 are complete, since the faulty line names another read.
    assert (rows, raised.value.line, raised.value.record) == (699, 702, "r699")


NAMES = ("a", "b", "longer name", "@b", "#c", "")


def is_grouped(text: bytes) -> bool:
    groups = MappingGroups(False)
    groups.prepare(len(text))[:] = np.frombuffer(text, np.uint8)
    groups.commit(len(text))
    groups.commit(0)
    return groups.grouped


def test_several_threads_find_whether_mappings_are_grouped(tmp_path: Path) -> None:
    rng, path, answers = random.Random(12), tmp_path / "map", []
    for case in range(300):
        names = [f"r{i}" for i in range(rng.randrange(60))] + rng.sample(NAMES, 2)
        lines = [f"{name}\t{'x' * rng.randrange(30)}" for name in names for _ in range(rng.randrange(1, 4))]
        if case % 3 == 0:
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
        header = ["@SQ\tSN:r1", "# r2", ""] * (case % 2)
        ends = ("\n", "\r\n")[case % 4 == 3]
        path.write_bytes((ends.join(header + lines) + ends * rng.randrange(3)).encode())
        with path.open("rb") as file:
            answer = scan_grouping(file.fileno(), rng.randrange(1, 4), rng.choice((40, 64, 200, 5_000)))
        assert answer in (None, is_grouped(path.read_bytes()))
        answers.append(answer)
    assert min(answers.count(answer) for answer in (True, False)) > 50


@pytest.mark.parametrize("name", ["bam", "long", "missing"])
def test_mappings_whose_grouping_is_not_found_by_lines(tmp_path: Path, name: str) -> None:
    text = {"bam": b"BAM\1" + bytes(1_000), "long": b"r1\tx\n" + b"x" * 17_000_000, "missing": b"@CO\t\n"}[name]
    (tmp_path / "map").write_bytes(text)
    with (tmp_path / "map").open("rb") as file:
        assert scan_grouping(file.fileno(), 2, 1 << 20) is None
