"""Properties of a GPU, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """A GPU.

    Attributes:
        arch: architecture as compilers name it, "sm_90".
        shared_per_block: maximum shared memory per block, static and dynamic together, in bytes.
        shared_per_multiprocessor: shared memory per multiprocessor, in bytes.
        memory_total: GPU memory, in bytes.
        driver_version: CUDA version that the driver supports, "13.0".
        bus: PCI address, which identifies a GPU of the machine whatever its device number; "" if there is none.
        through: what calls the driver, "PyCUDA 2026.1" or "ctypes".
    """

    name: str
    arch: str
    multiprocessors: int
    shared_per_block: int
    shared_per_multiprocessor: int
    memory_total: int
    driver_version: str
    bus: str = ""
    through: str = ""
