"""A report as one self-contained HTML page: no network, no libraries."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

_DATA = "/*DATA*/null"


def page(report: dict[str, Any]) -> bytes:
    """Return the page as UTF-8; `report`: as made by measure.report."""
    # Browsers recognise tags inside scripts, too.
    data = json.dumps(report, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return template.replace(_DATA, data).encode(errors="replace")
