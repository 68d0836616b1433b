"""Results of `wfacli local` as values for JSON."""

from __future__ import annotations

from typing import Any

from ..distance.inputs import Inputs
from .found import Found
from .run import Outcome
from .task import Task


def gcups(inputs: Inputs, outcome: Outcome) -> float | None:
    """Return 10^9 cells of the full matrices of all searches per second (GCUPS); None if no time was spent."""
    cells = inputs.a.length * inputs.b.length * max(len(outcome.found), 1)
    return cells / outcome.seconds / 1e9 if outcome.seconds else None


def as_values(inputs: Inputs, outcome: Outcome, task: Task) -> dict[str, Any]:
    """Return the result as a JSON object."""
    rate, scheme = gcups(inputs, outcome), task.scheme
    return {
        "a": {"file": inputs.a.path, "name": inputs.a.name, "length": inputs.a.length},
        "b": {"file": inputs.b.path, "name": inputs.b.name, "length": inputs.b.length},
        "scores": {"name": scheme.name, "open": scheme.open, "extend": scheme.extend},
        "top": task.top,
        "alignments": [_values(found) for found in outcome.found],
        "threads": task.threads,
        "engines": list(outcome.engines),
        "gpu_failed": outcome.gpu_failed,
        "seconds": round(outcome.seconds, 6),
        "path_seconds": round(outcome.path_seconds, 6),
        "matrix_cells": inputs.a.length * inputs.b.length,
        "computed_cells": outcome.cells,
        "gcups": None if rate is None else round(rate, 6),
    }


def _values(found: Found) -> dict[str, Any]:
    q, q_end, t, t_end = found.span
    if found.cigar is None:
        return {"score": found.score, "query_start": q, "target_start": t}
    place = {"query_start": q, "query_end": q_end, "target_start": t, "target_end": t_end}
    counts = found.counts()
    columns = sum(counts[name] for name in ("matches", "mismatches", "inserted", "deleted"))
    return {"score": found.score, **place, **counts, "identity": round(counts["matches"] / columns, 9)}
