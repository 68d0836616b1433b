"""Shards that are killed, parts that are missing, damaged or of another plan, and inputs that have changed."""

from __future__ import annotations

import functools
import gzip
import json
import random
import re
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.support import assert_failure, assert_success, fasta, run, start, zstd

from .support import on_one_machine, plan, run_shards, sequences, text_of, write_pairs

ARGUMENTS = {
    "text": ["--format", "paf"],
    "bam": ["--format", "bam", "--batch-bases", "2000"],
    "frames": ["--format", "bam", "--sort"],
}


@dataclass(frozen=True)
class Finished:
    """A folder with the inputs of a run, run.plan and its four parts.

    Attributes:
        folder: the folder.
        arguments: arguments of the run.
        expected: its output on one machine.
    """

    folder: Path
    arguments: list[str]
    expected: bytes

    def copy(self, folder: Path, parts: bool = True) -> Finished:
        """Copy the files into a folder, perhaps without the parts."""
        ignored = None if parts else shutil.ignore_patterns("*.parts")
        shutil.copytree(self.folder, folder, dirs_exist_ok=True, ignore=ignored)
        return Finished(folder, self.arguments, self.expected)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Finished]:
    """A function that returns the run of a form, which it executes once; tests copy it before they change anything."""

    @functools.cache
    def run_of(form: str) -> Finished:
        folder = tmp_path_factory.mktemp("finished")
        arguments = [*write_pairs(random.Random(7), folder, 300), *ARGUMENTS[form]]
        plan(folder, *arguments, shards=4)
        run_shards(folder, "align", [1, 2, 3, 4], 4)
        return Finished(folder, arguments, on_one_machine(folder, "align", arguments))

    return run_of


def part(folder: Path, shard: int, shards: int = 4) -> Path:
    return folder / "run.plan.parts" / f"{shard}-of-{shards}.part"


def merged(folder: Path, *more: str):
    return run("merge", "run.plan", "-o", "out", *more, cwd=folder)


def assert_nothing_written(folder: Path) -> None:
    assert not list(folder.glob("out*"))


@pytest.mark.parametrize("form", ARGUMENTS)
def test_missing_parts_are_named_with_the_shards_to_run(form, finished, tmp_path):
    one = finished(form).copy(tmp_path, parts=False)
    run_shards(tmp_path, "align", [2], 4)
    done = merged(tmp_path)
    assert_failure(done, 1, "3 parts of 4", "missing", "1-of-4.part", "--shard I/4 for I = 1,3-4")
    assert_nothing_written(tmp_path)
    run_shards(tmp_path, "align", [4, 1, 3], 4)
    assert_success(merged(tmp_path))
    assert (tmp_path / "out").read_bytes() == one.expected


@pytest.mark.parametrize("form", ARGUMENTS)
@pytest.mark.parametrize("damage", ["a bit", "the end", "more", "first byte"])
def test_a_damaged_part_is_named_and_nothing_is_written(form, damage, finished, tmp_path):
    one = finished(form).copy(tmp_path)
    data = bytearray(part(tmp_path, 3).read_bytes())
    if damage == "a bit":
        data[len(data) // 2] ^= 4
    elif damage == "first byte":
        data[0] ^= 255
    else:
        data = data[:-1] if damage == "the end" else data + b"x"
    part(tmp_path, 3).write_bytes(data)
    done = merged(tmp_path)
    assert_failure(
        done, 1, "1 part of 4", "damaged: run.plan.parts/3-of-4.part", "wfacli align --plan run.plan --shard 3/4"
    )
    assert_nothing_written(tmp_path)
    command = re.search("run again: wfacli (.*)", done.err)
    assert command
    if damage == "a bit":  # the command is the same for the others
        assert_success(run(*command[1].split(), "-q", cwd=tmp_path))
        assert_success(merged(tmp_path))
        assert (tmp_path / "out").read_bytes() == one.expected


def test_a_damaged_part_of_bam_that_is_to_be_sorted(finished, tmp_path):
    finished("bam").copy(tmp_path)
    data = part(tmp_path, 2).read_bytes()
    part(tmp_path, 2).write_bytes(data[:-40] + bytes(40))
    assert_failure(merged(tmp_path, "--sort"), 1, "2-of-4.part", "--shard 2/4")
    assert_nothing_written(tmp_path)


def test_a_part_of_another_plan_is_refused(finished, tmp_path):
    finished("text").copy(tmp_path)
    plan(tmp_path, *write_pairs(random.Random(8), tmp_path, 300), "--format", "paf", shards=4)
    run_shards(tmp_path, "align", [1, 3, 4], 4)
    done = merged(tmp_path)
    assert_failure(done, 1, "of another plan: run.plan.parts/2-of-4.part", "--shard 2/4")
    assert_nothing_written(tmp_path)
    table = run("plan", "--status", "run.plan", "-q", cwd=tmp_path)
    assert [line.split("\t")[1] for line in table.text.splitlines()[1:]] == ["done", "foreign", "done", "done"]


def test_a_part_in_the_place_of_another_is_refused(finished, tmp_path):
    finished("text").copy(tmp_path)
    for suffix in (".part", ".part.json"):
        (tmp_path / f"run.plan.parts/1-of-4{suffix}").replace(tmp_path / f"run.plan.parts/2-of-4{suffix}")
    assert_failure(
        merged(tmp_path), 1, "missing: run.plan.parts/1-of-4.part", "another plan: run.plan.parts/2-of-4.part"
    )


@pytest.mark.parametrize("form", ARGUMENTS)
def test_a_shard_that_is_killed_leaves_no_part_and_can_run_again(form, tmp_path):
    rng = random.Random(5)
    pairs = sequences(rng, 6000, 300)
    for name, which in (("q.fa", 0), ("t.fa", 1)):
        (tmp_path / name).write_bytes(text_of(rng, [pair[which] for pair in pairs], name[0], False))
    arguments = ["q.fa", "t.fa", *ARGUMENTS[form]]
    plan(tmp_path, *arguments, shards=2)
    folder = tmp_path / "run.plan.parts"
    process = start("align", "--plan", "run.plan", "--shard", "2/2", "-t", "1", "-q", cwd=tmp_path)
    while not list(folder.glob("*.partial-*")) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not part(tmp_path, 2, 2).exists()
    assert_failure(merged(tmp_path), 1, "2 parts of 2")
    run_shards(tmp_path, "align", [1], 2)
    assert_failure(merged(tmp_path), 1, "1 part of 2", "--shard 2/2")
    again = run("align", "--plan", "run.plan", "--shard", "2/2", cwd=tmp_path)
    assert again.code == 0, again.err
    assert not list(folder.glob("*.partial-*")), "what the killed run left is removed"
    assert_success(merged(tmp_path))
    assert (tmp_path / "out").read_bytes() == on_one_machine(tmp_path, "align", arguments)


@pytest.mark.parametrize("form", [["paf"], ["bam"], ["bam", "--sort"]], ids=" ".join)
def test_a_merge_that_is_ended_leaves_nothing(form, tmp_path):
    symbols = ("ACGT" * 40, "ACCT" * 50, "AAGT" * 30)
    for name in "qt":
        records = [f">{name}{n % 3}\n{symbols[n % 3]}\n" for n in range(60_000)]
        (tmp_path / f"{name}.fa").write_text("".join(records))
    plan(tmp_path, "q.fa", "t.fa", "--format", *form, shards=2)
    run_shards(tmp_path, "align", [1, 2], 2)
    process = start("merge", "run.plan", "-o", "out", "-t", "1", cwd=tmp_path)
    while not list(tmp_path.glob("out.partial-*")) and process.poll() is None:
        time.sleep(0.001)
    process.terminate()
    process.communicate()
    assert process.returncode in (143, 0), "the merge may have been faster"
    if process.returncode:
        assert_nothing_written(tmp_path)
    assert_success(merged(tmp_path))


def test_parts_in_another_folder(finished, tmp_path):
    one = finished("text").copy(tmp_path, parts=False)
    run_shards(tmp_path, "align", [1, 2, 3, 4], 4, "--parts", "elsewhere/deep")
    assert not (tmp_path / "run.plan.parts").exists()
    assert_failure(merged(tmp_path), 1, "missing")
    table = run("plan", "--status", "run.plan", "--parts", "elsewhere/deep", "-q", cwd=tmp_path)
    assert table.text.count("\tdone\t") == 4
    assert_success(merged(tmp_path, "--parts", "elsewhere/deep"))
    assert (tmp_path / "out").read_bytes() == one.expected


def test_a_shard_that_ran_twice_does_no_harm(finished, tmp_path):
    one = finished("text").copy(tmp_path)
    run_shards(tmp_path, "align", [2, 4], 4)
    assert_success(merged(tmp_path))
    assert (tmp_path / "out").read_bytes() == one.expected


def test_a_part_without_its_manifest_is_not_complete(finished, tmp_path):
    finished("text").copy(tmp_path)
    (tmp_path / "run.plan.parts/4-of-4.part.json").unlink()
    assert_failure(merged(tmp_path), 1, "missing: run.plan.parts/4-of-4.part")
    (tmp_path / "run.plan.parts/4-of-4.part.json").write_text("{}")
    assert_failure(merged(tmp_path), 1, "damaged: run.plan.parts/4-of-4.part")


@pytest.mark.parametrize("change", ["other bytes", "longer", "gone"])
def test_a_shard_refuses_inputs_that_have_changed(change, finished, tmp_path):
    finished("text").copy(tmp_path, parts=False)
    query = next(tmp_path.glob("q.fx*"))
    data = query.read_bytes()
    query.write_bytes(data[:-1] + bytes([data[-1] ^ 1]) if change == "other bytes" else data + b"x")
    if change == "gone":
        query.unlink()
    here = f"is not here: paths of the plan are relative to {finished('text').folder}"
    words = (here,) if change == "gone" else ("the plan was made of", "make a new plan")
    assert_failure(run("align", "--plan", "run.plan", "--shard", "1/4", cwd=tmp_path), 1, query.name, *words)
    assert not part(tmp_path, 1).exists()


def test_a_shard_with_other_records_than_planned_is_not_complete(tmp_path):
    """A file may change between the samples that are compared: here 8 MB, by one record fewer."""
    text = "".join(f">r{n:06}\n{'ACGT' * 23}\n" for n in range(80_000)).encode()
    for name in ("q.fa", "t.fa"):
        (tmp_path / name).write_bytes(text)
    plan(tmp_path, "q.fa", "t.fa", "--score-only", shards=2)
    samples = [n * (len(text) - 65536) // 63 for n in range(64)]
    at = text.index(b">", samples[10] + 70_000)
    assert at + 200 < samples[11]
    changed = bytearray(text)
    changed[at] = ord("A")  # the header becomes a part of the sequence before it
    changed[at + 1 : at + 8] = b"ACGTACG"
    for name in ("q.fa", "t.fa"):
        (tmp_path / name).write_bytes(changed)
    run_shards(tmp_path, "align", [2], 2)
    assert_failure(run("align", "--plan", "run.plan", "--shard", "1/2", cwd=tmp_path), 1, "when it was planned")
    assert_failure(merged(tmp_path), 1, "missing: run.plan.parts/1-of-2.part")


@pytest.mark.parametrize("at", [0, 25, 200, -10, -60])
def test_a_damaged_plan_is_refused(at, finished, tmp_path):
    finished("text").copy(tmp_path)
    data = bytearray((tmp_path / "run.plan").read_bytes())
    data[at] ^= 1
    (tmp_path / "run.plan").write_bytes(data)
    for command in (
        ["align", "--plan", "run.plan", "--shard", "1/4"],
        ["merge", "run.plan"],
        ["plan", "--status", "run.plan"],
    ):
        assert_failure(run(*command, cwd=tmp_path), 1, "run.plan")


@pytest.mark.parametrize("cut", [0, 10, 100, 1000, -1])
def test_a_truncated_plan_is_refused(cut, finished, tmp_path):
    finished("text").copy(tmp_path)
    data = (tmp_path / "run.plan").read_bytes()
    (tmp_path / "run.plan").write_bytes(data[:cut])
    assert_failure(run("merge", "run.plan", cwd=tmp_path), 1, "run.plan", "plan")


def test_a_plan_of_another_version_is_refused(finished, tmp_path):
    finished("text").copy(tmp_path)
    data = (tmp_path / "run.plan").read_bytes()
    (tmp_path / "run.plan").write_bytes(re.sub(rb'("version": ")[^"]*', rb"\g<1>0.0.0", data, count=1))
    assert_failure(run("merge", "run.plan", cwd=tmp_path), 1, "wfacli 0.0.0", "make a new plan")


def test_options_of_the_run_are_refused_beside_a_plan(finished, tmp_path):
    finished("text").copy(tmp_path)
    for option in (["--metric", "edit"], ["-o", "x.paf"], ["--md"]):
        done = run("align", "--plan", "run.plan", "--shard", "1/4", *option, cwd=tmp_path)
        assert done.code == 2 and option[0] in done.err
    shards = {"0/4": "from 1 to 4", "5/4": "from 1 to 4", "1/5": "4 shards", "x": "I/N", "1": "I/N", "-1/4": "I/N"}
    for shard, words in shards.items():
        assert_failure(run("align", "--plan", "run.plan", f"--shard={shard}", cwd=tmp_path), 2, words)
    assert_failure(run("extend", "--plan", "run.plan", "--shard", "1/4", cwd=tmp_path), 2, "plan of wfacli align")
    assert_failure(run("align", "q", "t", "--shard", "1/4", cwd=tmp_path), 2, "--plan")


def test_what_cannot_be_planned_is_refused(tmp_path):
    (tmp_path / "t.fa").write_bytes(fasta(["ACGT"]))
    (tmp_path / "q.fa.gz").write_bytes(gzip.compress(fasta(["ACGT"])))
    (tmp_path / "q.fa.zst").write_bytes(zstd(fasta(["ACGT"])))
    made = ("--shards", "2", "-o", "run.plan")
    for name, program in (("q.fa.gz", "zcat"), ("q.fa.zst", "zstdcat")):
        assert_failure(run("plan", name, "t.fa", *made, cwd=tmp_path), 1, name, f"{program} FILE | bgzip > NEW")
    assert_failure(run("plan", "-", "t.fa", *made, cwd=tmp_path), 2, "standard input")
    assert_failure(run("plan", "t.fa", "t.fa", "--shards", "2", cwd=tmp_path), 2, "-o PLAN is missing")
    assert_failure(run("plan", "t.fa", "t.fa", "-o", "run.plan", cwd=tmp_path), 2, "--shards N is missing")
    assert_failure(run("plan", *made, cwd=tmp_path), 2, "QUERY TARGET")
    assert_failure(run("plan", "extend", "t.fa", "t.fa", "--all", *made, cwd=tmp_path), 2, "cannot be cut")
    assert_failure(run("plan", "t.fa", "t.fa", "--stats", "x", *made, cwd=tmp_path), 2, "--stats")
    assert_failure(run("plan", "t.fa", "t.fa", "--shards", "2", "-o", "t.fa", cwd=tmp_path), 2, "is an input")
    index = ("--sort", "--write-index", "--format", "bam")
    assert_failure(run("plan", "t.fa", "t.fa", *index, *made, cwd=tmp_path), 2, "--to FILE.bam")
    assert_failure(run("plan", *made, "--", "t.fa", "--help", cwd=tmp_path), 2, "not of a run")
    assert_failure(run("plan", *made, "t.fa", "--plan", "x", cwd=tmp_path), 2, "cannot be planned")
    bam = run("plan", "t.fa", "t.fa", "--shards", "2", "-o", "out.bam", cwd=tmp_path)
    assert_failure(bam, 2, "--to out.bam is the output of the run")
    assert run("plan", "t.fa", "t.fa", "--nonsense", *made, cwd=tmp_path).code == 2
    assert not (tmp_path / "run.plan").exists()


def test_merge_refuses_another_format_and_overwriting(tmp_path):
    files = write_pairs(random.Random(7), tmp_path, 30)
    plan(tmp_path, *files, "--format", "paf", shards=1)
    run_shards(tmp_path, "align", [1], 1)
    assert_failure(run("merge", "run.plan", "-o", "out.bam", cwd=tmp_path), 2, "the plan is of PAF", "--format bam")
    assert_failure(run("merge", "run.plan", "-o", "run.plan", cwd=tmp_path), 2, "is an input")
    assert_failure(run("merge", "run.plan", "-o", files[0], cwd=tmp_path), 2, "is an input")
    assert_failure(run("merge", "run.plan", "--sort", "-o", "out", cwd=tmp_path), 2, "--sort")
    assert_failure(run("merge", "run.plan", "--write-index", "-o", "out", cwd=tmp_path), 2, "--write-index")
    assert_nothing_written(tmp_path)


def test_pairs_without_an_alignment_end_the_merge_not_the_shard(tmp_path):
    long = "ACGTTGCA" * 27_000  # 216,000 bases
    (tmp_path / "pairs.tsv").write_text(f"long\t{long}\t{long}\nshort\tACGT\tACGA\n")
    options = ["pairs.tsv", "--match", "10000", "--format", "paf"]
    one = run("align", *options, cwd=tmp_path)
    assert_failure(one, 1, "SCORE_RANGE")
    plan(tmp_path, *options, shards=1)
    done = run("align", "--plan", "run.plan", "--shard", "1/1", cwd=tmp_path)
    assert done.code == 0 and "warning: 1 pair was written without an alignment (1 SCORE_RANGE)" in done.err
    assert json.loads((tmp_path / "run.plan.parts/1-of-1.part.json").read_text())["unaligned"] == {"SCORE_RANGE": 1}
    assert_failure(run("merge", "run.plan", "-o", "out", cwd=tmp_path), 1, "1 pair was written", "SCORE_RANGE")
    assert (tmp_path / "out").read_bytes() == one.out
