"""Options of the commands for one long pair, with their help."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

import typer

from ..config import MAX_THREADS
from ..errors import UsageError
from .groups import ENGINE, INPUT, LONG_RUNS, OUTPUT, REPORTING

_DEFAULT_INTERVAL = 120.0  # default seconds between two checkpoints
_TIME = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|min)?")
_UNITS = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600}

JsonOption = Annotated[bool, typer.Option("--json", help="Write the result as a JSON object.", rich_help_panel=OUTPUT)]
PlotOption = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        show_default=False,
        help="Also draw a dot plot with the alignment: .html, .png, .svg, .pdf. The HTML page is self-contained; "
        "the others are drawn by matplotlib (extra plot).",
        rich_help_panel=OUTPUT,
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
        help="Number of threads. The result does not depend on it.",
        rich_help_panel=ENGINE,
    ),
]


def _side(metavar: str) -> typer.models.ArgumentInfo:
    found: typer.models.ArgumentInfo = typer.Argument(
        metavar=metavar,
        help="FASTA or FASTQ with one record; plain, gzip, bgzip or zstd. - is standard input.",
        rich_help_panel=INPUT,
    )
    return found


@dataclass(frozen=True)
class LongPair:
    """Files with one sequence each, or the names of their records."""

    a: Annotated[str, _side("QUERY")]
    b: Annotated[str, _side("TARGET")]
    query_name: Annotated[
        str | None,
        typer.Option(
            "--query-name",
            metavar="NAME",
            show_default=False,
            help="Name of the record of QUERY, if it has several. The name is the header up to its first blank.",
            rich_help_panel=INPUT,
        ),
    ] = None
    target_name: Annotated[
        str | None,
        typer.Option(
            "--target-name",
            metavar="NAME",
            show_default=False,
            help="Name of the record of TARGET, if it has several.",
            rich_help_panel=INPUT,
        ),
    ] = None


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of a long run."""

    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            show_default=False,
            help="Save the state of the run in FILE, for --resume. After an interruption, at most the time since "
            "the last checkpoint is lost. Ctrl-C, SIGTERM and SIGHUP write a last checkpoint. FILE is "
            "removed when the result is written.",
            rich_help_panel=LONG_RUNS,
        ),
    ] = None
    checkpoint_every: Annotated[
        str | None,
        typer.Option(
            "--checkpoint-every",
            metavar="TIME",
            show_default="120s",
            help="Time between checkpoints, like 30s, 5m or 1h.",
            rich_help_panel=LONG_RUNS,
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Resume from --checkpoint FILE, if it exists. A checkpoint of other inputs is refused.",
            rich_help_panel=LONG_RUNS,
        ),
    ] = False

    def interval(self) -> float:
        """Return the seconds between two checkpoints. Raises UsageError if options are incompatible."""
        seconds = self._seconds()
        if self.resume and self.checkpoint is None:
            raise UsageError("--resume continues from a checkpoint: give --checkpoint FILE too")
        return seconds

    def _seconds(self) -> float:
        if self.checkpoint_every is None:
            return _DEFAULT_INTERVAL
        if self.checkpoint is None:
            raise UsageError("--checkpoint-every requires --checkpoint FILE")
        found = _TIME.fullmatch(self.checkpoint_every.strip().lower())
        if not found or not float(found[1]):
            raise UsageError(f"--checkpoint-every expects a time like 30s, 5m or 1h, not {self.checkpoint_every!r}")
        return float(found[1]) * _UNITS[found[2]]


@dataclass(frozen=True)
class LongReporting:
    """What is printed, and the report."""

    quiet: Annotated[
        bool,
        typer.Option("-q", "--quiet", help="Print the result and errors only.", rich_help_panel=REPORTING),
    ] = False
    verbose: Annotated[
        bool,
        typer.Option(
            "-v", "--verbose", help="Print each step and its reason on standard error.", rich_help_panel=REPORTING
        ),
    ] = False
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--no-progress",
            show_default="a bar on a terminal, else a line every 10 s",
            help="Show progress and the expected remaining time on standard error.",
            rich_help_panel=REPORTING,
        ),
    ] = None
    stats: Annotated[
        str | None,
        typer.Option(
            "--stats",
            metavar="FILE",
            show_default=False,
            help="Write algorithms, times, memory and versions as JSON.",
            rich_help_panel=REPORTING,
        ),
    ] = None

    @property
    def steps(self) -> bool:
        """Whether to print what is done, and why."""
        return self.verbose and not self.quiet
