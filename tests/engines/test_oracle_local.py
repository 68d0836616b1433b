"""The oracle of scored alignments agrees with parasail, with the oracle of spans, and with its own definition."""

from __future__ import annotations

import itertools
import random

import numpy as np
import parasail
import pytest

from tests import oracle_spans, pairgen
from tests.oracle_local import MODES, Charges, charges, optima, protein_charges, score_of, second_best
from tests.oracle_spans import runs_of

SCORES = ((2, 4, 4, 2), (1, 1, 0, 1), (5, 4, 10, 0), (1, 3, 5, 2), (3, 0, 1, 1))


def pairs_of(alphabet: str, count: int, longest: int = 24) -> list[tuple[bytes, bytes]]:
    return pairgen.random_pairs(count + longest, count, longest, pairgen.ALPHABETS[alphabet])


def parasail_best(query: bytes, target: bytes, matrix: parasail.Matrix, opening: int, extend: int, mode: str) -> int:
    call = {"local": parasail.sw_scan_32, "global": parasail.nw_scan_32, "semiglobal": parasail.sg_dx_scan_32}[mode]
    return call(query.decode(), target.decode(), opening + extend, extend, matrix).score


@pytest.mark.parametrize("mode", ["local", "semiglobal", "global"])
@pytest.mark.parametrize("name", ["BLOSUM62", "BLOSUM50", "PAM250"])
def test_proteins_score_as_parasail_says(name: str, mode: str) -> None:
    pairs = [pair for pair in pairs_of("protein", 60) if all(pair)]
    charged = protein_charges(name, 11, 1)
    for (query, target), found in zip(pairs, optima(pairs, charged, mode), strict=True):
        matrix = getattr(parasail, name.lower())
        assert found.score == parasail_best(query, target, matrix, 11, 1, mode), (query, target)
        assert score_of(query, target, charged, found) == found.score


@pytest.mark.parametrize("scores", [scores for scores in SCORES if all(scores[1::2])])  # the other needs costs > 0
def test_spans_of_matches_and_mismatches_are_those_of_the_other_oracle(scores: tuple[int, int, int, int]) -> None:
    match, mismatch, opening, extend = scores
    scheme = oracle_spans.Scheme(mismatch, ((opening, extend),), match)
    pairs = pairs_of("ACGTN", 120, 16)
    for mode, ends in (
        ("global", oracle_spans.GLOBAL),
        ("semiglobal", oracle_spans.HW),
        ("extension", oracle_spans.EXTENSION),
    ):
        expected = oracle_spans.optima(pairs, scheme, ends)
        for pair, one, other in zip(pairs, optima(pairs, charges(*scores), mode), expected, strict=True):
            # For an empty alignment, only the other oracle defines the position of the span.
            if mode == "semiglobal" and one.span[2] > other.span[2]:  # the other takes the first of ties
                assert one.score == other.score
                continue
            assert one[:2] == other[:2] and (one.span == other.span or one.cigar == "*"), (mode, pair)


def every_path(query: bytes, target: bytes) -> list[tuple[str, tuple[int, int, int, int]]]:
    """Return all paths between any two cells of two short sequences, with their spans."""
    found = []
    for i, j in itertools.product(range(len(query) + 1), range(len(target) + 1)):
        waiting = [("", i, j)]
        while waiting:
            path, a, b = waiting.pop()
            found.append((path, (i, a, j, b)))
            waiting += [(path + "I", a + 1, b)] if a < len(query) else []
            waiting += [(path + "D", a, b + 1)] if b < len(target) else []
            waiting += [(path + "M", a + 1, b + 1)] if a < len(query) and b < len(target) else []
    return found


def path_score(query: bytes, target: bytes, path: str, span: tuple[int, ...], charged: Charges) -> int:
    i, _, j, _ = span
    score = 0
    for operation, run in itertools.groupby(path):
        for number, _ in enumerate(run):
            if operation == "M":
                score += int(charged.worth[query[i], target[j]])
            else:
                score -= charged.extend + (charged.open if number == 0 else 0)
            i, j = i + (operation != "D"), j + (operation != "I")
    return score


@pytest.mark.parametrize("scores", SCORES)
def test_no_path_is_better_nor_a_later_start_as_good(scores: tuple[int, int, int, int]) -> None:
    rng, charged = random.Random(7), charges(*scores)
    for _ in range(25):
        query, target = (bytes(rng.choices(b"AC", k=rng.randint(0, 4))) for _ in range(2))
        every = [(path_score(query, target, path, span, charged), span) for path, span in every_path(query, target)]
        (found,) = optima([(query, target)], charged, "local")
        best = max(score for score, _ in every)
        assert found.score == best
        if best:
            assert (found.span[0], found.span[2]) == max((s[0], s[2]) for score, s in every if score == best)
        (found,) = optima([(query, target)], charged, "extension")
        ends = [(-score, s[1] + s[3], s[1]) for score, s in every if s[0] == s[2] == 0]
        assert (-found.score, found.span[1] + found.span[3], found.span[1]) == min(ends)


@pytest.mark.parametrize("scores", SCORES)
def test_no_beginning_and_no_end_scores_nothing(scores: tuple[int, int, int, int]) -> None:
    """No prefix or suffix of a local alignment scores 0 or less: it would have been left out."""
    charged = charges(*scores)
    pairs = pairs_of("AC", 80, 16)
    for (query, target), found in zip(pairs, optima(pairs, charged, "local"), strict=True):
        i, _, j, _ = found.span
        path = "".join(("M" if op in "=X" else op) * length for length, op in runs_of(found.cigar))
        for at in range(1, len(path)):
            gained = path_score(query, target, path[:at], (i, 0, j, 0), charged)
            assert gained > 0, (query, target, found)
            if path[at - 1] == "M" or path[at - 1] != path[at]:
                assert gained < found.score, (query, target, found)


def test_second_best_lies_beside_the_best() -> None:
    charged = charges(2, 4, 4, 2)
    query, target = b"ACGTTGCA", b"TTACGTTGGGGGACGTTGCATT"
    (best,) = optima([(query, target)], charged, "local")
    assert (best.score, best.span[2:]) == (16, (12, 20))
    assert second_best(query, target, charged, "local", best) == 12  # ACGTTG


def test_n_scores_what_it_is_told() -> None:
    (found,) = optima([(b"ANA", b"ATA")], charges(2, 4, 4, 2, n_score=-1), "global")
    assert (found.score, found.cigar) == (3, "1=1X1=")


def test_many_pairs_together_are_as_each_alone() -> None:
    pairs = pairs_of("ACGT", 12, 12)
    for mode in MODES:
        together = optima(pairs, charges(2, 4, 4, 2), mode)
        assert together == [optima([pair], charges(2, 4, 4, 2), mode)[0] for pair in pairs]
        assert all(np.diff(found.span)[[0, 2]].min() >= 0 for found in together)
