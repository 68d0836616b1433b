"""Execution of a batch run, with progress, report, warnings and errors."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from .._native import keep_memory_flat
from ..core.stats import counted
from ..errors import OutputClosed
from ..run.batch_run import BatchRun
from ..run.sizes import SWITCH_INTERVAL
from .console import note, warning
from .explain import explain as print_routes
from .progress import shown
from .report import cautions, fail_if_unaligned, summary, unaligned_message, unaligned_of
from .report_files import write_reports


def execute(
    create: Callable[[], AbstractContextManager[BatchRun]],
    *,
    progress: bool | None,
    quiet: bool,
    fail_unaligned: bool = True,
    command: str = "",
) -> BatchRun:
    """Open a run, execute it, print its summary, and return it.

    Args:
        create: returns the run's context; called after this process is set up.
        progress: True or None to show progress, False not to.
        quiet: True to print errors only.
        fail_unaligned: False to warn of pairs without an alignment instead of raising an error.
        command: name of the command, for the report.

    Raises:
        WfacliError: the run failed, or pairs have no alignment.
    """
    keep_memory_flat()
    gc.freeze()  # objects made by imports live to the end: exclude them from garbage collection
    run, complete = None, False
    try:
        with create() as run:
            sys.setswitchinterval(SWITCH_INTERVAL)
            with shown(run.watch, bar=progress, quiet=quiet):
                run.run()
        complete = True
    except OutputClosed:
        raise
    except BaseException as end:
        if run and (left := _incomplete_output(run, stopped=not isinstance(end, Exception))):
            note(f"incomplete: {left}")
        raise
    finally:
        if run:
            write_reports(run, complete, command)
    if not quiet:
        _print_summary(run)
    if run.config.explain:
        print_routes(run)
    unaligned = unaligned_of(run)
    if fail_unaligned:
        fail_if_unaligned(unaligned)
    elif unaligned and not quiet:
        warning(unaligned_message(unaligned))
    return run


def _incomplete_output(run: BatchRun, stopped: bool) -> str | None:
    """Describe the incomplete output of a failed or `stopped` run; None if there is none."""
    pairs = run.stats.counts["pairs"]
    if not run.output.broken:
        place = run.output.name if run.output.streams and (pairs or stopped) else run.partial
        return f"{counted(pairs, 'pair', 'was', 'were')} written, to {place}" if place else None
    aligned = counted(pairs, "pair")
    if run.partial:
        return f"{run.partial} is incomplete, and may contain fewer than the {aligned} aligned so far"
    return f"nothing is left of the {aligned} aligned so far" if pairs else None


def _print_summary(run: BatchRun) -> None:
    for caution in cautions(run):
        warning(caution)
    note(summary(run))
