"""The alignment of a pair whose distance is known."""

from __future__ import annotations

import random
import time

import pytest

from wfacli.config import Ambiguous, Format
from wfacli.distance.inputs import Inputs, Side, Unit, read_sequences
from wfacli.distance.path import PathOptions, write_path
from wfacli.errors import Cancelled, InternalError, UsageError
from wfacli.io.output import Output

from .solvers import edit_distance, pair_of

OPTIONS = PathOptions(Format.PAF, Ambiguous.LITERAL, 1, "0", "wfacli distance")


def inputs_of(folder, a, b):
    for name, letters in (("a", a), ("b", b)):
        (folder / name).write_text(f">{name}\n{letters}\n")
    return read_sequences((str(folder / "a"), str(folder / "b")), (None, None), Ambiguous.LITERAL, False)


def written(folder, inputs, distance, stop=lambda: False):
    out = Output(str(folder / "x.paf"))
    try:
        sums = write_path(inputs, distance, OPTIONS, out, stop)
        out.finish()
    except BaseException:
        out.abandon()
        raise
    return sums, (folder / "x.paf").read_text()


def test_its_cost_is_the_distance(tmp_path):
    letters = random.Random(1)
    a = "".join(letters.choices("ACGTN", k=300))
    b = a[:100] + "TTT" + a[110:]
    inputs, edits = inputs_of(tmp_path, a, b), edit_distance(a, b)
    sums, text = written(tmp_path, inputs, edits)
    assert sums["mismatches"] + sums["inserted"] + sums["deleted"] == edits
    assert f"NM:i:{edits}\t" in text
    for wrong in (edits - 1, edits + 1):
        with pytest.raises(InternalError, match=f"costs {edits}, and the distance is {wrong}"):
            written(tmp_path, inputs, wrong)


def test_stops_in_the_middle(tmp_path):
    # Two unrelated sequences of this length take minutes, if nothing says that they are unrelated.
    a, b = ("".join(random.Random(seed).choices("ACGT", k=1_000_000)) for seed in (1, 2))
    inputs = inputs_of(tmp_path, a, b)
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        written(tmp_path, inputs, 1, lambda: time.monotonic() > begun + 0.3)
    assert time.monotonic() - begun < 5


def test_sequences_that_are_too_long_for_it():
    pair = pair_of(b"A", b"A")
    long = Inputs(Side("a", "a", 1 << 31), Side("b", "b", 1), Unit.LETTERS, pair, pair.query)
    assert long.estimate() == 0, "estimates have no such bound"
    with pytest.raises(UsageError, match=r"of more than 2,147,483,647 letters cannot be made; the distance can"):
        long.as_batch(0)
