"""workflows/snakemake, by Snakemake's local executor."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from .support import ARGUMENTS, ROOT, SHARDS, path_with_command, write_inputs

pytestmark = pytest.mark.skipif(not shutil.which("snakemake"), reason="snakemake is not installed")


def snakemake(folder, *more: str) -> subprocess.CompletedProcess[str]:
    words = ["snakemake", "--snakefile", str(ROOT / "snakemake/Snakefile"), "--configfile", "run.json", "--cores", "2"]
    return subprocess.run(
        [*words, *more], cwd=folder, env={**path_with_command(), "HOME": str(folder)}, text=True, capture_output=True
    )


def test_the_bytes_of_one_machine(tmp_path):
    expected = write_inputs(tmp_path)
    settings = {
        "arguments": " ".join(ARGUMENTS),
        "inputs": ["reads.fq", "ref.fa", "map.paf"],
        "output": "out.bam",
        "shards": SHARDS,
        "threads": 1,
    }
    (tmp_path / "run.json").write_text(json.dumps(settings))
    done = snakemake(tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.bam").read_bytes() == expected
    # A lost part is made again, and the merge after it.
    part = tmp_path / "out.bam.plan.parts" / f"03-of-{SHARDS}.part"
    part.unlink()
    (tmp_path / "out.bam").unlink()
    again = snakemake(tmp_path)
    assert again.returncode == 0, again.stderr
    assert "shard=03" in again.stderr and "shard=04" not in again.stderr
    assert (tmp_path / "out.bam").read_bytes() == expected
