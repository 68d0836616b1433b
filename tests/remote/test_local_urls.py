"""URLs of files: they are names of files, so that no input is overwritten by one, and no option takes a password."""

from __future__ import annotations

import pytest

from tests.cli.support import assert_failure, assert_success, run

LOCAL = (
    "align q.fa t.fa -o file://{}/q.fa",
    "align local://{}/q.fa t.fa -o q.fa",
    "align q.fa t.fa -o ok.sam --stats file://{}/t.fa",
    "align q.fa t.fa --report=file://{}/q.fa -o ok.sam",
    "align q.fa t.fa -o file://{0}/x.sam --stats local://{0}/x.sam",
    "plan q.fa t.fa --to o.sam --shards 2 -o FILE://{}/q.fa",
)


@pytest.mark.parametrize("command", LOCAL)
def test_a_file_is_not_overwritten_by_a_url(command, tmp_path):
    for name in ("q.fa", "t.fa"):
        (tmp_path / name).write_text(">a\nACGT\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = run(*command.format(tmp_path).split(), cwd=tmp_path)
    assert result.code in (1, 2), result.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("words", [["-o", "memory://b/o.sam"], ["--output=MEMORY://b/o.sam"]])
def test_an_output_in_memory_would_be_lost(words, tmp_path):
    for name in ("q.fa", "t.fa"):
        (tmp_path / name).write_text(">a\nACGT\n")
    assert_failure(
        run("align", "q.fa", "t.fa", *words, cwd=tmp_path), 2, "nothing of it is left when the command ends"
    )


def test_a_url_of_a_file_is_its_name(tmp_path):
    for name in ("q.fa", "t.fa"):
        (tmp_path / name).write_text(">a\nACGT\n")
    assert_success(run("align", f"file://{tmp_path}/q.fa", "t.fa", f"--output=file://{tmp_path}/o.paf", cwd=tmp_path))
    assert (tmp_path / "o.paf").read_text().startswith("a\t4\t0\t4\t+\ta\t4")
    (tmp_path / "folder").mkdir()
    assert_failure(run("align", "q.fa", "t.fa", "-o", f"file://{tmp_path}/folder", cwd=tmp_path), 1, "folder")


@pytest.mark.parametrize(
    "command",
    [
        "plan q.fa t.fa --to s3://me:secret@b/o.sam --shards 2 -o p",
        "plan q.fa t.fa --to=https://h/o.sam?token=secret --shards 2 -o p",
        "extend q.fa t.fa --matrix s3://me:secret@b/m -o x.sam",
        "align q.fa t.fa -o simplecache::s3://me:secret@b/x.sam",
    ],
)
def test_no_option_takes_a_url_with_a_password(command, tmp_path):
    for name in ("q.fa", "t.fa"):
        (tmp_path / name).write_text(">a\nACGT\n")
    result = run(*command.split(), cwd=tmp_path)
    assert_failure(result, 2, "***")
    assert "secret" not in result.err
    assert len(list(tmp_path.iterdir())) == 2
