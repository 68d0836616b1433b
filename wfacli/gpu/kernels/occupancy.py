"""Resident blocks per multiprocessor (CUDA C++ Programming Guide, Compute Capabilities)."""

from __future__ import annotations

from .properties import Gpu

_WARP = 32
_REGISTERS = 65536  # per multiprocessor
_REGISTER_UNIT = 256  # granularity of a warp's registers
_QUARTERS = 4  # schedulers of a multiprocessor; each has its share of registers
_SHARED_UNIT = 128  # bytes
_SHARED_RESERVED = 1024  # bytes that the system reserves in each block
# Maximum warps and blocks per multiprocessor, by compute capability; an unknown one uses the previous known one.
_LIMITS = {80: (64, 32), 86: (48, 16), 87: (48, 16), 89: (48, 24), 90: (64, 32), 100: (64, 32), 120: (48, 24)}


def capability(arch: str) -> int:
    """Return the compute capability of an architecture: 90 for "sm_90"."""
    return int(arch.removeprefix("sm_").rstrip("af"))


def resident_blocks(gpu: Gpu, threads: int, registers: int, shared_bytes: int) -> int:
    """Return how many blocks a multiprocessor can hold at a time; 0 if not even one fits.

    Args:
        gpu: the GPU.
        threads: threads per block.
        registers: registers per thread.
        shared_bytes: static and dynamic shared memory per block, in bytes.
    """
    if shared_bytes > gpu.shared_per_block:
        return 0
    max_warps, max_blocks = _LIMITS[max((c for c in _LIMITS if c <= capability(gpu.arch)), default=80)]
    warps = -(-threads // _WARP)
    warp_registers = _up(max(registers, 1) * _WARP, _REGISTER_UNIT)
    warps_by_registers = _REGISTERS // _QUARTERS // warp_registers * _QUARTERS
    shared = _up(shared_bytes + _SHARED_RESERVED, _SHARED_UNIT)
    return min(max_blocks, max_warps // warps, warps_by_registers // warps, gpu.shared_per_multiprocessor // shared)


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
