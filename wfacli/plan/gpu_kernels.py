"""The registry of GPU kernels: the pairs that each one is expected to align, and its expected time.

Times are microseconds per pair on a GPU that is full of similar pairs.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ..config import AlignSpec
from ..core import tuning
from ..core.batch import I32, I64
from ..core.costs import NO_BOUND
from ..core.route import GPU_PREFIX
from ..gpu.kernels import catalogue, dp, tiles, wfa
from .traits import CostTraits, is_edit

F64 = npt.NDArray[np.float64]
Gaps = tuple[tuple[int, int], ...]
_SHARED = 227 << 10  # bytes of shared memory per block, on GPUs from sm_90 on
_GRAIN = 32  # granularity of the band widths of tiles, in diagonals
_NARROWED = 0.4  # minimum share of a band's rows that remains when a sweep narrows it
_ANY = 1 << 14  # length in bases of a representative pair


@dataclass(frozen=True)
class PairCosts:
    """Properties of n pairs by which GPU kernels are chosen.

    Attributes:
        q_len, t_len: i32[n], lengths in bases.
        cost: f64[n], expected cost, in units of the costs.
        mismatch, gaps: costs, divided by their greatest common divisor.
        max_cost: maximum cost in the same units; pairs above it have no alignment.
        spread: f64[n] or one value for all, standard deviation of log(true cost / expected cost).
        other_bases: whether GPU kernels support the cost of symbols other than A C G T at all.
    """

    q_len: I32
    t_len: I32
    cost: F64
    mismatch: int
    gaps: Gaps
    max_cost: int = NO_BOUND
    spread: F64 | float = 0.0
    other_bases: bool = True

    @functools.cached_property
    def longest(self) -> F64:
        """Length of the longer sequence in bases, f64[n]."""
        return np.maximum(self.q_len, self.t_len).astype(np.float64)

    @functools.cached_property
    def needed(self) -> F64:
        """Cost (f64[n]) that a kernel must reach to be given a pair."""
        return np.minimum(self.cost * tuning.SAFETY, self.max_cost)


@dataclass(frozen=True)
class GpuKernel:
    """A GPU kernel.

    Attributes:
        name: name with GPU_PREFIX.
        reach: returns the cost (f64[n]) below which the kernel certainly aligns a pair.
        work: returns the work (f64[n]) that the third factor of the model counts.
        model: model of its time.
        cycles: returns the latency (f64[n]) of a pair by itself on the GPU, in cycles.
        coded: whether it also supports symbols other than A C G T.
        any_band: whether its band can have any width.
        band: band width in diagonals, the same for all pairs; 0: it depends on the pairs.
        own: returns the band width (i64[n]) of each pair, if each has its own.
    """

    name: str
    reach: Callable[[PairCosts], F64]
    work: Callable[[PairCosts], F64]
    model: tuning.Model
    cycles: Callable[[PairCosts], F64]
    coded: bool = False
    any_band: bool = False
    band: int = 0
    own: Callable[[PairCosts], I64] | None = None

    def microseconds(self, pairs: PairCosts, other_bases: npt.NDArray[np.bool_]) -> F64:
        """Return the expected time of each pair (f64[n], microseconds); infinite if the kernel may fail it."""
        return np.where(pairs.needed < self.reach(pairs), self.tried(pairs, other_bases), np.inf)

    def tried(self, pairs: PairCosts, other_bases: npt.NDArray[np.bool_]) -> F64:
        """Return the time of each pair (f64[n], microseconds), whether the kernel aligns it or fails.

        Infinite if the kernel does not support its bases; other_bases: bool[n].
        """
        time = self.model.of(pairs.longest, self.work(pairs))
        return np.where(other_bases, time * tuning.GPU_CODED if self.coded and pairs.other_bases else np.inf, time)

    def alone(self, pairs: PairCosts) -> F64:
        """Return the latency (f64[n], microseconds) of each pair by itself on the GPU."""
        return self.cycles(pairs) / tuning.GPU_CLOCK


Bands = Callable[[PairCosts], I64]  # returns the band width of each pair in diagonals


def _row_cycles(size: float, pairs: PairCosts) -> F64:
    """Return the latency in cycles of kernels that iterate over the bases; `size`: diagonals per lane."""
    each: F64 = pairs.longest * (tuning.GPU_BASE_CYCLES + size * tuning.GPU_CELL_CYCLES)
    return each


def _band_cells(size: int, pairs: PairCosts) -> F64:
    return pairs.longest * size


def _bits_reach(diagonals: int, pairs: PairCosts) -> F64:
    """See layout.bits_provable."""
    apart = pairs.q_len.astype(np.float64) - pairs.t_len
    origin = np.floor((diagonals - 1 - apart) / 2)
    end = origin + apart
    room = np.minimum(np.minimum(origin, end), diagonals - 1 - np.maximum(origin, end))
    return np.where(np.abs(apart) < diagonals, np.abs(apart) + 2 * (room + 1), 0.0)


def _dp_reach(band: int, pairs: PairCosts) -> F64:
    """See dp.provable_cost; kernels that use a warp per pair have 32-bit costs if 16 bits do not suffice."""
    bits = 16 if band <= dp.MAX_THREAD_BAND else 32
    return dp.provable_cost(pairs.mismatch, pairs.gaps, pairs.q_len, pairs.t_len, band, bits).astype(np.float64)


_lanes = functools.lru_cache(maxsize=4096)(tiles.lanes)


def _tiles_reach(bands: Bands, pairs: PairCosts) -> F64:
    """See tiles.provable_cost."""
    return tiles.provable_cost(pairs.mismatch, pairs.gaps, pairs.q_len, pairs.t_len, bands(pairs)).astype(np.float64)


def _tiles_work(bands: Bands, pairs: PairCosts) -> F64:
    """Return the work of tiles in cells, twice as many with two pieces of gap costs; see GPU_TILES."""
    own = bands(pairs)
    lanes = _lanes(int(own.max(initial=1)), pairs.mismatch, pairs.gaps)
    if lanes is None:
        return np.full(len(pairs.cost), np.inf)
    each: F64 = len(pairs.gaps) * pairs.longest * (_tiles_rows(own, pairs) + tiles.steps(lanes, 0))
    return each


def _tiles_rows(own: I64, pairs: PairCosts) -> F64:
    """Return the mean rows of a column (f64[n]): the sweep narrows the band as path costs grow (dp_tile_sweep.cuh)."""
    narrowed = pairs.cost / (2 * min(extend for _, extend in pairs.gaps))
    rows: F64 = np.minimum(np.maximum(own - narrowed, _NARROWED * own), pairs.longest)
    return rows


def _tiles_cycles(bands: Bands, pairs: PairCosts) -> F64:
    """Return the latency in cycles of tiles: stripes run in turn or staggered, then one warp does the traceback."""
    own, rounded = bands(pairs), 1 << int(pairs.longest.max(initial=1)).bit_length()
    lanes = _lanes(int(own.max(initial=1)), pairs.mismatch, pairs.gaps, count=1, longest=rounded) or tiles.LANES[0]
    stripes = np.floor(pairs.longest / tiles.width(lanes)) + 1
    there = tiles.chain(lanes, _tiles_rows(own, pairs), stripes)
    back = stripes * (tiles.width(lanes) + min(lanes, 32))
    each: F64 = there * tuning.GPU_TILES_CYCLES + back * tuning.GPU_TILES_TRACEBACK_CYCLES
    return each * len(pairs.gaps)


def band_for(gaps: Gaps, apart: npt.NDArray[np.integer], cost: F64) -> F64:
    """Return the band width in diagonals (f64[n]) required for costs (f64[n]); as in tiles.cut."""
    out = np.max([(cost - 2 * opened) / (2 * extend) for opened, extend in gaps], axis=0)
    return np.asarray(2 * np.ceil(np.maximum(out, 1.0)) + apart + 2)


@functools.cache
def _widest(mismatch: int, gaps: Gaps) -> int:
    return max((b for b in tiles.BANDS if _lanes(b, mismatch, gaps) is not None), default=tiles.BANDS[0])


def _same(band: int, pairs: PairCosts) -> I64:
    return np.full(len(pairs.cost), band, np.int64)


def _narrowed(widest: int, pairs: PairCosts) -> I64:
    apart = np.abs(pairs.q_len - pairs.t_len)
    return tiles.narrow_band(widest, pairs.gaps, apart, pairs.cost * tuning.GPU_BAND_MARGIN)


def _up_to(tail: float, pairs: PairCosts) -> I64:
    """Return the band width (i64[n]) of pairs whose cost is `tail` spreads above the expected one."""
    cost, most = pairs.cost * np.exp(tail * pairs.spread), _widest(pairs.mismatch, pairs.gaps)
    longer = pairs.t_len.astype(np.int64) - pairs.q_len
    held = np.clip(tiles.widest(pairs.mismatch, pairs.gaps, most, longer) // _GRAIN * _GRAIN, 3 * _GRAIN, most)
    wanted = band_for(pairs.gaps, np.abs(longer), cost)
    own: I64 = np.clip(np.ceil(wanted / _GRAIN) * _GRAIN, 3 * _GRAIN, held).astype(np.int64)
    return own


@functools.cache
def own_bands(tail: float) -> GpuKernel:
    """Return the tiles kernel with a band for each pair, sufficient up to `tail` spreads above its expected cost."""
    bands = partial(_up_to, tail)
    return dataclasses.replace(_tiles(tiles.BANDS[-1], bands, bands), own=bands)


def bands(least: float, most: float, count: int, mismatch: int, gaps: Gaps) -> list[GpuKernel]:
    """Return the tiles kernel with up to `count` bands, `least` to `most` diagonals wide, that support the costs."""
    spread = np.geomspace(max(least, 3 * _GRAIN), max(most, 3 * _GRAIN), count)
    found = sorted({math.ceil(width / _GRAIN) * _GRAIN for width in spread.tolist()})
    return [with_band(b) for b in found if b <= tiles.BANDS[-1] and _lanes(b, mismatch, gaps) is not None]


@functools.lru_cache(maxsize=1024)
def with_band(band: int) -> GpuKernel:
    """Return the tiles kernel with a band of `band` diagonals for all pairs."""
    same = partial(_same, band)
    return dataclasses.replace(_tiles(next(widest for widest in tiles.BANDS if band <= widest), same, same), band=band)


def _tiles(widest: int, reached: Bands, worked: Bands) -> GpuKernel:
    """Return the tiles kernel named after its widest band.

    `reached`, `worked`: band widths for its reach and for its time.
    """
    return GpuKernel(
        f"{GPU_PREFIX}tiles-{widest}",
        partial(_tiles_reach, reached),
        partial(_tiles_work, worked),
        tuning.GPU_TILES,
        partial(_tiles_cycles, reached),
        coded=True,
        any_band=True,
    )


def _wfa_reach(variant: wfa.Variant, pairs: PairCosts) -> F64:
    most = variant.cost_limit(pairs.mismatch, pairs.gaps, NO_BOUND)
    return np.where(pairs.longest <= variant.longest, most + 1.0, 0.0)


def _wfa_work(variant: wfa.Variant, pairs: PairCosts) -> F64:
    """Return the work in instructions of warps: per 32 cells, and per row for each warp; see GPU_WFA."""
    extend = min(e for _, e in pairs.gaps)
    rows = pairs.needed / tuning.SAFETY + 1
    # Rows grow until a bound on the cost (likely_bound) narrows them.
    width = tuning.GPU_WFA_SHARE * np.minimum(rows / extend, 2 * pairs.longest) + 1
    passes = np.maximum(width / variant.group + 0.5, 1.0)
    warps = variant.group / 32
    each = tuning.GPU_WFA_CELLS[variant.pieces] * tuning.GPU_WFA_TRACE[variant.trace]
    each *= tuning.GPU_WFA_SPILLED if variant.outside == wfa.SPILLED else 1.0
    work: F64 = rows * warps * (passes * each + tuning.GPU_WFA_ROW)
    if variant.outside != wfa.SPILLED:
        return work
    # If their workspace does not fit, fewer pairs are resident than the GPU has room for.
    resident = tuning.GPU_MULTIPROCESSORS * variant.resident * variant.pairs
    least = variant.stride(pairs.mismatch, pairs.gaps, 1000, _ANY) / 1000**2 * rows**2  # grows with the square
    return work * np.maximum(1.0, resident * least / tuning.GPU_WORKSPACE)


def _wfa_cycles(variant: wfa.Variant, pairs: PairCosts) -> F64:
    rows = np.minimum(pairs.cost, pairs.max_cost) + 1
    width = np.minimum(rows / min(e for _, e in pairs.gaps), 2 * pairs.longest)
    once = tuning.GPU_WFA_PASS_CYCLES * (tuning.GPU_WFA_SPILLED_PASS if variant.outside == wfa.SPILLED else 1)
    each: F64 = rows * (tuning.GPU_WFA_ROW_CYCLES + width / variant.group * once)
    return each


def _wavefront(name: str) -> GpuKernel:
    variant = wfa.VARIANTS[name]
    return GpuKernel(
        f"{GPU_PREFIX}{name}",
        partial(_wfa_reach, variant),
        partial(_wfa_work, variant),
        tuning.GPU_WFA,
        partial(_wfa_cycles, variant),
        coded=True,
    )


def _spills(kernel: str) -> bool:
    variant = wfa.VARIANTS.get(kernel.removeprefix(GPU_PREFIX))
    return variant is not None and variant.outside == wfa.SPILLED


def decides(kernel: str, spec: AlignSpec) -> bool:
    """Return whether a cost limit from a wavefront kernel is final: it searches up to the user's maximum cost."""
    variant, costs = wfa.VARIANTS.get(kernel.removeprefix(GPU_PREFIX)), CostTraits.of(spec)
    if variant is None or _spills(kernel):
        return False
    return variant.cost_limit(costs.mismatch, costs.gaps, NO_BOUND) >= costs.bound(spec)


_BITS = tuple(
    GpuKernel(
        f"{GPU_PREFIX}bits-{d}",
        partial(_bits_reach, d),
        partial(_band_cells, d),
        tuning.GPU_BITS if lanes == 1 else tuning.GPU_BITS_WARP,
        partial(_row_cycles, d / lanes / 8),
    )
    for d, (_, lanes) in catalogue.BITS.items()
)
_DP = {
    band: GpuKernel(
        f"{GPU_PREFIX}dp-{band}",
        partial(_dp_reach, band),
        partial(_band_cells, band),
        model,
        partial(_row_cycles, band / (32 if bands is catalogue.DP_WARP else 1)),
        coded=bands is catalogue.DP_WARP or catalogue.dp_thread_coded(band),
    )
    for bands, model in ((catalogue.DP_THREAD, tuning.GPU_DP), (catalogue.DP_WARP, tuning.GPU_DP_WARP))
    for band in bands
}
_TILES = {band: _tiles(band, partial(_same, band), partial(_narrowed, band)) for band in tiles.BANDS}
_WFA = {name: _wavefront(name) for name in wfa.LADDER}
# Of kernels with a heuristic band the model is never compared: the band leaves no other choice.
_BANDED = tuple(map(_wavefront, wfa.FOLLOWING))
KERNELS = {kernel.name: kernel for kernel in (*_BITS, *_DP.values(), *_TILES.values(), *_WFA.values(), *_BANDED)}


def banded(spec: AlignSpec) -> list[str]:
    """Return the names of kernels with a heuristic band: for many pairs, and for pairs that others would wait for."""
    costs = CostTraits.of(spec)
    pieces = dp.pieces_macro(costs.gaps)
    names = [names[pieces] for names in (wfa.BANDS, wfa.EXCLUSIVE) if pieces in names]
    fits = [n for n in names if wfa.VARIANTS[n].shared_bytes(costs.mismatch, costs.gaps) <= _SHARED]
    return [f"{GPU_PREFIX}{name}" for name in fits]


@functools.cache
def families(spec: AlignSpec) -> tuple[tuple[GpuKernel, ...], tuple[GpuKernel, ...]]:
    """Return the kernels for the costs, with bands and with wavefronts, each in the order of their reach."""
    mismatch, gaps = CostTraits.of(spec).mismatch, CostTraits.of(spec).gaps
    pieces = dp.pieces_macro(gaps)
    dense = [(band, kernel) for band, kernel in _DP.items() if catalogue.dp_build(band, pieces) is not None]
    dense += [(band, kernel) for band, kernel in _TILES.items() if _lanes(band, mismatch, gaps) is not None]
    dense.sort(key=operator.itemgetter(0))
    waves = (
        kernel
        for name, kernel in _WFA.items()
        if (variant := wfa.VARIANTS[name]).pieces == pieces
        and variant.shared_bytes(mismatch, gaps) <= _SHARED
        and (not spec.score_only or wfa.has_score(name))
    )
    return _BITS if is_edit(spec) else tuple(kernel for _, kernel in dense), tuple(waves)


def further(kernel: str, spec: AlignSpec) -> str | None:
    """Return the fallback for pairs that cost more than a kernel reaches: of the same family, or else the other."""
    own, other = families(spec)
    if kernel in (found.name for found in other):
        own, other = other, own
    names = [found.name for found in own]
    if kernel not in names or _spills(kernel):  # a forced kernel that does not support these costs, or the last one
        return None
    same, costs = np.full(1, _ANY, np.int32), CostTraits.of(spec)
    like = PairCosts(same, same, np.zeros(1), costs.mismatch, costs.gaps)
    least = tuning.GPU_RETRY_RATIO * float(KERNELS[kernel].reach(like)[0])
    # Wavefronts that spill come last. Those with a trace in blocks, which is smaller, are not used as fallbacks.
    following = [r for r in (*own[names.index(kernel) + 1 :], *other) if not r.name.endswith("-blocks")]
    following.sort(key=lambda found: _spills(found.name))
    return next((found.name for found in following if float(found.reach(like)[0]) > least), None)
