"""bench/tables/sw_table.py on an emulated GPU: what it measures, what it asks GASAL2, what it writes."""

import json

import numpy as np
import pytest

from bench.harness import saving, sw_ours, sw_pairs
from bench.pages.sw_plot import draw, values
from bench.peers import sw_gasal2
from bench.tables import sw_table
from tests.emulation.driver import EmulatedDriver
from wfacli.engines.extend_gpu import ExtendGpuEngine
from wfacli.gpu.kernels import sw

SAYS = 'echo "$GASAL_BATCH $@" >> {calls}; echo "Total execution time (in milliseconds): {ms}" >&2'


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(sw_ours, "open_driver", lambda compiler: EmulatedDriver())
    monkeypatch.setattr(ExtendGpuEngine.__init__, "__defaults__", (None, None, sw.BUILDS[:1]))
    monkeypatch.setattr(saving, "RESULTS", tmp_path)
    monkeypatch.setattr(sw_table, "GPU_BATCH", 500)
    monkeypatch.setattr(sw_ours, "LEAST_SECONDS", 0)
    return tmp_path


def program(folder, script):
    path = folder / "gasal2"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def table(words):
    options = ["--no-seeds", "--repeats", "1", "--threads", "1", "--save", "--cells", "9000", *words]
    sw_table.main(sw_table.asked(options), EmulatedDriver)


def rows_of(folder):
    return json.loads(next(folder.glob("*-sw-table-part.json")).read_text())["rows"]


def test_a_table_of_equal_lengths(folder, capsys):
    # Two short pairs take as long as its memory allocation alone.
    takes = "$(($(stat -c %s $(echo $@ | rev | cut -d' ' -f1 | rev)) > 100 ? 1003 : 3))"
    peer = program(folder, SAYS.format(calls=folder / "calls", ms=takes))
    table(["--lengths", "20", "30", "--gasal2", f"128:{peer}", "--builds", "--peer-cells", "4000"])
    rows = rows_of(folder)
    assert [(row["name"], row["pairs"], row["cells"]) for row in rows] == [("20", 22, 8800), ("30", 10, 9000)]
    for row, pairs in zip(rows, (10, 4), strict=True):
        assert row["bus_tcups"] > 0
        for kind in ("scores", "cigars"):
            assert row[kind]["wfacli"]["seconds"] > 0 and list(row[kind]["wfacli"]["builds"]) == ["2x32"]
            cells = pairs * int(row["name"]) ** 2
            rate = pytest.approx(cells / 1e12, 1e-3)
            theirs = {"seconds": 1.003, "memory_seconds": 0.003, "tcups": rate, "batch": 1}
            assert row[kind]["gasal2"] == {**theirs, "pairs": pairs, "cells": cells}
    calls = [line.split() for line in (folder / "calls").read_text().splitlines()]
    assert " ".join(calls[0][:13]) == "1 -a 2 -b 4 -q 4 -r 2 -y local -n 8"
    assert ["-t" in call for call in calls] == [False] * 4 + [True] * 4
    assert next(folder.glob("*-sw-table-part.png")).stat().st_size > 10_000
    assert "scores: gasal2 0.000" in capsys.readouterr().out


def test_a_table_is_whole_once_it_has_all(folder, monkeypatch):
    monkeypatch.setattr(sw_table, "LENGTHS", (20, 30))
    monkeypatch.setattr(sw_table, "SEEDS", ())
    measured, seen = sw_ours.Ours.measured, []

    def looks(*words):
        seen.append([path.name for path in folder.glob("*.json")])
        return measured(*words)

    monkeypatch.setattr(sw_ours.Ours, "measured", looks)
    table(["--lengths", "20", "30"])
    assert seen[-1] and all(name.endswith("-sw-table-part.json") for name in seen[-1])
    (only,) = folder.glob("*.json")
    assert not only.name.endswith("-part.json")


def test_what_was_measured_stays(folder, monkeypatch):
    """Results survive an interruption: the file and the figure have the rows measured until then."""
    measured = sw_ours.Ours.measured

    def fails(self, some, repeats, work):
        if work == 9000:
            assert rows_of(folder)[0]["cigars"]  # written at once, in case the process is killed
            raise KeyboardInterrupt
        return measured(self, some, repeats, work)

    monkeypatch.setattr(sw_ours.Ours, "measured", fails)
    with pytest.raises(KeyboardInterrupt):
        table(["--lengths", "20", "30"])
    assert [(row["name"], "cigars" in row) for row in rows_of(folder)] == [("20", True)]
    assert next(folder.glob("*-sw-table-part.png")).exists()


def test_no_program_starts_once_the_time_is_over(folder):
    table(["--lengths", "20", "--minutes", "0"])
    assert not list(folder.glob("*.json"))


def test_a_peer_that_hardly_takes_longer_than_for_its_memory(tmp_path):
    """A peer that takes 100 ms plus 1 ms per 20 pairs is run with more pairs; one of constant time has no rate."""
    pairs = sw_pairs.equal(20, 400)
    size = 24 * 400  # bytes of their file: b">p\n" and a newline for each pair
    script = f"n=$(stat -c %s $(echo $@ | rev | cut -d' ' -f1 | rev)); n=$(($n < {size} ? 0 : $n))"
    script += '; echo "Total execution time (in milliseconds): $((100 + $n / 480))"'
    found = sw_gasal2.gasal2(program(tmp_path, script), "2,4,4,2", pairs, False, 1)
    assert (found["seconds"], found["memory_seconds"]) == (0.12, 0.1)
    assert found["more"] == {"pairs": 2400, "seconds": 0.22}
    assert found["tcups"] == pytest.approx(pairs.cells / 0.02 / 1e12, 1e-3)
    never = program(tmp_path, 'echo "Total execution time (in milliseconds): 100"')
    assert "too few" in sw_gasal2.gasal2(never, "2,4,4,2", pairs, False, 1)["failed"]


def test_a_peer_that_fails_says_why(tmp_path):
    pairs = sw_pairs.equal(20, 3)
    peer = program(tmp_path, "echo no memory >&2; exit 1")
    assert sw_gasal2.gasal2(peer, "2,4,4,2", pairs, False, 1) == {"failed": "no memory"}
    assert sw_gasal2.program_for({24: peer}, 20) is None and sw_gasal2.program_for({24: peer}, 16) == peer


def test_pairs_of_a_peer():
    """As many pairs as fill a GPU, or as fit into its memory with paths."""
    pairs = sw_pairs.equal(4096, 4)
    assert len(sw_gasal2.peers_pairs(pairs, 1e12, 1e12, False)) == 59_604
    assert len(sw_gasal2.peers_pairs(pairs, 1e12, 8192e3, False)) == 1000
    assert len(sw_gasal2.peers_pairs(pairs, 1e12, 1e12, True)) == 10_240
    assert len(sw_gasal2.peers_pairs(sw_pairs.equal(8, 4), 1e12, 1e12, True)) == 800_000


def test_answers_that_are_not_the_cpus_end_it(folder):
    ours = sw_ours.Ours(True, 1)
    try:
        (batch,) = sw_pairs.equal(20, 5).batches(10_000)
        *_, scores = ours.run([batch])
        ours.check(batch, scores)
        with pytest.raises(AssertionError, match="CPU"):
            ours.check(batch, scores + (np.arange(5) == 3))
    finally:
        ours.engine.close()


def test_pairs_of_equal_lengths():
    pairs = sw_pairs.equal(100, 100_000)
    assert len(pairs) == 100_000 and {len(s) for pair in pairs.distinct[:500] for s in pair} == {100}
    assert len(set(pairs.distinct)) == sw_pairs.DISTINCT // 100
    same = np.mean([q[:20] == t[:20] for q, t in pairs.distinct[:2000]])
    assert 0.2 < same < 0.6  # 20 bases without an error at 5%
    assert (sw_pairs.equal(50, 10, 0.0).lengths == 50).all()


def test_what_is_left_beside_a_seed():
    query = b"ACGTACGTAC" + b"G" * 30 + b"TTTTACACACAC"
    target = b"CC" + b"ACGTTCGTAC" + b"G" * 30 + b"TTTACACACACGGGGGGGG"
    pairs = list(sw_pairs.around_seed(query, target, "4=1X5=30=1I11=", 0, 2))
    assert pairs[0] == (b"ACGTACGTAC"[::-1], (b"CCACGTTCGTAC")[::-1])
    assert pairs[1] == (b"TTTTACACACAC", b"TTTACACACACGGGGGGGG")
    assert list(sw_pairs.around_seed(b"A" * 60, b"A" * 60, "60=", 0, 0)) == []


def test_batches_have_about_as_many_bases():
    distinct = [(b"A" * n, b"C" * (40 - n)) for n in range(1, 8)]
    pairs = sw_pairs.Pairs(distinct, 17)
    made = pairs.batches(200)
    assert [len(batch) for batch in made] == [5, 6, 6]
    found = []
    for batch in made:
        for q, n, t, m in zip(batch.q_start, batch.q_len, batch.t_start, batch.t_len, strict=True):
            assert q % 16 == t % 16 == 0 and t + m + 64 <= len(batch.bases)
            found.append((bytes(batch.bases[q : q + n]), bytes(batch.bases[t : t + m])))
    assert found == (distinct * 3)[:17]
    assert pairs.cells == sum(len(q) * len(t) for q, t in found) and pairs.bases == 17 * 40 and pairs.longest == 39
    assert pairs.fasta(0).split() == [word for q, _ in found for word in (b">p", q)]


def test_a_picture_of_what_there_is(tmp_path):
    rows = [
        {"name": "64", "scores": {"wfacli": {"tcups": 1.0, "kernel_tcups": 3.0}, "gasal2": {"failed": "no"}}},
        {"name": "reads", "scores": {"wfacli": {"tcups": 0.5, "kernel_tcups": 1.0}, "gasal2": {"tcups": 0.1}}},
    ]
    assert values(rows[0], "scores") == {"wfacli, kernels": 3.0, "wfacli": 1.0}
    assert values(rows[1], "cigars") == {}
    rows[0]["bus_tcups"], rows[1]["scores"]["wfacli"]["builds"] = 1.5, {"2x32": 1.0, "8x32 whole": 2.0}
    result = tmp_path / "part.json"
    result.write_text(json.dumps({"gpu": "a GPU", "date": "today", "commit": "abc", "rows": rows}))
    assert draw(result).stat().st_size > 10_000
