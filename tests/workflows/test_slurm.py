"""workflows/slurm with a substitute for sbatch that executes jobs at once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .support import ARGUMENTS, ROOT, path_with_command, write_inputs

SHARDS = 10  # numbers of two digits

# Like SLURM it copies the script to another folder, and executes arrays task by task. It logs the options of each job.
SBATCH = """#!{python} -S
import os, subprocess, sys
words = sys.argv[1:]
options = []
while words and words[0].startswith("--"):
    options.append(words.pop(0))
    if options[-1] in ("--job-name", "--partition"):
        options.append(words.pop(0))
with open("jobs", "a") as log:
    print(*options, file=log)
number = sum(1 for line in open("jobs"))
script = os.path.abspath(f"spooled-{{number}}")
open(script, "wb").write(open(words[0], "rb").read())
array = next((o.partition("=")[2] for o in options if o.startswith("--array=")), None)
tasks = [None]
if array is not None:
    tasks = []
    for part in array.split(","):
        first, _, last = part.partition("-")
        tasks += range(int(first), int(last or first) + 1)
for task in tasks:
    if task is not None:
        os.environ["SLURM_ARRAY_TASK_ID"] = str(task)
    status = subprocess.call(["bash", script, *words[1:]], stdout=sys.stderr)
    if status:
        sys.exit(status)
print(number)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with bin/sbatch."""
    program = tmp_path / "bin" / "sbatch"
    program.parent.mkdir()
    program.write_text(SBATCH.format(python=sys.executable))
    program.chmod(0o755)
    return tmp_path


def submit(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(ROOT / "slurm/submit.sh"), *words],
        cwd=folder,
        env={**path_with_command(folder / "bin"), **more},
        text=True,
        capture_output=True,
    )


def test_the_bytes_of_one_machine_and_shards_again(folder):
    expected = write_inputs(folder)
    done = submit(folder, str(SHARDS), "out.bam", "align", *ARGUMENTS, SBATCH_OPTIONS="--partition short")
    assert done.returncode == 0, done.stderr
    assert (folder / "out.bam").read_bytes() == expected
    plan, shards, merge = (folder / "jobs").read_text().splitlines()
    assert all("--partition short" in job for job in (plan, shards, merge))
    assert f"--array=1-{SHARDS}" in shards and "--dependency=afterok:1" in shards
    assert "--dependency=afterok:2" in merge and "--kill-on-invalid-dep=yes" in merge
    # Shards that are not done are submitted again, and the merge after them.
    for shard in ("02", "10"):
        (folder / f"out.bam.plan.parts/{shard}-of-{SHARDS}.part").unlink()
    (folder / "out.bam").unlink()
    (folder / "jobs").unlink()
    done = submit(folder, "--again", "out.bam")
    assert done.returncode == 0, done.stderr
    assert (folder / "out.bam").read_bytes() == expected
    assert "--array=2,10" in (folder / "jobs").read_text()
    # A part that is damaged and has its size is named by the merge, and its shard run again.
    part = folder / f"out.bam.plan.parts/05-of-{SHARDS}.part"
    part.write_bytes(bytes(part.stat().st_size))
    done = submit(folder, "--again", "out.bam")
    assert done.returncode == 1 and "damaged: out.bam.plan.parts/05" in done.stderr
    (folder / "jobs").unlink()
    done = submit(folder, "--again", "out.bam", "5")
    assert done.returncode == 0, done.stderr
    assert (folder / "out.bam").read_bytes() == expected
    assert "--array=5" in (folder / "jobs").read_text()


def test_usage(folder):
    done = submit(folder, "3")
    assert done.returncode == 2 and "submit.sh SHARDS OUTPUT" in done.stderr


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_scripts_are_well_formed():
    scripts = [str(path) for path in (ROOT / "slurm").iterdir()]
    done = subprocess.run(["shellcheck", *scripts], text=True, capture_output=True)
    assert done.returncode == 0, done.stdout
