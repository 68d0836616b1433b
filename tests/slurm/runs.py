"""Runs in shards on a node of SLURM: what is run, how it is disturbed, and what must come out."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.cli.support import command
from tests.mapped.world import random_world

from .node import Node

WORKFLOWS = Path(__file__).parents[2] / "workflows"
SHARDS = 8
_VICTIM, _DAMAGED = 5, 3  # the shard that is killed, and the one whose part is damaged
_PATIENCE = 300  # seconds for a whole run


class Failed(Exception):
    """A run has not done what it must."""


@dataclass(frozen=True)
class Run:
    """A run.

    Attributes:
        output: name of its output.
        arguments: of wfacli align, without the output.
        inputs: its input files.
        fault: what happens to a shard: "" nothing, "killed", "requeued".
    """

    output: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    fault: str = ""


_PAIRS = ("pairs.query.fa", "pairs.target.fa")
_MAPPED = ("reads.fq", "ref.fa", "map.paf")
RUNS = (
    Run("pairs.paf", (*_PAIRS, "--cs"), _PAIRS, "killed"),
    Run("pairs.sam", _PAIRS, _PAIRS, "requeued"),
    Run("pairs.bam", (*_PAIRS, "--sort", "--write-index"), _PAIRS, "killed"),
    Run("reads.bam", (*_MAPPED[:2], "--mappings", _MAPPED[2], "--sort"), _MAPPED),
)


def write_inputs(folder: Path) -> dict[str, str]:
    """Write the inputs of all runs, and return the MD5 of each output of one machine, by name."""
    wfacli = command()
    pairs = ("--pairs", "12000", "--length", "2k-8k", "--error", "0.1", "-q")
    subprocess.run([*wfacli, "simulate", *pairs, "-o", "pairs.fa"], cwd=folder, check=True)
    random_world(random.Random(1).randrange(1000), 3000).write(folder)
    sums = {}
    for run in RUNS:
        # Without -q, which @PG would have.
        line = [*wfacli, "align", *run.arguments, "-o", run.output]
        subprocess.run(line, cwd=folder, check=True, stderr=subprocess.DEVNULL)
        for path in _written(folder, run):
            sums[path.name] = hashlib.md5(path.read_bytes()).hexdigest()
            path.unlink()
    return sums


def _written(folder: Path, run: Run) -> list[Path]:
    return [path for path in (folder / run.output, folder / f"{run.output}.bai") if path.exists()]


def compare(folder: Path, run: Run, sums: dict[str, str]) -> None:
    """Compare the output of a run with the sums of one machine's, and remove it. Raises Failed."""
    wanted = [name for name in sums if name in (run.output, f"{run.output}.bai")]
    for name in wanted:
        path = folder / name
        found = hashlib.md5(path.read_bytes()).hexdigest() if path.exists() else "no file"
        print(f"  {name}: md5 {found}, on one machine {sums[name]}", flush=True)
        if found != sums[name]:
            raise Failed(f"{name} is not that of one machine")
        path.unlink()


class Submission:
    """Runs by workflows/slurm/submit.sh."""

    def __init__(self, node: Node, folder: Path, environment: dict[str, str]) -> None:
        """Take a node, the folder of the inputs, and the environment of commands."""
        self._node, self._folder, self._environment = node, folder, environment

    def execute(self, run: Run, sums: dict[str, str]) -> None:
        """Execute a run with its fault, then with a damaged part, and compare the output. Raises Failed."""
        merge = self._submit(str(SHARDS), run.output, "align", *run.arguments)
        if run.fault:
            pid = in_mid_shard(self._folder, run)
            if run.fault == "killed":
                os.kill(pid, signal.SIGKILL)
                print(f"  shard {_VICTIM}: process {pid} killed by SIGKILL in mid-shard", flush=True)
            else:
                task = f"{self._job_named('wfacli-shard')}_{_VICTIM}"
                done = self._node.command("scontrol", "requeue", task)
                print(f"  shard {_VICTIM}: scontrol requeue {task} in mid-shard: {done.returncode}", flush=True)
        state = self._ended(merge)
        print(f"  the merge is {state}", flush=True)
        if run.fault == "killed":
            if state == "COMPLETED" or _written(self._folder, run):
                raise Failed("a merge without a shard")
            state = self._ended(self._submit("--again", run.output))
            print(f"  submit.sh --again: the merge is {state}", flush=True)
        compare(self._folder, run, sums)
        self._damage(run)
        compare(self._folder, run, sums)

    def _damage(self, run: Run) -> None:
        """Damage a part, which the merge must find and name, and run its shard again."""
        path = part(self._folder, run, _DAMAGED)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        merge = self._submit("--again", run.output)
        state, said = self._ended(merge), (self._folder / f"slurm-{merge}.out").read_text().strip()
        print(f"  one bit of a part is changed: the merge is {state}: {said}", flush=True)
        if state != "FAILED" or f"damaged: {path.relative_to(self._folder)}" not in said:
            raise Failed("a damaged part was merged, or not named")
        state = self._ended(self._submit("--again", run.output, str(_DAMAGED)))
        print(f"  submit.sh --again {run.output} {_DAMAGED}: the merge is {state}", flush=True)

    def _submit(self, *words: str) -> str:
        """Submit, and return the number of the merge's job. Raises Failed."""
        script = WORKFLOWS / "slurm/submit.sh"
        done = subprocess.run(
            ["bash", str(script), *words], cwd=self._folder, env=self._environment, text=True, capture_output=True
        )
        print(f"  submit.sh {' '.join(words)}: job {done.stdout.strip()} merges", flush=True)
        if done.returncode:
            raise Failed(done.stderr)
        return done.stdout.split(";")[0].strip()

    def _job_named(self, name: str) -> str:
        """Return the number of the newest array of this name that is not over."""
        return self._node.command("squeue", "-h", "-n", name, "-o", "%F").stdout.split()[-1]

    def _ended(self, job: str) -> str:
        """Wait until a job is over, and return its state. Raises Failed."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            words = self._node.command("scontrol", "-o", "show", "job", job).stdout.split()
            state = next((word.partition("=")[2] for word in words if word.startswith("JobState=")), "")
            if state not in ("", "PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED"):
                return state
            time.sleep(0.3)
        raise Failed(f"job {job} is not over after {_PATIENCE} s:\n{self._node.command('squeue').stdout}")


class Snakemake:
    """Runs by workflows/snakemake, whose steps are jobs of SLURM."""

    def __init__(self, program: Path, folder: Path, environment: dict[str, str]) -> None:
        """Take the program, the folder of the inputs, and the environment of commands."""
        self._program, self._folder, self._environment = program, folder, environment

    def execute(self, run: Run, sums: dict[str, str]) -> None:
        """Execute a run, perhaps with a shard that is killed and retried, and compare the output. Raises Failed."""
        settings = {"arguments": " ".join(run.arguments), "inputs": run.inputs, "output": run.output}
        settings |= {"shards": SHARDS, "threads": 1, "plan": f"{run.output}.plan"}
        (self._folder / "run.json").write_text(json.dumps(settings))
        snakefile = str(WORKFLOWS / "snakemake/Snakefile")
        words = [str(self._program), "--snakefile", snakefile, "--configfile", "run.json"]
        words += ["--executor", "slurm", "--slurm-status-command", "squeue", "--jobs", "4", "--retries", "2"]
        words += ["--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "10"]
        words += ["--default-resources", "slurm_partition=short", "runtime=10", "mem_mb=0"]
        log = self._folder / f"{run.output}.snakemake.log"
        print(f"  {' '.join(['snakemake', *words[3:]])}", flush=True)
        with log.open("w") as file:
            process = subprocess.Popen(
                words, cwd=self._folder, env=self._environment, stdout=file, stderr=subprocess.STDOUT, text=True
            )
        try:
            if run.fault:
                pid = in_mid_shard(self._folder, run, process)
                os.kill(pid, signal.SIGKILL)
                print(f"  shard {_VICTIM}: process {pid} killed by SIGKILL in mid-shard", flush=True)
            status = process.wait(_PATIENCE)
        finally:
            process.terminate()
            process.wait()
        said = log.read_text()
        if status or (run.fault and "Trying to restart job" not in said):
            raise Failed(f"snakemake ended with {status}:\n{said[-6000:]}")
        lines = [line for line in said.splitlines() if "Trying to restart" in line or "steps (100%)" in line]
        print("\n".join(f"  snakemake: {line.strip()}" for line in lines), flush=True)
        compare(self._folder, run, sums)


def part(folder: Path, run: Run, shard: int) -> Path:
    """Return the path of the part of a shard."""
    return folder / f"{run.output}.plan.parts" / f"{shard}-of-{SHARDS}.part"


def in_mid_shard(folder: Path, run: Run, engine: subprocess.Popen[str] | None = None) -> int:
    """Wait until the shard that is to be killed has begun its part, and return its process.

    Raises:
        Failed: the shard is over, or has not begun, or `engine`, which starts it, has ended.
    """
    begun = part(folder, run, _VICTIM)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if begun.exists():
            raise Failed(f"shard {_VICTIM} was too fast to be killed")
        if list(begun.parent.glob(f"{begun.name}.partial-*")) and (pid := _process(folder, run)):
            return pid
        if engine and engine.poll() is not None:
            break
        time.sleep(0.002)
    log = folder / f"{run.output}.snakemake.log"
    raise Failed(f"shard {_VICTIM} has not begun:\n{log.read_text() if log.exists() else ''}")


def _process(folder: Path, run: Run) -> int | None:
    """Return the process that executes the shard to be killed."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            wanted = (b"--plan", f"{run.output}.plan".encode(), b"--shard", f"{_VICTIM}/{SHARDS}".encode())
            here = (path.parent / "cwd").readlink() == folder
            if here and all(word in words for word in wanted) and b"python" in words[0]:
                return int(path.parent.name)
    return None
