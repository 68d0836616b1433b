"""A measurement as plain values, for JSON, tables and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..config import EngineName
from .engine import TIMED
from .machine import header
from .session import Plan, Row, Session

FORMAT = 1  # version of the JSON, incremented when a field changes its meaning
_MEANING = {
    "seconds": TIMED,
    "gcups": "cells of the whole matrices / best_seconds / 10^9, whether computed or not",
    "limit_share": "of memory: bases, read once, by the copy rate of that number of threads; of the bus: bases as"
    " ASCII by the rate of page-locked copies to the GPU; each measured in this run, and divided by best_seconds",
    "recall": "share of pairs that have the score of the exact engine in this run",
    "joules": "energy of one run by the GPU's counter, averaged over runs of at least one second in all",
    "pairs_by_kernel": "of one run",
}


@dataclass
class Limits:
    """Measured bandwidths, in bytes a second.

    Attributes:
        memory: by number of threads.
        bus: from host to GPU; None without a GPU.
    """

    memory: dict[int, float] = field(default_factory=dict)
    bus: float | None = None

    def share(self, row: Row) -> tuple[str, float] | None:
        """Return the limit that applies to a row, and the share of it that was reached; None if it is unknown."""
        on_gpu = row.setting.engine is EngineName.GPU
        rate = self.bus if on_gpu else self.memory.get(row.setting.threads)
        if not rate:
            return None
        return ("bus" if on_gpu else "memory"), row.bases / rate / row.spread.best


def row_report(row: Row, limits: Limits) -> dict[str, Any]:
    """Return the fields of one row; pairs a second and GCUPS are those of the best repeat."""
    limit = limits.share(row)
    best = row.spread.best
    return {
        "row": row.work.name,
        "length": row.work.length,
        "error": row.work.error,
        "model": row.work.model,
        "seed": row.work.seed,
        "task": row.task,
        "metric": str(row.spec.metric),
        "penalties": _penalties(row),
        "score_only": row.spec.score_only,
        "engine": str(row.setting.engine),
        "threads": row.setting.threads,
        "heuristic": row.heuristic,
        "pairs": row.pairs,
        "bases": row.bases,
        "matrix_cells": row.cells,
        **row.spread.report(),
        "pairs_per_second": round(row.pairs / best, 1),
        "gcups": round(row.cells / best / 1e9, 3),
        "limit": limit[0] if limit else None,
        "limit_share": round(limit[1], 6) if limit else None,
        "joules": None if row.joules is None else round(row.joules, 4),
        "recall": None if row.recall is None else round(row.recall, 6),
        "pairs_by_kernel": row.kernels,
    }


def report(
    session: Session, rows: Sequence[Row], limits: Limits, left_out: Mapping[str, str], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the report of a measurement.

    Args:
        session: session that measured.
        rows: measured rows.
        limits: bandwidths of the machine.
        left_out: further omitted rows, and the reasons.
        options: options of the command.
    """
    plan: Plan = session.plan
    return {
        **header("bench", _MEANING),
        "format": FORMAT,
        "options": dict(options),
        "rules": {"repeats": plan.repeats, "warm_up": 1},
        "limits": {
            "memory_bytes_per_second": {str(threads): round(rate) for threads, rate in limits.memory.items()},
            "bus_bytes_per_second": None if limits.bus is None else round(limits.bus),
        },
        "engines": session.engines,
        "left_out": {**left_out, **session.left_out},
        "rows": [row_report(row, limits) for row in in_order(plan, rows)],
    }


def in_order(plan: Plan, rows: Sequence[Row]) -> list[Row]:
    """Return rows in the order of tables: by work, task and engine."""
    works, settings = list(plan.works), list(plan.settings)
    tasks = [(spec.metric, spec.score_only) for spec in plan.specs]

    def place(row: Row) -> tuple[int, int, int, bool]:
        task = tasks.index((row.spec.metric, row.spec.score_only))
        return works.index(row.work), task, settings.index(row.setting), bool(row.spec.heuristics)

    return sorted(rows, key=place)


def _penalties(row: Row) -> str:
    p = row.spec.penalties
    gaps = ",".join(f"{o},{e}" for o, e in p.gaps)
    return f"{p.mismatch},{gaps}" + (f", match {p.match}" if p.match else "")


def engine_name(row: Mapping[str, Any]) -> str:
    """Return the name of the engine of a report's row."""
    name = "gpu" if row["engine"] == "gpu" else f"cpu × {row['threads']}"
    return f"{name}, {row['heuristic']}" if row["heuristic"] else name


def place_of(found: Mapping[str, Any]) -> str:
    """Return the names of the machine and its GPUs."""
    gpus = [engine["gpu"] for engine in found["engines"].values() if "gpu" in engine]
    machine = found["machine"]
    return ", ".join([f"{machine['cpu']} ({machine['instruction_set']})", f"{machine['cores']} cores", *gpus])
