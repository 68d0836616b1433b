"""Local alignments on a GPU: a peer runs several times and is stopped at the time limit; nothing is measured."""

import math
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import local_card

PROGRAM = """#!/bin/sh
for word; do [ "$before" = -d ] && into="$word"; before="$word"; done
mkdir -p "$into"
case "$into" in *alignment) sleep {seconds} ;; esac
printf 'Best Score: 42\\nTotal: 1500.0\\n' > "$into/statistics_01"
"""


@pytest.fixture
def program(tmp_path):
    def of(seconds):
        path = tmp_path / "cudalign"
        path.write_text(PROGRAM.format(seconds=seconds))
        path.chmod(0o755)
        return path

    return of


@pytest.mark.parametrize("end", [math.inf, 60.0])
def test_masa_has_both_ways_where_there_is_time(program, tmp_path, end):
    found = local_card.masa(program(0), [b"ACGT", b"ACGA"], tmp_path, True, time.monotonic() + end)
    assert found["answer"] == 42 and "left out" not in found
    assert [found[what]["own_seconds"] for what in ("score", "alignment")] == [1.5, 1.5]


def test_masa_is_ended_when_time_is_over_and_what_it_had_stays(program, tmp_path):
    begun = time.monotonic()
    found = local_card.masa(program(20), [b"ACGT", b"ACGA"], tmp_path, True, begun + 2)
    assert time.monotonic() - begun < 15
    assert found["left out"] == "alignment: no time left"
    assert found["answer"] == 42 and found["score"]["own_seconds"] == 1.5 and "alignment" not in found
