"""What all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Times vary too much between machines for Hypothesis' clocks to say anything.
settings.register_profile("wfacli", deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("wfacli")
