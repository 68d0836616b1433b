"""The command with an emulated GPU writes the same bytes as without it, and reports what the GPU did."""

from __future__ import annotations

import faulthandler
import gzip
import json
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.support import fasta, fastq, table
from tests.cli.support import run as run_command
from tests.emulation.driver import EmulatedDriver, leaks
from wfacli import cli
from wfacli.core import tuning
from wfacli.engines import choice
from wfacli.engines.late_gpu import LateGpuEngine
from wfacli.errors import DeviceError, OutOfDeviceMemory
from wfacli.run import pairs as run

from .support import some_pairs

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")

Command = Callable[..., int]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write pairs in several formats: similar and dissimilar ones, and some with symbols other than ACGT."""
    pairs = [(q.decode(), t.decode()) for q, t in [*some_pairs(60), *some_pairs(4, 300, 0.3)]]
    pairs = [pair for pair in pairs if pair[0] and pair[1]] + [("ACNGTTAR", "ACGGTTAC"), ("acgtta", "ACCTTU")]
    queries, targets = zip(*pairs, strict=True)
    (tmp_path / "q.fq").write_bytes(fastq(queries))
    (tmp_path / "q.fa.gz").write_bytes(gzip.compress(fasta(queries, width=70)))
    (tmp_path / "t.fa").write_bytes(fasta(targets, "t"))
    (tmp_path / "pairs.tsv").write_bytes(table(pairs))
    return tmp_path


@pytest.fixture
def drivers(monkeypatch) -> Iterator[list[EmulatedDriver]]:
    """The GPUs that were opened; at the end they must be closed, without leaks."""
    opened: list[EmulatedDriver] = []

    def open_driver(index: int, compiler: object) -> EmulatedDriver:
        opened.append(EmulatedDriver())
        return opened[-1]

    monkeypatch.setattr(choice, "open_driver", open_driver)
    monkeypatch.setattr("wfacli.run.align.may_have_gpu", lambda: True)
    monkeypatch.setattr(tuning, "GPU_OPEN_SECONDS", -1.0)  # it pays off for any work
    yield opened
    assert all(driver._closed for driver in opened)
    assert [leaks(driver) for driver in opened] == [{}] * len(opened)


@pytest.fixture
def align(monkeypatch, folder: Path) -> Iterator[Command]:
    """A function that runs `wfacli align` in this process and in that folder, and returns its exit status."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.chdir(folder)

    def run(*arguments: object) -> int:
        monkeypatch.setattr(sys, "argv", ["wfacli", "align", *map(str, arguments)])
        faulthandler.dump_traceback_later(60, exit=True)  # a hang would be in the main thread, which handles signals
        try:
            with pytest.raises(SystemExit) as end:
                cli.entry()
        finally:
            faulthandler.cancel_dump_traceback_later()
        return end.value.code or 0

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


def both(align: Command, folder: Path, suffix: str, *arguments: object) -> bytes:
    """Return the output of --engine gpu, which must equal that of --engine cpu, without the header's command line."""
    written = []
    for engine in ("cpu", "gpu"):
        out = folder / f"{engine}{suffix}"
        assert align(*arguments, "--engine", engine, "-o", out) == 0
        written.append(re.sub(rb"\tCL:.*", b"", out.read_bytes()))
    assert written[0] == written[1]
    return written[0]


@pytest.mark.parametrize("metric", ["edit", "indel", "linear", "affine", "affine2p"])
@pytest.mark.parametrize("suffix", [".sam", ".paf", ".tsv"])
def test_same_bytes(align, folder, drivers, metric, suffix):
    text = both(align, folder, suffix, "q.fq", "t.fa", "--metric", metric)
    assert text.count(b"\n") > 60
    assert drivers[0].calls["launch"] > 0


INPUTS = [("q.fq", "t.fa"), ("q.fa.gz", "t.fa"), ("pairs.tsv",)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bases", [1, 700, 5_000])
@pytest.mark.parametrize("files", INPUTS, ids="+".join)
def test_same_bytes_in_batches_of_any_size(align, folder, drivers, files, bases, threads):
    both(align, folder, ".paf", *files, "--metric", "edit", "-t", threads, "--batch-bases", bases)
    assert drivers[0].calls["launch"] > 0


OPTIONS = [
    ("--score-only",),
    ("--match", "2"),
    ("--md", "--cs", "--cigar", "m"),
    ("--max-cost", "12"),
    ("--ambiguous", "wildcard"),
    ("--ambiguous", "literal", "--metric", "edit"),
    ("--mode", "semiglobal"),
    ("--check",),
]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_same_bytes_with_options(align, folder, drivers, options):
    suffix = ".tsv" if "--score-only" in options else ".sam"
    both(align, folder, suffix, "q.fq", "t.fa", "-t", "1", *options)
    assert len(drivers) == 1


def test_shards_on_a_gpu(align, folder, drivers):
    assert align("q.fq", "t.fa", "--engine", "cpu", "--no-header", "-o", folder / "one.sam") == 0
    plan = ["plan", "q.fq", "t.fa", "--no-header", "--format", "sam", "--shards", "2", "-o", "run.plan"]
    done = run_command(*plan, cwd=folder)
    assert done.code == 0, done.err
    for shard in ("2/2", "1/2"):
        assert align("--plan", "run.plan", "--shard", shard, "--engine", "gpu") == 0
    assert all(driver.calls["launch"] > 0 for driver in drivers) and len(drivers) == 2
    assert run_command("merge", "run.plan", "-o", "merged.sam", cwd=folder).code == 0
    assert (folder / "merged.sam").read_bytes() == (folder / "one.sam").read_bytes()


def test_report(align, folder, drivers, capfd):
    assert align("q.fq", "t.fa", "--metric", "edit", "-t", "1", "-o", "x.paf", "--stats", "s.json") == 0
    lines = capfd.readouterr().err.splitlines()
    assert sum("(gpu emulated GPU, cpu " in line and "1 thread)" in line for line in lines) == 1, lines
    report = json.loads((folder / "s.json").read_text())
    engine = report["engine"]
    assert (engine["engine"], engine["gpu"], engine["architecture"]) == ("gpu", "emulated GPU", "sm_90")
    assert engine["cpu"]["threads"] == 1
    assert engine["failure"] is None
    opened_gpu = {name: n for name, n in report["pairs_by_kernel"].items() if name.startswith("gpu-")}
    assert sum(opened_gpu.values()) > 50
    assert sum(report["pairs_by_kernel"].values()) == report["pairs"] == report["aligned"]
    seconds = report["stage_seconds"]
    assert {"stage", "unstage", "gpu copy", "gpu pack", "gpu gather"} <= set(seconds)
    for name in opened_gpu:  # a kernel has one or several catalogue rows, with its name as a prefix
        assert any(what.startswith(f"gpu {name.removeprefix('gpu-')}") for what in seconds), (name, seconds)


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [("64M", 64 << 20), ("0.25", 1 << 28), (".5", 1 << 29), ("1", 0.95 * 2**30), ("1G", 1 << 30)],
)
def test_memory(align, folder, drivers, text, nbytes):
    assert align("q.fq", "t.fa", "--gpu-memory", text, "-o", "x.paf", "--stats", "s.json") == 0
    assert 0 <= nbytes - json.loads((folder / "s.json").read_text())["engine"]["memory_bytes"] < 4
    assert drivers[0].most_allocated <= nbytes


@pytest.mark.parametrize("text", ["63M", "0", "0.0", "2", "-1G", "much", "1.5", "50%", ""])
def test_memory_that_is_refused(align, drivers, capfd, text):
    assert align("q.fq", "t.fa", f"--gpu-memory={text}") == 2
    assert "--gpu-memory" in capfd.readouterr().err
    assert not drivers


def assert_one_error(capfd, *words: str) -> None:
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("wfacli: error: ")
    assert all(word in lines[0] for word in words), lines


@pytest.mark.parametrize("there", [True, False], ids=["gpu", "no-gpu"])
def test_batches_are_read_while_a_gpu_is_opened(align, folder, drivers, monkeypatch, there):
    """Batches are read into memory that the GPU locks once it is open.

    Without a GPU, the CPU reads its own batches.
    """
    read, opening, later_batches = threading.Event(), choice.open_driver, run.later_batches

    def reading(*arguments, **rest):
        for batch in later_batches(*arguments, **rest):
            yield batch
            read.set()  # the next batch has been requested

    def slow(index: int, compiler: object) -> EmulatedDriver:
        assert read.wait(30), "no thread reads while the GPU is opened"
        if there:
            return opening(index, compiler)
        raise DeviceError("no GPU")

    monkeypatch.setattr(run, "later_batches", reading)
    monkeypatch.setattr(choice, "open_driver", slow)
    arguments = ("q.fq", "t.fa", "--metric", "edit", "-t", "2", "--batch-bases", "700")
    assert align(*arguments, "--engine", "auto", "-o", "some.paf", "--stats", "s.json") == 0
    assert align(*arguments, "--engine", "cpu", "-o", "cpu.paf") == 0
    assert (folder / "some.paf").read_bytes() == (folder / "cpu.paf").read_bytes()
    assert json.loads((folder / "s.json").read_text())["engine"]["engine"] == ("gpu" if there else "cpu")
    assert not any(thread.name == "wfacli-early" for thread in threading.enumerate())


def test_little_work_opens_no_gpu(align, folder, drivers, monkeypatch):
    monkeypatch.setattr(tuning, "GPU_OPEN_SECONDS", 0.4)
    for options in ((), ("--metric", "edit"), ("--metric", "affine2p")):
        assert align("q.fq", "t.fa", *options, "-o", "x.paf", "--stats", "s.json") == 0
        assert json.loads((folder / "s.json").read_text())["engine"]["engine"] == "cpu"
    assert align("q.fa.gz", "t.fa", "-o", "x.paf") == 0
    assert align("pairs.tsv", "-o", "x.paf") == 0
    assert not drivers
    assert align("q.fq", "t.fa", "-o", "x.paf", "--devices", "0,1") == 0
    assert len(drivers) == 2


def test_much_work_opens_a_gpu_at_once(align, folder, drivers, monkeypatch):
    monkeypatch.setattr(tuning, "GPU_OPEN_SECONDS", 1e-9)
    monkeypatch.setattr("wfacli.run.gpu_worth.saving", lambda *_: 1.0)
    assert align("q.fq", "t.fa", "-o", "x.paf", "--stats", "s.json") == 0
    assert json.loads((folder / "s.json").read_text())["engine"]["engine"] == "gpu"


class FakeTime:
    """A clock by which each batch takes a second of its thread."""

    def __init__(self) -> None:
        self.now = 0.0

    def thread_time(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("opens", [True, False], ids=["opens", "no-gpu"])
def test_a_gpu_is_opened_once_it_would_have_paid(align, folder, drivers, monkeypatch, opens):
    """The sample says no; the batches then say yes. Some are aligned before the GPU is open, others after it."""
    monkeypatch.setattr(tuning, "GPU_OPEN_SECONDS", 2.5)
    monkeypatch.setattr("wfacli.run.gpu_worth.saving", lambda *_: 0.0)
    monkeypatch.setattr("wfacli.run.align.seconds_with_gpu", lambda *_: 0.0)
    monkeypatch.setattr("wfacli.run.align.time", FakeTime())
    if not opens:

        def none(index: int, compiler: object) -> EmulatedDriver:
            raise DeviceError("none")

        monkeypatch.setattr(choice, "open_driver", none)
    opening: set[threading.Thread] = set()

    def opened_first(engine: LateGpuEngine, seconds: float, own=LateGpuEngine.would_save) -> None:
        own(engine, seconds)
        if engine._opening:
            engine._opening.join()
            opening.add(engine._opening)

    monkeypatch.setattr(LateGpuEngine, "would_save", opened_first)
    options = ("q.fq", "t.fa", "--batch-bases", "500", "-t", "1")
    assert align(*options, "-o", "x.paf", "--stats", "s.json") == 0
    report = json.loads((folder / "s.json").read_text())
    by_kernel = report["pairs_by_kernel"]
    assert len(opening) == 1
    assert any(name.startswith("gpu-") for name in by_kernel) == opens
    assert sum(n for name, n in by_kernel.items() if not name.startswith("gpu-")) > 0
    assert report["engine"]["engine"] == ("gpu" if opens else "cpu")
    assert align(*options, "--engine", "cpu", "-o", "cpu.paf") == 0
    assert (folder / "x.paf").read_bytes() == (folder / "cpu.paf").read_bytes()


def test_without_a_gpu(align, folder, monkeypatch, capfd):
    def no_gpu(index: int, compiler: object) -> EmulatedDriver:
        raise DeviceError("this machine has no NVIDIA GPU")

    monkeypatch.setattr(choice, "open_driver", no_gpu)
    monkeypatch.setattr("wfacli.run.align.may_have_gpu", lambda: True)
    before = set(folder.iterdir())
    assert align("q.fq", "t.fa", "--engine", "gpu", "-o", "x.sam") == 1
    assert_one_error(capfd, "no NVIDIA GPU")
    assert align("q.fq", "t.fa", "--engine", "gpu", "-o", "x.sam", "--stats", "s.json") == 1
    assert set(folder.iterdir()) == before
    capfd.readouterr()
    assert align("q.fq", "t.fa", "--engine", "auto", "-o", "x.sam", "--quiet") == 0
    assert capfd.readouterr().err == ""


def test_without_a_driver_no_gpu_is_looked_for(align, monkeypatch, folder, capfd):
    def looked(index: int, compiler: object) -> EmulatedDriver:
        raise DeviceError("the driver must not be asked")

    monkeypatch.setattr(choice, "open_driver", looked)
    monkeypatch.setattr("wfacli.run.align.may_have_gpu", lambda: False)
    assert align("q.fq", "t.fa", "-o", "x.sam", "--quiet") == 0
    assert align("q.fq", "t.fa", "--engine", "gpu", "-o", "y.sam") == 1
    assert_one_error(capfd, "the driver must not be asked")


FAULTS = [
    *(("upload", DeviceError), ("pinned", DeviceError), ("lock", DeviceError), ("*", DeviceError)),
    ("allocate", OutOfDeviceMemory),
]


@pytest.mark.parametrize(("call", "error"), FAULTS)
@pytest.mark.parametrize("after", [0, 5])
def test_a_gpu_that_fails_in_mid_run(align, folder, monkeypatch, capfd, call, error, after):
    def failing(index: int, compiler: object) -> EmulatedDriver:
        driver = EmulatedDriver()
        # Host memory is allocated for several batches at once: fail the first or second of these calls.
        first = {"*": 10 + 10 * after, "pinned": min(after, 1), "lock": min(after, 1)}.get(call, after)
        driver.fail(call=call, after=first, times=None, error=error)
        return driver

    arguments = ("q.fq", "t.fa", "--metric", "edit", "-t", "2", "--batch-bases", "500")
    assert align(*arguments, "--engine", "cpu", "-o", "cpu.paf") == 0
    monkeypatch.setattr(choice, "open_driver", failing)
    assert align(*arguments, "--engine", "gpu", "-o", "gpu.paf", "--stats", "s.json") == 0
    assert (folder / "gpu.paf").read_bytes() == (folder / "cpu.paf").read_bytes()
    failure = json.loads((folder / "s.json").read_text())["engine"]["failure"]
    told = [line for line in capfd.readouterr().err.splitlines() if "warning" in line]
    if error is OutOfDeviceMemory:
        assert (failure, told) == (None, [])
    else:
        assert failure.startswith("injected: ")
        assert told == [f"wfacli: warning: the GPU failed, and the CPU aligned the rest: {failure}"]


def test_wrong_input_in_mid_run(align, folder, drivers, capfd):
    (folder / "short.fa").write_bytes(fasta(["ACGT"] * 5, "t"))
    code = align("q.fq", "short.fa", "--engine", "gpu", "--batch-bases", "1", "-o", "x.paf", "--quiet")
    assert code == 1
    assert "short.fa" in capfd.readouterr().err


def test_symbols_go_to_the_gpu_from_where_the_reader_put_them(align, folder, drivers, monkeypatch):
    upload, lent = EmulatedDriver.upload, []

    def uploaded(self: EmulatedDriver, address: int, source, stream) -> None:
        begin = source.ctypes.data
        lent.append(any(at <= begin < at + size for at, size in self.locks.items()))
        upload(self, address, source, stream)

    monkeypatch.setattr(EmulatedDriver, "upload", uploaded)
    (folder / "plain.tsv").write_bytes(table([(q.decode(), t.decode()) for q, t in some_pairs(60) if q and t]))
    options = ("--metric", "edit", "--batch-bases", "700", "-t", "2", "--engine", "gpu")
    assert align("plain.tsv", *options, "-o", "x.paf") == 0
    assert sum(lent) > 1  # except for batches that several kernels share
