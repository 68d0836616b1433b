"""How many blocks of a kernel a multiprocessor runs at a time (CUDA C++ Programming Guide, Compute Capabilities)."""

from __future__ import annotations

from .properties import Gpu

_WARP = 32
_REGISTERS = 65536  # of a multiprocessor
_REGISTER_UNIT = 256  # a warp's registers come in multiples of it
_QUARTERS = 4  # a multiprocessor's schedulers; each has its share of registers
_SHARED_UNIT = 128  # bytes
_SHARED_RESERVED = 1024  # bytes of each block that the system keeps
# Warps and blocks of a multiprocessor by compute capability; an unknown one counts like the last one before it.
_LIMITS = {80: (64, 32), 86: (48, 16), 87: (48, 16), 89: (48, 24), 90: (64, 32), 100: (64, 32), 120: (48, 24)}


def capability(arch: str) -> int:
    """90 of "sm_90"."""
    return int(arch.removeprefix("sm_").rstrip("af"))


def resident_blocks(gpu: Gpu, threads: int, registers: int, shared_bytes: int) -> int:
    """Blocks of a multiprocessor at a time; 0 where not even one fits.

    Args:
        gpu: which GPU.
        threads: of a block.
        registers: of a thread.
        shared_bytes: of a block, static and dynamic.
    """
    if shared_bytes > gpu.shared_per_block:
        return 0
    most_warps, most_blocks = _LIMITS[max((c for c in _LIMITS if c <= capability(gpu.arch)), default=80)]
    warps = -(-threads // _WARP)
    warp_registers = _up(max(registers, 1) * _WARP, _REGISTER_UNIT)
    warps_by_registers = _REGISTERS // _QUARTERS // warp_registers * _QUARTERS
    shared = _up(shared_bytes + _SHARED_RESERVED, _SHARED_UNIT)
    return min(most_blocks, most_warps // warps, warps_by_registers // warps, gpu.shared_per_multiprocessor // shared)


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
