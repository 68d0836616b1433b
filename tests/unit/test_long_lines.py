"""Lines that span many blocks are not scanned again for each block; and the maximum line length."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from wfacli._native import MappedReader, MappingGroups, Next, PairReader, Reference, max_line_bytes, set_max_line_bytes
from wfacli.errors import InputError
from wfacli.io.read import reader as reading
from wfacli.io.read.sources import Source

from .reading import AT_ONCE, read, read_files

SIZE, BLOCK = 8_000_000, 128  # more blocks than any reader uses for that many bytes
# Maximum ratio to the time of short lines: a reader that rescans the line for each block takes a thousand times as
# long, others about as long.
MOST = 20.0


@pytest.fixture(autouse=True)
def any_length() -> Iterator[None]:
    """Raise the maximum line length in this process."""
    before = max_line_bytes()
    set_max_line_bytes(1 << 40)
    yield
    set_max_line_bytes(before)


def seconds(fill: object, stream: int, text: bytes) -> float:
    """Return the processor time of feeding a reader in small blocks."""
    data = np.frombuffer(text, np.uint8)
    begun = time.process_time()
    for at in range(0, len(data), BLOCK):
        part = data[at : at + BLOCK]
        fill.prepare(stream, BLOCK)[: len(part)] = part  # type: ignore[attr-defined]
        fill.commit(stream, len(part))  # type: ignore[attr-defined]
        wants = fill.fill(AT_ONCE)  # type: ignore[attr-defined]
        assert wants in (Next.NEED_QUERY, Next.NEED_TARGET), fill.fault()  # type: ignore[attr-defined]
    return time.process_time() - begun


def wrapped(symbols: int) -> bytes:
    return b">r\n" + b"ACGTACGT\n" * (symbols // 9)


LINES = {
    "targets": [b">" + b"n" * SIZE, b"@" + b"n" * SIZE, b">r\n" + b"A" * SIZE, b"@r\n" + b"A" * SIZE,
                b"@r\n" + b"A" * SIZE + b"\n+\n" + b"I" * (SIZE - 1), b"@r\nA\n+" + b"x" * SIZE, b" " * SIZE,
                b">r\nA" + b" " * SIZE],
    "seq": [b">" + b"A" * SIZE],
    "tsv": [b"#" * SIZE, b"A" * SIZE],
}  # fmt: skip


EACH = [pytest.param(layout, text, id=f"{layout} {text[:4]!r}") for layout, texts in LINES.items() for text in texts]


@pytest.mark.parametrize("layout, text", EACH)
def test_each_byte_of_a_line_is_looked_at_once(layout: str, text: bytes) -> None:
    short = seconds(PairReader("targets"), 0, wrapped(len(text)))
    assert seconds(PairReader(layout), 0, text) < MOST * short


def mapped() -> MappedReader:
    reference = Reference()
    options = {
        "span": "mapped",
        "pad": 0,
        "whole_reads": True,
        "keep_unmapped": False,
        "copy_tags": False,
        "copy_group": False,
    }
    more = {
        "read_group": False,
        "skip": False,
        "mates": False,
        "mates_in_order": False,
        "in_order": False,
        "folder": "/tmp",
        "spill_threshold": 1 << 20,
    }
    return MappedReader(reference, **options, **more)


def bam_header(targets: int) -> bytes:
    names = b"".join(b"\x0a\0\0\0t%08d\0\x64\0\0\0" % i for i in range(targets))
    return b"BAM\1" + (4).to_bytes(4, "little") + b"@CO\n" + (targets + 1).to_bytes(4, "little") + names


SAM = b"r\t0\tt\t1\t60\t10M\t*\t0\t0\t"


@pytest.mark.parametrize("text", [b"r" * SIZE, SAM + b"A" * SIZE, b"@CO\t" + b"x" * SIZE, bam_header(SIZE // 18),
                                  b"BAM\1" + (2 * SIZE).to_bytes(4, "little") + b"@" * SIZE],
                         ids=["paf", "sam", "header", "targets", "text"])  # fmt: skip
def test_each_byte_of_a_mapping_is_looked_at_once(text: bytes) -> None:
    short = seconds(PairReader("targets"), 0, wrapped(len(text)))
    assert seconds(mapped(), 1, text) < MOST * short
    groups = MappingGroups(True)
    data = np.frombuffer(text, np.uint8)
    begun = time.process_time()
    for at in range(0, len(data), BLOCK):
        part = data[at : at + BLOCK]
        groups.prepare(BLOCK)[: len(part)] = part
        groups.commit(len(part))
    assert time.process_time() - begun < MOST * short


def test_helpers_look_once_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_BLOCK", 512)
    times = []
    for text in (wrapped(SIZE), b">a\nA\n>" + b"n" * SIZE + b"\nA\n"):
        (tmp_path / "x").write_bytes(text)
        begun = time.process_time()
        source = Source(str(tmp_path / "x"))
        assert sum(map(len, reading.read_batches((source,), "targets", AT_ONCE, threads=3))) == 1 + (b"n" in text)
        source.close()
        times.append(time.process_time() - begun)
    assert times[1] < MOST * times[0]


# Lines in parts give the same result as whole lines


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \t\n", b""])
@pytest.mark.parametrize("block", [1, 1000, 1 << 16, (1 << 16) + 1, 100_000])
def test_long_lines_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes, block: int) -> None:
    monkeypatch.setattr(reading, "_BLOCK", max(block, 20_000))
    symbols, quality = b"ACGT>".replace(b">", b"N") * 60_000, b"I@>+!" * 60_000
    (tmp_path / "q").write_bytes(b"@r x\n" + symbols + (end or b"\n") + b"+\n" + quality + end)
    (tmp_path / "t").write_bytes(b">t\n" + symbols + (end or b"\n") + symbols + end)
    pairs, fault = read_files(tmp_path / "q", tmp_path / "t")
    assert fault is None
    assert [(p.query, p.quality, p.target) for p in pairs] == [(symbols, quality, symbols * 2)]


@pytest.mark.parametrize("threads", [1, 3])
def test_faults_in_parts_have_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(reading, "_BLOCK", 30_000)
    symbols = b"ACGT" * 50_000
    for text, message, line in [
        (b">r\n" + symbols + b"\n" + symbols + b" " * 90_000 + b"A\n", "a blank in the sequence", 3),
        (b">r\n" + symbols + b"\x01" + symbols + b"\n>s\n", "byte 0x01 in the sequence", 2),
        (b"@r\n" + symbols + b"\n+\n" + symbols + b"I\n", "the quality has 200001 characters, the sequence 200000", 4),
        (
            b"@r\n" + symbols + b"\n+\n" + symbols[:-1] + b"\n",
            "the quality has 199999 characters, the sequence 200000",
            4,
        ),
        (b"@r\n" + symbols + b"\n+\n" + symbols[:-9] + b"\x7f" + symbols[:8] + b"\n", "byte 0x7f in the quality", 4),
        (b"@r\n" + symbols, "the file ends inside a FASTQ record", 2),
    ]:
        (tmp_path / "q").write_bytes(text)
        (tmp_path / "t").write_bytes(b">t\nA\n")
        _, fault = read_files(tmp_path / "q", tmp_path / "t", threads=threads)
        assert fault is not None and message in str(fault) and fault.line == line, (str(fault), message, line)


# The maximum length


@pytest.mark.parametrize("mark", [b">", b"@"])
def test_a_header_at_the_bound_and_beyond(tmp_path: Path, mark: bytes) -> None:
    set_max_line_bytes(1000)
    record = b"A\n+\nI\n" if mark == b"@" else b"A\n"
    for more in (0, 1):
        text = mark + b"a\n" + record + mark + b"n" * (999 + more) + b"\n" + record
        pairs, fault = read(tmp_path, text, b">t\nA\n>t\nA\n")
        assert len(pairs) == 2 - more
        assert (fault is None) == (more == 0)
    assert fault is not None and fault.line == (5 if mark == b"@" else 3)
    assert "a header is longer than 1000 bytes; --max-line allows longer ones" in str(fault)


def test_sequences_have_no_bound(tmp_path: Path) -> None:
    set_max_line_bytes(10)
    symbols = b"ACGT" * 1000
    two = [b">q\n" + symbols + b"\n", b"@t\n" + symbols + b"\n+\n" + symbols + b"\n"]
    for contents in (two, [b">" + symbols + b"\n<" + symbols + b"\n"], [b"n\t" + symbols + b"\t" + symbols + b"\n"]):
        pairs, fault = read(tmp_path, *contents)
        assert fault is None and [(p.query, p.target) for p in pairs] == [(symbols, symbols)]


@pytest.mark.parametrize("text, message", [
    (b"x" * 20, "a line without a sequence"), (b"#" + b"x" * 20, "a comment"), (b"n" * 20 + b"\tA\tC\n", "a name"),
])  # fmt: skip
def test_other_lines_have_it(tmp_path: Path, text: bytes, message: str) -> None:
    set_max_line_bytes(10)
    first = b">A\n<C\n" if message == "a line without a sequence" else b"n\tA\tC\n"
    pairs, fault = read(tmp_path, first + text)
    assert len(pairs) == 1 and isinstance(fault, InputError)
    assert f"{message} is longer than 10 bytes" in str(fault)
