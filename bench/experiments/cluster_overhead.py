"""What a Dask cluster costs over 64 shards, beside the same shards run one after another by commands of their own.

    python -m bench.experiments.cluster_overhead [--pairs 32000] [--shards 64] [--repeats 2]

The cluster is a LocalCluster of one worker with one thread, so that shards run one after another there, too. Both
align the same pairs of 10 kb with one thread, and both times include planning and merging. Processor seconds are those
of all processes: of the cluster, of the worker, the client and the shards. The wait is the part of the run on the
cluster in which its worker ran no shard, from the first shard to the last.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.harness import saving, table
from bench.harness.pairs import simulated

_LENGTH, _ERROR = 10_000, 0.15
_SAID = re.compile(r"shards took (.*) on workers, within (.*)")
_UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0}


def seconds_of(text: str) -> float:
    """Return the seconds of a text like "1 min 5 s"."""
    words = text.split()
    return sum(float(number) * _UNITS[unit] for number, unit in zip(words[::2], words[1::2], strict=True))


def command(*words: str, folder: Path) -> str:
    """Run wfacli, and return its messages."""
    program = [str(Path(sys.executable).with_name("wfacli")), *words]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True)
    return done.stderr


def own_cpu() -> float:
    """Return the processor seconds of children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid: int) -> float:
    """Return the processor seconds of a process and of its children that have ended."""
    import psutil

    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def on_cluster(cluster: Any, files: list[str], shards: int, folder: Path) -> dict[str, float]:
    """Run on the cluster; return seconds, processor seconds, and those of shards and of the run of all of them."""
    (nanny,) = cluster.workers.values()
    before, clock, begun = own_cpu() + cpu_of(nanny.pid), time.process_time(), time.perf_counter()
    address = cluster.scheduler_address.replace("tcp://", "dask://")
    said = command("align", *files, "--on", address, "-t", "1", "-o", "on.paf", "--shards", str(shards), folder=folder)
    wall = time.perf_counter() - begun
    cpu = own_cpu() + cpu_of(nanny.pid) - before + time.process_time() - clock  # the scheduler is in this process
    found = _SAID.search(said)
    assert found, said
    busy, within = map(seconds_of, found.groups())
    return {"seconds": wall, "cpu_seconds": cpu, "shards": busy, "shards_within": within}


def one_by_one(files: list[str], shards: int, folder: Path) -> dict[str, float]:
    """Plan, run the shards one after another, and merge; return seconds and processor seconds."""
    before, begun = own_cpu(), time.perf_counter()
    command("plan", *files, "-t", "1", "--to", "one.paf", "--shards", str(shards), "-o", "run.plan", folder=folder)
    for shard in range(1, shards + 1):
        command("align", "--plan", "run.plan", "--shard", f"{shard}/{shards}", "-t", "1", folder=folder)
    command("merge", "run.plan", "-t", "1", folder=folder)
    return {"seconds": time.perf_counter() - begun, "cpu_seconds": own_cpu() - before}


def main() -> None:
    """Run the command."""
    parser = table.options(__doc__)
    parser.add_argument("--pairs", type=int, default=32_000)
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    from distributed import LocalCluster

    runs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = list(map(str, simulated(folder, asked.pairs, _LENGTH, _ERROR)))
        one = {"n_workers": 1, "threads_per_worker": 1, "processes": True}
        with LocalCluster(**one, dashboard_address=":0", silence_logs=50) as cluster:
            for _ in range(asked.repeats):
                cluster_run, alone = (
                    on_cluster(cluster, files, asked.shards, folder),
                    one_by_one(files, asked.shards, folder),
                )
                assert (folder / "on.paf").read_bytes() == (folder / "one.paf").read_bytes()
                run = {
                    "cluster": cluster_run,
                    "one_by_one": alone,
                    "cpu_ratio": cluster_run["cpu_seconds"] / alone["cpu_seconds"],
                    "wait": 1 - cluster_run["shards"] / cluster_run["shards_within"],
                }
                print(run, flush=True)
                runs.append(run)
    meaning = {
        "seconds": "the whole command, or all commands: planning, shards, merging",
        "cpu_seconds": "processor seconds of all processes in that time",
        "wait": "share of the run of the shards in which the worker ran none",
    }
    shape = {"pairs": asked.pairs, "bases": _LENGTH, "error": _ERROR, "shards": asked.shards}
    print(saving.save("cluster-overhead", meaning, {"shape": shape, "runs": runs}))


if __name__ == "__main__":
    main()
