"""Temporary names: unpredictable, never through links, separate for each run, and removed after a killed run."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pysam
import pytest

from .support import (
    assert_success,
    command,
    environment,
    fasta,
    random_pairs,
    random_symbols,
    rows_of,
    run,
    seq,
    start,
)
from .test_interruption import wait_until

RANDOM = "[0-9a-f]" * 8


def partials(folder: Path, name: str = "x.paf") -> list[Path]:
    return list(folder.glob(f"{name}.partial-{RANDOM}"))


def by_shell(folder: Path, before: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in place of a shell, with the shell's process id."""
    lines = f'{before}; exec "$@"'
    return subprocess.run(
        ["sh", "-c", lines, "sh", *command(), *words], cwd=folder, env=environment(), capture_output=True, check=False
    )


def killed(folder: Path, name: str = "x.paf") -> Path:
    """Kill a run that has written something; return its partial file."""
    pairs = [("ACGT", "ACGT"), (random_symbols(150_000, 1), random_symbols(150_000, 2))]
    (folder / "long.seq").write_bytes(seq(pairs))
    before = set(partials(folder, name))
    process = start("align", "long.seq", "-o", name, "--format", "paf", "--batch-bases", "1", cwd=folder)
    wait_until(lambda: any(p.stat().st_size for p in set(partials(folder, name)) - before))
    process.send_signal(signal.SIGKILL)
    process.wait()
    (left,) = partials(folder, name)
    return left


@pytest.mark.parametrize("name", ["x.paf.partial-$$", "x.paf.partial"])
def test_a_link_that_was_planted_is_not_followed(folder: Path, name: str) -> None:
    (folder / "victim").write_text("precious")
    done = by_shell(folder, f'ln -s victim "{name}"', "align", "q.fa", "t.fa", "-o", "x.paf")
    assert done.returncode == 0, done.stderr
    assert (folder / "victim").read_text() == "precious"
    assert not (folder / "x.paf").is_symlink()
    assert len(rows_of((folder / "x.paf").read_bytes())) == 5


def test_a_link_in_place_of_a_new_checkpoint_is_not_followed(folder: Path) -> None:
    (folder / "victim").write_text("precious")
    (folder / "one.fa").write_bytes(fasta([random_symbols(60_000, 1)]))
    (folder / "two.fa").write_bytes(fasta([random_symbols(60_000, 2)]))
    (folder / "state.new").symlink_to("victim")
    options = ("--checkpoint", "state", "--checkpoint-every", "0.05s", "-t", "1")
    assert_success(run("distance", "one.fa", "two.fa", *options, cwd=folder))
    assert (folder / "victim").read_text() == "precious"
    assert (folder / "state.new").is_symlink()
    assert not list(folder.glob(f"state.new-{RANDOM}")) and not (folder / "state").exists()


@pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True, check=False).returncode != 0,
    reason="no process namespaces here",
)
def test_runs_with_one_process_id_do_not_mix(folder: Path) -> None:
    """As in two containers that share a folder."""
    inputs = [seq(random_pairs(2_000, seed=number)) for number in range(2)]
    words = ["align", "-", "-o", "x.paf", "--batch-bases", "100000", "-t", "1", "-q"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    program = ["unshare", "--pid", "--fork", *command(), *words]
    processes = [subprocess.Popen(program, cwd=folder, env=environment(), **pipes) for _ in inputs]
    for process in processes:
        process.stdin.write(inputs[0][:1000] if process is processes[0] else inputs[1][:1000])
        process.stdin.flush()
    wait_until(lambda: len(partials(folder)) == 2, 60)
    for process, data in zip(processes, inputs, strict=True):
        process.stdin.write(data[1000:])
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""
    (folder / "last.seq").write_bytes(inputs[1])
    assert (folder / "x.paf").read_bytes() == run("align", "last.seq", "--format", "paf", cwd=folder).out
    assert not partials(folder)


def test_what_a_killed_run_left_is_named_and_goes(folder: Path) -> None:
    left = killed(folder)
    assert killed(folder) != left  # the new run removed the old file
    (left,) = partials(folder)
    others = ("x.paf.partial-notours1", "x.paf.partial-123", "y.paf.partial-00000000", "x.paf.partial-000000000")
    for name in others:
        (folder / name).write_text("another's")
    result = run("align", "q.fa", "t.fa", "-o", "x.paf", cwd=folder)
    assert_success(result)
    assert f"wfacli: warning: {left} was left by a run that ended early, and is removed" in result.err
    assert not left.exists() and len(rows_of((folder / "x.paf").read_bytes())) == 5
    assert all((folder / name).exists() for name in others)
    assert "warning" not in run("align", "q.fa", "t.fa", "-o", "x.paf", cwd=folder).err


def test_what_a_failed_run_kept_goes_with_the_next_one(folder: Path) -> None:
    (folder / "q.fa").write_bytes((folder / "q.fa").read_bytes() + b">more\nACGT\n")
    for _ in range(2):
        assert run("align", "q.fa", "t.fa", "-o", "x.paf", cwd=folder).code == 1
        (kept,) = partials(folder)
    assert len(rows_of(kept.read_bytes())) == 5
    third = run("align", "q.fa", "t.fa", "-o", "x.paf", cwd=folder)
    assert f"{kept} was left" in third.err
    (left,) = partials(folder)
    assert str(left) in third.err
    assert "was left" not in run("align", "q.fa", "t.fa", "-o", "x.paf", "-q", cwd=folder).err


@pytest.mark.parametrize("name", ["x.paf", "x.bam"])
def test_a_run_that_goes_on_keeps_its_file(folder: Path, name: str) -> None:
    """Another run with the same output name does not remove it."""
    process = start("align", "-", "t.fa", "-o", name, cwd=folder)
    assert process.stdin
    process.stdin.write((folder / "q.fa").read_bytes())
    process.stdin.flush()
    wait_until(lambda: bool(partials(folder, name)), 60)
    (own,) = partials(folder, name)
    other = run("align", "q.fa", "t.fa", "-o", name, cwd=folder)
    assert_success(other)
    assert "warning" not in other.err
    assert partials(folder, name) == [own]
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    assert not partials(folder, name)
    if name == "x.bam":
        pysam.quickcheck(str(folder / name))
    else:
        assert len(rows_of((folder / name).read_bytes())) == 5
