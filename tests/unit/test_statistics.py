"""E-values and bit scores from BLAST's table."""

import math
from dataclasses import replace

import pytest

from wfacli.scoring.matrix_file import BUILT_IN
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec
from wfacli.scoring.statistics import Significance


def of(scheme: Scheme, mode: ExtendMode = ExtendMode.LOCAL) -> Significance | None:
    return Significance.of(ExtendSpec(scheme, mode, False))


def test_schemes_that_have_parameters() -> None:
    """Parameters of supported schemes; bits are (lambda S - ln K) / ln 2, as NCBI computes them."""
    assert of(Scheme.of_matrix("BLOSUM62")).parameters == (0.267, math.log(0.041), 1)
    assert of(Scheme.of_matrix("blosum62", (9, 2))).parameters == (0.279, math.log(0.058), 1)
    for name in BUILT_IN:  # with the default gap costs of each matrix
        assert of(Scheme.of_matrix(name)) is not None
    assert of(Scheme.parse("1,2,2,1")).parameters == (1.29, math.log(0.49), 1)
    assert of(Scheme.parse("2,3,5,2")).parameters == (0.625, math.log(0.41), 2)


def test_multiples_of_a_scheme() -> None:
    """A scheme with multiplied scores gives the same alignments, and has scaled parameters."""
    assert of(Scheme.parse("2,4,4,2")).parameters == (1.29 / 2, math.log(0.49), 2)
    assert of(Scheme.parse("6,9,15,6")).parameters == (0.625 / 3, math.log(0.41), 6)
    assert of(Scheme.parse("2,4,4,2", n_score=0)) == of(Scheme.parse("2,4,4,2"))


@pytest.mark.parametrize("scores", ["2,4,5,2", "2,4,40,20", "3,1,2,1", "1,0,1,1"])
def test_nothing_is_made_up(scores: str) -> None:
    assert of(Scheme.parse(scores)) is None


def test_other_modes_and_matrices_have_none(tmp_path) -> None:
    scheme = Scheme.of_matrix("BLOSUM62")
    for mode in set(ExtendMode) - {ExtendMode.LOCAL}:
        assert of(scheme, mode) is None
    assert of(Scheme.of_matrix("BLOSUM62", (5, 5))) is None
    other = scheme.matrix.copy()
    other[0, 1] += 1
    assert of(replace(scheme, matrix=other)) is None
