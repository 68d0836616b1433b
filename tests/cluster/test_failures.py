"""Runs on a cluster that are interrupted, continued, or fail; workers that cannot run shards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import assert_failure, command, run, start

from .support import (
    address_of,
    ended,
    local_cluster,
    on_cluster,
    on_one_machine,
    require,
    running_in,
    until,
    write_pairs,
)

PARTS = "run.plan.parts"


def interrupted(cluster, folder: Path, number: signal.Signals, *arguments: str) -> tuple[int, str]:
    """Run until a part is done and another one has begun, and send a signal; return status and messages."""
    process = start(*arguments, "--on", address_of(cluster), "--work", "work", cwd=folder, stdin=subprocess.DEVNULL)
    parts = folder / "work" / PARTS

    def begun():
        return list(parts.glob("*.json")) and running_in(cluster, parts)

    _, shard = until(begun, while_runs=process)
    process.send_signal(number)
    messages = ended(process, 30)
    until(lambda: not shard.is_running(), 10)
    return process.returncode, messages


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_an_interrupted_run_ends_its_shards_and_is_continued(number, cluster, tmp_path):
    arguments = ["align", *write_pairs(tmp_path, 6000, 120), "-o", "out.sam", "--shards", "12"]
    code, messages = interrupted(cluster, tmp_path, number, *arguments)
    assert code == 128 + number, messages
    assert "Traceback" not in messages
    assert "of 12 shards are done, in work; the same command continues" in messages
    assert not list(tmp_path.glob("out*"))
    parts = tmp_path / "work" / PARTS
    times = {path: path.stat().st_mtime_ns for path in parts.glob("*.part")}
    assert 0 < len(times) < 12
    assert not list(parts.glob("*.partial-*")), "what an ended shard wrote is removed"
    done = on_cluster(cluster, tmp_path, *arguments, "--work", "work", env={**os.environ, "WFACLI_TEST": "1"})
    assert done.code == 0, done.err
    assert f"{len(times)} of 12 shards are done already" in done.err
    assert (tmp_path / "out.sam").read_bytes() == on_one_machine(tmp_path, "out.sam", *arguments[:3])
    assert not (tmp_path / "work").exists()


def test_damaged_and_missing_parts_run_again(cluster, tmp_path):
    files = write_pairs(tmp_path, 600)
    expected = on_one_machine(tmp_path, "out.paf", "align", *files)
    (tmp_path / "work").mkdir()  # the user's own, which stays
    arguments = ["align", *files, "-o", "out.paf", "--work", "work", "--shards", "4"]
    done = on_cluster(cluster, tmp_path, *arguments)
    assert done.code == 0, done.err
    assert "plan and parts stay in work, which was there before" in done.err
    (tmp_path / "out.paf").unlink()
    part = tmp_path / "work" / PARTS / "3-of-4.part"
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    (tmp_path / "work" / PARTS / "1-of-4.part").unlink()
    done = on_cluster(cluster, tmp_path, *arguments)
    assert done.code == 0, done.err
    assert "3 of 4 shards are done already" in done.err
    assert "damaged: work/run.plan.parts/3-of-4.part; they run again" in done.err
    assert (tmp_path / "out.paf").read_bytes() == expected
    other = on_cluster(cluster, tmp_path, *arguments[:-2], "--metric", "edit")
    assert_failure(other, 2, "work has the plan of another run (wfacli align", "--work another folder")
    more = on_cluster(cluster, tmp_path, *arguments[:-1], "5")
    assert_failure(more, 2, "work has a plan of 4 shards", "--shards")
    with (tmp_path / files[0]).open("ab") as file:
        file.write(b"x")
    assert_failure(on_cluster(cluster, tmp_path, *arguments), 1, files[0], "unlike the file that the plan was made of")


def test_a_shard_that_fails_runs_again_and_then_ends_the_run(cluster, tmp_path):
    """One pair needs more than --max-memory allows its traceback, an error that each shard's process prints."""
    files = write_pairs(tmp_path, 200)
    arguments = ["align", *files, "-o", "out.paf", "--work", "work", "--shards", "3", "--retries", "1"]
    (tmp_path / "work" / PARTS).mkdir(parents=True)
    (tmp_path / "work" / PARTS / "2-of-3.part").mkdir()  # where a folder is, no part can be written
    done = on_cluster(cluster, tmp_path, *arguments)
    assert done.code == 1
    assert done.err.count("wfacli: warning: shard 2 failed on ") == 1, "it ran again once"
    assert done.err.count("wfacli: error: shard 2 failed on ") == 1
    assert "2-of-3.part: cannot be written: Is a directory" in done.err
    assert not list(tmp_path.glob("out*"))
    (tmp_path / "work" / PARTS / "2-of-3.part").rmdir()
    done = on_cluster(cluster, tmp_path, *arguments)
    assert done.code == 0, done.err
    assert (tmp_path / "out.paf").read_bytes() == on_one_machine(tmp_path, "out.paf", "align", *files)


def test_pairs_without_an_alignment_end_with_status_1_after_the_file_is_complete(cluster, tmp_path):
    for name, symbols in (("q.fa", "AC"), ("t.fa", "GT")):
        text = "".join(f">{name[0]}{n}\n{symbols * 20_000}\n" for n in range(2))
        (tmp_path / name).write_text(text)
    arguments = ["align", "q.fa", "t.fa", "--max-memory", "1M", "--max-cost", "3", "-o", "out.paf"]
    expected = on_one_machine(tmp_path, "out.paf", *arguments[:-2])
    done = on_cluster(cluster, tmp_path, *arguments, "--shards", "2")
    assert done.code == 0, done.err
    assert (tmp_path / "out.paf").read_bytes() == expected


def test_a_scheduler_that_ends_during_the_run(tmp_path):
    require("distributed")
    files = write_pairs(tmp_path, 6000, 120)
    with local_cluster(1) as cluster:
        arguments = ["align", *files, "-o", "out.sam", "--on", address_of(cluster), "--shards", "12"]
        process = start(*arguments, cwd=tmp_path, stdin=subprocess.DEVNULL)
        parts = tmp_path / "out.sam.work" / PARTS
        until(lambda: list(parts.glob("*.json")), while_runs=process)
        cluster.close(timeout=5)
        messages = ended(process, 60)
    assert process.returncode == 1, messages
    assert "wfacli: error: the scheduler is gone" in messages
    assert "the same command continues" in messages
    assert "Traceback" not in messages
    with local_cluster(1) as other:
        done = on_cluster(other, tmp_path, *arguments[:5], "--shards", "12")
    assert done.code == 0, done.err
    assert "shards are done already" in done.err
    assert (tmp_path / "out.sam").read_bytes() == on_one_machine(tmp_path, "out.sam", *arguments[:3])


def test_without_a_scheduler(tmp_path):
    require("distributed")
    files = write_pairs(tmp_path, 10)
    on = ["-o", "out.sam", "--on", "dask://127.0.0.1:9"]
    done = run("align", *files, *on, cwd=tmp_path, program=command())
    assert_failure(done, 1, "dask://127.0.0.1:9: no scheduler answers", "dask scheduler")
    assert not list(tmp_path.glob("out*"))


FAULTS = {
    "version": ("import wfacli.cluster.worker as w; w.__version__ = '0.0.9'", "has wfacli 0.0.9, and this is"),
    "none": ("import sys; sys.modules['wfacli.cluster.worker'] = None", "has no wfacli"),
    "folder": (
        "import wfacli.cluster.worker as w\n"
        "w._there = lambda folder, path, there=w._there: there('/nowhere' if 'work' in path else folder, path)",
        "cannot read the work folder (work/wfacli-work.json: No such file or directory)",
    ),
    "other folder": (
        "import wfacli.cluster.worker as w\n"
        "w._there = lambda folder, path, there=w._there: there(folder, 'other' if 'work' in path else path)",
        "has another folder under the name work",
    ),
    "input": (
        "import wfacli.cluster.worker as w\n"
        "w._there = lambda folder, path, there=w._there: there('/nowhere' if 't.fa' in path else folder, path)",
        "cannot read t.fa",
    ),
    "other input": (
        "import wfacli.cluster.worker as w\n"
        "w._there = lambda folder, path, there=w._there: there(folder, 'other' if 't.fa' in path else path)",
        "has another file as t.fa",
    ),
}


def faulty_worker(cluster, folder: Path, fault: str) -> subprocess.Popen[bytes]:
    """Start a worker with a fault, under the name "faulty"."""
    preload = folder / "fault.py"
    preload.write_text(FAULTS[fault][0])
    words = ["--nthreads", "1", "--name", "faulty", "--no-dashboard", "--no-nanny", "--preload", str(preload)]
    program = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, *words]
    process = subprocess.Popen(program, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: any(w.name == "faulty" for w in cluster.scheduler.workers.values()), while_runs=process)
    return process


@pytest.mark.parametrize("fault", FAULTS)
def test_workers_that_cannot_run_shards_are_named(fault, cluster, tmp_path):
    files = write_pairs(tmp_path, 100)
    (tmp_path / "other").write_text("x")
    expected = on_one_machine(tmp_path, "out.sam", "align", *files)
    faulty = faulty_worker(cluster, tmp_path, fault)
    try:
        arguments = ["align", *files, "-o", "out.sam", "--work", "work", "--shards", "3"]
        done = on_cluster(cluster, tmp_path, *arguments)
    finally:
        faulty.terminate()
        faulty.wait()
        until(lambda: all(w.name != "faulty" for w in cluster.scheduler.workers.values()))
    assert done.code == 0, done.err
    words = FAULTS[fault][1].replace("t.fa", files[1])
    assert "wfacli: warning: worker faulty (tcp://" in done.err
    assert words in done.err
    assert (tmp_path / "out.sam").read_bytes() == expected


def test_no_worker_can_run_shards(tmp_path):
    require("distributed")
    files = write_pairs(tmp_path, 100)
    with local_cluster(1) as cluster:
        faulty = faulty_worker(cluster, tmp_path, "version")
        try:
            cluster.scale(0)
            until(lambda: len(cluster.scheduler.workers) == 1)
            done = on_cluster(cluster, tmp_path, "align", *files, "-o", "out.sam")
        finally:
            faulty.terminate()
            faulty.wait()
    assert_failure(done, 1, "no worker can run shards: faulty (tcp://", "has wfacli 0.0.9")


def test_workers_with_a_gpu_as_resource(tmp_path):
    """Shards on a GPU take the resource; those on CPUs run with --engine cpu, so that they use none."""
    require("distributed")
    files = write_pairs(tmp_path, 400)
    expected = on_one_machine(tmp_path, "out.sam", "align", *files)
    from distributed import Nanny, SpecCluster
    from distributed.scheduler import Scheduler

    workers = {
        "gpu": {"cls": Nanny, "options": {"nthreads": 4, "resources": {"GPU": 1}}},
        "cpu": {"cls": Nanny, "options": {"nthreads": 1}},
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard_address": ":0", "host": "127.0.0.1"}}
    with SpecCluster(scheduler=scheduler, workers=workers, silence_logs=50) as cluster:
        arguments = ["align", *files, "-o", "out.sam", "--shards", "6"]
        done = on_cluster(cluster, tmp_path, *arguments)
        assert done.code == 0, done.err
        assert "2 workers, 2 shards at a time" in done.err
        assert (tmp_path / "out.sam").read_bytes() == expected
        only = on_cluster(cluster, tmp_path, *arguments, "--engine", "gpu", "--retries", "0")
        assert_failure(only, 1, "shard ", "failed on")


def test_a_work_folder_names_its_token(cluster, tmp_path):
    files = write_pairs(tmp_path, 20)
    (tmp_path / "work").mkdir()
    done = on_cluster(cluster, tmp_path, "align", *files, "-o", "out.sam", "--work", "work")
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "work" / "wfacli-work.json").read_text())["made"] is False
    (tmp_path / "work" / "wfacli-work.json").write_text("{}")
    done = on_cluster(cluster, tmp_path, "align", *files, "-o", "out.sam", "--work", "work")
    assert_failure(done, 1, "wfacli-work.json", "give --work another folder")
