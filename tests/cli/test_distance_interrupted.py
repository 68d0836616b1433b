"""Interrupted or killed runs, and runs that resume from their checkpoints."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .support import Result, assert_failure, assert_success, fasta, run, start
from .test_interruption import assert_ends, wait_until
from .test_terminal import BAR, on_terminal

LENGTH = 90_000  # of unrelated sequences, which take a wavefront a second or two
SLOW = ("a.fa", "b.fa", "--algorithm", "wavefront", "-t", "1", "--json")
KEPT = (*SLOW, "--checkpoint", "run.ckpt", "--checkpoint-every", "0.2s")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes, int]:
    """Two files, and their distance by another algorithm."""
    folder = tmp_path_factory.mktemp("pair")
    a, b = ("".join(random.Random(seed).choices("ACGT", k=LENGTH)) for seed in (1, 2))
    files = fasta([a]), fasta([b])
    for name, content in zip(("a.fa", "b.fa"), files, strict=True):
        (folder / name).write_bytes(content)
    result = run("distance", "a.fa", "b.fa", "--algorithm", "bits", "--json", cwd=folder)
    assert_success(result)
    return (*files, json.loads(result.text)["distance"])


@pytest.fixture
def folder(tmp_path: Path, pair: tuple[bytes, bytes, int]) -> Path:
    (tmp_path / "a.fa").write_bytes(pair[0])
    (tmp_path / "b.fa").write_bytes(pair[1])
    return tmp_path


@pytest.fixture
def distance(folder: Path) -> Callable[..., Result]:
    return lambda *arguments: run("distance", *arguments, cwd=folder)


def kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    assert process.wait(60) == -signal.SIGKILL


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda s: s.name)
def test_goes_on_after_any_end(
    folder: Path, distance: Callable[..., Result], pair: tuple[bytes, bytes, int], sent: signal.Signals
) -> None:
    kept = folder / "run.ckpt"
    process = start("distance", *KEPT, "-o", "x.json", cwd=folder)
    wait_until(kept.exists, 60)
    before = kept.read_bytes()
    if sent == signal.SIGKILL:
        kill(process)
    else:
        _, err = assert_ends(process, sent, 128 + sent)
        assert "stopped; the same command with --resume continues from run.ckpt" in err
        assert kept.read_bytes() != before
        assert not list(folder.glob("x.json*"))
    result = distance(*KEPT, "--resume", "-v", "--stats", "s.json")
    assert_success(result)
    values = json.loads(result.text)
    assert (values["distance"], values["history"]["resumed"]) == (pair[2], 1)
    assert len(values["history"]["phases"]) == 1
    # The work of the first run is not repeated.
    known = re.search(r"resuming cpu-wavefront after \d+ s, at ([\d,]+) edits or more", result.err)
    assert known
    assert 0 < int(known[1].replace(",", "")) <= pair[2]
    stats = json.loads((folder / "s.json").read_text())
    assert stats["stage_seconds"]["distance"] < values["seconds"]
    assert not kept.exists()


def test_killed_again_and_again(folder: Path, distance: Callable[..., Result], pair: tuple[bytes, bytes, int]) -> None:
    """Runs killed at random moments leave a valid checkpoint, or none."""
    moments = random.Random(3)
    for _ in range(3):
        process = start(
            "distance", *SLOW, "--checkpoint", "run.ckpt", "--checkpoint-every", "0.01s", "--resume", cwd=folder
        )
        time.sleep(moments.uniform(0.4, 1.0))
        if process.poll() is None:
            kill(process)
    result = distance(*KEPT, "--resume")
    assert_success(result)
    assert json.loads(result.text)["distance"] == pair[2]


def test_stopped_without_a_checkpoint(folder: Path) -> None:
    process = start("distance", *SLOW, "-v", cwd=folder)
    assert process.stderr
    assert b"starting with" in process.stderr.readline()
    out, err = assert_ends(process, signal.SIGTERM, 143)
    assert (out, err) == (b"", "")


def test_a_checkpoint_that_is_there_is_not_overwritten(folder: Path, distance: Callable[..., Result]) -> None:
    (folder / "run.ckpt").write_bytes(b"hours of work")
    assert_failure(distance(*KEPT), 2, "run.ckpt exists: give --resume to continue from it, or remove it")
    assert_failure(distance(*KEPT, "--resume"), 1, "run.ckpt: is not a checkpoint of wfacli distance")
    assert (folder / "run.ckpt").read_bytes() == b"hours of work"


def test_checkpoints_that_do_not_fit(folder: Path, distance: Callable[..., Result]) -> None:
    process = start("distance", *KEPT, cwd=folder)
    wait_until((folder / "run.ckpt").exists)
    kill(process)
    kept = (folder / "run.ckpt").read_bytes()
    resumed = ("--checkpoint", "run.ckpt", "--resume")
    assert_failure(distance("b.fa", "a.fa", *resumed), 1, "the checkpoint is of other inputs: A is not")
    assert_failure(distance("a.fa", "b.fa", *resumed, "--max-distance", "9"), 1, "without --max-distance")
    assert_failure(distance("a.fa", "b.fa", *resumed, "--algorithm", "bits"), 2, "is of cpu-wavefront, which")
    assert (folder / "run.ckpt").read_bytes() == kept
    (folder / "run.ckpt").write_bytes(kept[:-100])
    assert_failure(distance("a.fa", "b.fa", *resumed), 1, "the checkpoint is damaged")


def test_nothing_to_go_on_from(folder: Path, distance: Callable[..., Result]) -> None:
    (folder / "b.fa").write_bytes(b">b\nACGT\n")
    (folder / "a.fa").write_bytes(b">a\nACG\n")
    result = distance("a.fa", "b.fa", "--checkpoint", "run.ckpt", "--resume", "--json")
    assert_success(result)
    assert json.loads(result.text)["distance"] == 1
    assert "there is no checkpoint run.ckpt yet: starting from the beginning" in result.err
    assert not (folder / "run.ckpt").exists()


def test_bar_on_a_terminal(folder: Path) -> None:
    code, shown = on_terminal("distance", *SLOW, cwd=folder)
    assert code == 0
    assert BAR.search(shown)
    assert re.search(r"at least [1-9][\d,]* edits \(cpu-wavefront\)", shown)
    assert re.search(r"about [\d.]+ s to go", shown)
    code, shown = on_terminal("distance", *SLOW, "--no-progress", "--max-distance", "30000", cwd=folder)
    assert (code, shown) == (0, "")
