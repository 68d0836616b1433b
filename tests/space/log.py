"""Reports of the random tests: counts of cases, and empty cells."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from bench.harness.saving import text_of
from wfacli._native import instruction_sets
from wfacli.config import Metric, Mode
from wfacli.measure.machine import header
from wfacli.plan.kernels import CPU_KERNELS

from .blocks import CHOSEN, Tally
from .ways import answering

_MEANING = {
    "cases": "a pair, a specification and a way to ask for it (entry, kernel, instruction set, limits), each compared"
    " with the oracle in status, score, span and CIGAR; not timed",
    "seconds": "of the whole run, the drawing of pairs and the oracle included",
}


def empty_cells(tally: Tally) -> list[str]:
    """Return the combinations without a case.

    These are of mode, metric, instruction set, and either the requested kernel or the kernel that answered.
    """
    asked, answered = set(), set()
    for mode, metric, kernel, by, isa in tally.cases:
        asked.add((mode, metric, kernel, isa))
        answered.add((mode, metric, by, isa))
    missing = []
    for mode, metric, isa in itertools.product(Mode, Metric, instruction_sets()):
        for kernel in (CHOSEN, *CPU_KERNELS):
            if (mode, metric, kernel, isa) not in asked:
                missing.append(f"asked: {mode} {metric} {kernel} {isa}")
        for kernel in sorted(answering(mode, metric)):
            if (mode, metric, kernel, isa) not in answered:
                missing.append(f"answered: {mode} {metric} {kernel} {isa}")
    return missing


def by_answer(tally: Tally) -> dict[str, dict[str, int]]:
    """Return the number of cases as {"mode metric": {"kernel instruction-set": n}}, by the kernel that answered."""
    return _table(tally, 3)


def _table(tally: Tally, kernel: int) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for key, cases in sorted(tally.cases.items()):
        row = found.setdefault(f"{key[0]} {key[1]}", {})
        name = f"{key[kernel]} {key[4]}"
        row[name] = row.get(name, 0) + cases
    return found


def report(tally: Tally, seed: int, blocks: int, seconds: float, jobs: int) -> dict[str, Any]:
    """Return a report of a run, ready for JSON."""
    return {
        **header("fuzz-space", _MEANING),
        "seed": seed,
        "blocks": blocks,
        "jobs": jobs,
        "seconds": round(seconds, 1),
        "cases": tally.total,
        "cases_per_second": round(tally.total / max(seconds, 1e-9)),
        "failures": len(tally.found),
        "failing": [str(found) for found in tally.found if found.test],
        "empty_cells": empty_cells(tally),
        "drawn": dict(sorted(tally.more.items())),
        "cases_by_kernel_asked": _table(tally, 2),
        "cases_by_kernel_that_answered": by_answer(tally),
    }


def write(path: Path, result: dict[str, Any]) -> None:
    """Write a report as JSON, laid out like all of bench/results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(result))
