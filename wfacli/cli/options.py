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
        help="Memory that a thread may use for a pair, 1M or more, like 500M or 2G. Longer pairs take more time "
        "instead.",
        rich_help_panel=ENGINE,
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "-t",
        "--threads",
        min=1,
        max=MAX_THREADS,
        show_default="the cores this process may use",
        help="Threads that align. The output does not depend on it.",
        rich_help_panel=ENGINE,
    ),
]
GpuMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--gpu-memory",
        metavar="SIZE",
        show_default="half of what is free, 24G at most",
        help="Memory of each GPU that may be used, like 4G, or a fraction of the free memory, like 0.8.",
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
        help="Bases per batch; a few batches are in memory at a time. The output does not depend on it.",
        rich_help_panel=ENGINE,
    ),
]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Replay every alignment against its sequences before it is written.",
        rich_help_panel=ENGINE,
    ),
]


def _set_longest_line(size: str) -> str:
    from .._native import set_max_line_bytes  # imported late: help does not need it

    # The limit is global to the process, since lines are read in many places.
    longest = bytes_of("--max-line", size)
    if not longest:
        raise UsageError(f"--max-line is {size}; it must be 1 at least")
    set_max_line_bytes(longest)
    return size


MaxLineOption = Annotated[
    str,
    typer.Option(
        "--max-line",
        metavar="SIZE",
        callback=_set_longest_line,
        help="Maximum bytes of a header, a mapping or another line that is not a sequence, like 64M. Sequences and "
        "their lines, and SEQ and QUAL of SAM and BAM, have no maximum.",
        rich_help_panel=INPUT,
    ),
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.", rich_help_panel=REPORTING)]
ProgressOption = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        show_default="a bar on a terminal, else a line every 10 s",
        help="Show the progress of the run on standard error.",
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
            help="FASTA or FASTQ with the reads, or one file of pairs: .seq with alternating lines '>query' and "
            "'<target', or a tab-separated table (query, target; or name, query, target). Plain, gzip, bgzip or "
            "zstd. - is standard input.",
            rich_help_panel=INPUT,
        ),
    ]
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            show_default=False,
            help="FASTA or FASTQ: record i of QUERY is aligned to record i of TARGET.",
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
            help="Where to align; auto uses a GPU if there is one. The output does not depend on it.",
            rich_help_panel=ENGINE,
        ),
    ] = EngineName.AUTO
    gpu_memory: GpuMemoryOption = None
    devices: Annotated[
        str,
        typer.Option(
            "--devices",
            metavar="all|N,...",
            help="GPUs to use, counted from 0 among those that CUDA_VISIBLE_DEVICES leaves. One that fails is left "
            "out with a warning. The output does not depend on it.",
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
            help="Write counts, times and versions of the run as JSON.",
            rich_help_panel=REPORTING,
        ),
    ] = None


def command_line() -> str:
    """Return the command line as the user entered it."""
    return shlex.join(["wfacli", *sys.argv[1:]])
