"""Run the workflows on a SLURM of one node, and compare their outputs with one machine's.

    python -m tests.slurm [--snakemake PROGRAM] [--cpus 4]

Each run of tests.slurm.runs is submitted by workflows/slurm/submit.sh: one shard is killed or requeued while it runs,
and one part is damaged. Then Snakemake's SLURM executor executes it, and one shard is killed. SLURM and MUNGE must be
installed (apt-get install slurm-wlm munge). They are started for this alone, with files in a temporary folder; nothing
runs afterwards, also if this process is killed. Exit status 0: all outputs are the same; 1: one is not; 2: SLURM or
Snakemake is missing, or does not start.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.workflows.support import path_with_command

from .node import Unavailable, left_behind, running
from .runs import RUNS, Failed, Snakemake, Submission, write_inputs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--snakemake", type=Path, help="program with the SLURM executor; without it that part is left out"
    )
    parser.add_argument("--cpus", type=int, default=4, help="CPUs that the node claims to have")
    options = parser.parse_args()
    if options.snakemake and not shutil.which(options.snakemake):
        print(f"error: {options.snakemake} is missing: pip install -r tests/slurm/requirements.txt", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory(prefix="wfacli-slurm-") as name:
            count = _execute(Path(name).resolve(), options.cpus, options.snakemake)
    except (Failed, Unavailable) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2 if isinstance(problem, Unavailable) else 1
    if left := left_behind():
        print(f"error: processes are left: {left}", file=sys.stderr)
        return 1
    print(f"{count} passed, 0 failed")
    return 0


def _execute(folder: Path, cpus: int, snakemake: Path | None) -> int:
    """Execute all runs; return their number. Raises Failed, Unavailable."""
    (folder / "node").mkdir()
    work = folder / "work"
    work.mkdir()
    count = 0
    with running(folder / "node", cpus) as node:
        print(
            node.command("sinfo", "--version").stdout.strip(), node.command("sinfo", "-h").stdout.strip(), flush=True
        )
        sums = write_inputs(work)
        environment = {**node.environment, "PATH": path_with_command(folder / "node/bin")["PATH"], "HOME": str(work)}
        submission = Submission(node, work, environment)
        engines = {"submit.sh": submission.execute}
        if snakemake:
            engines["snakemake"] = Snakemake(snakemake.absolute(), work, environment).execute
        for engine, execute in engines.items():
            for run in RUNS:
                print(f"{engine}: wfacli align {' '.join(run.arguments)} -o {run.output}", flush=True)
                began = time.monotonic()
                execute(run, sums)
                print(f"  {time.monotonic() - began:.1f} s", flush=True)
                shutil.rmtree(work / f"{run.output}.plan.parts")
                (work / f"{run.output}.plan").unlink()
                count += 1
    return count


if __name__ == "__main__":
    sys.exit(main())
