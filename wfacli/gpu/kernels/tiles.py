"""What the host needs to know of dp_tiles.cu: its memory, the costs that its 16 bits hold, and what it proves.

Costs are those of the task, divided by their greatest common divisor. Bands can have any width.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import dp

# The builds that there are: lanes that have two pairs. In the last one all warps of the GPU share all pairs.
LANES = (4, 8, 16, 32, 256)
COLUMNS = 16  # of a lane
THREADS = 128  # a block
_TOP, _FAR = 23000, 30500  # values in the sweep, as in dp_tile_room.cuh
_SCALE = 16  # of values with directions
_ROWS = 16  # between two cuts of large values
BANDS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384, 24576, 32768, 47104)  # at most; see cut
_GRAIN = 32  # of narrower ones
_WITH_DIRECTIONS = 2  # times as long
_FULL, _HIDDEN, _SCHEDULERS = 1600, 0.35, 528  # warps; as measured on an H200 with 500 to 1,600 of them
_SHARED = 1.1  # times as long as if nobody waited for others (guess)
_STRIPE, _GROUP = 44, 56  # bytes of TileStripe; of TileGroup and TileWave
_ROOM = 16e9  # bytes of workspace

F64 = npt.NDArray[np.float64]


def spread(lanes: int) -> bool:
    """Whether any warp of the GPU takes stripes of any two pairs."""
    return lanes > 32


def width(lanes: int) -> int:
    """Columns of a stripe."""
    return min(lanes, 32) * COLUMNS


def between(lanes: int) -> int:
    """Steps between two states that are kept."""
    return 32 if lanes < 8 else 64


def pairs(lanes: int, threads: int) -> int:
    """That a block of so many threads has at a time; of those that are spread, how many share a room."""
    return 2 if spread(lanes) else 2 * threads // lanes


def stride(lanes: int, pieces: int, band: int, longest: int, path: bool, count: int = 0) -> int:
    """Bytes of workspace for each pair that is resident; a group has the room of two.

    `count`: pairs of the launch, of which a build that is spread has a table.
    """
    rows, of_warp = min(band + width(lanes), longest), min(lanes, 32)
    table = -(-count // 2) * _GROUP + 255 if spread(lanes) else 0
    stripes = (longest - 1) // width(lanes) + 1 if path or spread(lanes) else 2
    each, directions = rows * 8 * pieces + _STRIPE, 0
    if path:
        words = COLUMNS * (1 + pieces) + pieces + 1
        states = (rows + of_warp - 2) // between(lanes) + 1
        each += states * words * 4 * of_warp
        directions = 16 + between(lanes) * of_warp * 16 * pieces
    return -(-(stripes * each + directions + table) // 512) * 256


def holds(lanes: int, mismatch: int, gaps: dp.Gaps, band: int) -> bool:
    """Whether 16 bits hold all values of a band with these costs: those of the sweep, and of the parts walked through.

    In the sweep this is said of pairs whose target is not longer than the query; see widest. In a part, costs of cells
    that are some rows and columns apart differ by a gap of so many letters each way at most (what a path has more, or
    less, of one sequence joins its gaps, and one gap of all letters is the cheapest); the drift adds as much again.
    """
    drift = min(e for _, e in gaps)
    opened = _opened(mismatch, gaps)
    if not (2 * drift <= 128 and mismatch - 2 * drift <= 127 and 8 * opened < _FAR - _TOP):
        return False
    growth = (_ROWS + 1) * mismatch + max(o + e + drift for o, e in gaps)
    apart = width(lanes) + between(lanes) + min(lanes, 32)
    walked = drift * apart + min(2 * o + e * apart for o, e in gaps) + 6 * opened
    return band <= _swept(width(lanes), mismatch, gaps) and walked < (2**15 - 1) // _SCALE - growth


def _opened(mismatch: int, gaps: dp.Gaps) -> int:
    return max(o for o, _ in gaps) + max(e for _, e in gaps) + mismatch


def _swept(columns: int, mismatch: int, gaps: dp.Gaps) -> int:
    """The widest band whose values 16 bits hold in a sweep with stripes of so many columns.

    kTop is what a path that is proved has cost at most, and no cell costs less than a gap to its diagonal: values
    fall by a gap of as many letters as the band has diagonals, two openings, and what the drift adds in a stripe.
    """
    drift = max(min(e for _, e in gaps), 1)
    return (_TOP + 2**15 - 1 - 8 * _opened(mismatch, gaps)) // drift - 2 * columns


def widest(mismatch: int, gaps: dp.Gaps, band: int, longer: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """The widest band (i64[n]) that a kernel chosen for `band` takes; 0 or less: none.

    `longer`: letters by which targets are longer than queries. Values fall by a gap of so many letters more.
    """
    columns = [width(n) for n in LANES if holds(n, mismatch, gaps, band)]
    most = _swept(max(columns), mismatch, gaps) if columns else 0
    found: npt.NDArray[np.int64] = most - np.maximum(longer.astype(np.int64), 0)
    return found


def steps(lanes: int, band: int, path: bool = True) -> int:
    """About how many rows each column takes, those with directions counted as more."""
    across = width(lanes) + min(lanes, 32)
    return band + across + (_WITH_DIRECTIONS * (across + between(lanes) // 2) if path else 0)


def chain(lanes: int, rows: F64, stripes: F64) -> F64:
    """Rows (f64[n]) that the sweep of a pair takes one after the other."""
    behind = width(lanes) + min(lanes, 32)
    one_by_one: F64 = stripes * behind + (rows if spread(lanes) else stripes * rows)
    return one_by_one


def lanes(
    band: int, mismatch: int, gaps: dp.Gaps, path: bool = True, count: int | None = None, longest: int = 1
) -> int | None:
    """The build that is fastest for a band; None: none holds such costs.

    Args:
        band: diagonals.
        mismatch: its cost.
        gaps: theirs.
        path: whether CIGARs are wanted.
        count: pairs, if not enough for any GPU.
        longest: letters of the longest sequence.
    """

    def time(lanes: int) -> float:
        once = steps(lanes, band, path) * (_SHARED if spread(lanes) else 1.0)
        if count is None:
            return once
        room = _ROOM / stride(lanes, len(gaps), band, longest, path)
        if room < pairs(lanes, THREADS):
            return 1e9 / room  # a block must have room
        if spread(lanes):  # rooms are of the pairs' own sizes
            stripes = min(band, longest) / (width(lanes) + between(lanes)) + 1  # of a pair at a time
            return once * _waits(min(count / 2 * stripes, _FULL))
        return once * _waits(min(count, room) * lanes / 64)

    able = [n for n in LANES if holds(n, mismatch, gaps, band)]
    return min(able, key=time, default=None)


def _waits(warps: float) -> float:
    """How much longer a GPU takes that is not full.

    With fewer warps less of what they wait for is hidden, and with fewer than it has schedulers some of these have
    nothing to do.
    """
    hidden: float = max(_FULL / max(warps, _SCHEDULERS), 1.0) ** _HIDDEN
    return hidden * max(_SCHEDULERS / warps, 1.0)


def cut(band: int, gaps: dp.Gaps, apart: npt.NDArray[np.integer], cost: F64) -> npt.NDArray[np.int64]:
    """The narrowest band (i64[n], between half of `band` and all of it) that proves costs (f64[n]).

    What half of it would do for has a kernel of its own, which may have been tried. `apart`: by how much the lengths
    of a pair's sequences differ. See dp.unproven_cost.
    """
    # A way out and back: two gaps, which have as many letters more than those that the lengths ask for.
    out = np.max([(cost - 2 * opened) / (2 * extend) for opened, extend in gaps], axis=0)
    wanted = 2 * np.ceil(np.maximum(out, 1.0)) + apart + 2
    narrow: npt.NDArray[np.int64] = np.clip(-(-wanted // _GRAIN) * _GRAIN, band // 2 + _GRAIN, band).astype(np.int64)
    return narrow


def provable_cost(
    mismatch: int, gaps: dp.Gaps, query_len: np.ndarray, target_len: np.ndarray, band: int | np.ndarray
) -> np.ndarray:
    """The greatest cost, i64, that is answered for pairs of such lengths; -1: none. Above it: ScoreLimit.

    `band`: diagonals, of all pairs or of each. Pairs with an empty side are always answered.
    """
    longer = target_len.astype(np.int64) - query_len
    proved = dp.unproven_cost(gaps, query_len, target_len, band, odd=False) - 1
    held = band <= widest(mismatch, gaps, int(np.max(band, initial=1)), longer)
    proved = np.where(held, proved, -1)
    return np.where((query_len == 0) | (target_len == 0), dp.NEVER, np.maximum(proved, -1))
