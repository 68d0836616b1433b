"""Batches that resemble one another share the choice of GPU kernels."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np

from tests.engines.agreement import SCHEMES, spec_for
from tests.unit.test_gpu_dispatch import with_edits
from wfacli.io.read.memory import pairs_of
from wfacli.plan.cost_table import Remembered, Sample
from wfacli.plan.gpu_routes import GpuRoutes
from wfacli.plan.planner import Planner

AFFINE = SCHEMES[6]


def test_batches_that_are_alike_are_decided_once(monkeypatch):
    spec, rng = spec_for(AFFINE), np.random.default_rng(4)
    planner, made = Planner(spec, gpus=1), Counter()
    mix = GpuRoutes._mix
    monkeypatch.setattr(GpuRoutes, "_mix", lambda *given: made.update(["mix"]) or mix(*given))
    for _ in range(8):
        batch = with_edits(rng.normal(400, 20, 900).astype(int), 10_000)
        routes = planner.routes(batch)
        assert sorted(np.concatenate([r.rows for r in routes]).tolist()) == list(range(900))
    before = made["mix"]
    assert before <= 4, "or each batch takes milliseconds of Python"
    planner.routes(with_edits(rng.normal(2000, 20, 900).astype(int), 10_000))
    planner.routes(with_edits(rng.normal(400, 20, 900).astype(int), 20_000))
    assert made["mix"] == before + 2


def test_retries_that_are_alike_are_decided_once() -> None:
    batch = pairs_of(["ACGT" * 30] * 20, ["ACGT" * 30] * 20)
    failed = np.full(20, 60.0)
    known = Sample(batch, 100, failed)
    assert known.is_like(Sample(batch, 100, failed + 0.5)) and known.is_like(Sample(batch, 110, failed))
    assert not known.is_like(Sample(batch, 100, 3 * failed)) and not known.is_like(Sample(batch, 100))


def test_batches_of_one_run_s_reads_are_decided_once(monkeypatch):
    """Their longest reads and largest gaps differ more than what decides."""
    spec, rng, made = spec_for(AFFINE), np.random.default_rng(8), Counter()
    mix = GpuRoutes._mix
    monkeypatch.setattr(GpuRoutes, "_mix", lambda *given: made.update(["mix"]) or mix(*given))
    planner = Planner(spec, gpus=1)
    for _ in range(40):
        lengths = (7000 * np.exp(0.5 * rng.normal(size=1000))).astype(np.int32)
        gaps = np.where(rng.random(1000) < 0.02, rng.integers(50, 5000, 1000), rng.integers(0, 60, 1000))
        batch = with_edits((0.08 * lengths * np.exp(0.1 * rng.normal(size=1000))).astype(int), 7000)
        planner.routes(dataclasses.replace(batch, q_len=lengths, t_len=(lengths + gaps).astype(np.int32)))
    assert made["mix"] <= 4, "a choice takes 40 ms of the interpreter"


def test_the_newest_choices_are_kept() -> None:
    samples = [Sample(pairs_of(["ACGT" * size] * 20, ["ACGT" * size] * 20), 100) for size in (10, 100, 1000)]
    remembered, found = Remembered[int](2), []
    for sample in (*samples, samples[1], samples[0]):
        remembered.of("key", sample, lambda: found.append(len(found)) or found[-1])
    assert found == [0, 1, 2, 3], "the first one is found again"
    assert remembered.of("key", samples[2], list) == 2 and remembered.of("other", samples[2], list) == []
