"""Validators of the JSON values in a checkpoint, which is untrusted input until they have accepted it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Check = Callable[[Any], bool]
_MOST = 1 << 62


def whole(value: Any) -> bool:
    """Return True for an integer from 0 to 2^62 - 1."""
    return type(value) is int and 0 <= value < _MOST


def number(value: Any) -> bool:
    """Return True for a finite, non-negative number below 2^62."""
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value < _MOST


def text(value: Any) -> bool:
    """Return True for a string."""
    return isinstance(value, str)


def truth(value: Any) -> bool:
    """Return True for a bool."""
    return isinstance(value, bool)


def optional(check: Check) -> Check:
    """Return a check that accepts None and what `check` accepts."""
    return lambda value: value is None or check(value)


def listed(check: Check, count: int | None = None) -> Check:
    """Return a check for a list whose elements all pass `check`; `count` is its length (None: any)."""
    return lambda value: (
        isinstance(value, list) and (count is None or len(value) == count) and all(check(one) for one in value)
    )


def row(*checks: Check) -> Check:
    """Return a check for a list with one element per check, in order."""
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(checks)
        and all(check(one) for check, one in zip(checks, value, strict=True))
    )


def record(**checks: Check) -> Check:
    """Return a check for a dict with exactly these keys, whose values pass their checks."""
    return lambda value: (
        isinstance(value, dict)
        and value.keys() == checks.keys()
        and all(check(value[name]) for name, check in checks.items())
    )
