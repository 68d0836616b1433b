"""Nothing stays in TMPDIR when a signal ends a run and its child processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pysam
import pytest

from .support import command, environment, fasta
from .test_interruption import children, command_line, linux, wait_until

READS = 60_000  # more FASTQ than fits a pipe of 1 MiB


@pytest.fixture
def temporary(folder: Path) -> Path:
    (folder / "t").mkdir()
    return folder / "t"


def begin(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start the command in a process group of its own."""
    return subprocess.Popen(
        [*command(), *words],
        cwd=folder,
        env=environment(TMPDIR=str(folder / "t")),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for_messages_of_pysam(temporary: Path) -> None:
    """Wait until pysam has created the file for a command's messages, which it removes when that has ended."""
    wait_until(lambda: any(path.name.startswith("tmp") for path in temporary.rglob("*")))


def assert_nothing_stays(process: subprocess.Popen[bytes], temporary: Path, sent: signal.Signals) -> None:
    os.killpg(process.pid, sent)
    process.communicate(timeout=30)
    assert process.returncode in (-sent, 128 + sent)
    wait_until(lambda: not list(temporary.iterdir()))


@linux
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_htslib_that_writes_cram(folder: Path, temporary: Path, sent: signal.Signals) -> None:
    (folder / "t.fa").write_bytes(fasta(["ACGT"] * 10))
    process = begin(folder, "align", "-", "t.fa", "-o", "x.cram", "--sort", "--write-index")
    assert process.stdin
    process.stdin.write(fasta(["ACGT"]))
    process.stdin.flush()
    wait_until(lambda: any(b"--no-PG" in command_line(one) for one in children(process)))
    wait_for_messages_of_pysam(temporary)
    assert_nothing_stays(process, temporary, sent)


@linux
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_htslib_that_reads_bam(folder: Path, temporary: Path, sent: signal.Signals) -> None:
    with pysam.AlignmentFile(str(folder / "reads.bam"), "wb", header={"HD": {"VN": "1.6"}}) as file:
        for number in range(READS):
            row = f"read{number}\t4\t*\t0\t0\t*\t*\t0\t0\tACGTACGTACGTACGT\t*"
            file.write(pysam.AlignedSegment.fromstring(row, file.header))
    process = begin(folder, "align", "reads.bam", "t.fa", "--mappings", "-", "-o", "x.paf")
    assert process.stdin
    process.stdin.write(b"read0\t16\t0\t16\t+\tt1\t4\t0\t4\t")  # enough to know its compression
    process.stdin.flush()
    wait_for_messages_of_pysam(temporary)
    assert_nothing_stays(process, temporary, sent)


_INDEX = """
import sys, tempfile
tempfile.mkstemp = lambda *a, **k: sys.exit("a named temporary file")
from wfacli.cli import entry
sys.argv[0] = "wfacli"
entry()
"""


def test_the_index_of_cram(folder: Path, temporary: Path) -> None:
    """Made in a child process, so that pysam creates no file in this one."""
    (folder / "q.fa").write_bytes(fasta(["ACGT"]))
    (folder / "t.fa").write_bytes(fasta(["ACGT"]))
    words = ["align", "q.fa", "t.fa", "-o", "x.cram", "--sort", "--write-index", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", _INDEX, *words],
        cwd=folder,
        env=environment(TMPDIR=str(temporary)),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (folder / "x.cram.crai").stat().st_size
    assert not list(temporary.iterdir())
