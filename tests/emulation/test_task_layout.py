"""Tasks have the same layout on the host and in the kernels."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from tests.emulation.launching import ROOT
from wfacli.gpu import task

STRUCTURES = {
    "Sequences": task.SEQUENCES,
    "Costs": task.COSTS,
    "AlignTask": task.ALIGN_TASK,
    "PackTask": task.PACK_TASK,
    "EncodeTask": task.ENCODE_TASK,
    "GatherTask": task.GATHER_TASK,
}


def claims(name: str, dtype: np.dtype) -> list[str]:
    sizes = [f"sizeof({name}) == {dtype.itemsize}"]
    for field in dtype.names:
        kind, offset = dtype.fields[field][:2]
        sizes += [f"offsetof({name}, {field}) == {offset}", f"sizeof({name}::{field}) == {kind.itemsize}"]
    return sizes


@pytest.mark.parametrize("name", STRUCTURES)
def test_layouts_agree(name, tmp_path):
    lines = [f'static_assert({claim}, "{claim}");' for claim in claims(name, STRUCTURES[name])]
    source = tmp_path / "layout.cpp"
    source.write_text(
        "\n".join(["#include <cstddef>", '#include "common/task.cuh"', "using namespace wfacli;", *lines])
    )
    folders = [f"-I{ROOT / folder}" for folder in ("cuda", "tests/emulation")]
    subprocess.run(["g++", "-std=c++20", "-fsyntax-only", *folders, str(source)], check=True)


def test_guards_agree():
    assert f"kGuard = {task.GUARD};" in (ROOT / "cuda/common/task.cuh").read_text()
