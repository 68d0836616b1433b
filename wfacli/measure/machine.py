"""Where something was measured, and of which commit."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from .. import __version__
from .._native import Aligner
from ..core.cores import usable_cores
from ..core.stats import versions

_PACKAGE = Path(__file__).parent.parent
UNKNOWN = "unknown"


def machine() -> dict[str, Any]:
    """Processor, cores that this process may use, memory in bytes, system."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": model,
        "cores": usable_cores(),
        "instruction_set": Aligner().isa,
        "memory_bytes": memory,
        "kernel": platform.release(),
    }


def commit() -> str:
    """The commit measured, with "+" when the package differs from it; UNKNOWN of a package without history.

    For a copy without one, WFACLI_COMMIT may name it.
    """
    if known := os.environ.get("WFACLI_COMMIT"):
        return known
    # A package that is installed may lie inside somebody else's repository, which does not have its files.
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return UNKNOWN
    head = _git("rev-parse", "--short", "HEAD")
    return head + ("+" if _git("status", "--porcelain", "--", ".") else "") if head else UNKNOWN


def header(name: str, what_is_timed: dict[str, str]) -> dict[str, Any]:
    """What every result begins with: all that it takes to understand it."""
    return {
        "name": name,
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(__version__),
        "what_is_timed": what_is_timed,
    }


def _git(*arguments: str) -> str | None:
    """What git prints about the package's folder; None where it fails or is not there."""
    try:
        done = subprocess.run(["git", *arguments], cwd=_PACKAGE, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
