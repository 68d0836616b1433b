"""What make test leaves to make fuzz: cases that differ from others in sizes alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
THOROUGH = bool(os.environ.get("WFACLI_FUZZ"))


def one_of_each(cases: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
    """The last case of each kind; all of them in make fuzz."""
    cases = list(cases)
    return cases if THOROUGH else list({kind(case): case for case in cases}.values())


def in_turn(cases: Sequence[T], parts: int) -> list[T]:
    """Of so many cases that follow each other one, of the next ones the one after it; all of them in make fuzz."""
    if THOROUGH:
        return list(cases)
    groups = [cases[at : at + parts] for at in range(0, len(cases), parts)]
    return [group[number % len(group)] for number, group in enumerate(groups)]
