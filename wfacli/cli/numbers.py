"""Parser of numbers with suffixes."""

from __future__ import annotations

import re

from ..errors import UsageError

# Maxima that the native code accepts, beyond any real machine or input.
MAX_BYTES = 1 << 60
MAX_COUNT = 10**18
_COUNT = re.compile(r"(\d+(?:\.\d+)?)([kMG]?)", re.IGNORECASE)


def count_of(option: str, text: str) -> int:
    """Parse a count like 1000, 10k or 1.5M (powers of 1000). Raises UsageError."""
    found = _COUNT.fullmatch(text.strip())
    number = float(found[1]) * 1000 ** " KMG".index(found[2].upper() or " ") if found else 0.5
    if number > MAX_COUNT:
        raise UsageError(f"{option} is {text}; it must be {MAX_COUNT:,} at most")
    if number != int(number):
        raise UsageError(f"{option} expects a number like 1000, 10k or 1.5M, not {text!r}")
    return int(number)
