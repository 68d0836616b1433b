"""Runs of the whole wfacli command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "wfacli"]


def run_command(arguments: list[str], stats: Path) -> dict[str, Any]:
    """Run wfacli and return its --stats report, which goes through the file `stats`. Raises CalledProcessError."""
    subprocess.run([*COMMAND, *arguments, "--quiet", "--stats", str(stats)], check=True)
    return json.loads(stats.read_text())
