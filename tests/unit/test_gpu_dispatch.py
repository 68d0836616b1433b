"""The first GPU kernel for a pair, its limits, and retries of pairs that it cannot align."""

from __future__ import annotations

import dataclasses
import gc
import itertools
import weakref

import numpy as np
import pytest

from tests.engines.agreement import SCHEMES, route, spec_for
from tests.engines.agreement import after as further
from wfacli.config import AlignSpec, Ambiguous, Limits, Metric, Mode, Penalties
from wfacli.core import tuning
from wfacli.core.batch import Flag, Status
from wfacli.core.costs import NO_BOUND
from wfacli.core.route import Route, on_gpu
from wfacli.gpu.kernels import dp, tiles, wfa
from wfacli.gpu.kernels.catalogue import ROWS
from wfacli.gpu.kernels.launch_plan import plan_of, supports
from wfacli.gpu.kernels.plans import Shape
from wfacli.io.read.memory import pairs_of
from wfacli.plan import forecast, gpu_kernels
from wfacli.plan.cost_table import reached
from wfacli.plan.dispatch import few_and_short
from wfacli.plan.gpu_routes import GpuRoutes
from wfacli.plan.kernels import CAPPED, CPU_KERNELS, DIFFERENCE, STRIPES, candidates
from wfacli.plan.retry import fallbacks

EDIT, AFFINE, TWO = SCHEMES[0], SCHEMES[6], SCHEMES[11]
LINEAR = (Metric.LINEAR, (4, 2), 0)
ROW = np.zeros(1, np.int32)


MANY = 100_000  # pairs; enough to fill a GPU


def with_edits(edits, length, flags=0):
    symbols = "A" * length
    batch = pairs_of([symbols], [symbols]).subset(np.zeros(len(edits), np.int32))
    return dataclasses.replace(batch, est_edits=np.array(edits, np.int32), flags=np.full(len(edits), flags, np.uint8))


def routed(batch, spec):
    return route(batch, spec, Limits(), gpu=True)


def first(scheme, length, error, flags=0, **rest):
    (only,) = routed(with_edits([round(length * error)] * MANY, length, flags), spec_for(scheme, **rest))
    return only.kernel


def after(kernel, status, spec):
    further = fallbacks(kernel, np.array([status], np.uint8), ROW, spec)
    return further[0].kernel if further else None


@pytest.mark.parametrize(("scheme", "length", "error", "family"), [
    (EDIT, 150, 0.02, "gpu-bits"), (EDIT, 150, 0.1, "gpu-bits"), (EDIT, 1000, 0.05, "gpu-bits"),
    (EDIT, 10_000, 0.01, "gpu-wfa-edit"), (EDIT, 10_000, 0.1, "gpu-bits"),
    (AFFINE, 150, 0.02, "gpu-dp"), (AFFINE, 150, 0.1, "gpu-dp"), (AFFINE, 2000, 0.1, "gpu-tiles-1024"),
    (AFFINE, 10_000, 0.01, "gpu-wfa-affine"),
    (AFFINE, 16_000, 0.002, "gpu-wfa-affine"), (AFFINE, 10_000, 0.05, "gpu-tiles-"),
    (TWO, 150, 0.02, "gpu-dp"), (TWO, 16_000, 0.002, "gpu-wfa-affine2p"),
    (AFFINE, 10_000, 0.1, "gpu-tiles-"), (LINEAR, 10_000, 0.02, "gpu-wfa-edit"),
])  # fmt: skip
def test_length_and_error_decide(scheme, length, error, family):
    assert first(scheme, length, error).startswith(family)


@pytest.mark.parametrize("scheme", [AFFINE, TWO, EDIT], ids=str)
def test_what_no_kernel_reaches_is_the_cpu_s(scheme):
    assert first(scheme, 120_000, 0.15) in CPU_KERNELS


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("score_only", [False, True])
def test_candidates_are_made_for_their_costs(scheme, score_only):
    spec = spec_for(scheme, score_only=score_only)
    units = forecast.CostTraits.of(spec)
    names = [name for name in candidates(spec, gpu=True) if on_gpu(name)]
    assert names
    for name, coded in itertools.product(names, (False, True)):
        shape = Shape(100, 200, units.mismatch, units.gaps, NO_BOUND, not score_only, coded=coded)
        if coded and not gpu_kernels.KERNELS[name].coded:
            assert not supports(name, shape)
            continue
        assert supports(name, shape)
        plan = plan_of(name, shape)
        assert plan.shared <= 227 << 10 and all(row == ROWS[row.name] for row in plan.rows)
        assert plan.rows[0].name.endswith("-coded") == coded
        assert (plan.op_capacity > 0) is not score_only
    for name in set(gpu_kernels.KERNELS) - set(names):
        assert after(name, Status.SCORE_LIMIT, spec) in CPU_KERNELS, "forced though it is not made for these costs"


def test_shared_memory_bounds_the_costs():
    dear = spec_for((Metric.AFFINE, (20, 31, 10), 0))
    assert "gpu-wfa-affine-30" in candidates(dear, gpu=True)
    assert "gpu-wfa-affine-3000" not in candidates(dear, gpu=True)


def test_other_symbols_have_kernels_of_their_own():
    for rule in Ambiguous:
        assert first(EDIT, 150, 0.02, Flag.NON_ACGT, ambiguous=rule).startswith("gpu-wfa-edit")
        assert first(AFFINE, 150, 0.02, Flag.NON_ACGT, ambiguous=rule) in ("gpu-dp-16", "gpu-dp-32")
    assert first(AFFINE, 150, 0.1) == "gpu-dp-64" != first(AFFINE, 150, 0.1, Flag.NON_ACGT)


def test_only_whole_alignments_are_for_the_gpu():
    assert not any(map(on_gpu, candidates(spec_for(AFFINE, Mode.SEMIGLOBAL), gpu=True)))


@pytest.mark.parametrize("score_only", [False, True])
@pytest.mark.parametrize("scheme", [EDIT, LINEAR, AFFINE, TWO], ids=str)
def test_further_rungs_reach_further_and_end_on_the_cpu(scheme, score_only):
    spec = spec_for(scheme, score_only=score_only)
    units, same = forecast.CostTraits.of(spec), np.full(1, 30_000, np.int32)
    like = gpu_kernels.PairCosts(same, same, np.zeros(1), units.mismatch, units.gaps)
    for kernel in (name for name in candidates(spec, gpu=True) if on_gpu(name)):
        path = [kernel]
        while on_gpu(path[-1]):
            path.append(after(path[-1], Status.SCORE_LIMIT, spec))
        assert path[-1] == (STRIPES if scheme is EDIT else DIFFERENCE)
        reach = [float(gpu_kernels.KERNELS[name].reach(like)[0]) for name in path[:-1]]
        assert reach == sorted(set(reach)), path
        for status in (Status.MEMORY_LIMIT, Status.LENGTH_LIMIT):
            assert after(kernel, status, spec) == path[-1]
        assert after(kernel, Status.UNSUPPORTED, spec) == CAPPED
        assert after(kernel, Status.OK, spec) is None


def test_from_one_family_to_the_other():
    edit, affine = spec_for(EDIT), spec_for(AFFINE)
    assert after("gpu-wfa-edit-2000", Status.SCORE_LIMIT, edit) == "gpu-bits-4096"
    assert after("gpu-dp-1024", Status.SCORE_LIMIT, affine) == "gpu-tiles-2048"
    assert after("gpu-tiles-24576", Status.SCORE_LIMIT, affine) == "gpu-tiles-32768"
    assert after("gpu-tiles-47104", Status.SCORE_LIMIT, affine) == DIFFERENCE
    assert after("gpu-wfa-affine-3000", Status.SCORE_LIMIT, affine) == "gpu-tiles-4096"
    assert after("gpu-wfa-affine-blocks", Status.SCORE_LIMIT, affine) == DIFFERENCE, "it looks as far as the other"


def test_a_bound_on_the_cost_is_the_user_s():
    spec = spec_for(AFFINE, max_cost=100)
    assert after("gpu-wfa-affine-120", Status.SCORE_LIMIT, spec) is None
    assert after("gpu-wfa-affine-30", Status.SCORE_LIMIT, spec) == DIFFERENCE
    assert after("gpu-dp-1024", Status.SCORE_LIMIT, spec) == DIFFERENCE
    assert after("gpu-dp-1024", Status.UNSUPPORTED, spec) == DIFFERENCE
    assert first(AFFINE, 10_000, 0.1, max_cost=50) == "gpu-wfa-affine-30"


def test_likely_costs_narrow_a_band():
    affine, costs = ((3, 1),), (2, ((3, 1),))
    shape = Shape(500, 10_000, *costs, NO_BOUND, True)
    assert plan_of("gpu-tiles-4096", shape).band == 4096
    narrow = [
        plan_of("gpu-tiles-4096", dataclasses.replace(shape, likely=cost)).band for cost in (0, 1700, 2500, 9000)
    ]
    assert 2048 < narrow[0] <= narrow[1] < narrow[2] < narrow[3] == 4096, "what half of it does for has been tried"
    for cost, apart in ((2100, 0), (1900, 300), (3000, 77)):
        band = int(tiles.narrow_band(4096, affine, np.full(1, apart), np.full(1, float(cost)))[0])
        proved = dp.unproven_cost(affine, np.full(1, 9000), np.full(1, 9000 + apart), band, odd=False)[0]
        assert proved > cost and band < cost + apart + 70


@pytest.mark.parametrize("name", wfa.LADDER)
def test_likely_costs_bound_a_wavefront(name):
    gaps = {0: ((0, 1),), 1: ((3, 1),), 2: ((6, 2), (24, 1))}[wfa.VARIANTS[name].pieces]
    mismatch = {0: 1, 1: 2, 2: 4}[wfa.VARIANTS[name].pieces]

    def most(**rest):
        shape = Shape(10, 5000, mismatch, gaps, rest.pop("max_cost", NO_BOUND), True, **rest)
        return plan_of(f"gpu-{name}", shape).max_cost

    reached = [most(likely=cost) for cost in (0, 40, 100, 400, 1000, 4000)]
    assert reached == sorted(reached)
    own = [n for n in wfa.LADDER if wfa.VARIANTS[n].pieces == wfa.VARIANTS[name].pieces and not n.endswith("-blocks")]
    if name in own[1:]:  # it must reach beyond the previous kernel's maximum
        before = own[own.index(name) - 1]
        assert reached[0] >= wfa.VARIANTS[before].cost_limit(mismatch, gaps, NO_BOUND)
    if wfa.VARIANTS[name].outside == wfa.NONE:
        assert most() == wfa.VARIANTS[name].cost_limit(mismatch, gaps, NO_BOUND)
        assert most(likely=10, max_cost=7) == 7 == most(max_cost=7), "the user's own bound is kept"


def kernels_of(edits, length, spec):
    return {r.kernel: len(r.rows) for r in routed(with_edits(edits, length), spec)}


def test_few_pairs_are_no_job_of_their_own():
    spec = spec_for(AFFINE)
    assert len(kernels_of([4] * 10 + [60] * 10, 10_000, spec)) == 1
    many = kernels_of([30] * 20_000 + [1000] * 20_000, 10_000, spec)
    assert list(many.values()) == [20_000, 20_000] and all(map(on_gpu, many))
    far = kernels_of([4] * 10 + [20_000], 60_000, spec)
    assert far.pop(DIFFERENCE) == 1, "nothing else aligns it in such a time"
    assert all(map(on_gpu, far))


def test_few_that_need_more_do_not_keep_a_gpu_waiting():
    rng = np.random.default_rng(1)
    usual, far = rng.normal(500, 20, 3000).astype(int).tolist(), [2500] * 4
    own, *others = sorted(routed(with_edits(usual + far, 10_000), spec_for(AFFINE)), key=lambda r: -len(r.rows))
    assert len(own.rows) >= 3000 and own.kernel.startswith("gpu-")
    assert not any(on_gpu(r.kernel) for r in others)


def test_few_reads_that_need_more_do_not_make_a_batch_come_in_parts(monkeypatch):
    edits = np.full(MANY, 2)
    edits[::1000] = 60
    names = [job.kernel for job in routed(with_edits(edits, 150), spec_for(EDIT))]
    assert names == ["gpu-bits-128"]
    monkeypatch.setattr(tuning, "GPU_GATHER", 0.0)
    assert [job.kernel for job in routed(with_edits(edits, 150), spec_for(EDIT))] != names


def test_estimates_that_differ_by_chance_share_a_band():
    rng = np.random.default_rng(2)
    (only,) = routed(with_edits(rng.normal(1000, 80, 6000).astype(int), 10_000), spec_for(AFFINE))
    (alike,) = routed(with_edits([1000] * 6000, 10_000), spec_for(AFFINE))
    assert (only.kernel, alike.kernel) == ("gpu-tiles-8192", "gpu-tiles-4096") or only.kernel == alike.kernel
    needed = 1000 * 10 / 3
    narrow, wide = (int(np.median(found.bands)) for found in (alike, only))
    assert needed < min(narrow, wide) and max(narrow, wide) < 1.4 * needed
    shape = Shape(100, 10_000, 2, ((3, 1),), NO_BOUND, True, likely=100, cut=narrow)
    assert plan_of(alike.kernel, shape).band == narrow


def test_pairs_with_other_symbols_are_jobs_of_their_own():
    spec = spec_for(AFFINE)
    for other, on_gpus in ((20, False), (200_000, True)):
        batch = with_edits([10] * 200_000 + [10] * other, 150)
        flags = np.zeros(len(batch), np.uint8)
        flags[:: len(batch) // other][:other] = Flag.NON_ACGT
        count = int((flags != 0).sum())
        routes = routed(dataclasses.replace(batch, flags=flags), spec)
        assert sorted(np.concatenate([r.rows for r in routes]).tolist()) == list(range(len(batch)))
        own = [r for r in routes if flags[r.rows].any()]
        assert sum(len(r.rows) for r in own) == count and all(flags[r.rows].all() for r in own)
        assert all(on_gpu(r.kernel) == on_gpus for r in own)


# Retries


def failed(count, edits, length, kernel, spec, **rest):
    """Return the kernels that retry pairs whose edits exceed a kernel's reach."""
    target = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(3).integers(0, 4, length)]
    query = target.copy()
    if edits:
        query[:: length // edits] ^= 2  # a different base
    batch = pairs_of([query.tobytes()], [target.tobytes()]).subset(np.zeros(count, np.int32))
    batch = dataclasses.replace(batch, flags=np.zeros(count, np.uint8))
    rows, status = np.arange(count, dtype=np.int32), np.full(count, Status.SCORE_LIMIT, np.uint8)
    routes = further(Route(rows, kernel, **rest), status, rows, spec, batch)
    assert sorted(np.concatenate([r.rows for r in routes]).tolist()) == rows.tolist()
    return routes


def test_what_fails_gets_one_more_job_that_reaches_further():
    spec = spec_for(AFFINE)
    (many,) = failed(30_000, 40, 1000, "gpu-dp-64", spec)
    assert many.again and on_gpu(many.kernel)
    units, same = forecast.CostTraits.of(spec), np.full(1, 1000, np.int32)
    like = gpu_kernels.PairCosts(same, same, np.zeros(1), units.mismatch, units.gaps)
    assert gpu_kernels.KERNELS[many.kernel].reach(like)[0] > gpu_kernels.KERNELS["gpu-dp-64"].reach(like)[0]
    assert not any(on_gpu(r.kernel) for r in failed(30_000, 40, 1000, many.kernel, spec, again=True))


@pytest.mark.parametrize(("length", "kernel", "cut"), [
    (1000, "gpu-dp-64", 0), (10_000, "gpu-tiles-4096", 2500), (10_000, "gpu-wfa-affine-1000", 900),
])  # fmt: skip
def test_a_kernel_that_has_failed_knows_better_than_an_estimate(length, kernel, cut):
    spec = spec_for(AFFINE)
    (again,) = failed(30_000, 0, length, kernel, spec, cut=cut)
    same = pairs_of(["A" * length], ["A" * length])
    assert on_gpu(again.kernel)
    assert reached(again.kernel, again.cut, same, spec)[0] > reached(kernel, cut, same, spec)[0] > 0


@pytest.mark.parametrize("scheme", [EDIT, AFFINE], ids=str)
def test_few_that_fail_are_the_cpu_s(scheme):
    kernel = "gpu-bits-64" if scheme is EDIT else "gpu-dp-64"
    assert not any(on_gpu(r.kernel) for r in failed(40, 30, 150, kernel, spec_for(scheme)))


@pytest.mark.parametrize("scheme", [EDIT, AFFINE], ids=str)
def test_few_short_pairs_are_not_chosen_for(scheme, monkeypatch):
    for symbols, count, soon in (
        (150, 200, True),
        (150, 220, False),
        (10, 257, False),
        (1001, 1, False),
        (1000, 32, True),
    ):
        rows = np.arange(count, dtype=np.int32)
        assert few_and_short(with_edits([5] * count, symbols), rows) == bool(soon)
    monkeypatch.setattr(GpuRoutes, "routes", None)
    (only,) = failed(40, 30, 150, "gpu-bits-64" if scheme is EDIT else "gpu-dp-64", spec_for(scheme))
    assert only.kernel == (STRIPES if scheme is EDIT else DIFFERENCE)


def test_a_band_that_was_cut_is_not_taken_for_a_whole_one():
    spec = spec_for(AFFINE)
    (again,) = failed(3000, 1000, 10_000, "gpu-tiles-4096", spec, cut=2500)
    assert on_gpu(again.kernel) and again.cut > 2500


def test_beside_a_gpu_the_cpu_s_threads_count_together():
    batch, spec = with_edits([50], 1000), AlignSpec(Metric.AFFINE, Penalties.of(Metric.AFFINE))
    alone, beside = (
        forecast.Forecast(batch, spec, Limits(), gpu).microseconds(DIFFERENCE)[0] for gpu in (False, True)
    )
    assert alone == pytest.approx(tuning.THREADS_WITH_GPU * beside)


@pytest.mark.parametrize(("edits", "kernel"), [(13_500, "gpu-tiles-47104"), (25_000, DIFFERENCE)])
def test_few_long_pairs_get_another_job_although_it_may_fail_them_too(edits, kernel):
    batch, rows = with_edits([edits] * 14, 57_000), np.arange(14, dtype=np.int32)
    status = np.full(14, Status.SCORE_LIMIT, np.uint8)
    (again,) = further(Route(rows, "gpu-tiles-47104", cut=33_280), status, rows, spec_for(AFFINE), batch)
    assert again.kernel == kernel, "it takes a tenth of what the CPU does, unless it is all but hopeless"


@pytest.mark.parametrize(("spread", "supports"), [(0, True), (0.8, False)], ids=["alike", "unlike"])
def test_pairs_that_need_bands_of_their_own_are_all_estimated(spread, supports):
    """Pairs of different lengths are all estimated, even if one band suffices for the whole sample.

    That band would have to be as wide as that of the longest pair.
    """
    lengths = (10_000 * np.exp(spread * np.random.default_rng(6).normal(size=256))).astype(np.int32)
    batch = with_edits((0.15 * lengths).astype(int), 10_000)
    batch = dataclasses.replace(batch, q_len=lengths, t_len=lengths)
    spec = spec_for(AFFINE)
    assert GpuRoutes(spec, Limits()).one_suffices(batch, 2000 if spread else 20_000) == supports


def test_what_is_remembered_of_a_batch_keeps_no_symbols():
    batch = with_edits([400] * 900, 10_000)
    symbols = weakref.ref(batch.bases)
    routed(batch, spec_for(AFFINE))
    del batch
    gc.collect()
    assert symbols() is None


@pytest.mark.parametrize("estimated", [True, False])
def test_tiles_get_the_longest_pairs_first(estimated):
    rng = np.random.default_rng(5)
    lengths = rng.integers(5000, 20_000, 900 if estimated else 5000).astype(np.int32)
    batch = with_edits((0.1 * lengths).astype(int), 20_000)
    batch = dataclasses.replace(batch, q_len=lengths, t_len=lengths)
    if not estimated:
        known = np.where(np.arange(len(batch)) % 40 == 0, batch.est_edits, -1).astype(np.int32)
        batch = batch.with_edits(known)
    routes = [r for r in routed(batch, spec_for(AFFINE)) if r.kernel.startswith("gpu-tiles")]
    assert sum(len(r.rows) for r in routes) > 0.9 * len(batch)
    for r in routes:
        own = lengths[r.rows]
        assert (np.diff(own.astype(int)) <= 0).all() and own[0] > 1.1 * own[-1]
        if estimated:
            assert r.bands is not None and (np.diff(r.bands) <= 0).all(), "bands go with the costs"


@pytest.mark.parametrize("path", [True, False])
def test_few_long_pairs_are_shared_by_all_warps(path):
    assert tiles.lanes(47_104, 2, ((3, 1),), path, 1024, 59_756) == tiles.LANES[-1]
    assert tiles.lanes(128, 2, ((3, 1),), path, 300_000, 1000) == tiles.LANES[0]
    assert tiles.lanes(16_384, 6, ((4, 3), (24, 2)), path, 500, 54_000) == tiles.NARROW
