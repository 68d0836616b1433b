"""Scoring schemes: scores, matrix files, and rejected input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import parasail
import pytest

from wfacli.config import Ambiguous
from wfacli.errors import InputError, UsageError
from wfacli.scoring.matrix_file import BUILT_IN, parse_matrix
from wfacli.scoring.scheme import NO_CODE, Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

SMALL = "# a comment\n\n   A  C  *\nA  2 -3 -9\nC -3  4 -9\n* -9 -8  1\n"


def worth(scheme: Scheme, query: str, target: str) -> int:
    codes = scheme.codes
    return int(scheme.matrix[codes[ord(query)], codes[ord(target)]])


@pytest.mark.parametrize("name", BUILT_IN)
def test_matrices_are_those_that_parasail_has(name: str) -> None:
    scheme, theirs = Scheme.of_matrix(name.lower()), getattr(parasail, name.lower())
    assert (scheme.name, (scheme.open, scheme.extend)) == (name, BUILT_IN[name])
    for query in "ARNDCQEGHILKMFPSTWYVBZX*a":
        for target in "ARNDCQEGHILKMFPSTWYVBZX*v":
            rows, columns = (theirs.mapper[ord(symbol)] for symbol in (query, target))
            assert worth(scheme, query, target) == theirs.matrix[rows, columns]
    assert [symbol for symbol in "UOJ-" if scheme.codes[ord(symbol)] == NO_CODE] == list("UOJ-")
    assert scheme.has_unscored_symbols and scheme.same.all()


def test_rows_are_of_the_query() -> None:
    alphabet, scores = parse_matrix(SMALL, "small")
    assert alphabet == "AC*"
    assert scores.tolist() == [[2, -3, -9], [-3, 4, -9], [-9, -8, 1]]


def test_rows_may_stand_in_any_order() -> None:
    lines = SMALL.splitlines()
    assert (parse_matrix("\n".join([*lines[:3], *reversed(lines[3:])]), "")[1] == parse_matrix(SMALL, "")[1]).all()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 0, "contains no matrix"),
        ("# only this\n", 0, "contains no matrix"),
        (SMALL.replace("* -9 -8  1\n", ""), 5, "no row for *"),
        (SMALL.replace("C -3  4 -9", "C -3  4"), 5, "row of C has 2 scores, and there are 3 columns"),
        (SMALL.replace("C -3  4 -9", "C -3  4 -9 1"), 5, "row of C has 4 scores"),
        (SMALL.replace("4", "x"), 5, "row of C, 'x' is not a whole number"),
        (SMALL.replace("4", "1.5"), 5, "'1.5' is not a whole number"),
        (SMALL.replace("4", "128"), 5, "128 is not -127 to 127"),
        (SMALL.replace("A  C", "A  A"), 3, "A has two columns"),
        (SMALL.replace("A  C", "A  CC"), 3, "'CC' is not one"),
        (SMALL.replace("C -3", "A -3"), 5, "A has two rows"),
        (SMALL.replace("C -3", "G -3"), 5, "'G', which is not the symbol of a column"),
        ("".join(chr(c) + " " for c in range(64, 97)), 1, "33 columns; 30 is the maximum"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(InputError, match=r"^scores") as refused:
        parse_matrix(text, "scores.txt")
    assert refused.value.line == line and words in str(refused.value)


def test_a_file_needs_gaps(tmp_path: Path) -> None:
    file = tmp_path / "scores.txt"
    file.write_text(SMALL)
    with pytest.raises(UsageError, match="--gaps"):
        Scheme.of_matrix(str(file))
    assert Scheme.of_matrix(str(file), (5, 2)).extend == 2


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="BLOSUM80 is neither a file nor one of the matrices BLOSUM62"):
        Scheme.of_matrix("BLOSUM80")
    with pytest.raises(InputError, match="directory"):
        Scheme.of_matrix(str(tmp_path), (1, 1))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="ASCII"):
        Scheme.of_matrix(str(tmp_path / "binary"), (1, 1))


def test_nucleotides_by_each_rule() -> None:
    strict = Scheme.parse("2,4,4,2")
    wild = Scheme.parse("2,4,4,2", Ambiguous.WILDCARD)
    literal = Scheme.parse("2,4,4,2", Ambiguous.LITERAL)
    told = Scheme.parse("2,4,4,2", n_score=-1)
    pairs = {"AA": (2, 2, 2, 2), "aA": (2, 2, 2, 2), "AC": (-4, -4, -4, -4), "TU": (2, 2, -4, 2), "NN": (-4, 2, 2, -1)}
    pairs |= {"AR": (-4, 2, -4, -1), "RY": (-4, -4, -4, -1), "XX": (-4, -4, 2, -1), "BH": (-4, 2, -4, -1)}
    for (query, target), expected in pairs.items():
        found = tuple(worth(scheme, query, target) for scheme in (strict, wild, literal, told))
        assert found == expected, (query, target)
    assert not strict.has_unscored_symbols and literal.has_unscored_symbols


def test_a_matrix_of_nucleotides_reads_u_as_t(tmp_path: Path) -> None:
    file = tmp_path / "scores.txt"
    file.write_text("  A C G T N\n" + "".join(f"{x} 1 1 1 2 0\n" for x in "ACGTN"))
    scheme = Scheme.of_matrix(str(file), (5, 2))
    assert worth(scheme, "a", "u") == 2
    assert scheme.same.tolist() == [1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [("2,4,4", "like 2,4,4,2"), ("2,4,4,x", "whole numbers"), ("2,-4,4,2", "cost of a mismatch is -4"),
     ("200,4,4,2", "0 to 127"), ("2,4,-1,2", "opening is -1"), ("2,4,0,0", "cannot both be 0")],
)  # fmt: skip
def test_scores_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Scheme.parse(text)


def test_n_goes_with_one_rule() -> None:
    with pytest.raises(UsageError, match="--n-score"):
        Scheme.parse("2,4,4,2", Ambiguous.WILDCARD, n_score=0)
    with pytest.raises(UsageError, match="-127 to 127"):
        Scheme.parse("2,4,4,2", n_score=-128)


def test_a_scheme_is_its_values() -> None:
    one, other = Scheme.parse("2,4,4,2"), Scheme.of_scores(2, 4, 4, 2)
    assert one == other and hash(one) == hash(other) and one != Scheme.parse("2,4,4,3")
    with pytest.raises(ValueError, match="read-only"):
        one.matrix[0, 0] = 1


@pytest.mark.parametrize("mode", ["local", "extension"])
def test_without_a_score_above_0_nothing_is_best(mode: str) -> None:
    scheme = Scheme.parse("0,4,4,2")
    with pytest.raises(UsageError, match="score above 0"):
        ExtendSpec(scheme, ExtendMode(mode))
    assert ExtendSpec(scheme, ExtendMode.GLOBAL).scheme is scheme


@pytest.mark.parametrize(
    ("options", "words"),
    [({"zdrop": 5}, "Z-drop"), ({"xdrop": 5, "mode": "global"}, "X-drop"), ({"band": 5}, "--band"),
     ({"band": -1, "mode": "global"}, "bandwidth is -1"), ({"second_best": True, "mode": "global"}, "--second-best")],
)  # fmt: skip
def test_options_that_do_not_go_together(options: dict, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ExtendSpec(Scheme.parse("2,4,4,2"), **{**options, "mode": ExtendMode(options.get("mode", "local"))})


def test_matrix_is_of_eight_bits() -> None:
    assert Scheme.of_matrix("BLOSUM62").matrix.dtype == np.int8
