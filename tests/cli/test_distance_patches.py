"""`wfacli distance --lines --path`: applied by `patch` or by simple code, the diff turns A into B, byte for byte."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.distance.solvers import edit_distance

from .support import Result, assert_success

PATCH = shutil.which("patch")
ENDS = {"lf": (b"\n",), "crlf": (b"\r\n",), "mixed": (b"\n", b"\r\n")}
WORDS = [
    b"",
    b"one",
    b"two",
    b"three \r in one line",
    b" four",
    b"-five",
    b"+six",
    b"\\ seven",
    b"--- eight",
    b"@@ -1 @@",
]


def text(rng: random.Random, words: list[bytes], ends: str, complete: bool) -> bytes:
    lines = [word + rng.choice(ENDS[ends]) for word in words]
    whole = b"".join(lines)
    return whole if complete or not words or not words[-1] else whole[: -len(lines[-1])] + words[-1]


def cases() -> Iterator[tuple[str, bytes, bytes]]:
    """Yield (name, A, B): all combinations of line endings, with and without a final newline, and empty files."""
    rng = random.Random(8)
    kinds = list(itertools.product(ENDS, (True, False)))
    for (ends_a, complete_a), (ends_b, complete_b) in itertools.product(kinds, kinds):
        for size in (1, 4, 60):
            a = rng.choices(WORDS, k=size)
            b = [word if rng.random() > 0.1 else rng.choice(WORDS) for word in a if rng.random() > 0.05]
            b = rng.choice([b, a])
            yield (
                f"{ends_a}{complete_a:d}-{ends_b}{complete_b:d}-{size}",
                text(rng, a, ends_a, complete_a),
                text(rng, b, ends_b, complete_b),
            )
    for ends, complete in kinds:
        full = text(rng, rng.choices(WORDS[1:], k=5), ends, complete)
        yield from ((f"empty-{ends}{complete:d}", b"", full), (f"{ends}{complete:d}-empty", full, b""))
    yield from (("return", b"a\r", b"a"), ("returns", b"a\r\r\n", b"a\r\n"), ("line", b"\n", b"\r\n"))


CASES = list(cases())


def applied(old: bytes, diff: bytes) -> bytes:
    """Return B, asserting that the diff fits A exactly."""
    before, made, at = old.split(b"\n"), list[bytes](), 0
    before = [line + b"\n" for line in before[:-1]] + [line for line in before[-1:] if line]
    lines = diff.split(b"\n")
    assert lines.pop() == b""
    number = 2
    while number < len(lines):
        hunk = re.fullmatch(rb"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", lines[number])
        assert hunk, lines[number]
        begin, count, to, more = map(int, hunk.groups())
        number += 1
        begin, to = begin - (count > 0), to - (more > 0)
        made += before[at:begin]
        at = begin
        assert len(made) == to
        while count or more:
            mark, line = lines[number][:1], lines[number][1:] + b"\n"
            number += 1
            if number < len(lines) and lines[number] == b"\\ No newline at end of file":
                line = line[:-1]
                number += 1
            if mark in b" -":
                assert before[at] == line
                at, count = at + 1, count - 1
            if mark in b" +":
                made.append(line)
                more -= 1
    return b"".join(made + before[at:])


@pytest.fixture
def diff(tmp_path: Path, inside: Callable[..., Result]) -> Callable[..., tuple[bytes, int]]:
    """A function that writes A and B, and returns the diff and the distance that the command finds."""

    def found(a: bytes, b: bytes) -> tuple[bytes, int]:
        (tmp_path / "a").write_bytes(a)
        (tmp_path / "b").write_bytes(b)
        result = inside("distance", "a", "b", "--lines", "--path", "-o", "x.diff", "--json", cwd=tmp_path)
        assert_success(result)
        return (tmp_path / "x.diff").read_bytes(), json.loads(result.text)["distance"]

    return found


def test_the_diff_makes_one_file_of_the_other(diff: Callable[..., tuple[bytes, int]]) -> None:
    for name, a, b in CASES:
        patch, distance = diff(a, b)
        assert applied(a, patch) == b, name
        assert (patch == b"") == (a == b), name
        sides = (side.removesuffix(b"\n").split(b"\n") if side else [] for side in (a, b))
        assert distance == edit_distance(*([line.removesuffix(b"\r") for line in side] for side in sides)), name


@pytest.mark.skipif(PATCH is None, reason="there is no program named patch")
def test_patch_applies_the_diff(diff: Callable[..., tuple[bytes, int]], tmp_path: Path) -> None:
    for name, a, b in CASES:
        patch, _ = diff(a, b)
        arguments = [str(PATCH), "--silent", "--fuzz=0", "--force", "-o", "made", "a", "x.diff"]
        done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
        if patch:  # patch rejects an empty diff as "only garbage"
            assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
            assert (tmp_path / "made").read_bytes() == b, name
        (tmp_path / "made").unlink(missing_ok=True)
