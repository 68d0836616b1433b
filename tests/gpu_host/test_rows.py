"""Rows of the catalogue compile, and hot ones stay in their registers.

Here for one architecture, and of rows that differ in sizes alone (_SIZES) the widest, which takes the most registers:
all of these in make fuzz, in make test one of each function, with paths and without, for A C G T and any letters.
`make kernels` compiles every row for all architectures, and fails alike.
"""

from __future__ import annotations

import pytest

from tests.emulation.compiled import ROOT
from tests.thorough import one_of_each
from wfacli.core.cores import usable_cores
from wfacli.gpu.compile.cache import Cache
from wfacli.gpu.compile.compiler import Compiler, find_nvcc
from wfacli.gpu.compile.package import build_rows
from wfacli.gpu.kernels.catalogue import ROWS, Row

from .support import PROBE

ARCHITECTURES = ("sm_90",)
# Macros that say how many of the same there are, by source; in the catalogue they rise.
_SIZES = {
    "bits/bits.cu": {"WFACLI_WORDS"},
    "dp/dp_thread.cu": {"WFACLI_BAND"},
    "dp/dp_warp.cu": {"WFACLI_BAND"},
    "tiles/dp_tiles.cu": {"WFACLI_LANES"},
    "long/long_bits.cu": {"WFACLI_WORDS"},
    "long/long_path_bits.cu": {"WFACLI_WORDS"},
    "long/long_planes.cu": {"WFACLI_PLANES"},
    "wfa/wfa.cu": {"WFACLI_GROUP", "WFACLI_WORDS", "WFACLI_WIDTH"},
}
_CHOSEN_FOR_REGISTERS = "WFACLI_RESIDENT"


def variant(row: Row) -> tuple[object, ...]:
    """What a row has in common with rows of other sizes."""
    sizes = {*_SIZES.get(row.source, ()), _CHOSEN_FOR_REGISTERS}
    over_a_block = dict(row.macros).get("WFACLI_GROUP", 0) > 32  # which meets at other barriers
    return row.source, row.entry, over_a_block, *((name, value) for name, value in row.macros if name not in sizes)


def coded(row: Row) -> bool:
    """Whether it is for any letters."""
    return ("WFACLI_CODED", 1) in row.macros


def traced(row: Row) -> bool:
    """Whether it finds paths too."""
    macros = dict(row.macros)
    return bool(macros.get("WFACLI_TRACE") or macros.get("WFACLI_PATH"))


WIDEST = {variant(row): row for row in ROWS.values()}
FUNCTIONS = one_of_each(WIDEST.values(), lambda row: (row.source, row.entry, coded(row), traced(row)))
CHOSEN = {row.name: row for row in (*FUNCTIONS, PROBE)}


@pytest.fixture(scope="module")
def built():
    """By row and architecture; what has not changed comes from build/kernels."""
    if find_nvcc() is None:
        pytest.skip("no nvcc: the GPU kernels are not compiled")
    compiler = Compiler(Cache(ROOT / "build" / "kernels"))
    done = build_rows(compiler, CHOSEN.values(), ARCHITECTURES, usable_cores())
    return {(one.row.name, one.arch): one for one in done}


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", CHOSEN)
def test_rows_compile(built, name, arch):
    one = built[name, arch]
    assert one.nbytes
    assert one.usage.registers
    assert not one.too_large, f"{name} on {arch}: {one.usage}"


def test_sizes_are_sizes():
    """A macro with another name would make a row of each value; one that no longer varies is no size."""
    for source, names in _SIZES.items():
        rows = [dict(row.macros) for row in ROWS.values() if row.source == source]
        for name in names:
            assert len({row[name] for row in rows}) > 1, f"{name} of {source}"
    assert {row.source for row in CHOSEN.values()} == {row.source for row in (*ROWS.values(), PROBE)}
