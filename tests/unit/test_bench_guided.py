"""bench/tables/guided_table.py on an emulated GPU: what it measures, how AGAThA is called and checked."""

import json

import numpy as np
import pytest

from bench.harness import saving, sw_ours
from bench.pages.batches import guided, guided_wins
from bench.peers import guided as peers
from bench.peers.gpu_binaries import Failed
from bench.tables import guided_table
from bench.tables.guided_table import RULES, Row, Work, made
from tests.emulation.driver import EmulatedDriver
from wfacli.engines.extend_gpu import ExtendGpuEngine
from wfacli.gpu.kernels import sw

# Like AGAThA, prints a line per pair, with scores from a file, and appends the kernels' time to the given file.
AGATHA = """#!/bin/sh
echo "$@" >> {calls}
case " $* " in *" -p "*)
    while read score; do echo "$score\tquery_batch_end=1\ttarget_batch_end=2"; done < {scores}
    for file; do :; done; echo 1.5 >> $file; echo 2.5 >> $file;;
esac
echo "process time (with malloc) (in milliseconds): 40.0" >&2
"""


def agatha(folder, scores):
    (folder / "scores").write_text("".join(f"{score}\n" for score in scores))
    path = folder / "agatha"
    path.write_text(AGATHA.format(calls=folder / "calls", scores=folder / "scores"))
    path.chmod(0o755)
    return path


def test_agatha_is_called_with_all_pairs_in_one_batch_and_its_times_are_told_apart(tmp_path):
    program = agatha(tmp_path, [20, 0, 8])
    for _ in range(2):  # the file of the previous run is not appended to
        answer = peers.agatha(program, ["q.fa", "t.fa"], 3, RULES, tmp_path, 9)
    assert (answer.kernel_seconds, answer.whole_seconds) == (0.004, 0.04)
    assert answer.scores.tolist() == [20, 0, 8]
    asked = f"-m 2 -x 4 -q 4 -r 2 -z 400 -w 751 -a 3 {{}}q.fa t.fa {tmp_path}/kernels.txt"
    assert (tmp_path / "calls").read_text().splitlines()[-2:] == [asked.format("-p "), asked.format("")]
    with pytest.raises(Failed, match="3 scores of 4 pairs"):
        peers.agatha(program, ["q.fa", "t.fa"], 4, RULES, tmp_path, 9)
    with pytest.raises(Failed, match="No such file"):
        peers.agatha(tmp_path / "none", ["q.fa", "t.fa"], 3, RULES, tmp_path, 9)
    assert peers.agatha_whole("nothing") is None


@pytest.mark.parametrize("lengths", [(3, 3), (900, 900), (900, 2000), (2000, 900), (5, 3000), (1600, 1500)])
def test_cells_of_a_band_are_counted(lengths):
    n, m = lengths
    rows, columns = np.ogrid[:n, :m]
    assert Work([b"A" * n], [b"A" * m]).cells.tolist() == [np.count_nonzero(abs(rows - columns) <= RULES.band)]


def test_pairs_have_something_unrelated_behind_and_batches_have_them_all(tmp_path):
    work = made(Row("x", 40, 60, 0.05, unrelated=30), None, 20)
    assert len(work.queries) == 20 and {len(t) for t in work.targets} == {90}
    assert made(Row("x", 40, 60, 0.05, unrelated=30), None, 20) == work
    batches = work.batches(500)
    assert len(batches) > 3 and sum(map(len, batches)) == 20
    assert work.written(tmp_path)[1].read_text().splitlines()[:3] == [">0", work.targets[0].decode(), ">1"]


def test_everyone_is_compared_and_what_is_wrong_shows(tmp_path, monkeypatch):
    monkeypatch.setattr(sw_ours, "open_driver", lambda compiler: EmulatedDriver())
    monkeypatch.setattr(ExtendGpuEngine.__init__, "__defaults__", (None, None, sw.BUILDS[:1]))
    monkeypatch.setattr(saving, "RESULTS", tmp_path)
    monkeypatch.setattr(guided_table, "ROWS", (Row("small", 6, 40), Row("real", 6, real="nothing")))
    scores = guided_table.on_cpu(made(guided_table.ROWS[0], None, 6).first(6), 1)[1].tolist()
    monkeypatch.setattr(guided_table, "ksw2_of", lambda *_: None)
    program = agatha(tmp_path, [*scores[:5], scores[5] + 1])
    words = ["--agatha", str(program), "--repeats", "1", "--threads", "1", "--data", str(tmp_path)]
    guided_table.main(words)
    report = json.loads(next(tmp_path.glob("*-guided-table.json")).read_text())
    (row,) = report["rows"]
    assert list(report["left_out"]) == ["real"] and report["gpu"]
    assert row["wfacli"]["equal_share"] == row["wfacli, GPU"]["equal_share"] == 1
    assert row["wfacli, GPU"]["equal_to_agatha"] == row["agatha"]["equal_share"]
    assert row["wfacli, GPU, kernels"]["kernels"] == ["sw-guided-8x16-bits-16"]
    assert row["agatha"]["equal_share"] == pytest.approx(5 / 6, abs=1e-5)
    assert row["agatha"]["pairs_per_second"] == 6 / 0.04 and row["agatha, kernels"]["pairs_per_second"] == 6 / 0.004
    shown = {line[2]: line for line in guided(report)[1:]}
    assert shown["AGAThA, a GPU"][-1] == "83.33%" and not list(guided_wins(report))
    row["agatha"]["equal_share"] = 1.0
    assert [aligner for _, aligner, _ in guided_wins(report)] == ["AGAThA"]
    guided_table.main([*words, "--minutes", "-1"])
    assert len(list(tmp_path.glob("*.json"))) == 1
