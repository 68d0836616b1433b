"""Writing of the reports of a run that has ended."""

from __future__ import annotations

from contextlib import ExitStack

from ..run.batch_run import BatchRun
from .report import write_stats


def write_reports(run: BatchRun, complete: bool, command: str) -> None:
    """Write all reports of a run; those with figures only if it is complete, otherwise no file of them is left.

    Args:
        run: the run, which has ended.
        complete: True if it succeeded.
        command: name of the command.

    Raises:
        OutputError: one cannot be written.
    """
    files = run.report_files
    with ExitStack() as undo:
        for out in run.reports.values():
            undo.callback(out.abandon, worth=False)  # no effect on finished files
        if files.stats is not None:
            write_stats(run.reports[files.stats], run, complete)
        if complete and files.show_figures:
            _write_figures(run, command)


def _write_figures(run: BatchRun, command: str) -> None:
    from .report_facts import contents_of  # other runs need not wait for it

    contents = contents_of(run, command)
    for path, content in contents.items():
        run.reports[path].write(content)
    for path in contents:  # all are complete: none gets its name if one cannot be written
        run.reports[path].finish()
