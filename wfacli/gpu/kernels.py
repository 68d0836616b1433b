"""How each kernel goes about some pairs: which rows of the catalogue, which pieces of memory."""

from __future__ import annotations

import numpy as np

from . import catalogue, dp
from .layout import bits_stride
from .plans import Plan, Shape
from .rungs import PREFIX


def plan_of(kernel: str, shape: Shape) -> Plan:
    """The plan of one of dispatch.GPU_KERNELS for pairs of a shape."""
    name = kernel.removeprefix(PREFIX)
    family, _, size = name.partition("-")
    if family == "bits":
        return _bits(name, int(size), shape)
    if family == "dp":
        return _dp_thread(int(size), shape) if int(size) <= dp.WIDEST_OF_THREADS else _dp_warp(int(size), shape)
    raise ValueError(f"no kernel of the GPU is named {kernel}")


def _rows(name: str, path: bool) -> tuple[catalogue.Row, ...]:
    names = (name, catalogue.walk_of(name)) if path else (name,)
    return tuple(catalogue.ROWS[n] for n in names)


def _bits(name: str, diagonals: int, shape: Shape) -> Plan:
    words, lanes = catalogue.BITS[diagonals]
    rows = _rows(name, shape.path)
    return Plan(
        rows=rows,
        blocks=tuple(row.threads // lanes for row in rows),
        unit=32 // lanes,
        stride=bits_stride(words, shape.longest) if shape.path else 0,
        op_capacity=_most_ops(min(diagonals, shape.max_cost)) if shape.path else 0,
    )


def _dp_thread(band: int, shape: Shape) -> Plan:
    pieces = dp.pieces_macro(shape.gaps)
    rows = _rows(catalogue.dp_thread(band, pieces), shape.path)
    return Plan(
        rows=rows,
        blocks=(dp.SLOTS * rows[0].threads // 32, *(row.threads for row in rows[1:])),
        unit=dp.SLOTS,
        stride=dp.thread_stride(band, pieces, shape.longest) if shape.path else 0,
        op_capacity=_dp_ops(band, shape),
    )


def _dp_warp(band: int, shape: Shape) -> Plan:
    pieces = max(dp.pieces_macro(shape.gaps), 1)
    # Costs are exact in 16 bits where a band of this width proves no greater ones.
    same = np.full(1, shape.longest, np.int32)
    proved = dp.unproven_cost(shape.gaps, same, same, band)[0]
    bits = 16 if dp.provable_cost(shape.mismatch, shape.gaps, same, same, band, 16)[0] >= proved - 1 else 32
    rows = (catalogue.ROWS[catalogue.dp_warp(band, pieces, bits)],)
    return Plan(
        rows=rows,
        blocks=(rows[0].threads // 32,),
        unit=1,
        stride=-(-dp.warp_stride(band, pieces, shape.longest) // 256) * 256 if shape.path else 0,
        op_capacity=_dp_ops(band, shape),
        resident=True,
    )


def _dp_ops(band: int, shape: Shape) -> int:
    """Operations of a path that costs no more than a band proves, and has at least one letter of each sequence."""
    if not shape.path:
        return 0
    same = np.full(1, shape.longest, np.int32)
    most = min(int(dp.unproven_cost(shape.gaps, same, same, band)[0]), shape.max_cost)
    least = min(shape.mismatch, *(opened + extend for opened, extend in shape.gaps))
    return _most_ops(min(most // least, shape.longest) + 1)


def _most_ops(edits: int) -> int:
    """Operations of a CIGAR with so many edits: as many runs of matches, and one more."""
    return 2 * edits + 1
