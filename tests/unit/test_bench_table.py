"""What the table of bench/tables/cpu_table.py says, from seconds and costs; nothing is timed here."""

from pathlib import Path

import numpy as np
import pytest

from bench.peers import contest, work
from bench.peers.contest import Rules, Task, bytes_needed
from bench.peers.verdict import OURS, Cell, Timing, cell_text, right_costs, seconds_text, summary, wrong_pairs
from wfacli.io.read.memory import pairs_of


def costs(*values):
    return np.array(values, np.int32)


def cell(*timings):
    return Cell("row", "task", [Timing(name, setting, 1, list(s), wrong) for name, setting, s, wrong in timings])


def test_the_fastest_right_peer_is_the_best():
    found = cell(
        (OURS, "", [2.0, 1.0, 4.0], 0),
        ("wfa2", "high", [3.0], 0),
        ("wfa2", "biwfa", [2.5, 9.0], 0),
        ("quicked", "", [0.1], 7),
    )
    assert found.best_peer() is found.timings[2]
    assert found.ratio() == 2.5
    assert found.of("wfa2") is found.timings[2]
    assert found.relative(OURS) == 0.4 and found.relative("quicked") == 0.04
    assert found.of("edlib") is None and found.relative("edlib") is None


def test_a_setting_that_is_right_goes_before_a_faster_one():
    found = cell((OURS, "", [1.0], 0), ("wfa2", "high", [0.5], 1), ("wfa2", "biwfa", [0.8], 0))
    assert found.of("wfa2") is found.timings[2]
    assert found.ratio() == 0.8


@pytest.mark.parametrize(
    "found",
    [
        cell(("wfa2", "high", [1.0], 0)),
        cell((OURS, "", [1.0], 0)),
        cell((OURS, "", [1.0], 0), ("edlib", "", [2.0], 3)),
        cell((OURS, "", [1.0], 1), ("edlib", "", [2.0], 0)),
    ],
    ids=["without ours", "without peers", "only a wrong peer", "ours is wrong"],
)
def test_no_ratio_where_nothing_can_be_compared(found):
    assert found.ratio() is None
    assert summary([found]) == (0, 0, 0)
    assert found.report()["best_peer_by_ours"] is None


def test_the_summary_counts_cells():
    faster, twice, slower = (cell((OURS, "", [1.0], 0), ("wfa2", "", [t], 0)) for t in (1.0, 2.0, 0.99))
    assert summary([faster, twice, slower]) == (3, 2, 1)


def test_two_threads_are_compared_with_one():
    found = cell((OURS, "", [1.0, 3.0], 0), ("edlib", "", [1.5], 0))
    assert found.speedup() is None
    found.two_threads = Timing(OURS, threads=2, seconds=[0.625])
    assert found.speedup() == 1.6
    assert found.of(OURS).threads == 1
    assert [t["threads"] for t in found.report()["timings"]] == [1, 1, 2]


def test_a_report_has_all_repeats_and_their_median():
    report = Timing("wfa2", "high", 1, [0.3, 0.1, 0.2], 2).report()
    assert report == {
        "aligner": "wfa2",
        "setting": "high",
        "threads": 1,
        "best_seconds": 0.1,
        "median_seconds": 0.2,
        "all_seconds": [0.3, 0.1, 0.2],
        "wrong_pairs": 2,
    }


def test_right_is_what_most_say_and_ours_when_they_tie():
    ours = costs(1, 1, 1, 1, -1, 1)
    peers = {"a": costs(1, 2, 2, 2, 3, -1), "b": costs(2, 2, 1, 3, -1, -1), "c": costs(2, 2, 2, 4, -1, -1)}
    assert right_costs(ours, peers).tolist() == [1, 2, 1, 1, 3, 1]
    assert right_costs(ours, {}).tolist() == ours.tolist()
    assert right_costs(ours, {"a": costs(2, 2, 2, 2, 2, 2)}).tolist() == [1, 1, 1, 1, 2, 1]


def test_a_missing_cost_is_wrong():
    assert wrong_pairs(costs(1, -1, 3), costs(1, 2, 3)) == 1
    assert wrong_pairs(costs(-1), costs(-1)) == 1


def test_seconds_have_three_digits():
    texts = [seconds_text(s) for s in (0.00123456, 0.0123456, 0.123456, 1.23456, 12.3456, 123.456)]
    assert texts == ["0.00123", "0.0123", "0.123", "1.23", "12.3", "123"]


def test_the_table_says_who_is_wrong():
    assert cell_text(None) == "–"
    assert cell_text(Timing("a", seconds=[2.0, 1.0])) == "1.00"
    assert cell_text(Timing("a", seconds=[1.0], wrong=1234)) == "1.00\nwrong on 1,234 pairs"


def test_what_takes_too_much_memory_is_known_before():
    pairs = pairs_of([b"A" * 100, b"A" * 300], [b"A" * 200, b"A" * 300])
    cigar, score = Task("affine", False), Task("affine", True)
    assert bytes_needed("wfa2", "high", cigar, pairs, 1000) == 3_000_000
    assert bytes_needed("wfa2", "high", Task("edit", False), pairs, 1000) == 4_000_000
    assert bytes_needed("ksw2", "", cigar, pairs, 0) == 600 * 300
    assert bytes_needed("parasail", "", cigar, pairs, 0) == 300 * 300
    assert not any(bytes_needed(p, s, score, pairs, 9) for p, s in [("wfa2", "high"), ("ksw2", ""), ("parasail", "")])
    assert not bytes_needed("wfa2", "biwfa", cigar, pairs, 10**6)


class Constant:
    """An aligner with a constant time and given answers."""

    def __init__(self, seconds, *said):
        self.seconds, self.said, self.runs, self.closed = seconds, said, 0, 0

    def run(self, pairs):
        said = self.said[min(self.runs, len(self.said) - 1)]
        self.runs += 1
        if said is None:
            raise MemoryError("no memory")
        return self.seconds, costs(*said)

    def close(self):
        self.closed += 1


def contest_of(monkeypatch, ours, peers, known):
    """Return a table cell measured with fake aligners."""
    monkeypatch.setattr(contest, "usable_cores", lambda: 1)
    monkeypatch.setattr(contest.ours, "Engine", lambda *_, **__: ours)
    monkeypatch.setattr(contest, "Aligner", lambda library, metric, score_only, setting: peers[library.name])
    pairs = pairs_of([b"A"] * len(known), [b"A"] * len(known))
    libraries = {name: Path(name) for name in peers} | {"quicked": "not here"}
    return contest.held("row", Task("edit", False), pairs, costs(*known), libraries, Rules(3, 60, 100, 1 << 30))


def test_everyone_has_turns_until_enough_is_known(monkeypatch):
    ours, peer = Constant(0.05, (1, 2)), Constant(61.0, (1, 2))
    found = contest_of(monkeypatch, ours, {"edlib": peer}, (1, 2))
    assert [len(t.seconds) for t in found.timings] == [6, 1]
    assert found.ratio() == 61 / 0.05
    assert found.absent == {"quicked": "not here"}
    assert ours.closed == peer.closed == 1


def test_costs_that_differ_count(monkeypatch):
    found = contest_of(monkeypatch, Constant(1.0, (1, 2)), {"edlib": Constant(0.5, (1, 5))}, (1, 2))
    assert [t.wrong for t in found.timings] == [0, 1]
    assert found.best_peer() is None


def test_costs_that_change_from_repeat_to_repeat_are_wrong(monkeypatch):
    found = contest_of(monkeypatch, Constant(1.0, (1, 2)), {"edlib": Constant(0.5, (1, 2), (3, 2))}, (1, 2))
    assert [t.wrong for t in found.timings] == [0, 1]


def test_a_peer_that_would_take_too_long_is_left_out(monkeypatch):
    known = (1,) * 40
    found = contest_of(monkeypatch, Constant(1.0, known), {"edlib": Constant(5.5, known)}, known)
    assert found.absent["edlib"] == "about 110 s"
    assert [(t.aligner, len(t.seconds)) for t in found.timings] == [(OURS, 3)]


def test_a_peer_that_fails_is_named(monkeypatch):
    found = contest_of(monkeypatch, Constant(1.0, (1,)), {"edlib": Constant(0.5, None)}, (1,))
    assert found.absent["edlib"] == "no memory"
    assert [t.aligner for t in found.timings] == [OURS]


def test_rows_have_the_names_of_the_table():
    assert work.names()[:4] == ["200k × 150 bp 2%", "200k × 150 bp 5%", "100k × 150 bp 10%", "20k × 1 kb 2%"]
    assert len(set(work.names())) == 11


def test_real_sets_that_are_absent_are_left_out(tmp_path):
    for data in (None, tmp_path):
        with pytest.raises(FileNotFoundError):
            work.pairs_of("illumina150", data, 1.0)


def test_real_sets_are_read_in_part(tmp_path):
    real_set(tmp_path, "ont_ecoli_ul", 200)
    assert len(work.pairs_of("ont_ecoli_ul", tmp_path, 1.0)) == 200
    assert len(work.pairs_of("ont_ecoli_ul", tmp_path, 0.1)) == 20


def test_a_share_has_as_many_pairs_as_make_a_figure(tmp_path):
    real_set(tmp_path, "ont_ecoli_ul", 12)
    real_set(tmp_path, "pacbio_clr_ecoli", 100)
    assert len(work.pairs_of("ont_ecoli_ul", tmp_path, 0.1)) == 12
    assert len(work.pairs_of("pacbio_clr_ecoli", tmp_path, 0.1)) == 60
    for row in work.ROWS:
        assert row.least >= 15, row.name
        if isinstance(row, work.Random):
            assert row.least <= row.pairs, row.name


def test_a_set_that_is_over_in_a_moment_is_repeated(tmp_path):
    real_set(tmp_path, "hifi_human_wfagpu", 30)
    name = "hifi_human_wfagpu × 10"
    assert name in work.names()
    whole, part = (work.pairs_of(name, tmp_path, share) for share in (1.0, 0.1))
    assert (len(whole), len(part)) == (300, 200)
    assert whole.q_len.tolist() == [*range(1, 31)] * 10 and whole.total_bases == 10 * 2 * sum(range(1, 31))
    assert part.t_len.tolist() == ([*range(1, 31)] * 10)[:200]


def real_set(folder, name, pairs):
    for side in ("query", "target"):
        (folder / f"{name}.{side}.fa").write_text("".join(f">r{i}\n{'A' * (i + 1)}\n" for i in range(pairs)))
