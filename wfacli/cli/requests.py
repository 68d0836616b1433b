"""What a batch command was asked for: a run that is executed at once, or planned and executed in shards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..config import NO_REPORTS, MappingSpec, ReportFiles, RunConfig
from ..core.interruption import deferred
from .console import note
from .early import Imports
from .options import Reporting

if TYPE_CHECKING:
    from ..io.read.reader import Files
    from ..run.batch_run import BatchRun
    from ..run.parts import OpenOutput


@dataclass(frozen=True)
class Request:
    """A run that a command was asked for.

    Attributes:
        command: name of the command.
        config: configuration of the run.
        inputs: returns its input files; see `files`.
        run: align_run, mapped_run or extend_run, with the arguments that the command adds.
        output: path of the output; None: standard output.
        reporting: what is printed.
        mapping: how mappings are used; None for pairs.
        uncut: why the inputs cannot be cut into shards; "" if they can.
        reports: files of the reports; those of the statistics are reporting's.
        early: what begins while modules are imported, and ends with the run.
    """

    command: str
    config: Any
    inputs: Callable[[], Files]
    run: Callable[..., AbstractContextManager[BatchRun]]
    output: str | None
    reporting: Reporting
    mapping: MappingSpec | None = None
    uncut: str = ""
    reports: ReportFiles = NO_REPORTS
    early: AbstractContextManager[object] = field(default_factory=nullcontext)

    @functools.cached_property
    def files(self) -> Files:
        """Its input files. Raises WfacliError."""
        return self.inputs()

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
        with self.early:
            # An exception amid an import may come out as another one.
            with Imports(), deferred():
                from .running import execute

            files = self.files
            execute(
                lambda: self.open(self.config, files, self.output, reporting),
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
