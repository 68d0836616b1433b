"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Times vary too much between machines for Hypothesis' clocks to say anything.
settings.register_profile("wfacli", deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("wfacli"), max_examples=5_000, print_blob=True)
settings.load_profile("fuzz" if os.environ.get("WFACLI_FUZZ") else "wfacli")
