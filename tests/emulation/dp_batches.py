"""Launch banded dynamic programming on an emulated GPU."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from tests import pairgen
from tests.emulation.batches import Answers, DeviceBatch
from tests.emulation.launching import Kernels, address, aligned
from tests.oracle_spans import _IUPAC, Scheme, optima
from tests.oracles import Pair
from wfacli.core.batch import Status
from wfacli.gpu.kernels import dp, tiles

SCHEMES = [
    Scheme(1, ((0, 1),)),
    Scheme(3, ((0, 2),)),
    Scheme(4, ((6, 2),)),
    Scheme(1, ((1, 3),)),
    Scheme(40, ((60, 1),)),
    Scheme(4, ((6, 2), (24, 1))),
    Scheme(4, ((4, 2), (8, 1))),
]
MANY = 2**31 - 2
BLOCK = 64


def symbols_of(sequence: bytes, rule: str, target: bool = False) -> np.ndarray:
    """Return codes that match if they are equal, or, under "wildcard", if they share a bit."""
    plain = sequence.upper().replace(b"U", b"T") if rule == "mismatch" else sequence.upper()
    if rule == "wildcard":
        sets = [_IUPAC.get(chr(c), "") for c in plain]
        return np.array([sum(1 << "ACGT".index(base) for base in meant) for meant in sets], np.uint8)
    if rule == "mismatch":  # other symbols match nothing
        return np.array([c if c in b"ACGT" else 1 + target for c in plain], np.uint8)
    return np.frombuffer(plain, np.uint8)


def batch_of(pairs: Sequence[Pair], rule: str = "") -> DeviceBatch:
    """Return packed bases, and also codes if a rule is given."""
    batch = DeviceBatch(pairs)
    batch.codes = aligned(0, np.uint8)
    if rule:
        groups = -(-batch.lengths // 16)
        starts = 16 * (np.cumsum(groups.reshape(-1)).reshape(-1, 2) - groups)
        batch.codes = aligned(16 * int(groups.sum()), np.uint8)
        for pair, row in zip(pairs, starts.tolist(), strict=True):
            for side, (symbols, start) in enumerate(zip(pair, row, strict=True)):
                batch.codes[start : start + len(symbols)] = symbols_of(symbols, rule, bool(side))
    return batch


def task_for(batch: DeviceBatch, scheme: Scheme, path: bool, max_cost: int, rule: str) -> np.ndarray:
    """Return an AlignTask without answers, rows and memory."""
    task = batch.task()
    task["seq"]["codes"] = address(batch.codes) if rule else 0
    costs = task["costs"]
    costs["mismatch"], costs["pieces"] = scheme.mismatch, len(scheme.gaps)
    for piece, (opened, extend) in enumerate(scheme.gaps):
        costs["open"][0, piece], costs["extend"][0, piece] = opened, extend
    task["max_cost"], task["path"], task["wildcard"] = max_cost, path, rule == "wildcard"
    task["longest"] = batch.lengths.max(initial=0)
    return task


def launch_thread(
    pairs: Sequence[Pair],
    scheme: Scheme,
    band: int,
    *,
    path: bool = True,
    order: int = 0,
    max_cost: int = MANY,
    capacity: int = 1500,
    rule: str = "",
) -> Answers:
    """Launch dp_align and dp_walk of dp_thread.cu; slots are the rows of the reversed batch, from last to first."""
    pieces = dp.pieces_macro(scheme.gaps)
    macros = {"WFACLI_BAND": band, "WFACLI_PIECES": pieces, "WFACLI_CODED": int(bool(rule))}
    kernels = Kernels("dp/dp_thread.cu", BLOCK, macros)
    batch = batch_of(pairs[::-1], rule)
    rows = np.arange(len(pairs), dtype=np.int32)[::-1].copy()
    task = task_for(batch, scheme, path, max_cost, rule)
    answers = Answers.room(task, len(pairs), capacity)
    stride = dp.thread_stride(band, pieces, int(task["longest"][0]))
    warps = -(-len(pairs) // dp.SLOTS)
    workspace = aligned(warps * stride if path else 0, np.uint8)
    task["rows"], task["workspace"], task["stride"] = address(rows), address(workspace), stride
    kernels.launch("dp_align", task, -(-warps * 32 // BLOCK), order)
    if path:
        kernels.launch("dp_walk", task, -(-len(pairs) // BLOCK), order)
    return answers


def launch_warp(
    pairs: Sequence[Pair],
    scheme: Scheme,
    band: int,
    bits: int,
    *,
    path: bool = True,
    order: int = 0,
    max_cost: int = MANY,
    capacity: int = 1500,
    rule: str = "",
    grid: int = 3,
    longest: int = 0,
) -> Answers:
    """Launch dp_warp_align of dp_warp.cu in `grid` blocks.

    `longest`: total length that the memory is allocated for; 0: the longest pair.
    """
    pieces = len(scheme.gaps)
    macros = {"WFACLI_BAND": band, "WFACLI_PIECES": pieces, "WFACLI_BITS": bits, "WFACLI_CODED": int(bool(rule))}
    kernels = Kernels("dp/dp_warp.cu", BLOCK, macros)
    batch = batch_of(pairs[::-1], rule)
    rows = np.arange(len(pairs), dtype=np.int32)[::-1].copy()
    task = task_for(batch, scheme, path, max_cost, rule)
    answers = Answers.room(task, len(pairs), capacity)
    stride = dp.warp_stride(band, pieces, longest or int(task["longest"][0]))
    workspace = aligned(grid * BLOCK // 32 * stride if path else 0, np.uint8)
    drawn = aligned(1, np.uint32)
    drawn[:] = 0
    task["rows"], task["workspace"], task["stride"] = address(rows), address(workspace), stride
    task["work_counter"] = address(drawn)
    kernels.launch("dp_warp_align", task, grid, order)
    return answers


def launch_tiles(
    pairs: Sequence[Pair],
    scheme: Scheme,
    band: int,
    lanes: int,
    *,
    path: bool = True,
    order: int = 0,
    max_cost: int = MANY,
    capacity: int = 1500,
    rule: str = "",
    grid: int = 2,
    rooms: int = 0,
    longest: int = 0,
) -> Answers:
    """Launch dp_tiles_align of dp_tiles.cu in `grid` blocks.

    `longest`: length that the memory is allocated for; 0: the longest pair. `rooms`: pairs that a spread build has
    memory for at a time; 0: all.
    """
    pieces = len(scheme.gaps)
    macros = {"WFACLI_LANES": min(lanes, 32), "WFACLI_SPREAD": int(tiles.spread(lanes)), "WFACLI_PIECES": pieces}
    macros["WFACLI_COLUMNS"] = tiles.columns(lanes)
    block = tiles.THREADS if tiles.spread(lanes) else BLOCK
    kernels = Kernels("tiles/dp_tiles.cu", block, {**macros, "WFACLI_CODED": int(bool(rule))})
    batch = batch_of(pairs[::-1], rule)
    rows = np.arange(len(pairs), dtype=np.int32)[::-1].copy()
    task = task_for(batch, scheme, path, max_cost, rule)
    task["longest"] = max(longest or int(task["longest"][0]), 1)
    task["band"] = band
    answers = Answers.room(task, len(pairs), capacity)
    stride = tiles.stride(lanes, pieces, band, int(task["longest"][0]), path, len(pairs))
    units = grid * tiles.pairs(lanes, block)
    if tiles.spread(lanes):
        units = rooms or len(pairs) + len(pairs) % 2
    workspace = aligned(units * stride, np.uint8)
    drawn = aligned(1, np.uint32)
    drawn[:] = 0
    task["rows"], task["workspace"] = address(rows), address(workspace)
    task["stride"] = units * stride if tiles.spread(lanes) else stride
    task["work_counter"] = address(drawn)
    kernels.launch("dp_tiles_align", task, grid, order)
    return answers


def near_pairs(seed: int, count: int, longest: int, band: int, alphabet: bytes) -> list[tuple[bytes, bytes]]:
    """Return similar and dissimilar pairs whose lengths differ by up to slightly more than the band width."""
    rng = random.Random(seed)
    pairs = []
    while len(pairs) < count:
        length = rng.choice((rng.randint(0, longest), longest - 1, longest))
        kind = rng.choice(pairgen.KINDS)
        query, target = pairgen.pair(rng, length, alphabet, rng.choice((0, 0.05, 0.15, 0.3)), kind)
        if rng.random() < 0.3:  # long gaps, up to the band's edges
            cut, gap = rng.randint(0, len(query)), rng.randint(1, band + 1)
            query = query[:cut] + (
                query[cut + gap :] if rng.random() < 0.5 else pairgen.sequence(rng, gap, alphabet) + query[cut:]
            )
        if rng.random() < 0.5:
            query, target = target, query
        pairs.append((query, target))
    return pairs


def assert_canonical(
    pairs: list, scheme: Scheme, answers: Answers, provable: np.ndarray, rule: str = "mismatch"
) -> int:
    """Compare statuses with those the host expects, and answers with the oracle.

    Return the number of pairs answered.
    """
    for slot, (pair, best) in enumerate(zip(pairs, optima(pairs, scheme, rule=rule), strict=True)):
        status = Status.OK if -best.score <= provable[slot] else Status.SCORE_LIMIT
        where = f"slot {slot} of {pair} with {scheme}, provable {provable[slot]}, best {best}"
        assert answers.status[slot] == status, where
        if status == Status.OK:
            assert (answers.cost[slot], answers.cigar(slot)) == (-best.score, best.cigar), where
        else:
            assert answers.op_count[slot] == 0, where
    return int((answers.status == Status.OK).sum())


def provable(pairs: list, scheme: Scheme, band: int, bits: int = 16) -> np.ndarray:
    """Return the maximum cost of each pair that a build proves."""
    query, target = (np.array([len(pair[side]) for pair in pairs], np.int64) for side in (0, 1))
    return dp.provable_cost(scheme.mismatch, scheme.gaps, query, target, band, bits)


def excursions(seed: int, band: int) -> list[Pair]:
    """Return pairs whose paths reach an edge of the band and return.

    Some gaps are as long as the traceback's look-ahead.
    """
    rng = random.Random(seed)
    pairs = []
    for symbols in (*range(band // 2 - 4, band // 2 + 2), 31, 32, 33, 63, 64, 65):
        left, middle, right, gap, other = (pairgen.sequence(rng, n, b"ACGT") for n in (90, 120, 90, symbols, symbols))
        out_and_back = (left + middle + other + right, left + gap + middle + right)
        at_once = (left + right, left + gap + right)
        pairs += [out_and_back, out_and_back[::-1], at_once, at_once[::-1]]
    return pairs


def provable_of_tiles(pairs: list, scheme: Scheme, band: int) -> np.ndarray:
    """Return the maximum cost of each pair that dp_tiles.cu proves."""
    query, target = (np.array([len(pair[side]) for pair in pairs], np.int64) for side in (0, 1))
    return tiles.provable_cost(scheme.mismatch, scheme.gaps, query, target, band)
