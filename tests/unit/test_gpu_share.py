"""What a GPU gets beside a CPU that has other work, and how all of its warps share long pairs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.unit.test_gpu_dispatch import with_edits
from wfacli.config import AlignSpec, Metric, Penalties
from wfacli.core import tuning
from wfacli.core.costs import NO_BOUND
from wfacli.core.route import on_gpu
from wfacli.gpu.kernels.launch_plan import plan_of
from wfacli.gpu.kernels.plans import Shape
from wfacli.plan.planner import Planner


@pytest.mark.usefixtures("avx512_times")
@pytest.mark.parametrize(("cpu_share", "least", "most"), [(1.0, 0, 20), (tuning.CPU_SHARE_BESIDE_MAPPER, 130, 130)])
def test_the_gpu_gets_more_where_the_cpu_has_other_work(cpu_share, least, most):
    spec = AlignSpec(Metric.AFFINE2P, Penalties(4, ((4, 2), (24, 1)), 2))  # map-ont's costs
    lengths = (7000 * np.exp(0.5 * np.random.default_rng(6).normal(size=130))).astype(np.int32)
    batch = with_edits((0.085 * lengths).astype(int), 20_000)
    batch = dataclasses.replace(batch, q_len=lengths, t_len=lengths)
    planner = Planner(spec, gpus=1, cpu_share=cpu_share)
    for one in (planner, planner.with_gpus(1)):
        assert least <= sum(len(r.rows) for r in one.routes(batch) if on_gpu(r.kernel)) <= most


def test_a_few_long_pairs_among_many_are_shared_by_all_warps():
    shape = Shape(100_000, 10_000, 6, ((4, 3), (24, 2)), NO_BOUND, True, cut=2048)
    assert plan_of("gpu-tiles-2048", dataclasses.replace(shape, as_long=100_000)).rows[0].name == "tiles-16-pieces-2"
    assert plan_of("gpu-tiles-2048", dataclasses.replace(shape, as_long=300)).rows[0].name == "tiles-128-pieces-2"
