"""@SQ lines of distinct targets, in the in-memory table and beyond it on disk."""

import errno
import io
import random

import numpy as np
import pytest

from wfacli.errors import InputError, OutputError
from wfacli.io.read.reader import read_batches
from wfacli.io.read.sources import Source
from wfacli.io.write.targets import named_targets, sq_lines

LIMITS = (0, 1, 40, 10**6)  # targets in memory


def lines_of(path, limit, weight=300, threads=1):
    batches = read_batches((Source(str(path)),), "targets", weight, keep_bases=False)
    batches = (named_targets(str(path), pairs) for pairs in batches)
    return b"".join(bytes(np.asarray(piece)) for piece in sq_lines(str(path), batches, limit, threads)).decode()


def write(path, targets):
    path.write_text("".join(f">{name} described\n{'A' * length}\n" for name, length in targets))
    return path


@pytest.mark.parametrize("limit", LIMITS)
def test_each_target_once_in_order_of_appearance(tmp_path, limit):
    rng = random.Random(5)
    numbers = [rng.randrange(400) for _ in range(1500)]
    path = write(tmp_path / "t", [(f"n{n}", n % 9) for n in numbers])
    expected = "".join(f"@SQ\tSN:n{n}\tLN:{n % 9}\n" for n in dict.fromkeys(numbers) if n % 9)
    assert lines_of(path, limit) == expected


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("limit", [3000, 10**6])
def test_threads_share_batches_of_many_ranges(tmp_path, limit, threads):
    rng = random.Random(7)
    numbers = [rng.randrange(20_000) for _ in range(40_000)]
    targets = [(f"n{n}", n % 9) for n in numbers]
    path = write(tmp_path / "t", targets)
    expected = "".join(f"@SQ\tSN:n{n}\tLN:{n % 9}\n" for n in dict.fromkeys(numbers) if n % 9)
    assert lines_of(path, limit, weight=70_000, threads=threads) == expected
    clash = next(n for n in reversed(numbers) if n % 9)
    with pytest.raises(InputError, match=rf"n{clash}\b.*two lengths"):
        lines_of(write(path, [*targets, (f"n{clash}", 9), ("n1", 5)]), limit, weight=70_000, threads=threads)


@pytest.mark.parametrize("limit", LIMITS)
def test_one_name_with_two_lengths(tmp_path, limit):
    path = write(tmp_path / "t", [(f"n{n}", 3) for n in range(100)] + [("n60", 3), ("n61", 4)])
    with pytest.raises(InputError, match=r"n61.*two lengths"):
        lines_of(path, limit)


@pytest.mark.parametrize("limit", LIMITS)
def test_a_target_without_a_name(tmp_path, limit):
    path = write(tmp_path / "t", [("a", 3), ("", 0), ("", 2)])
    with pytest.raises(InputError, match="no name"):
        lines_of(path, limit)
    assert lines_of(write(tmp_path / "t", [("a", 3), ("", 0)]), limit) == "@SQ\tSN:a\tLN:3\n"


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_fault_in_the_file_is_named(tmp_path, limit, threads):
    rng = random.Random(limit + threads)
    faults = {("", 2): "no name", ("b<", 2): "b<", ("n3", 4): r"n3\b.*two lengths"}
    for _ in range(20):
        targets = [(f"n{n}", 3) for n in range(rng.randrange(4, 60))]
        order = rng.sample(list(faults), 3)
        for fault in reversed(order):
            targets.insert(rng.randrange(4, len(targets) + 1), fault)
        first = next(target for target in targets if target in faults)
        path = write(tmp_path / "t", targets)
        with pytest.raises(InputError, match=faults[first]):
            lines_of(path, limit, weight=rng.choice((100, 300, 10_000)), threads=threads)


class Full(io.BytesIO):
    """A file on a full disk: unwritten data is retried by close()."""

    def write(self, _):
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self):
        if not self.closed:
            super().close()
            self.write(b"")


def test_no_room_for_temporary_files_is_said_with_their_place(tmp_path, monkeypatch):
    monkeypatch.setattr("wfacli.io.write.targets.unnamed_file", Full)
    path = write(tmp_path / "t", [(f"n{n}", 3) for n in range(100)])
    with pytest.raises(OutputError, match=r"temporary files for targets, in .*TMPDIR.*No space left"):
        lines_of(path, 1)


def test_lines_longer_than_a_block_of_the_spill(tmp_path, monkeypatch):
    monkeypatch.setattr("wfacli.io.write.targets._CHUNK", 7)
    targets = [(f"name{n}", 2) for n in (1, 2, 1, 3, 2, 4)]
    assert lines_of(write(tmp_path / "t", targets), 0).count("\n") == 4
