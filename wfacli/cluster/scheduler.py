"""The scheduler of a Dask cluster: its workers, and the shards that they run."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError, WfacliError, install
from .worker import look, stop

_CONNECTS_WITHIN, _STOPS_WITHIN = 10, 5  # seconds
_PROTOCOLS = {"dask": "tcp", "dask+tls": "tls", "tcp": "tcp", "tls": "tls"}
_LOST_WORKERS = 1000  # of which a task may be the victim before Dask takes it for their cause; its default is 3
_GPU = "GPU"  # Dask's resource that a shard on a GPU takes one of


@dataclass(frozen=True)
class Worker:
    """A worker of the cluster.

    Attributes:
        address: its address.
        name: its name and machine, for messages.
        host: name of its machine.
        threads: number of tasks that it runs at a time.
        gpu: True if it has a GPU as a resource.
        gpus: number of GPUs of its machine.
        visible: its CUDA_VISIBLE_DEVICES, or None.
        problem: why it cannot run shards, or "".
    """

    address: str
    name: str
    host: str
    threads: int
    gpu: bool
    gpus: int
    visible: str | None
    problem: str


def dask_address(on: str) -> dict[str, str]:
    """Return the arguments of Dask's client for the value of --on.

    That is dask://HOST:PORT, dask+tls://HOST:PORT, or dask:///FILE with a scheduler's file.

    Raises:
        UsageError: it is none of these.
    """
    protocol, found, place = on.partition("://")
    if not found or protocol not in _PROTOCOLS or not place:
        raise UsageError(
            f"--on {on}: the address of a scheduler is dask://HOST:PORT (dask+tls:// with Dask's certificates), or "
            "dask:///PATH/scheduler.json for the file of dask scheduler --scheduler-file"
        )
    if place.startswith("/"):
        return {"scheduler_file": place}
    host, colon, port = place.rpartition(":")
    if not (colon and host and port.isdecimal()):
        raise UsageError(
            f"--on {on}: the port is missing: dask://HOST:8786 is where dask scheduler listens by default"
        )
    return {"address": f"{_PROTOCOLS[protocol]}://{place}"}


class Scheduler:
    """A connection to a scheduler; close() it.

    Attributes:
        dashboard: address of its dashboard, or "".
        innocent: True if the scheduler does not blame shards for workers that are lost while they run.
    """

    def __init__(self, on: str, debug: bool = False) -> None:
        """Connect.

        Args:
            on: see dask_address().
            debug: True to leave Dask's own messages on.

        Raises:
            UsageError: the address is malformed.
            WfacliError: Dask is missing, or no scheduler answers.
        """
        target = dask_address(on)
        try:
            from distributed import Client
        except ModuleNotFoundError:
            raise WfacliError(f"--on dask:// needs Dask: {install('dask')}") from None
        if not debug:
            for name in ("distributed", "tornado", "asyncio"):
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            connect: Any = Client
            self._client = connect(**target, timeout=_CONNECTS_WITHIN, set_as_default=False, name="wfacli")
        except (OSError, ValueError, TypeError) as error:
            raise WfacliError(
                f"{on}: no scheduler answers ({str(error).splitlines()[0]}): start one by dask scheduler"
            ) from None
        self._on = on
        self.dashboard = self._dashboard()
        self.innocent = self._raise_allowed_failures()

    def _dashboard(self) -> str:
        with contextlib.suppress(Exception):  # it is a convenience
            if "dashboard" in self._client.scheduler_info().get("services", {}):
                return str(self._client.dashboard_link)
        return ""

    def _raise_allowed_failures(self) -> bool:
        # A local function travels by value: see _by_value().
        def raised(dask_scheduler: Any = None, least: int = _LOST_WORKERS) -> int:
            dask_scheduler.allowed_failures = max(dask_scheduler.allowed_failures, least)
            return int(dask_scheduler.allowed_failures)

        with contextlib.suppress(Exception):  # such calls may be forbidden, or Python's versions differ
            return bool(self._client.run_on_scheduler(raised) >= _LOST_WORKERS)
        return False

    @property
    def alive(self) -> bool:
        """True if the scheduler answers."""
        return bool(self._client.status == "running")

    def addresses(self) -> dict[str, dict[str, Any]]:
        """Return what Dask knows of the workers, by their addresses."""
        try:
            found = self._client.scheduler_info(n_workers=-1)
        except TypeError:  # before 2025
            found = self._client.scheduler_info()
        return {str(address): dict(about) for address, about in found.get("workers", {}).items()}

    def ask_for_workers(self) -> Any:
        """Submit a task that does nothing, so that a cluster that adapts starts a worker; return its future."""
        return self._client.submit(int, pure=False)

    def looked(self, addresses: Iterable[str], version: str, *what: Any) -> list[Worker]:
        """Return workers, after a look at each; `what`: arguments of worker.look()."""
        known = self.addresses()
        asked = [address for address in addresses if address in known]
        if not asked:
            return []
        answers = self._client.run(look, *what, workers=asked, on_error="return")
        return [_worker(address, known[address], answers.get(address), version) for address in asked]

    def submit(
        self,
        arguments: tuple[Any, ...],
        name: str,
        workers: list[str],
        gpu: bool,
        ended: Callable[[Any], None],
    ) -> Any:
        """Submit a shard, and return its future.

        Args:
            arguments: of worker.run_shard().
            name: of the task, which no other task has had.
            workers: addresses of those that may run it.
            gpu: True if it takes a GPU.
            ended: called with the future by another thread when it has ended.
        """
        future = self._client.submit(
            _by_value(),
            *arguments,
            key=name,
            workers=workers,
            resources={_GPU: 1} if gpu else None,
            pure=False,
        )
        future.add_done_callback(ended)
        return future

    def cancel(self, futures: list[Any]) -> None:
        """Cancel futures."""
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._client.cancel(futures, force=True)

    def stop(self, run: str, workers: list[str]) -> None:
        """End the running shards of a run."""
        known = self.addresses()
        here = [address for address in workers if address in known]
        if here:
            # By a thread, since a worker may not answer.
            asked = threading.Thread(target=self._stop, args=(run, here), daemon=True)
            asked.start()
            asked.join(_STOPS_WITHIN)

    def _stop(self, run: str, here: list[str]) -> None:
        with contextlib.suppress(Exception):  # workers may be gone
            self._client.run(stop, run, workers=here, on_error="ignore")

    def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(Exception):
            self._client.close(timeout=_STOPS_WITHIN)


def _by_value() -> Callable[..., dict[str, Any]]:
    """Return run_shard() as a function that travels by value: the scheduler need not have wfacli installed."""

    def shard(*arguments: Any) -> Any:
        from wfacli.cluster.worker import run_shard

        return run_shard(*arguments)

    return shard


def _worker(address: str, about: dict[str, Any], answer: Any, version: str) -> Worker:
    gpus = int(about.get("resources", {}).get(_GPU, 0))
    name = str(about.get("name", address))
    name = address if name == address else f"{name} ({address})"
    if isinstance(answer, dict):
        other = answer["version"] != version
        problem = f"has wfacli {answer['version']}, and this is {version}" if other else answer["problem"]
    elif "ModuleNotFoundError" in repr(answer) and "wfacli" in repr(answer):
        problem = f"has no wfacli, or one that is older than {version}"
    else:
        problem = f"does not answer ({answer})"
    found = answer if isinstance(answer, dict) else {}
    if gpus > 1 and not problem:
        problem = f"has {gpus} GPUs as resource, and one process uses one: start one worker for each, with GPU=1"
    return Worker(
        address=address,
        name=name,
        host=found.get("host", ""),
        threads=int(about.get("nthreads", 1)),
        gpu=gpus > 0,
        gpus=found.get("gpus", 0),
        visible=found.get("visible"),
        problem=problem,
    )
