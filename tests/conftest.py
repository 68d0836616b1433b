"""Configuration shared by all tests."""

from __future__ import annotations

import os
import signal
from typing import Any

from hypothesis import HealthCheck, settings

# Shells start background processes with SIGINT ignored, and child processes inherit that. Restore the default handler,
# so that tests can interrupt the commands they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Let the thousands of commands that tests run cache bytecode, as an installed package does.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No deadline: execution times differ too much between machines.
settings.register_profile("wfacli", deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("wfacli"), max_examples=5_000, print_blob=True)
settings.load_profile("fuzz" if os.environ.get("WFACLI_FUZZ") else "wfacli")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what GPU tests recorded (tests/gpu_device/conftest.py), including those in pytest-xdist workers."""
    reports = [r for kind in ("passed", "failed", "skipped") for r in terminalreporter.stats.get(kind, [])]
    lines = [value for r in reports for name, value in getattr(r, "user_properties", ()) if name == "gpu"]
    if lines:
        terminalreporter.section("on the GPU")
        for line in lines:
            terminalreporter.write_line(line)
