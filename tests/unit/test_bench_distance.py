"""The table of bench/tables/distance_table.py: its pairs, how peers are called and stopped, which are right."""

import gzip
import json
import time
from dataclasses import replace
from pathlib import Path

import edlib
import numpy as np
import pytest

from bench.harness import saving
from bench.peers import distance_ours, distance_paths, distance_peers, distance_work
from bench.peers.distance_ours import Measured, NoAnswer, Rules
from bench.peers.distance_peers import EDLIB, WAVEFRONT_VARIANTS, WFA2
from bench.peers.distance_verdict import Entry, rate, ratio
from bench.peers.distance_work import Row, changed, made
from bench.tables import distance_table
from tests.emulation.driver import EmulatedDriver
from wfacli.solve.base import Position
from wfacli.solve.gpu.path import METHODS

TINY = Row("tiny", bases=5000, error=0.05)
OURS = ["cpu-wavefront", "cpu-bits"]


def rules(repeats=2, patience=2.0, longest=30.0, seconds=100.0):
    return Rules(repeats, patience, longest, 2, time.monotonic() + seconds)


def texts(work):
    return work.pair.query.tobytes(), work.pair.target.tobytes()


def true(work):
    return edlib.align(*texts(work), task="distance")["editDistance"]


# Pairs


@pytest.mark.parametrize("chunk", [700, 1 << 24])
def test_a_random_pair_has_about_so_many_edits(monkeypatch, chunk):
    monkeypatch.setattr(distance_work, "_CHUNK", chunk)
    work = made(TINY, None)
    assert texts(work) == texts(made(TINY, None))
    assert work.lengths[1] == 5000 and abs(work.lengths[0] - 5000) < 60 and work.pair.plain
    assert 170 < true(work) <= 300
    assert work.cells == work.lengths[0] * 5000
    assert int(work.batch.q_start[0]) % 16 == 0 and not work.batch.bases[-64:].any()


def test_edits_are_of_all_kinds_and_no_more_than_there_are_places():
    bases = np.frombuffer(b"ACGT" * 2500, np.uint8)
    rng = np.random.default_rng(2)
    assert changed(bases, 0.0, rng).tobytes() == bases.tobytes()
    few = changed(bases, 0.002, rng)
    path = edlib.align(few.tobytes(), bases.tobytes(), task="path")
    assert 8 <= path["editDistance"] <= 35
    assert {operation for operation in path["cigar"] if not operation.isdigit()} == set("=XID")
    assert set(changed(bases, 1.0, rng)) <= set(b"ACGT")


def test_two_random_strings_have_half_as_many_edits_as_bases():
    work = made(Row("random", bases=4000), None)
    assert work.lengths == (4000, 4000)
    assert 0.45 < true(work) / 4000 < 0.6


def test_of_real_sets_the_first_records_are_taken(tmp_path):
    for side, bases in (("query", "acg\nTN"), ("target", "ACG\n")):
        with gzip.open(tmp_path / f"set.{side}.fa.gz", "wt") as file:
            file.write(f">one\n{bases}\n>two\nAAAA\n")
    work = made(Row("set", real="set"), tmp_path)
    assert texts(work) == (b"ACGTN", b"ACG") and not work.pair.plain
    for folder in (None, tmp_path / "no"):
        with pytest.raises(FileNotFoundError):
            made(Row("set", real="set"), folder)


def test_the_table_has_its_rows():
    assert len({row.name for row in distance_work.ROWS}) == len(distance_work.ROWS) == 10
    assert [row.name for row in distance_work.ROWS if row.needs_gpu] == ["random 10 Mb", "250 Mb 99%"]


# Runs


def test_ours_agree_with_edlib():
    work = made(TINY, None)
    for algorithm in distance_ours.on_cpu(2):
        found = distance_ours.run(algorithm, work, rules())
        assert found.distance == true(work) and len(found.seconds) == 2
        assert found.facts["cells"] > 0 and 0 < found.facts["ready_seconds"] <= found.best
        assert algorithm.forecast(work, 10) <= algorithm.forecast(work, 1000) < 1
    assert distance_ours.likely(work) > distance_ours.estimate(work) > 100


class Slow:
    """A solver of `steps` steps of `seconds` each.

    The distance is 7, and grows by `more` with each instance.
    """

    closed = made = 0
    position = Position(3, None, 5)

    def __init__(self, steps, seconds=0.0, more=0):
        self.left, self.seconds = steps, seconds
        self.distance = 7 + more * Slow.made
        Slow.made += 1

    def advance(self, seconds):
        time.sleep(self.seconds)
        self.left -= 1
        return self.left <= 0

    def close(self):
        Slow.closed += 1


def slow(engine, *arguments):
    Slow.closed = Slow.made = 0
    return distance_ours.Algorithm(engine, "slow", lambda work: Slow(*arguments), lambda work, edits: 0.0)


def test_a_gpus_first_run_is_not_counted():
    found = distance_ours.run(slow("gpu", 1), None, rules(repeats=3))
    assert len(found.seconds) == 3 and Slow.closed == Slow.made == 4 and found.facts["first_seconds"] >= 0
    found = distance_ours.run(slow("gpu", 1, 0.02), None, rules(patience=0.01))
    assert len(found.seconds) == 1 and Slow.made == 1
    found = distance_ours.run(slow("cpu", 1), None, rules(repeats=3))
    assert len(found.seconds) == 3 and Slow.made == 3 and found.distance == 7


def test_ours_that_takes_too_long_or_changes_its_mind_has_no_answer():
    with pytest.raises(NoAnswer, match="stopped after"):
        distance_ours.run(slow("cpu", 100, 0.01), None, rules(longest=0.05))
    assert Slow.closed == 1
    with pytest.raises(NoAnswer, match="a repeat says 8"):
        distance_ours.run(slow("cpu", 1, 0.0, 1), None, rules())


def test_a_peer_answers_from_a_process_of_its_own(tmp_path):
    work = made(TINY, None)
    found = distance_peers.run(EDLIB, work, distance_peers.write(work, tmp_path), rules())
    assert found.distance == true(work) and len(found.seconds) == 2
    assert EDLIB.what.startswith("edlib 1.")


def test_a_peer_is_stopped(tmp_path):
    work = made(Row("random", bases=100_000), None)
    begun = time.perf_counter()
    with pytest.raises(NoAnswer, match="stopped after 0 s"):
        distance_peers.run(EDLIB, work, distance_peers.write(work, tmp_path), rules(longest=0.01))
    assert time.perf_counter() - begun < 50


def test_a_peer_that_fails_says_why(tmp_path):
    work = made(TINY, None)
    with pytest.raises(NoAnswer, match="OSError"):
        distance_peers.run(
            replace(WFA2, library=tmp_path / "no.so"), work, distance_peers.write(work, tmp_path), rules()
        )


def program(folder, text):
    """Return a program that prints its output and records its arguments."""
    file = folder / "program"
    file.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > called\n{text}\n")
    file.chmod(0o755)
    return replace(WAVEFRONT_VARIANTS, library=file)


def test_a_program_is_told_the_distance_and_read(tmp_path):
    work = made(TINY, None)
    peer = program(tmp_path, "echo 'ready. Distance=12 Time=0.25 seconds'")
    found = distance_peers.run(peer, work, distance_peers.write(work, tmp_path), rules(), 12)
    assert (found.distance, found.seconds) == (12, [0.25, 0.25])
    called = (tmp_path / "called").read_text().split()
    assert called[4:] == ["-k", "12", "-wgs", "64", "-WFO2OCL"] and called[::2][:2] == ["-fP", "-fT"]
    for file, bases in zip(called[1:4:2], (work.pair.query, work.pair.target), strict=True):
        assert Path(file).read_bytes().split(b"\n")[1] == bases.tobytes()
    assert "WavefrontVariants, built by the user, -k {}" in peer.what


def test_a_program_that_fails_or_hangs(tmp_path):
    work = made(TINY, None)
    bases = distance_peers.write(work, tmp_path)
    with pytest.raises(NoAnswer, match="no such device"):
        distance_peers.run(program(tmp_path, "echo no such device; exit 1"), work, bases, rules())
    with pytest.raises(NoAnswer, match="stopped after"):
        distance_peers.run(program(tmp_path, "echo $$ > pid; exec sleep 60"), work, bases, rules(longest=2))
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            break
        time.sleep(0.1)
    else:
        pytest.fail("the program still runs")


# Verdicts


def entry(**distances):
    made = Entry("row", (100, 200), estimate=9, estimate_seconds=0.5)
    made.forecasts = {"gpu-bits": 1.0, "gpu-wavefront": 2.0, "cpu-bits": 4.0, "cpu-wavefront": 3.0}
    for at, (name, distance) in enumerate(distances.items()):
        made.measured[name.replace("_", "-")] = Measured([at + 1.0, at + 2.0], distance)
    return made


def test_most_are_right_and_ours_goes_first():
    assert entry(gpu_bits=8, cpu_bits=9, edlib=9).wrong == {"gpu-bits": 8}
    assert entry(gpu_bits=8, edlib=9).wrong == {"edlib": 9}
    assert entry().distance is None and entry().identity is None
    mixed = entry(gpu_bits=8, cpu_bits=9, edlib=9)
    assert mixed.best(["gpu-bits", "cpu-bits", "edlib"]) == "cpu-bits"
    assert mixed.identity == 1 - 9 / 200
    assert ratio(mixed, "cpu") == 1.5 and ratio(mixed, "gpu") is None
    assert rate(mixed, ["cpu-bits"]) == pytest.approx(1e-8)


def test_auto_is_what_the_forecasts_choose():
    known = entry(gpu_bits=9, cpu_bits=9, cpu_wavefront=9)
    assert known.auto("gpu") == {"choice": "gpu-bits", "seconds": 1.0, "fastest": "gpu-bits"}
    assert known.auto("cpu") == {"choice": "cpu-wavefront", "seconds": 3.5, "fastest": "cpu-bits"}
    known.estimate = None
    assert known.auto("gpu") == {"choice": "gpu-wavefront", "seconds": None, "fastest": "gpu-bits"}
    known.forecasts = {}
    assert known.auto("gpu") is None


def test_who_would_take_too_long_has_no_turn():
    assert distance_table.unwanted(5, rules(longest=10)) == ""
    assert distance_table.unwanted(50, rules(longest=10)) == "about 50 s"
    assert "no time left" in distance_table.unwanted(5, rules(longest=10, seconds=3))


def test_a_gpus_paths_are_measured_and_replayed(monkeypatch):
    driver = EmulatedDriver(multiprocessors=8)
    try:
        work = made(TINY, None)
        found = distance_paths.run(driver, work, true(work), rules())
        assert found.seconds and found.facts["way"] in METHODS and found.facts["operations"] > 1
        right = distance_paths.find_path(driver, work.pair, true(work), found.facts["way"], lambda: None)
        assert distance_paths.fault_of(work, right.cigar, true(work)) == ""
        assert distance_paths.fault_of(work, right.cigar[:-1], true(work))
        monkeypatch.setattr(distance_paths, "find_path", lambda *_: replace(right, cigar=right.cigar[:-1]))
        with pytest.raises(NoAnswer, match="the path is wrong"):
            distance_paths.run(driver, work, true(work), rules())
        with pytest.raises(NoAnswer, match="about"):
            distance_paths.run(driver, work, true(work), rules(longest=0))
    finally:
        driver.close()


# The command


def test_a_table_of_the_cpu(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(saving, "RESULTS", tmp_path)
    a = distance_table.asked(["--engine", "cpu", "--threads", "2"])
    assert distance_table.opened(a.engine) == (None, "not asked for")
    there = distance_table.field_of(a, None)
    assert [o.name for o in there.ours] == OURS and [p.name for p in there.peers] == ["edlib"]
    assert set(there.absent) == {"wfa2", "quicked", "astarpa2", "variants"}
    rows = [TINY, Row("real", real="x"), Row("large", bases=1, needs_gpu=True)]
    entries, path = distance_table.measured(rows, a, there, rules())
    assert path is not None and path.name.endswith("-distance-table-on-cpu.json")
    report = json.loads(path.read_text())
    (row,) = report["rows"]
    assert list(row["measured"]) == [*OURS, "edlib"] and row["mismatch"] == {} and row["plain"]
    distances = {row["distance"], *(m["distance"] for m in row["measured"].values())}
    assert distances == {true(made(TINY, None))}
    assert row["auto"]["cpu"]["choice"] in OURS and row["peer_over_ours"]["cpu"] > 0
    assert row["measured"]["cpu-bits"]["tcups"] > 0 and row["forecast_seconds"].keys() == set(OURS)
    shown = capsys.readouterr().out
    assert "large is not in the table: only on a GPU" in shown and "real is not in the table" in shown
    assert f"{entries[0].distance:,}" in shown


def test_a_wrong_distance_is_red():
    wrong = entry(cpu_bits=8, edlib=9, wfa2=9)
    there = distance_table.Field(distance_ours.on_cpu(1), [EDLIB, WFA2])
    wrong.absent["cpu-wavefront"] = "about 90 s"
    cells = [next(iter(column.cells)) for column in distance_table.table_of([wrong], there, "title").columns]
    assert cells[:4] == ["row", "0.1 k × 0.2 k", "9", "95.50%"]
    assert "about 90 s" in cells and "[red]1.000: 8[/]" in cells and "2.000" in cells
