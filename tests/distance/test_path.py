"""The alignment of a pair whose distance is known."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from wfacli.config import Ambiguous, Format
from wfacli.errors import Cancelled, DeviceError, InternalError, OutOfDeviceMemory, UsageError
from wfacli.io.write.output import Output
from wfacli.solve.distance import path
from wfacli.solve.distance.cpu import CpuBits
from wfacli.solve.distance.inputs import Inputs, Side, Unit, read_sequences
from wfacli.solve.distance.path import PathOptions, write_path
from wfacli.solve.gpu.on_demand import GpuOnDemand
from wfacli.solve.gpu.path import find_path

from .solvers import edit_distance, pair_of, solved

OPTIONS = PathOptions(Format.PAF, Ambiguous.LITERAL, 1, "0", "wfacli distance")


def inputs_of(folder, a, b, rule=Ambiguous.LITERAL, keep=False):
    for name, symbols in (("a", a), ("b", b)):
        (folder / name).write_text(f">{name}\n{symbols}\n")
    return read_sequences((str(folder / "a"), str(folder / "b")), (None, None), rule, keep)


def written(folder, inputs, distance, stop=lambda: False, options=OPTIONS):
    out = Output(str(folder / "x.paf"))
    try:
        sums = write_path(inputs, distance, options, out, stop)
        out.finish()
    except BaseException:
        out.abandon()
        raise
    return sums, (folder / "x.paf").read_text()


def test_its_cost_is_the_distance(tmp_path):
    symbols = random.Random(1)
    a = "".join(symbols.choices("ACGTN", k=300))
    b = a[:100] + "TTT" + a[110:]
    inputs, edits = inputs_of(tmp_path, a, b), edit_distance(a, b)
    sums, text = written(tmp_path, inputs, edits)
    assert sums["mismatches"] + sums["inserted"] + sums["deleted"] == edits
    assert f"NM:i:{edits}\t" in text
    for wrong in (edits - 1, edits + 1):
        with pytest.raises(InternalError, match=f"costs {edits}, and the distance is {wrong}"):
            written(tmp_path, inputs, wrong)


def test_stops_in_the_middle(tmp_path):
    # Unrelated sequences of this length take minutes if their distance is not known.
    a, b = ("".join(random.Random(seed).choices("ACGT", k=1_000_000)) for seed in (1, 2))
    inputs = inputs_of(tmp_path, a, b)
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        written(tmp_path, inputs, 1, lambda: time.monotonic() > begun + 0.3)
    assert time.monotonic() - begun < 60


def test_sequences_that_are_too_long_for_it():
    pair = pair_of(b"A", b"A")
    long = Inputs(Side("a", "a", 1 << 31), Side("b", "b", 1), Unit.SYMBOLS, pair, pair.query)
    assert long.estimate() == 0, "estimates have no such bound"
    with pytest.raises(UsageError, match=r"of more than 2,147,483,647 symbols is not supported; the distance is"):
        long.as_batch(0)


class Gpus:
    """Opens emulated GPUs, and records them."""

    def __init__(self, **faults):
        self.faults, self.drivers = faults, []
        self.on_demand = GpuOnDemand(self)

    def __call__(self):
        self.drivers.append(EmulatedDriver())
        if self.faults:
            self.drivers[-1].fail(**self.faults)
        return self.drivers[-1]

    def close(self):
        assert not any(leaks(driver) for driver in self.drivers)
        self.on_demand.close()


def edits_of(inputs):
    return solved(CpuBits(inputs.pair, None, 1))


def some_symbols(seed, length=1300, alphabet="ACGT"):
    symbols = random.Random(seed)
    a = symbols.choices(alphabet, k=length)
    b = [symbol if symbols.random() > 0.2 else symbols.choice(alphabet) for symbol in a]
    return "".join(a), "".join(b[:400] + b[450:])


@pytest.mark.parametrize("alphabet", ["ACGT", "ACGTNacgtn"])
@pytest.mark.parametrize("rule", [Ambiguous.LITERAL, Ambiguous.MISMATCH])
@pytest.mark.parametrize("format_", [Format.PAF, Format.SAM])
def test_a_gpu_writes_what_the_cpu_writes(tmp_path, alphabet, rule, format_):
    a, b = some_symbols(2, alphabet=alphabet)
    inputs = inputs_of(tmp_path, a, b, rule, keep=format_ is Format.SAM)
    options = replace(OPTIONS, format=format_, rule=rule)
    edits = edits_of(inputs)
    by_cpu, text = written(tmp_path, inputs, edits, options=options)
    gpus = Gpus()
    by_gpu, same = written(tmp_path, inputs, edits, options=replace(options, gpu=gpus.on_demand, force_gpu=True))
    gpus.close()
    assert same == text and by_cpu["by"].startswith("cpu-") and by_gpu["by"].startswith("gpu-")
    assert by_gpu["gpu_failed"] is None and len(gpus.drivers) == 1


@pytest.mark.parametrize("call", ["allocate", "launch", "download"])
def test_a_gpu_that_fails_leaves_it_to_the_cpu(tmp_path, call):
    a, b = some_symbols(3)
    inputs = inputs_of(tmp_path, a, b)
    edits = edits_of(inputs)
    _, text = written(tmp_path, inputs, edits)
    gpus = Gpus(call=call, after=3, error=OutOfDeviceMemory if call == "allocate" else DeviceError)
    options = replace(OPTIONS, gpu=gpus.on_demand, force_gpu=True)
    sums, same = written(tmp_path, inputs, edits, options=options)
    gpus.close()
    assert same == text and sums["by"].startswith("cpu-") and f"{call} failed" in sums["gpu_failed"]


@pytest.mark.parametrize("wrong", [1, 2])
def test_what_a_gpu_makes_is_looked_at(tmp_path, monkeypatch, wrong):
    """An alignment by a GPU that does not fit the sequences, or costs too much, is recomputed."""
    a, b = some_symbols(5)
    inputs, gpus = inputs_of(tmp_path, a, b), Gpus()
    edits = edits_of(inputs)
    _, text = written(tmp_path, inputs, edits)

    def find(*arguments):
        found = find_path(*arguments)
        return replace(found, cigar=found.cigar + np.uint32(1 << 4)) if wrong == 1 else replace(found, cigar=dear)

    dear = np.array([len(a) << 4 | 1, len(b) << 4 | 2], np.uint32)
    monkeypatch.setattr(path, "find_path", find)
    sums, same = written(tmp_path, inputs, edits, options=replace(OPTIONS, gpu=gpus.on_demand, force_gpu=True))
    gpus.close()
    assert same == text and sums["by"].startswith("cpu-") and sums["gpu_failed"]


@pytest.mark.parametrize(("on_cpu", "is_open", "used"), [(0.0, True, False), (60.0, False, True), (0.3, False, False)])
def test_a_gpu_is_used_where_it_is_sooner(tmp_path, monkeypatch, on_cpu, is_open, used):
    monkeypatch.setattr(path, "_cpu_seconds", lambda *_: on_cpu)
    a, b = some_symbols(4)
    inputs, gpus = inputs_of(tmp_path, a, b), Gpus()
    if is_open:
        gpus.on_demand.driver()
    edits = edits_of(inputs)
    sums, _ = written(tmp_path, inputs, edits, options=replace(OPTIONS, gpu=gpus.on_demand))
    assert sums["by"].startswith("gpu-") == used and bool(gpus.drivers) == (used or is_open)
    gpus.close()


def test_what_is_not_for_a_gpu(tmp_path):
    """Equal sequences are not sent to a GPU."""
    inputs, gpus = inputs_of(tmp_path, "ACGT", "ACGT"), Gpus()
    sums, _ = written(tmp_path, inputs, 0, options=replace(OPTIONS, gpu=gpus.on_demand, force_gpu=True))
    assert sums["by"].startswith("cpu-") and not gpus.drivers


def test_stops_on_a_gpu(tmp_path):
    a, b = ("".join(random.Random(seed).choices("ACGT", k=6_000)) for seed in (1, 2))
    inputs, gpus = inputs_of(tmp_path, a, b), Gpus()
    options = replace(OPTIONS, gpu=gpus.on_demand, force_gpu=True)
    with pytest.raises(Cancelled):
        written(tmp_path, inputs, edits_of(inputs), lambda: True, options)
    gpus.close()
