"""CIGARs in BAM's packing."""

import numpy as np
import pysam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracles
from wfacli import _native
from wfacli.config import AlignSpec, Metric, Penalties
from wfacli.core import cigar

RUNS = st.lists(st.tuples(st.integers(1, (1 << 28) - 1), st.sampled_from("MIDNSHP=X")), max_size=20)


def text_of(runs):
    return "".join(f"{length}{operation}" for length, operation in runs) or "*"


@given(RUNS)
def test_round_trip(runs):
    packed = cigar.from_text(text_of(runs))
    assert packed.dtype == np.uint32
    assert cigar.to_text(packed) == text_of(runs)


@given(RUNS)
def test_packing_is_bam_s(runs):
    record = pysam.AlignedSegment()
    record.cigarstring = text_of(runs)
    expected = [length << 4 | operation for operation, length in record.cigartuples or []]
    assert cigar.from_text(text_of(runs)).tolist() == expected


@pytest.mark.parametrize("text", ["", "3", "M", "3Q", "3M ", "-3M", "3M4", "*3M", "3m"])
def test_what_is_no_cigar(text):
    if text == "":
        assert len(cigar.from_text(text)) == 0
        return
    with pytest.raises(ValueError, match="not a CIGAR"):
        cigar.from_text(text)


def test_counts():
    packed = cigar.from_text("2S3=1X4I2=5D6N1M2X")
    assert [cigar.operation_length(packed, op) for op in "S=XIDNMH"] == [2, 5, 3, 4, 5, 6, 1, 0]
    assert cigar.spans(packed) == (2 + 3 + 1 + 4 + 2 + 1 + 2, 3 + 1 + 2 + 5 + 6 + 1 + 2)
    assert cigar.edits(packed) == 3 + 4 + 5
    assert cigar.spans(cigar.from_text("*")) == (0, 0)


def test_counts_pass_32_bits():
    packed = cigar.from_text(f"{(1 << 28) - 1}=" * 20)
    assert cigar.operation_length(packed, "=") == 20 * ((1 << 28) - 1)


@given(
    st.lists(st.tuples(st.integers(1, 1000), st.sampled_from("=XID")), max_size=12),
    st.tuples(st.integers(1, 50), st.integers(0, 50), st.integers(1, 50)),
)
def test_score(runs, costs):
    packed = cigar.from_text(text_of(runs))
    affine = AlignSpec(penalties=Penalties.of(Metric.AFFINE, costs))
    assert -cigar.score(packed, affine) == oracles.cigar_cost(text_of(runs), costs)
    edit = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT))
    assert -cigar.score(packed, edit) == oracles.cigar_cost(text_of(runs), oracles.EDIT)


@given(
    st.lists(st.tuples(st.integers(1, 1000), st.sampled_from("=XID")), max_size=12),
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=2, max_size=2),
    st.integers(0, 9),
)
def test_score_with_two_pieces_and_a_bonus(runs, pieces, match):
    spec = AlignSpec(Metric.AFFINE2P, Penalties(3, tuple(pieces), match))
    expected = 0
    for length, operation in runs:
        if operation in "=X":
            expected += length * (match if operation == "=" else -3)
    for length, operation in merged(runs):
        if operation in "ID":
            expected -= min(opening + length * extension for opening, extension in pieces)
    assert cigar.score(cigar.from_text(text_of(merged(runs))), spec) == expected


def merged(runs):
    """Merge adjacent runs of the same operation."""
    found = []
    for length, operation in runs:
        if found and found[-1][1] == operation:
            length += found.pop()[0]
        found.append((length, operation))
    return found


def test_lengths_of_any_number_of_digits():
    lengths = [n + d for n in (0, 1, 10, 100, 1000, 10_000, 100_000, 10**6, 10**7, 10**8) for d in (0, 1, 7)][1:]
    lengths += [999, 1999, 999_999, 1_000_999, 123_456_789, (1 << 28) - 1]
    operations = np.array([n << 4 | 7 for n in lengths], np.uint32)
    start = np.array([0, len(lengths)], np.int64)
    assert _native.cigar_texts(operations, start, False) == ["".join(f"{n}=" for n in lengths)]
