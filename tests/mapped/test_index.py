"""References read by their index give the same records, and wrong indexes are detected."""

from __future__ import annotations

import os
import random
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pysam
import pytest

from tests.cli.support import assert_failure, assert_success, bgzf, run
from tests.mapped.world import random_world
from wfacli.errors import InputError
from wfacli.io.mapper.mapped import read_reference
from wfacli.io.read.sources import Source

SEQUENCES = {"one": "ACGTTGCAAC" * 9 + "ACG", "two": "GATTACA", "three": "TTGACC" * 20}


def write(folder: Path, width: int = 20, end: str = "\n", last: str = "\n") -> Path:
    path = folder / "ref.fa"
    records = []
    for name, symbols in SEQUENCES.items():
        lines = [symbols[i : i + width] for i in range(0, len(symbols), width)]
        records.append(end.join([f">{name} described >so", *lines]))
    path.write_bytes((end.join(records) + last).encode())
    pysam.faidx(str(path))
    return path


def is_left_in_the_file(path: Path) -> bool:
    """Return whether bases are read from the file on demand, so that a change of the file is visible."""
    reference = read_reference(Source(str(path)))
    before = reference.bases(1, 0, 7).tobytes()
    at = path.read_bytes().index(b"GATTACA")
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"C")
    after = reference.bases(1, 0, 7).tobytes()
    assert (before, after[1:]) == (b"GATTACA", b"ATTACA")
    return after != before


@pytest.mark.parametrize("width", [7, 10, 13, 1000])
@pytest.mark.parametrize(("end", "last"), [("\n", "\n"), ("\n", ""), ("\r\n", "\r\n"), ("\n", "\n\n")])
def test_every_window_is_what_the_file_has(tmp_path: Path, width: int, end: str, last: str) -> None:
    path = write(tmp_path, width, end, last)
    reference = read_reference(Source(str(path)))
    for number, (name, symbols) in enumerate(SEQUENCES.items()):
        assert (reference.name(number).decode(), reference.length(number)) == (name, len(symbols))
        for begin in range(len(symbols) + 1):
            for end_ in {begin, begin + 1, begin + width, begin + 3 * width, len(symbols)}:
                assert reference.bases(number, begin, end_).tobytes().decode() == symbols[begin:end_]
    assert reference.matches_index
    assert is_left_in_the_file(path)


def test_windows_longer_than_what_is_read_at_a_time(tmp_path: Path) -> None:
    symbols = "".join("ACGT"[(i * i) % 4] for i in range(50_000))
    path = tmp_path / "long.fa"
    path.write_text(">x\n" + "".join(symbols[i : i + 61] + "\n" for i in range(0, len(symbols), 61)))
    pysam.faidx(str(path))
    assert read_reference(Source(str(path))).bases(0, 5, 49_000).tobytes().decode() == symbols[5:49_000]


def test_blocks_that_are_read_often_stay_in_memory(tmp_path: Path) -> None:
    rng = random.Random(3)
    symbols = "".join(rng.choices("ACGT", k=200_000))  # three whole blocks of the file, and a part of one
    path = tmp_path / "often.fa"
    path.write_text(">x\n" + "".join(symbols[i : i + 61] + "\n" for i in range(0, len(symbols), 61)))
    pysam.faidx(str(path))
    reference = read_reference(Source(str(path)))

    def windows_are_right(seed: int, longest: int) -> bool:
        draws = random.Random(seed)
        windows = [(begin, begin + draws.randrange(longest)) for begin in draws.choices(range(200_000), k=300)]
        return all(reference.bases(0, *window).tobytes().decode() == symbols[slice(*window)] for window in windows)

    # Several threads read the blocks for the 16th time.
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(windows_are_right, range(12), [1, 200, 400, 150_000] * 3))
    path.write_bytes(b"\0" * path.stat().st_size)
    assert reference.bases(0, 0, 190_000).tobytes().decode() == symbols[:190_000]
    assert reference.matches_index
    assert set(reference.bases(0, 199_000, 199_100).tobytes()) == {ord("N")}
    assert not reference.matches_index


def _older(path: Path) -> None:
    os.utime(f"{path}.fai", (1, 1))


def _edit(old: str, new: str):
    def edited(path: Path) -> None:
        index = Path(f"{path}.fai")
        assert old in index.read_text()
        index.write_text(index.read_text().replace(old, new, 1))

    return edited


def _more(path: Path) -> None:
    path.write_text(path.read_text() + ">four\nACGT\n")
    later = path.stat().st_mtime + 5
    os.utime(f"{path}.fai", (later, later))


LIES = {
    "older": _older,
    "another name": _edit("two", "tow"),
    "a name twice": _edit("two", "one"),
    "no number": _edit("7", "seven"),
    "a line less": _edit("two\t7", "two\t2"),
    "wider lines": _edit("20\t21", "21\t22"),
    "a record more": _more,
    "empty": lambda path: Path(f"{path}.fai").write_text(""),
    "none": lambda path: Path(f"{path}.fai").unlink(),
}


@pytest.mark.parametrize("lie", LIES)
def test_with_an_index_that_does_not_fit_the_file_is_read_whole(tmp_path: Path, lie: str) -> None:
    path = write(tmp_path)
    LIES[lie](path)
    reference = read_reference(Source(str(path)))
    assert [reference.name(i).decode() for i in range(3)] == list(SEQUENCES)
    assert reference.bases(0, 0, 1000).tobytes().decode() == SEQUENCES["one"]
    assert not is_left_in_the_file(path)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("options", [("--span", "read", "--pad", "9"), ("--md", "--checksums")], ids=" ".join)
def test_the_same_records_with_an_index(tmp_path: Path, threads: str, options: tuple[str, ...]) -> None:
    random_world(22, reads=20).write(tmp_path)
    command = ("align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--format", "sam", "-t", threads, *options)
    whole = run(*command, cwd=tmp_path)
    pysam.faidx(str(tmp_path / "ref.fa"))
    left = run(*command, cwd=tmp_path)
    assert_success(left)
    assert left.out == whole.out


def test_an_index_that_fits_headers_but_not_lines_is_told(tmp_path: Path) -> None:
    world = random_world(23, reads=20)
    world.write(tmp_path)
    path = tmp_path / "ref.fa"
    pysam.faidx(str(path))
    lines = path.read_text().split("\n")
    lines[2:4] = [lines[2][:-1], lines[2][-1] + lines[3]]  # the size is unchanged; only the first line is checked
    path.write_text("\n".join(lines))
    later = path.stat().st_mtime + 5
    os.utime(f"{path}.fai", (later, later))
    result = run(
        "align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--span", "read", "--format", "sam", cwd=tmp_path
    )
    assert_failure(result, 1, "ref.fa: does not match its index: rebuild ref.fa.fai, or remove it")
    assert not [row for row in result.rows if row[2] == "chr0"], "no record of what may be wrong"


def in_blocks(folder: Path, symbols: str, size: int) -> Path:
    """Write ref.fa.gz with blocks of `size` bytes of text, and both indexes."""
    path = folder / "ref.fa.gz"
    lines = [symbols[i : i + 60] for i in range(0, len(symbols), 60)]
    path.write_bytes(bgzf(("\n".join([">x", *lines, ">y more", "GATTACA"]) + "\n").encode(), size))
    pysam.faidx(str(path))
    assert Path(f"{path}.gzi").exists()
    return path


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [50, 61, 1000, 60_000])
def test_windows_of_blocks(tmp_path: Path, size: int, threads: int) -> None:
    symbols = "".join("ACGT"[(i * i + i // 7) % 4] for i in range(3000))
    path = in_blocks(tmp_path, symbols, size)
    reference = read_reference(Source(str(path)), threads)
    assert [(reference.name(i), reference.length(i)) for i in range(2)] == [(b"x", 3000), (b"y", 7)]
    for begin in (2999, 0, 59, 60, 61, 1234):
        for end in (begin, begin + 1, begin + 61, begin + 700, 3000):
            assert reference.bases(0, begin, end).tobytes().decode() == symbols[begin:end]
    assert reference.bases(1, 0, 7).tobytes() == b"GATTACA" and reference.matches_index


def spoil(path: Path, at: int) -> None:
    """Change a byte, and restore the file's times."""
    times = path.stat()
    data = bytearray(path.read_bytes())
    data[at] ^= 255
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_only_blocks_that_windows_want_are_inflated(tmp_path: Path) -> None:
    path = in_blocks(tmp_path, "ACGTTGCAAC" * 300, 200)
    (stored,) = (entry for i, entry in enumerate(_entries(path)) if i == 6)
    spoil(path, stored[0] + 40)
    reference = read_reference(Source(str(path)))
    assert reference.bases(0, 0, 900).tobytes().decode() == "ACGTTGCAAC" * 90
    assert reference.bases(0, 2000, 3000).tobytes().decode() == "ACGTTGCAAC" * 100
    with pytest.raises(InputError, match=r"is damaged, or does not match its index: rebuild .*gz\.gzi"):
        reference.bases(0, 1000, 1500)


def _entries(path: Path) -> list[tuple[int, int]]:
    data = Path(f"{path}.gzi").read_bytes()
    return list(struct.iter_unpack("<QQ", data[8:]))


@pytest.mark.parametrize("lie", ["older", "none", "short", "another order", "no fai"])
def test_an_index_of_blocks_that_is_none(tmp_path: Path, lie: str) -> None:
    path = in_blocks(tmp_path, "ACGTTGCAAC" * 300, 200)
    index = Path(f"{path}.gzi")
    data = index.read_bytes()
    if lie == "older":
        os.utime(index, (1, 1))
    elif lie in ("none", "no fai"):
        Path(f"{path}.{'gzi' if lie == 'none' else 'fai'}").unlink()
    else:
        index.write_bytes(data[:-5] if lie == "short" else data[:8] + data[24:40] + data[8:24] + data[40:])
    reference = read_reference(Source(str(path)))
    path.write_bytes(b"")
    assert reference.bases(0, 0, 3000).tobytes().decode() == "ACGTTGCAAC" * 300


@pytest.mark.parametrize("options", [("-t", "1"), ("-t", "3", "--checksums", "--batch-bases", "300")], ids=" ".join)
def test_the_same_records_from_blocks(tmp_path: Path, options: tuple[str, ...]) -> None:
    random_world(22, reads=20).write(tmp_path)
    command = ("--mappings", "map.paf", "--format", "sam", "--no-header" * ("--checksums" not in options), *options)
    whole = run("align", "reads.fq", "ref.fa", *filter(None, command), cwd=tmp_path)
    path = tmp_path / "ref.fa.gz"
    path.write_bytes(bgzf((tmp_path / "ref.fa").read_bytes(), 100))
    pysam.faidx(str(path))
    left = run("align", "reads.fq", "ref.fa.gz", *filter(None, command), cwd=tmp_path)
    assert_success(left)
    assert left.rows == whole.rows and len(left.rows) > 10
    header = [[x for x in r.out.splitlines() if x.startswith(b"@SQ")] for r in (whole, left)]
    assert header[0] == header[1]
    times = path.stat()
    spoil(path, _entries(path)[len(_entries(path)) // 2][0] + 30)
    assert path.stat().st_mtime_ns == times.st_mtime_ns
    damaged = run("align", "reads.fq", "ref.fa.gz", *filter(None, command), cwd=tmp_path)
    assert_failure(damaged, 1, "ref.fa.gz: is damaged, or does not match its index")
