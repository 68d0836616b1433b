"""wfacli.align and wfacli.align_pairs."""

import pytest

import wfacli
from wfacli import InputError, UsageError, WfacliError


def test_one_pair():
    assert wfacli.align("ACGTTGCA", "ACGTGCA") == wfacli.Alignment(-8, "3=1I4=", 1, (0, 8, 0, 7))
    assert wfacli.align(b"ACGT", "acgt").cigar == "4="
    assert wfacli.align("ACGT", "AGGT", penalties=(2, 9, 9)).score == -2
    assert wfacli.align("", "", metric="edit") == wfacli.Alignment(0, "*", 0, (0, 0, 0, 0))
    assert wfacli.align("", "ACG") == wfacli.Alignment(-12, "3D", 3, (0, 0, 0, 3))
    assert wfacli.align("ACG", "", metric="edit") == wfacli.Alignment(-3, "3I", 3, (0, 3, 0, 0))


def test_rules():
    assert wfacli.align("ACNT", "ACNT").cigar == "2=1X1="
    assert wfacli.align("ACNT", "ACGT", ambiguous="wildcard").cigar == "4="
    assert wfacli.align("ACNT", "ACNT", ambiguous="literal").cigar == "4="
    assert wfacli.align("ACU", "ACT").cigar == "3="
    assert wfacli.align("ACU", "ACT", ambiguous="literal").cigar == "2=1X"


def test_pairs_keep_their_order_whatever_the_threads():
    queries = ["A" * n for n in range(300)]
    targets = ["A" * (300 - n) for n in range(300)]
    one = wfacli.align_pairs(queries, targets, metric="edit")
    assert [a.edits for a in one] == [abs(300 - 2 * n) for n in range(300)]
    assert wfacli.align_pairs(queries, targets, metric="edit", threads=4) == one
    assert wfacli.align_pairs([], []) == []
    assert wfacli.align_pairs(tuple(queries), targets, metric="edit") == one


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"metric": "hamming"}, ValueError),
        ({"ambiguous": "maybe"}, ValueError),
        ({"penalties": (0, 6, 2)}, UsageError),
        ({"penalties": (4, 6, 10**6)}, UsageError),
    ],
)
def test_arguments_out_of_range(arguments, error):
    with pytest.raises(error):
        wfacli.align("A", "C", **arguments)


def test_sequences_that_are_none():
    with pytest.raises(InputError):
        wfacli.align("AC GT", "ACGT")
    with pytest.raises(ValueError, match="1 queries, 2 targets"):
        wfacli.align_pairs(["A"], ["A", "C"])
    assert issubclass(InputError, WfacliError) and issubclass(UsageError, WfacliError)


def test_the_package_offers_what_it_names():
    assert all(hasattr(wfacli, name) for name in wfacli.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = wfacli.nothing
