"""What the measurements share: the machine, the commit, and where results go."""

from __future__ import annotations

import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import wfacli
from wfacli.cores import usable_cores
from wfacli.stats import versions

RESULTS = Path(__file__).parent / "results"
COMMAND = [sys.executable, "-m", "wfacli"]


def machine() -> dict[str, Any]:
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": model, "cores": usable_cores(), "memory_bytes": memory, "kernel": platform.release()}


def commit() -> str:
    """The commit measured, with "+" when the tree differs from it; for a copy without history, WFACLI_COMMIT's."""
    if known := os.environ.get("WFACLI_COMMIT"):
        return known
    here = Path(__file__).parent
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True)
    changed = subprocess.run(["git", "status", "--porcelain", "--", "../wfacli"], cwd=here, capture_output=True)
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "") if head.returncode == 0 else "unknown"


def summed_up(seconds: list[float]) -> dict[str, Any]:
    return {
        "best_seconds": round(min(seconds), 4),
        "median_seconds": round(statistics.median(seconds), 4),
        "all_seconds": [round(s, 4) for s in seconds],
    }


def save(name: str, what_is_timed: dict[str, str], result: dict[str, Any]) -> Path:
    """Writes a result with everything needed to understand it; returns its path."""
    today = datetime.date.today().isoformat()
    report = {
        "name": name,
        "date": today,
        "commit": commit(),
        "machine": machine(),
        "versions": versions(wfacli.__version__),
        "what_is_timed": what_is_timed,
        **result,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{today}-{platform.machine()}-{usable_cores()}core-{commit()}-{name}.json"
    path.write_text(json.dumps(report, indent=2) + "\n")
    return path


def run_command(arguments: list[str], stats: Path) -> dict[str, Any]:
    """Runs wfacli with --stats and returns the report. Raises CalledProcessError."""
    subprocess.run([*COMMAND, *arguments, "--quiet", "--stats", str(stats)], check=True)
    return json.loads(stats.read_text())


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
