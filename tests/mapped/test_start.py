"""`wfacli map` starts the mapper before it imports what reads its output, and ends it if it cannot be used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import environment, zstd
from tests.mapped.fake_mapper import install
from tests.mapped.world import random_world

_WITH_HOOK = """
import functools, os, signal, sys
name_set = functools.cached_property.__set_name__
def signalled(self, owner, name):  # an exception here comes out as another one
    if {in_class} and "numpy" in sys.modules:
        os.kill(os.getpid(), {in_class})
    name_set(self, owner, name)
functools.cached_property.__set_name__ = signalled
def hook(event, details):
    if event == "subprocess.Popen" and "--version" not in details[1]:
        with open("starts", "a") as file:
            print("numpy" in sys.modules, *details[1], file=file)
    elif event == "import" and details[0] == "numpy" and {signal}:
        while not os.path.exists("pid"):
            pass
        os.kill(os.getpid(), {signal})
sys.addaudithook(hook)
from wfacli.cli import entry
entry()
"""
_SLEEPING = "#!/bin/sh\necho $$ > made && mv made pid\nexec sleep 100\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Reads, a reference, and a fake minimap2 that prints map.paf."""
    random_world(31).write(tmp_path)
    install(tmp_path)
    return tmp_path


def map_(folder: Path, *arguments: str, signal: int = 0, in_class: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `wfacli map`, which notes in the file starts what it starts, and whether numpy is imported by then."""
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    code = _WITH_HOOK.format(signal=signal, in_class=in_class)
    command = [sys.executable, "-c", code, "map", *arguments, "-o", "x.sam"]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60)


def starts(folder: Path) -> list[list[str]]:
    return [line.split() for line in (folder / "starts").read_text().splitlines()]


def test_files_are_mapped_while_modules_are_imported(folder: Path) -> None:
    assert map_(folder, "ref.fa", "reads.fq").returncode == 0
    ((imported, *command),) = starts(folder)  # it starts once
    assert imported == "False"
    assert command[1:] == (folder / "arguments").read_text().split()


@pytest.mark.parametrize("packed", ["ref.fa", "reads.fq"])
def test_files_that_need_a_pipe_are_mapped_by_a_second_process(folder: Path, packed: str) -> None:
    """The mapper does not read zstd, so the first process has the wrong files."""
    assert map_(folder, "ref.fa", "reads.fq").returncode == 0
    wanted = (folder / "x.sam").read_text().splitlines()
    (folder / packed).write_bytes(zstd((folder / packed).read_bytes()))
    (folder / "starts").unlink()
    assert map_(folder, "ref.fa", "reads.fq").returncode == 0
    (_, *first), (_, *second) = starts(folder)
    assert packed in first and packed not in second
    found = (folder / "x.sam").read_text().splitlines()
    assert [line for line in found if line[0] != "@"] == [line for line in wanted if line[0] != "@"]


@pytest.mark.parametrize(
    ("reads", "script"), [("-", 'cat reads.fq | "$@"'), ("pipe", 'cat reads.fq > pipe & "$@"; wait')]
)
def test_what_can_be_read_only_once_is_not_given_to_the_mapper_first(folder: Path, reads: str, script: str) -> None:
    os.mkfifo(folder / "pipe")
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    code = _WITH_HOOK.format(signal=0, in_class=0)
    command = [sys.executable, "-c", code, "map", "ref.fa", reads, "-o", "x.sam"]
    subprocess.run(["sh", "-c", script, "-", *command], cwd=folder, env=env, check=True, timeout=60)
    assert [imported for imported, *_ in starts(folder)] == ["True"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ref.fa", "reads.fq", "--mates", "reads.fq", "--preset", "sr"], "READS and --mates are the same file"),
        (["ref.mmi", "reads.fq"], "is an index of minimap2"),
        (["ref.fa", "reads.fq", "--report", "x.sam"], "cannot both go to x.sam"),
    ],
)
def test_errors_end_a_mapper_that_runs_already(folder: Path, arguments: list[str], message: str) -> None:
    (folder / "bin" / "minimap2").write_text(_SLEEPING)
    (folder / "ref.mmi").write_bytes(b"MMI\x02")
    result = map_(folder, *arguments)
    assert result.returncode in (1, 2) and message in result.stderr
    assert starts(folder)[0][0] == "False"
    assert not is_alive(folder) and not (folder / "x.sam").exists()


@pytest.mark.parametrize(("signal", "status"), [(15, 143), (2, 130), (1, 129)])
def test_signals_amid_the_imports_end_the_mapper(folder: Path, signal: int, status: int) -> None:
    (folder / "bin" / "minimap2").write_text(_SLEEPING)
    result = map_(folder, "ref.fa", "reads.fq", signal=signal)
    assert (result.returncode, result.stderr) == (status, "")
    assert not is_alive(folder)


@pytest.mark.parametrize(("signal", "status"), [(15, 143), (2, 130), (1, 129)])
def test_signals_amid_the_definition_of_a_class(folder: Path, signal: int, status: int) -> None:
    """Python turns an exception there into a RuntimeError."""
    result = map_(folder, "ref.fa", "reads.fq", in_class=signal)
    assert (result.returncode, result.stderr) == (status, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ref.fa", ""], "the name of an input file is empty"),
        (["ref.fa", "reads.fq", "-x", ""], "minimap2 has no preset ''"),
    ],
)
def test_empty_arguments(folder: Path, arguments: list[str], message: str) -> None:
    """A script's variable may be empty."""
    (folder / "bin" / "minimap2").write_text(
        '#!/bin/sh\ncase "$*" in *"-x  --version") echo "[ERROR] unknown preset" >&2; exit 1;; esac\n'
    )
    result = map_(folder, *arguments)
    assert result.returncode == 2 and message in result.stderr
    assert not (folder / "x.sam").exists()


def test_the_run_is_ready_before_the_first_line(folder: Path) -> None:
    """The output is created behind the engine, which may take long to open; the mapper may take minutes to a line."""
    program, real = folder / "bin" / "minimap2", folder / "bin" / "real"
    program.rename(real)
    wait = "[ $# -gt 3 ] && until ls | grep -q x.sam; do sleep 0.01; done"
    program.write_text(f'#!/bin/sh\n{wait}\nexec {real} "$@"\n')
    program.chmod(0o755)
    assert map_(folder, "ref.fa", "reads.fq").returncode == 0
    assert (folder / "x.sam").read_text().count("\n") > 3


@pytest.mark.parametrize(("signal", "status"), [(15, 143), (2, 130)])
def test_signals_before_the_first_line_do_not_wait_for_it(folder: Path, signal: int, status: int) -> None:
    (folder / "bin" / "minimap2").write_text("#!/bin/sh\n[ $# -gt 3 ] && exec sleep 1000\necho 2.30\n")
    code = "import wfacli.run.pipeline as p; p._JOIN_SECONDS = 1000; from wfacli.cli import entry; entry()"
    command = [sys.executable, "-c", code, "map", "ref.fa", "reads.fq", "-o", "x.sam"]
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")
    with subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE) as run:
        while not any(partial.stat().st_size for partial in folder.glob("*x.sam*")):
            assert run.poll() is None
        run.send_signal(signal)
        assert (run.communicate(timeout=60)[1], run.returncode) == (b"", status)
    assert not list(folder.glob("*x.sam*"))


def test_what_the_mapper_has_started_ends_with_it(folder: Path) -> None:
    """minimap2 on PATH may be a script that runs it, which does not always replace itself by it."""
    script = "[ $# -gt 3 ] && { sleep 1000 & echo $! > made && mv made pid; wait; }"
    (folder / "bin" / "minimap2").write_text(f"#!/bin/sh\n{script}\necho 2.30\n")
    assert map_(folder, "ref.fa", "reads.fq", signal=15).returncode == 143
    assert not is_alive(folder)


def test_the_mapper_yields(folder: Path) -> None:
    """It never waits, and what aligns its mappings should not wait for it."""
    asked = "[ $# -gt 3 ] && sleep 0.2 && ps -o nice= -p $$ > nice"
    (folder / "bin" / "minimap2").write_text(f"#!/bin/sh\n{asked}; exit 1\n")
    map_(folder, "ref.fa", "reads.fq")
    assert int((folder / "nice").read_text()) == min(os.getpriority(os.PRIO_PROCESS, 0) + 5, 19)


def is_alive(folder: Path) -> bool:
    """Return whether the mapper runs; it may have been ended before it wrote its number."""
    pid = folder / "pid"
    try:
        return pid.exists() and ") Z " not in Path(f"/proc/{pid.read_text().strip()}/stat").read_text()
    except OSError:
        return False
