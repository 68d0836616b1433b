"""Files as arrays of symbols, which are equal if their bases, bytes or lines are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from wfacli.config import Ambiguous
from wfacli.errors import UsageError
from wfacli.solve.distance.inputs import Unit, read_lines, read_sequences, read_texts

CHARACTERS = "ACGTUacgtuNnRX*-"


@pytest.fixture
def put(tmp_path):
    """Return a function that writes two files and returns their names."""

    def write(a, b):
        paths = []
        for name, content in (("a", a), ("b", b)):
            (tmp_path / name).write_bytes(content)
            paths.append(str(tmp_path / name))
        return tuple(paths)

    return write


def equal_under(rule, x, y):
    x, y = x.upper(), y.upper()
    if rule is Ambiguous.LITERAL:
        return x == y
    x, y = x.replace("U", "T"), y.replace("U", "T")
    return x == y and x in "ACGT"


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("rule", [Ambiguous.LITERAL, Ambiguous.MISMATCH])
def test_symbols_are_equal_where_the_rule_says_so(put, rule, keep):
    pairs = list(itertools.product(CHARACTERS, repeat=2))
    a, b = ("".join(side) for side in zip(*pairs, strict=True))
    inputs = read_sequences(put(b">a\n" + a.encode(), b">b\n" + b.encode()), (None, None), rule, keep)
    assert (inputs.pair.query == inputs.pair.target).tolist() == [equal_under(rule, x, y) for x, y in pairs]
    assert not inputs.pair.plain
    assert (inputs.a.name, inputs.a.length, inputs.unit) == ("a", len(a), Unit.SYMBOLS)
    pairs = inputs.as_batch(7)
    if keep:
        assert pairs.bases[pairs.t_start[0] : pairs.t_start[0] + pairs.t_len[0]].tobytes() == b.encode()
    assert (pairs.records.query_name(0), pairs.records.target_name(0)) == ("a", "b")
    assert (pairs.q_start[0] % 16, pairs.t_start[0] % 16, pairs.est_edits[0], pairs.flags[0]) == (0, 0, 7, 1)


@pytest.mark.parametrize("keep", [False, True])
def test_nucleotides_are_plain(put, keep):
    paths = put(b">a\nacgtACGT", b">b\nTTT")
    assert read_sequences(paths, (None, None), Ambiguous.LITERAL, keep).pair.plain
    assert not read_sequences(put(b">a\nACGT", b">b\nTTU"), (None, None), Ambiguous.LITERAL, keep).pair.plain
    assert read_sequences(put(b">a\nACGT", b">b\nTTU"), (None, None), Ambiguous.MISMATCH, keep).pair.plain


def test_wildcards_and_two_standard_inputs_are_refused(put):
    with pytest.raises(UsageError, match="wildcard cannot be used with distance"):
        read_sequences(put(b">a\nA", b">b\nA"), (None, None), Ambiguous.WILDCARD, False)
    for read in (read_texts, read_lines, lambda p: read_sequences(p, (None, None), Ambiguous.LITERAL, False)):
        with pytest.raises(UsageError, match="only one of QUERY and TARGET"):
            read(("-", "-"))


def test_bytes(put):
    everything = bytes(range(256))
    inputs = read_texts(put(everything, everything[::-1] + b"\n"))
    assert inputs.pair.query.tobytes() == everything
    assert inputs.pair.target.tobytes() == everything[::-1] + b"\n"
    assert (inputs.a.length, inputs.b.length, inputs.unit, inputs.pair.plain) == (256, 257, Unit.BYTES, False)
    assert inputs.estimate() > 0
    assert read_texts(put(b"", b"x")).estimate() == 1


def test_lines(put):
    inputs = read_lines(put(b"one\ntwo\r\n\ntwo\nlast", b"last\n\ntwo\n \n\xff\xfe\none\n"))
    assert inputs.pair.query.tolist() == [0, 1, 2, 1, 3]
    assert inputs.pair.target.tolist() == [3, 2, 1, 4, 5, 0]
    assert inputs.pair.query.dtype == np.uint8
    assert (inputs.a.length, inputs.b.length, inputs.unit) == (5, 6, Unit.LINES)
    empty = read_lines(put(b"", b"\n"))
    assert (empty.a.length, empty.b.length) == (0, 1)


def test_many_different_lines(put):
    lines = [f"{i * i}\n".encode() for i in range(300)]
    for count, kind in ((256, np.uint8), (257, np.uint32)):
        inputs = read_lines(put(b"".join(lines[:count]), b"".join(reversed(lines[:count]))))
        assert inputs.pair.query.dtype == inputs.pair.target.dtype == kind
        assert inputs.pair.query.tolist() == list(range(count)) == inputs.pair.target[::-1].tolist()


def test_lines_over_blocks(put, monkeypatch):
    from wfacli.io.read import sequence

    a, b = b"one two three\n\nx\n" * 3, b"x" * 50 + b"\r\nx"
    whole = read_lines(put(a, b))
    for size in (1, 2, 3, 7):
        monkeypatch.setattr(sequence, "_BLOCK", size)
        cut = read_lines(put(a, b))
        assert cut.pair.query.tolist() == whole.pair.query.tolist() == [0, 1, 2] * 3
        assert cut.pair.target.tolist() == whole.pair.target.tolist() == [3, 2]
