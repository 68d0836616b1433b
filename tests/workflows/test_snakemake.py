"""workflows/snakemake, by Snakemake's local executor."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.shards.support import on_one_machine
from tests.shards.test_same_bytes import without_header as records_of

from .support import ARGUMENTS, ROOT, path_with_command, write_inputs

pytestmark = pytest.mark.skipif(not shutil.which("snakemake"), reason="snakemake is not installed")

SHARDS = 10  # numbers of two digits


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


def test_the_wrapper(tmp_path):
    """The wrapper's own Snakefile, with the wrapper where it says that it is."""
    shutil.copytree(ROOT / "snakemake/wrappers/align", tmp_path / "align")
    folder = tmp_path / "align/test"
    reads = ("reads/a.fq", "ref.fa", "--mappings", "mappings/a.paf", "--sort")
    expected = on_one_machine(folder, "align", [*reads, "--format", "bam"])
    words = ["snakemake", "--snakefile", "Snakefile", "--cores", "2", "aligned/a.bam", "b.paf"]
    done = subprocess.run(
        words, cwd=folder, env={**path_with_command(), "HOME": str(tmp_path)}, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "b.paf").read_text().startswith("r1\t10\t0\t10\t+\tt1\t9\t0\t9\t9\t10")
    assert (folder / "aligned/a.bam.bai").exists()
    # Headers differ in the command line.
    records = [records_of(data) for data in (expected, (folder / "aligned/a.bam").read_bytes())]
    assert records[0] == records[1]
    assert "2 pairs," in (folder / "logs/b.paf.log").read_text()
