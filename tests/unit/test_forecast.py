"""Compare the native models of kernel times, and the choices based on them, with plain Python versions."""

import dataclasses
import math
import random

import numpy as np
import pytest

from tests.engines.agreement import AMPLE, SCHEMES, route, spec_for, with_estimates
from wfacli._native import Forecaster, estimate_edits, instruction_set
from wfacli.config import Ambiguous, FreeEnds, Limits, Metric, Mode
from wfacli.core import tuning
from wfacli.core.batch import PairBatch, Records
from wfacli.io.read.memory import pairs_of
from wfacli.plan import dispatch, forecast
from wfacli.plan.dispatch import best_for_all
from wfacli.plan.forecast import Forecast
from wfacli.plan.kernels import (
    BITS,
    CAPPED,
    CPU_KERNELS,
    DIFFERENCE,
    GOTOH,
    INSIDE,
    LINEAR,
    READS,
    STRIPES,
    TABLE,
    candidates,
)
from wfacli.plan.traits import CostTraits, plainly_global

EDIT, AFFINE = SCHEMES[0], SCHEMES[6]


def model_of(kernel, costs):
    models = tuning.cpu_models(instruction_set())
    if kernel in BITS:
        return models.bits_64 if kernel == "bits-64" else models.bits
    known = {STRIPES: models.stripes, DIFFERENCE: models.difference, READS: models.reads, GOTOH: models.gotoh}
    return known.get(kernel, models.wavefront_linear if costs.components == 1 else models.wavefront)


def work_of(kernel, costs, longest, edits, query, cells):
    if kernel == GOTOH:
        return cells
    if kernel in BITS:
        return longest * BITS[kernel]
    if kernel in (STRIPES, DIFFERENCE, READS):
        return query * edits * (1 if kernel == STRIPES else costs.edit / costs.extend)
    cells = (edits * costs.edit) * (edits * costs.edit / costs.extend + tuning.ROW) * costs.components
    return cells if costs.meet else 2 * cells


def serves(kernel, spec, limits, longest, edits, other):
    costs = CostTraits.of(spec)
    if kernel == INSIDE:
        return False  # these pairs have no free target ends
    if other and (kernel in BITS or (kernel in (STRIPES, READS) and spec.ambiguous is Ambiguous.WILDCARD)):
        return False
    if kernel in BITS:
        traced = kernel == "bits-512" and not spec.score_only
        return edits * tuning.SAFETY_OF_BITS < 64 * BITS[kernel] and (not traced or longest <= tuning.BITS_LONGEST)
    if kernel == READS:
        return costs.in_bytes and longest <= tuning.READS_LONGEST
    if kernel == GOTOH and plainly_global(spec) and spec.metric is not Metric.EDIT and costs.in_bytes:
        return 2 * costs.need * longest >= 2**31 - 1  # else DIFFERENCE is faster
    if kernel in (CAPPED, TABLE) and spec.mode is Mode.GLOBAL:
        return 2 * costs.components * costs.extend * edits**2 <= limits.table
    return True


def promised(kernel, spec, limits, pair):
    """Return (expected microseconds or infinity, microseconds until a kernel that cannot align the pair gives up)."""
    longest, edits, other, query, cells = pair
    costs = CostTraits.of(spec)
    model = model_of(kernel, costs)
    tried = model.start + model.per_base * longest + model.unit * work_of(kernel, costs, longest, edits, query, cells)
    family = kernel if kernel == READS else kernel.split("-")[0]
    time = tried * (tuning.LINEAR_FACTOR if kernel == LINEAR else 1) * (
        tuning.SCORE_ONLY[family] if spec.score_only and not spec.free else 1
    )  # fmt: skip
    return time if serves(kernel, spec, limits, longest, edits, other) else math.inf, tried


def in_lanes(batch, spec):
    """Yield the expected microseconds of READS with free ends, for all cells.

    They are infinite for pairs that it does not support.
    """
    for q, t, flags in zip(batch.q_len, batch.t_len, batch.flags, strict=True):
        model = tuning.cpu_models(instruction_set()).reads_overlap
        wild = spec.ambiguous is Ambiguous.WILDCARD and flags & 1
        served = CostTraits.of(spec).in_bytes and max(q, t) <= tuning.READS_OVERLAP and not wild
        yield model.start + model.unit * float(q) * float(t) if served else math.inf


def shapes(batch):
    for q, t, edits, flags in zip(batch.q_len, batch.t_len, batch.est_edits, batch.flags, strict=True):
        longest = int(max(q, t))
        usual = max(abs(int(q) - int(t)), tuning.DEFAULT_ERROR_RATE * longest)
        yield longest, (int(edits) if edits >= 0 else usual), bool(flags & 1), int(q), float(q) * float(t)


def random_batch(rng):
    """Return a batch of pairs of similar lengths, without bases, which these tests do not read."""
    draw, n = np.random.default_rng(rng.randrange(1 << 30)), rng.choice([1, 5, 70, 300])
    length, error = 10 ** rng.uniform(0, 5.2), 10 ** draw.uniform(-3.5, -0.5, n)
    t = (length * (1 + rng.choice([0, 0.3]) * draw.random(n))).astype(np.int32)
    q = (t * (1 + rng.choice([0, 0.02]) * draw.random(n))).astype(np.int32)
    edits = np.maximum(np.maximum(q, t) * error, np.abs(q - t)).astype(np.int32)
    edits[draw.random(n) < rng.choice([0, 0.3, 0.9, 1])] = -1
    flags = (draw.random(n) < rng.choice([0, 0.1, 1])).astype(np.uint8)
    starts, names = np.zeros(n, np.int64), np.zeros(n, np.int32)
    records = Records(np.zeros(0, np.uint8), starts, starts, names, names, starts - 1)
    return PairBatch(0, np.zeros(64, np.uint8), starts, starts, q, t, flags, edits, records)


def cases(count):
    rng = random.Random(count)
    for _ in range(count):
        mode = rng.choice([Mode.GLOBAL, Mode.GLOBAL, Mode.GLOBAL, Mode.ENDS_FREE])
        free = FreeEnds(query_begin=5) if mode is Mode.ENDS_FREE else None
        bound = None if mode is Mode.ENDS_FREE else rng.choice([None, None, 500])
        scheme = rng.choice([s for s in SCHEMES if not s[2]])
        spec = spec_for(
            scheme, mode, free, ambiguous=rng.choice([*Ambiguous]), max_cost=bound, score_only=rng.random() < 0.5
        )
        yield random_batch(rng), spec, Limits(table=rng.choice([1000, 1 << 18, 16 << 20]))


def test_times_are_those_of_the_models():
    for batch, spec, limits in cases(40):
        for kernel in CPU_KERNELS:
            wanted = [promised(kernel, spec, limits, pair)[0] for pair in shapes(batch)]
            if kernel == READS and spec.free:
                wanted = list(in_lanes(batch, spec))
            assert Forecast(batch, spec, limits).microseconds(kernel) == pytest.approx(wanted, rel=1e-12)


def test_every_pair_goes_to_its_fastest_kernel_or_all_to_what_some_say_is_best():
    chosen = set()
    for batch, spec, limits in cases(300):
        names = candidates(spec)
        times = np.array([[promised(name, spec, limits, pair)[0] for pair in shapes(batch)] for name in names])
        known = np.flatnonzero(batch.est_edits >= 0)
        rows = known if len(known) else np.arange(0, len(batch), max(len(batch) // dispatch.SAMPLE, 1))
        only = None if len(known) > len(batch) / 2 else plainly_best(batch, spec, limits, rows)
        wanted = np.full(len(batch), names.index(only)) if only else times.argmin(axis=0)
        short = np.maximum(batch.q_len, batch.t_len) <= tuning.READS_ENDS_FREE
        lanes = short & np.isfinite(list(in_lanes(batch, spec))) & bool(spec.free)
        if np.count_nonzero(lanes) >= tuning.READS_MIN_PAIRS:
            names = (*names, READS)
            wanted[lanes] = len(names) - 1
        for r in route(batch, spec, limits):
            assert r.rows.dtype == np.int32 and (wanted[r.rows] == names.index(r.kernel)).all()
            wanted[r.rows] = -1
            chosen.add((r.kernel, only is None))
        assert (wanted == -1).all()
    assert {kernel for kernel, _ in chosen} == {*CPU_KERNELS} - {INSIDE, GOTOH}
    assert {alone for _, alone in chosen} == {True, False}


def times_of(spec, q_len, t_len, edits, limits=AMPLE):
    """Return the expected microseconds of each kernel for one pair of these lengths."""
    batch = pairs_of([b"A" * q_len], [b"A" * t_len]).with_edits(np.array([edits], np.int32))
    forecast = Forecast(batch, spec, limits)
    return {kernel: float(forecast.microseconds(kernel)[0]) for kernel in (DIFFERENCE, TABLE, LINEAR)}


def test_all_cells_of_a_long_query_and_a_short_target_are_fewer_than_a_band_of_them():
    def first(q_len, t_len, **rest):
        batch = pairs_of([b"A" * q_len], [b"A" * t_len])
        (only,) = route(with_estimates(batch, spec_for(EDIT)), spec_for(EDIT, **rest), Limits())
        return only.kernel

    assert first(500_000, 300) == first(60_000_000, 4, max_cost=1) == GOTOH
    assert first(300, 500_000) == first(5000, 4000) == STRIPES


@pytest.mark.parametrize("max_cost", [None, 10**9])
def test_few_cells_of_a_pair_that_is_too_long_for_differences(max_cost):
    spec = spec_for(SCHEMES[11], max_cost=max_cost)
    for lengths in ((30_000_000, 4), (4, 30_000_000)):
        batch = pairs_of(*([b"A" * length] for length in lengths))
        (only,) = route(with_estimates(batch, spec), spec, Limits())
        assert only.kernel == GOTOH


def test_free_ends_of_the_target_take_time():
    spec, plain = (
        spec_for(AFFINE, Mode.SEMIGLOBAL),
        spec_for(AFFINE, Mode.ENDS_FREE, FreeEnds(target_begin=1, target_end=1)),
    )
    none, some, many = (times_of(spec, 1000, 1000 + more, 50) for more in (0, 500, 5000))
    assert all(none[kernel] < some[kernel] < many[kernel] for kernel in none)
    # Only as much of the target is free as its free ends allow.
    assert times_of(plain, 1000, 1500, 50)[LINEAR] == pytest.approx(none[LINEAR], rel=0.1)
    # Without an estimate, unaligned target bases do not count as edits.
    assert times_of(spec, 1000, 6000, -1) == times_of(spec, 1000, 6000, 20)
    assert times_of(spec, 1000, 6000, 500, Limits(table=1 << 16))[TABLE] == math.inf


def test_errors_decide_where_ends_are_free():
    spec = spec_for(AFFINE, Mode.SEMIGLOBAL)
    for length, free in ((150, 200), (1000, 400), (10_000, 700), (10_000, 3000)):
        for edits, wanted in ((0, (TABLE,)), (length // 8, (DIFFERENCE, INSIDE))):
            batch = pairs_of([b"A" * length], [b"A" * (length + free)]).with_edits(np.array([edits], np.int32))
            (only,) = route(batch, spec, Limits())
            assert only.kernel in wanted, (length, free, edits)


def inside_times(q_len, t_len, edits, free=None, **rest):
    """Return each kernel's expected microseconds for a query in a target with this number of edits."""
    spec = spec_for(EDIT, Mode.ENDS_FREE if free else Mode.SEMIGLOBAL, free, **rest)
    batch = pairs_of([b"A" * q_len], [b"A" * t_len]).with_edits(np.array([edits], np.int32))
    return {kernel: float(Forecast(batch, spec, AMPLE).microseconds(kernel)[0]) for kernel in candidates(spec)}


def test_queries_inside_targets_by_edits():
    assert INSIDE in candidates(spec_for(AFFINE, Mode.SEMIGLOBAL)) and INSIDE not in candidates(spec_for(EDIT))
    assert INSIDE not in candidates(spec_for(SCHEMES[1], Mode.SEMIGLOBAL))  # has a match bonus
    # Longer queries and targets take longer, as do long queries with more edits.
    for less, more in (((150, 1000, 9), (150, 9000, 9)), ((150, 900, 9), (400, 900, 9)),
                       ((5000, 9000, 9), (5000, 50_000, 9)), ((5000, 20_000, 100), (5000, 20_000, 2000))):  # fmt: skip
        assert inside_times(*less)[INSIDE] < inside_times(*more)[INSIDE]
    # Parts of the target that no path can reach take no time, wherever they lie.
    near = inside_times(1000, 2000, 20)[INSIDE]
    for free in (FreeEnds(target_end=1 << 30), FreeEnds(target_begin=1 << 30), FreeEnds(0, 0, 10, 1 << 30)):
        assert inside_times(1000, 90_000, 20, free)[INSIDE] < 1.2 * near
    assert inside_times(1000, 90_000, 20)[INSIDE] > 10 * near


@pytest.mark.usefixtures("avx512_times")
def test_who_looks_for_queries_inside_targets():
    def first(q_len, t_len, edits, flags=0, **rest):
        spec = spec_for(EDIT, Mode.SEMIGLOBAL, **rest)
        batch = pairs_of([b"A" * q_len], [b"A" * t_len])
        batch = dataclasses.replace(batch, flags=np.array([flags], np.uint8))
        only = route(batch.with_edits(np.array([edits], np.int32)), spec, Limits())
        return only[0].kernel

    # Queries in much longer targets start with INSIDE; for others it depends on their edits.
    assert {first(q, t, edits) for q, t in ((1, 9), (150, 300), (900, 5000)) for edits in (0, 40)} == {INSIDE}
    assert first(150, 170, 2) == first(512, 530, 4) == TABLE
    assert first(150, 170, 15) == first(512, 530, 60) == INSIDE
    assert first(10_000, 10_200, 5) == TABLE and first(10_000, 10_200, 1500) in (INSIDE, DIFFERENCE)
    # INSIDE does not support symbols that match by sharing a bit.
    assert first(150, 300, 9, flags=1, ambiguous=Ambiguous.WILDCARD) != INSIDE
    assert first(150, 300, 9, flags=1) == first(150, 300, 9, ambiguous=Ambiguous.WILDCARD) == INSIDE
    # Pairs whose choice needs no estimate get none.
    spec = spec_for(EDIT, Mode.SEMIGLOBAL)
    batch = with_estimates(pairs_of([b"ACGT" * 40, b"ACGT" * 400], [b"ACGT" * 80, b"ACGT" * 500]), spec)
    assert (batch.est_edits >= 0).tolist() == [False, True]
    assert {r.kernel: r.rows.tolist() for r in route(batch, spec, Limits())} == {INSIDE: [0], TABLE: [1]}


def plainly_best(batch, spec, limits, rows):
    """Return the best kernel for all pairs, or None if none is worth it.

    Pairs that it cannot align cost a try, and then the time of their best kernel.
    """
    every = list(shapes(batch))
    pairs = [every[row] for row in rows]
    times = {name: [promised(name, spec, limits, pair) for pair in pairs] for name in candidates(spec)}
    best = [min(times[name][row][0] for name in times) for row in range(len(pairs))]
    totals = {
        name: sum(time if time < math.inf else tried + least for (time, tried), least in zip(of, best, strict=True))
        for name, of in times.items()
    }
    name = min(totals, key=lambda name: totals[name])
    return name if totals[name] <= sum(best) + len(pairs) * tuning.ROUTING_PER_PAIR else None


@pytest.mark.usefixtures("avx512_times")
def test_only_the_rows_that_speak_for_all_are_asked():
    batch = pairs_of(["A" * 1500] * 3, ["A" * 1500] * 3).with_edits(np.array([40, 0, 1500], np.int32))
    best = [best_for_all(batch, np.array([row], np.int32), spec_for(EDIT), Limits()) for row in range(3)]
    assert best == ["bits-64", CAPPED, STRIPES]


def test_a_kernel_for_all_is_charged_for_what_it_hands_on():
    narrow, wide = (1.0, 0, 0, 0, 0, 0, 0, 1e9, 5, True, 3.0), (10.0, 0, 0, 0, 0, 0, 0, 1e9, 1e9, True, 1.0)
    batch = pairs_of(["A"] * 2, ["A"] * 2).with_edits(np.array([5, 6], np.int32))
    kernels, rows = Forecaster([wide, narrow], 0.1), np.arange(2, dtype=np.int32)
    # The narrow one costs 1 + (3 * 1 + 10), the wide one 10 + 10; the best of each pair costs 1 + 10, plus the choice.
    assert kernels.best_single_kernel(batch, rows, 1.5) == 1
    assert kernels.best_single_kernel(batch, rows, 1.49) is None
    for spec in (spec_for(EDIT), spec_for(EDIT, score_only=True)):
        row = forecast._native_model("bits-128", spec, Limits(), 1)
        assert row[0] * row[-1] == pytest.approx(tuning.cpu_models(instruction_set()).bits.start)


def test_estimates_of_some_rows():
    rng = random.Random(3)
    pairs = [["".join(rng.choices("ACGT", k=90)) for _ in range(2)] for _ in range(20)]
    batch = pairs_of(*zip(*pairs, strict=True))
    rows = np.array([7, 0, 19, 7], np.int32)
    assert estimate_edits(batch, rows).tolist() == estimate_edits(batch)[rows].tolist()
    for wrong in (20, -1):
        with pytest.raises(IndexError):
            estimate_edits(batch, np.array([0, wrong], np.int32))


def test_what_a_forecaster_cannot_use():
    model = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e9, 1e9, True, 1.0)
    with pytest.raises(ValueError, match="no kernels"):
        Forecaster([], 0.1)
    with pytest.raises((TypeError, IndexError, RuntimeError)):
        Forecaster([model[:4]], 0.1)
    batch = pairs_of(["AC"], ["ACG"])
    assert Forecaster([model], 0.1).microseconds(batch).tolist() == [3.0]
    with pytest.raises(IndexError):
        Forecaster([model], 0.1).best_single_kernel(batch, np.array([1], np.int32), 0.0)
    assert Forecaster([model], 0.1).best_single_kernel(batch, np.array([0], np.int32), 0.0) == 0
    assert Forecaster([model], 0.1).fastest(pairs_of([], [])) == []
