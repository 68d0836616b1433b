"""Options of the batch commands for a report with plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ..config import ReportFiles
from ..errors import UsageError
from .groups import REPORTING

_OF_A_RUN = (
    "shows a whole run, and a shard is a part of one: give --stats to the shards, or run samtools stats on the "
    "merged file"
)


@dataclass(frozen=True)
class Reports:
    """Reports with figures of the records."""

    report: Annotated[
        str | None,
        typer.Option(
            "--report",
            metavar="FILE",
            show_default=False,
            help="Write a report with plots as an HTML page. It is self-contained, and shows reads in, mapped and "
            "clipped, identity, lengths, insertions and deletions, depth, kernels and times.",
            rich_help_panel=REPORTING,
        ),
    ] = None
    multiqc: Annotated[
        str | None,
        typer.Option(
            "--multiqc",
            metavar="PREFIX",
            show_default=False,
            help="Write the figures of --report for MultiQC, as PREFIX.wfacli_*_mqc.json. The last part of PREFIX is "
            "the name of the sample, as in qc/sample1.",
            rich_help_panel=REPORTING,
        ),
    ] = None

    def files(self, stats: str | None, *, mapped: bool, scores_only: bool = False) -> ReportFiles:
        """Return the paths of all reports of a run.

        Args:
            stats: path of the statistics; None: none.
            mapped: True for reads on a reference, False for pairs.
            scores_only: True if no alignments are computed.

        Raises:
            UsageError: a name is impossible.
        """
        if self.multiqc is None:
            return ReportFiles(stats, self.report)
        from ..report.multiqc import paths  # other runs need not wait for it

        return ReportFiles(
            stats, self.report, self.multiqc, paths(self.multiqc, mapped=mapped, scores_only=scores_only)
        )

    def refuse(self) -> None:
        """Raise UsageError if a report of one shard is asked for."""
        for option, value in (("--report", self.report), ("--multiqc", self.multiqc)):
            if value is not None:
                raise UsageError(f"{option} {_OF_A_RUN}")


@dataclass(frozen=True)
class NoReports:
    """The same options of commands that execute a shard, which has no such report; refuse() says so."""

    report: Annotated[str | None, typer.Option("--report", hidden=True)] = None
    multiqc: Annotated[str | None, typer.Option("--multiqc", hidden=True)] = None

    def refuse(self) -> None:
        """Raise UsageError if a report is asked for."""
        Reports(self.report, self.multiqc).refuse()
