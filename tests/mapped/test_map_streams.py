"""`wfacli map` with reads that can be read only once, from standard input and pipes."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from tests.cli.support import Result, assert_failure, assert_success, environment, feed, run, zstd
from tests.mapped.fake_mapper import install
from tests.mapped.world import random_world
from wfacli.errors import InputError
from wfacli.io.mapper import tee
from wfacli.io.mapper.tee import Tee


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Reads, a reference, and a fake minimap2 that stores the content of its input files and prints map.paf."""
    random_world(31).write(tmp_path)
    install(tmp_path)
    return tmp_path


def map_(folder: Path, *options: str, stdin: bytes = b"") -> Result:
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    return run("map", *options, "--no-header", "--drop-unmapped", cwd=folder, env=env, stdin=stdin)


@pytest.fixture
def wanted(folder: Path) -> bytes:
    return run(
        "align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--preset", "map-ont", "--no-header", cwd=folder
    ).out


@pytest.mark.parametrize("packed", [bytes, zstd])
def test_reads_from_standard_input(folder: Path, wanted: bytes, packed) -> None:
    reads = (folder / "reads.fq").read_bytes()
    result = map_(folder, "ref.fa", "-", stdin=packed(reads))
    assert_success(result)
    assert result.out == wanted
    assert (folder / "seen-1").read_bytes() == reads


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_reads_from_a_file_as_standard_input(folder: Path, wanted: bytes, name: str) -> None:
    """/dev/stdin of the mapper is a different file."""
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    with (folder / "reads.fq").open("rb") as reads:
        result = run("map", "ref.fa", name, "--no-header", "--drop-unmapped", cwd=folder, env=env, stdin=reads)
    assert_success(result)
    assert result.out == wanted


def test_reads_from_a_named_pipe(folder: Path, wanted: bytes) -> None:
    reads = (folder / "reads.fq").read_bytes()
    writer = feed(folder / "pipe.fq", [reads[:1000], reads[1000:]])
    result = map_(folder, "ref.fa", "pipe.fq")
    writer.join()
    assert_success(result)
    assert result.out == wanted


def test_a_stream_that_is_cut_short(folder: Path) -> None:
    packed = zstd((folder / "reads.fq").read_bytes())
    assert_failure(map_(folder, "ref.fa", "-", stdin=packed[:-9]), 1, "-: truncated: the compressed data ends")


def test_what_cannot_be_a_stream(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert_failure(map_(folder, "-", "reads.fq"), 2, "REFERENCE is read twice")
    assert_failure(map_(folder, "ref.fa", "-", "-"), 2, "only one of READS and MATES", "--preset sr")
    assert_failure(map_(folder, "pipe", "reads.fq"), 1, "pipe: is a pipe, and the reference is read twice")
    assert_failure(
        map_(folder, "ref.fa", "-", stdin=b"BAM\1"), 1, "-: reads in BAM and SAM are read from a file, not a pipe"
    )


class Fed:
    """A Doubled that reads a pipe filled by a thread."""

    def __init__(self, data: bytes) -> None:
        reader, self._writer = os.pipe()
        self._thread = threading.Thread(target=self._write, args=(data,), daemon=True)
        self.both = Tee(f"/dev/fd/{reader}")
        os.close(reader)
        self._thread.start()

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._writer, data) :]
        except BrokenPipeError:
            pass
        os.close(self._writer)

    def read(self, reader: int) -> bytes:
        with os.fdopen(os.dup(self.both.readers[reader]), "rb") as file:
            return file.read()


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tee, "_PIECE", 1000)
    monkeypatch.setattr(tee, "_CHUNK", 300)


DATA = bytes(range(256)) * 2000


@pytest.mark.usefixtures("small_pieces")
def test_who_is_behind_has_all_of_it() -> None:
    fed = Fed(DATA)
    assert fed.read(0) == DATA
    assert fed.read(1) == DATA
    fed.both.check()
    fed.both.close()


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("leaves", [0, 1])
def test_who_leaves_early_keeps_nobody_waiting(leaves: int) -> None:
    fed = Fed(DATA)
    os.read(fed.both.readers[leaves], 10)
    fed.both.close_reader(leaves)
    assert fed.read(1 - leaves) == DATA
    fed.both.close()


def test_a_full_disk_is_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    fed = Fed(DATA)
    assert fed.read(0) == fed.read(1) == b""
    with pytest.raises(InputError, match=r"cannot be spilled to .*: No space left on device .set TMPDIR"):
        fed.both.check()
    fed.both.close()
