"""Validation of options."""

import pytest

from wfacli.config import (
    MAX_PENALTY,
    WHOLE,
    AlignSpec,
    Ambiguous,
    Config,
    FreeEnds,
    Heuristics,
    Metric,
    Mode,
    OutputSpec,
    Penalties,
    parse_read_group,
)
from wfacli.errors import UsageError


def test_penalties():
    assert Penalties() == Penalties(4, ((6, 2),), 0) == Penalties.of(Metric.AFFINE)
    assert Penalties.parse(Metric.AFFINE, "1,0,1") == Penalties(1, ((0, 1),))
    assert Penalties.parse(Metric.AFFINE, " 5, 3 ,1 ", 2) == Penalties(5, ((3, 1),), 2)
    assert Penalties.parse(Metric.AFFINE, f"{MAX_PENALTY},{MAX_PENALTY},{MAX_PENALTY}").mismatch == MAX_PENALTY


def test_penalties_of_each_metric():
    assert Penalties.of(Metric.EDIT, match=1) == Penalties(1, ((0, 1),), 1)
    indel = Penalties.of(Metric.INDEL)
    assert indel.gaps == ((0, 1),) and indel.mismatch >= 2  # never cheaper than an insertion and a deletion
    assert Penalties.of(Metric.LINEAR) == Penalties(4, ((0, 2),)) == Penalties.parse(Metric.LINEAR, "4,2")
    assert Penalties.of(Metric.AFFINE2P) == Penalties(4, ((6, 2), (24, 1)))
    assert Penalties.of(Metric.AFFINE2P, (1, 2, 3, 4, 5)) == Penalties(1, ((2, 3), (4, 5)))


@pytest.mark.parametrize(
    ("metric", "text", "words"),
    [
        ("affine", "0,6,2", "mismatch penalty is 0"),
        ("affine", "4,-1,2", "gap opening penalty is -1"),
        ("affine", "4,6,0", "gap extension penalty is 0"),
        ("affine", f"4,6,{MAX_PENALTY + 1}", "must be 1 to 10,000"),
        ("affine", "4,6", "has 3 penalties .*, not 2"),
        ("affine", "4,6,2,24,1", "has 3 penalties .*, not 5"),
        ("affine", "", "whole numbers"),
        ("affine", "4,6,x", "whole numbers"),
        ("affine", "4.5,6,2", "whole numbers"),
        ("affine", "4,6,2,", "whole numbers"),
        ("linear", "4,6,2", r"has 2 penalties \(mismatch,gap\), not 3"),
        ("linear", "4,0", "gap extension penalty is 0"),
        ("affine2p", "4,6,2", "has 5 penalties .*, not 3"),
        ("affine2p", "4,6,2,24,0", "gap extension penalty is 0"),
        ("affine2p", "4,6,2,-1,1", "gap opening penalty is -1"),
        ("edit", "1", "no penalties"),
        ("indel", "1", "no penalties"),
    ],
)
def test_penalties_that_make_no_sense(metric, text, words):
    with pytest.raises(UsageError, match=words):
        Penalties.parse(Metric(metric), text)


@pytest.mark.parametrize("match", [-1, MAX_PENALTY + 1])
def test_match_bonus_out_of_range(match):
    with pytest.raises(UsageError, match=f"match bonus is {match}; it must be 0 to 10,000"):
        Penalties.of(Metric.EDIT, match=match)


def test_a_gap_has_one_or_two_pieces():
    for gaps in ((), ((1, 1),) * 3):
        with pytest.raises(UsageError, match=f"not {len(gaps)}"):
            Penalties(4, gaps)


def test_free_ends():
    assert not FreeEnds() and FreeEnds(target_end=1)
    assert FreeEnds(1, 2, 3, 4).as_tuple() == (1, 2, 3, 4)
    assert FreeEnds.of(Mode.SEMIGLOBAL).as_tuple() == (0, 0, WHOLE, WHOLE)
    assert FreeEnds.of(Mode.OVERLAP).as_tuple() == (WHOLE,) * 4
    assert not any(map(FreeEnds.of, (Mode.GLOBAL, Mode.EXTENSION, Mode.ENDS_FREE)))
    for symbols in (-1, WHOLE + 1):
        with pytest.raises(UsageError, match="free ends"):
            FreeEnds(query_end=symbols)


@pytest.mark.parametrize(
    ("match", "options", "words"),
    [
        (0, {"mode": Mode.OVERLAP}, "overlap requires a match score"),
        (0, {"mode": Mode.EXTENSION}, "extension requires a match score"),
        (0, {"free": FreeEnds(1)}, "global has no free ends"),
        (1, {"free": FreeEnds(1), "mode": Mode.EXTENSION}, "extension has no free ends"),
        (0, {"heuristics": Heuristics(xdrop=9)}, "X-drop requires a match score"),
        (1, {"heuristics": Heuristics(zdrop=9)}, "Z-drop"),
        (1, {"max_cost": 9}, "bound"),
    ],
)
def test_specs_that_make_no_sense(match, options, words):
    with pytest.raises(UsageError, match=words):
        AlignSpec(penalties=Penalties(match=match), **options)


@pytest.mark.parametrize("metric", [Metric.EDIT, Metric.INDEL])
def test_a_metric_with_penalties_of_its_own_takes_no_others(metric):
    assert AlignSpec(metric, Penalties.of(metric, None, 3)).penalties.match == 3
    with pytest.raises(UsageError, match="penalties of its own"):
        AlignSpec(metric)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": Metric.EDIT}, "metric edit"),
        ({"metric": Metric.INDEL}, "metric indel"),
        ({"ambiguous": Ambiguous.WILDCARD}, "--ambiguous wildcard"),
        ({"ambiguous": Ambiguous.LITERAL}, "--ambiguous literal"),
        ({"heuristics": Heuristics(band=9)}, "a band"),
        ({"heuristics": Heuristics(xdrop=9)}, "an X-drop"),
    ],
    ids=str,
)
def test_specs_without_a_penalty_of_ambiguous_bases(options, words):
    with pytest.raises(UsageError, match=f"penalty of N .*{words}"):
        AlignSpec(penalties=Penalties(match=1, ambiguous=1), **options)
    for penalty in (-1, 5):
        with pytest.raises(UsageError, match=f"penalty of N .* is {penalty}; it must be 0 to"):
            Penalties(4, ambiguous=penalty)


def test_a_penalty_of_ambiguous_bases_that_is_that_of_a_mismatch_changes_nothing():
    assert not AlignSpec(penalties=Penalties(4, ambiguous=4)).charges_ambiguous
    assert AlignSpec(penalties=Penalties(4, ambiguous=3)).charges_ambiguous


def test_heuristics_are_off_unless_asked_for():
    assert not Heuristics() and not Heuristics(band_step=5)
    assert all((Heuristics(band=1), Heuristics(xdrop=1), Heuristics(zdrop=1)))


def test_read_group():
    line = parse_read_group(r"@RG\tID:run 1\tSM:a:b")
    assert line == "@RG\tID:run 1\tSM:a:b"
    assert OutputSpec(read_group=line).read_group_id == "run 1"
    assert parse_read_group("@RG\tID:x") == "@RG\tID:x"
    assert OutputSpec().read_group_id == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ID:run1",
        r"RG\tID:run1",
        "@RG",
        r"@RG\tSM:a",
        r"@RG\tID:",
        r"@RG\tID:a\tID:b",
        r"@RG\tID:a\t",
        r"@RG\tID:a\tSM",
        r"@RG\tID:a\tS:a",
        r"@RG\tID:a\tSMP:a",
        "@RG\\tID:a\nSM:b",
        "@RG\\tID:a\\tSM:b\r",
        "@RG ID:a",
    ],
)
def test_read_groups_that_are_malformed(text):
    with pytest.raises(UsageError):
        parse_read_group(text)


def test_configurations_are_values():
    assert AlignSpec() == AlignSpec(penalties=Penalties(4, ((6, 2),)))
    assert Config().spec == AlignSpec()
    assert [rule.code for rule in Ambiguous] == [0, 1, 2]
    with pytest.raises(AttributeError):
        Penalties().mismatch = 3
