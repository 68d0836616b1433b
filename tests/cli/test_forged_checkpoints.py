"""Checkpoints are untrusted: all values are validated, even if the hash is correct."""

from __future__ import annotations

import copy
import hashlib
import json
import random
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.thorough import THOROUGH

from .support import assert_success, fasta, random_symbols, run, start
from .test_interruption import wait_until

LINES = {
    "distance": "distance a.fa b.fa -t 1 --checkpoint state --checkpoint-every 0.1s",
    "local": "local a.fa b.fa -t 1 --top 2 --checkpoint state --checkpoint-every 0.1s",
}


@pytest.fixture(scope="module", params=LINES)
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, bytes]:
    """A folder with two sequences, a command, and the checkpoint that it left."""
    folder = tmp_path_factory.mktemp(request.param)
    for number, name in enumerate(("a.fa", "b.fa")):
        (folder / name).write_bytes(fasta([random_symbols(600_000, number)]))
    process = start(*LINES[request.param].split(), "-q", cwd=folder)
    wait_until(lambda: (folder / "state").exists(), 60)
    process.kill()
    process.wait()
    return folder, request.param, (folder / "state").read_bytes()


def parts(content: bytes) -> tuple[bytes, dict[str, Any], bytes]:
    title, head, rest = content.split(b"\n", 2)
    return title, json.loads(head), rest[:-32]


def sealed(title: bytes, head: Any, arrays: bytes) -> bytes:
    whole = title + b"\n" + (head if isinstance(head, bytes) else json.dumps(head).encode()) + b"\n" + arrays
    return whole + hashlib.blake2b(whole, digest_size=32).digest()


VALUES = [
    None,
    -1,
    1 << 70,
    1e400,
    -0.5,
    "x",
    "\x1b[31m\n",
    [],
    {},
    True,
    [[[]]],
    {"a": 1},
    [1, 2, 3, 4],
    float("nan"),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in nested lists and mappings."""
    found = [path] if path else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        found += places(one, (*path, key))
    return found


def changed(head: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    new = copy.deepcopy(head)
    inner: Any = new
    for key in path[:-1]:
        inner = inner[key]
    if value is Ellipsis:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return new


def assert_refused_or_done(folder: Path, kind: str, content: bytes, what: object) -> None:
    state = folder / "state"
    state.write_bytes(content)
    forged = state.stat().st_ino

    def continues() -> bool:  # the run has saved its own state: the changed value has no effect
        try:
            return state.stat().st_ino != forged
        except FileNotFoundError:  # the run has finished
            return False

    result = run(*LINES[kind].split(), "--resume", "-q", cwd=folder, stop=continues)
    if result.code == -signal.SIGKILL:
        return
    assert "Traceback" not in result.err, (what, result.err)
    assert result.code in (0, 1, 2), (what, result)
    assert "\x1b" not in result.err and (result.code == 0 or result.err.count("\n") == 1), (what, result.err)


def test_any_value_in_any_place(saved: tuple[Path, str, bytes]) -> None:
    folder, kind, content = saved
    title, head, arrays = parts(content)
    rng = random.Random(1)
    cases = [(path, value) for path in places(head) for value in (*VALUES, ...)]
    named = [(path, value) for path, value in cases if path[0] in ("facts", "arrays", "algorithm", "most", "lengths")]
    for path, value in rng.sample(named, min(150 if THOROUGH else 15, len(named))):
        assert_refused_or_done(folder, kind, sealed(title, changed(head, path, value), arrays), (path, value))


@pytest.mark.parametrize(
    "head", [b"[]", b"null", b"7", b'"x"', b"[" * 100_000, b"{" * 5_000, b'{"arrays":' * 9_000, b"9" * 9_000, b"\xff"]
)
def test_what_is_no_head(saved: tuple[Path, str, bytes], head: bytes) -> None:
    folder, kind, content = saved
    title, _, arrays = parts(content)
    (folder / "state").write_bytes(sealed(title, head, arrays))
    result = run(*LINES[kind].split(), "--resume", cwd=folder)
    assert result.code == 1 and "the checkpoint is damaged" in result.err and "Traceback" not in result.err


def test_values_of_arrays(saved: tuple[Path, str, bytes]) -> None:
    folder, kind, content = saved
    title, head, arrays = parts(content)
    rng = np.random.default_rng(1)
    for number in range(36 if THOROUGH else 6):
        values = np.frombuffer(arrays, np.int64).copy()
        some = rng.integers(0, min(len(values), 12), 2)
        values[some] = rng.choice([-1, 0, 1, 1 << 31, 1 << 62, -(1 << 63)], 2)
        assert_refused_or_done(folder, kind, sealed(title, head, values.tobytes()), number)


def test_a_distance_that_cannot_be(tmp_path: Path) -> None:
    for number, name in enumerate(("a.fa", "b.fa")):
        (tmp_path / name).write_bytes(fasta([random_symbols(3000, number)]))
    line = ("distance", "a.fa", "b.fa", "--checkpoint", "state", "--path", "-o", "x.paf", "-q")
    # Writing the alignment fails, so that a checkpoint with the distance is left.
    failed = run(*line[:-2], "/dev/full", cwd=tmp_path)
    assert failed.code == 1 and (tmp_path / "state").exists()
    title, head, arrays = parts((tmp_path / "state").read_bytes())
    true = head["facts"]["distance"]
    for forged in (-1, None, "7", 1.5, True, 3001, 1 << 70, true - 1):
        head["facts"]["distance"] = forged
        (tmp_path / "state").write_bytes(sealed(title, head, arrays))
        result = run(*line, "--resume", cwd=tmp_path)
        assert result.code == 1 and "Traceback" not in result.err, (forged, result.err)
        assert not (tmp_path / "x.paf").exists()
    head["facts"]["distance"] = true
    (tmp_path / "state").write_bytes(sealed(title, head, arrays))
    assert_success(run(*line, "--resume", cwd=tmp_path))
