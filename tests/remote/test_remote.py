"""Inputs and outputs by URL, with fsspec's own file systems: files, and a store in memory."""

from __future__ import annotations

import errno
import random
import threading
from itertools import pairwise

import pytest

from tests.cli.support import assert_failure, assert_success, bgzf, run
from wfacli.errors import OutputError, UsageError
from wfacli.io.read import remote, remote_blocks
from wfacli.io.read.faidx import indexed
from wfacli.io.read.section import Position, Section
from wfacli.io.read.sources import Source
from wfacli.io.read.urls import check_url, is_url, joined, without_secrets
from wfacli.io.write.output import Output
from wfacli.shards.fingerprint import Fingerprint

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def memory():
    """A store in memory that is empty."""
    store = fsspec.filesystem("memory")
    store.store.clear()
    return store


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s3://b/x", True),
        ("GS://b/x", True),
        ("/a/b", False),
        ("a:b", False),
        ("-", False),
        (None, False),
        ("c:/x", False),
    ],
)
def test_names_of_files_and_urls(name, expected):
    assert is_url(name) is expected


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:secret@bucket/x",
        "ftp://user@host/x",
        "https://h/x?X-Amz-Signature=secret&y=1",
        "https://h/x?sv=1&sig=secret",
        "https://h/x?access_token=secret",
    ],
)
def test_urls_with_credentials_are_refused_and_not_repeated(url):
    with pytest.raises(UsageError) as refused:
        check_url(url)
    assert "secret" not in str(refused.value).replace("a signature or key", "").replace("credentials", "")
    assert "user@" not in str(refused.value)


def test_urls_without_credentials():
    for url in ("s3://bucket/a@b", "https://h/x?versionId=3", "s3://bucket/token/x"):
        check_url(url)


def test_secrets_are_hidden(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "topsecret")
    error = ValueError("no\nhttps://me:pw@host/x?sig=abc&b 'GET' topsecret")
    assert remote.reason_of(error) == "no https://***@host/x?*** 'GET' ***"
    assert without_secrets("s3://b/x?versionId=3 failed") == "s3://b/x?*** failed"


def test_names_in_folders():
    assert joined("s3://b/w/", "run.plan") == "s3://b/w/run.plan"
    assert joined("w", "run.plan") == "w/run.plan"


def test_ranges_of_random_sizes(memory, monkeypatch):
    monkeypatch.setattr(remote, "_MIN_RANGE", 100)
    monkeypatch.setattr(remote, "_MAX_RANGE", 1000)
    data = random.Random(1).randbytes(20_000)
    memory.pipe("/b/x", data)
    rng = random.Random(2)
    with remote.RemoteFile("memory://b/x") as file:
        at = 0
        for _ in range(300):
            if rng.random() < 0.2:
                at = file.seek(rng.randrange(21_000))
            size = rng.choice((0, 1, 50, 100, 101, 3000))
            found = file.read(size)
            assert found == data[at : at + len(found)]
            assert found or not size or at >= len(data)
            at += len(found)
        file.seek(-5, 2)
        assert file.read() == data[-5:]


def test_nothing_is_requested_behind_the_limit(memory, monkeypatch):
    monkeypatch.setattr(remote, "_MIN_RANGE", 100)
    memory.pipe("/b/x", bytes(100_000))
    asked = []
    cat = memory.cat_file

    def counted(path, start, end):
        asked.append((start, end))
        return cat(path, start=start, end=end)

    monkeypatch.setattr(type(memory), "cat_file", lambda _, path, start, end: counted(path, start, end))
    with remote.RemoteFile("memory://b/x") as file:
        file.limit = 1000
        assert file.read(150)
        for at in (500, 950):
            assert file.read_at(memoryview(bytearray(10)), at) == 10
    assert max(end for _, end in asked) == 1000
    asked.clear()
    section = Section("memory://b/x", Position(10_000, 0, 10_000, 0), Position(30_000, 0, 30_000, 0))
    assert len(section.peek(30_000)) == 20_000
    section.close()
    assert max(end for _, end in asked) == 30_000


def test_an_object_that_shrinks_while_it_is_read(memory, monkeypatch):
    monkeypatch.setattr(remote, "_FIRST_DELAY", 0.0)
    memory.pipe("/b/x", bytes(1000))
    with remote.RemoteFile("memory://b/x") as file:
        memory.pipe("/b/x", bytes(900))
        with pytest.raises(OSError, match="900 of 1,000 bytes were received: the object may have changed"):
            file.read()


class Flaky:
    """Fails some times, then succeeds."""

    def __init__(self, times, error):
        self.left, self.error, self.calls = times, error, 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.left:
            raise self.error
        return "done"


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (OSError("reset"), 3),
        (TimeoutError(), 3),
        (ConnectionError("broken"), 3),
        (EOFError("short"), 3),
        (FileNotFoundError("x"), 1),
        (PermissionError("Forbidden"), 1),
        (OSError(errno.EINVAL, "bad name"), 1),
        (ValueError("no range"), 1),
    ],
)
def test_requests_are_repeated_if_that_can_help(error, calls, monkeypatch):
    monkeypatch.setattr(remote, "_FIRST_DELAY", 0.0)
    request = Flaky(2, error)
    if calls == 3:
        assert remote.attempted(request) == "done"
    else:
        with pytest.raises(OSError) as raised:
            remote.attempted(request)
        assert raised.value.strerror
    assert request.calls == calls


def test_requests_end_after_some_attempts(monkeypatch):
    monkeypatch.setattr(remote, "_FIRST_DELAY", 0.0)
    request = Flaky(100, OSError("reset by peer"))
    with pytest.raises(OSError, match="reset by peer") as raised:
        remote.attempted(request)
    assert raised.value.strerror == f"reset by peer (after {remote._ATTEMPTS} attempts)"
    assert request.calls == remote._ATTEMPTS
    ended = threading.Event()
    ended.set()
    request = Flaky(100, OSError("reset"))
    with pytest.raises(OSError, match="reset"):
        remote.attempted(request, ended)
    assert request.calls == 1
    monkeypatch.setattr(remote, "_ATTEMPTED_FOR", -1.0)
    with pytest.raises(OSError, match="reset"):
        remote.attempted(request)
    assert request.calls == 2


@pytest.mark.parametrize("form", ["plain", "bgzf"])
def test_sources_and_sections(form, memory):
    """A stream, its places, and sections between them are the same for a URL as for the bytes."""
    rng = random.Random(form)
    text = "".join(f">r{n}\n{'ACGT' * rng.randrange(1, 40)}\n" for n in range(500)).encode()
    memory.pipe("/b/x.fa", text if form == "plain" else bgzf(text, 3000))
    source = Source("memory://b/x.fa")
    assert (source.remote, source.regular, source.seekable, source.hand_over(int)) == (True, True, True, None)
    source.keep_places()
    read = b""
    import numpy as np

    buffer = np.empty(1777, np.uint8)
    places = [(0, 0, 0)]
    while got := source.readinto(buffer):
        read += buffer[:got].tobytes()
        places.append((*source.stored_place(len(read)), len(read)))
    source.close()
    assert read == text
    cuts = sorted(rng.sample(places, 5))
    for begin, end in pairwise(cuts):
        section = Section("memory://b/x.fa", Position(*begin, 0), Position(*end, 0))
        found = b""
        while got := section.readinto(buffer):
            found += buffer[:got].tobytes()
        section.close()
        assert found == text[begin[2] : end[2]]


def test_fingerprints_are_those_of_files(memory, tmp_path):
    for size in (0, 10, 5_000_000):
        data = random.Random(size).randbytes(size)
        memory.pipe("/b/x", data)
        (tmp_path / "x").write_bytes(data)
        assert Fingerprint.of("memory://b/x") == Fingerprint.of(str(tmp_path / "x"))


@pytest.mark.parametrize("fault", ["", "no index", "older index", "another index", "bgzf"])
def test_a_reference_is_read_by_its_index(fault, memory, tmp_path, monkeypatch):
    import pysam

    monkeypatch.setattr(remote_blocks, "_BLOCK", 4096)
    rng = random.Random(5)
    bases = {f"s{n}": "".join(rng.choices("ACGT", k=rng.choice((0, 30, 50_000)))) for n in range(8)}
    text = "".join(
        f">{n} x\n" + "".join(f"{s[at : at + 60]}\n" for at in range(0, len(s), 60)) for n, s in bases.items()
    )
    (tmp_path / "ref.fa").write_text(text)
    pysam.faidx(str(tmp_path / "ref.fa"))
    index = (tmp_path / "ref.fa.fai").read_bytes()
    data = text.encode()
    if fault == "older index":
        memory.pipe("/b/ref.fa.fai", index)
    memory.pipe("/b/ref.fa", bgzf(data, 3000) if fault == "bgzf" else data)
    if fault not in ("no index", "older index"):
        memory.pipe("/b/ref.fa.fai", index.replace(b"s2\t", b"s9\t") if fault == "another index" else index)
    asked = []
    ranges = remote_blocks.ranges_of
    monkeypatch.setattr(remote_blocks, "ranges_of", lambda url, spans: asked.extend(spans) or ranges(url, spans))
    source = Source("memory://b/ref.fa")
    reference = indexed(source)
    source.close()
    if fault:
        assert reference is None, "the file is read whole"
        return
    assert [reference.name(n).decode() for n in range(len(reference))] == list(bases)
    first = len(asked)
    for _ in range(30):
        number = rng.randrange(len(bases))
        name, whole = f"s{number}", bases[f"s{number}"]
        begin = rng.randrange(len(whole) + 1)
        end = min(begin + rng.choice((0, 1, 700)), len(whole))
        assert reference.bases(number, begin, end).tobytes().decode() == whole[begin:end], name
    assert 0 < first < len(asked)
    assert len(asked) == len(set(asked)), "nothing is requested twice"


@pytest.mark.parametrize("place", ["memory", "file"])
def test_outputs_have_no_name_before_they_are_complete(place, memory, tmp_path):
    url = "memory://b/out" if place == "memory" else f"file://{tmp_path}/out"

    def there():
        return remote.exists(url)

    output = Output(url)
    output.write(b"x" * 3_000_000)
    assert not there()
    assert not output.streams
    assert output.abandon() is None
    assert not there()
    assert not list(tmp_path.iterdir())
    output = Output(url)
    for _ in range(40):
        output.write(b"12345" * 60_000)
    assert not there()
    output.finish()
    assert remote.open_binary(url).read() == b"12345" * 2_400_000
    output.abandon()
    assert there(), "what is complete stays"
    Output(url).write_whole(b"new")
    assert remote.open_binary(url).read() == b"new"
    assert remote.size_of(url) == 3
    remote.remove(url)
    assert not there()
    remote.remove(url)


def test_an_upload_that_fails(memory, monkeypatch):
    def fail(self, data):
        raise OSError(errno.ENOSPC, "the bucket is full")

    monkeypatch.setattr("fsspec.implementations.memory.MemoryFile.write", fail)
    output = Output("memory://b/out")
    with pytest.raises(OutputError, match="memory://b/out: cannot be written: the bucket is full"):
        for _ in range(200):
            output.write(b"x" * 1_000_000)
    output.abandon()
    output = Output("memory://b/out")
    output.write(b"x")
    with pytest.raises(OutputError, match="the bucket is full"):
        output.finish()
    output.abandon()
    assert not remote.exists("memory://b/out")


def test_folders(memory, tmp_path):
    for url in ("memory://b/work", f"file://{tmp_path}/a/work", str(tmp_path / "c/work")):
        assert remote.empty(url)
        remote.create_folder(url)
        remote.create_folder(url)
        Output(joined(url, "x")).write_whole(b"x")
        assert not remote.empty(url)
        remote.remove_folder(url)
        assert remote.empty(url)


def test_plan_shards_and_merge_by_url(tmp_path):
    """The command: inputs, plan, parts and output are files that URLs name."""
    rng = random.Random(4)
    here = f"file://{tmp_path}"
    for name in ("q.fa", "t.fa"):
        text = "".join(f">{name}{n}\n{'ACGT' * rng.randrange(1, 30)}\n" for n in range(200)).encode()
        (tmp_path / name).write_bytes(text if name == "q.fa" else bgzf(text, 2000))
    arguments = [f"{here}/q.fa", f"{here}/t.fa", "--format", "sam"]
    assert_success(run("align", *arguments, "-o", f"{here}/out.sam", cwd=tmp_path))
    expected = (tmp_path / "out.sam").read_bytes()
    (tmp_path / "out.sam").unlink()
    plan = f"{here}/w/run.plan"
    (tmp_path / "w").mkdir()
    assert_success(run("plan", *arguments, "--shards", "2", "--to", f"{here}/out.sam", "-o", plan, cwd=tmp_path))
    assert_success(run("align", "--plan", plan, "--shard", "2/2", cwd=tmp_path))
    assert_failure(run("merge", plan, cwd=tmp_path), 1, f"missing: {tmp_path}/w/run.plan.parts/1-of-2.part")
    assert_success(run("align", "--plan", plan, "--shard", "1/2", cwd=tmp_path))
    assert_success(run("merge", plan, cwd=tmp_path))
    assert (tmp_path / "out.sam").read_bytes() == expected
    names = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    parts = [f"{n}-of-2.part{suffix}" for n in (1, 2) for suffix in ("", ".json")]
    assert names == sorted([*parts, "out.sam", "q.fa", "run.plan", "t.fa"])
    changed = (tmp_path / "q.fa").read_bytes()[:-2]
    (tmp_path / "q.fa").write_bytes(changed)
    again = run("align", "--plan", plan, "--shard", "1/2", cwd=tmp_path)
    assert_failure(again, 1, f"{tmp_path}/q.fa: has {len(changed):,} bytes, unlike the file that the plan was made of")
    missing = run("align", f"{here}/none", "t.fa", cwd=tmp_path)
    assert_failure(missing, 1, f"{tmp_path}/none: No such file or directory")
