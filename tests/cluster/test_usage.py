"""Options of runs on a cluster that are wrong, which needs no cluster."""

from __future__ import annotations

import pytest

from tests.cli.support import assert_failure, assert_success, command, environment, run

ON = ["--on", "dask://127.0.0.1:9"]


@pytest.fixture
def folder(tmp_path):
    for name in ("q.fa", "t.fa"):
        (tmp_path / name).write_text(">a\nACGT\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["q.fa", "t.fa", "-o", "o.sam", "--work", "w"], "--work belongs to --on dask://HOST:PORT"),
        (["q.fa", "t.fa", "-o", "o.sam", "--shards", "3"], "--shards belongs to --on"),
        (["q.fa", "t.fa", "-o", "o.sam", "--retries", "3"], "--retries belongs to --on"),
        (["q.fa", "t.fa", *ON], "--on needs a work folder that all workers see: give -o FILE, or --work FOLDER"),
        (["-o", "o.sam", *ON], "what is aligned is missing"),
        (["q.fa", "t.fa", "-o", "o.sam", "--on", "host:8786"], "the address of a scheduler is dask://HOST:PORT"),
        (["q.fa", "t.fa", "-o", "o.sam", "--on", "dask://host"], "the port is missing"),
        (["q.fa", "t.fa", "-o", "o.sam", "--bogus", *ON], "--bogus"),
        (["q.fa", "t.fa", "-o", "q.fa", *ON], "q.fa is an input"),
        (["-", "t.fa", "-o", "o.sam", *ON], "every shard reads the inputs"),
        (["q.fa", "t.fa", "-o", "o.sam", "--stats", "s.json", *ON], "--stats"),
        (["q.fa", "t.fa", "-o", "o.bam", "--format", "paf", *ON], "o.bam is named as BAM"),
        (["q.fa", "t.fa", "-o", "o.sam", "--shards", "0", *ON], "--shards"),
    ],
)
def test_wrong_options(words, message, folder):
    assert_failure(run("align", *words, cwd=folder), 2, message)
    assert sorted(path.name for path in folder.iterdir()) == ["q.fa", "t.fa"]


def test_a_run_on_a_cluster_cannot_be_planned(folder):
    done = run("plan", "align", "q.fa", "t.fa", *ON, "--shards", "2", "-o", "run.plan", cwd=folder)
    assert_failure(done, 2, "--on plans a run itself, and cannot be planned")


def test_an_input_that_is_missing(folder):
    done = run("align", "none.fa", "t.fa", "-o", "o.sam", *ON, cwd=folder)
    assert_failure(done, 1, "none.fa: No such file or directory")


def test_without_dask(folder):
    (folder / "sitecustomize.py").write_text("import sys; sys.modules['distributed'] = None\n")
    env = environment(PYTHONPATH=str(folder))
    done = run("align", "q.fa", "t.fa", "-o", "o.sam", *ON, cwd=folder, env=env, program=command())
    assert_failure(done, 1, "--on dask:// needs Dask: pip install", "[dask]")
    assert not list(folder.glob("o.sam*"))


def test_without_fsspec(folder):
    (folder / "sitecustomize.py").write_text("import sys; sys.modules['fsspec'] = None\n")
    env = environment(PYTHONPATH=str(folder))
    done = run("align", "s3://bucket/q.fa", "t.fa", "-o", "o.sam", cwd=folder, env=env, program=command())
    assert_failure(done, 1, "s3://bucket/q.fa: URLs need fsspec, and s3:// needs s3fs: pip install", "[s3]")


@pytest.mark.parametrize("name", ["align", "map", "extend"])
def test_help(name, folder):
    for option in ("-h", "--help-all"):
        result = run(name, *ON, option, cwd=folder, env=environment(COLUMNS="80"))
        assert_success(result)
        assert "--work FOLDER" in result.text and "--format" not in result.text
        assert max(map(len, result.text.splitlines())) <= 80 or option == "--help-all"
