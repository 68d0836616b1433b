"""Limits of the operating system: an error names its file, and no temporary file is left unmentioned."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .support import assert_failure, command, environment, run
from .test_interruption import linux


def limited(folder: Path, limit: str, *words: str) -> tuple[int, str]:
    """Run the command under a limit of the shell; return its exit status and messages.

    Assert that nothing is left in TMPDIR, and that messages name each file left beside the output.
    """
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    program = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *command()]
    result = run(*words, cwd=folder, program=program, env=environment(TMPDIR=str(temporary)))
    assert "Traceback" not in result.err, (limit, result.err)
    assert not list(temporary.iterdir()), (limit, result.err)
    for left in folder.glob("*.partial-*"):
        assert left.name in result.err and left.stat().st_size, (limit, left.name, result.err)
        left.unlink()
    return result.code, result.err


@linux
@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("align q.fa t.fa -o x.sam", ("q.fa", "t.fa", "x.sam")),
        ("align q.fa t.fa -o x.bam --sort", ("q.fa", "t.fa", "x.bam", "temporary")),
        ("align q.fa t.fa -o x.cram", ("q.fa", "t.fa", "x.cram", "temporary")),
        ("align reads.sam t.fa --mappings map.paf -o x.paf", ("reads.sam", "t.fa", "map.paf", "x.paf")),
        ("distance one.fa one.fa --path -o x.bam", ("one.fa", "x.bam", "temporary")),
        ("local one.fa one.fa -o x.bam", ("one.fa", "x.bam", "temporary")),
    ],
)
def test_few_open_files(folder: Path, line: str, files: tuple[str, ...]) -> None:
    (folder / "reads.sam").write_bytes(b"@HD\tVN:1.6\nr1\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\t*\n")
    (folder / "map.paf").write_text("r1\t4\t0\t4\t+\tt1\t60\t0\t4\t4\t4\t60\n")
    (folder / "one.fa").write_bytes(b">t\nACGTACGTAC\n")
    failed = 0
    for count in (5, 7, 9, 12):
        code, said = limited(folder, f"-n {count}", *line.split())
        assert code in (0, 1), (count, said)
        if code:
            failed += 1
            (message,) = [words for words in said.splitlines() if words.startswith("wfacli: error: ")]
            assert any(file in message for file in files), (count, said)
    assert failed


def test_a_stream_is_closed_with_no_descriptor_left() -> None:
    code = (
        "import resource, sys\nfrom wfacli.cli.console import redirect_to_null\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\nredirect_to_null(1)\nprint('lost')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@linux
@pytest.mark.parametrize("words", ["--help", "align --help", "--version"])
def test_what_is_full_is_named(folder: Path, words: str) -> None:
    with Path("/dev/full").open("wb") as full:
        result = run(*words.split(), cwd=folder, stdout=full)
    assert_failure(result, 1, "wfacli: error: standard output: No space left on device")


@linux
def test_a_library_that_ends_the_process(folder: Path) -> None:
    """OpenBLAS calls exit() where it gets no memory; here a module does that is imported late."""
    (folder / "modules").mkdir()
    (folder / "modules" / "matplotlib.py").write_text("import ctypes\nctypes.CDLL(None).exit(1)\n")
    env = environment(PYTHONPATH=str(folder / "modules"))
    (folder / "one.fa").write_bytes(b">t\nACGTACGTAC\n")
    before = sorted(folder.iterdir())
    result = run("dotplot", "one.fa", "one.fa", "-o", "x.svg", cwd=folder, env=env)
    assert_failure(result, 1, "wfacli: error: out of memory: a library has ended the process")
    assert sorted(folder.iterdir()) == before


@linux
def test_incomplete_files_of_a_process_that_a_library_ends(tmp_path: Path) -> None:
    code = (
        "import ctypes, sys\nfrom wfacli._native import guard_exit\nfrom wfacli.io.write.output import Output\n"
        "guard_exit(b'ended\\n')\nempty, done, begun = map(Output, ('empty', 'done', 'beg\\x1bun'))\n"
        "done.write(b'1')\ndone.finish()\nbegun.write(b'1')\nctypes.CDLL(None).exit(7)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    left, _ = sorted(tmp_path.iterdir())
    line = f"wfacli: incomplete: {tmp_path}/{left.name}".replace("\x1b", "\\x1b")
    assert (done.returncode, done.stderr.decode()) == (7, f"ended\n{line}\n")
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == [b"1", b"1"]
