"""Execution of a batch run, with progress, report, warnings and errors."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

from .._native import keep_memory_flat
from ..config import Ambiguous
from ..core.stats import counted
from ..errors import OutputClosed
from ..run.align import AlignRun
from ..run.batch_run import SWITCH_BESIDE_A_GPU, BatchRun
from ..run.mapped import MappedRun
from .console import note, warning
from .explain import explain as print_routes
from .progress import shown
from .report import fail_if_unaligned, summary, write_stats


def execute(create: Callable[[], BatchRun], *, progress: bool | None, quiet: bool) -> None:
    """Create a run, execute it, and print its summary.

    Args:
        create: creates the run; called after this process is set up.
        progress: True or None to show progress, False not to.
        quiet: True to print errors only.

    Raises:
        WfacliError: the run failed, or pairs have no alignment.
    """
    keep_memory_flat()
    gc.freeze()  # objects made by imports live to the end: exclude them from garbage collection
    run = create()
    if run.on_gpu:
        sys.setswitchinterval(SWITCH_BESIDE_A_GPU)
    complete = False
    try:
        with shown(run.watch, bar=progress, quiet=quiet):
            run.run()
        complete = True
    except OutputClosed:
        raise
    except BaseException:
        if left := _incomplete_output(run):
            note(f"incomplete: {left}")
        raise
    finally:
        if run.report:
            write_stats(run.report, run, complete)
    if not quiet:
        _print_summary(run)
    if isinstance(run, AlignRun) and run.config.explain:
        print_routes(run)
    fail_if_unaligned(run)


def _incomplete_output(run: BatchRun) -> str | None:
    """Describe the incomplete output of a failed run; None if there is none."""
    pairs = run.stats.counts["pairs"]
    if not run.output.broken:
        return f"{counted(pairs, 'pair', 'was', 'were')} written, to {run.partial}" if run.partial else None
    aligned = counted(pairs, "pair")
    if run.partial:
        return f"{run.partial} is incomplete, and may contain fewer than the {aligned} aligned so far"
    return f"nothing is left of the {aligned} aligned so far" if pairs else None


def _print_summary(run: BatchRun) -> None:
    non_nucleotide = run.stats.counts["non_nucleotide"]
    if non_nucleotide and isinstance(run, AlignRun) and run.config.spec.ambiguous is not Ambiguous.LITERAL:
        warning(
            f"{counted(non_nucleotide, 'pair', 'contains', 'contain')} characters that are not nucleotide codes and "
            "match nothing; for proteins give --ambiguous literal"
        )
    if failure := run.engine.stats().get("failure"):
        warning(f"the GPU failed, and the CPU aligned the rest: {failure}")
    if isinstance(run, MappedRun) and run.skipped:
        warning(run.skipped)
    note(summary(run))
