"""Child processes never run code from the working directory, and their exit status alone is not trusted."""

from __future__ import annotations

import sys
from pathlib import Path

import pysam
import pytest

from .support import Result, assert_failure, assert_success, command, environment, fasta, run

# Content of modules in the working directory, which record that they were imported.
PLANTED = "from pathlib import Path\nPath(__file__).with_name('executed').touch()\n"
MODULES = ("pysam", "signal", "mappy", "numpy", "json", "wfacli", "typing", "random")
MAPPY = """
revcomp = str
class ThreadBuffer: pass
class Aligner:
    def __init__(self, *arguments, **options): pass
    def map(self, *reads, **options): return []
def fastx_read(path):
    for number in range(1, 6):
        yield f"r{number}", "ACGT", None
"""


@pytest.fixture
def folder(folder: Path) -> Path:
    """A folder with modules beside the inputs that create a file when they are imported."""
    for name in MODULES:
        (folder / f"{name}.py").write_text(PLANTED)
    return folder


def assert_not_executed(folder: Path) -> None:
    assert not (folder / "executed").exists()


def started(folder: Path, *arguments: str, **env: str) -> Result:
    return run(*arguments, cwd=folder, env=environment(**env), program=command())


@pytest.mark.parametrize("options", [("-o", "x.bam"), ("-o", "x.bam", "--sort", "--write-index"), ("-o", "x.cram")])
def test_modules_of_the_working_directory_do_not_write_the_output(folder: Path, options: tuple[str, ...]) -> None:
    assert_success(started(folder, "align", "q.fa", "t.fa", *options))
    assert_not_executed(folder)
    with pysam.AlignmentFile(str(folder / options[1]), reference_filename=str(folder / "t.fa")) as file:
        assert sorted(r.query_name for r in file.fetch(until_eof=True)) == ["r1", "r2", "r3", "r4", "r5"]


def test_modules_of_the_working_directory_do_not_read_bam(folder: Path) -> None:
    with pysam.AlignmentFile(str(folder / "reads.bam"), "wb", header={"HD": {"VN": "1.6"}}) as file:
        fields = ["r1", "4", "*", "0", "0", "*", "*", "0", "0", "ACGT", "IIII"]
        file.write(pysam.AlignedSegment.fromstring("\t".join(fields), file.header))
    (folder / "map.paf").write_text("r1\t4\t0\t4\t+\tt1\t60\t0\t4\t4\t4\t60\n")
    result = started(folder, "align", "reads.bam", "t.fa", "--mappings", "map.paf", "--format", "paf")
    assert_success(result)
    assert [row[0] for row in result.rows] == ["r1"]
    assert_not_executed(folder)


def test_a_mapper_may_be_installed_where_pythonpath_says(folder: Path) -> None:
    """A mapper installed by pip install --target is found.

    Its process is isolated from the working directory, but not from PYTHONPATH.
    """
    (folder / "installed").mkdir()
    (folder / "installed" / "mappy.py").write_text(MAPPY)
    result = started(folder, "map", "t.fa", "q.fa", PATH="/nowhere", PYTHONPATH=str(folder / "installed"))
    assert_success(result)
    assert "no mappings" in result.err or "0 mapped" in result.err
    assert_not_executed(folder)


def test_a_process_that_ends_well_and_has_written_nothing_is_a_failure(folder: Path) -> None:
    """If a process exits with 0, the output is still checked for CRAM's end-of-file container."""
    (folder / "installed").mkdir()
    (folder / "installed" / "pysam.py").write_text(
        "class SamtoolsError(Exception): pass\ndef view(*arguments, catch_stdout): pass\n"
    )
    pysam.faidx(str(folder / "t.fa"))
    result = started(folder, "align", "q.fa", "t.fa", "-o", "x.cram", PYTHONPATH=str(folder / "installed"))
    assert_failure(result, 1, "x.cram: htslib ended without an error, but it is empty")
    assert not list(folder.glob("x.cram*"))


def test_a_folder_that_is_gone_is_no_obstacle(tmp_path: Path) -> None:
    """The command also runs if the working directory no longer exists."""
    for name, symbols in (("q.fa", "ACGT"), ("t.fa", "ACCT")):
        (tmp_path / name).write_bytes(fasta([symbols]))
    lines = f'mkdir {tmp_path}/gone; cd {tmp_path}/gone; rmdir {tmp_path}/gone; exec "$@"'
    files = [str(tmp_path / name) for name in ("q.fa", "t.fa")]
    program = ["sh", "-c", lines, "sh", str(Path(sys.executable).with_name("wfacli"))]
    result = run("align", *files, "-o", str(tmp_path / "x.bam"), cwd=tmp_path, program=program)
    assert_success(result)
    pysam.quickcheck(str(tmp_path / "x.bam"))
