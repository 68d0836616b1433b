"""Reads against a reference, with an emulated GPU: same output, and the GPU aligns them."""

from __future__ import annotations

import json
import random
import re

import pytest

from tests import pairgen
from tests.mapped.world import random_world
from wfacli.config import Mode
from wfacli.run.solver import Solver

from .test_command import align, drivers, folder  # noqa: F401 (fixtures)

INPUTS = ("reads.fq", "ref.fa", "--mappings", "map.paf")


OUTPUTS = [
    (".sam", ("--metric", "edit")),
    (".sam", ("--metric", "affine", "--md", "--cs", "--clip", "hard")),
    (".paf", ("--metric", "affine")),
    (".sam", ("--preset", "map-ont", "--md")),
    (".sam", ("--preset", "sr", "--span", "mapped")),
]


@pytest.mark.parametrize(("suffix", "options"), OUTPUTS)
def test_same_bytes(align, folder, drivers, suffix, options):  # noqa: F811
    random_world(21, reads=15).write(folder)
    written = []
    for engine in ("cpu", "gpu"):
        out = folder / f"{engine}{suffix}"
        more = ("--engine", engine, "-o", out, "--stats", "s.json", "--batch-bases", "3000", "--keep-unmapped")
        assert align(*INPUTS, *options, *more) == 0
        written.append(re.sub(rb"\tCL:.*", b"", out.read_bytes()))
    assert written[0] == written[1]
    report = json.loads((folder / "s.json").read_text())
    opened_gpu = sum(n for name, n in report["pairs_by_kernel"].items() if name.startswith("gpu-"))
    assert opened_gpu > report["pairs"] / 2
    assert drivers[-1].calls["launch"] > 0


@pytest.mark.parametrize("plain", [0, 40])
def test_few_rows_are_aligned_again_on_the_cpu(align, folder, drivers, monkeypatch, plain):  # noqa: F811
    """The end behind a deletion gets a record of its own, and both are aligned again: as some of many, or alone."""
    reference = pairgen.sequence(random.Random(5), 12_000, b"ACGT").decode()
    reads = {"split": (reference[2_000:3_000] + reference[6_000:6_300], 2_000, 6_300)}
    reads |= {f"r{i}": (reference[200 * i : 200 * i + 1_500], 200 * i, 200 * i + 1_500) for i in range(plain)}
    (folder / "ref.fa").write_text(f">t\n{reference}\n")
    (folder / "reads.fq").write_text("".join(f"@{name}\n{s}\n+\n{'I' * len(s)}\n" for name, (s, *_) in reads.items()))
    rows = (f"{name}\t{len(s)}\t0\t{len(s)}\t+\tt\t12000\t{a}\t{b}" for name, (s, a, b) in reads.items())
    (folder / "map.paf").write_text("".join(f"{row}\t1000\t1300\t60\ttp:A:P\n" for row in rows))
    again, solve = list[int](), Solver.align

    def counted(solver, pairs):
        if solver.spec.mode is Mode.GLOBAL:
            again.append(len(pairs))
        return solve(solver, pairs)

    monkeypatch.setattr(Solver, "align", counted)
    written = []
    for engine in ("cpu", "gpu"):
        out = folder / f"{engine}.sam"
        assert align(*INPUTS, "--preset", "map-ont", "--engine", engine, "-o", out, "--batch-bases", "1000000") == 0
        written.append(re.sub(rb"\tCL:.*", b"", out.read_bytes()))
    assert written[0] == written[1] and written[0].count(b"\nsplit\t") == 2
    assert again == ([1, 1] if plain else [])
