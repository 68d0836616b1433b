"""What a batch command was asked for: a run that is executed at once, or planned and executed in shards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from .. import __version__
from ..config import MappingSpec, RunConfig
from ..io.read.reader import Files
from ..run.batch_run import BatchRun
from ..run.parts import NO_REPORTS, OpenOutput, ReportFiles
from .console import note
from .options import Reporting
from .running import execute


@dataclass(frozen=True)
class Request:
    """A run that a command was asked for.

    Attributes:
        command: name of the command.
        config: configuration of the run.
        files: its input files.
        run: align_run, mapped_run or extend_run, with the arguments that the command adds.
        output: path of the output; None: standard output.
        reporting: what is printed.
        mapping: how mappings are used; None for pairs.
        uncut: why the inputs cannot be cut into shards; "" if they can.
        reports: files of the reports; those of the statistics are reporting's.
    """

    command: str
    config: Any
    files: Files
    run: Callable[..., AbstractContextManager[BatchRun]]
    output: str | None
    reporting: Reporting
    mapping: MappingSpec | None = None
    uncut: str = ""
    reports: ReportFiles = NO_REPORTS

    def open(
        self,
        config: RunConfig,
        files: Files,
        output: str | None,
        reporting: Reporting,
        part: OpenOutput | None = None,
    ) -> AbstractContextManager[BatchRun]:
        """Open the run, with another configuration, other files and another output than it was asked for.

        Args:
            config: configuration.
            files: input files.
            output: path of the output; None: standard output.
            reporting: what is printed.
            part: see batch_run.opened.

        Raises:
            See batch_run.opened.
        """
        return self.run(
            config,
            files=files,
            output=output,
            version=__version__,
            reports=replace(self.reports, stats=reporting.stats),
            tell=None if reporting.quiet else note,
            part=part,
        )

    def execute(self) -> None:
        """Execute the run, and print its summary. Raises WfacliError."""
        reporting = self.reporting
        execute(
            lambda: self.open(self.config, self.files, self.output, reporting),
            progress=reporting.progress,
            quiet=reporting.quiet,
            command=self.command,
        )


def executed(command: Callable[..., Request]) -> Callable[..., None]:
    """Return a command that executes the request which a function makes of its options."""

    @functools.wraps(command)
    def execute_request(**options: Any) -> None:
        command(**options).execute()

    return execute_request
