"""Results of `wfacli distance` as values for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .inputs import Inputs
from .run import Outcome

IDENTITY = "1 - distance / length of the longer"


def identity(inputs: Inputs, distance: int) -> float:
    """Return the identity as IDENTITY defines it; 1 for two empty texts."""
    longer = max(inputs.a.length, inputs.b.length)
    return 1 - distance / longer if longer else 1.0


def tcups(inputs: Inputs, outcome: Outcome) -> float | None:
    """Return 10^12 cells of the full matrix per second (TCUPS); None if nothing was computed."""
    if not outcome.seconds:
        return None
    return inputs.a.length * inputs.b.length / outcome.seconds / 1e12


def as_values(inputs: Inputs, outcome: Outcome, max_distance: int | None, threads: int) -> dict[str, Any]:
    """Return the result as a JSON object."""
    distance, rate = outcome.distance, tcups(inputs, outcome)
    return {
        "a": {"file": inputs.a.path, "name": inputs.a.name, "length": inputs.a.length},
        "b": {"file": inputs.b.path, "name": inputs.b.name, "length": inputs.b.length},
        "unit": inputs.unit.value,
        "distance": distance,
        "more_than": max_distance if distance is None else None,
        "identity": None if distance is None else round(identity(inputs, distance), 9),
        "identity_is": IDENTITY,
        "algorithm": outcome.algorithm,
        "threads": threads,
        "seconds": round(outcome.seconds, 6),
        "matrix_cells": inputs.a.length * inputs.b.length,
        "computed_cells": outcome.cells,
        "tcups": None if rate is None else round(rate, 6),
    }


def as_history(outcome: Outcome) -> dict[str, Any]:
    """Return the history of the run: estimate, phases and checkpoints."""
    return {
        "estimated_edits": outcome.estimate,
        "phases": [asdict(phase) for phase in outcome.phases],
        "resumed": outcome.resumed,
        "checkpoints": outcome.checkpoints,
        "gpu_failure": outcome.gpu_failure,
    }
