"""A run of the shards of a plan on a cluster: which shard goes where, what is done, and what runs again."""

from __future__ import annotations

import contextlib
import queue
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ..core.stats import counted
from ..errors import WfacliError, text_of
from .scheduler import Scheduler, Worker
from .worker import new_run

_TICK, _LOOKS_EVERY = 0.5, 2.0  # seconds
_WAITS_FOR_WORKERS = 300.0  # seconds without any worker that can run shards
_MOST_LOST = 20  # workers that may be lost while they run the same shard
_GONE = "the scheduler is gone"
_USAGE = 2  # exit status of wfacli that no other attempt changes
_MOST_NAMED = 5  # workers in a message
# Errors of Dask that say nothing about a shard.
_LOSSES = ("KilledWorker", "CancelledError", "FutureCancelledError", "TimeoutError", "CommClosedError")
_ERROR, _WARNING = "wfacli: error: ", "wfacli: warning: "


@dataclass(frozen=True)
class Work:
    """What workers are given.

    Attributes:
        command: command line of a shard, without the program; {shard} stands for its number.
        folder: working directory of the run.
        token_file: file that every worker must find, with the content `token`.
        token: see token_file.
        inputs: input files, and their sizes in bytes.
        version: version of wfacli that every worker must have.
        on_gpus: whether workers with a GPU run shards on it.
        on_cpus: whether workers without a GPU run shards, too.
    """

    command: tuple[str, ...]
    folder: str
    token_file: str
    token: str
    inputs: tuple[tuple[str, int], ...]
    version: str
    on_gpus: bool
    on_cpus: bool


class Workers:
    """Workers of a cluster that can run shards; others are told about once.

    Attributes:
        usable: by address.
    """

    def __init__(self, scheduler: Scheduler, work: Work, warn: Callable[[str], None]) -> None:
        """Take a scheduler; `warn`: gets a line about each worker that cannot run shards, and if there is none."""
        self._scheduler, self._work, self._warn = scheduler, work, warn
        self.usable: dict[str, Worker] = {}
        self._useless: dict[str, str] = {}
        # Looks are taken by a thread: a worker that does not answer must not hold up the others.
        self._thread = ThreadPoolExecutor(1, "wfacli-look")
        self._look: Future[list[Worker]] | None = None

    def update(self) -> None:
        """Look at workers that have come, and forget those that have gone. Raises WfacliError: see _check_gpus()."""
        there = self._scheduler.addresses()
        self.usable = {address: worker for address, worker in self.usable.items() if address in there}
        new = [address for address in there if address not in self.usable and address not in self._useless]
        for worker in self._looked(new):
            if worker.problem:
                self._useless[worker.address] = f"{worker.name} {worker.problem}"
                self._warn(f"worker {worker.name} {worker.problem}: it gets no shards")
            elif worker.gpu or self._work.on_cpus:
                self.usable[worker.address] = worker
            else:
                self._useless[worker.address] = f"{worker.name} has no resource GPU=1 (dask worker --resources GPU=1)"
        self._check_gpus()

    def _looked(self, new: list[str]) -> list[Worker]:
        """Return what was found of new workers, or earlier ones; nothing if that takes longer."""
        if self._look is None and new:
            work = self._work
            what = (work.version, work.folder, work.token_file, work.token, list(work.inputs))
            self._look = self._thread.submit(self._scheduler.looked, new, *what)
        if self._look is None:
            return []
        try:
            found = self._look.result(_LOOKS_EVERY)
        except TimeoutError:
            return []
        self._look = None
        return found

    def close(self) -> None:
        """Wait for no worker any more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _check_gpus(self) -> None:
        """Raise WfacliError if two workers would use the same GPU."""
        seen: dict[tuple[str, str | None], Worker] = {}
        for worker in self.usable.values():
            if not (self._work.on_gpus and worker.gpu and worker.gpus):
                continue
            other = seen.setdefault((worker.host, worker.visible), worker)
            if other is not worker:
                raise WfacliError(
                    f"workers {other.name} and {worker.name} have the same GPUs: start each of them with one of its "
                    "own, as in CUDA_VISIBLE_DEVICES=0 dask worker … --nthreads 1 --resources GPU=1"
                )

    def kind(self, worker: Worker) -> bool:
        """Return True if a worker runs shards on its GPU."""
        return worker.gpu and self._work.on_gpus

    def slots_of(self, worker: Worker) -> int:
        """Return the number of shards that a worker runs at a time."""
        return 1 if self.kind(worker) else worker.threads

    def of_kind(self, gpu: bool) -> list[Worker]:
        """Return the workers that run shards on a GPU, or those that do not."""
        return [worker for worker in self.usable.values() if self.kind(worker) == gpu]

    def slots(self, gpu: bool | None = None) -> int:
        """Return the number of shards that run at a time; on GPUs, or on CPUs; None: both."""
        return sum(self.slots_of(w) for w in self.usable.values() if gpu is None or self.kind(w) == gpu)

    def slots_by_host(self) -> dict[str, int]:
        """Return the number of shards that run at a time on each machine."""
        found: Counter[str] = Counter()
        for worker in self.usable.values():
            found[worker.host] += self.slots_of(worker)
        return dict(found)

    def wait(self) -> None:
        """Wait until there is a worker. Raises WfacliError if there is none in five minutes, or all are useless."""
        until = time.monotonic() + _WAITS_FOR_WORKERS
        asked = None
        while True:
            self.update()
            if self.usable:
                return
            if self._useless:
                names = list(self._useless.values())
                more = f"; and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
                raise WfacliError(f"no worker can run shards: {'; '.join(names[:_MOST_NAMED])}{more}")
            if not self._scheduler.alive:
                raise WfacliError(_GONE)
            if time.monotonic() > until:
                raise WfacliError("the cluster has no workers: start some by dask worker SCHEDULER")
            if asked is None:
                asked = self._scheduler.ask_for_workers()
                self._warn("the cluster has no workers: waiting for some")
            time.sleep(_TICK)


@dataclass
class _Running:
    shard: int
    gpu: bool
    workers: frozenset[str]  # addresses of those that may run it
    future: Any


class ClusterRun:
    """Runs shards; run() once.

    Attributes:
        running: number of shards that the cluster has.
        done: number of shards that are done, of those given.
        seconds: time that their processes took.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        workers: Workers,
        work: Work,
        shards: Sequence[int],
        retries: int,
        warn: Callable[[str], None],
        completed: Callable[[int], None],
    ) -> None:
        """Take what is to be run.

        Args:
            scheduler: the cluster.
            workers: its workers.
            work: what they are given.
            shards: numbers of the shards.
            retries: number of times that a shard which failed runs again.
            warn: gets a line about each shard that runs again, and the warnings of shards.
            completed: gets the number of each shard that is done.
        """
        self._scheduler, self._workers, self._work = scheduler, workers, work
        self._pending, self._total, self._retries = deque(shards), len(shards), retries
        self._warn, self._completed = warn, completed
        self._run = new_run()
        self._running: dict[str, _Running] = {}  # by name of the task
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._failed: Counter[int] = Counter()
        self._failed_on: dict[int, set[str]] = defaultdict(set)  # machines
        self._lost: Counter[int] = Counter()
        self._submitted = self.done = 0
        self.seconds = 0.0
        self._told: set[str] = set()

    @property
    def running(self) -> int:
        """Number of shards that the cluster has."""
        return len(self._running)

    def run(self) -> None:
        """Run all shards.

        Raises:
            WfacliError: a shard has failed too often, or the cluster is gone. Nothing runs any more.
        """
        looked = time.monotonic()
        try:
            self._submit()
            while self.done < self._total:
                with contextlib.suppress(queue.Empty):
                    self._end(self._ended.get(timeout=_TICK))
                if not self._scheduler.alive:
                    raise WfacliError(_GONE)
                if time.monotonic() - looked > _LOOKS_EVERY:
                    self._workers.update()
                    self._take_back()
                    if not self._workers.usable:
                        self._workers.wait()
                    looked = time.monotonic()
                self._submit()
        except BaseException:
            self._stop()
            raise

    def _submit(self) -> None:
        """Give shards to the cluster, as many as it runs at a time; more where GPUs need not wait for the last."""
        for gpu in (True, False):
            workers = self._workers.of_kind(gpu)
            mixed = bool(self._workers.of_kind(not gpu))
            wanted = self._workers.slots(gpu) * (1 if mixed else 2)
            held = sum(running.gpu == gpu for running in self._running.values())
            while self._pending and workers and held < wanted:
                self._submit_one(self._pending.popleft(), gpu, workers)
                held += 1

    def _submit_one(self, shard: int, gpu: bool, workers: list[Worker]) -> None:
        others = [worker for worker in workers if worker.host not in self._failed_on[shard]]
        workers = others or workers
        self._submitted += 1
        name = f"wfacli-{self._run}-shard-{shard}-{self._submitted}"
        words = [word.replace("{shard}", str(shard)) for word in self._work.command]
        words += [] if gpu or not self._work.on_gpus else ["--engine", "cpu"]
        future = self._scheduler.submit(
            (self._run, words, self._work.folder, self._workers.slots_by_host()),
            name,
            [worker.address for worker in workers],
            gpu,
            lambda ended: self._ended.put(str(ended.key)),
        )
        self._running[name] = _Running(shard, gpu, frozenset(worker.address for worker in workers), future)

    def _take_back(self) -> None:
        """Take back the shards that only workers may run which are gone."""
        for name, running in list(self._running.items()):
            if running.workers.isdisjoint(self._workers.usable):
                del self._running[name]
                self._scheduler.cancel([running.future])
                self._pending.appendleft(running.shard)

    def _end(self, name: str) -> None:
        """Take the result of a shard. Raises WfacliError if it may not run again."""
        running = self._running.pop(name, None)
        if running is None:  # taken back
            return
        if running.future.status == "cancelled":
            return self._lose(running.shard, "the scheduler has dropped it")
        try:
            result = running.future.result(timeout=_LOOKS_EVERY)
        except Exception as error:  # of Dask: lost workers, timeouts, whatever a worker could not do
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            if type(error).__name__ in _LOSSES:
                return self._lose(running.shard, reason)
            return self._fail(running.shard, 1, [reason], "the cluster")
        running.future.release()
        said = [text_of(line) if isinstance(line, bytes) else line for line in result["said"]]
        for line in said:
            self._tell(line, result["host"])
        if result["status"] == 0:
            self.done += 1
            self.seconds += result["seconds"]
            return self._completed(running.shard)
        self._fail(running.shard, result["status"], said, result["host"])

    def _tell(self, line: str, host: str) -> None:
        message = line.removeprefix(_WARNING)
        if message != line and message not in self._told:
            self._told.add(message)
            self._warn(f"{host}: {message}")

    def _lose(self, shard: int, reason: str) -> None:
        self._lost[shard] += 1
        if self._lost[shard] > _MOST_LOST:
            raise WfacliError(f"shard {shard}: {counted(_MOST_LOST, 'worker')} were lost while they ran it ({reason})")
        self._warn(f"shard {shard} runs again, since its worker was lost ({reason})")
        self._pending.appendleft(shard)

    def _fail(self, shard: int, status: int, said: list[str], host: str) -> None:
        self._failed[shard] += 1
        self._failed_on[shard].add(host)
        errors = [line.removeprefix(_ERROR) for line in said if line.startswith(_ERROR)] or said[-1:]
        reason = errors[-1] if errors else f"exit status {status}" if status > 0 else f"signal {-status}"
        if self._failed[shard] > self._retries or status == _USAGE:
            raise WfacliError(f"shard {shard} failed on {host}: {reason}")
        self._warn(f"shard {shard} failed on {host}, and runs again: {reason}")
        self._pending.append(shard)

    def _stop(self) -> None:
        """End everything that runs."""
        futures = [running.future for running in self._running.values()]
        self._scheduler.cancel(futures)
        addresses = {address for running in self._running.values() for address in running.workers}
        self._scheduler.stop(self._run, sorted(addresses))
        self._running.clear()
