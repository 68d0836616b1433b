"""Test the engines' oracle: by enumeration, against other aligners, and its two forms against each other."""

import itertools
import random

import edlib
import pytest

from tests import oracles, pairgen
from tests.oracle_spans import equal_by_sam, joined, optimum_plain
from tests.oracles import EXTENSION, GLOBAL, HW, OVERLAP, RULES, WHOLE, Ends, Scheme, optima

TWO_PIECES = ((6, 2), (24, 1))
SCHEMES = {
    "edit": Scheme(1, ((0, 1),)),
    "indel": Scheme(2, ((0, 1),)),
    "linear": Scheme(4, ((0, 2),)),
    "affine": Scheme(4, ((6, 2),)),
    "affine, dear symbols": Scheme(1, ((1, 3),)),
    "affine2p": Scheme(4, TWO_PIECES),
    "affine2p, crossing early": Scheme(3, ((1, 3), (4, 1))),
    "affine2p, ties": Scheme(2, ((0, 2), (2, 1))),
    "affine2p, the second never cheaper": Scheme(2, ((1, 1), (1, 1))),
    "edit, bonus": Scheme(1, ((0, 1),), 1),
    "indel, bonus": Scheme(2, ((0, 1),), 3),
    "affine, bonus": Scheme(4, ((6, 2),), 1),
    "affine, high bonus": Scheme(1, ((1, 1),), 6),
    "affine2p, bonus": Scheme(4, ((4, 2), (8, 1)), 2),
}
ENDS = {
    "global": GLOBAL,
    "hw": HW,
    "overlap": OVERLAP,
    "extension": EXTENSION,
    "free query": Ends(WHOLE, WHOLE),
    "dovetail": Ends(WHOLE, 0, 0, WHOLE),
    "few": Ends(3, 1, 2, 5),
    "begin": Ends(2, 0, 4, 0),
    "end": Ends(0, 4, 0, 2),
}
FREE = [name for name, ends in ENDS.items() if not ends.extension]
ONE_PIECE = [name for name, scheme in SCHEMES.items() if len(scheme.gaps) == 1]
NO_BONUS = [name for name, scheme in SCHEMES.items() if not scheme.match]


def sequences(seed, count, longest, alphabet=b"ACGT"):
    return pairgen.random_pairs(seed, count, longest, alphabet)


# By enumeration


def every_path(query, target, scheme, ends, equal, i, j, gap=None):
    """Yield (score, end, choices, operations) of each path from (i, j); choices have the definition's priority."""
    n, m = len(query), len(target)
    kinds = [(kind, *piece) for kind in "ID" for piece in scheme.gaps]
    steps = []  # priority, score, operation, next gap
    if gap is not None:
        rest = every_path(query, target, scheme, ends, equal, i, j)
        yield from ((score, end, (0, *ranks), operations) for score, end, ranks, operations in rest)
        kind, _, extend = kinds[gap]
        steps.append((1, -extend, kind, gap))
    else:
        if ends.extension or ends.stop(n - i, m - j):
            yield 0, (i, j), (-1,), ""
        steps += [(g, -o - e, kind, g) for g, (kind, o, e) in enumerate(kinds)]
        if i < n and j < m:
            same = equal(query[i], target[j])
            steps.append((9, scheme.match if same else -scheme.mismatch, "=" if same else "X", None))
    for rank, worth, operation, then in steps:
        i2, j2 = i + (operation != "D"), j + (operation != "I")
        if i2 <= n and j2 <= m:
            for score, end, ranks, operations in every_path(query, target, scheme, ends, equal, i2, j2, then):
                yield worth + score, end, (rank, *ranks), operation + operations


def by_enumeration(query, target, scheme, ends, equal):
    """Return the canonical alignment: the first of all paths in the definition's order."""
    n, m = len(query), len(target)
    found = []
    for i, j in ends.starts(n, m):
        for score, (i2, j2), ranks, operations in every_path(query, target, scheme, ends, equal, i, j):
            tie = (i2 + j2, i2) if ends.extension else (i, j)
            found.append((-score, tie, ranks, joined(operations), (i, i2, j, j2)))
    first = min(found)
    if not ends.extension:  # stopping never ties with continuing
        optimal = {(start, ranks) for score, start, ranks, _, _ in found if score == first[0]}
        for start, ranks in optimal:
            assert not any((start, (*ranks[:k], -1)) in optimal for k in range(len(ranks) - 1))
    return -first[0], first[3], first[4]


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_definition_picks_the_first_of_all_paths(scheme, ends):
    rng = random.Random(f"{scheme} {ends}")
    longest = 4 if scheme in ONE_PIECE else 3
    pairs = [[bytes(rng.choices(b"AC", k=rng.randint(0, longest))) for _ in "qt"] for _ in range(12)]
    pairs += [(b"AAC", b"CAA"), (b"AA", b"AAA"), (b"CAC", b"AC")]
    pairs += [(b"ACACA", b"C"), (b"C", b"ACCA")]  # a short gap of one piece ties with a long gap of the other
    for query, target in pairs:
        found = optimum_plain(query, target, SCHEMES[scheme], ENDS[ends])
        assert found == by_enumeration(query, target, SCHEMES[scheme], ENDS[ends], equal_by_sam), (query, target)


# For many pairs at once


def assert_as_plain(pairs, scheme, ends, rule="mismatch"):
    for pair, found in zip(pairs, optima(pairs, scheme, ends, rule), strict=True):
        assert found == optimum_plain(*pair, scheme, ends, RULES[rule]), f"{pair} {scheme} {ends} {rule}"
        oracles.replay_span(*pair, found.cigar, found.span, rule)
        oracles.assert_allowed(*pair, found.span, ends)
        assert oracles.score_of(found.cigar, scheme) == found.score


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_many_at_once_as_one_by_one(scheme, ends):
    for seed, (alphabet, rule) in enumerate(itertools.product(pairgen.ALPHABETS.values(), RULES)):
        assert_as_plain(sequences(seed, 5, 20, alphabet), SCHEMES[scheme], ENDS[ends], rule)


@pytest.mark.parametrize("ends", ENDS)
def test_all_combinations_of_lengths(ends):
    for scheme in ("affine, bonus", "affine2p"):
        assert_as_plain(pairgen.all_lengths(3, 9, b"AC"), SCHEMES[scheme], ENDS[ends])


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("most", [120, 180, 300, 10_000])
def test_scores_at_and_beyond_the_edge_of_16_bits(most, ends):
    pairs = [
        *sequences(1, 40, 24, b"AC"),
        (b"A" * 40, b""),
        (b"", b"C" * 40),
        (b"A" * 40, b"C" * 40),
        (b"A" * 40,) * 2,
    ]
    for scale in range(most - 20, most + 1, 10):
        assert_as_plain(pairs, Scheme(scale, ((scale, scale),), scale), ENDS[ends])


def test_many_pairs_keep_their_order():
    pairs = [*sequences(2, 5000, 12), (b"ACGT" * 80, b"ACT" * 90), *sequences(3, 20, 150)]
    found = optima(pairs, SCHEMES["affine"])
    for p in [*range(0, 5000, 37), 5000, 5003, 5020]:
        assert found[p] == optimum_plain(*pairs[p], SCHEMES["affine"])
    assert optima([], SCHEMES["affine"]) == optima([], SCHEMES["affine"], EXTENSION) == []


# Other aligners


@pytest.mark.parametrize("ends", FREE)
@pytest.mark.parametrize("scheme", NO_BONUS)
def test_scores_of_another_wavefront_aligner(scheme, ends):
    pairs = sequences(4, 200, 50, pairgen.ALPHABETS["mixed"])
    expected = [oracles.pywfa_score(*pair, SCHEMES[scheme], ENDS[ends]) for pair in pairs]
    assert [found.score for found in optima(pairs, SCHEMES[scheme], ENDS[ends])] == expected


@pytest.mark.parametrize("ends", ["global", "hw", "overlap", "free query", "dovetail"])
@pytest.mark.parametrize("scheme", ONE_PIECE)
def test_scores_of_a_vectorised_aligner(scheme, ends):
    pairs = sequences(5, 200, 50, pairgen.ALPHABETS["mixed"])
    expected = [oracles.parasail_score(*pair, SCHEMES[scheme], ENDS[ends]) for pair in pairs]
    assert [found.score for found in optima(pairs, SCHEMES[scheme], ENDS[ends])] == expected


def test_where_a_query_fits_best():
    pairs = [(q, t) for q, t in sequences(6, 500, 60, pairgen.ALPHABETS["mixed"]) if q and t]
    for pair, found in zip(pairs, optima(pairs, SCHEMES["edit"], HW), strict=True):
        other = edlib.align(*oracles.distinct(*pair), mode="HW", task="locations")
        assert -found.score == other["editDistance"]
        assert found.span[3] - 1 in {-1 if end is None else end for _, end in other["locations"]}


@pytest.mark.parametrize("scheme", ["edit, bonus", "affine, bonus", "affine, high bonus", "affine2p, bonus"])
def test_an_extension_ends_where_prefixes_score_best(scheme):
    for query, target in sequences(7, 25, 14):
        cells = itertools.product(range(len(query) + 1), range(len(target) + 1))
        prefixes = sorted(((query[:i], target[:j]) for i, j in cells), key=lambda p: (len(p[0] + p[1]), len(p[0])))
        scores = [found.score for found in optima(prefixes, SCHEMES[scheme])]
        if len(SCHEMES[scheme].gaps) == 1:
            assert scores == [oracles.parasail_score(*prefix, SCHEMES[scheme]) for prefix in prefixes]
        best = prefixes[scores.index(max(scores))]
        expected = optimum_plain(*best, SCHEMES[scheme])
        assert optima([(query, target)], SCHEMES[scheme], EXTENSION) == [expected]
        assert expected.span == (0, len(best[0]), 0, len(best[1]))


# Indel distance


def common_symbols(query, target):
    """Return the length of a longest common subsequence."""
    row = [0] * (len(target) + 1)
    for q in query:
        before, row = row, [0]
        for j, t in enumerate(target):
            row.append(before[j] + 1 if equal_by_sam(q, t) else max(before[j + 1], row[j]))
    return row[-1]


@pytest.mark.parametrize("alphabet", pairgen.ALPHABETS)
def test_indel_distance_has_no_mismatches(alphabet):
    pairs = sequences(8, 300, 40, pairgen.ALPHABETS[alphabet])
    for (query, target), found in zip(pairs, optima(pairs, SCHEMES["indel"]), strict=True):
        assert -found.score == len(query) + len(target) - 2 * common_symbols(query, target)
    for ends in ENDS.values():
        for scheme in ("indel", "indel, bonus"):
            assert not any("X" in found.cigar for found in optima(pairs, SCHEMES[scheme], ends))


# Known answers, and helpers that must fail


@pytest.mark.parametrize(
    ("query", "target", "scheme", "ends", "expected"),
    [
        ("ACGT", "TTACGTTTACGT", "affine", HW, (0, "4=", (0, 4, 2, 6))),
        ("ACGT", "", "affine", HW, (-14, "4I", (0, 4, 0, 0))),
        ("", "ACGT", "affine", HW, (0, "*", (0, 0, 0, 0))),
        ("TTTACGTAC", "ACGTACGGG", "affine, bonus", OVERLAP, (6, "6=", (3, 9, 0, 6))),
        ("ACGTACGGG", "TTTACGTAC", "affine, bonus", OVERLAP, (6, "6=", (0, 6, 3, 9))),
        ("AA", "CCC", "affine, bonus", OVERLAP, (0, "*", (0, 0, 3, 3))),
        ("AA", "CCC", "affine", Ends(WHOLE, WHOLE, 1, 1), (-8, "2X", (0, 2, 0, 2))),
        ("ACGTAAAA", "ACGTCCCC", "affine, bonus", EXTENSION, (4, "4=", (0, 4, 0, 4))),
        ("TTTT", "CCCC", "affine, bonus", EXTENSION, (0, "*", (0, 0, 0, 0))),
        ("ACACA", "C", "affine2p, ties", GLOBAL, (-7, "1I1=3I", (0, 5, 0, 1))),
        ("C", "ACCA", "affine2p, crossing early", GLOBAL, (-10, "1D1=2D", (0, 1, 0, 4))),
        ("ACAAAAGT", "ACAAGT", "edit", GLOBAL, (-2, "2=2I4=", (0, 8, 0, 6))),
    ],
)
def test_known_answers(query, target, scheme, ends, expected):
    assert optima([(query.encode(), target.encode())], SCHEMES[scheme], ends) == [expected]


@pytest.mark.parametrize(
    ("cigar", "span"),
    [
        ("3=", (1, 4, 2, 6)),
        ("5=", (1, 5, 2, 6)),
        ("4=", (0, 4, 2, 6)),
        ("3=1X", (1, 5, 2, 6)),
        ("2=2=", (1, 5, 2, 6)),
        ("4M", (1, 5, 2, 6)),
        ("4=1I", (1, 6, 2, 6)),
        ("*", (1, 5, 2, 6)),
        ("*", (1, 0, 2, 2)),
        ("0=", (1, 1, 2, 2)),
    ],
)
def test_a_wrong_alignment_does_not_replay(cigar, span):
    oracles.replay_span(b"TACGT", b"GGACGTC", "4=", (1, 5, 2, 6))
    with pytest.raises(AssertionError):
        oracles.replay_span(b"TACGT", b"GGACGTC", cigar, span)


@pytest.mark.parametrize(
    ("span", "ends"),
    [
        ((1, 4, 0, 6), HW),
        ((0, 3, 0, 6), HW),
        ((0, 3, 0, 5), OVERLAP),
        ((1, 4, 1, 6), OVERLAP),
        ((0, 4, 3, 6), Ends(target_begin=2)),
        ((0, 4, 0, 4), Ends(target_end=1)),
        ((1, 2, 0, 2), EXTENSION),
    ],
)
def test_a_span_that_the_ends_do_not_allow(span, ends):
    for allowed in (HW, OVERLAP, EXTENSION):
        oracles.assert_allowed(b"ACGT", b"ACGTAC", (0, 4, 0, 4), allowed)
    with pytest.raises(AssertionError):
        oracles.assert_allowed(b"ACGT", b"ACGTAC", span, ends)


def test_what_operations_score():
    assert oracles.score_of("*", SCHEMES["affine"]) == 0
    assert oracles.score_of("3=2X1I4D", Scheme(4, ((6, 2),), 5)) == 15 - 8 - 8 - 14
    assert oracles.score_of("17I", Scheme(4, TWO_PIECES)) == -40
    assert oracles.score_of("18D", Scheme(4, TWO_PIECES)) == -42
    assert oracles.score_of("19D", Scheme(4, TWO_PIECES)) == -43
