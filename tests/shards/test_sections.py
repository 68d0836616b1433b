"""Sections of files: the bytes between two positions, plain and in BGZF blocks."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.cli.support import bgzf
from wfacli.errors import InputError
from wfacli.io.read.reader import read_batches
from wfacli.io.read.section import Position, Section
from wfacli.io.read.sources import Source


def everything(source: Source, rng: random.Random) -> bytes:
    """Return all bytes of a source, read in pieces of random sizes."""
    parts = []
    while True:
        buffer = np.empty(rng.choice((1, 100, 70_000, 1 << 19)), np.uint8)
        if not (got := source.readinto(buffer)):
            return b"".join(parts)
        parts.append(buffer[:got].tobytes())


def position(path, offset: int, lines: int = 0) -> Position:
    """Return the position of an offset in a file's data, as a survey finds it."""
    source = Source(str(path))
    source.keep_places()
    rng = random.Random(1)
    everything(source, rng)
    stored, within = source.stored_place(offset)
    source.close()
    return Position(stored, within, offset, lines)


@pytest.mark.parametrize("block", [0, 17, 5000])
@pytest.mark.parametrize("seed", range(6))
def test_bytes_between_positions(block, seed, tmp_path):
    rng = random.Random(seed)
    data = rng.randbytes(rng.choice((1, 3000, 200_000 if block != 17 else 4000)))
    path = tmp_path / "data"
    path.write_bytes(bgzf(data, block) if block else b">" + data[1:])
    data = data if block else b">" + data[1:]
    for _ in range(8):
        begin, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        prefix = rng.randrange(begin + 1)
        section = Section(str(path), position(path, begin), position(path, end), prefix)
        section.inflate_ahead(rng.randrange(3))
        wanted = (data[:prefix] if prefix else b"") + data[begin:end]
        assert everything(section, rng) == wanted
        assert section.hand_over(int) is None or not block
        section.close()


@pytest.mark.parametrize("fastq", [False, True])
def test_records_of_a_section_read_by_several_threads(fastq, tmp_path):
    rng = random.Random(5)
    records, offsets = [], [0]
    for number in range(4000):
        symbols = "".join(rng.choices("ACGT", k=rng.choice((0, 5, 1500))))
        # Qualities may look like headers, so that helpers guess some beginnings of records wrong.
        quality = "".join(rng.choices("@>I", k=len(symbols)))
        records.append(f"@r{number}\n{symbols}\n+\n{quality}\n" if fastq else f">r{number}\n{symbols}\n")
        offsets.append(offsets[-1] + len(records[-1]))
    path = tmp_path / "reads"
    path.write_text("".join(records))
    for first, last in ((0, 2500), (17, 3999), (900, 4000), (1500, 1500), (3990, 4000)):
        begin, end = (Position(offsets[n], 0, offsets[n], 0) for n in (first, last))
        for threads in (1, 4):
            names = []
            for batch in read_batches((Section(str(path), begin, end),), "targets", 100_000, threads=threads):
                names += [batch.records.target_name(row) for row in range(len(batch))]
            assert names == [f"r{number}" for number in range(first, last)]


def test_positions_are_at_blocks(tmp_path):
    data = bytes(range(256)) * 40
    path = tmp_path / "data.gz"
    path.write_bytes(bgzf(data, 1000))
    first, at = position(path, 999), position(path, 1000)
    assert (first.stored, first.within) == (0, 999)
    assert at.stored > 0 and at.within == 0
    assert path.read_bytes()[at.stored :][:4] == b"\x1f\x8b\x08\x04"
    end = position(path, len(data))
    assert (end.stored, end.within) == (path.stat().st_size, 0)


def test_lines_are_those_of_the_file(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"head\nhead\n" + b"line\n" * 10)
    section = Section(str(path), Position(30, 0, 30, 6), Position(60, 0, 60, 12), 10)
    assert [section.place_of(line)[1] for line in (0, 1, 2, 3, 4)] == [0, 1, 2, 7, 8]


def test_a_file_that_is_shorter_than_the_section_is_truncated(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(bgzf(b"abc" * 1000, 500))
    section = Section(str(path), Position(0, 0, 0, 0), Position(99999, 0, 9999, 0))
    with pytest.raises(InputError, match="truncated"):
        everything(section, random.Random(1))


def test_a_file_that_is_plain_gzip_has_no_sections(tmp_path):
    import gzip

    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"abc"))
    with pytest.raises(InputError, match="not an uncompressed or BGZF file"):
        Section(str(path), Position(0, 0, 0, 0), Position(9, 0, 9, 0))
