"""Measurements: statistics of repeats, pairs, limits, judged rows, and the report; no time is asserted."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from wfacli.config import AlignSpec, EngineName, Heuristics, Metric, Penalties
from wfacli.errors import InternalError
from wfacli.measure import energy, limits, machine, session
from wfacli.measure.engine import Answers, Engine
from wfacli.measure.page import page
from wfacli.measure.report import Limits, report
from wfacli.measure.session import Plan, Row, Session, Setting, heuristic_name
from wfacli.measure.spread import Spread
from wfacli.measure.work import Work, bases, cells, pairs_in_memory

AFFINE = AlignSpec(Metric.AFFINE, Penalties.of(Metric.AFFINE))
EXACT = Heuristics()
CPU = Setting(EngineName.CPU, 1)
WORK = Work(60, 0.1)


def plan(*settings, specs=(AFFINE,), heuristics=EXACT, works=(WORK,), pairs=40):
    return Plan(works, lambda work, where: pairs, specs, heuristics, settings or (CPU,), 2, 1)


def answers(*scores):
    score = np.array(scores, np.int32)
    return Answers(1.0, score, score != 0)


def test_spread_of_repeats():
    found = Spread([3.0, 2.0, 9.0])
    assert (found.best, found.median, found.worst, found.noise) == (2.0, 3.0, 9.0, 0.5)
    assert Spread([1.0]).noise is None
    assert found.report()["all_seconds"] == [3.0, 2.0, 9.0]


def test_pairs_are_the_simulators_whatever_the_threads_and_batches():
    one = pairs_in_memory(Work(300, 0.05, "ont", 3), 3000, 1 << 30, 1)
    several = pairs_in_memory(Work(300, 0.05, "ont", 3), 3000, 100_000, 3)
    assert len(one) == 1 and len(several) > 5
    assert sum(map(len, several)) == len(one[0]) == 3000
    assert bases(several) == bases(one) and cells(several) == cells(one)
    assert (one[0].t_len == 300).all()
    assert bytes(one[0].bases[:300]) == bytes(several[0].bases[:300])


@pytest.mark.parametrize(("length", "error"), [(150, 0.02), (1000, 0.1), (10_000, 0.05), (1, 0.0), (5_000_000, 0.1)])
def test_usual_pairs_are_round_and_bounded(length, error):
    count = Work(length, error).default_pairs(1, 300_000_000)
    assert count == 4 or str(count).rstrip("0") in "123456789"
    assert count == 4 or 2 * length * count <= 300_000_000


def test_nothing_is_begun_after_the_end_and_what_is_missing_is_named(monkeypatch):
    scores = AlignSpec(Metric.AFFINE, Penalties.of(Metric.AFFINE), score_only=True)
    edits = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT))
    now = [0.0]
    monkeypatch.setattr(session.time, "monotonic", lambda: now[0])
    one = Session(dataclasses.replace(plan(specs=(AFFINE, scores, edits), works=(WORK, Work(90, 0.1))), end=5.0))
    rows = []
    for row in one.rows():
        rows.append(row)
        if row.spec.score_only:
            now[0] = 6.0
    assert [row.task for row in rows] == 2 * ["affine CIGAR"] + 2 * ["affine score"]
    assert one.left_out == {"cpu × 1, edit CIGAR": session.NO_TIME}


def test_where_time_is_short_a_gpu_comes_first():
    gpu = Setting(EngineName.GPU, 1)
    for end, order in ((np.inf, [CPU, gpu]), (1e30, [gpu, CPU])):
        one = Session(dataclasses.replace(plan(CPU, gpu), end=end))
        one._rows_of = lambda asked, setting: iter([setting])
        assert list(one.rows()) == order


def test_a_row_that_is_late_has_one_repeat(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(session.time, "monotonic", lambda: now[0])
    one = Session(dataclasses.replace(plan(), end=5.0))
    made = one._pairs_for
    monkeypatch.setattr(one, "_pairs_for", lambda *what: now.__setitem__(0, 6.0) or made(*what))
    (row,) = one.rows()
    assert len(row.spread.seconds) == 1 and not one.left_out


def test_names():
    assert Work(150, 0.02).name == "150 bp 2%"
    assert Work(12_500, 0.005, "hifi").name == "12.5 kb 0.5% hifi"
    assert heuristic_name(Heuristics(100, 50)) == "band 100,50" and heuristic_name(Heuristics()) == ""


def test_limits_are_rates():
    assert limits.memory_rate(2, 1 << 16) > 0
    driver = EmulatedDriver()
    assert limits.bus_rate(lambda: driver, 1 << 16) > 0
    assert driver._closed and leaks(driver) == {}
    rows = [Row(WORK, AFFINE, setting, 10, 3000, 9000, Spread([0.5, 0.25]))
            for setting in (CPU, Setting(EngineName.GPU, 1))]  # fmt: skip
    assert Limits({1: 48_000.0}, None).share(rows[0]) == ("memory", 0.25)
    assert Limits({1: 48_000.0}, None).share(rows[1]) is None
    assert Limits({}, 120_000.0).share(rows[1]) == ("bus", 0.1)


class Nvml:
    """A GPU energy counter that advances by `step` millijoules at each reading."""

    NVMLError = RuntimeError

    def __init__(self, step=500, gpus=1):
        self.count, self.step, self.gpus, self.asked = 0, step, gpus, []

    def nvmlInit(self):  # noqa: N802
        pass

    def nvmlDeviceGetCount(self):  # noqa: N802
        return self.gpus

    def nvmlDeviceGetHandleByIndex(self, index):  # noqa: N802
        self.asked.append(index)
        return index

    def nvmlDeviceGetHandleByUUID(self, name):  # noqa: N802
        self.asked.append(name)
        return name

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):  # noqa: N802
        self.count += self.step
        return self.count


def test_joules_are_the_mean_of_enough_runs():
    runs = []

    def run():
        runs.append(0.25)
        return 0.25

    assert energy.Meter(Nvml(6000), 0).of(run) == 1.5  # 6 J for the four runs of a second
    assert len(runs) == 4


@pytest.mark.parametrize(
    ("gpus", "environment", "asked"),
    [
        (1, {"CUDA_VISIBLE_DEVICES": "3"}, [0]),  # a container that shows one GPU
        (4, {"CUDA_VISIBLE_DEVICES": "2,0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, [2]),
        (4, {"CUDA_VISIBLE_DEVICES": "GPU-12ab"}, ["GPU-12ab"]),
        (4, {"CUDA_VISIBLE_DEVICES": "2"}, []),
    ],
)
def test_the_gpu_that_is_measured(monkeypatch, gpus, environment, asked):
    library = Nvml(gpus=gpus)
    monkeypatch.setitem(__import__("sys").modules, "pynvml", library)
    found, why = energy.meter(environment)
    assert library.asked == asked
    assert (found is None) == (not asked) == bool(why)


def test_no_joules_without_the_library(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    found, why = energy.meter({})
    assert found is None and "nvidia-ml-py" in why


def test_rows_and_their_report():
    edit = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT), score_only=True)
    own = Session(plan(CPU, Setting(EngineName.CPU, 2), specs=(AFFINE, edit), works=(WORK, Work(80, 0.0))))
    rows = list(own.rows())
    found = report(own, rows, Limits({1: 1e9}), {"gpu": "there is none"}, {"quick": True})
    json.loads(json.dumps(found, allow_nan=False))
    assert len(found["rows"]) == own.plan.size == 8
    assert [(r["row"], r["task"], r["threads"]) for r in found["rows"][:3]] == [
        ("60 bp 10%", "affine CIGAR", 1),
        ("60 bp 10%", "affine CIGAR", 2),
        ("60 bp 10%", "edit score", 1),
    ]
    first = found["rows"][0]
    assert first["pairs"] == 40 == sum(first["pairs_by_kernel"].values())
    assert first["penalties"] == "4,6,2" and first["recall"] is None and first["joules"] is None
    assert first["best_seconds"] == min(first["all_seconds"]) and len(first["all_seconds"]) >= 2
    assert first["pairs_per_second"] == pytest.approx(40 / first["best_seconds"], rel=0.01)
    assert first["limit"] == "memory" and found["rows"][1]["limit"] is None
    assert found["left_out"] == {"gpu": "there is none"} and found["format"] == 1
    assert {"name", "date", "commit", "machine", "versions", "what_is_timed"} <= found.keys()
    text = page({**found, "commit": "</script>"}).decode()
    assert "</script>" not in text.split("const report = ")[1].split(";\n")[0]
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_recall_is_against_the_exact_engine():
    own = Session(plan(heuristics=Heuristics(band=1), works=(Work(200, 0.1),)))
    exact, banded = own.rows()
    assert exact.recall is None and banded.heuristic == "band 1"
    batches = pairs_in_memory(Work(200, 0.1), 40, 1 << 30, 1)
    scores = []
    for heuristics in (Heuristics(), Heuristics(band=1)):
        engine = Engine(AlignSpec(heuristics=heuristics))
        scores.append(engine.run(batches, check=True).score)
        engine.close()
    assert banded.recall == np.mean(scores[0] == scores[1]) < 1


def test_a_gpu_is_not_measured_at_what_it_does_not_compute():
    gpu = Setting(EngineName.GPU, 1)
    spec = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT, None, 2))
    own = Session(plan(gpu, specs=(spec,), heuristics=Heuristics(xdrop=9)))
    own._rows_of = lambda asked, setting: iter([asked.heuristics])
    assert list(own.rows()) == [EXACT]
    assert list(own.left_out) == ["gpu, edit CIGAR xdrop 9"]


def test_exact_engines_must_agree():
    own = Session(plan())
    row = Row(WORK, AFFINE, CPU, 3, 0, 0, Spread([1.0]))
    own._judge(row, answers(-4, -6))
    own._judge(row, answers(-4, -6, -8))  # a GPU has more pairs
    own._judge(row, answers(-4, -6, -8))
    with pytest.raises(InternalError, match="1 pairs"):
        own._judge(row, answers(-4, -6, -10))


def test_scores_that_change_from_run_to_run_are_no_measurement(monkeypatch):
    given = iter([answers(-4), answers(-4), answers(-2)])
    fake = SimpleNamespace(pinned_batches=list, run=lambda *_, **__: next(given), kernels=dict, close=lambda: None)
    monkeypatch.setattr(session, "Engine", lambda *_: fake)
    with pytest.raises(InternalError, match="change from run to run"):
        list(Session(plan()).rows())


def test_rows_of_the_cpu_take_turns_and_a_gpus_do_not(monkeypatch):
    calls = []

    def run(batches, check=False):
        calls.append(int(batches[0].t_len[0]))
        return answers(-4)

    fake = SimpleNamespace(pinned_batches=list, run=run, kernels=dict, close=lambda: None, describe=dict)
    monkeypatch.setattr(session, "Engine", lambda *_: fake)
    works = (WORK, Work(80, 0.0))
    own = Session(plan(CPU, Setting(EngineName.GPU, 1), works=works, pairs=4), energy.Meter(Nvml(6000), 0))
    rows = list(own.rows())
    assert calls == [60, 80] * 3 + [60] * 4 + [80] * 4  # a GPU's row has one more run, for its energy
    assert [row.joules for row in rows] == [None, None, 6.0, 6.0]


def test_a_commit_is_that_of_the_package_or_unknown(monkeypatch, tmp_path):
    monkeypatch.delenv("WFACLI_COMMIT", raising=False)
    monkeypatch.setattr(machine, "_PACKAGE", tmp_path)
    assert machine.commit() == machine.UNKNOWN
    monkeypatch.setenv("PATH", "")
    assert machine.commit() == machine.UNKNOWN
    monkeypatch.setenv("WFACLI_COMMIT", "1234567")
    assert machine.commit() == "1234567"


@pytest.mark.parametrize(("errors", "colours"), [((0.05,), 2), ((0.02, 0.1), 2)])
def test_colours_tell_engines_apart_where_there_is_one_error(errors, colours):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from wfacli.measure.figure import _panel

    rows = [
        {"error": error, "engine": "cpu", "threads": threads, "heuristic": "", "length": 100, "pairs": 4}
        | {"best_seconds": 1.0, "worst_seconds": 2.0}
        for error in errors
        for threads in (1, 2)
    ]
    axes = Figure().subplots()
    _panel(axes, rows, rows)
    found = [bar.lines[0].get_color() for bar in axes.containers]
    assert len(found) == 2 * len(errors) and len(set(found)) == colours
    low, high = axes.get_ylim()  # rates of 2 and 4, between two labels
    assert low <= 1 < 10 <= high and axes.get_xlim() == (50, 200)
