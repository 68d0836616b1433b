"""Output is complete, or visibly incomplete."""

import contextlib
import errno
import os
import random
import re
import threading

import numpy as np
import pytest

from wfacli.core.interruption import is_deferring, raise_or_defer
from wfacli.errors import OutputClosed, OutputError
from wfacli.io.write import output
from wfacli.io.write.output import Output


def files(folder):
    return sorted(p.name for p in folder.iterdir())


def test_a_file_gets_its_name_when_it_is_complete(tmp_path):
    path = tmp_path / "out.sam"
    out = Output(str(path))
    out.write(b"one ")
    out.write(np.frombuffer(b"two", np.uint8))
    assert not path.exists()
    (name,) = files(tmp_path)
    assert re.fullmatch(r"out\.sam\.partial-[0-9a-f]{8}", name)
    assert out.written == 7
    out.finish()
    assert files(tmp_path) == ["out.sam"]
    assert path.read_bytes() == b"one two"


def test_what_is_there_stays_until_then(tmp_path):
    path = tmp_path / "out.sam"
    path.write_text("old")
    out = Output(str(path))
    out.write(b"new")
    assert path.read_text() == "old"
    partial = out.abandon()
    assert path.read_text() == "old" and partial is not None
    assert partial.read_bytes() == b"new"


def interrupt():
    raise KeyboardInterrupt


def test_a_signal_amid_its_creation_leaves_no_file(tmp_path, monkeypatch):
    create = output.new_beside

    def interrupted(*arguments):
        created = create(*arguments)
        raise_or_defer(interrupt)
        return created

    monkeypatch.setattr(output, "new_beside", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Output(str(tmp_path / "out.sam"))
    assert files(tmp_path) == []


def test_abandoned_before_anything_was_written(tmp_path):
    out = Output(str(tmp_path / "out.sam"))
    assert out.abandon() is None
    assert files(tmp_path) == []


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    out = Output(str(tmp_path / "link"))
    out.write(b"new")
    out.finish()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(OutputError, match="No such file"):
        Output(str(tmp_path / "none" / "out.sam"))
    with pytest.raises(OutputError, match="Is a directory"):
        Output(str(tmp_path))
    with pytest.raises(OutputError, match="Is a directory"):
        Output(f"{tmp_path}/new/")
    assert files(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written(tmp_path):
    path = tmp_path / "out.sam"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(OutputError, match="Permission denied"):
        Output(str(path))


def test_a_pipe_is_written_where_it_is(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    out = Output(str(path))
    out.write(b"data" * 50_000)  # larger than a pipe buffer, so that it takes several writes
    out.finish()
    reader.join()
    assert read == [b"data" * 50_000]
    assert path.is_fifo()


def test_a_reader_that_has_gone(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    out = Output(str(path))
    os.close(reader)
    with pytest.raises(OutputClosed):
        out.write(b"data")
    assert out.abandon() is None


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")  # noqa: PTH110
def test_a_full_device():
    out = Output("/dev/full")
    with pytest.raises(OutputError, match="No space left"):
        out.write(b"data")
    out.abandon()


@pytest.mark.parametrize("path", [None, "-"])
def test_standard_output(path, capfdbinary):
    out = Output(path)
    out.write(b"data")
    out.finish()
    assert capfdbinary.readouterr().out == b"data"
    assert out.abandon() is None
    assert out.name == "standard output"


def test_a_whole_file_or_none(tmp_path, monkeypatch):
    """A report that does not fit on the disk leaves neither a partial nor a temporary file."""
    Output(str(tmp_path / "whole")).write_whole(b"all of it")
    assert (tmp_path / "whole").read_bytes() == b"all of it"
    written = []

    def full(descriptor, pieces):
        if written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(bytes(pieces[0][:3]))
        return 3

    monkeypatch.setattr(os, "writev", full)
    with pytest.raises(OutputError, match="No space left"):
        Output(str(tmp_path / "stats")).write_whole(b"all of it")
    assert files(tmp_path) == ["whole"]


def test_batches_are_complete_whatever_a_write_takes(tmp_path, monkeypatch):
    rng = random.Random(3)
    batches = [bytes([i % 251]) * rng.choice((0, 1, 7, 300)) for i in range(200)]

    def some(descriptor, pieces):
        return os.write(descriptor, b"".join(pieces)[: rng.randrange(1, 500)])

    output = Output(str(tmp_path / "x"))
    monkeypatch.setattr(os, "writev", some)
    output.add(*batches)
    output.add()
    output.finish()
    assert (tmp_path / "x").read_bytes() == b"".join(batches)
    assert output.written == len(b"".join(batches))


def test_signals_wait_while_little_is_written_to_a_pipe():
    """A signal after the write and before the count would understate what was written."""
    reader, writer = os.pipe()
    output = Output(None)
    output._fd = writer
    with output.uninterrupted(100):
        assert is_deferring()
    with output.uninterrupted(1 << 20):
        assert not is_deferring()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(1 << 16))
    emptying = threading.Timer(0.1, os.read, (reader, 1 << 20))
    emptying.start()
    with output.uninterrupted(100):
        assert os.write(writer, bytes(100)) == 100
    emptying.join()
    os.close(reader)
    os.close(writer)
