"""Check that tasks have the same layout on the host and in the kernels."""

from __future__ import annotations

import subprocess

import numpy as np

from tests.emulation.launching import ROOT
from wfacli.core.batch import Status
from wfacli.gpu.runtime import task

NAMES = ("kInsertion", "kDeletion", "kEqual", "kDifferent")
STRUCTURES = {
    "Sequences": task.SEQUENCES,
    "Costs": task.COSTS,
    "AlignTask": task.ALIGN_TASK,
    "SwTask": task.SW_TASK,
    "PackTask": task.PACK_TASK,
    "EncodeTask": task.ENCODE_TASK,
    "GatherTask": task.GATHER_TASK,
    "PlanesTask": task.PLANES_TASK,
    "LongStatus": task.LONG_STATUS,
    "LongWavefrontTask": task.LONG_WAVEFRONT_TASK,
    "BitsMatrix": task.BITS_MATRIX,
    "LongBitsTask": task.LONG_BITS_TASK,
    "PathSegments": task.PATH_SEGMENTS,
    "PathBitsTask": task.PATH_BITS_TASK,
    "PathFront": task.PATH_FRONT,
    "PathFrontsTask": task.PATH_FRONTS_TASK,
    "LocalPlace": task.LOCAL_PLACE,
    "LocalTask": task.LOCAL_TASK,
    "LocalCone": task.LOCAL_CONE,
    "LocalConesTask": task.LOCAL_CONES_TASK,
}


def claims(name: str, dtype: np.dtype) -> list[str]:
    sizes = [f"sizeof({name}) == {dtype.itemsize}"]
    for field in dtype.names:
        kind, offset = dtype.fields[field][:2]
        sizes += [f"offsetof({name}, {field}) == {offset}", f"sizeof({name}::{field}) == {kind.itemsize}"]
    return sizes


# Constants defined on both sides: wfacli.core.batch.Status, and BAM operations.
NUMBERS = [f"static_cast<int>(Status::{''.join(map(str.title, s.name.split('_')))}) == {s.value}" for s in Status]
NUMBERS += [f"{name} == {'MIDNSHP=X'.index(op)}" for name, op in zip(NAMES, "ID=X", strict=True)]
NUMBERS += [f"kGuard == {task.GUARD}"]
CLAIMS = {"numbers": NUMBERS} | {name: claims(name, dtype) for name, dtype in STRUCTURES.items()}


def test_both_sides_agree(tmp_path):
    lines = [f'static_assert({claim}, "{claim}");' for claims in CLAIMS.values() for claim in claims]
    source = tmp_path / "layout.cpp"
    source.write_text(
        "\n".join(["#include <cstddef>", '#include "common/task.cuh"', "using namespace wfacli;", *lines])
    )
    folders = [f"-I{ROOT / folder}" for folder in ("cuda", "tests/emulation")]
    subprocess.run(["g++", "-std=c++20", "-fsyntax-only", *folders, str(source)], check=True)
