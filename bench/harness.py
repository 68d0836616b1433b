"""What the measurements share: the machine, the commit, and where results go."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from wfacli.cores import usable_cores
from wfacli.measure.machine import commit, header, machine
from wfacli.measure.spread import Spread

__all__ = ["COMMAND", "RESULTS", "commit", "machine", "run_command", "save", "summed_up"]

RESULTS = Path(os.environ.get("WFACLI_RESULTS") or Path(__file__).parent / "results")
COMMAND = [sys.executable, "-m", "wfacli"]


def summed_up(seconds: list[float]) -> dict[str, Any]:
    return Spread(seconds).report()


def save(name: str, what_is_timed: dict[str, str], result: dict[str, Any]) -> Path:
    """Writes a result with everything needed to understand it; returns its path."""
    report = {**header(name, what_is_timed), **result}
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{report['date']}-{platform.machine()}-{usable_cores()}core-{report['commit']}-{name}.json"
    path.write_text(json.dumps(report, indent=2) + "\n")
    return path


def run_command(arguments: list[str], stats: Path) -> dict[str, Any]:
    """Runs wfacli with --stats and returns the report. Raises CalledProcessError."""
    subprocess.run([*COMMAND, *arguments, "--quiet", "--stats", str(stats)], check=True)
    return json.loads(stats.read_text())
