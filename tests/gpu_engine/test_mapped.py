"""Reads against a reference, with an emulated GPU: same output, and the GPU aligns them."""

from __future__ import annotations

import json
import re

import pytest

from tests.mapped.world import random_world

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
