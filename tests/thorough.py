"""Select the cases that `make test` runs; `make fuzz` also runs those that differ only in size."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
THOROUGH = bool(os.environ.get("WFACLI_FUZZ"))


def one_of_each(cases: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
    """Return the last case of each kind; under `make fuzz`, all cases."""
    cases = list(cases)
    return cases if THOROUGH else list({kind(case): case for case in cases}.values())


def in_turn(cases: Sequence[T], parts: int) -> list[T]:
    """Return one of every `parts` consecutive cases, at a rotating position; under `make fuzz`, all cases."""
    if THOROUGH:
        return list(cases)
    groups = [cases[at : at + parts] for at in range(0, len(cases), parts)]
    return [group[number % len(group)] for number, group in enumerate(groups)]
