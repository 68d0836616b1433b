"""Distribution of work among the threads of the CPU engine."""

import numpy as np
import pytest

from wfacli.config import AlignSpec, Limits, Metric, Penalties
from wfacli.core.route import Route
from wfacli.engines.cpu import CpuEngine
from wfacli.io.read.memory import pairs_of
from wfacli.plan.kernels import DIFFERENCE


@pytest.mark.parametrize(("count", "length", "parts"), [(6, 8000, 6), (1, 8000, 0), (300, 150, 0), (6, 600, 0)])
def test_few_long_pairs_are_shared_among_threads(count, length, parts):
    """A few long pairs are distributed over threads, so that the last pairs of a batch do not share one thread."""
    pairs = pairs_of(["ACGT" * (length // 4)] * count, ["ACGA" * (length // 4)] * count)
    engine = CpuEngine(AlignSpec(Metric.AFFINE, Penalties.of(Metric.AFFINE)), Limits(), 4)
    ticket = engine.submit(pairs, Route(np.arange(count, dtype=np.int32), DIFFERENCE))
    assert (ticket.job.parts if ticket.job else 0) == parts
    assert (engine.collect(ticket).status == 0).all()
    engine.close()


@pytest.mark.parametrize(("count", "length", "helpers"), [(2000, 150, [7, 3, 0, 0, 0]), (6, 8000, [5] * 5)])
def test_several_batches_of_short_pairs_share_the_threads(count, length, helpers):
    sequences = ["ACGT" * (length // 4)] * count
    pairs = pairs_of(sequences, sequences)
    engine = CpuEngine(AlignSpec(Metric.AFFINE, Penalties.of(Metric.AFFINE)), Limits(), 8)
    route = Route(np.arange(count, dtype=np.int32), DIFFERENCE)
    for _ in range(2):  # a collected route leaves its threads to later ones
        tickets = [engine.submit(pairs, route) for _ in helpers]
        assert [len(ticket.helpers) for ticket in tickets] == helpers
        assert [ticket.job is None for ticket in tickets] == [count == 0 for count in helpers]  # aligned alone
        assert all((engine.collect(ticket).status == 0).all() for ticket in tickets)
    engine.close()
