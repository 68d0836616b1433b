"""Description of the machine and the commit of a measurement."""

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
    """Return processor, cores that this process may use, instruction set, memory in bytes, and kernel version."""
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
    """Return the measured commit, with "+" if the package differs from it; UNKNOWN without a git history.

    For a copy without a history, WFACLI_COMMIT may name the commit.
    """
    if known := os.environ.get("WFACLI_COMMIT"):
        return known
    # An installed package may be inside another project's repository, which does not track its files.
    if _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return UNKNOWN
    head = _git("rev-parse", "--short", "HEAD")
    return head + ("+" if _git("status", "--porcelain", "--", ".") else "") if head else UNKNOWN


def header(name: str, what_is_timed: dict[str, str]) -> dict[str, Any]:
    """Return the fields that every result starts with, which describe how it was measured."""
    return {
        "name": name,
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(__version__),
        "what_is_timed": what_is_timed,
    }


def _git(*arguments: str) -> str | None:
    """Return git's output for the package's folder; None if git fails or is missing."""
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
