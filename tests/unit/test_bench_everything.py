"""The whole comparison in one command: its peers, its steps, what it leaves out; nothing is measured."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import everything
from papers.found import Missed
from peers import catalogue

BENCH = Path(everything.__file__).parent


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
        text = (BENCH / f"{script}.py").read_text()
        assert f'"{peer.option}"' in text if peer.option else True


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
        Missed("gpu-table", "c 2%", "edit score", "ewfa-gpu"),
        Missed("sw-table", "64"),
        Missed("local-card", ""),
        Missed("local-card", "long_mpxv", aligner="masa"),
    ]
    steps = everything.lacking(missed, catalogue.files_in(folder))
    assert [(step.script, step.words) for step in steps] == [
        ("gpu_table", ("--rows", "a 2%", "b 2%", "--tasks", "edit CIGAR", "affine CIGAR", "--minutes", "20")),
        ("local_card", ("--strips",)),
        ("sw_table", ("--save", "--builds", "--lengths", "64", "--no-seeds")),
    ]
    assert everything.lacking([], {}) == []


def test_a_dry_run_shows_all_commands_and_runs_none(folder, monkeypatch, capsys):
    monkeypatch.setattr(everything, "may_have_card", lambda: False)
    monkeypatch.setattr(everything.subprocess, "run", lambda *_, **__: pytest.fail("something was run"))
    everything.main(["--dry-run", "--peers", str(folder), "--data", "real", "--quick"])
    said = capsys.readouterr().out.replace("\n", " ")
    assert "wfacli bench --quick" in said and "gpu_table.py --minutes 30 --quick --data real --wfa2" in said
    assert "No card here" in said and "left out gpu_table, kernel_table, band_table" in said


def test_a_step_that_fails_does_not_stop_the_rest(monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(everything, "may_have_card", lambda: False)
    monkeypatch.setattr(everything, "pages", lambda: 0)
    monkeypatch.setattr(
        everything, "run", lambda step, words, _: ran.append(step.script) or int(step.script == "cpu_table")
    )
    with pytest.raises(SystemExit, match=r"^failed: cpu_table$"):
        everything.main(["--only", "table", "data_path"])
    assert ran == ["cpu_table", "extend_table", "local_table", "distance_table", "data_path"]
    with pytest.raises(SystemExit, match="no such folder"):
        everything.main(["--peers", "/nowhere"])
