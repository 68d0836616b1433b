"""Compare wavefront kernels with the oracle: every trace, group and scheme, in both thread orders."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.emulation.wavefronts import (
    AFFINE,
    EDIT,
    LINEAR,
    ODD,
    TWO,
    TWO_NEAR,
    align,
    assert_optimal,
    in_units,
)
from tests.pairgen import ALPHABETS, edge_pairs, mutated, random_pairs, sequence
from tests.thorough import in_turn
from wfacli.core.batch import Status
from wfacli.gpu.kernels.wfa import BLOCKS, CARRIED, CODES, NO_TRACE, NONE, SPILLED, VARIANTS, Variant

ORDERS = (0, 1)
TRACES = {NO_TRACE: 1, CARRIED: 2, BLOCKS: 1, CODES: 1}  # trace kind: words
SCHEMES = [(0, EDIT), (0, LINEAR), (1, AFFINE), (1, ODD), (2, TWO), (2, TWO_NEAR)]
ALL = 400  # cost units; above the cost of any pair of up to 150 bases under every scheme


def variant(pieces, trace, group=8, width=48, **rest):
    # 48 diagonals are too few for most pairs, so that the others go to the workspace.
    return Variant(max(32, group), group, pieces, trace, width, **{"words": TRACES[trace], **rest})


def check(kernel, pairs, scheme, *, max_cost=ALL, rule="mismatch", label="", **rest):
    for order in ORDERS:
        answers = align(kernel, pairs, scheme, max_cost=max_cost, order=order, rule=rule, **rest)
        assert_optimal(kernel, pairs, scheme, answers, f"{label} order {order}", max_cost, rule)


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize(("pieces", "scheme"), SCHEMES)
def test_random_pairs(pieces, scheme, trace):
    for name in ("A", "AC", "ACGT"):
        check(variant(pieces, trace), random_pairs(11, 60, 150, ALPHABETS[name]), scheme, label=f"{name}, seed 11")


KINDS = [(0, EDIT, CARRIED), (1, AFFINE, CODES), (2, TWO_NEAR, BLOCKS)]
GROUPS = [(group, kind) for group in (1, 64) for kind in KINDS]
GROUPS += in_turn([(group, kind) for group in (4, 16, 32) for kind in KINDS], 3)


@pytest.mark.parametrize(("group", "kind"), GROUPS)
def test_groups(group, kind):
    pieces, scheme, trace = kind
    check(variant(pieces, trace, group), random_pairs(group, 50, 150, ALPHABETS["AC"]), scheme, label=f"seed {group}")


@pytest.mark.parametrize("group", [8, 32])
def test_lengths_at_the_edges_of_words(group):
    check(
        variant(1, CODES, group), list(edge_pairs(3, b"ACGT")), AFFINE, max_cost=900, trace_cost=900, op_capacity=700
    )


@pytest.mark.parametrize("rule", ["mismatch", "wildcard"])
def test_other_symbols_as_codes(rule):
    for trace in (CODES, BLOCKS):
        pairs = random_pairs(5, 60, 120, ALPHABETS["ACGTN"])
        check(variant(1, trace, coded=True), pairs, AFFINE, rule=rule, label="seed 5")


def test_offsets_of_32_bits():
    check(variant(1, CODES, offset=32), random_pairs(6, 40, 150, b"ACG"), AFFINE, label="seed 6")


@pytest.mark.parametrize(
    ("words", "pieces"), in_turn([(words, pieces) for words in (2, 4, 8) for pieces in (0, 1)], 2)
)
def test_carried_steps_end_at_their_bits(words, pieces):
    most = 16 * words
    rng = random.Random(words)
    pairs = []
    for edits in (most - 1, most, most + 1, most + 40):
        target = sequence(rng, 3 * edits, b"A")
        pairs += [(target[: 3 * edits - edits], target), (target, target[: 2 * edits])]
        # A mismatch every few bases that no gap avoids.
        query = bytes(b"C"[0] if i % 3 == 1 else b for i, b in enumerate(target))
        pairs.append((query, target))
    assert {0 < variant(0, CARRIED, words=words).cost_limit(1, [(0, 1)], 10**6) == most} == {True}
    scheme = (EDIT, AFFINE)[pieces]
    check(variant(pieces, CARRIED, words=words, group=32), pairs, scheme, max_cost=10**6, op_capacity=800)


@pytest.mark.parametrize("trace", TRACES)
def test_cost_limit_is_exact(trace):
    pairs = random_pairs(12, 80, 100, b"ACGT")
    for max_cost in (0, 1, 2, 5, 17, 18, 19):
        check(variant(1, trace), pairs, AFFINE, max_cost=max_cost, trace_cost=max_cost, label="seed 12")


@pytest.mark.parametrize("group", [8, 64])
def test_pairs_above_the_first_cost_come_again(group):
    pairs = random_pairs(22, 60, 100, b"ACGT")
    for trace, outside in ((CODES, NONE), (BLOCKS, SPILLED)):
        kernel = variant(1, trace, group, 256, outside=outside)
        whole = align(kernel, pairs, AFFINE, max_cost=60)
        assert set(whole.status) == {Status.OK, Status.SCORE_LIMIT}
        for first_cost in (0, 9, 30, 59):
            for order in ORDERS:
                assert align(kernel, pairs, AFFINE, max_cost=60, first_cost=first_cost, order=order) == whole


NARROW = [(width, *kind) for width in (4, 7, 40) for kind in ((0, EDIT), (1, AFFINE), (2, TWO))]


@pytest.mark.parametrize(("width", "pieces", "scheme"), in_turn(NARROW, 3))
def test_without_room_for_more_diagonals(width, pieces, scheme):
    pairs = random_pairs(17, 120, 60, b"ACGT")
    kernel = variant(pieces, CODES, outside=NONE, width=width)
    _, mismatch, gaps = in_units(scheme)
    assert kernel.spilled_bytes(mismatch, gaps, ALL, 60) == 0
    check(kernel, pairs, scheme, label="seed 17")


@pytest.mark.parametrize("trace", [BLOCKS, CODES])
def test_exhausted_traces_are_told(trace):
    kernel, pairs = variant(1, trace), random_pairs(13, 60, 150, b"AC")
    _, mismatch, gaps = in_units(AFFINE)
    ample = align(kernel, pairs, AFFINE, max_cost=ALL)
    spilled = kernel.spilled_bytes(mismatch, gaps, ALL, 150)
    seen = set()
    for extra in (0, 16, 64, 256, 1024, 4096, 16384):
        stride = -(-(spilled + extra) // 256) * 256
        for order in ORDERS:
            tight = align(kernel, pairs, AFFINE, max_cost=ALL, stride=stride, order=order)
            for p in range(len(pairs)):
                got = (tight.status[p], tight.cost[p], tight.cigar[p])
                assert got in ((Status.MEMORY_LIMIT, 0, "*"), (Status.OK, ample.cost[p], ample.cigar[p])), (p, extra)
                seen.add(got[0])
    assert seen == {Status.OK, Status.MEMORY_LIMIT}
    none = align(kernel, pairs, AFFINE, max_cost=ALL, stride=spilled // 512 * 256)
    assert set(none.status) == {Status.MEMORY_LIMIT}, "a workspace too small for the diagonals"


def test_slots_too_small_for_the_operations():
    pairs = random_pairs(14, 60, 100, b"ACGT")
    whole = align(variant(1, CODES), pairs, AFFINE, max_cost=ALL)
    small = align(variant(1, CODES), pairs, AFFINE, max_cost=ALL, op_capacity=9)
    for p, cigar in enumerate(whole.cigar):
        fits = sum(not c.isdigit() and c != "*" for c in cigar) <= 9
        expected = (Status.OK, whole.cost[p], cigar) if fits else (Status.MEMORY_LIMIT, 0, "*")
        assert (small.status[p], small.cost[p], small.cigar[p]) == expected
    assert Status.MEMORY_LIMIT in small.status


def test_lengths_beyond_the_offsets():
    symbols = b"ACGGT" * 6554
    pairs = [(symbols[:32767], symbols[:32767]), (symbols[:32768], symbols[:32767]), (b"A", symbols[:32768])]
    for order in ORDERS:
        found = align(variant(1, CODES, 32), pairs, AFFINE, max_cost=30, order=order)
        assert found.status == [Status.OK, Status.LENGTH_LIMIT, Status.LENGTH_LIMIT]
        assert found.cigar[0] == "32767="
    wide = align(variant(1, CODES, 32, offset=32), pairs[1:], AFFINE, max_cost=30, trace_cost=30)
    assert wide.status == [Status.OK, Status.SCORE_LIMIT] and wide.cost[0] == 4


def test_costs_of_another_kind_are_refused():
    pairs = [(b"ACGT", b"ACGT")]
    for pieces, scheme in ((0, AFFINE), (1, TWO), (2, AFFINE)):
        assert align(variant(pieces, CODES), pairs, scheme).status == [Status.UNSUPPORTED]


def test_long_runs_and_no_pairs():
    rng = random.Random(15)
    target = sequence(rng, 3000, b"ACGT")
    pairs = [(mutated(rng, target, b"ACGT", error), target) for error in (0, 0.001, 0.003, 0.01)]
    for group in (1, 8, 32, 64):
        check(variant(1, CODES, group), pairs, AFFINE, max_cost=200, trace_cost=200, label="seed 15")
    assert align(variant(1, CODES), [], AFFINE).status == []


def test_narrower_shared_memory_changes_nothing():
    pairs = random_pairs(16, 50, 150, b"ACG")
    kernel = variant(2, BLOCKS, 16)
    answers = [align(replace(kernel, width=width), pairs, TWO, max_cost=ALL) for width in (2, 16, 1024)]
    assert answers[0] == answers[1] == answers[2]
    assert_optimal(kernel, pairs, TWO, answers[0], "seed 16", ALL)


@pytest.mark.parametrize("name", [name for name, row in VARIANTS.items() if not row.coded])
def test_rows_of_the_catalogue(name):
    kernel, scheme = VARIANTS[name], (EDIT, AFFINE, TWO)[VARIANTS[name].pieces]
    pairs = random_pairs(18, 24, 100, b"ACGT")
    # A band of all diagonals of these pairs drops nothing.
    answers = align(kernel, pairs, scheme, max_cost=ALL, grid=1, band=(110, 10))
    assert_optimal(kernel, pairs, scheme, answers, "seed 18", ALL)
