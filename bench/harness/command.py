"""Runs of the whole wfacli command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "wfacli"]
# An installed package has byte code; a checkout gets it in the first run, unless the environment forbids that.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Executes a command from a small process: the kernel counts the memory of the process that starts one as its own.
_MEASURE = """
import json, os, subprocess, sys, time
began = time.perf_counter()
process = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
seconds = time.perf_counter() - began
open(sys.argv[1], "w").write(json.dumps([status, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""


def measured(arguments: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run wfacli in a folder; see measured_command()."""
    return measured_command([*COMMAND, *arguments], folder)


def measured_command(words: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run a command in a folder; return seconds, cpu_seconds and peak_memory_bytes. Raises CalledProcessError."""
    made = folder / "measured.json"
    subprocess.run([sys.executable, "-S", "-c", _MEASURE, made.name, *words], cwd=folder, check=True)
    status, seconds, cpu_seconds, peak = json.loads(made.read_text())
    made.unlink()
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), words)
    return {"seconds": round(seconds, 3), "cpu_seconds": round(cpu_seconds, 3), "peak_memory_bytes": peak}


def run_command(arguments: list[str], stats: Path) -> dict[str, Any]:
    """Run wfacli and return its --stats report, which goes through the file `stats`. Raises CalledProcessError."""
    subprocess.run([*COMMAND, *arguments, "--quiet", "--stats", str(stats)], check=True)
    return json.loads(stats.read_text())
