"""Failures on a real GPU: the command writes the CPU's bytes or reports an error, and the GPU is free afterwards."""

from __future__ import annotations

import itertools
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from .inputs import Pair, mixed, symbols, write
from .stopping import SIGNALS, ended_by, held, stopped
from .support import (
    Occupied,
    Run,
    align,
    assert_clear_error,
    assert_no_failure,
    assert_same,
    gpu_environment,
    line_of,
    program,
    wait_until_free,
)

pytestmark = pytest.mark.gpu
SEED = 73
READS = mixed(SEED, [150] * 20_000, (0.0, 0.02, 0.05, 0.1))
Say = Callable[[str], None]


@pytest.mark.parametrize(
    ("engine", "free_mib"), [("gpu", 4000), ("gpu", 1000), ("gpu", 300), ("gpu", 0), ("auto", 1000), ("auto", 0)]
)
def test_another_process_has_the_memory(
    free_again: Occupied, tmp_path: Path, say: Say, engine: str, free_mib: int
) -> None:
    noisy = mixed(SEED, [8000] * 40, (0.1, 0.15))  # their bands need much memory
    files = write(tmp_path, "pairs", [*READS, *noisy])
    for metric in ("edit", "affine"):
        wanted = align(tmp_path, "cpu", *files, "--metric", metric)
        with held(free_mib) as left:
            found = align(tmp_path, engine, *files, "--metric", metric)
        say(f"{left} MiB free, --engine {engine}, {metric}: exit {found.code}, {found.on_gpu:,} pairs on the GPU")
        if engine == "gpu" and found.code != 0:  # too little for a context
            assert left < 2000, found.err
            assert_clear_error(found)
            continue
        assert_same(found, wanted, f"{left} MiB free, {metric}")


@pytest.mark.parametrize("memory", ["64M", "0.9"])
def test_batches_far_too_large(free_again: Occupied, tmp_path: Path, memory: str) -> None:
    files = write(tmp_path, "pairs", [*READS * 3, *mixed(SEED, [3000] * 300, (0.02, 0.1))])
    for metric in ("edit", "affine2p"):
        wanted = align(tmp_path, "cpu", *files, "--metric", metric)
        options = ("--batch-bases", 10**15, "--gpu-memory", memory)
        found = align(tmp_path, "gpu", *files, "--metric", metric, *options)
        assert_same(found, wanted, metric)
        assert_no_failure(found)
        assert found.report["batches"] == 1
        assert found.on_gpu > 1000


def giant(length: int, mismatches: int) -> Pair:
    """Return a pair of `length` bases with few mismatches and a gap."""
    target = symbols(np.random.default_rng(SEED), length)
    query = target.copy()
    query[length // 3 :: length // mismatches] = ord("A")
    return np.delete(query, slice(1000, 1010)).tobytes(), target.tobytes()


@pytest.mark.parametrize(
    "options",
    [("--metric", "edit", "--score-only"), ("--metric", "edit"), ("--metric", "affine"), ("--max-cost", "200")],
    ids=" ".join,
)
def test_a_giant_among_short_reads(free_again: Occupied, tmp_path: Path, say: Say, options: tuple[str, ...]) -> None:
    files = write(tmp_path, "pairs", [*READS[:3000], giant(5_000_000, 60), *READS[3000:6000]])
    suffix = ".tsv" if "--score-only" in options else ".paf"
    wanted, found = (align(tmp_path, engine, *files, *options, suffix=suffix) for engine in ("cpu", "gpu"))
    say(line_of("5 Mb among 150 bp", " ".join(options), found))
    assert_same(found, wanted)
    assert_no_failure(found)
    assert found.on_gpu > 1000


@pytest.mark.parametrize("metric", ["edit", "affine", "affine2p"])
def test_empty_pairs(free_again: Occupied, tmp_path: Path, metric: str) -> None:
    sides = [(b"", b""), (b"", b"ACGT"), (b"A", b"")]
    for pairs in ([sides[0]] * 100_000, list(itertools.islice(itertools.cycle(sides), 100_000))):
        files = write(tmp_path, "pairs", pairs)
        wanted, found = (align(tmp_path, engine, *files, "--metric", metric) for engine in ("cpu", "gpu"))
        assert_same(found, wanted, metric)
        assert_no_failure(found)
        assert found.report["pairs"] == 100_000


@pytest.mark.parametrize(("sent", "code"), SIGNALS, ids=[s.name for s, _ in SIGNALS])
@pytest.mark.parametrize("metric", ["edit", "affine"])
def test_stopped_in_mid_run(
    free_again: Occupied, tmp_path: Path, say: Say, metric: str, sent: signal.Signals, code: int
) -> None:
    seconds, written = stopped(tmp_path, READS, sent, code, "--metric", metric)
    say(f"{sent.name}, {metric}: ended after {seconds:.2f} s, {written:,} pairs were written")
    wait_until_free(free_again)


@pytest.mark.parametrize(("sent", "code"), SIGNALS[:2], ids=[s.name for s, _ in SIGNALS[:2]])
def test_stopped_in_a_long_launch(
    free_again: Occupied, tmp_path: Path, say: Say, sent: signal.Signals, code: int
) -> None:
    """Interrupt `wfacli local` in its only launch, which takes about eight seconds."""
    rng = np.random.default_rng(SEED)
    files = write(tmp_path, "far", [(symbols(rng, 1_000_000).tobytes(), symbols(rng, 24_000_000).tobytes())])
    before = Occupied.now()
    arguments = ["local", *map(str, files), "--engine", "gpu", "-o", "x.paf", "--checkpoint", "x.ckpt"]
    with subprocess.Popen(
        [*program(), *arguments], cwd=tmp_path, env=gpu_environment(), stderr=subprocess.PIPE
    ) as process:
        end = time.monotonic() + 60
        while not any(now > then + 1000 for now, then in zip(Occupied.now().memory, before.memory, strict=True)):
            assert process.poll() is None, process.stderr and process.stderr.read().decode()
            assert time.monotonic() < end, "it never got that far"
            time.sleep(0.05)
        time.sleep(2)  # until the bases are uploaded
        assert process.poll() is None
        seconds, err = ended_by(sent, process)
    say(f"{sent.name} in a long launch: ended after {seconds:.2f} s: {err.strip()}")
    assert process.returncode == code, err
    assert seconds < 4, err  # it writes a checkpoint of about 200 MB
    assert "with --resume continues" in err and len(err.strip().splitlines()) <= 2, err
    assert (tmp_path / "x.ckpt").stat().st_size > 1_000_000
    assert not (tmp_path / "x.paf").exists()
    wait_until_free(free_again)


def test_many_runs_at_once(free_again: Occupied, tmp_path: Path) -> None:
    """Run six commands, each of which may take half of the free memory."""
    files = write(tmp_path, "pairs", [*READS, *mixed(SEED, [5000] * 100, (0.02, 0.1))])
    wanted = align(tmp_path, "cpu", *files)

    def one(_: int) -> Run:
        return align(tmp_path, "gpu", *files)

    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(one, range(6)):
            assert_same(found, wanted)
            assert_no_failure(found)
