"""Several GPUs write the same bytes as one, all of them work, and a failed one affects no results."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from tests.cli.support import table
from tests.emulation.driver import EmulatedDriver, leaks
from wfacli.core.batch import Status
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines import choice
from wfacli.engines.gpu import GpuEngine
from wfacli.engines.multi_gpu import MultiGpuEngine
from wfacli.engines.parts import overlaid
from wfacli.errors import DeviceError, OutOfDeviceMemory

from .support import EDIT, SEED, all_rows, assert_equal, batch_of, of_cpu, some_pairs, within
from .test_command import align, assert_one_error, folder  # noqa: F401 (fixtures)

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")

GPUS = 3


@pytest.fixture
def gpus(monkeypatch):
    """Three GPUs, by index; at the end they must be closed, and the working ones have no leaks."""
    opened: dict[int, EmulatedDriver] = {}

    def open_driver(index: int, compiler: object) -> EmulatedDriver:
        if index >= GPUS:
            raise DeviceError(f"no GPU {index}: this machine has {GPUS}, counted from 0")
        assert index not in opened
        opened[index] = EmulatedDriver()
        return opened[index]

    monkeypatch.setattr(choice, "open_driver", open_driver)
    monkeypatch.setattr(choice, "count_devices", lambda: GPUS)
    yield opened
    assert all(driver._closed for driver in opened.values())
    assert [leaks(driver) for driver in opened.values() if not driver._lost] in ([{}] * n for n in range(GPUS + 1))


FILES = ("q.fq", "t.fa", "--metric", "edit", "-t", "3", "--batch-bases", "400")


@pytest.mark.parametrize(("devices", "used"), [("all", [0, 1, 2]), ("2,0", [0, 2]), ("1", [1])])
def test_same_bytes(align, folder, gpus, devices, used):  # noqa: F811
    assert align(*FILES, "--engine", "cpu", "-o", "cpu.paf") == 0
    assert align(*FILES, "--engine", "gpu", "--devices", devices, "-o", "gpu.paf", "--stats", "s.json") == 0
    assert (folder / "gpu.paf").read_bytes() == (folder / "cpu.paf").read_bytes()
    assert sorted(gpus) == used
    assert all(gpu.calls["launch"] > 0 for gpu in gpus.values())
    engine = json.loads((folder / "s.json").read_text())["engine"]
    if len(used) > 1:
        assert engine["gpu"] == f"{len(used)} × emulated GPU"
        assert sorted(gpu["index"] for gpu in engine["gpus"]) == used
        assert sum(gpu["pairs"] for gpu in engine["gpus"]) > 50
        assert engine["memory_bytes"] == sum(gpu["memory_bytes"] for gpu in engine["gpus"])


def test_symbols_are_locked_once_for_all_gpus(align, folder, gpus, monkeypatch):  # noqa: F811
    upload, lent, both = EmulatedDriver.upload, set(), threading.Barrier(2)

    def uploaded(self, address, source, stream):
        begin = source.ctypes.data
        if any(at <= begin < at + size for at, size in gpus[0].locks.items()):
            own = next(index for index, gpu in gpus.items() if gpu is self)
            if own not in lent:
                lent.add(own)
                both.wait(30)  # a GPU that is idle first would get all batches
        upload(self, address, source, stream)

    monkeypatch.setattr(EmulatedDriver, "upload", uploaded)
    (folder / "plain.tsv").write_bytes(table([(q.decode(), t.decode()) for q, t in some_pairs(60) if q and t]))
    options = ("--metric", "edit", "--batch-bases", "500", "-t", "3", "--engine", "gpu", "--devices", "0,1")
    assert align("plain.tsv", *options, "-o", "x.paf") == 0
    assert lent == {0, 1}


@pytest.mark.parametrize("calls", [10, 16, 25])
def test_one_that_fails_leaves_its_pairs_to_the_others(align, folder, gpus, monkeypatch, capfd, calls):  # noqa: F811
    """Fail the first GPU after different numbers of calls: it always gets the first route."""
    assert align(*FILES, "--engine", "gpu", "-o", "one.paf", "--stats", "one.json") == 0
    kernels = json.loads((folder / "one.json").read_text())["pairs_by_kernel"]
    gpus.clear()
    open_driver = choice.open_driver

    def failing(index: int, compiler: object) -> EmulatedDriver:
        driver = open_driver(index, compiler)
        if index == 0:
            driver.lose_gpu(after=calls)
        return driver

    monkeypatch.setattr(choice, "open_driver", failing)
    capfd.readouterr()
    assert align(*FILES, "--engine", "gpu", "--devices", "all", "-o", "x.paf", "--stats", "s.json") == 0
    assert (folder / "x.paf").read_bytes() == (folder / "one.paf").read_bytes()
    told = [line for line in capfd.readouterr().err.splitlines() if "warning" in line]
    assert len(told) == 1
    assert told[0].startswith("wfacli: warning: GPU 0 (emulated GPU) failed, the others go on: injected: ")
    report = json.loads((folder / "s.json").read_text())
    assert report["engine"]["failure"] is None
    assert [gpu["failure"] is None for gpu in report["engine"]["gpus"]] == [False, True, True]
    assert report["pairs_by_kernel"] == kernels  # the CPU aligned none of its pairs


def test_all_fail(align, folder, gpus, monkeypatch, capfd):  # noqa: F811
    assert align(*FILES, "--engine", "cpu", "-o", "cpu.paf") == 0
    open_driver = choice.open_driver

    def failing(index: int, compiler: object) -> EmulatedDriver:
        driver = open_driver(index, compiler)
        driver.lose_gpu(after=40 + 20 * index)
        return driver

    monkeypatch.setattr(choice, "open_driver", failing)
    capfd.readouterr()
    assert align(*FILES, "--engine", "gpu", "--devices", "all", "-o", "x.paf", "--stats", "s.json") == 0
    assert (folder / "x.paf").read_bytes() == (folder / "cpu.paf").read_bytes()
    assert "wfacli: warning: the GPU failed, and the CPU aligned the rest: injected: " in capfd.readouterr().err


def test_one_whose_memory_is_gone_leaves_its_pairs_to_the_others(align, folder, gpus, monkeypatch, capfd):  # noqa: F811
    """Another program takes the first GPU's memory after the start of the run, so that no batch fits."""
    assert align(*FILES, "--engine", "gpu", "-o", "one.paf", "--stats", "one.json") == 0
    kernels = json.loads((folder / "one.json").read_text())["pairs_by_kernel"]
    gpus.clear()
    open_driver = choice.open_driver

    def full(index: int, compiler: object) -> EmulatedDriver:
        driver = open_driver(index, compiler)
        if index == 0:
            driver.fail(call="allocate", times=None, error=OutOfDeviceMemory)
        return driver

    monkeypatch.setattr(choice, "open_driver", full)
    capfd.readouterr()
    assert align(*FILES, "--engine", "gpu", "--devices", "all", "-o", "x.paf", "--stats", "s.json") == 0
    assert (folder / "x.paf").read_bytes() == (folder / "one.paf").read_bytes()
    told = [line for line in capfd.readouterr().err.splitlines() if "warning" in line]
    assert told == [
        "wfacli: warning: GPU 0 (emulated GPU) has no memory left, the others go on: another program has it"
    ]
    report = json.loads((folder / "s.json").read_text())
    assert report["pairs_by_kernel"] == kernels  # the CPU aligned none of its pairs
    assert report["engine"]["failure"] is None


def test_of_all_gpus_those_that_do_not_open_are_left_out(align, folder, gpus, monkeypatch, capfd):  # noqa: F811
    open_driver = choice.open_driver

    def only_the_last(index: int, compiler: object) -> EmulatedDriver:
        if index < 2:
            raise DeviceError("its memory is somebody else's")
        return open_driver(index, compiler)

    monkeypatch.setattr(choice, "open_driver", only_the_last)
    assert align(*FILES, "--engine", "cpu", "-o", "cpu.paf") == 0
    capfd.readouterr()
    assert align(*FILES, "--engine", "gpu", "--devices", "all", "-o", "x.paf") == 0
    told = [line for line in capfd.readouterr().err.splitlines() if "warning" in line]
    assert told == [f"wfacli: warning: GPU {i} is left out: its memory is somebody else's" for i in (0, 1)]
    assert (folder / "x.paf").read_bytes() == (folder / "cpu.paf").read_bytes()
    assert sorted(gpus) == [2]
    monkeypatch.setattr(choice, "count_devices", lambda: 2)
    assert align("q.fq", "t.fa", "--engine", "gpu", "--devices", "all", "-o", "y.paf") == 1
    assert_one_error(capfd, "somebody else's")


def test_a_gpu_that_is_not_there(align, folder, gpus, capfd):  # noqa: F811
    assert align("q.fq", "t.fa", "--engine", "gpu", "--devices", "0,7", "-o", "x.paf") == 1
    assert_one_error(capfd, "no GPU 7")
    assert gpus[0]._closed


def test_gpus_that_were_named_are_not_left_out_silently(align, folder, gpus, capfd):  # noqa: F811
    assert align("q.fq", "t.fa", "--devices", "0,7", "-o", "x.paf") == 0
    assert "wfacli: warning: the CPU aligns everything: no GPU 7" in capfd.readouterr().err
    assert align("q.fq", "t.fa", "--devices", "7", "-o", "x.paf", "--quiet") == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("text", ["", "none", "0,", "-1", "0,0", "1.5", "all,1"])
def test_devices_that_are_refused(align, gpus, capfd, text):  # noqa: F811
    assert align("q.fq", "t.fa", f"--devices={text}") == 2
    assert_one_error(capfd, "--devices")
    assert not gpus


def test_routes_go_to_who_has_the_least_to_do():
    """Routes go to the GPU with the least work, also those of a failed GPU, whatever their rows and order."""
    engines = [GpuEngine(EDIT, EmulatedDriver, Stats(), 1 << 28)]
    engines.append(GpuEngine(EDIT, EmulatedDriver, Stats(), 1 << 28))
    several = MultiGpuEngine(list(enumerate(engines)))
    batches = [batch_of(some_pairs(40, 60, seed=SEED + i)) for i in range(6)]
    try:
        tickets = [several.submit(batch, Route(all_rows(batch), "gpu-bits-64")) for batch in batches]
        assert [gpu["routes"] for gpu in several.stats()["gpus"]] == [3, 3]
        engines[1].session.failure = DeviceError("pulled out")
        with ThreadPoolExecutor(3) as pool:
            found = within(lambda: list(pool.map(several.collect, tickets)))
        assert several.stats()["failure"] is None
        some = np.arange(3, 20, dtype=np.int32)[::-1].copy()
        last = several.collect(several.submit(batches[0], Route(some, "gpu-bits-64")))
        assert [gpu["routes"] for gpu in several.stats()["gpus"]][1] == 3
        for batch, result in zip(batches, found, strict=True):
            assert_equal(result, of_cpu(EDIT, batch), f"seed {SEED}")
        assert_equal(last, of_cpu(EDIT, batches[0], some), f"seed {SEED}")
    finally:
        within(several.close)


def test_lost_rows_with_bands_of_their_own():
    """Retried rows of an unordered route are merged into the answers of the other rows."""
    rows = np.array([7, 2, 9, 4, 1], np.int32)
    batch = batch_of(some_pairs(10, 60))
    whole = of_cpu(EDIT, batch, rows)
    lost = of_cpu(EDIT, batch, rows)
    status, start = lost.status.copy(), whole.cigar_start
    status[[1, 3]] = Status.UNSUPPORTED
    kept = np.concatenate([whole.cigar[start[i] : start[i + 1]] for i in (0, 2, 4)])
    lengths = np.where(status, 0, np.diff(start))
    found = replace(lost, status=status, cigar=kept, cigar_start=np.concatenate([[0], np.cumsum(lengths)]))
    again = of_cpu(EDIT, batch, np.array([4, 2], np.int32))
    assert_equal(overlaid(found, again), whole)
