"""Properties that hold for every pair, metric, penalty and rule."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import wfacli
from tests import oracles

SYMBOLS = st.sampled_from(b"ACGTacgtUuNnRYSWKMBDHVX*-")
SOUP = st.lists(SYMBOLS, max_size=40).map(bytes)
DNA = st.lists(st.sampled_from(b"ACGT"), max_size=60).map(bytes)
COSTS = st.tuples(st.integers(1, 12), st.integers(0, 20), st.integers(1, 8))
RULES = st.sampled_from(list(oracles.RULES))
VISIBLE = bytes(range(0x21, 0x7F))


@st.composite
def similar(draw, symbols=SYMBOLS):
    """Draw a sequence and a copy with up to five edits."""
    target = draw(st.lists(symbols, max_size=60))
    query = list(target)
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(query)))
        query[at : at + draw(st.integers(0, 6))] = draw(st.lists(symbols, max_size=6))
    return bytes(query), bytes(target)


PAIRS = similar() | st.tuples(SOUP, SOUP)


def counts(cigar):
    total = dict.fromkeys("=XID", 0)
    for length, operation in oracles.runs_of(cigar):
        total[operation] += length
    return total


@given(PAIRS, COSTS, RULES)
@example((b"", b""), (4, 6, 2), "mismatch")
@example((b"", b"ACGT"), (4, 6, 2), "mismatch")
@example((b"N", b"N"), (4, 6, 2), "wildcard")
def test_the_cigar_replays_and_costs_the_optimum(pair, costs, rule):
    found = wfacli.align(*pair, penalties=costs, ambiguous=rule)
    equal = oracles.RULES[rule]
    oracles.replay(*pair, found.cigar, oracles.WRITTEN[rule])
    assert oracles.cigar_cost(oracles.relabelled(*pair, found.cigar, equal), costs) == -found.score
    assert -found.score == oracles.affine_cost(*pair, costs, equal)
    assert found.edits == oracles.cigar_cost(found.cigar, oracles.EDIT)


@given(PAIRS, RULES)
def test_edit_distance_is_the_optimum(pair, rule):
    found = wfacli.align(*pair, metric="edit", ambiguous=rule)
    equal = oracles.RULES[rule]
    oracles.replay(*pair, found.cigar, oracles.WRITTEN[rule])
    charged = oracles.cigar_cost(oracles.relabelled(*pair, found.cigar, equal), oracles.EDIT)
    assert charged == -found.score == oracles.edit_cost(*pair, equal) <= found.edits
    assert found.edits == charged or rule == "wildcard"


@given(PAIRS, COSTS, RULES)
def test_it_is_the_canonical_alignment(pair, costs, rule):
    found = wfacli.align(*pair, penalties=costs, ambiguous=rule)
    cost, cigar = oracles.canonical_plain(*pair, costs, oracles.RULES[rule])
    assert (-found.score, found.cigar) == (cost, oracles.relabelled(*pair, cigar, oracles.WRITTEN[rule]))


@given(PAIRS, COSTS, RULES)
def test_swapping_query_and_target_keeps_the_cost_and_swaps_the_gaps(pair, costs, rule):
    query, target = pair
    there = wfacli.align(query, target, penalties=costs, ambiguous=rule)
    back = wfacli.align(target, query, penalties=costs, ambiguous=rule)
    assert there.score == back.score
    one, other = counts(there.cigar), counts(back.cigar)
    assert one["I"] - one["D"] == other["D"] - other["I"] == len(query) - len(target)


@given(SOUP, COSTS)
def test_identical_sequences_cost_nothing(symbols, costs):
    found = wfacli.align(symbols, symbols.swapcase(), penalties=costs, ambiguous="literal")
    assert (found.score, found.cigar) == (0, f"{len(symbols)}=" if symbols else "*")


@given(st.tuples(DNA, DNA) | similar(st.sampled_from(b"ACGT")), COSTS)
def test_plain_dna_is_aligned_the_same_under_every_rule_and_in_any_case(pair, costs):
    expected = wfacli.align(*pair, penalties=costs)
    for rule in oracles.RULES:
        assert wfacli.align(pair[0].lower(), pair[1], penalties=costs, ambiguous=rule) == expected


@given(st.lists(PAIRS, max_size=8), COSTS)
def test_a_pair_s_alignment_does_not_depend_on_its_neighbours(pairs, costs):
    together = wfacli.align_pairs([q for q, _ in pairs], [t for _, t in pairs], penalties=costs, threads=2)
    assert together == [wfacli.align(*pair, penalties=costs) for pair in pairs]


@given(similar(st.sampled_from(b"ACGT")), COSTS)
def test_the_cost_agrees_with_another_wavefront_aligner(pair, costs):
    assert -wfacli.align(*pair, penalties=costs).score == oracles.pywfa_cost(*pair, costs)


@pytest.mark.parametrize("rule", oracles.RULES)
def test_each_pair_of_symbols_compares_as_the_rule_says(rule):
    pairs = [(bytes([a]), bytes([b])) for a in VISIBLE for b in VISIBLE]
    found = wfacli.align_pairs(*zip(*pairs, strict=True), penalties=(1, 1, 1), ambiguous=rule)
    equal, written = oracles.RULES[rule], oracles.WRITTEN[rule]
    for pair, alignment in zip(pairs, found, strict=True):
        symbols = pair[0][0], pair[1][0]
        assert alignment.cigar == ("1=" if written(*symbols) else "1X"), pair
        assert alignment.score == (0 if equal(*symbols) else -1), pair


@pytest.mark.parametrize("rule", oracles.RULES)
def test_symbols_compare_the_same_inside_long_sequences(rule):
    """A single special symbol counts also where whole words of symbols are compared at once."""
    pairs = [(b"ACGTC" + bytes([a]) + b"GTTCAC" * 3, b"ACGTC" + bytes([b]) + b"GTTCAC" * 3)
             for a in VISIBLE for b in b"ANRUt*"]  # fmt: skip
    found = wfacli.align_pairs(*zip(*pairs, strict=True), penalties=(1, 9, 1), ambiguous=rule)
    equal, written = oracles.RULES[rule], oracles.WRITTEN[rule]
    for (query, target), alignment in zip(pairs, found, strict=True):
        assert alignment.cigar == ("24=" if written(query[5], target[5]) else "5=1X18="), (query, target)
        assert alignment.score == (0 if equal(query[5], target[5]) else -1), (query, target)
