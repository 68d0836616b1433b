"""Every answer is optimal, and is the canonical one among the optimal alignments."""

import pytest

import wfacli
from tests import oracles, pairgen
from tests.oracles import EDIT

COSTS = ((4, 6, 2), (2, 3, 1), (1, 0, 1), (3, 5, 1), (5, 1, 7), (1, 1, 3), (40, 60, 1))
METRICS = [("edit", EDIT), *(("affine", costs) for costs in COSTS)]
RULES = {"mismatch": 160, "wildcard": 80, "literal": 80}  # pairs of each case: 20,480 in all


def assert_canonical(pairs, metric, costs, rule):
    expected = oracles.canonical(pairs, costs, rule)
    penalties = costs if metric == "affine" else None
    found = wfacli.align_pairs(*zip(*pairs, strict=True), metric=metric, penalties=penalties, ambiguous=rule)
    for (query, target), (cost, cigar), answer in zip(pairs, expected, found, strict=True):
        written = oracles.relabelled(query, target, cigar, oracles.WRITTEN[rule]) if rule == "wildcard" else cigar
        assert (answer.score, answer.cigar) == (-cost, written), f"{query} {target} {metric} {costs} {rule}"
        assert answer.edits == oracles.cigar_cost(written, EDIT)


@pytest.mark.parametrize(("metric", "costs"), METRICS, ids=str)
@pytest.mark.parametrize("alphabet", pairgen.ALPHABETS)
def test_random_pairs(alphabet, metric, costs):
    for seed, (rule, count) in enumerate(RULES.items()):
        pairs = pairgen.random_pairs(1000 * sum(costs) + seed, count, 60, pairgen.ALPHABETS[alphabet])
        assert_canonical(pairs, metric, costs, rule)


@pytest.mark.parametrize(("metric", "costs"), METRICS[:3], ids=str)
@pytest.mark.parametrize("alphabet", ["A", "AC", "ACGT", "iupac"])
def test_all_combinations_of_short_lengths(alphabet, metric, costs):
    assert_canonical(pairgen.all_lengths(7, 20, pairgen.ALPHABETS[alphabet]), metric, costs, "mismatch")


@pytest.mark.parametrize(("metric", "costs"), METRICS[:2], ids=str)
@pytest.mark.parametrize("alphabet", ["ACGT", "ACGTN"])
def test_edges_of_words(alphabet, metric, costs):
    pairs = [p for p in pairgen.edge_pairs(11, pairgen.ALPHABETS[alphabet]) if len(p[0]) + len(p[1]) < 150]
    assert_canonical(pairs, metric, costs, "mismatch")


@pytest.mark.parametrize("rule", oracles.RULES)
def test_the_oracle_computed_for_many_pairs_agrees_with_the_plain_one(rule):
    for costs in (EDIT, (4, 6, 2), (5, 1, 7)):
        for seed, alphabet in enumerate(pairgen.ALPHABETS.values()):
            pairs = pairgen.random_pairs(seed, 12, 24, alphabet)
            for pair, found in zip(pairs, oracles.canonical(pairs, costs, rule), strict=True):
                assert found == oracles.canonical_plain(*pair, costs, oracles.RULES[rule]), pair


def test_the_oracle_s_cost_agrees_with_other_aligners():
    pairs = pairgen.random_pairs(3, 400, 60, pairgen.ALPHABETS["mixed"])
    assert [cost for cost, _ in oracles.canonical(pairs, EDIT)] == [oracles.edlib_cost(*p) for p in pairs]
    for costs in COSTS:
        expected = [cost for cost, _ in oracles.canonical(pairs, costs)]
        assert expected == [oracles.pywfa_cost(*p, costs) for p in pairs]
        assert expected == [oracles.parasail_cost(*p, costs) for p in pairs]
        assert expected[:40] == [oracles.affine_cost(*p, costs) for p in pairs[:40]]


def test_gaps_lie_left_most():
    assert wfacli.align("ACAAAAGT", "ACAAGT", metric="edit").cigar == "2=2I4="
    assert wfacli.align("ACAAGT", "ACAAAAGT", metric="edit").cigar == "2=2D4="
    assert wfacli.align("GCACACT", "GCACT").cigar == "1=2I4="


def test_what_costs_the_same_in_any_units_is_aligned_the_same():
    pairs = pairgen.random_pairs(5, 300, 60, b"ACGT")
    one = wfacli.align_pairs(*zip(*pairs, strict=True), penalties=(2, 3, 1))
    ten = wfacli.align_pairs(*zip(*pairs, strict=True), penalties=(20, 30, 10))
    assert [(10 * a.score, a.cigar) for a in one] == [(a.score, a.cigar) for a in ten]
