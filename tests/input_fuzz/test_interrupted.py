"""Signals at places of whole runs; `make fuzz-kill` takes all places, and every kind of output."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from .kill import Killer


@pytest.mark.parametrize("kind", ["sam", "mapped bam", "dotplot"])
def test_signal_at_a_point(tmp_path: Path, kind: str) -> None:
    killer = Killer(tmp_path)
    points = killer.points(kind)
    assert len(points) > 500
    problems = [killer.interrupt(kind, at) for at in random.Random(5).sample(points, 60)]
    assert not any(problems), [problem for problem in problems if problem]
