"""The table of bench/tables/gpu_table.py: its pairs, how peers are called, what they print, which are right."""

import io
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bench.peers import gpu_binaries, gpu_contest, gpu_work, threads
from bench.peers.contest import Task
from bench.peers.gpu_binaries import Answer, Failed, Job, Tool
from bench.peers.gpu_contest import NO_TIME, Entry, Rules
from bench.peers.gpu_work import ROWS, Files, Pairs, Row
from bench.peers.ours import Engine, per_run
from bench.peers.verdict import OURS, Cell, Timing
from bench.tables import gpu_table
from wfacli.io.read.memory import pairs_of

AFFINE, SCORE, EDIT = Task("affine", False), Task("affine", True), Task("edit", False)


def costs(*values):
    return np.array(values, np.int32)


def job(tmp_path, task=AFFINE, repeats=3, longest=150, greatest=40, pairs=2, patience=20.0):
    return Job(Files.of(tmp_path, "row"), pairs, longest, greatest, task, repeats, patience, tmp_path)


def program(tmp_path, script):
    """Return a program that appends its arguments to the file `calls`."""
    path = tmp_path / "program"
    path.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n{script}')
    path.chmod(0o755)
    return path


def calls(tmp_path):
    return (tmp_path / "calls").read_text().splitlines()


# WFA-GPU


WFA_GPU = """\
[INFO] Reading sequences file...
File read: Wall time 0.312000s
Alignment computed. Wall time: 0.215s (9302325.581 alignments per second)
"""


def test_wfa_gpu_prints_times_and_costs():
    assert gpu_binaries.wfa_gpu_seconds(WFA_GPU) == [0.215]
    assert gpu_binaries.wfa_gpu_costs([b"-12\t70M1X79M\n", b"0\t\n"]).tolist() == [12, 0]


def test_wfa_gpu_is_called_until_there_are_times_enough(tmp_path):
    writes = f'printf -- "-4\\t1X\\n-8\\t2X\\n" > {tmp_path}/wfa-gpu.out\n'
    tool = gpu_binaries.wfa_gpu(program(tmp_path, writes + f"cat <<'E'\n{WFA_GPU}E\n"))
    answer = tool.run(job(tmp_path, pairs=101), "5 batches")
    assert answer.seconds == [0.215] * 3
    assert answer.costs.tolist() == [4, 8]
    first, *more = calls(tmp_path)
    assert first == f"-i {tmp_path}/row.seq -g 4,6,2 -e 48 -b 21 -x -o {tmp_path}/wfa-gpu.out"
    assert more == [f"-i {tmp_path}/row.seq -g 4,6,2 -e 48 -b 21 -x"] * 2


def test_a_program_that_prints_several_times_is_called_once(tmp_path):
    writes = (
        f"echo 0 > {tmp_path}/wfa-gpu.out\n" + "for i in 3 1 2; do echo Alignment computed. Wall time: ${i}s; done"
    )
    answer = gpu_binaries.wfa_gpu(program(tmp_path, writes)).run(job(tmp_path, SCORE), "5 batches")
    assert answer.seconds == [3, 1, 2]
    assert len(calls(tmp_path)) == 1
    assert " -x" not in calls(tmp_path)[0]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo reading; echo Error: out of memory; echo bye; exit 1", "Error: out of memory"),
        ("exit 3", "exit status 3"),
        ("exec sleep 5", "over 0 s"),
    ],
)
def test_a_program_that_fails_says_why(tmp_path, script, why):
    tool = gpu_binaries.gasal2({1000: program(tmp_path, script)})
    with pytest.raises(Failed, match=why):
        tool.run(job(tmp_path, patience=0.3), "8 threads")


def test_a_program_without_a_time_fails(tmp_path):
    with pytest.raises(Failed, match="no time"):
        gpu_binaries.ewfa_gpu(program(tmp_path, "echo hello")).run(job(tmp_path, EDIT), "1 thread, 4 batches")


def test_a_program_that_is_not_there_fails(tmp_path):
    with pytest.raises(Failed, match="No such file"):
        gpu_binaries.wfa_gpu(tmp_path / "none").run(job(tmp_path), "5 batches")


# eWFA-GPU


def test_ewfa_gpu_prints_times_and_operations():
    assert gpu_binaries.ewfa_gpu_seconds("Aligned executed. Wall time 0.093000s\n") == [0.093]
    lines = [b'Using device "H200"\n', b"2: 88MX73MI\n", b"0: \n", b"7: X\n", b"Aligned executed. Wall time 1s\n"]
    assert gpu_binaries.ewfa_gpu_costs(lines, 4).tolist() == [0, -1, 2, -1]


def test_ewfa_gpu_is_called_once_more_for_its_answers(tmp_path):
    script = 'case "$*" in *-p*) echo "1: X"; echo "0: 73MDI";; esac; echo "Aligned executed. Wall time 0.5s"'
    answer = gpu_binaries.ewfa_gpu(program(tmp_path, script)).run(
        job(tmp_path, EDIT, pairs=64), "4 threads, 8 batches"
    )
    assert answer.seconds == [0.5] * 3
    assert answer.costs.tolist() == [2, 1] + [-1] * 62
    plain = f"-f {tmp_path}/row.seq -n 64 -l 150 -t 4 -b 2"
    assert calls(tmp_path) == [plain] * 3 + [plain + " -p"]


# GASAL2


def test_gasal2_prints_times_and_scores():
    assert gpu_binaries.gasal2_seconds("Done\nTotal execution time (in milliseconds): 56.125\n") == [0.056125]
    lines = [b"query_name=1\ttarget_name=1\tscore=-14\tCIGAR=3M", b"Processing...", b"query_name=>0\tx\tscore=0"]
    assert gpu_binaries.gasal2_costs(lines, 3).tolist() == [0, 14, -1]


def test_gasal2_prints_answers_of_the_first_pairs(tmp_path):
    script = 'echo "Total execution time (in milliseconds): 10"; echo "query_name=1 score=-8"'
    small, large = program(tmp_path, script), tmp_path / "large"
    tool = gpu_binaries.gasal2({1000: large, 192: small})
    answer = tool.run(job(tmp_path, SCORE, repeats=1), "8 threads")
    assert answer.seconds == [0.01] and answer.costs.tolist() == [-1, 8]
    options = "-a 0 -b 4 -q 6 -r 2 -y global -n 8"
    assert calls(tmp_path) == [
        f"{options} {tmp_path}/row.query.fa {tmp_path}/row.target.fa",
        f"{options} -p {tmp_path}/row.head.query.fa {tmp_path}/row.head.target.fa",
    ]


def test_what_a_program_cannot_do_is_known_before(tmp_path):
    none = tmp_path / "none"
    wfa, ewfa, gasal = gpu_binaries.wfa_gpu(none), gpu_binaries.ewfa_gpu(none), gpu_binaries.gasal2({1152: none})
    assert not wfa.limit(job(tmp_path, longest=32_767)) and wfa.limit(job(tmp_path, longest=32_768))
    assert not ewfa.limit(job(tmp_path, greatest=63)) and ewfa.limit(job(tmp_path, greatest=64)) == "over 63 edits"
    assert not gasal.limit(job(tmp_path, longest=1144)) and gasal.limit(job(tmp_path, longest=1145)) == "over 1,144 bp"


# Pairs


def test_rows_are_those_of_the_table():
    assert [row.name for row in ROWS][:4] == [
        "2 M × 150 bp 2%",
        "2 M × 150 bp 5%",
        "2 M × 150 bp 10%",
        "300 k × 1 kb 2%",
    ]
    assert len({row.name for row in ROWS}) == len({row.stem for row in ROWS}) == 14


@pytest.mark.parametrize(("length", "edits"), [(150, 8), (40, 39), (5, 5), (7, 0)])
def test_random_pairs_have_as_many_edits_as_asked_for(length, edits):
    text = gpu_work.random_seq(300, length, edits, np.random.default_rng(7)).tobytes()
    assert text == gpu_work.random_seq(300, length, edits, np.random.default_rng(7)).tobytes()
    lines = text.split(b"\n")
    assert len(lines) == 601 and not lines.pop()
    queries, targets = [line[1:] for line in lines[::2]], [line[1:] for line in lines[1::2]]
    assert {line[:1] for line in lines[::2]} == {b">"} and {line[:1] for line in lines[1::2]} == {b"<"}
    assert {len(t) for t in targets} == {length}
    assert set(b"".join(queries)) <= set(b"ACGT")
    engine = Engine("edit", True, "cpu", 1, None)
    _, found = engine.run(Pairs([pairs_of(queries, targets)]))
    engine.close()
    assert found.min() >= 0 and found.max() <= edits
    if edits == 8:  # far apart, so that almost none is avoidable
        assert found.mean() > 7
        shorter = np.array([len(q) for q in queries]) - length
        assert shorter.min() < -2 and shorter.max() > 2 and abs(shorter.mean()) < 0.5


def test_files_hold_the_same_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu_work, "HEAD", 3)
    monkeypatch.setattr(gpu_work, "_CHUNK", 100)
    files = gpu_work.write(Row("row", 100, 20, 0.1), None, 0.07, tmp_path, fasta=True)
    pairs = gpu_work.read(files, 100)
    assert len(pairs) == 7 and len(pairs.batches) == 4
    assert pairs.bases == sum(b.total_bases for b in pairs.batches) and 20 <= pairs.longest <= 22
    lines = files.seq.read_bytes().split(b"\n")[:-1]
    for side in range(2):
        assert files.fasta[side].read_bytes() == b"".join(
            b">%d\n%s\n" % (i, line[1:]) for i, line in enumerate(lines[side::2])
        )
        assert files.head[side].read_bytes().count(b">") == 3
        assert files.fasta[side].read_bytes().startswith(files.head[side].read_bytes())


def test_real_sets_are_repeated(tmp_path):
    for side, bases in (("query", "ACGT"), ("target", "ACG")):
        (tmp_path / f"set.{side}.fa").write_text(f">a\n{bases}\n>b\n{bases}\n")
    row = Row("row", real="set", times=10)
    files = gpu_work.write(row, tmp_path, 0.3, tmp_path, fasta=False)
    assert files.seq.read_text() == ">ACGT\n<ACG\n" * 6
    assert not files.fasta[0].exists()
    with pytest.raises(FileNotFoundError):
        gpu_work.write(row, None, 1.0, tmp_path, fasta=False)


def test_slices_hold_every_pair_once():
    batches = [pairs_of([b"A" * i] * i, [b"A"] * i) for i in (5, 1, 9)]
    slices = gpu_work.in_slices(Pairs(batches), 4)
    assert [len(s) for s in slices] == [4, 1, 1, 4, 4, 1]
    assert [n for s in slices for n in s.q_len.tolist()] == [5] * 5 + [1] + [9] * 9


# Runs and verdicts


def test_our_engine_has_the_same_costs_with_and_without_paths():
    text = gpu_work.random_seq(50, 60, 6, np.random.default_rng(3)).tobytes().split(b"\n")
    pairs = Pairs([pairs_of([q[1:] for q in text[:-1:2]], [t[1:] for t in text[1::2]])] * 3)
    found = []
    for score_only in (False, True):
        engine = Engine("affine", score_only, "cpu", 2, None)
        before = engine.counts()
        seconds, known = engine.run(pairs, check=True)
        assert seconds > 0 and len(known) == 150
        counted = per_run(before, engine.counts(), 3)
        assert sum(counted["answered"].values()) == 50 and counted["seconds"]["align"] >= 0
        found.append(known)
        engine.close()
    assert np.array_equal(*found) and found[0].min() >= 0


def entry(known, task=AFFINE):
    pairs = Pairs([pairs_of([b"ACGT"] * len(known), [b"ACG"] * len(known))])
    made = Entry(Cell("row", task.name), pairs)
    made.add(Timing(OURS, seconds=[1.0]), costs(*known))
    return made


def test_a_peer_may_have_told_some_of_its_costs():
    made = entry([8, 8, 10])
    made.add(Timing("gasal2", seconds=[0.5]), costs(8, 9))
    made.add(Timing("wfa-gpu", seconds=[2.0]), costs(8, 8, 10))
    made.add(Timing("none", seconds=[2.0]), None)
    assert [t.wrong for t in made.cell.timings] == [0, 1, 0, 0]
    assert made.checked == {OURS: 3, "gasal2": 2, "wfa-gpu": 3}
    assert made.cell.best_peer().aligner == "wfa-gpu" and made.cell.ratio() == 2


def test_settings_of_a_peer_have_one_voice():
    made = entry([8, 8])
    for setting in ("5 batches", "20 batches"):
        made.add(Timing("wfa-gpu", setting, seconds=[2.0]), costs(8, 9))
    assert [t.wrong for t in made.cell.timings] == [0, 1, 1]


def tool(run, metrics=("affine",), limit=lambda job: "", settings=("one", "other")):
    return Tool("tool", "", metrics, False, limit, settings, run)


def rules(seconds=100.0):
    return Rules(3, 5.0, 10.0, 1 << 30, 2, time.monotonic() + seconds)


def turn(made, task, tmp_path, *tools, left=100.0):
    files = {"row": Files.of(tmp_path, "row")}
    gpu_contest.peers({("row", task.name): made}, [task], files, tools, {}, rules(left), tmp_path, lambda text: None)


def test_every_setting_of_a_program_is_tried(tmp_path):
    def run(asked, setting):
        assert asked.greatest == 9 and asked.pairs == 2
        if setting == "other":
            raise Failed("out of memory")
        return Answer([0.25, 0.5], costs(8, 9))

    made = entry([8, 9])
    turn(made, AFFINE, tmp_path, tool(run))
    assert made.cell.best_peer().best == 0.25 and made.cell.best_peer().setting == "one"
    assert made.cell.absent == {"tool other": "out of memory"}


def test_programs_are_asked_for_what_they_offer(tmp_path):
    def never(*_):
        raise AssertionError

    for task, tools in (
        (EDIT, tool(never)),
        (SCORE, tool(never)),
        (AFFINE, tool(never, limit=lambda job: "too long")),
    ):
        made = entry([8, 9], task)
        turn(made, task, tmp_path, tools)
        assert made.cell.absent == ({"tool": "too long"} if task is AFFINE else {})


def test_nobody_has_a_turn_after_the_deadline(tmp_path):
    made = entry([8, 9])
    turn(made, AFFINE, tmp_path, tool(None), left=-1.0)
    assert made.cell.absent == {"tool one": NO_TIME, "tool other": NO_TIME}


def test_ours_goes_on_to_the_next_cell_after_a_failure(monkeypatch):
    class Fails(Engine):
        def run(self, pairs, check=False):
            if len(pairs) == 1:
                raise RuntimeError("a fault")
            return super().run(pairs, check)

    monkeypatch.setattr(gpu_contest, "Engine", Fails)
    entries = {
        (row, AFFINE.name): Entry(Cell(row, AFFINE.name), Pairs([pairs_of([b"ACGT"] * n, [b"ACG"] * n)]))
        for row, n in (("a", 1), ("b", 2))
    }
    described = gpu_contest.ours(entries, [AFFINE], "cpu", rules(), None, lambda text: None)
    assert described[AFFINE.name]["engine"] == "cpu"
    assert entries["a", AFFINE.name].cell.absent == {OURS: "RuntimeError: a fault"}
    second = entries["b", AFFINE.name]
    assert second.costs[OURS].tolist() == [8, 8] and len(second.cell.of(OURS).seconds) == 3
    assert sum(second.counts["answered"].values()) == 2


class Lengths:
    """An aligner that returns the query length of each pair."""

    def __init__(self, library, metric, score_only, setting):
        self.closed = False

    def run(self, pairs):
        return 0.0, pairs.q_len.astype(np.int32)

    def close(self):
        self.closed = True


def test_threads_give_costs_in_order(monkeypatch):
    monkeypatch.setattr(threads, "Aligner", Lengths)
    pairs = Pairs([pairs_of([b"A" * i for i in range(1, 40)], [b"A"] * 39)])
    together = threads.Threads(Path("x"), "edit", False, "", 3)
    _, found = together.run(gpu_work.in_slices(pairs, 10))
    together.close()
    assert found.tolist() == list(range(1, 40))


def test_what_is_reported_says_how_much_was_compared():
    made = entry([8, 8, 10])
    made.add(Timing("gasal2", seconds=[0.5]), costs(8, 9))
    report = gpu_table.report_of(made)
    ours, peer = report["timings"]
    assert (ours["checked_pairs"], ours["equal_share"]) == (3, 1.0)
    assert (peer["checked_pairs"], peer["equal_share"], peer["wrong_pairs"]) == (2, 0.5, 1)
    assert ours["pairs_per_second"] == 3 and peer["pairs_per_second"] == 6
    assert ours["bus_share"] == round(21 / 55e9, 4) and report["best_peer"] is None
    assert gpu_table.rates_of(made.pairs, 1e-9)["gcups"] == 36.0


def test_the_table_names_who_is_left_out():
    made = entry([8, 8])
    made.cell.absent["wfa-gpu"] = "over 32,767 bp"
    made.add(Timing("gasal2", seconds=[0.5]), costs(8, 9))
    table = gpu_table.table_of([made], ["wfa-gpu", "gasal2"], "title")
    shown = [next(iter(column.cells)) for column in table.columns]
    assert shown[:3] == ["row", "affine CIGAR", "1.00"]
    assert shown[6:] == ["over 32,767 bp", "[red]0.500\nwrong on 1 pairs[/]", "–", "–"]


def test_no_number_of_the_table_is_cut_off():
    made = entry([8, 8])
    made.cell.row = "pacbio_clr_ecoli × 10"
    made.cell.timings[0].seconds[:] = [0.0176]
    names = ["wfa-gpu", "ewfa-gpu", "gasal2", "wfa2", "quicked", "block-aligner"]
    for name in names:
        wrong = 1_234_567 * (name == "gasal2")
        made.cell.timings.append(Timing(name, "8 batches of one", seconds=[0.0589], wrong=wrong))
    console = Console(width=gpu_table.console.width, record=True, file=io.StringIO())
    console.print(gpu_table.table_of([made], names, "title"))
    text = console.export_text()
    assert "…" not in text and "0.0176" in text and text.count("0.0589") == len(names) and "peer/ours" in text
    assert "1,234,567" in text and "3.35" in text
