"""How each kernel goes about some pairs: which rows of the catalogue, which pieces of memory."""

from __future__ import annotations

from . import catalogue
from .layout import bits_stride
from .plans import Plan, Shape

PREFIX = "gpu-"  # of the kernels' names where the CPU's are too


def plan_of(kernel: str, shape: Shape) -> Plan:
    """The plan of one of dispatch.GPU_KERNELS for pairs of a shape."""
    name = kernel.removeprefix(PREFIX)
    family, _, size = name.partition("-")
    if family == "bits":
        return _bits(name, int(size), shape)
    raise ValueError(f"no kernel of the GPU is named {kernel}")


def _rows(name: str, path: bool) -> tuple[catalogue.Row, ...]:
    names = (name, catalogue.walk_of(name)) if path else (name,)
    return tuple(catalogue.ROWS[n] for n in names)


def _bits(name: str, diagonals: int, shape: Shape) -> Plan:
    words, lanes = catalogue.BITS[diagonals]
    rows = _rows(name, shape.path)
    return Plan(
        rows=rows,
        block=rows[0].threads // lanes,
        unit=32 // lanes,
        stride=bits_stride(words, shape.longest) if shape.path else 0,
        op_capacity=_most_ops(min(diagonals, shape.max_cost)) if shape.path else 0,
    )


def _most_ops(edits: int) -> int:
    """Operations of a CIGAR with so many edits: as many runs of matches, and one more."""
    return 2 * edits + 1
