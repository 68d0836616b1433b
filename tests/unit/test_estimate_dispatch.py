"""Estimates of edits, the choice of the first kernel, and retries."""

import dataclasses
import itertools
import random

import numpy as np
import pytest

import wfacli
from tests import oracles, pairgen
from tests.engines.agreement import SCHEMES, after, route, spec_for, with_estimates
from wfacli._native import Aligner, CancelFlag, estimate_edits, rows_summary, survey
from wfacli.config import Ambiguous, Heuristics, Limits, Mode
from wfacli.core.batch import Flag, Status
from wfacli.core.route import Route
from wfacli.engines.cpu import native_options
from wfacli.io.read.memory import pairs_of
from wfacli.plan import dispatch, forecast
from wfacli.plan.kernels import BITS, CAPPED, CPU_KERNELS, DIFFERENCE, GOTOH, INSIDE, LINEAR, READS, STRIPES, TABLE
from wfacli.plan.retry import fallbacks

EDIT, AFFINE, DEAR = SCHEMES[0], SCHEMES[6], SCHEMES[10]


def with_edits(edits, length=1, flags=0):
    symbols = "A" * length
    batch = pairs_of([symbols] * len(edits), [symbols] * len(edits))
    return dataclasses.replace(batch, est_edits=np.array(edits, np.int32), flags=np.full(len(edits), flags, np.uint8))


def estimates(pairs):
    return estimate_edits(pairs_of(*zip(*pairs, strict=True))).tolist()


def evenly(rng, target, error):
    """Return the target with errors of all kinds, evenly distributed."""
    other = {symbol: bytes(set(b"ACGT") - {symbol}) for symbol in b"ACGT"}
    query = bytearray()
    for symbol in target:
        kind = rng.randrange(3) if rng.random() < error else None
        query += bytes({None: [symbol], 0: [rng.choice(other[symbol])], 1: [symbol, rng.choice(b"ACGT")], 2: []}[kind])
    return bytes(query)


# Estimates


def test_few_edits_are_counted():
    rng = random.Random(1)
    pairs = []
    for _ in range(300):
        target = pairgen.sequence(rng, rng.randrange(1, 400), b"ACGT")
        pairs.append((pairgen.mutated(rng, target, b"ACGT", 0.01), target))
    found, true = estimates(pairs), [oracles.edlib_cost(*pair) for pair in pairs]
    exact = [f == t for f, t in zip(found, true, strict=True) if t <= 6]
    assert len(exact) > 200 and all(exact)


@pytest.mark.parametrize(("length", "error"), [(300, 0.1), (1000, 0.05), (5000, 0.02), (5000, 0.15), (20_000, 0.04)])
def test_many_edits_are_estimated_within_a_factor(length, error):
    rng = random.Random(length)
    pairs = []
    for _ in range(40):
        target = pairgen.sequence(rng, length, b"ACGT")
        pairs.append((pairgen.mutated(rng, target, b"ACGT", error / 2), target))
    true = np.array([oracles.edlib_cost(*pair) for pair in pairs])
    ratio = np.array(estimates(pairs)) / true
    assert 0.5 < np.median(ratio) < 1.5
    assert (ratio > 1 / 6).all() and (ratio < 6).all()


def only(rng, target, kind, every):
    """Return the target with edits of one kind about every `every` bases: mismatches, or deletions of three bases."""
    query, at = bytearray(target), rng.randrange(every)
    while at + 3 < len(query):
        if kind == "mismatch":
            query[at] = rng.choice(sorted(set(b"ACGT") - {query[at]}))
        else:
            del query[at : at + 3]
        at += rng.randrange(every // 2, 2 * every)
    return bytes(query)


@pytest.mark.parametrize("length", [150, 1000, 20_000])
@pytest.mark.parametrize("kind", ["mismatch", "gap"])
def test_costs_weigh_edits(kind, length):
    """The estimate distinguishes kinds of edits: an average edit costs (2 + 2 * 4) / 3.

    A mismatch costs 2, and a gap of three bases costs 6, or 2 per base.
    """
    rng = random.Random(length)
    targets = [pairgen.sequence(rng, length, b"ACGT") for _ in range(30)]
    queries = [only(rng, target, kind, 30) for target in targets]
    batch = pairs_of(queries, targets)
    with wfacli.Aligner(metric="affine", score_only=True) as aligner:
        true = -aligner.align_batch(queries, targets).score / 2
    weighed = estimate_edits(batch, effort=10_000, costs=(2, 3, 1)) * 10 / 3
    counted = estimate_edits(batch, effort=10_000) * 10 / 3
    off, without = (abs(np.log(np.median(estimated / true))) for estimated in (weighed, counted))
    assert np.median(weighed / true) > 0.9 and off < min(0.3, 0.65 * without)


def test_threads_estimate_alike():
    rng = random.Random(3)
    targets = [pairgen.sequence(rng, rng.randrange(1, 900), b"ACGT") for _ in range(700)]
    batch = pairs_of([evenly(rng, target, 0.1) for target in targets], targets)
    assert (estimate_edits(batch, threads=4) == estimate_edits(batch)).all()


def test_rows_are_summed_up():
    rng = random.Random(4)
    targets = [pairgen.sequence(rng, rng.randrange(70), b"ACGTN" if i % 9 == 0 else b"ACGT") for i in range(80)]
    batch = pairs_of([pairgen.mutated(rng, target, b"ACGT", 0.2) for target in targets], targets)
    batch = batch.with_edits(np.array([rng.randrange(-1, 9) for _ in targets], np.int32))
    for rows in (np.arange(80, dtype=np.int32), np.array([3, 77, 5], np.int32), np.array([60], np.int32)):
        q, t, edits = batch.q_len[rows], batch.t_len[rows], batch.est_edits[rows]
        symbols = 16 * (-(-q // 16) + -(-t // 16)).sum()
        others = np.count_nonzero(batch.flags[rows] & Flag.NON_ACGT)
        longest, apart = max(q.max(), t.max()), np.abs(q - t).max()
        assert rows_summary(batch, rows) == (symbols, longest, apart, edits.min(), edits.max(), others)
    with pytest.raises(IndexError):
        rows_summary(batch, np.array([80], np.int32))


def test_a_survey_sums_all_pairs_up_and_looks_at_some():
    rng = random.Random(5)
    targets = [pairgen.sequence(rng, rng.randrange(170), b"ACGTN" if i % 9 == 0 else b"ACGT") for i in range(150)]
    batch = pairs_of([pairgen.mutated(rng, target, b"ACGT", 0.1) for target in targets], targets)
    for costs in (None, (2, 3, 1)):
        extent, edits, rows = survey(batch, 7, 300, 10_000, costs, 4)
        nbytes, longest, apart, _, _, others = rows_summary(batch, np.arange(150, dtype=np.int32))
        assert extent == (nbytes, longest, apart, others)
        assert (edits[::7] == estimate_edits(batch, effort=10_000, costs=costs)[::7]).all()
        assert (np.delete(edits, np.s_[::7]) == -1).all() and rows.tolist() == np.flatnonzero(edits >= 0).tolist()
    assert survey(batch, 7, longest - 1, 10_000, None, 1)[1] is None
    with pytest.raises(ValueError, match="every"):
        survey(batch, 0, 300, 10_000, None, 1)


@pytest.mark.parametrize("other", [0, 3])
def test_what_is_known_of_short_reads_beside_a_gpu(other):
    rng = random.Random(6)
    targets = [pairgen.sequence(rng, 150, b"ACGT") for _ in range(9)]
    pairs = [(pairgen.mutated(rng, target, b"ACGT", 0.03), target) for target in targets]
    pairs += [(b"ACGN" * 30, target) for target in targets[:other]]
    chosen = np.concatenate([np.arange(9, len(pairs), dtype=np.int32), np.arange(3000, dtype=np.int32) % 9])
    batch = with_estimates(pairs_of(*zip(*pairs, strict=True)).subset(chosen), spec_for(AFFINE), gpu=True)
    assert batch.extent is not None and batch.extent.non_acgt_pairs == other
    assert batch.max_estimate == batch.est_edits.max() > 0
    assert batch.rows_with_edits.tolist() == np.flatnonzero(batch.est_edits >= 0).tolist()
    looked_up = dataclasses.replace(batch, extent=None)
    routes, same = (route(b, spec_for(AFFINE), Limits(), gpu=True) for b in (batch, looked_up))
    assert [(r.kernel, r.cut, r.rows.tolist()) for r in routes] == [(r.kernel, r.cut, r.rows.tolist()) for r in same]
    assert sum(len(r.rows) for r in routes) == len(batch)
    assert batch.subset(chosen[:5]).extent is None


@pytest.mark.parametrize(("length", "error"), [(10_000, 0.02), (10_000, 0.05), (10_000, 0.12), (40_000, 0.08)])
def test_long_pairs_with_errors_are_looked_at_more_closely(length, error):
    rng = random.Random(length + round(1000 * error))
    targets = [pairgen.sequence(rng, length, b"ACGT") for _ in range(40)]
    pairs = [(evenly(rng, target, error), target) for target in targets]
    true = np.array([oracles.edlib_cost(*pair) for pair in pairs])
    ratio = estimate_edits(pairs_of(*zip(*pairs, strict=True)), effort=128) / true
    assert 0.93 < np.median(ratio) < 1.07
    assert 0.75 < ratio.min() < ratio.max() < 1.3


def test_few_rows_that_speak_for_all_are_estimated_alone_beside_a_gpu():
    rng = random.Random(7)
    targets = [pairgen.sequence(rng, 3000, b"ACGT") for _ in range(4)]
    pairs = [(pairgen.mutated(rng, target, b"ACGT", 0.01), target) for target in targets]
    batch = pairs_of(*zip(*pairs, strict=True)).subset(np.arange(5000, dtype=np.int32) % 4)
    known = with_estimates(batch, spec_for(AFFINE), gpu=True)
    assert 0 < (known.est_edits >= 0).sum() < 500
    assert known.rows_with_edits.tolist() == np.flatnonzero(known.est_edits >= 0).tolist()
    (only,) = route(known, spec_for(AFFINE), Limits(), gpu=True)
    assert only.kernel.startswith("gpu-") and len(only.rows) == 5000


def test_an_estimate_is_never_less_than_the_lengths_say():
    pairs = [*pairgen.random_pairs(1, 400, 60, pairgen.ALPHABETS["mixed"]), (b"", b"ACGT"), (b"ACG", b""), (b"", b"")]
    for (query, target), found in zip(pairs, estimates(pairs), strict=True):
        assert abs(len(query) - len(target)) <= found <= max(len(query), len(target))


def test_a_batch_keeps_its_symbols():
    batch = pairs_of(["ACGT"], ["ACGA"])
    assert (batch.est_edits == -1).all()
    estimated = with_estimates(batch, spec_for(AFFINE))
    assert estimated.bases is batch.bases and estimated.est_edits.dtype == np.int32


@pytest.mark.usefixtures("avx512_times")
def test_some_reads_speak_for_all():
    rng = random.Random(4)
    pairs = []
    for _ in range(600):
        target = pairgen.sequence(rng, 150, b"ACGT")
        pairs.append((pairgen.mutated(rng, target, b"ACGT", 0.1), target))
    for spec, kernel in ((spec_for(AFFINE), READS), (spec_for(DEAR), DIFFERENCE)):
        batch = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec)
        assert 0 < (batch.est_edits >= 0).sum() < 100
        (only,) = route(batch, spec, Limits())
        assert only.kernel == kernel and len(only.rows) == 600
    for row in range(0, 600, 2):  # half of them without edits: now it pays to estimate each pair
        pairs[row] = (pairs[row][1], pairs[row][1])
    mixed = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec)
    assert {r.kernel for r in route(mixed, spec, Limits())} == {CAPPED, DIFFERENCE}


# Free ends of targets


def free_pair(rng, length, error, free):
    """Return a query, and a target that contains it and has `free` more bases."""
    inside = pairgen.sequence(rng, length, b"ACGT")
    before, behind = pairgen.sequence(rng, free // 3, b"ACGT"), pairgen.sequence(rng, free - free // 3, b"ACGT")
    return pairgen.mutated(rng, inside, b"ACGT", error), before + inside + behind


def free_estimate(query, target, free=(1 << 30, 1 << 30), costs=(4, 6, 2)):
    return int(estimate_edits(pairs_of([query], [target]), costs=costs, free=free)[0])


@pytest.mark.parametrize("length", [40, 64, 150, 1000, 10_000])
def test_estimates_look_for_pieces_of_the_query(length):
    rng = random.Random(length)
    for free in (10, 200, 3 * length):
        assert free_estimate(*free_pair(rng, length, 0, free)) == 0
    noisy = [free_pair(rng, length, 0.1, free) for free in (0, 200, 2 * length) for _ in range(12)]
    found = np.mean([free_estimate(*pair) for pair in noisy])
    true = np.mean([-wfacli.align(*pair, mode="semiglobal", metric="edit").score for pair in noisy])
    assert 0.6 * true < found < 1.6 * true


def test_estimates_of_what_lies_elsewhere_cost_an_insertion():
    rng = random.Random(1)
    query, target = free_pair(rng, 4000, 0, 500)
    chimera = query[:2000] + pairgen.sequence(rng, 2000, b"ACGT")
    cost = -wfacli.align(chimera, target, mode="semiglobal").score
    assert 0.8 * cost < free_estimate(chimera, target) * (4 + 2 * 8) / 3 < 1.25 * cost


def test_estimates_stay_unknown_where_looking_takes_too_long():
    rng = random.Random(2)
    assert free_estimate(*free_pair(rng, 150, 0, 100_000)) == -1
    query = pairgen.sequence(rng, 150, b"ACGT")
    assert free_estimate(query, pairgen.sequence(rng, 900, b"ACGT") + query, free=(1000, 0)) == 0
    assert free_estimate(b"", b"ACGT") == 0 and free_estimate(b"ACGT", b"") == 4
    assert free_estimate(b"ACGT" * 10, b"ACGT") >= 36  # at least 36 bases must be inserted


@pytest.mark.usefixtures("avx512_times")
def test_some_short_reads_speak_for_all_where_ends_are_free():
    rng = random.Random(3)
    spec = spec_for(AFFINE, Mode.SEMIGLOBAL)
    for error, kernel in ((0.0, TABLE), (0.2, INSIDE)):
        pairs = [free_pair(rng, 150, error, 150) for _ in range(600)]
        batch = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec)
        assert 0 < (batch.est_edits >= 0).sum() < 100
        (only,) = route(batch, spec, Limits())
        assert only.kernel == kernel and len(only.rows) == 600


# First routes


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("mode", [Mode.GLOBAL, Mode.SEMIGLOBAL])
def test_every_row_has_one_first_route(scheme, mode):
    spec = spec_for(scheme, mode)
    for length, flags in itertools.product((1, 150, 3000), (0, Flag.NON_ACGT)):
        batch = with_edits([0, 10**6, 3, -1, 10**7, 50], length, flags)
        routes = route(batch, spec, Limits())
        assert sorted(np.concatenate([r.rows for r in routes]).tolist()) == list(range(6))
        assert all(r.rows.dtype == np.int32 and r.kernel in dispatch.candidates(spec) for r in routes)
    assert route(with_edits([]), spec, Limits()) == []


def test_the_error_decides():
    few, many = with_edits([2], 1000), with_edits([150], 1000)
    assert route(few, spec_for(AFFINE), Limits())[0].kernel == CAPPED
    assert route(many, spec_for(AFFINE), Limits())[0].kernel == DIFFERENCE
    assert route(with_edits([20], 150), spec_for(EDIT), Limits())[0].kernel == "bits-64"
    assert route(with_edits([3000], 20_000), spec_for(EDIT), Limits())[0].kernel == STRIPES


def test_other_symbols_are_not_for_two_bits():
    for rule in Ambiguous:
        spec = spec_for(EDIT, ambiguous=rule)
        assert route(with_edits([20], 150, Flag.NON_ACGT), spec, Limits())[0].kernel not in BITS


def test_what_short_reads_are_not():
    spec, wildcard = spec_for(AFFINE), spec_for(AFFINE, ambiguous=Ambiguous.WILDCARD)
    assert route(with_edits([5], 150), spec, Limits())[0].kernel == READS
    assert route(with_edits([5], 2001), spec, Limits())[0].kernel != READS
    assert route(with_edits([5], 150, Flag.NON_ACGT), spec, Limits())[0].kernel == READS
    assert route(with_edits([5], 150, Flag.NON_ACGT), wildcard, Limits())[0].kernel != READS
    assert route(with_edits([5], 150), spec_for(DEAR), Limits())[0].kernel != READS


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_costs_in_bytes_are_those_that_the_kernel_takes(scheme):
    spec = spec_for(scheme)
    batch = pairs_of(["ACGTACGTAC"], ["ACGTCCGTACC"])
    aligned, _, *_ = Aligner().align(batch, np.zeros(1, np.int32), native_options(spec, Limits(), READS), CancelFlag())
    known = np.isfinite(forecast.Forecast(batch, spec, Limits()).microseconds(READS))
    assert (aligned == Status.OK).tolist() == known.tolist()


def test_what_cannot_fit_a_table_is_not_tried_in_one():
    spec = spec_for(AFFINE, Mode.GLOBAL)
    assert route(with_edits([2000], 100_000), spec, Limits(table=1000))[0].kernel in (DIFFERENCE, LINEAR)


@pytest.mark.parametrize("spec", [
    spec_for(AFFINE, Mode.SEMIGLOBAL, heuristics=Heuristics(band=5)), spec_for(AFFINE, heuristics=Heuristics(band=5)),
    spec_for(SCHEMES[9], Mode.EXTENSION),
])  # fmt: skip
def test_only_wavefronts_know_heuristics_and_extension(spec):
    kernels = {r.kernel for r in route(with_edits([0, 20, 500], 1000), spec, Limits())}
    assert kernels <= {TABLE, LINEAR}


def test_a_bound_on_the_cost_is_not_mistaken_for_a_kernel_s_own():
    for scheme in (EDIT, AFFINE):
        assert not {*BITS, CAPPED} & set(dispatch.candidates(spec_for(scheme, max_cost=10)))


def test_a_forced_kernel_gets_every_row():
    for kernel in CPU_KERNELS:
        (only,) = route(with_edits([0, 500], 1000), spec_for(AFFINE), Limits(), kernel)
        assert only.kernel == kernel and only.rows.tolist() == [0, 1]


def test_the_choice_is_the_least_that_is_promised():
    batch, spec = with_edits([0, 5, 20, 60, 200, 900], 1000), spec_for(EDIT)
    forecasts = forecast.Forecast(batch, spec, Limits())
    names = dispatch.candidates(spec)
    least = np.min([forecasts.microseconds(name) for name in names], axis=0)
    for r in route(batch, spec, Limits()):
        assert np.array_equal(forecasts.microseconds(r.kernel)[r.rows], least[r.rows])


# Retries


def test_a_kernel_that_gives_up_hands_on():
    status = np.array([Status.OK, Status.MEMORY_LIMIT, Status.LENGTH_LIMIT, Status.MEMORY_LIMIT], np.uint8)
    rows = np.array([4, 9, 2, 7], np.int32)
    (further,) = fallbacks(TABLE, status, rows, spec_for(AFFINE))
    assert further.kernel == LINEAR and further.rows.tolist() == [9, 7]
    (last,) = fallbacks(LINEAR, status, rows, spec_for(AFFINE))
    assert last.kernel == GOTOH and last.rows.tolist() == [9, 7]
    assert fallbacks(GOTOH, status, rows, spec_for(AFFINE)) == []
    assert fallbacks(TABLE, status[:1], rows[:1], spec_for(AFFINE)) == []


@pytest.mark.parametrize("scheme", [EDIT, AFFINE], ids=str)
def test_no_pair_is_handed_round_in_a_circle(scheme):
    spec, row = spec_for(scheme), np.zeros(1, np.int32)
    reasons_to_fail = [status for status in Status if status is not Status.OK]
    for kernel in CPU_KERNELS:
        paths = [(kernel,)]
        while paths:
            path = paths.pop()
            assert len(set(path)) == len(path), path
            for status in reasons_to_fail:
                paths += [(*path, r.kernel) for r in fallbacks(path[-1], np.array([status], np.uint8), row, spec)]


@pytest.mark.parametrize(("scheme", "dense"), [(EDIT, STRIPES), (AFFINE, DIFFERENCE)], ids=["edit", "affine"])
def test_long_pairs_that_do_not_fit_a_table_stay_with_the_wavefront(scheme, dense):
    """A band for a pair of 10 Mb took 20 times as long as the wavefront, and its rows four times the memory."""
    spec, rows = spec_for(scheme), np.arange(4, dtype=np.int32)
    lengths = np.array([10_000_000, 20_000, 10_000_000, 10_000_000], np.int32)
    batch = dataclasses.replace(with_edits([10, 10, 10, 10]), q_len=lengths, t_len=lengths)
    status = np.array([Status.MEMORY_LIMIT, Status.MEMORY_LIMIT, Status.WORK_LIMIT, Status.OK], np.uint8)
    found = after(Route(rows, CAPPED), status, rows, spec, batch)
    assert {(r.kernel, r.again): r.rows.tolist() for r in found if r.kernel == LINEAR} == {(LINEAR, True): [0]}
    assert sorted(row for r in found if r.kernel == dense for row in r.rows.tolist()) == [1, 2]
    # If its memory does not suffice either, the usual sequence of retries follows, to its end.
    full = status[:1]
    (further,) = after(Route(rows[:1], LINEAR, again=True), full, rows[:1], spec, batch)
    assert (further.kernel, further.again) == (dense, False)
    (last,) = after(further, full, rows[:1], spec, batch)
    assert last.kernel == LINEAR
    (all_cells,) = after(last, full, rows[:1], spec, batch)
    assert all_cells.kernel == GOTOH and after(all_cells, full, rows[:1], spec, batch) == []


def test_bands_widen_until_another_kernel_is_better():
    row, over = np.zeros(1, np.int32), np.array([Status.SCORE_LIMIT], np.uint8)
    path = ["bits-64"]
    while further := fallbacks(path[-1], over, row, spec_for(EDIT)):
        path.append(further[0].kernel)
    assert path == ["bits-64", "bits-128", "bits-256", "bits-512", STRIPES]
