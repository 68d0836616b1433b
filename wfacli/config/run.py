"""How a run computes: engine, threads, batches, memory."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Protocol

from .alignment import AlignSpec
from .output import OutputSpec

MIB = 1 << 20
MAX_THREADS = 1 << 20  # that the native code accepts, beyond any real machine
CPU_BATCH, GPU_BATCH = 5_600_000, 64_000_000  # default bases of a batch, queries and targets together


@dataclass(frozen=True)
class Limits:
    """Maximum memory of a pair, in bytes.

    Attributes:
        table: bytes of the wavefront rows in memory at once.
        checkpoints: bytes of the checkpoint rows from which segments of a long pair are recomputed.
    """

    table: int = 16 * MIB
    checkpoints: int = 768 * MIB


class EngineName(enum.StrEnum):
    """Processor that aligns."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


@dataclass(frozen=True)
class Config:
    """All options of a run except its files."""

    spec: AlignSpec = field(default_factory=AlignSpec)
    output: OutputSpec = field(default_factory=OutputSpec)
    limits: Limits = field(default_factory=Limits)
    threads: int = 1
    batch_bases: int | None = None  # bases of a batch, queries and targets together; None for the engine's default
    engine: EngineName = EngineName.CPU
    gpu_memory: float | None = None  # maximum memory on each GPU in bytes, or below 1 a fraction of the free memory
    devices: tuple[int, ...] | None = (0,)  # GPU numbers of the driver; None: all GPUs
    kernel: str | None = None  # one of dispatch.CPU_KERNELS, used first for every pair
    check: bool = False
    explain: bool = False  # record the choices of dispatch and their reasons
    command_line: str = ""


class RunConfig(Protocol):
    """Options that every run needs which reads batches of pairs and writes alignments."""

    @property
    def output(self) -> OutputSpec:
        """How alignments are written."""

    @property
    def limits(self) -> Limits:
        """Maximum memory of a pair."""

    @property
    def threads(self) -> int:
        """Number of threads that align."""

    @property
    def batch_bases(self) -> int | None:
        """Bases of a batch; None for the engine's default."""

    @property
    def check(self) -> bool:
        """Whether alignments are verified before they are written."""

    @property
    def explain(self) -> bool:
        """Whether to record the choices of dispatch."""

    @property
    def command_line(self) -> str:
        """The command line as the user typed it."""
