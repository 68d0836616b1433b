"""Plain values out of a checkpoint, which anybody may have written: what they are is checked before they are used."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Check = Callable[[Any], bool]
_MOST = 1 << 62


def whole(value: Any) -> bool:
    """Whether it is a number from 0 on that 64 bits hold."""
    return type(value) is int and 0 <= value < _MOST


def number(value: Any) -> bool:
    """Whether it is a finite number from 0 on."""
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value < _MOST


def text(value: Any) -> bool:
    """Whether it is a text."""
    return isinstance(value, str)


def truth(value: Any) -> bool:
    """Whether it is true or false."""
    return isinstance(value, bool)


def optional(check: Check) -> Check:
    """What may be None."""
    return lambda value: value is None or check(value)


def listed(check: Check, count: int | None = None) -> Check:
    """A list of such values, of so many."""
    return lambda value: (
        isinstance(value, list) and (count is None or len(value) == count) and all(check(one) for one in value)
    )


def row(*checks: Check) -> Check:
    """A list with one value for each of these."""
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(checks)
        and all(check(one) for check, one in zip(checks, value, strict=True))
    )


def record(**checks: Check) -> Check:
    """A mapping that has these and nothing else."""
    return lambda value: (
        isinstance(value, dict)
        and value.keys() == checks.keys()
        and all(check(value[name]) for name, check in checks.items())
    )
