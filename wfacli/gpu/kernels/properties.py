"""What a GPU is like, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """A GPU.

    Attributes:
        arch: as compilers name it, "sm_90".
        shared_per_block: most shared memory that a block may ask for, bytes, static and dynamic together.
        shared_per_multiprocessor: bytes.
        memory_total: bytes.
        driver_version: as NVIDIA numbers what its driver supports, "13.0".
        bus: its PCI address, "" where there is none; what tells GPUs of one machine apart, whoever counts them.
    """

    name: str
    arch: str
    multiprocessors: int
    shared_per_block: int
    shared_per_multiprocessor: int
    memory_total: int
    driver_version: str
    bus: str = ""
