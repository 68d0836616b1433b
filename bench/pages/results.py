"""Files of bench/results: the newest of each kind, and the machine of each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from .text import Report

RESULTS = Path(__file__).parents[1] / "results"


def newest(results: Path = RESULTS) -> dict[str, list[Path]]:
    """Return the files of each kind, newest first: by day, then by time of commit.

    A part of a table counts as its kind, and follows a whole table that was committed at the same time.
    """
    came = came_at(results)
    found: dict[str, list[tuple[Any, Path]]] = {}
    for path in sorted(results.glob("*.json")):
        report = json.loads(path.read_text())
        name = report["name"]
        order = (report["date"], came.get(path.name, sys.maxsize), not name.endswith("-part"), path.name)
        found.setdefault(name.removesuffix("-part"), []).append((order, path))
    return {kind: [path for _, path in sorted(files, reverse=True)] for kind, files in found.items()}


def came_at(results: Path = RESULTS) -> dict[str, int]:
    """Return the commit times of files in seconds; files that are not committed are missing."""
    asked = ["git", "log", "--diff-filter=A", "--format=@%ct", "--name-only", "--", "."]
    log = subprocess.run(asked, cwd=results, capture_output=True, text=True)
    when, found = 0, {}
    for line in log.stdout.splitlines():
        if line.startswith("@"):
            when = int(line[1:])
        elif line:
            found.setdefault(Path(line).name, when)
    return found


def commit(report: Report) -> str:
    """Return the commit that was measured; of several trees the newest one."""
    return str(report["commit"] if "commit" in report else report["trees"]["new"])


def gpu_name(report: Report) -> str:
    """Return the name of the GPU, "" without one."""
    found = report.get("gpu") or _gpu_of(report.get("engine") or report.get("engines"))
    return str(found["name"] if isinstance(found, dict) else found or "")


def machine(report: Report) -> str:
    """Return GPU, processor and cores, as far as they are known."""
    machine = report["machine"]
    cores = f"{machine['cores']} cores" if "cores" in machine else ""
    cpu = machine.get("cpu", "")
    shown = [gpu_name(report), cpu if cpu != cores else "", cores]
    return ", ".join(part for part in shown if part)


def _gpu_of(engine: Any) -> Any:
    if isinstance(engine, dict):
        name = engine.get("gpu")
        return name if isinstance(name, str) else next(filter(None, map(_gpu_of, engine.values())), None)
    return None
