"""Catalogue rows compile, and performance-critical ones spill no registers.

Rows are compiled for one architecture. Of those that differ only in sizes (_SIZES), only the widest is compiled, which
takes the most registers: all of these in `make fuzz`; in `make test` one per function, with and without paths, for
ACGT and for any symbols. `make kernels` compiles every row for all architectures, and fails in the same cases.
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
# Macros that set a size, by source; their values increase in the catalogue.
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
    """Return what a row has in common with rows of other sizes."""
    sizes = {*_SIZES.get(row.source, ()), _CHOSEN_FOR_REGISTERS}
    over_a_block = dict(row.macros).get("WFACLI_GROUP", 0) > 32  # uses different barriers
    return row.source, row.entry, over_a_block, *((name, value) for name, value in row.macros if name not in sizes)


def coded(row: Row) -> bool:
    """Return whether a row supports any symbols."""
    return ("WFACLI_CODED", 1) in row.macros


def traced(row: Row) -> bool:
    """Return whether a row finds paths."""
    macros = dict(row.macros)
    return bool(macros.get("WFACLI_TRACE") or macros.get("WFACLI_PATH"))


WIDEST = {variant(row): row for row in ROWS.values()}
FUNCTIONS = one_of_each(WIDEST.values(), lambda row: (row.source, row.entry, coded(row), traced(row)))
CHOSEN = {row.name: row for row in (*FUNCTIONS, PROBE)}


@pytest.fixture(scope="module")
def built():
    """Build results by row and architecture; unchanged rows come from build/kernels."""
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
    """Each macro of _SIZES exists and varies; otherwise each value would count as another kind of row."""
    for source, names in _SIZES.items():
        rows = [dict(row.macros) for row in ROWS.values() if row.source == source]
        for name in names:
            assert len({row[name] for row in rows}) > 1, f"{name} of {source}"
    assert {row.source for row in CHOSEN.values()} == {row.source for row in (*ROWS.values(), PROBE)}
