"""bench/sw_table.py on an emulated card, with small pairs: what it measures, what it asks GASAL2, what it writes."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import harness
import sw_pairs
import sw_table
from sw_plot import draw, values

from tests.emulation.driver import EmulatedDriver
from wfacli.engines.extend_gpu import ExtendGpuEngine
from wfacli.gpu import sw

SAYS = 'echo "$GASAL_BATCH $@" >> {calls}; echo "Total execution time (in milliseconds): 2.5" >&2'


@pytest.fixture
def card(monkeypatch, tmp_path):
    monkeypatch.setattr(sw_table, "CudaDriver", lambda compiler: EmulatedDriver())
    monkeypatch.setattr(ExtendGpuEngine.__init__, "__defaults__", (None, None, sw.BUILDS[:1]))
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    return tmp_path


def program(folder, script):
    path = folder / "gasal2"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_table_of_equal_lengths(card, capsys):
    peer = program(card, SAYS.format(calls=card / "calls"))
    words = ["--cells", "9000", "--lengths", "20", "30", "--no-seeds", "--repeats", "1", "--threads", "1", "--save"]
    sw_table.main(sw_table.asked([*words, "--gasal2", f"128:{peer}", "--builds"]))
    rows = json.loads(next(card.glob("*-sw-table-part.json")).read_text())["rows"]
    assert [(row["name"], row["pairs"], row["cells"]) for row in rows] == [("20", 22, 8800), ("30", 10, 9000)]
    for row in rows:
        for kind in ("scores", "cigars"):
            assert row[kind]["wfacli"]["seconds"] > 0 and list(row[kind]["wfacli"]["builds"]) == ["2x32"]
            theirs = row[kind]["gasal2"]
            assert theirs == {"seconds": 0.0025, "tcups": pytest.approx(row["cells"] / 2.5e9, 1e-3), "batch": 5000}
    calls = [line.split() for line in (card / "calls").read_text().splitlines()]
    assert " ".join(calls[0][:13]) == "5000 -a 2 -b 4 -q 4 -r 2 -y local -n 8"
    assert ["-t" in call for call in calls] == [False, True, False, True]
    assert next(card.glob("*-sw-table-part.png")).stat().st_size > 10_000
    assert "gasal2 0.000" in capsys.readouterr().out


def test_a_peer_that_fails_says_why(tmp_path):
    pairs = sw_pairs.equal(20, 3)
    peer = program(tmp_path, "echo no memory >&2; exit 1")
    assert sw_table.gasal2({128: peer}, pairs, False, 1) == {"failed": "no memory"}
    assert sw_table.gasal2({24: peer}, pairs, False, 1) == {"failed": "over 16 letters"}


def test_answers_that_are_not_the_cpus_end_it(card):
    ours = sw_table.Ours(True, 1)
    try:
        (batch,) = sw_pairs.batches(sw_pairs.equal(20, 5), 10_000)
        *_, scores = ours.run([batch])
        ours.check(batch, scores)
        with pytest.raises(AssertionError, match="CPU"):
            ours.check(batch, scores + (np.arange(5) == 3))
    finally:
        ours.engine.close()


def test_pairs_of_equal_lengths():
    pairs = sw_pairs.equal(100, 100_000)
    assert len(pairs) == 100_000 and {len(s) for pair in pairs[:500] for s in pair} == {100}
    assert len(set(pairs)) == sw_pairs.DISTINCT // 100
    same = np.mean([q[:20] == t[:20] for q, t in pairs[:2000]])
    assert 0.2 < same < 0.6  # 20 letters without an error of 5%
    assert sw_pairs.equal(50, 10, 0.0)[3][0] == sw_pairs.equal(50, 10, 0.0)[3][1]


def test_what_is_left_beside_a_seed():
    query = b"ACGTACGTAC" + b"G" * 30 + b"TTTTACACACAC"
    target = b"CC" + b"ACGTTCGTAC" + b"G" * 30 + b"TTTACACACACGGGGGGGG"
    pairs = list(sw_pairs.around_seed(query, target, "4=1X5=30=1I11=", 0, 2))
    assert pairs[0] == (b"ACGTACGTAC"[::-1], (b"CCACGTTCGTAC")[::-1])
    assert pairs[1] == (b"TTTTACACACAC", b"TTTACACACACGGGGGGGG")
    assert list(sw_pairs.around_seed(b"A" * 60, b"A" * 60, "60=", 0, 0)) == []


def test_batches_have_about_as_many_letters():
    pairs = sw_pairs.equal(100, 55)
    made = sw_pairs.batches(pairs, 2000)
    assert [len(batch) for batch in made] == [10, 10, 10, 10, 10, 5]
    assert sw_pairs.cells(pairs) == 55 * 100 * 100


def test_a_picture_of_what_there_is(tmp_path):
    rows = [
        {"name": "64", "scores": {"wfacli": {"tcups": 1.0, "kernel_tcups": 3.0}, "gasal2": {"failed": "no"}}},
        {"name": "reads", "scores": {"wfacli": {"tcups": 0.5, "kernel_tcups": 1.0}, "gasal2": {"tcups": 0.1}}},
    ]
    assert values(rows[0], "scores") == {"wfacli, kernels": 3.0, "wfacli": 1.0}
    assert values(rows[1], "cigars") == {}
    result = tmp_path / "part.json"
    result.write_text(json.dumps({"card": "a card", "date": "today", "commit": "abc", "rows": rows}))
    assert draw(result).stat().st_size > 10_000
