"""Every row of the catalogue compiles, and hot ones stay in their registers.

For one architecture here, which takes two minutes on two cores; `make kernels` does it for all and fails alike.
"""

from __future__ import annotations

import pytest

from tests.emulation.compiled import ROOT
from wfacli.cores import usable_cores
from wfacli.gpu.build import build_rows
from wfacli.gpu.cache import Cache
from wfacli.gpu.catalogue import ROWS
from wfacli.gpu.compiler import Compiler, find_nvcc

from .support import PROBE

ARCHITECTURES = ("sm_90",)
ALL = {row.name: row for row in (*ROWS.values(), PROBE)}


@pytest.fixture(scope="module")
def built():
    """By row and architecture; what has not changed comes from build/kernels."""
    if find_nvcc() is None:
        pytest.skip("no nvcc: the GPU kernels are not compiled")
    compiler = Compiler(Cache(ROOT / "build" / "kernels"))
    return {(one.row.name, one.arch): one for one in build_rows(compiler, ALL.values(), ARCHITECTURES, usable_cores())}


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", ALL)
def test_rows_compile(built, name, arch):
    one = built[name, arch]
    assert one.nbytes
    assert one.usage.registers
    assert not (one.row.hot and one.spills and arch not in one.row.spills_on), f"{name} on {arch}: {one.usage}"
