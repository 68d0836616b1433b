"""What all tests share."""

from __future__ import annotations

import os
import signal
from typing import Any

from hypothesis import HealthCheck, settings

# A shell starts what it runs in the background with SIGINT ignored; so would be the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Commands that tests run shall find the package compiled, as where it is installed: there are some thousand of them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Times vary too much between machines for Hypothesis' clocks to say anything.
settings.register_profile("wfacli", deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("wfacli"), max_examples=5_000, print_blob=True)
settings.load_profile("fuzz" if os.environ.get("WFACLI_FUZZ") else "wfacli")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Shows what tests on a GPU have to say (tests/gpu_device/conftest.py), also where other processes run them."""
    reports = [r for kind in ("passed", "failed", "skipped") for r in terminalreporter.stats.get(kind, [])]
    lines = [value for r in reports for name, value in getattr(r, "user_properties", ()) if name == "card"]
    if lines:
        terminalreporter.section("on the GPU")
        for line in lines:
            terminalreporter.write_line(line)
