"""Builds of cuda/tiles/dp_tiles.cu: memory, the costs that 16 bits hold, and the costs that bands prove.

Costs are those of the task, divided by their greatest common divisor. Bands can have any width.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from . import dp

# Builds: lanes that share two pairs. In the last two all warps of the GPU share all pairs; NARROW has stripes of half
# the width, whose values fit 16 bits for higher costs of two pieces.
NARROW = 128
LANES = (4, 8, 16, 32, NARROW, 256)
THREADS = 128  # threads per block
_TOP, _FAR = 23000, 30500  # values in the sweep, as in dp_tile_workspace.cuh
_SCALE = 16  # scale of values with directions
_ROWS = 16  # rows between two clamps of large values
BANDS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384, 24576, 32768, 47104)  # maximum widths; see narrow_band
_GRAIN = 32  # granularity of narrower bands
_WITH_DIRECTIONS = 2  # relative time of rows with directions
_FULL, _HIDDEN, _SCHEDULERS = 1600, 0.35, 528  # warps, exponent, warps; measured on an H200 with 500 to 1,600 warps
_SHARED = 1.1  # slowdown from waiting for other warps (estimate)
_NARROWER = 1.2  # slowdown from what each row of a lane takes beside its columns (estimate)
_STRIPE, _GROUP = 44, 56  # bytes of TileStripe; bytes of TileGroup and TileWave
_WORKSPACE = 16e9  # bytes of workspace

F64 = npt.NDArray[np.float64]


def spread(lanes: int) -> bool:
    """Return whether any warp of the GPU may compute stripes of any two pairs."""
    return lanes > 32


def exists(lanes: int, pieces: int) -> bool:
    """Return whether there is a build for gap costs of `pieces` pieces."""
    return lanes != NARROW or pieces == 2


def columns(lanes: int) -> int:
    """Return the columns per lane."""
    return 8 if lanes == NARROW else 16


def width(lanes: int) -> int:
    """Return the columns of a stripe."""
    return min(lanes, 32) * columns(lanes)


def state_interval(lanes: int) -> int:
    """Return the steps between two saved states."""
    return 32 if lanes < 8 else 64


def pairs(lanes: int, threads: int) -> int:
    """Return the pairs that a block has at a time; for spread builds, the pairs that share a unit of workspace."""
    return 2 if spread(lanes) else 2 * threads // lanes


def stride(lanes: int, pieces: int, band: int, longest: int, path: bool, count: int = 0) -> int:
    """Return the bytes of workspace per resident pair; a group has the workspace of two.

    `count`: pairs of the launch, for which spread builds need a table.
    """
    rows, of_warp = min(band + width(lanes), longest), min(lanes, 32)
    table = -(-count // 2) * _GROUP + 255 if spread(lanes) else 0
    stripes = (longest - 1) // width(lanes) + 1 if path or spread(lanes) else 2
    each, directions = rows * 8 * pieces + _STRIPE, 0
    if path:
        words = columns(lanes) * (1 + pieces) + pieces + 1
        states = (rows + of_warp - 2) // state_interval(lanes) + 1
        each += states * words * 4 * of_warp
        directions = 16 + state_interval(lanes) * of_warp * columns(lanes) * pieces
    return -(-(stripes * each + directions + table) // 512) * 256


def holds(lanes: int, mismatch: int, gaps: dp.Gaps, band: int) -> bool:
    """Return whether 16 bits hold all values of a band with these costs, in the sweep and in parts of the traceback.

    For the sweep this applies to pairs whose target is not longer than the query; see widest. In a part, costs of
    cells some rows and columns apart differ by at most one gap of that length each way: any extra or missing bases of
    one sequence join a path's gaps, and one gap of all bases is the cheapest. The drift adds as much again.
    """
    return band <= _max_held_band(lanes, mismatch, gaps)


@functools.lru_cache(maxsize=1024)  # asked for each kernel of each batch
def _max_held_band(lanes: int, mismatch: int, gaps: dp.Gaps) -> int:
    """Return the widest band for holds(); -1 if there is none."""
    if not exists(lanes, len(gaps)):
        return -1
    drift = min(e for _, e in gaps)
    opening = _opening(mismatch, gaps)
    if not (2 * drift <= 128 and mismatch - 2 * drift <= 127 and 8 * opening < _FAR - _TOP):
        return -1
    growth = (_ROWS + 1) * mismatch + max(o + e + drift for o, e in gaps)
    distance = width(lanes) + state_interval(lanes) + min(lanes, 32)
    traced = drift * distance + min(2 * o + e * distance for o, e in gaps) + 6 * opening
    held = traced < (2**15 - 1) // _SCALE - growth
    return _max_swept_band(width(lanes), mismatch, gaps) if held else -1


def _opening(mismatch: int, gaps: dp.Gaps) -> int:
    return max(o for o, _ in gaps) + max(e for _, e in gaps) + mismatch


def _max_swept_band(columns: int, mismatch: int, gaps: dp.Gaps) -> int:
    """Return the widest band whose values 16 bits hold in a sweep with stripes of `columns` columns.

    kTop is the maximum cost of a proved path, and no cell costs less than a gap to its diagonal. So values fall by at
    most a gap as long as the band is wide, two openings, and what the drift adds in a stripe.
    """
    drift = max(min(e for _, e in gaps), 1)
    return (_TOP + 2**15 - 1 - 8 * _opening(mismatch, gaps)) // drift - 2 * columns


def widest(
    mismatch: int, gaps: dp.Gaps, band: int, length_difference: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    """Return the widest band (i64[n]) that a kernel chosen for `band` supports; 0 or less: none.

    `length_difference`: by how many bases targets are longer than queries; values fall by a gap of that length more.
    """
    columns = [width(n) for n in LANES if holds(n, mismatch, gaps, band)]
    limit = _max_swept_band(max(columns), mismatch, gaps) if columns else 0
    found: npt.NDArray[np.int64] = limit - np.maximum(length_difference.astype(np.int64), 0)
    return found


def steps(lanes: int, band: int, path: bool = True) -> int:
    """Return about how many rows each column takes, where rows with directions count more."""
    across = width(lanes) + min(lanes, 32)
    return band + across + (_WITH_DIRECTIONS * (across + state_interval(lanes) // 2) if path else 0)


def chain(lanes: int, rows: F64, stripes: F64) -> F64:
    """Return how many rows (f64[n]) of a pair's sweep must be computed one after the other."""
    lag = width(lanes) + min(lanes, 32)
    one_by_one: F64 = stripes * lag + (rows if spread(lanes) else stripes * rows)
    return one_by_one


def lanes(
    band: int, mismatch: int, gaps: dp.Gaps, path: bool = True, count: int | None = None, longest: int = 1
) -> int | None:
    """Return the fastest build for a band, or None if none can hold such costs.

    Args:
        band: band width in diagonals.
        mismatch: mismatch cost.
        gaps: gap costs.
        path: whether CIGARs are computed.
        count: number of pairs, if too few to fill any GPU.
        longest: length of the longest sequence.
    """

    def time(lanes: int) -> float:
        once = steps(lanes, band, path) * (_SHARED if spread(lanes) else 1.0)
        once *= _NARROWER if lanes == NARROW else 1.0
        if count is None:
            return once
        resident = _WORKSPACE / stride(lanes, len(gaps), band, longest, path)
        if resident < pairs(lanes, THREADS):
            return 1e9 / resident  # a block does not fit
        if spread(lanes):  # workspace is sized by each pair
            # Stripes of a pair that run at a time.
            stripes = min(band, longest) / (width(lanes) + state_interval(lanes)) + 1
            return once * _slowdown(min(count / 2 * stripes, _FULL))
        return once * _slowdown(min(count, resident) * lanes / 64)

    able = [n for n in LANES if holds(n, mismatch, gaps, band)]
    return min(able, key=time, default=None)


def _slowdown(warps: float) -> float:
    """Return by what factor a GPU with few warps is slower.

    With fewer warps, less latency is hidden; with fewer warps than schedulers, some schedulers are idle.
    """
    hidden: float = max(_FULL / max(warps, _SCHEDULERS), 1.0) ** _HIDDEN
    return hidden * max(_SCHEDULERS / warps, 1.0)


def narrow_band(
    band: int, gaps: dp.Gaps, length_difference: npt.NDArray[np.integer], cost: F64
) -> npt.NDArray[np.int64]:
    """Return the narrowest band (i64[n], between half of `band` and all of it) that proves costs (f64[n]).

    Pairs for which half of it suffices have a kernel of their own, which may already have been tried.
    `length_difference`: length differences of the pairs. See dp.unproven_cost.
    """
    # Leaving the band and returning takes two gaps that are longer by this much than the lengths require.
    out = np.max([(cost - 2 * opening) / (2 * extend) for opening, extend in gaps], axis=0)
    wanted = 2 * np.ceil(np.maximum(out, 1.0)) + length_difference + 2
    narrow: npt.NDArray[np.int64] = np.clip(-(-wanted // _GRAIN) * _GRAIN, band // 2 + _GRAIN, band).astype(np.int64)
    return narrow


def provable_cost(
    mismatch: int, gaps: dp.Gaps, query_len: np.ndarray, target_len: np.ndarray, band: int | np.ndarray
) -> np.ndarray:
    """Return the maximum cost, i64, that is proved for pairs of these lengths; -1: none. Above it: ScoreLimit.

    `band`: band width in diagonals, of all pairs or of each. Pairs with an empty sequence always succeed.
    """
    length_difference = target_len.astype(np.int64) - query_len
    proved = dp.unproven_cost(gaps, query_len, target_len, band, odd=False) - 1
    held = band <= widest(mismatch, gaps, int(np.max(band, initial=1)), length_difference)
    proved = np.where(held, proved, -1)
    return np.where((query_len == 0) | (target_len == 0), dp.NEVER, np.maximum(proved, -1))
