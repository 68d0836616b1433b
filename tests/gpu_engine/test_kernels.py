"""Compare every GPU kernel with the oracle, through its engine, on the emulated GPU."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver, leaks
from tests.engines.agreement import align_batch, mixed_pairs, spec_for, with_estimates
from tests.oracle_spans import Optimum, optima
from tests.pairgen import ALPHABETS
from tests.thorough import THOROUGH, one_of_each
from wfacli.config import AlignSpec, Ambiguous, Limits, Metric
from wfacli.core import cigar
from wfacli.core.batch import Flag, PartialResult, Status
from wfacli.core.route import GPU_PREFIX, Route, on_gpu
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.gpu import GpuEngine
from wfacli.engines.hybrid import HybridEngine
from wfacli.gpu.kernels import launch_plan as kernels
from wfacli.gpu.kernels import tiles, wfa
from wfacli.io.read.memory import pairs_of
from wfacli.plan import gpu_kernels
from wfacli.plan.forecast import Forecast
from wfacli.plan.kernels import candidates

from .support import opened_gpu

SCHEMES = [
    (Metric.EDIT, None, 0),
    (Metric.INDEL, None, 0),
    (Metric.LINEAR, (3, 2), 2),
    (Metric.AFFINE, (4, 6, 2), 0),
    (Metric.AFFINE, (5, 1, 7), 1),
    (Metric.AFFINE2P, (4, 4, 2, 8, 1), 0),
]
SEED = 21


# Wider bands of tiles contain all of these pairs, with the same builds: only the widest is tested.
SAME = {f"{GPU_PREFIX}tiles-{band}" for band in tiles.BANDS[3:-1]}


def kernels_of(scheme, score_only=False):
    names = [name for name in candidates(spec_for(scheme, score_only=score_only), gpu=True) if on_gpu(name)]
    reached = [name for name in names if name.startswith(f"{GPU_PREFIX}tiles-")]
    return [name for name in names if name not in SAME or name == reached[-1]]


CASES = [(k, s, only) for s in SCHEMES for only in (False, True) for k in kernels_of(s, only)]


def kind_of(kernel):
    """Return what a kernel has in common with those of other sizes."""
    variant = wfa.VARIANTS.get(kernel.removeprefix(GPU_PREFIX))
    if variant is None:
        family, band = kernel.removeprefix(GPU_PREFIX).split("-")
        return family, int(band) > {"dp": 64, "tiles": 256}.get(family, 0)  # a warp per pair, or all warps
    return variant.pieces, variant.trace, variant.outside, variant.offset, variant.group > 32


CODED = [
    (k, s) for s in (SCHEMES[0], *SCHEMES[2:4], SCHEMES[5]) for k in kernels_of(s) if gpu_kernels.KERNELS[k].coded
]
CODED = one_of_each(CODED, lambda case: (kind_of(case[0]), case[1]))


def wide(kernel):
    """Return whether emulation is slow: many threads per pair, or tiles that contain all of these pairs."""
    variant = wfa.VARIANTS.get(kernel.removeprefix(GPU_PREFIX))
    whole = {f"{GPU_PREFIX}tiles-{band}" for band in tiles.BANDS if band > 256}
    return kernel in whole or (variant is not None and variant.group > 32)


@functools.cache
def chosen(few: bool, symbols: str, rule: str, scheme) -> tuple[list[tuple[bytes, bytes]], list[Optimum]]:
    pairs = mixed_pairs(SEED, 14 if few else 70, 60 if few else 130, ALPHABETS[symbols])
    return pairs, optima(pairs, spec_for(scheme).penalties, rule=rule)


def of_gpu(pairs, spec, kernel, estimated=False, **gpu) -> PartialResult:
    """Return a kernel's answers; without estimates it searches up to its maximum."""
    drivers = []

    def opened():
        drivers.append(EmulatedDriver(**gpu))
        return drivers[-1]

    engine = GpuEngine(spec, opened, memory=3 << 28)  # the widest kernel takes 217 MiB per block
    try:
        batch = pairs_of(*zip(*pairs, strict=True))
        batch = with_estimates(batch, spec, gpu=True) if estimated else batch
        found = engine.collect(engine.submit(batch, Route(np.arange(len(batch), dtype=np.int32), kernel)))
        assert sorted(found.rows.tolist()) == list(range(len(batch)))
    finally:
        engine.close()
    assert leaks(drivers[0]) == {}
    return found


def assert_right(found: PartialResult, pairs, best, spec: AlignSpec, kernel: str, label: str = "") -> None:
    """Assert that the answers are correct, and that all pairs within the kernel's reach are aligned."""
    batch = pairs_of(*zip(*pairs, strict=True))
    reach = gpu_kernels.KERNELS[kernel].reach(Forecast(batch, spec, Limits()).for_gpu)
    cost = [cost_of(b.score, p, spec) for b, p in zip(best, pairs, strict=True)]
    unit = Forecast(batch, spec, Limits())._costs.unit
    for at, row in enumerate(found.rows.tolist()):
        what = f"seed {SEED} {label} {kernel} {spec} pair {row} {pairs[row]}"
        if found.status[at] != Status.OK:
            assert found.status[at] == Status.SCORE_LIMIT, f"{what}: {Status(found.status[at])!r}"
            assert cost[row] / unit >= reach[row], what
            continue
        assert found.score[at] == best[row].score, what
        assert tuple(found.span[at].tolist()) == best[row].span, what
        runs = found.cigar[found.cigar_start[at] : found.cigar_start[at + 1]]
        assert cigar.to_text(runs) == ("*" if spec.score_only else best[row].cigar), what
    assert (found.status == Status.OK).mean() > 0.1, f"{kernel} {spec}: hardly any is aligned"


def cost_of(score, pair, spec):
    bonus = spec.penalties.match
    return bonus * (len(pair[0]) + len(pair[1])) - 2 * score if bonus else -score


@pytest.mark.parametrize(("kernel", "scheme", "score_only"), CASES)
def test_every_kernel(kernel, scheme, score_only):
    pairs, best = chosen(wide(kernel), "ACGT", "mismatch", scheme)
    spec = spec_for(scheme, score_only=score_only)
    assert_right(of_gpu(pairs, spec, kernel), pairs, best, spec, kernel)


# Rotate through the rules: they differ in tables and in one word of a task, which all kernels read alike.
RULES = ("mismatch", "wildcard", "literal")
UNDER_RULES = [
    (*case, rule) for at, case in enumerate(CODED) for rule in (RULES if THOROUGH else RULES[at % 3 : at % 3 + 1])
]


@pytest.mark.parametrize(("kernel", "scheme", "rule"), UNDER_RULES)
def test_other_symbols(kernel, scheme, rule):
    pairs, best = chosen(wide(kernel), "mixed", rule, scheme)
    spec = spec_for(scheme, ambiguous=Ambiguous(rule))
    assert {bool(f & Flag.NON_ACGT) for f in pairs_of(*zip(*pairs, strict=True)).flags} == {False, True}
    assert_right(of_gpu(pairs, spec, kernel, order=1), pairs, best, spec, kernel, rule)


@pytest.mark.parametrize("lanes", [4, 32, 256])
@pytest.mark.parametrize("symbols", ["ACGT", "mixed"])
def test_bands_of_their_own(monkeypatch, symbols, lanes):
    """Each pair is answered if and only if its own band proves its cost, whatever the other pair's band."""
    monkeypatch.setattr(tiles, "LANES", (lanes,))
    kernels._plan_of.cache_clear()
    scheme = SCHEMES[3]
    pairs, best = chosen(False, symbols, "mismatch", scheme)
    spec, batch = spec_for(scheme), pairs_of(*zip(*pairs, strict=True))
    rows = np.argsort(batch.q_len, kind="stable").astype(np.int32)[::-1].copy()
    bands = np.array([(2, 5, 11, 30, 96)[row % 5] for row in rows], np.int32)
    with opened_gpu(spec) as (gpu, _):
        found = gpu.collect(gpu.submit(batch, Route(rows, "gpu-tiles-128", bands=bands)))
    assert sorted(found.rows.tolist()) == list(range(len(batch)))
    band_of = dict(zip(rows.tolist(), bands.tolist(), strict=True))
    proved = tiles.provable_cost(
        2, ((3, 1),), batch.q_len, batch.t_len, np.array([band_of[r] for r in range(len(batch))])
    )
    for at, row in enumerate(found.rows.tolist()):
        reached = cost_of(best[row].score, pairs[row], spec) / 2 <= proved[row]
        assert found.status[at] == (Status.OK if reached else Status.SCORE_LIMIT), (row, pairs[row])
        if reached:
            runs = found.cigar[found.cigar_start[at] : found.cigar_start[at + 1]]
            assert (found.score[at], cigar.to_text(runs)) == (best[row].score, best[row].cigar), (row, pairs[row])
    assert 0.1 < (found.status == Status.OK).mean() < 0.9
    kernels._plan_of.cache_clear()


@pytest.mark.parametrize("kernel", kernels_of(SCHEMES[0])[:2])
def test_what_bits_cannot_hold_is_refused(kernel):
    pairs = [(b"ACGT", b"ACGA"), (b"ACNT", b"ACGT"), (b"acgt", b"ACGT")]
    found = of_gpu(pairs, spec_for(SCHEMES[0]), kernel)
    status = dict(zip(found.rows.tolist(), found.status.tolist(), strict=True))
    assert status == {0: Status.OK, 1: Status.UNSUPPORTED, 2: Status.OK}


def test_costs_that_a_kernel_is_not_made_for_are_refused():
    pairs = [(b"ACGT", b"ACGA")]
    for kernel, scheme in (
        ("gpu-bits-32", SCHEMES[3]),
        ("gpu-dp-64", SCHEMES[5]),
        ("gpu-wfa-affine-30", SCHEMES[5]),
        ("gpu-wfa-edit-32", SCHEMES[3]),
    ):
        assert of_gpu(pairs, spec_for(scheme), kernel).status.tolist() == [Status.UNSUPPORTED]


def test_a_gpu_with_too_little_shared_memory_hands_on():
    found = of_gpu([(b"ACGT", b"ACGA")], spec_for(SCHEMES[3]), "gpu-wfa-affine-3000", shared_per_block=99 << 10)
    assert found.status.tolist() == [Status.MEMORY_LIMIT]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("max_cost", [None, 40])
def test_all_rungs_end_with_every_pair(scheme, max_cost):
    """From the narrowest kernels on, each pair gets the oracle's answer, or SCORE_LIMIT if it costs too much."""
    if max_cost is not None and scheme[2]:
        pytest.skip("no bound on costs with a bonus")
    pairs, best = chosen(True, "mixed", "mismatch", scheme)
    pairs = [pair for pair in pairs if max(map(len, pair)) <= 60]
    spec = spec_for(scheme, max_cost=max_cost)
    best = optima(pairs, spec.penalties)
    names = kernels_of(scheme)
    for kernel in (names[0], next(name for name in names if "wfa" in name), None):
        stats = Stats()
        engine = HybridEngine(GpuEngine(spec, EmulatedDriver, memory=1 << 27), CpuEngine(spec, Limits(), 1))
        try:
            batch = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec, gpu=True)
            result = align_batch(engine, batch, spec, Limits(), stats, kernel)
        finally:
            engine.close()
        for row, wanted in enumerate(best):
            what = f"seed {SEED} {kernel} {spec} {pairs[row]}"
            if max_cost is not None and -wanted.score > max_cost:
                assert result.status[row] == Status.SCORE_LIMIT, what
                continue
            runs = result.cigar[result.cigar_start[row] : result.cigar_start[row + 1]]
            assert result.status[row] == Status.OK, what
            assert (result.score[row], cigar.to_text(runs)) == (wanted.score, wanted.cigar), what


def test_wavefronts_look_no_further_than_is_likely():
    pairs = [(b"ACGT" * 30, b"ACGT" * 29 + b"ACCT")] * 3 + [(b"A" * 40, b"C" * 40)]
    spec, kernel = spec_for(SCHEMES[3]), "gpu-wfa-affine-250"
    assert of_gpu(pairs, spec, kernel).status.tolist() == [Status.OK] * 4
    assert of_gpu(pairs[:3], spec, kernel, estimated=True).status.tolist() == [Status.OK] * 3
    edits = with_estimates(pairs_of(*zip(*pairs, strict=True)), spec, gpu=True).est_edits
    assert edits[3] > edits[0]
    assert of_gpu(pairs, spec, kernel, estimated=True).status.tolist() == [Status.OK] * 4


def test_every_kernel_has_its_cases():
    following = {f"{GPU_PREFIX}{name}" for name in wfa.FOLLOWING}  # tested in test_band.py
    assert {case[0] for case in CASES} >= set(gpu_kernels.KERNELS) - following - SAME
