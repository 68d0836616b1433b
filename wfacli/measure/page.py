"""A report as one HTML page that needs nothing else: no network, no library."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

_DATA = "/*DATA*/null"


def page(report: dict[str, Any]) -> bytes:
    """The page, UTF-8; `report`: as measure.report makes it."""
    # The browser looks for tags inside scripts too.
    data = json.dumps(report, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return template.replace(_DATA, data).encode(errors="replace")
