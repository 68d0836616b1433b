"""How each kernel goes about some pairs: which rows of the catalogue, which pieces of memory."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from ...core import tuning
from ...core.costs import NO_BOUND
from ...core.route import GPU_PREFIX
from . import catalogue, dp, tiles, wfa
from .layout import bits_stride
from .plans import Plan, Shape

_LOST, _MIN_LOST = (
    3,
    1000,
)  # multiple of the likely cost, and minimum cost, at which an alignment in a band is abandoned


def plan_of(kernel: str, shape: Shape) -> Plan:
    """The plan of one of plan.gpu_kernels.KERNELS for pairs of a shape; `supports` says whether it can have one."""
    # It differs little with the number of pairs: most batches then find their plan made.
    count, as_long = (1 << max(number - 1, 0).bit_length() for number in (shape.count, shape.as_long or shape.count))
    return _plan_of(kernel, dataclasses.replace(shape, count=count, as_long=as_long))


@functools.lru_cache(maxsize=256)
def _plan_of(kernel: str, shape: Shape) -> Plan:
    name = kernel.removeprefix(GPU_PREFIX)
    if name in wfa.LADDER:
        return _wavefront(name, shape)
    if name in wfa.FOLLOWING:
        return _following_band(name, shape)
    family, _, size = name.partition("-")
    if family == "bits":
        return _bits(name, int(size), shape)
    if family == "dp":
        return _dp_thread(int(size), shape) if int(size) <= dp.MAX_THREAD_BAND else _dp_warp(int(size), shape)
    if family == "tiles":
        return _dp_tiles(int(size), shape)
    raise ValueError(f"no kernel of the GPU is named {kernel}")


def supports(kernel: str, shape: Shape) -> bool:
    """Whether a kernel is compiled for the symbols and costs of a shape."""
    family, _, rest = kernel.removeprefix(GPU_PREFIX).partition("-")
    pieces = dp.pieces_macro(shape.gaps)
    if (kernel.removeprefix(GPU_PREFIX) in wfa.FOLLOWING) != bool(shape.band[0]):
        return False
    if family == "wfa":
        return wfa.VARIANTS[f"wfa-{rest}"].pieces == pieces
    if family == "bits":
        return not shape.coded and shape.mismatch == 1 and shape.gaps == ((0, 1),)
    if family == "tiles":
        return tiles.lanes(int(rest), shape.mismatch, shape.gaps) is not None
    coded = int(rest) in catalogue.DP_WARP or catalogue.dp_thread_coded(int(rest))
    return catalogue.dp_build(int(rest), pieces) is not None and (coded or not shape.coded)


def _rows(name: str, path: bool, coded: bool = False) -> tuple[catalogue.Row, ...]:
    first = catalogue.coded_of(name) if coded else name
    names = (first, catalogue.traceback_row_of(name)) if path else (first,)
    return tuple(catalogue.ROWS[n] for n in names)


def _bits(name: str, diagonals: int, shape: Shape) -> Plan:
    words, lanes = catalogue.BITS[diagonals]
    rows = _rows(name, shape.path)
    return Plan(
        rows=rows,
        blocks=tuple(row.threads // lanes for row in rows),
        unit=32 // lanes,
        stride=bits_stride(words, shape.longest) if shape.path else 0,
        op_capacity=_max_ops(min(diagonals, shape.max_cost)) if shape.path else 0,
    )


def _dp_thread(band: int, shape: Shape) -> Plan:
    pieces = _build(band, shape)
    rows = _rows(catalogue.dp_thread(band, pieces), shape.path, shape.coded)
    return Plan(
        rows=rows,
        blocks=(dp.SLOTS * rows[0].threads // 32, *(row.threads for row in rows[1:])),
        unit=dp.SLOTS,
        stride=dp.thread_stride(band, pieces, shape.longest) if shape.path else 0,
        op_capacity=_dp_ops(band, shape),
    )


def _dp_warp(band: int, shape: Shape) -> Plan:
    pieces = _build(band, shape)
    # Costs are exact in 16 bits where a band of this width proves no greater ones.
    same = np.full(1, shape.longest, np.int32)
    proved = dp.unproven_cost(shape.gaps, same, same, band)[0]
    bits = 16 if dp.provable_cost(shape.mismatch, shape.gaps, same, same, band, 16)[0] >= proved - 1 else 32
    rows = _rows(catalogue.dp_warp(band, pieces, bits), False, shape.coded)
    return Plan(
        rows=rows,
        blocks=(rows[0].threads // 32,),
        unit=1,
        stride=-(-dp.warp_stride(band, pieces, shape.longest) // 256) * 256 if shape.path else 0,
        op_capacity=_dp_ops(band, shape),
        resident=True,
    )


def _dp_tiles(band: int, shape: Shape) -> Plan:
    if shape.cut:
        band = min(band, shape.cut)
    elif shape.likely < NO_BOUND:
        cost = np.full(1, shape.likely * tuning.GPU_BAND_MARGIN)
        band = int(tiles.narrow_band(band, shape.gaps, np.full(1, shape.length_difference), cost)[0])
    lanes = tiles.lanes(band, shape.mismatch, shape.gaps, shape.path, shape.as_long, max(shape.longest, 1))
    if lanes is None:
        raise ValueError(f"16 bits do not hold these costs in a band of {band} diagonals")
    pieces = len(shape.gaps)
    name = catalogue.dp_tiles(lanes, pieces)
    row = catalogue.ROWS[catalogue.coded_of(name) if shape.coded else name]
    return Plan(
        rows=(row,),
        blocks=(tiles.pairs(lanes, row.threads),),
        unit=1,
        stride=tiles.stride(lanes, pieces, band, max(shape.longest, 1), shape.path, shape.count),
        op_capacity=_dp_ops(band, shape, odd=False),
        resident=True,
        spread=tiles.spread(lanes),
        band=band,
    )


def _build(band: int, shape: Shape) -> int:
    pieces = catalogue.dp_build(band, dp.pieces_macro(shape.gaps))
    if pieces is None:
        raise ValueError(f"no band of {band} diagonals is compiled for these gap costs")
    return pieces


def _wavefront(name: str, shape: Shape) -> Plan:
    row = wfa.row_name(name, shape.path, shape.coded)
    variant, costs = wfa.VARIANTS[row], (shape.mismatch, shape.gaps)
    # A bound that the user sets is kept as it is, so that what costs more needs no other kernel.
    known = shape.likely < NO_BOUND and shape.max_cost >= NO_BOUND
    likely = shape.cut or int(shape.likely * tuning.GPU_LIKELY) if known else shape.max_cost
    max_cost = wfa.bound(name, *costs, shape.max_cost, likely)
    min_step = min(shape.mismatch, *(opened + extend for opened, extend in shape.gaps))
    return Plan(
        rows=(catalogue.ROWS[row],),
        blocks=(variant.pairs,),
        unit=1,
        stride=variant.stride(*costs, max_cost, shape.longest),
        op_capacity=_max_ops(min(max_cost // min_step, 2 * shape.longest) + 1) if shape.path else 0,
        resident=True,
        shared=variant.shared_bytes(*costs),
        max_cost=max_cost,
        first_cost=int(max_cost * tuning.GPU_WFA_FIRST) if known else max_cost,
    )


def _following_band(name: str, shape: Shape) -> Plan:
    row = f"{name}-coded" if shape.coded else name
    variant, costs = wfa.VARIANTS[row], (shape.mismatch, shape.gaps)
    band, step = shape.band
    # The cost of an alignment with mismatches and one gap. Pairs that cost more have lost the band and are given up.
    one_gap_cost = shape.mismatch * shape.longest + max(o + e * (shape.length_difference + 1) for o, e in shape.gaps)
    max_cost = variant.cost_limit(*costs, min(shape.max_cost, one_gap_cost, max(_LOST * shape.likely, _MIN_LOST)))
    min_step = min(shape.mismatch, *(opened + extend for opened, extend in shape.gaps))
    return Plan(
        rows=(catalogue.ROWS[row],),
        blocks=(variant.pairs,),
        unit=1,
        stride=variant.stride(*costs, max_cost, shape.longest, band=2 * band + 1),
        op_capacity=_max_ops(min(max_cost // min_step, 2 * shape.longest) + 1),
        resident=True,
        shared=variant.shared_bytes(*costs),
        max_cost=max_cost,
        band=band,
        band_step=step,
        band_follows_path=True,
        exclusive=name in wfa.EXCLUSIVE.values(),
    )


def _dp_ops(band: int, shape: Shape, odd: bool | None = None) -> int:
    """Operations of a path that costs no more than a band proves, and has at least one symbol of each sequence."""
    if not shape.path:
        return 0
    same = np.full(1, shape.longest, np.int32)
    max_cost = min(int(dp.unproven_cost(shape.gaps, same, same, band, odd)[0]), shape.max_cost)
    min_step = min(shape.mismatch, *(opened + extend for opened, extend in shape.gaps))
    return _max_ops(min(max_cost // min_step, shape.longest) + 1)


def _max_ops(edits: int) -> int:
    """Return the maximum operations of a CIGAR with `edits` edits: as many runs of matches, and one more."""
    return 2 * edits + 1
