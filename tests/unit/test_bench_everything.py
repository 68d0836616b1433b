"""The command that runs all comparisons: peers, steps and skipped steps; nothing is measured."""

import ast
import json
import os
import re
import time
from pathlib import Path

import pytest

from bench.harness import saving, steps, turns
from bench.harness.steps import Step
from bench.harness.turns import Turn
from bench.papers.found import Missed
from bench.peers import catalogue
from bench.tables import everything

BENCH = Path(everything.__file__).parent


def options_of(script):
    """Options of a script, which may import a peer that is not installed: those it adds, and those that all share."""
    tree = ast.parse((BENCH / f"{script}.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    words = [a.value for call in calls for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    shared = [call for call in calls if ast.unparse(call.func) == "table.options"]
    common = [a.value for call in shared for a in call.args[1:]] + [k.arg for call in shared for k in call.keywords]
    return {word for word in words if word.startswith("--")} | {f"--{name}" for name in common}


@pytest.fixture
def folder(tmp_path):
    for name in (
        "gasal2_192",
        "deeper/gasal2_1152",
        "wfa.affine.gpu",
        "deeper/wfa.affine.gpu",
        "README.txt",
        "libpeer_block_aligner.so",
        "peer_wfa2.so",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    return tmp_path


@pytest.mark.parametrize("peer", catalogue.PEERS, ids=lambda peer: f"{peer.name}-{peer.option}")
def test_scripts_have_the_options_that_the_catalogue_says(peer):
    for script in peer.tables:
        assert not peer.option or peer.option in options_of(script)


def test_peers_are_found_by_their_names(folder):
    files = catalogue.files_in(folder)
    assert {option: [size for size, _ in found] for option, found in files.items()} == {
        "--block-aligner": [""],
        "--gasal2": ["1152", "192"],
        "--wfa-gpu": [""],
        "--wfa2": [""],
    }
    words = catalogue.options("gpu_table", files)
    assert words[:2] == ["--wfa2", str(folder / "peer_wfa2.so")] and words.count("--wfa-gpu") == 1
    assert [word.partition(":")[0] for word in words[words.index("--gasal2") + 1 :]] == ["1152", "192"]
    assert catalogue.options("sw_table", files)[0] == "--gasal2"
    assert catalogue.options("api_rate", files) == []
    assert catalogue.files_in(None) == {}
    assert catalogue.options("cpu_table", {"--block-aligner": [("", folder / "x.so")]}) == [
        "--block-aligner",
        str(folder / "x.so"),
    ]
    where = {name: place for name, _, _, place in catalogue.listed(files) if name in ("GASAL2", "eWFA-GPU")}
    assert where["GASAL2"] == "gasal2_1152, gasal2_192"
    assert where["eWFA-GPU"] == "not there: --ewfa-gpu PATH, or wfe.aligner in the folder of --peers"


def test_only_what_is_lacking_is_measured_and_only_with_peers_that_are_there(folder):
    missed = [
        Missed("gpu-table", "a 2%", "edit CIGAR"),
        Missed("gpu-table", "b 2%", "affine CIGAR", "wfa-gpu"),
        Missed("gpu-table", "b 2%", "affine CIGAR", "wfa2"),
        Missed("gpu-table", "c 2%", "edit CIGAR"),
        Missed("gpu-table", "c 2%", "edit score", "ewfa-gpu"),
        Missed("sw-table", "64"),
        Missed("local-gpu", ""),
        Missed("local-gpu", "long_mpxv", aligner="masa"),
    ]
    files = catalogue.files_in(folder)
    found = everything.lacking(missed, files)
    assert [(step.script, step.words, step.peers) for step in found] == [
        ("gpu_table", ("--rows", "a 2%", "c 2%", "--tasks", "edit CIGAR"), ()),
        ("gpu_table", ("--rows", "b 2%", "--tasks", "affine CIGAR"), ("--wfa-gpu", "--wfa2")),
        ("sw_table", ("--save", "--builds", "--lengths", "64", "--no-seeds"), None),
        ("local_gpu", ("--strips",), ()),
    ]
    ours, theirs, scored, _ = (step.command(None, files) for step in found)
    assert not any(word.startswith("--wfa") for word in ours) and "--gasal2" in scored
    assert theirs[-4:] == ["--wfa2", str(folder / "peer_wfa2.so"), "--wfa-gpu", str(folder / "deeper/wfa.affine.gpu")]
    assert everything.lacking([], {}) == []


def dry_run(capsys, *words):
    everything.main(["--dry-run", *words])
    said = capsys.readouterr().out.splitlines()
    mark = "bench.tables."
    return {line.split()[2].removeprefix(mark): line.split()[3:] for line in said if mark in line}, "\n".join(said)


def test_a_dry_run_shows_all_commands_and_runs_none(folder, monkeypatch, capsys):
    monkeypatch.setattr(everything, "no_gpu", lambda: "no GPU: none")
    monkeypatch.setattr(turns, "run", lambda *_, **__: pytest.fail("something was run"))
    commands, said = dry_run(capsys, "--peers", str(folder), "--data", "real", "--quick")
    assert list(commands) == [step.script for step in steps.ALL if step.script != steps.BENCH]
    assert "wfacli bench --quick" in said and "no GPU: none" in said
    words = commands["gpu_table"]
    assert words[:2] == ["--quick", "--cache"] and words[3:6] == ["--data", "real", "--wfa2"]


def test_a_time_is_shared_and_makes_tables_shorter_where_it_is_too_short(monkeypatch, capsys):
    monkeypatch.setattr(everything, "no_gpu", lambda: "")
    chosen = ("--only", "cpu_table", "local_table", "api_rate")
    whole, _ = dry_run(capsys, *chosen, "--minutes", "60")
    short, _ = dry_run(capsys, *chosen, "--minutes", "6")
    assert "--share" not in whole["cpu_table"] and "--share" in short["cpu_table"]
    assert whole["api_rate"] == [] and short["api_rate"] == ["--pairs", "30000"]
    given = {name: float(words[words.index("--minutes") + 1]) for name, words in short.items() if "--minutes" in words}
    assert given.keys() == {"cpu_table", "local_table"}
    assert given["cpu_table"] == pytest.approx(turns.AHEAD * 6 * 10 / 14, abs=0.02)
    unbound, _ = dry_run(capsys, *chosen)
    assert not any("--minutes" in words for words in unbound.values())


@pytest.mark.parametrize("step", [step for step in steps.ALL if step.script != steps.BENCH], ids=lambda s: s.script)
def test_scripts_have_the_options_that_steps_give_them(step):
    there = options_of(step.script)
    given = [*step.words, *step.quick, *step.less, *(["--data"] if step.data else [])]
    for option in (word for word in given if word.startswith("--")):
        assert option in there, option
    assert "--minutes" in there or not step.paced


def test_a_step_that_fails_does_not_stop_the_rest_and_is_named_with_its_reason(tmp_path, monkeypatch, capsys):
    ran, paged = [], []
    monkeypatch.setattr(everything, "no_gpu", lambda: "no GPU: none")
    monkeypatch.setattr(everything, "pages", lambda: paged.append(True) or [Turn("page.py", 1.0, turns.DONE)])

    def run(step, *_):
        ran.append(step.script)
        return "exit status 1: it has no [bold]legs" if step.script == "cpu_table" else turns.DONE

    monkeypatch.setattr(everything, "run", run)
    with pytest.raises(SystemExit, match=r"^failed: cpu_table$"):
        everything.main(["--only", "table", "data_path"])
    assert ran == [
        "data_path",
        "cpu_table",
        "extend_table",
        "free_table",
        "overlap_table",
        "guided_table",
        "local_table",
        "distance_table",
    ]
    said = capsys.readouterr().out
    assert "it has no [bold]legs" in said and "no GPU: none" in said and paged
    with pytest.raises(SystemExit, match="no such folder"):
        everything.main(["--peers", "/nowhere"])


def test_peers_that_need_a_gpu_are_skipped_without_one(folder, monkeypatch):
    given = []
    monkeypatch.setattr(everything, "pages", list)
    monkeypatch.setattr(everything, "run", lambda step, words, *_: given.extend(words) or turns.DONE)
    for name in ("agatha", "peer_ksw2_extend.so"):
        (folder / name).write_text("")
    for without, options in (("no GPU: none", {"--ksw2"}), ("", {"--ksw2", "--agatha"})):
        given.clear()
        monkeypatch.setattr(everything, "no_gpu", lambda without=without: without)
        everything.main(["--only", "guided_table", "gpu_table", "--peers", str(folder)])
        assert {"--ksw2", "--agatha"} & set(given) == options
        assert ("--wfa-gpu" in given) == ("--gasal2" in given) == (not without)


def test_pages_are_made_of_what_there_is_when_somebody_stops_it(monkeypatch):
    paged = []

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(everything, "run", stopped)
    monkeypatch.setattr(everything, "pages", lambda: paged.append(True) or [])
    with pytest.raises(KeyboardInterrupt):
        everything.main(["--only", "data_path"])
    assert paged


def shell(script, most=None):
    return turns.run(["sh", "-c", script], most, os.environ)


def test_why_a_command_failed_is_what_it_said_last(capfd):
    assert shell("exit 0") == turns.DONE
    assert shell("echo first >&2; echo last >&2; exit 3") == "exit status 3: last"
    assert shell("exit 2") == "exit status 2"
    assert shell("kill -9 $$") == "SIGKILL"
    assert capfd.readouterr().err == "first\nlast\n"


def test_a_command_that_takes_too_long_is_ended_as_by_ctrl_c_and_then_harder(tmp_path, monkeypatch):
    saved, ready, wait = tmp_path / "saved", tmp_path / "ready", turns.subprocess.Popen.wait

    def wait_for_trap(process, seconds=None):
        until = time.monotonic() + 60
        while not ready.exists() and time.monotonic() < until:
            time.sleep(0.01)
        return wait(process, seconds)

    monkeypatch.setattr(turns.subprocess.Popen, "wait", wait_for_trap)
    assert shell(f"trap 'touch {saved}; exit 1' INT; touch {ready}; while :; do sleep 0.05; done", 0.1) == turns.LATE
    assert saved.exists()
    ready.unlink()
    monkeypatch.setattr(turns, "PATIENCE", 0.2)
    begun = time.monotonic()
    assert shell(f"trap '' INT TERM; touch {ready}; while :; do sleep 0.05; done", 0.1) == turns.LATE
    assert time.monotonic() - begun < 60


def test_what_a_step_leaves_of_its_time_is_the_next_ones(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(turns.time, "monotonic", lambda: now[0])
    clock = turns.Clock(10, [Step("a", minutes=1), Step("b", minutes=3), Step("c", minutes=1)])
    assert not clock.short
    assert clock.part_of_next() == (120, 240)
    now[0] += 20
    assert clock.part_of_next() == (435, 580)
    now[0] += 700
    assert clock.part_of_next() == (0, 0)
    assert turns.Clock(None, [Step("a")]).part_of_next() is None
    assert turns.Clock(4, [Step("a", minutes=5)]).short


def test_a_step_whose_work_is_not_cut_has_time_for_it_while_there_is_any(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(turns.time, "monotonic", lambda: now[0])
    clock = turns.Clock(1, [Step("a", minutes=1, least=50), Step("b", minutes=9, least=50)])
    assert clock.part_of_next() == (6, 50)
    now[0] += 45
    assert clock.part_of_next() == (15, 15)


@pytest.mark.parametrize(
    ("quick", "left_out", "name"),
    [
        (False, {"gpu": "there is none"}, "bench"),
        (True, {}, "bench-part"),
        (False, {"gpu, edit score": everything.NO_TIME}, "bench-part"),
    ],
)
def test_a_quick_bench_or_one_that_was_cut_short_does_not_pass_for_the_whole(tmp_path, quick, left_out, name):
    report = {"name": "bench", "date": "2026-01-02", "commit": "abc", "versions": {"machine": "x"}}
    path = everything.keep(report | {"options": {"quick": quick}, "left_out": left_out}, tmp_path)
    assert path.name.endswith(f"core-abc-{name}.json") and json.loads(path.read_text())["name"] == name


@pytest.mark.parametrize("script", ["api_rate", "peak_memory"])
def test_fewer_pairs_than_the_usual_ones_are_a_part(script):
    step = next(step for step in steps.ALL if step.script == script)
    text = (BENCH / f"{script}.py").read_text()
    usual = int(re.search(r"^PAIRS = ([\d_]+)", text, re.M)[1])
    assert all(int(words[words.index("--pairs") + 1]) < usual for words in (step.less, step.quick))
    assert "a.pairs >= PAIRS)" in text


def test_a_part_of_a_table_replaces_no_other_runs_and_the_whole_replaces_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "RESULTS", tmp_path)
    monkeypatch.setenv("WFACLI_COMMIT", "abc")

    def names():
        return sorted(path.name.split("-abc-")[1] for path in tmp_path.iterdir())

    for _ in range(2):
        monkeypatch.setattr(saving, "_own", {})
        for rows in range(2):
            saving.save_so_far("x-table", {}, {"rows": rows}, False)
    assert names() == ["2-x-table-part.json", "x-table-part.json"]
    saving.save_so_far("x-table", {}, {"rows": 3}, True)
    assert names() == ["x-table-part.json", "x-table.json"]
