"""Which worker gets which shard, and which shards run again: with a scheduler that is a fake."""

from __future__ import annotations

import random
import threading
from types import SimpleNamespace

import pytest

from wfacli.cluster import run as cluster_run
from wfacli.cluster.run import ClusterRun, Work, Workers
from wfacli.cluster.scheduler import Worker, dask_address
from wfacli.errors import UsageError, WfacliError
from wfacli.shards.shard_count import default_shards

DONE = {"status": 0, "seconds": 1.0, "said": [], "host": "h"}


class KilledWorker(Exception):
    pass


class FakeFuture:
    def __init__(self, key, outcome):
        self.key, self._outcome = key, outcome
        self.status = "cancelled" if outcome is None else "finished"

    def result(self, timeout):
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def release(self):
        pass


class FakeScheduler:
    """Runs a shard at once, or when it is told to; outcomes(shard) gives results, exceptions, or None: cancelled."""

    alive = True

    def __init__(self, workers, outcomes=lambda _: DONE, hold=False):
        self.workers, self._outcomes, self._hold = {w.address: w for w in workers}, outcomes, hold
        self.submitted: list[tuple[int, list[str], bool, list[str]]] = []  # shard, workers, gpu, words
        self.held: list = []
        self.stopped: list[str] = []
        self.cancelled = 0

    def addresses(self):
        return {address: {} for address in self.workers}

    def looked(self, addresses, version, *what):
        return [self.workers[address] for address in addresses]

    def submit(self, arguments, name, workers, gpu, ended):
        _, words, _, _ = arguments
        shard = int(words[words.index("--shard") + 1])
        self.submitted.append((shard, workers, gpu, words))
        future = FakeFuture(name, self._outcomes(shard))
        if self._hold:
            self.held.append((ended, future))
        else:
            ended(future)
        return future

    def cancel(self, futures):
        self.cancelled += len(futures)

    def stop(self, run, workers):
        self.stopped += workers


def worker(address, gpu=False, threads=1, problem="", **more):
    about = {"host": "h", "gpus": 0, "visible": None, **more}
    return Worker(address=address, name=address, threads=threads, gpu=gpu, problem=problem, **about)


WORK = Work(
    command=("align", "--plan", "p", "--shard", "{shard}"),
    folder="/",
    token_file="t",
    token="x",
    inputs=(),
    version="1",
    on_gpus=True,
    on_cpus=True,
)


def made(scheduler, shards=range(1, 9), retries=2, **changed):
    said: list[str] = []
    done: list[int] = []
    work = Work(**{**vars(WORK), **changed})
    workers = Workers(scheduler, work, said.append)
    workers.update()
    return ClusterRun(scheduler, workers, work, list(shards), retries, said.append, done.append), said, done


def test_every_shard_runs_once():
    scheduler = FakeScheduler([worker("a", threads=3), worker("b")])
    run, said, done = made(scheduler, range(1, 100))
    run.run()
    assert sorted(done) == list(range(1, 100))
    assert sorted(shard for shard, *_ in scheduler.submitted) == list(range(1, 100))
    assert not said
    assert run.running == 0
    assert run.seconds == 99.0


def test_a_cluster_gets_twice_as_many_shards_as_it_runs_at_a_time():
    scheduler = FakeScheduler([worker("a", threads=3), worker("b")], hold=True)
    run, _, _ = made(scheduler, range(1, 100))
    run._submit()
    assert run.running == 8
    assert all(workers == ["a", "b"] and not gpu for _, workers, gpu, _ in scheduler.submitted)
    assert all(words[-2:] == ["--engine", "cpu"] for *_, words in scheduler.submitted), "no worker has a GPU"


@pytest.mark.parametrize("engine", ["auto", "cpu", "gpu"])
def test_workers_with_and_without_a_gpu(engine):
    """A GPU gets one shard at a time and Dask's resource; with engine cpu, or gpu, there is one kind of shards."""
    scheduler = FakeScheduler([worker("g", gpu=True, threads=8), worker("c", threads=3)], hold=True)
    run, _, _ = made(scheduler, range(1, 100), on_gpus=engine != "cpu", on_cpus=engine != "gpu")
    run._submit()
    on_gpu = [workers for _, workers, gpu, _ in scheduler.submitted if gpu]
    on_cpu = [(workers, words[-2:]) for _, workers, gpu, words in scheduler.submitted if not gpu]
    if engine == "auto":
        assert on_gpu == [["g"]]
        assert on_cpu == 3 * [(["c"], ["--engine", "cpu"])]
    elif engine == "gpu":
        assert on_gpu == 2 * [["g"]]
        assert not on_cpu
    else:
        assert not on_gpu
        assert [workers for workers, _ in on_cpu] == 22 * [["g", "c"]]
        assert all(words[0] == "--shard" for _, words in on_cpu), "the plan has the engine"


def test_two_workers_with_the_same_gpus_are_refused():
    same = [worker(name, gpu=True, gpus=2, visible="0") for name in "ab"]
    with pytest.raises(WfacliError, match=r"workers a and b have the same GPUs.*CUDA_VISIBLE_DEVICES=0 dask worker"):
        made(FakeScheduler(same))
    made(FakeScheduler([same[0], worker("b", gpu=True, gpus=2, visible="1")]))
    made(FakeScheduler([same[0], worker("b", gpu=True, gpus=2, visible="0", host="other")]))


def test_only_workers_without_the_resource():
    scheduler = FakeScheduler([worker("a")])
    run, _, _ = made(scheduler, on_cpus=False)
    with pytest.raises(WfacliError, match="no worker can run shards: a has no resource GPU=1"):
        run._workers.wait()


def test_failed_shards_run_again_and_others_go_on():
    rng = random.Random(1)
    left = {3: 2, 5: 1}

    def outcome(shard):
        if left.get(shard, 0):
            left[shard] -= 1
            return {
                "status": 1,
                "seconds": 1.0,
                "said": ["noise", "wfacli: error: disk full"],
                "host": f"node{rng.randrange(3)}",
            }
        return DONE

    run, said, done = made(FakeScheduler([worker("a")], outcome))
    run.run()
    assert sorted(done) == list(range(1, 9))
    assert len(said) == 3
    assert all("failed on node" in line and line.endswith("and runs again: disk full") for line in said)


def test_a_shard_that_failed_runs_on_another_machine():
    outcomes = iter([{**DONE, "status": 1, "host": "h"}, DONE])
    scheduler = FakeScheduler([worker("a"), worker("b", host="other")], lambda _: next(outcomes))
    run, _, _ = made(scheduler, [1])
    run.run()
    assert [workers for _, workers, _, _ in scheduler.submitted] == [["a", "b"], ["b"]]


def test_a_worker_that_does_not_answer_holds_up_no_other(monkeypatch):
    monkeypatch.setattr(cluster_run, "_LOOKS_EVERY", 0.01)
    scheduler = FakeScheduler([worker("a")])
    run, _, done = made(scheduler)
    answers = threading.Event()
    scheduler.workers["b"] = worker("b")
    looked = scheduler.looked
    scheduler.looked = lambda *what: (answers.wait(), looked(*what))[1]
    run.run()
    assert sorted(done) == list(range(1, 9))
    run._workers.update()
    assert set(run._workers.usable) == {"a"}
    answers.set()
    run._workers._look.result(10)
    run._workers.update()
    assert set(run._workers.usable) == {"a", "b"}
    run._workers.close()


def test_a_shard_that_fails_too_often_ends_the_run():
    def outcome(shard):
        return {"status": -9 if shard == 4 else 0, "seconds": 1.0, "said": [], "host": "node1"}

    scheduler = FakeScheduler([worker("a"), worker("b")], outcome)
    run, said, _ = made(scheduler, retries=1)
    with pytest.raises(WfacliError, match="shard 4 failed on node1: signal 9"):
        run.run()
    assert len(said) == 1
    assert run.running == 0


def test_what_a_worker_cannot_do_is_a_failure():
    run, said, _ = made(FakeScheduler([worker("a")], lambda _: ModuleNotFoundError("no module x\nmore")), [1], 1)
    with pytest.raises(WfacliError, match=r"shard 1 failed on the cluster: no module x$"):
        run.run()
    assert said == ["shard 1 failed on the cluster, and runs again: no module x"]


def test_a_usage_error_of_a_shard_is_not_repeated():
    outcome = {"status": 2, "seconds": 1.0, "said": ["wfacli: error: bad option"], "host": "n"}
    run, said, _ = made(FakeScheduler([worker("a")], lambda _: outcome), [1], retries=5)
    with pytest.raises(WfacliError, match="shard 1 failed on n: bad option"):
        run.run()
    assert not said


def test_shards_of_lost_workers_run_again_without_being_blamed():
    left = {2: 7, 3: 1}

    def outcome(shard):
        if left.get(shard, 0):
            left[shard] -= 1
            return KilledWorker("tried 3 times") if shard == 2 else None
        return {"status": 0, "seconds": 1.0, "said": ["wfacli: warning: slow", "wfacli: 3 pairs"], "host": "h"}

    run, said, done = made(FakeScheduler([worker("a")], outcome), retries=0)
    run.run()
    assert sorted(done) == list(range(1, 9))
    assert sum("shard 2 runs again, since its worker was lost (tried 3 times)" in line for line in said) == 7
    assert sum("shard 3 runs again, since its worker was lost (the scheduler has" in line for line in said) == 1
    assert said.count("h: slow") == 1, "the same warning of many shards once"


def test_a_shard_that_loses_each_worker_ends_the_run(monkeypatch):
    monkeypatch.setattr(cluster_run, "_MOST_LOST", 4)
    run, _, _ = made(FakeScheduler([worker("a")], lambda _: None), [1])
    with pytest.raises(WfacliError, match="shard 1: 4 workers were lost while they ran it"):
        run.run()


def test_shards_whose_workers_are_all_gone_are_taken_back():
    scheduler = FakeScheduler([worker("a", threads=2)], hold=True)
    run, _, done = made(scheduler, range(1, 4))
    run._submit()
    assert run.running == 3
    scheduler.workers = {"b": worker("b", threads=2)}
    run._workers.update()
    run._take_back()
    assert (run.running, scheduler.cancelled) == (0, 3)
    scheduler._hold = False
    run.run()
    assert sorted(done) == [1, 2, 3]
    assert scheduler.submitted[-1][1] == ["b"]


def test_the_end_of_a_run_stops_what_runs(monkeypatch):
    scheduler = FakeScheduler([worker("a", threads=2), worker("b")], hold=True)
    run, _, _ = made(scheduler)
    scheduler.alive = False
    monkeypatch.setattr(cluster_run, "_TICK", 0.01)
    with pytest.raises(WfacliError, match="the scheduler is gone"):
        run.run()
    assert scheduler.cancelled == 6
    assert scheduler.stopped == ["a", "b"]
    assert run.running == 0


def test_useless_workers_are_told_once():
    scheduler = FakeScheduler([worker("a"), worker("b", problem="has wfacli 0.0")])
    run, said, done = made(scheduler)
    run._workers.update()
    run.run()
    assert said == ["worker b has wfacli 0.0: it gets no shards"]
    assert {tuple(workers) for _, workers, _, _ in scheduler.submitted} == {("a",)}
    assert len(done) == 8


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(cluster_run, "_WAITS_FOR_WORKERS", 0.05)
    monkeypatch.setattr(cluster_run, "_TICK", 0.01)
    scheduler = FakeScheduler([])
    scheduler.ask_for_workers = lambda: SimpleNamespace()
    said: list[str] = []
    with pytest.raises(WfacliError, match="the cluster has no workers: start some by dask worker"):
        Workers(scheduler, WORK, said.append).wait()
    assert said == ["the cluster has no workers: waiting for some"]
    scheduler.alive = False
    with pytest.raises(WfacliError, match="the scheduler is gone"):
        Workers(scheduler, WORK, said.append).wait()


def test_slots_of_machines():
    workers = [worker("a", threads=4), worker("g", gpu=True, threads=4), worker("b", threads=2, host="i")]
    run, _, _ = made(FakeScheduler(workers))
    assert run._workers.slots_by_host() == {"h": 5, "i": 2}
    assert (run._workers.slots(), run._workers.slots(True), run._workers.slots(False)) == (7, 1, 6)


@pytest.mark.parametrize(
    ("on", "arguments"),
    [
        ("dask://host:8786", {"address": "tcp://host:8786"}),
        ("dask+tls://host:8786", {"address": "tls://host:8786"}),
        ("tcp://[::1]:80", {"address": "tcp://[::1]:80"}),
        ("dask:///shared/scheduler.json", {"scheduler_file": "/shared/scheduler.json"}),
    ],
)
def test_addresses(on, arguments):
    assert dask_address(on) == arguments


@pytest.mark.parametrize("on", ["", "host:8786", "dask://", "dask://host", "dask://:1", "ray://host:1", "dask://h:x"])
def test_malformed_addresses(on):
    with pytest.raises(UsageError, match="--on"):
        dask_address(on)


def test_number_of_shards():
    mb = 1 << 20
    assert default_shards(8, 1000 * mb) == 32
    assert default_shards(8, 40 * mb) == 5, "of 8 MB at least"
    assert default_shards(8, 0) == 1
    assert default_shards(1, 100 * 1024 * mb) == 25, "of 4 GB at most"
    assert default_shards(8, 1000 * mb, reference=300 * mb) == 4, "each indexes the reference"
