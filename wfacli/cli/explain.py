"""Table of `--explain`: which kernels aligned the pairs, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..plan.forecast import ExpectedTime
from ..run.batch_run import BatchRun
from .console import console, ignoring_output_errors, note

_WHY = {
    "SCORE_LIMIT": "more edits than it supports",
    "MEMORY_LIMIT": "more memory than it may use",
    "WORK_LIMIT": "more edits than it supports",
    "LENGTH_LIMIT": "longer than it supports",
    "UNSUPPORTED": "symbols or costs that it does not support",
}


def explain(run: BatchRun) -> None:
    """Print the routes of a run, which are recorded if `config.explain` is set."""
    from rich.table import Table

    stats = run.stats
    total = max(sum(stats.routed.values()), 1)
    table = Table(title="Routes", title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in ("kernel", "pairs", "share", "aligned"):
        table.add_column(name, justify="left" if name == "kernel" else "right", no_wrap=True)
    table.add_column("expected us per pair, retries included: this kernel; others")
    for kernel in dict.fromkeys([*stats.routed, *stats.kernels]):
        first = stats.routed[kernel]
        why = _mean_times(kernel, stats.expected_times or {}) if first else ""
        table.add_row(kernel, f"{first:,}", f"{100 * first / total:.1f}%", f"{stats.kernels[kernel]:,}", why)
    with ignoring_output_errors():
        console().print(table)
    if run.account.kernel:
        note(f"--kernel {run.account.kernel} was the first kernel of every pair; time models were not used")
    for (kernel, reason, to), pairs in sorted(stats.handed_on.items()):
        note(f"{pairs:,} passed from {kernel} to {to}: {_WHY.get(reason, reason)}")


def _mean_times(kernel: str, expected_times: Mapping[tuple[str, str], ExpectedTime]) -> str:
    """Return the kernel's mean expected time per pair, then those of the kernels compared for the same pairs."""
    own = expected_times.get((kernel, kernel))
    if own is None or not own.pairs:
        return "-"
    same = {
        name: p for (chosen, name), p in expected_times.items() if chosen == kernel != name and p.pairs == own.pairs
    }
    means = {name: p.microseconds / p.pairs for name, p in same.items() if math.isfinite(p.microseconds)}
    others = ", ".join(f"{name} {mean:.2f}" for name, mean in sorted(means.items(), key=lambda item: item[1]))
    return f"{own.microseconds / own.pairs:.2f}" + (f"; {others}" if others else "")
