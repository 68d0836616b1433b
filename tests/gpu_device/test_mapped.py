"""Reads against a reference, in a user's pipe to a sorted BAM file with an index: GPU and CPU write the same bytes.

minimap2 maps the reads; it is taken from WFACLI_MINIMAP2 or PATH. Both runs have the same command line: only the
environment hides the GPU from one of them.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pysam
import pytest

from .inputs import REAL
from .support import EMULATED, gpu_environment, program

pytestmark = pytest.mark.gpu
MINIMAP2 = os.environ.get("WFACLI_MINIMAP2") or shutil.which("minimap2")
HIDDEN = {"CUDA_VISIBLE_DEVICES": ""}
GENOME = "long_ecoli_dh1_mg1655.target"
# The emulated GPU gets the starts of a few reads only.
MOST_READS, MOST_SYMBOLS = (6, 1600) if EMULATED else (10**9, 10**9)
Say = Callable[[str], None]


@dataclass(frozen=True)
class World:
    """A minimap2 preset, real reads (repeated), their reference, and the minimum shares mapped and on the GPU."""

    preset: str
    reads: str
    reference: str
    mapped: float
    on_gpu: float
    metric: str = "affine"
    times: int = 1


WORLDS = (
    World("map-ont", "ont_ecoli_ul.query", GENOME, 0.95, 0.5),
    World("map-ont", "ont_ecoli_ul.query", GENOME, 0.95, 0.0, "affine2p"),
    World("map-hifi", "hifi_human_wfagpu.query", "hifi_human_wfagpu.target", 0.95, 0.5, times=1 if EMULATED else 20),
    World("sr", "illumina150.query", GENOME, 0.9, 0.9),
)


def unpacked(name: str, path: Path, times: int = 1, most_reads: int = 10**9, most_symbols: int = 10**9) -> Path:
    """Write a file of a real set as FASTA, or the starts of some of its records, with one line per sequence."""
    records = gzip.decompress((REAL / f"{name}.fa.gz").read_bytes()).decode().split(">")[1:]
    lines = [record.split("\n", 1) for record in records[:most_reads]]
    some = [(name.split()[0], symbols[:most_symbols].rstrip()) for name, symbols in lines]
    copies = ["", *(f".{copy}" for copy in range(1, times))]
    path.write_text("".join(f">{name}{copy}\n{symbols}\n" for copy in copies for name, symbols in some))
    return path


def content(bam: Path) -> list[str]:
    """Return header and records as text, without the command line, which names the engine."""
    text = str(pysam.samtools.view("-h", "--no-PG", str(bam)))
    return [line for line in text.splitlines() if not line.startswith("@PG\tID:wfacli")]


def piped(folder: Path, world: World, env: dict[str, str], engine: str) -> tuple[dict[str, Any], float]:
    """Run `minimap2 -x … | wfacli align … --mappings - --sort --write-index -o out.bam` in a folder of the engine."""
    (own := folder / engine).mkdir()
    options = ["--metric", world.metric, "--md", "--sort", "--write-index", "--stats", "s.json", "-o", "out.bam"]
    options += ["--engine", engine]
    mapping = [str(MINIMAP2), "-x", world.preset, "-t", "4", "../ref.fa", "../reads.fa"]
    aligning = [*program(), "align", "../reads.fa", "../ref.fa", "--mappings", "-", *options]
    began = time.monotonic()
    with (
        subprocess.Popen(mapping, cwd=own, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as mapper,
        subprocess.Popen(
            aligning, cwd=own, stdin=mapper.stdout, stderr=subprocess.PIPE, env=gpu_environment(**env)
        ) as aligner,
    ):
        assert mapper.stdout
        mapper.stdout.close()  # leave it to the aligner alone, so that its end ends the mapper
        _, err = aligner.communicate(timeout=240)
    assert (mapper.returncode, aligner.returncode) == (0, 0), err.decode()
    assert b"warning" not in err, err.decode()
    return json.loads((own / "s.json").read_text()), time.monotonic() - began


@pytest.mark.skipif(not MINIMAP2, reason="no minimap2 on PATH, nor named by WFACLI_MINIMAP2")
@pytest.mark.parametrize("world", WORLDS, ids=lambda w: f"{w.preset}, {w.metric}")
def test_the_pipeline_to_a_sorted_bam(gpu: dict[str, Any], tmp_path: Path, say: Say, world: World) -> None:
    if not (REAL / f"{world.reads}.fa.gz").exists():
        say(f"no {world.reads} in {REAL}; WFACLI_TEST_DATA names the folder of real sets")
        return
    reads = unpacked(world.reads, tmp_path / "reads.fa", world.times, MOST_READS, MOST_SYMBOLS)
    unpacked(world.reference, tmp_path / "ref.fa")
    without, seconds = piped(tmp_path, world, HIDDEN, "auto")
    report, with_gpu = piped(tmp_path, world, {}, "gpu")
    on_gpu = sum(n for kernel, n in report["pairs_by_kernel"].items() if kernel.startswith("gpu-"))
    assert not any(kernel.startswith("gpu-") for kernel in without["pairs_by_kernel"])
    # A few short reads may be faster without a GPU.
    assert on_gpu >= (0 if EMULATED else world.on_gpu) * report["mappings"], report["pairs_by_kernel"]
    assert content(tmp_path / "gpu" / "out.bam") == content(tmp_path / "auto" / "out.bam")

    bam = tmp_path / "gpu" / "out.bam"
    pysam.quickcheck(str(bam))
    with pysam.AlignmentFile(str(bam)) as records:
        assert records.header.to_dict()["HD"]["SO"] == "coordinate"
        found = [
            (r.query_name, r.reference_id, r.reference_start)
            for name in records.references
            for r in records.fetch(name)
        ]
    assert found == sorted(found, key=lambda record: record[1:])
    assert len(found) == report["pairs"]
    count = reads.read_text().count(">")
    assert len({name for name, *_ in found}) >= world.mapped * count
    say(
        f"minimap2 -x {world.preset} | align --metric {world.metric}: {len(found):,} records of {count:,} reads, "
        f"{on_gpu:,} aligned on the GPU; {with_gpu:.1f} s, on the CPU {seconds:.1f} s; the same header and records"
    )
