"""What the user may ask for."""

import pytest

from wfacli.config import (
    MAX_PENALTY,
    AlignSpec,
    Ambiguous,
    Config,
    OutputSpec,
    Penalties,
    parse_read_group,
)
from wfacli.errors import UsageError


def test_penalties():
    assert Penalties().as_tuple() == (4, 6, 2)
    assert Penalties.parse("1,0,1") == Penalties(1, 0, 1)
    assert Penalties.parse(" 5, 3 ,1 ").as_tuple() == (5, 3, 1)
    assert Penalties.parse(f"{MAX_PENALTY},{MAX_PENALTY},{MAX_PENALTY}").mismatch == MAX_PENALTY


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,6,2", "mismatch penalty is 0"),
        ("4,-1,2", "gap opening penalty is -1"),
        ("4,6,0", "gap extension penalty is 0"),
        (f"4,6,{MAX_PENALTY + 1}", "must be 1 to 10,000"),
        ("4,6", "has 2"),
        ("4,6,2,24,1", "has 5"),
        ("", "whole numbers"),
        ("4,6,x", "whole numbers"),
        ("4.5,6,2", "whole numbers"),
        ("4,6,2,", "whole numbers"),
    ],
)
def test_penalties_that_make_no_sense(text, words):
    with pytest.raises(UsageError, match=words):
        Penalties.parse(text)


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
    assert AlignSpec() == AlignSpec(penalties=Penalties(4, 6, 2))
    assert Config().spec == AlignSpec()
    assert [rule.code for rule in Ambiguous] == [0, 1, 2]
    with pytest.raises(AttributeError):
        Penalties().open = 3
