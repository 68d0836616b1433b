"""Text output: progress and results."""

from __future__ import annotations

import pytest

from tests.distance.solvers import pair_of
from wfacli.cli.distance_report import as_text, progress_line
from wfacli.cli.progress_line import line, seconds
from wfacli.solve.distance.inputs import Inputs, Side, Unit
from wfacli.solve.distance.run import Outcome, Phase, Progress


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.00012345, "0.000123 s"),
        (1.234, "1.23 s"),
        (12.34, "12.3 s"),
        (99.94, "99.9 s"),
        (125, "2 min 5 s"),
        (3599, "59 min 59 s"),
        (7384, "2 h 3 min"),
    ],
)
def test_times(value: float, words: str) -> None:
    assert seconds(value) == words


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (Progress(), "at least 0 edits (starting) after 12.0 s"),
        (Progress(1234, None, None, "bits"), "at least 1,234 edits (bits) after 12.0 s"),
        (Progress(1, 0.256, 700, "x"), "at least 1 edits (x) after 12.0 s, 26% done, about 11 min 40 s to go"),
        (Progress(99, algorithm="x", done=True), "99 edits (computing the alignment) after 12.0 s"),
    ],
)
def test_progress(progress: Progress, words: str) -> None:
    assert line(progress_line(progress), 12) == words


def test_a_run_that_changed_over_and_went_on() -> None:
    inputs = Inputs(Side("f.fa", "one", 1000), Side("g.fa", "g.fa", 2000), Unit.SYMBOLS, pair_of(b"", b""))
    phases = Phase("cpu-wavefront", 4.0, 10, 100, "switched"), Phase("cpu-bits", 6.0, 1500, 900, "done")
    words = as_text(inputs, Outcome(1500, None, phases, resumed=2), None, 1, None)
    assert words == (
        "query      f.fa one, 1,000 symbols\n"
        "target     g.fa, 2,000 symbols\n"
        "distance   1,500\n"
        "identity   25.00%   (1 - distance / length of the longer)\n"
        "time       10.0 s   (cpu-wavefront 4 s, then cpu-bits 6 s, 1 thread, in 3 runs)\n"
        "cells      2e+06 in the matrix, 2e-07 TCUPS; 1e+03 computed\n"
    )


def test_lengths_that_say_it_alone() -> None:
    inputs = Inputs(Side("a", "a", 0), Side("b", "b", 0), Unit.BYTES, pair_of(b"", b""))
    words = as_text(inputs, Outcome(0, None), None, 2, None)
    assert "identity   100.00% " in words
    assert "time       0 s   (determined by the lengths)\ncells      0 in the matrix\n" in words
