"""Numbers as people write them."""

from __future__ import annotations

import re

from ..errors import UsageError

_COUNT = re.compile(r"(\d+(?:\.\d+)?)([kMG]?)", re.IGNORECASE)


def count_of(option: str, text: str) -> int:
    """A number like 1000, 10k or 1.5M. Raises UsageError."""
    found = _COUNT.fullmatch(text.strip())
    number = float(found[1]) * 1000 ** " KMG".index(found[2].upper() or " ") if found else 0.5
    if number != int(number):
        raise UsageError(f"{option} takes a number like 1000, 10k or 1.5M, not {text!r}")
    return int(number)
