"""wfacli.align and wfacli.align_pairs."""

import random

import numpy as np
import pytest

import wfacli
from wfacli import InputError, UsageError, WfacliError
from wfacli.config import Limits
from wfacli.plan.kernels import LINEAR
from wfacli.plan.planner import Planner


def test_one_pair():
    assert wfacli.align("ACGTTGCA", "ACGTGCA") == wfacli.Alignment(-8, "3=1I4=", 1, (0, 8, 0, 7))
    assert wfacli.align(b"ACGT", "acgt").cigar == "4="
    assert wfacli.align("ACGT", "AGGT", penalties=(2, 9, 9)).score == -2
    assert wfacli.align("", "", metric="edit") == wfacli.Alignment(0, "*", 0, (0, 0, 0, 0))
    assert wfacli.align("", "ACG") == wfacli.Alignment(-12, "3D", 3, (0, 0, 0, 3))
    assert wfacli.align("ACG", "", metric="edit") == wfacli.Alignment(-3, "3I", 3, (0, 3, 0, 0))


def test_rules():
    assert wfacli.align("ACNT", "ACNT").cigar == "2=1X1="
    assert wfacli.align("ACNT", "ACGT", ambiguous="wildcard").cigar == "2=1X1="
    assert wfacli.align("ACNT", "ACNT", n_penalty=1) == wfacli.Alignment(-1, "2=1X1=", 1, (0, 4, 0, 4))
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
        ({"mode": "semiglobal", "free": (1, 0, 0, 0)}, UsageError),
        ({"mode": "overlap", "match": 1, "free": (1, 0, 0, 0)}, UsageError),
        ({"free": (0, 0, 0, 1)}, UsageError),
    ],
)
def test_arguments_out_of_range(arguments, error):
    with pytest.raises(error):
        wfacli.align("A", "C", **arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"penalties": (4, 6, 2.0)}, "penalties: a whole number is required, not 2.0"),
        ({"penalties": (4, 6.5, 2)}, "penalties: a whole number is required, not 6.5"),
        ({"penalties": "4,6,2"}, "penalties are whole numbers, not '4,6,2'"),
        ({"match": 1.5}, "match: a whole number is required, not 1.5"),
        ({"max_cost": 3.0}, "max_cost: a whole number is required, not 3.0"),
        ({"mode": "ends-free", "free": (1.0, 0, 0, 0)}, "free: a whole number is required, not 1.0"),
    ],
)
def test_numbers_that_are_not_whole(arguments, words):
    with pytest.raises(TypeError, match=f"^{words}$"):
        wfacli.align("A", "C", **arguments)


def test_numbers_of_numpy():
    expected = wfacli.align("ACGT", "AGT", penalties=(3, 5, 1))
    for penalties in (np.array([3, 5, 1]), (np.int8(3), np.uint64(5), 1), [3, 5, 1]):
        assert wfacli.align("ACGT", "AGT", penalties=penalties) == expected


def test_spans():
    assert wfacli.align("ACGTTGCA", "TTACGTTGCAG", mode="semiglobal") == wfacli.Alignment(0, "8=", 0, (0, 8, 2, 10))
    overlap = wfacli.align("GGACGTTGCA", "ACGTTGCATT", mode="overlap", match=1)
    assert overlap == wfacli.Alignment(8, "8=", 0, (2, 10, 0, 8))
    assert wfacli.align("ACGTAA", "ACGTCC", mode="extension", match=1).span == (0, 4, 0, 4)
    assert wfacli.align("GGACGT", "ACGT", mode="ends-free", free=(2, 0, 0, 0)).span == (2, 6, 0, 4)
    assert wfacli.align("AAAA", "CCCC", mode="overlap", match=1).cigar == "*"


def test_metrics_and_bounds():
    scores = {"edit": -3, "indel": -3, "linear": -6, "affine": -12, "affine2p": -12}
    for metric, score in scores.items():
        assert wfacli.align("ACGTACGT", "ACGTTTTACGT", metric=metric).score == score
        found = wfacli.align("ACGTACGT", "ACGTTTTACGT", metric=metric, score_only=True)
        assert found == wfacli.Alignment(score, "*", -1, (0, 8, 0, 11))
    assert wfacli.align("ACGT", "ACGA", match=3).score == 5
    assert wfacli.align("ACGT", "ACGA", max_cost=4).score == -4
    assert wfacli.align("ACGT", "ACGA", max_cost=3).status is wfacli.Status.SCORE_LIMIT


def test_heuristics_say_when_they_leave_something_out():
    query, target = "A" * 9 + "ACGTTGCA" * 4, "ACGTTGCA" * 4 + "C" * 9
    assert wfacli.align(query, target).exact
    assert wfacli.align(query, target, heuristics=wfacli.Heuristics(band=100)).exact
    assert not wfacli.align(query, target, heuristics=wfacli.Heuristics(band=2)).exact


def test_an_aligner_aligns_batches():
    with wfacli.Aligner(mode="semiglobal", threads=2) as aligner:
        for _ in range(2):
            found = aligner.align_batch(["ACGT", "AAAA"], ["TACGTT", "AATA"])
            assert len(found) == 2 and found.cigars() == ["4=", "2=1X1="]
            assert [a.score for a in found] == found.score.tolist() == [0, -4]
            assert found[1] == found[-1] and found[0].span == (0, 4, 1, 5)
            with pytest.raises(IndexError):
                found[2]
    assert found.to_paf().split("\t")[:9] == ["pair1", "4", "0", "4", "+", "pair1", "6", "1", "5"]
    assert found.to_sam(cigar_m=True, md=True, header=False).splitlines()[1].split("\t")[3:6] == ["1", "255", "4M"]
    with wfacli.Aligner(score_only=True) as aligner, pytest.raises(ValueError, match="scores alone"):
        aligner.align_batch(["A"], ["A"]).to_sam()


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


def test_what_is_no_sequence_is_said_by_its_place():
    for query, target, where, kind in ((None, "A", "query", "NoneType"), ("A", 3, "target", "int")):
        with pytest.raises(TypeError, match=f"^{where} of pair1: a sequence is str or bytes, not {kind}$"):
            wfacli.align(query, target)


@pytest.mark.parametrize("option", ["metric", "mode", "ambiguous"])
def test_an_unknown_choice_is_answered_with_those_there_are(option):
    with pytest.raises(ValueError, match=f"^{option} is one of .*, not 'foo'$"):
        wfacli.align("A", "A", **{option: "foo"})


def test_rows_are_asked_for_by_number():
    with wfacli.Aligner() as aligner:
        batch = aligner.align_batch(["ACGT", "AC"], ["ACGT", "AC"])
    assert batch[-1] == batch[1]
    for row in (2, -3):
        with pytest.raises(IndexError, match=f"^row {row} of 2 pairs$"):
            batch[row]
    with pytest.raises(TypeError, match="slice"):
        batch[0:1]


def test_a_long_pair_that_outgrows_the_table_stays_with_the_wavefront(monkeypatch):
    target = "".join(random.Random(1).choices("ACGT", k=200_000))
    query = "".join(symbol for place, symbol in enumerate(target) if place % 2000)
    ways = []
    further = Planner.further
    monkeypatch.setattr(Planner, "further", lambda *a: ways.append(further(*a)) or ways[-1])
    tight = wfacli.Aligner(limits=Limits(table=1 << 17)).align(query, target)
    assert [route.kernel for (route,) in ways] == [LINEAR]
    assert tight == wfacli.align(query, target) and tight.edits == 100
