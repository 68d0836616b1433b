"""Checkpoints are restored exactly or rejected, and the last good one survives any failure."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from wfacli.errors import InputError, OutputError
from wfacli.solve import checkpoint as module
from wfacli.solve.checkpoint import Checkpoint, Identity, Saved

from .solvers import pair_of

PAIR = pair_of(b"ACGTACGT", b"ACGTTT")
IDENTITY = Identity.of(PAIR, 7)
STATE = {
    "offsets": np.arange(-5, 5, dtype=np.int64).reshape(2, 5),
    "flags": np.array([True, False]),
    "none": np.zeros((0, 4), np.uint32),
    "one": np.array(3.5),
}
SAVED = Saved("cpu-wavefront", STATE, {"seconds": 1.25, "phases": [{"algorithm": "x"}]})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


def assert_same(one, other):
    assert (one.algorithm, one.facts, list(one.state)) == (other.algorithm, other.facts, list(other.state))
    for name, values in one.state.items():
        assert values.dtype == other.state[name].dtype
        assert values.shape == other.state[name].shape
        assert (values == other.state[name]).all()


def test_comes_back(path):
    checkpoint = Checkpoint(str(path), IDENTITY)
    assert not checkpoint.exists()
    checkpoint.write(Saved("another"))
    checkpoint.write(SAVED)
    assert checkpoint.exists()
    assert_same(checkpoint.read(), SAVED)
    assert [p.name for p in path.parent.iterdir()] == ["run.ckpt"]
    (path.parent / "run.ckpt.new-0123abcd").write_bytes(b"half of")
    checkpoint.remove()
    checkpoint.remove()
    assert not list(path.parent.iterdir())


def test_values_in_any_order_of_memory(path):
    checkpoint = Checkpoint(str(path), IDENTITY)
    values = np.arange(12).reshape(3, 4)
    checkpoint.write(Saved("x", {"turned": values.T, "every_other": values[:, ::2]}))
    state = checkpoint.read().state
    assert (state["turned"] == values.T).all()
    assert (state["every_other"] == values[:, ::2]).all()


@pytest.mark.parametrize(
    ("query", "target", "words"),
    [
        (b"ACGTACGA", b"ACGTTT", "A is not what it was"),
        (b"ACGTACGT", b"ACGTTTT", "B is not what it was"),
        (b"ACGTTT", b"ACGTACGT", "A is not what it was"),
    ],
)
def test_other_inputs_are_refused(path, query, target, words):
    Checkpoint(str(path), IDENTITY).write(SAVED)
    other = Checkpoint(str(path), Identity.of(pair_of(query, target), 7))
    with pytest.raises(InputError, match=f"of other inputs: {words}"):
        other.read()


def test_bytes_and_wider_symbols_are_other_inputs(path):
    from wfacli.solve.base import Pair

    def of(kind):
        return Pair(np.array([1, 2], kind), np.array([3], kind), False)

    Checkpoint(str(path), Identity.of(of(np.uint8), None)).write(SAVED)
    with pytest.raises(InputError, match="other inputs"):
        Checkpoint(str(path), Identity.of(of(np.uint32), None)).read()


@pytest.mark.parametrize(("was", "words"), [(None, "without --max-distance"), (8, "with --max-distance 8")])
def test_another_bound_is_refused(path, was, words):
    Checkpoint(str(path), Identity.of(PAIR, was)).write(SAVED)
    with pytest.raises(InputError, match=words):
        Checkpoint(str(path), IDENTITY).read()


def test_every_damaged_byte_is_seen(path):
    checkpoint = Checkpoint(str(path), IDENTITY)
    checkpoint.write(Saved("x", {"a": np.arange(3, dtype=np.int16)}))
    good = path.read_bytes()
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
        with pytest.raises(InputError, match=r"damaged|not a checkpoint|another version"):
            checkpoint.read()
    for end in range(0, len(good), 5):
        path.write_bytes(good[:end])
        with pytest.raises(InputError, match=r"damaged|not a checkpoint|another version"):
            checkpoint.read()
    path.write_bytes(good + b"\n")
    with pytest.raises(InputError, match="damaged"):
        checkpoint.read()


def test_other_files_and_versions_are_refused(path, monkeypatch):
    checkpoint = Checkpoint(str(path), IDENTITY)
    for content in (b"", b">a\nACGT\n", b"\x00" * 100):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"is not a checkpoint of wfacli distance"):
            checkpoint.read()
    checkpoint.write(SAVED)
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    with pytest.raises(InputError, match=r"another version of wfacli \(format 1, here 2\)"):
        checkpoint.read()


@pytest.mark.parametrize("array", [["x", "<i8", [1 << 50]], ["x", "|O", [1]], ["x", "<i8", [-1]], ["x", "<i8", "y"]])
def test_sizes_and_kinds_are_not_believed(path, array):
    checkpoint = Checkpoint(str(path), IDENTITY)
    checkpoint.write(SAVED)
    title, head, *_ = path.read_bytes().split(b"\n")
    values = json.loads(head) | {"arrays": [array]}
    path.write_bytes(title + b"\n" + json.dumps(values).encode() + b"\n" + b"x" * 100)
    with pytest.raises(InputError, match="damaged"):
        checkpoint.read()


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_the_last_one_stays_where_a_new_one_cannot_be_written(path, monkeypatch, fails):
    checkpoint = Checkpoint(str(path), IDENTITY)
    checkpoint.write(SAVED)

    def full(*_):
        raise OSError(28, "No space left on device")

    if fails == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(type(path), "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        checkpoint.write(Saved("new"))
    assert_same(checkpoint.read(), SAVED)
    assert [p.name for p in path.parent.iterdir()] == ["run.ckpt"]


def test_the_file_gets_its_name_when_it_is_on_the_disk(path, monkeypatch):
    done = []
    sync, replace = os.fsync, type(path).replace
    monkeypatch.setattr(os, "fsync", lambda f: (done.append("sync"), sync(f)))
    monkeypatch.setattr(type(path), "replace", lambda a, b: (done.append("replace"), replace(a, b)))
    Checkpoint(str(path), IDENTITY).write(SAVED)
    assert done == ["sync", "replace", "sync"]


def test_places_that_cannot_be_written_to_are_known_before(tmp_path):
    for bad in ("", str(tmp_path / "nothing" / "x"), str(tmp_path)):
        with pytest.raises(OutputError):
            Checkpoint(bad, IDENTITY)
