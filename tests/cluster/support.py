"""A local cluster, and runs on it beside those of one machine."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Result, assert_success, command, run, start
from tests.shards.support import sequences, stored, text_of

IN_MAKE_TEST_DASK = "WFACLI_TEST_DASK"
KILLS_WITHIN = 60.0  # seconds
_IN_MID_SHARD = 0.8  # seconds after the start of a shard whose part is in a store


def require(*packages: str) -> None:
    """Skip a test that takes long or needs packages, unless make test-dask runs it."""
    if not os.environ.get(IN_MAKE_TEST_DASK):
        pytest.skip("in make test-dask")
    for package in packages:
        pytest.importorskip(package)


@contextlib.contextmanager
def local_cluster(workers: int = 2, **options: Any) -> Iterator[Any]:
    """Start a cluster of processes with one thread each."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50, **options
    ) as cluster:
        yield cluster


def address_of(cluster: Any) -> str:
    return str(cluster.scheduler_address).replace("tcp://", "dask://")


def on_cluster(cluster: Any, folder: Path, *arguments: str, env: dict[str, str] | None = None) -> Result:
    """Run the command on a cluster, in a process of its own: a fork of this one has the cluster's threads."""
    return run(*arguments, "--on", address_of(cluster), cwd=folder, program=command(), env=env)


def on_one_machine(folder: Path, name: str, *arguments: str) -> bytes:
    """Return what one machine writes to the output `name`, which is removed."""
    assert_success(run(*arguments, "-o", name, cwd=folder, program=command()))
    data = (folder / name).read_bytes()
    (folder / name).unlink()
    return data


def write_pairs(folder: Path, count: int, slow: int = 0) -> list[str]:
    """Write random pairs, `slow` of which take 30 ms or more each; return the arguments that name the files."""
    rng = random.Random(count)
    pairs = sequences(rng, count, 300)
    for number in range(slow):
        pairs[number * count // slow] = tuple("".join(rng.choices("ACGT", k=20_000)) for _ in range(2))
    query = text_of(rng, [q for q, _ in pairs], "q", True)
    target = text_of(rng, [t for _, t in pairs], "t", False)
    return [stored(rng, folder / "q.fq", query).name, stored(rng, folder / "t.fa", target).name]


def shard_processes(pid: int) -> list[Any]:
    """Return the processes of shards that a worker runs."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        return [child for child in psutil.Process(pid).children() if "run_watched" in " ".join(child.cmdline())]
    return []


def running_in(cluster: Any, folder: Path | None) -> tuple[int, Any] | None:
    """Return a worker's process id, and the process of a shard that has begun to write its part.

    `folder`: of the parts; None for a store, which does not show objects that are incomplete.
    """
    import psutil

    parts = list(folder.glob("*.partial-*")) if folder else []
    for nanny in cluster.workers.values():
        for process in shard_processes(nanny.pid) if nanny.pid else []:
            with contextlib.suppress(psutil.Error):
                if folder is None:
                    begun = time.time() - process.create_time() > _IN_MID_SHARD
                else:
                    begun = any(Path(file.path) in parts for file in process.open_files())
                if begun:
                    return nanny.pid, process
    return None


def until(condition: Callable[[], Any], seconds: float = KILLS_WITHIN, while_runs: Any = None) -> Any:
    """Wait until a condition holds, and return its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "in time"
        assert while_runs is None or while_runs.poll() is None, while_runs.communicate()
        time.sleep(0.001)
    return value


def with_a_killed_worker(cluster: Any, folder: Path, work: str, *arguments: str) -> tuple[int, str]:
    """Run on a cluster, of which a worker is killed while a shard of its is being written; return status and messages.

    The shard's own process must end with the worker.
    """
    process = start(*arguments, "--on", address_of(cluster), "--work", work, cwd=folder, stdin=subprocess.DEVNULL)
    parts = None if "://" in work else folder / work / "run.plan.parts"
    try:
        worker, shard = until(lambda: running_in(cluster, parts), while_runs=process)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{ended(process, 0)}\n{state_of(cluster)}") from None
    os.kill(worker, signal.SIGKILL)
    until(lambda: not shard.is_running(), 10)
    messages = ended(process, 60)
    return process.returncode, messages if process.returncode == 0 else f"{messages}\n{state_of(cluster)}"


def state_of(cluster: Any) -> str:
    """Return what the scheduler knows, for a failed test."""
    tasks = [f"{task} {task.state} {task.processing_on}" for task in cluster.scheduler.tasks.values()]
    nannies = [f"{nanny} {nanny.status} {nanny.pid}" for nanny in cluster.workers.values()]
    return "\n".join([str(dict(cluster.scheduler.workers)), *tasks, *nannies])


def ended(process: subprocess.Popen[bytes], seconds: float) -> str:
    """Wait until a command has ended, and return its messages; interrupt it after some time."""
    try:
        return process.communicate(timeout=seconds)[1].decode()
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        return "did not end\n" + process.communicate(timeout=30)[1].decode()
