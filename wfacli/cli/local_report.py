"""Text output of `wfacli local`."""

from __future__ import annotations

from ..core.stats import counted
from ..solve.distance.inputs import Inputs
from ..solve.local.found import Found
from ..solve.local.result import gcups
from ..solve.local.run import Outcome, Progress
from ..solve.local.task import Task
from .distance_report import side_of
from .progress_line import ProgressLine, seconds


def as_text(inputs: Inputs, outcome: Outcome, task: Task) -> str:
    """Return the result as lines of text."""
    rows = [("query", side_of(inputs.a, inputs)), ("target", side_of(inputs.b, inputs))]
    for number, found in enumerate(outcome.found, 1):
        rows.append(("score" if task.top == 1 else f"score {number}", _found(found)))
    if len(outcome.found) < task.top:
        rows.append(("", "no further alignment scores more than 0" if outcome.found else "nothing scores more than 0"))
    rows.append(("time", _time(outcome, task)))
    rows.append(("cells", _cells(inputs, outcome)))
    return "".join(f"{name:<11}{value}\n" for name, value in rows)


def progress_line(progress: Progress) -> ProgressLine:
    """Describe the progress: the best score so far and the current phase."""
    which = "" if progress.number == 1 else f"alignment {progress.number}: "
    if progress.path:
        return ProgressLine(f"{which}score {progress.score:,} (computing the alignment)", progress.fraction_done, None)
    return ProgressLine(f"{which}score {progress.score:,} or more", progress.fraction_done, progress.remaining_seconds)


def _found(found: Found) -> str:
    q, q_end, t, t_end = found.span
    if found.cigar is None:
        return f"{found.score:,}, from {q:,} of QUERY and {t:,} of TARGET on"
    counts = found.counts()
    return (
        f"{found.score:,}   A {q:,} to {q_end:,}, B {t:,} to {t_end:,}: {counted(counts['matches'], 'match')}, "
        f"{counted(counts['mismatches'], 'mismatch')}, {counts['inserted']:,} inserted, "
        f"{counts['deleted']:,} deleted, {counted(counts['gaps'], 'gap')}"
    )


def _time(outcome: Outcome, task: Task) -> str:
    how = f"{task.threads} thread{'' if task.threads == 1 else 's'}"
    if "gpu" in outcome.engines:
        how = f"GPU and {how}" if outcome.gpu_failed is None else f"{how}, since the GPU failed"
    if not task.score_only:
        how += f"; alignments {seconds(outcome.path_seconds)}"
    if outcome.resumed:
        how += f"; in {outcome.resumed + 1} runs"
    return f"{seconds(outcome.seconds)}   ({how})"


def _cells(inputs: Inputs, outcome: Outcome) -> str:
    found = f"{inputs.a.length * inputs.b.length:.3g} in the matrix"
    rate = gcups(inputs, outcome)
    return found if rate is None else found + f", {rate:.3g} GCUPS; {outcome.cells:.3g} computed"
