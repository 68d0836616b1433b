"""bench/tables/distance_scale.py on the CPU, with small pairs: what it runs, what it says, what it leaves out."""

import json

import pytest

from bench.harness import saving
from bench.pages.distance_scale_plot import draw
from bench.peers import distance_ours
from bench.tables import distance_scale
from tests.emulation.driver import EmulatedDriver

SMALL = ("--random", "0.003", "--similar", "0.02", "--planted", "0.01", "--threads", "1")


@pytest.fixture
def results(monkeypatch, tmp_path):
    monkeypatch.setattr(saving, "RESULTS", tmp_path)
    return tmp_path


def asked(*arguments):
    return distance_scale.asked([*SMALL, *arguments])


def test_both_algorithms_on_every_pair(results):
    distance_scale.main([*SMALL, "--engine", "cpu"])
    report = json.loads(next(results.glob("*-distance-scale-on-cpu.json")).read_text())
    rows = {row["kind"]: row for row in report["rows"]}
    assert rows.keys() == {"random", "simulated", "planted"}
    for row in rows.values():
        assert row["agreed"] and {run["algorithm"] for run in row["runs"]} == {"cpu-wavefront", "cpu-bits"}
        assert len({run["distance"] for run in row["runs"]}) == 1
        assert all(run["seconds"] > 0 and run["cells"] > 0 and run["host_bytes"] > 1e6 for run in row["runs"])
    assert rows["planted"]["known"] == rows["planted"]["runs"][0]["distance"]
    found = report["extrapolated"]["algorithms"]
    assert found.keys() == {"cpu-wavefront", "cpu-bits"}
    for one in found.values():
        assert one["seconds"] == pytest.approx(one["model_seconds"] * one["measured_by_model"], rel=0.01)
    picture = next(results.glob("*.png"))
    picture.unlink()
    assert draw(next(results.glob("*.json"))) == picture and picture.read_bytes()[:4] == b"\x89PNG"


def test_time_of_a_step():
    samples = [(1.0, 0, 0.0, 0), (3.0, 200, 0.5, 50), (5.0, 600, 1.0, 100)]
    run = distance_scale.Run("gpu-wavefront", 600, 5.0, 1.0, 4.0, 100, 5, 6, samples)
    assert [step["seconds"] for step in run.steps(1000)] == pytest.approx([1 / 50, 1 / 50, 1 / 100, 1 / 100])
    run.algorithm = "gpu-bits"
    assert [step["seconds"] for step in run.steps(1000)] == pytest.approx([1 / 250] * 4)


def test_a_wrong_answer_ends_it_with_a_failure(results, monkeypatch):
    class Wrong(distance_ours.CpuBits):
        distance = 7

    monkeypatch.setattr(distance_ours, "CpuBits", Wrong)
    with pytest.raises(SystemExit) as end:
        distance_scale.main([*SMALL, "--engine", "cpu"])
    assert end.value.code == 1


def test_what_takes_too_long_is_left_out(results):
    entries, _ = distance_scale.scale(asked("--longest", "1e-9"), None)
    assert all(not entry.runs and len(entry.left_out) == 2 for entry in entries)
    entries, path = distance_scale.scale(asked("--minutes", "0"), None)
    assert not entries and path is None


def test_on_a_gpu(results):
    driver = EmulatedDriver(multiprocessors=8)
    try:
        entries, path = distance_scale.scale(asked(), driver)
    finally:
        driver.close()
    assert path.name.endswith("-distance-scale.json")
    for entry in entries:
        assert entry.agreed and {run.algorithm for run in entry.runs} == {"gpu-wavefront", "gpu-bits"}
        assert all(run.gpu_bytes > 0 for run in entry.runs)


def test_defaults_are_those_of_the_machine():
    on_gpu, on_cpu = (distance_scale.with_defaults(distance_scale.asked([]), gpu) for gpu in (True, False))
    assert max(on_gpu.similar) == 250 and max(on_gpu.random) == 10 and on_gpu.planted == 10
    assert max(on_cpu.similar) <= 5
    given = distance_scale.with_defaults(distance_scale.asked(["--random", "3", "--similar"]), True)
    assert given.random == [3] and given.similar == []
