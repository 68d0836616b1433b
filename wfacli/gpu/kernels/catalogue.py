"""The kernel catalogue: each row has a source file, its macros, and the measurement that chose its sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from . import local, long_bits, long_path, long_wavefront, sw, sw_guided, tiles
from .wfa import VARIANTS


@dataclass(frozen=True)
class Row:
    """A kernel.

    Attributes:
        name: name of the row, as --stats shows it.
        source: path of the source file under cuda/.
        entry: name of the kernel function.
        macros: (name, value) pairs that the source is compiled with.
        threads: threads per block, WFACLI_BLOCK in the source.
        hot: whether the kernel must use neither stack nor spilled registers; a test checks it.
        spills_on: architectures on which a hot kernel does spill; it is correct there, but slower.
        high_priority: whether the kernel's blocks have priority over others that wait for room on the GPU. The short
            kernels before and after a launch's long ones have it: until they have run, the launch holds its memory,
            and later kernels wait.
        measured: GPU, commit and figures that chose the sizes.
    """

    name: str
    source: str
    entry: str
    macros: tuple[tuple[str, int | str], ...]
    threads: int
    hot: bool = True
    spills_on: tuple[str, ...] = ()
    high_priority: bool = False
    measured: str = ""

    @property
    def definitions(self) -> tuple[str, ...]:
        """Compiler options that define the macros."""
        return (f"-DWFACLI_BLOCK={self.threads}", *(f"-D{name}={value}" for name, value in self.macros))


def table(rows: Iterable[Row]) -> dict[str, Row]:
    """Return rows by name. Raise ValueError if two have the same name."""
    named: dict[str, Row] = {}
    for row in rows:
        if row.name in named:
            raise ValueError(f"two rows are named {row.name}")
        named[row.name] = row
    return named


def traceback_row_of(name: str) -> str:
    """Return the name of the row that follows another row's trace."""
    return f"{name}-walk"


# Bands of bits, by diagonals: words per thread, threads per pair.
BITS = {32: (1, 1), 64: (2, 1), 128: (4, 1), 256: (8, 1), 1024: (1, 32), 2048: (2, 32), 4096: (4, 32), 8192: (8, 32)}


def _bits() -> Iterator[Row]:
    for diagonals, (words, lanes) in BITS.items():
        macros = (("WFACLI_WORDS", words), ("WFACLI_LANES", lanes))
        yield Row(f"bits-{diagonals}", "bits/bits.cu", "bits_align", macros, 128)
        yield Row(traceback_row_of(f"bits-{diagonals}"), "bits/bits.cu", "bits_walk", macros, 128)


# Bands of dynamic programming, in diagonals.
DP_THREAD, DP_WARP = (16, 32, 64), (128, 256, 512, 1024)

# Rows for which the assembler can fit more blocks per multiprocessor than it does by default: the blocks to fit.
_RESIDENT = {
    "dp-256-pieces-2-bits-32": 5,
    "dp-128-pieces-1-bits-16-coded": 5,
    "dp-1024-pieces-1-bits-32-coded": 3,
    "tiles-256-pieces-2-coded": 2,
    **{f"sw-ends-{lanes}x32-bits-16-path": 2 for lanes in (2, 4, 8)},
}
_SPILLS_ON = {
    "dp-64-pieces-1": ("sm_80",),
    "dp-32-pieces-2-coded": ("sm_80",),
    "sw-ends-8x16-bits-16-path": ("sm_80", "sm_100"),
    "sw-ends-8x16-bits-16-whole": ("sm_80",),
    "sw-ends-32x16-bits-32-path": ("sm_100",),
    **{f"wfa-affine-{cost}-coded": ("sm_80",) for cost in (30, 60, 120)},
    **{f"wfa-affine2p-spilled{coded}": ("sm_100",) for coded in ("", "-coded")},
    **{
        f"wfa-{what}{coded}": ("sm_80",)
        for what in ("affine-3000", "affine-band", "edit-band")
        for coded in ("", "-coded")
    },
    # They spill a few words of what a stripe needs beside its rows.
    **{
        f"sw-{what}": ("sm_80", "sm_100")
        for lanes in (2, 4, 8)
        for what in (
            f"ends-{lanes}x32-bits-16",
            f"ends-{lanes}x32-bits-16-whole",
            f"extension-{lanes}x32-bits-16-path",
        )
    },
    # They spill a few words of what a pair and a part need beside their rows.
    **{
        f"sw-{what}-bits-16-path": ("sm_80", "sm_90", "sm_100")
        for what in (*(f"local-{build}" for build in ("2x32", "4x32", "8x32", "8x16", "32x16")), "ends-32x16")
    },
    **{f"sw-local-{lanes}x32-bits-16-whole": ("sm_80", "sm_90", "sm_100") for lanes in (2, 4, 8)},
}


def dp_thread_pieces(band: int) -> tuple[int, ...]:
    """Return the numbers of gap pieces that a band is built for; 0: no opening cost. Other builds would spill."""
    return (0, 1, 2) if band < 64 else (1,)


def dp_thread_coded(band: int) -> bool:
    """Return whether a band has a build for any symbols, whose eight planes need many registers."""
    return band < 64


def dp_build(band: int, pieces: int) -> int | None:
    """Return the gap pieces of the build that supports costs of `pieces` pieces; None if there is none."""
    built = dp_thread_pieces(band) if band in DP_THREAD else (1, 2)
    return next((p for p in (pieces, max(pieces, 1)) if p in built), None)


def coded_of(name: str) -> str:
    """Return the row's variant for pairs with symbols other than A C G T."""
    return f"{name}-coded"


def dp_thread(band: int, pieces: int) -> str:
    """Return the row for a band and gap costs of `pieces` pieces, two pairs per thread."""
    return f"dp-{band}-pieces-{pieces}"


def dp_warp(band: int, pieces: int, bits: int) -> str:
    """Return the row for a band and gap costs of `pieces` pieces, one pair per warp, with `bits` bits per cost."""
    return f"dp-{band}-pieces-{pieces}-bits-{bits}"


def _dp() -> Iterator[Row]:
    for band in DP_THREAD:
        for pieces in dp_thread_pieces(band):
            name, macros = dp_thread(band, pieces), (("WFACLI_BAND", band), ("WFACLI_PIECES", pieces))
            yield _dp_row(name, "dp/dp_thread.cu", "dp_align", macros, 0)
            yield _dp_row(traceback_row_of(name), "dp/dp_thread.cu", "dp_walk", macros, 0)
            if dp_thread_coded(band):
                yield _dp_row(coded_of(name), "dp/dp_thread.cu", "dp_align", macros, 1)
    for band, pieces, bits in itertools.product(DP_WARP, (1, 2), (16, 32)):
        name = dp_warp(band, pieces, bits)
        sizes = (("WFACLI_BAND", band), ("WFACLI_PIECES", pieces), ("WFACLI_BITS", bits))
        yield _dp_row(name, "dp/dp_warp.cu", "dp_warp_align", sizes, 0)
        yield _dp_row(coded_of(name), "dp/dp_warp.cu", "dp_warp_align", sizes, 1)
    for lanes, pieces in itertools.product(tiles.LANES, (1, 2)):
        if not tiles.exists(lanes, pieces):
            continue
        name, spread = dp_tiles(lanes, pieces), int(tiles.spread(lanes))
        groups: tuple[tuple[str, int], ...] = (("WFACLI_LANES", min(lanes, 32)), ("WFACLI_SPREAD", spread))
        groups += (("WFACLI_COLUMNS", tiles.columns(lanes)), ("WFACLI_PIECES", pieces))
        yield _dp_row(name, "tiles/dp_tiles.cu", "dp_tiles_align", groups, 0)
        yield _dp_row(coded_of(name), "tiles/dp_tiles.cu", "dp_tiles_align", groups, 1)


def dp_tiles(lanes: int, pieces: int) -> str:
    """Return the row for groups of `lanes` lanes, two pairs each, in bands of any width."""
    return f"tiles-{lanes}-pieces-{pieces}"


def _dp_row(name: str, source: str, entry: str, macros: tuple[tuple[str, int], ...], coded: int) -> Row:
    resident = (("WFACLI_RESIDENT", _RESIDENT[name]),) if name in _RESIDENT else ()
    macros = (*macros, ("WFACLI_CODED", coded), *resident)
    return Row(name, source, entry, macros, tiles.THREADS, spills_on=_SPILLS_ON.get(name, ()))


def _wavefronts() -> Iterator[Row]:
    for name, variant in VARIANTS.items():
        yield Row(
            name, "wfa/wfa.cu", "align_wavefront", variant.macros, variant.threads, spills_on=_SPILLS_ON.get(name, ())
        )


def _long() -> Iterator[Row]:
    """Yield the kernels that advance the fronts of one long pair.

    Upper bound on an H200 (132 multiprocessors, 4 schedulers at 1.7 GHz, 32 lanes: 2.9e13 lane instructions per
    second): a point takes 7 instructions (two maxima, the window's shift, its leading zeros, two sums, the minimum
    with the rest), a diagonal's window about 28 every 8 scores, the work of a lane for its 8 diagonals together 1,
    ghosts a seventh of the total: 13, thus 2e12 points per second. Reading bases is no bottleneck: 32 bytes every 8
    points, mostly from the L1 cache, because neighbouring diagonals read neighbouring bases.
    """
    for shape in long_wavefront.SHAPES:
        name = long_wavefront.row_of(shape)
        yield Row(name, "long/long_wavefront.cu", "advance_long_wavefront", shape.macros, long_wavefront.THREADS)
    for planes in sorted({s.planes for s in long_wavefront.SHAPES} | {s.planes for s in long_bits.SHAPES}):
        name = long_wavefront.planes_row_of(planes)
        yield Row(name, "long/long_planes.cu", "make_planes", (("WFACLI_PLANES", planes),), 256)


def _long_bits() -> Iterator[Row]:
    """Yield the kernels for stripes of one long pair's matrices, and for where the matrices meet."""
    for shape in long_bits.SHAPES:
        yield Row(shape.name, "long/long_bits.cu", "long_bits", shape.macros, long_bits.THREADS)
    yield Row(long_bits.MEETING, "long/long_bits_meet.cu", "long_bits_meet", (), long_bits.MEETING_THREADS)


def _long_path() -> Iterator[Row]:
    """Yield the kernels for the path of one long pair: by stripes of bits, and by a front."""
    for shape in long_path.SHAPES:
        name = long_path.row_of("sweep", shape)
        yield Row(name, "long/long_path_bits.cu", "sweep_for_path", shape.macros, long_bits.THREADS)
        yield Row(long_path.row_of("walk", shape), "long/long_path_bits.cu", "walk_stripes", shape.macros, 32)
    yield Row(long_path.GUESS, "long/long_path_bits.cu", "guess_from_edges", long_path.SHAPES[0].macros, 32)
    for front in long_path.FRONTS:
        name = long_path.row_of_front("sweep", front)
        yield Row(name, "long/long_path_fronts.cu", "sweep_front_for_path", front.macros, long_wavefront.THREADS)
        name = long_path.row_of_front("walk", front)
        yield Row(name, "long/long_path_fronts.cu", "walk_fronts", replace(front, resident=16).macros, 32)


def _sw() -> Iterator[Row]:
    """Yield the kernels for any scoring scheme, sized by sw.Build.work. Three resident blocks hide latencies."""
    for build, rule, path in itertools.product((*sw.BUILDS, *sw.ALL_DIRECTIONS, sw.WIDE), sw.BUILT, (False, True)):
        if build.all_directions and (not path or rule is sw.Rule.EXTENSION):
            continue  # same as the build without `all_directions`
        name = sw.row_of(build, rule, path)
        resident = _RESIDENT.get(name, 3 if build.columns == 32 else 4)
        macros = (*build.macros(rule, path), ("WFACLI_RESIDENT", resident))
        yield Row(name, "sw/sw.cu", "sw_align", macros, build.threads, spills_on=_SPILLS_ON.get(name, ()))
    for build, rule in itertools.product(sw.ALL_DIRECTIONS, (sw.Rule.LOCAL, sw.Rule.GLOBAL)):
        macros = (*build.macros(rule, True), ("WFACLI_RESIDENT", 8))  # memory-bound most of the time
        yield Row(
            sw.traceback_row_of(build, rule),
            "sw/sw_traceback.cu",
            "sw_walk",
            macros,
            sw.TRACEBACK_THREADS,
            high_priority=True,
        )


def _sw_guided() -> Iterator[Row]:
    """Yield the kernels for extensions in a band, with Z-drop."""
    for build in sw_guided.BUILDS:
        macros = (*build.macros(sw.Rule.EXTENSION, False), ("WFACLI_RESIDENT", 4))
        yield Row(sw_guided.row_of(build), "sw/sw_guided.cu", "sw_guided", macros, build.threads)


def _local() -> Iterator[Row]:
    """Yield the kernels for the best local alignment of one long pair."""
    for build in local.BUILDS:
        large = ("sm_100",) if build.pairs else ()
        yield Row(build.name, "local/local.cu", "local_strips", build.macros, build.threads, spills_on=large)
    for name in (local.CONES, local.TOPS, local.WINDOWS):
        yield Row(name, "local/local_cone.cu", name.replace("-", "_"), (), local.CONE_THREADS)


_ARRAYS = (  # kernels over bases, counts and operations
    Row("pack", "common/pack.cu", "pack_bases", (), 256, high_priority=True),
    Row("encode", "common/pack.cu", "encode_symbols", (), 256, high_priority=True),
    Row("sum-chunks", "common/cigar.cu", "sum_chunks", (), 256, high_priority=True),
    Row("sum-before", "common/cigar.cu", "sum_before", (), 256, high_priority=True),
    Row("sum-slots", "common/cigar.cu", "sum_slots", (), 256, high_priority=True),
    Row("gather-ops", "common/cigar.cu", "gather_ops", (), 256, high_priority=True),
)

ROWS: dict[str, Row] = table(
    (
        *_ARRAYS,
        *_bits(),
        *_dp(),
        *_wavefronts(),
        *_long(),
        *_long_bits(),
        *_long_path(),
        *_sw(),
        *_sw_guided(),
        *_local(),
    )
)
