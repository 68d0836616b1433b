"""Numbers of a header's targets, and the header of BAM, made by any number of threads."""

import random
import struct

import numpy as np
import pytest

from wfacli._native import PairReader, TargetIds, unfit_target
from wfacli.core.batch import PairBatch

THREADS = (1, 2, 5)


def pieces_of(text: bytes, rng: random.Random) -> list[np.ndarray]:
    cuts = sorted(rng.choices(range(len(text)), k=5))
    return [np.frombuffer(text[a:b], np.uint8) for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def numbered(pieces: list[np.ndarray], threads: int) -> TargetIds:
    ids = TargetIds(pieces, threads)
    assert ids.find(b"t0") == -1
    ids.number(threads)
    return ids


def header_of(targets: list[tuple[str, int]]) -> bytes:
    lines = [f"@SQ\tSN:{name}\tLN:{length}\n" for name, length in targets]
    return f"@HD\tVN:1.6\n{''.join(lines)}@PG\tID:x\tCL:@SQ\tSN:no\n".encode()


def binary(text: bytes, targets: list[tuple[str, int]]) -> bytes:
    """Return the header of BAM (SAM specification, 4.2)."""
    entries = [struct.pack("<I", len(n) + 1) + n.encode() + b"\0" + struct.pack("<I", length) for n, length in targets]
    return b"BAM\1" + struct.pack("<I", len(text)) + text + struct.pack("<I", len(targets)) + b"".join(entries)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("count", [0, 1, 20_000])
def test_header_and_numbers(threads: int, count: int) -> None:
    rng = random.Random(count)
    targets = [(f"t{i}{'x' * rng.randrange(9)}", rng.randrange(1, 1 << 31)) for i in range(count)]
    text = header_of(targets)
    ids = numbered(pieces_of(text, rng), threads)
    assert bytes(ids.text) == text
    assert bytes(ids.begin) == binary(text, targets)[: 8 + len(text)]
    assert bytes(ids.begin) + bytes(ids.sequences) == binary(text, targets)
    assert len(ids) == count
    assert ids.longest == max((length for _, length in targets), default=0)
    for guess in (-1, 0, count // 2, count, count + 9):
        wanted = range(0, count, 97)
        assert [ids.find(targets[i][0].encode(), guess) for i in wanted] == list(wanted)
        assert ids.find(b"t", guess) == -1
    assert [ids.find(name.encode(), i) for i, (name, _) in enumerate(targets)] == list(range(count))


@pytest.mark.parametrize("threads", THREADS)
def test_of_equal_names_the_first_counts(threads: int) -> None:
    """A thread that is at the later half meets each name before the one at the first half does."""
    half = list(range(40_000))
    ids = numbered([np.frombuffer(header_of([(f"t{n}", 7) for n in half + half[::-1]]), np.uint8)], threads)
    assert [ids.find(b"t%d" % n) for n in half] == half
    assert [ids.find(b"t%d" % n, 2 * len(half) - 1 - n) for n in half] == half


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("line", ["@SQ\tLN:3", "@SQ\tSN:a", "@SQ\tSN:\tLN:3", "@SQ\tSN:a\tLN:3x"])
def test_a_line_without_name_or_length(threads: int, line: str) -> None:
    good = "".join(f"@SQ\tSN:t{i}\tLN:5\n" for i in range(9_000))
    with pytest.raises(ValueError, match="no name and length"):
        numbered([np.frombuffer(f"{good}{line}\n{good}".encode(), np.uint8)], threads)


def test_targets_are_numbered_once() -> None:
    ids = numbered([np.frombuffer(header_of([("t", 7)]), np.uint8)], 1)
    with pytest.raises(RuntimeError, match="numbered"):
        ids.number()


@pytest.mark.parametrize("unfit", [[], [0], [39_999], [17_000, 16_383, 33_000], list(range(16_384, 16_390))])
def test_the_first_name_that_sam_cannot_hold(unfit: list[int]) -> None:
    reader = PairReader("targets")
    text = "".join(f">{'*' if i in unfit else ''}t{i}\nA\n" for i in range(40_000)).encode()
    reader.prepare(0, len(text))[:] = np.frombuffer(text, np.uint8)
    reader.commit(0, len(text))
    reader.commit(0, 0)
    reader.fill(1 << 40)
    batch = PairBatch.from_columns(0, reader.take().complete())
    assert unfit_target(batch) == min(unfit, default=-1)
