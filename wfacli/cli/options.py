"""Options that several commands share, with their help."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from ..config import CPU_BATCH, GPU_BATCH, MAX_THREADS, AlignSpec, Config, EngineName, OutputSpec
from ..core.cores import usable_cores
from ..errors import UsageError
from .groups import ENGINE, INPUT, REPORTING
from .numbers import MAX_BYTES
from .scoring import bytes_of, devices_of, gpu_memory_of, limits_of

MaxMemoryOption = Annotated[
    str,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Memory per thread for one pair, at least 1M. Longer pairs take more time instead.",
        rich_help_panel=ENGINE,
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "-t",
        "-@",
        "--threads",
        min=1,
        max=MAX_THREADS,
        show_default="all usable cores",
        metavar="N",
        help="Number of threads. The output does not depend on it.",
        rich_help_panel=ENGINE,
    ),
]
GpuMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--gpu-memory",
        metavar="SIZE",
        show_default="half of the free memory, at most 24G",
        help="GPU memory to use. A size like 4G, or a fraction of the free memory like 0.8.",
        rich_help_panel=ENGINE,
    ),
]
BatchBasesOption = Annotated[
    int | None,
    typer.Option(
        "--batch-bases",
        min=1,
        max=MAX_BYTES,
        show_default=f"{CPU_BATCH:,} on the CPU, {GPU_BATCH:,} on a GPU",
        metavar="N",
        help="Bases per batch. A few batches are in memory at a time. The records do not depend on it; the blocks of "
        "compressed files do.",
        rich_help_panel=ENGINE,
    ),
]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Check every alignment against its sequences before it is written.",
        rich_help_panel=ENGINE,
    ),
]


def _set_longest_line(size: str) -> str:
    from .._native import set_max_line_bytes  # imported late: help does not need it

    # The limit is global to the process, since lines are read in many places.
    longest = bytes_of("--max-line", size)
    if not longest:
        raise UsageError(f"--max-line is {size}; the minimum is 1")
    set_max_line_bytes(longest)
    return size


MaxLineOption = Annotated[
    str,
    typer.Option(
        "--max-line",
        metavar="SIZE",
        callback=_set_longest_line,
        help="Maximum bytes of a line that is not a sequence. This applies to headers and mappings; sequences and "
        "qualities have no maximum.",
        rich_help_panel=INPUT,
    ),
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.", rich_help_panel=REPORTING)]
ProgressOption = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        show_default="a bar on a terminal, else a line every 10 s",
        help="Show progress on standard error.",
        rich_help_panel=REPORTING,
    ),
]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=REPORTING)
]


@dataclass(frozen=True)
class Pairs:
    """Files with pairs."""

    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="FASTA or FASTQ, or one file of pairs. A file of pairs is .seq (lines '>query' and '<target' in "
            "turn) or a tab-separated table (query, target; or name, query, target). Files are plain, gzip, "
            "bgzip or zstd; - is standard input, and s3://bucket/name a URL.",
            rich_help_panel=INPUT,
        ),
    ]
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            show_default=False,
            help="FASTA or FASTQ; record i of QUERY is aligned to its record i.",
            rich_help_panel=INPUT,
        ),
    ] = None


@dataclass(frozen=True)
class EngineOptions:
    """Where batches are aligned, and with which resources."""

    threads: ThreadsOption = None
    engine: Annotated[
        EngineName,
        typer.Option(
            "--engine",
            help="Where to align. Auto uses a GPU if there is one. The output does not depend on it.",
            rich_help_panel=ENGINE,
        ),
    ] = EngineName.AUTO
    gpu_memory: GpuMemoryOption = None
    devices: Annotated[
        str,
        typer.Option(
            "--devices",
            metavar="all|N,...",
            help="GPUs to use: all, or numbers from 0. Numbers count the GPUs that CUDA_VISIBLE_DEVICES leaves. A "
            "GPU that fails is left out with a warning. The output does not depend on it.",
            rich_help_panel=ENGINE,
        ),
    ] = "0"
    batch_bases: BatchBasesOption = None
    max_memory: MaxMemoryOption = "784M"

    def config(
        self, spec: AlignSpec, output: OutputSpec, *, check: bool, kernel: str | None = None, explain: bool = False
    ) -> Config:
        """Return the configuration of a run; for the arguments, see Config. Raises UsageError."""
        return Config(
            spec,
            output,
            limits_of(self.max_memory),
            threads=self.threads or usable_cores(),
            batch_bases=self.batch_bases,
            engine=self.engine,
            gpu_memory=gpu_memory_of(self.gpu_memory),
            devices=devices_of(self.devices),
            kernel=kernel,
            check=check,
            explain=explain,
            command_line=command_line(),
        )


@dataclass(frozen=True)
class Reporting:
    """What is printed, and the report."""

    quiet: QuietOption = False
    progress: ProgressOption = None
    stats: Annotated[
        str | None,
        typer.Option(
            "--stats",
            metavar="FILE",
            show_default=False,
            help="Write counts, times and versions as JSON.",
            rich_help_panel=REPORTING,
        ),
    ] = None


def command_line() -> str:
    """Return the command line as the user entered it."""
    return shlex.join(["wfacli", *sys.argv[1:]])
