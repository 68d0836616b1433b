"""Text output of `wfacli distance`."""

from __future__ import annotations

import math
from typing import Any

from ..core.stats import counted
from ..errors import shown
from ..solve.distance.inputs import Inputs, Side
from ..solve.distance.result import IDENTITY, identity, tcups
from ..solve.distance.run import Outcome, Progress
from .progress_line import ProgressLine, seconds


def as_text(
    inputs: Inputs, outcome: Outcome, max_distance: int | None, threads: int, path: dict[str, Any] | None
) -> str:
    """Return the result as lines of text."""
    rows = [
        ("query", side_of(inputs.a, inputs)),
        ("target", side_of(inputs.b, inputs)),
        ("distance", f"{outcome.distance:,}" if outcome.distance is not None else f"more than {max_distance:,}"),
        ("identity", f"{_identity(inputs, outcome, max_distance)}   ({IDENTITY})"),
        ("time", f"{seconds(outcome.seconds)}   ({_how(outcome, threads)})"),
        ("cells", _cells(inputs, outcome)),
    ]
    if path:
        rows.append(("alignment", _path(path)))
    return "".join(f"{name:<11}{value}\n" for name, value in rows)


def progress_line(progress: Progress) -> ProgressLine:
    """Describe the progress: the lower bound of the distance and the running algorithm."""
    if progress.done:
        words = f"{progress.lower_bound:,} edits (computing the alignment)"
    else:
        words = f"at least {progress.lower_bound:,} edits ({progress.algorithm or 'starting'})"
    return ProgressLine(words, progress.fraction_done, progress.remaining_seconds)


def side_of(side: Side, inputs: Inputs) -> str:
    """Return path, record name and length of an input."""
    name = "" if side.name == side.path else f" {side.name}"
    return f"{shown(side.path + name)}, {side.length:,} {inputs.unit.plural}"


def _identity(inputs: Inputs, outcome: Outcome, max_distance: int | None) -> str:
    if outcome.distance is not None:
        return _percent(identity(inputs, outcome.distance))
    assert max_distance is not None
    return f"less than {_percent(max(identity(inputs, max_distance), 0.0))}"


def _percent(share: float) -> str:
    """Format a percentage with enough digits that an identity below 1 is not rounded to 100%."""
    digits = max(2, math.ceil(-math.log10(1 - share)) - 2) if share < 1 else 2
    return f"{100 * share:.{digits}f}%"


def _how(outcome: Outcome, threads: int) -> str:
    if not outcome.phases:
        return "determined by the lengths"
    if len(outcome.phases) == 1:
        found = outcome.algorithm
    else:
        found = ", then ".join(
            f"{phase.algorithm} {seconds(phase.seconds)}{' (failed)' * (phase.end == 'failed')}"
            for phase in outcome.phases
        )
    found += f", {threads} thread{'' if threads == 1 else 's'}"
    if outcome.resumed:
        found += f", in {outcome.resumed + 1} runs"
    return found


def _cells(inputs: Inputs, outcome: Outcome) -> str:
    found = f"{inputs.a.length * inputs.b.length:.3g} in the matrix"
    rate = tcups(inputs, outcome)
    if rate is not None:
        found += f", {rate:.3g} TCUPS; {outcome.cells:.3g} computed"
    return found


def _path(path: dict[str, Any]) -> str:
    places = [f"{path['file'] or 'standard output'}, {path['format'].upper()}"] if path["format"] else []
    places += [path["plot"]] if path["plot"] else []
    return (
        f"{shown(', '.join(places))}: {counted(path['matches'], 'match')}, "
        f"{counted(path['mismatches'], 'mismatch')}, {path['inserted']:,} inserted, {path['deleted']:,} deleted, "
        f"{counted(path['gaps'], 'gap')}; {seconds(path['seconds'])}, {path['by']}"
    )
