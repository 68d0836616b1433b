"""The GPU engine on an emulated GPU gives the CPU engine's answers, however its work is split."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from tests.emulation.driver import EmulatedDriver
from tests.engines.agreement import align_batch, with_estimates
from wfacli.config import AlignSpec, Limits, Metric, Penalties
from wfacli.core.batch import Status
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.hybrid import HybridEngine
from wfacli.gpu.runtime.arena import Arena
from wfacli.gpu.runtime.device import IN_FLIGHT
from wfacli.io.read.memory import pairs_of

from .support import (
    AFFINE,
    EDIT,
    SEED,
    aligned,
    all_rows,
    assert_equal,
    batch_of,
    of_cpu,
    opened_gpu,
    some_pairs,
    within,
)

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")

# A thread or a warp per pair; workspace per pair, or per group resident on the GPU.
THREAD, GAPS = "gpu-bits-64", "gpu-dp-32"
RESIDENT, WAVEFRONT = "gpu-dp-128", "gpu-wfa-affine-120"
KERNELS = [(EDIT, THREAD), (AFFINE, GAPS), (AFFINE, RESIDENT), (AFFINE, WAVEFRONT)]
by_kernel = pytest.mark.parametrize(("spec", "kernel"), KERNELS, ids=[k for _, k in KERNELS])


@by_kernel
@pytest.mark.parametrize("count", [1, 2, 3, 5, 127, 129, 300])
@pytest.mark.parametrize("order", [0, 1])
def test_any_count(spec, kernel, count, order):
    batch = batch_of(some_pairs(count, 60))
    with opened_gpu(spec, order=order) as (engine, _):
        assert_equal(aligned(engine, batch, kernel), of_cpu(spec, batch), f"seed {SEED}")


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("kernel", [RESIDENT, WAVEFRONT])
@pytest.mark.parametrize("multiprocessors", [1, 3])
def test_few_groups(kernel, count, multiprocessors):
    """Groups of a block without a pair have a part of the workspace too."""
    batch = batch_of(some_pairs(count, 60))
    with opened_gpu(AFFINE, multiprocessors=multiprocessors, registers=255) as (engine, _):
        assert_equal(aligned(engine, batch, kernel), of_cpu(AFFINE, batch), f"seed {SEED}")


# Memory of a batch in bytes, from the minimum for one block to enough for no split.
CUTS = [
    (EDIT, THREAD, (90_000, 130_000, 250_000, 500_000)),
    (AFFINE, GAPS, (150_000, 300_000, 600_000)),
    (AFFINE, RESIDENT, (150_000, 300_000, 600_000)),
    (AFFINE, WAVEFRONT, (150_000, 300_000, 1_000_000)),
]


@pytest.mark.parametrize(("spec", "kernel", "job_bytes"), [(s, k, b) for s, k, sizes in CUTS for b in sizes])
@pytest.mark.parametrize("count", [127, 300])
def test_any_cut(spec, kernel, job_bytes, count):
    batch = batch_of(some_pairs(count, 60))
    with opened_gpu(spec, IN_FLIGHT * job_bytes) as (engine, driver):
        assert_equal(aligned(engine, batch, kernel), of_cpu(spec, batch), f"seed {SEED}")
        # Page-locked memory of the answers, and rounding, are not counted.
        assert driver.most_allocated <= IN_FLIGHT * (job_bytes + 8_192)
        assert engine.stats()["memory_bytes"] == IN_FLIGHT * job_bytes


@pytest.mark.parametrize(("spec", "kernel", "sizes"), CUTS, ids=[k for _, k, _ in CUTS])
def test_cuts_are_cuts(spec, kernel, sizes):
    """The work is split into parts, or into launches of a part, as test_any_cut assumes."""
    batch, uploads = batch_of(some_pairs(300, 60)), []
    for job_bytes in sizes:
        with opened_gpu(spec, IN_FLIGHT * job_bytes) as (engine, driver):
            aligned(engine, batch, kernel)
            uploads.append(driver.calls["upload"])
    assert uploads == sorted(uploads, reverse=True)
    assert uploads[0] > 3


def test_launches_of_one_part():
    batch = batch_of(some_pairs(300, 60))
    with opened_gpu(EDIT, IN_FLIGHT * 500_000) as (engine, driver):
        assert_equal(aligned(engine, batch, THREAD), of_cpu(EDIT, batch), f"seed {SEED}")
        # Four kernels pack a part's bases and gather its operations; band and traceback kernels alternate.
        assert driver.calls["launch"] > (1 + 4 + 2) * driver.calls["upload"]


def test_a_job_that_wants_a_little_more_takes_no_new_memory():
    longest = (60, 66, 60, 70)  # bases, and so bytes
    with opened_gpu(EDIT) as (engine, driver):
        for symbols in longest:
            batch = batch_of([(b"A" * symbols, b"A" * symbols)] * 200)
            aligned(engine, batch, THREAD)
            held = driver.calls["allocate"], driver.calls["free"]
            assert held == (1, 0), f"{symbols} symbols"


@pytest.mark.parametrize(("most", "held"), [(1 << 20, 125_000), (110_000, 110_000), (0, 100_000)])
def test_an_arena_has_some_to_spare(most, held):
    driver = EmulatedDriver(memory_total=1 << 20)
    arena = Arena(driver)
    arena.begin(100_000, most)
    assert arena.nbytes == driver.most_allocated == held
    arena.release()
    driver.close()


def test_a_gpu_with_little_memory():
    batch = batch_of(some_pairs(300, 60))
    with opened_gpu(EDIT, None, memory_total=1 << 20) as (engine, driver):
        assert_equal(aligned(engine, batch, THREAD), of_cpu(EDIT, batch), f"seed {SEED}")
        assert driver.most_allocated <= 1 << 19


def test_a_pair_above_the_bound_on_memory_is_not_tried():
    pairs = [*some_pairs(4, 60), (b"ACGT" * 30_000, b"ACGT" * 30_000), *some_pairs(4, 60, seed=SEED + 1)]
    batch = batch_of(pairs)
    with opened_gpu(EDIT, IN_FLIGHT * 200_000) as (engine, driver):
        found = aligned(engine, batch, THREAD)
        assert found.status.tolist() == [Status.OK] * 4 + [Status.MEMORY_LIMIT] + [Status.OK] * 4
        assert driver.most_allocated <= IN_FLIGHT * 208_192
        assert engine.stats()["memory_bytes"] == IN_FLIGHT * 200_000


@by_kernel
@pytest.mark.parametrize("seed", range(3))
def test_any_rows_in_any_order(spec, kernel, seed):
    batch, rng = batch_of(some_pairs(60, 60)), random.Random(seed)
    rows = np.array(rng.sample(range(60), rng.randrange(1, 61)), np.int32)
    with opened_gpu(spec) as (engine, _):
        found = aligned(engine, batch, kernel, rows)
        assert found.rows.tolist() == rows.tolist()
        assert_equal(found, of_cpu(spec, batch, rows), f"seed {seed}")


def test_the_same_row_twice():
    batch, rows = batch_of(some_pairs(5, 60)), np.array([3, 3, 0, 3], np.int32)
    with opened_gpu(EDIT) as (engine, _):
        assert_equal(aligned(engine, batch, THREAD, rows), of_cpu(EDIT, batch, rows), f"seed {SEED}")


@pytest.mark.parametrize("count", [1, 40])
def test_targets_that_repeat(count):
    """Test queries that share one target, which is stored once."""
    pairs = [(query, some_pairs(1, 90)[0][1]) for query, _ in some_pairs(count, 90)]
    once = batch_of(pairs)
    again = replace(once, t_start=np.full(count, once.t_start[0]), t_len=np.full(count, once.t_len[0]))
    rows = np.arange(count - 1, -1, -1, dtype=np.int32)
    with opened_gpu(AFFINE) as (engine, _):
        assert_equal(aligned(engine, again, RESIDENT), of_cpu(AFFINE, once), f"seed {SEED}")
        assert_equal(aligned(engine, again, RESIDENT, rows), of_cpu(AFFINE, once, rows), f"seed {SEED}")


@by_kernel
def test_kernels_are_loaded_before_the_first_one_runs(spec, kernel):
    """All kernels are loaded before the first launch.

    Loading waits for running kernels, and holds the GIL meanwhile.
    """
    order = []

    def noting(driver):
        load, launch = driver.kernel, driver.launch
        driver.kernel = lambda row: (order.append(row.name), load(row))[1]
        driver.launch = lambda loaded, *rest: (order.append(0), launch(loaded, *rest))[1]

    with opened_gpu(spec, prepare=noting) as (engine, _):
        aligned(engine, batch_of(some_pairs(40, 60)), kernel)
    first = order.index(0)
    assert set(filter(None, order[first:])) <= set(order[:first])


def test_the_first_answers_have_room_for_as_many_operations_as_estimates_promise():
    batch = batch_of([(b"ACGT" * 25, b"AGGT" * 25)] * 64)
    for known in (False, True):
        with opened_gpu(AFFINE) as (engine, driver):
            pairs = batch.with_edits(np.full(64, 25 if known else -1, np.int32))
            assert_equal(aligned(engine, pairs, "gpu-dp-128"), of_cpu(AFFINE, batch))
            assert driver.calls["download"] == (1 if known else 2), "51 operations a pair"


def test_nothing_to_do():
    batch = batch_of(some_pairs(3))
    with opened_gpu(EDIT) as (engine, driver):
        for pairs in (batch_of([]), batch):
            found = aligned(engine, pairs, THREAD, np.zeros(0, np.int32))
            assert len(found.status) == len(found.cigar) == 0
            assert found.cigar_start.tolist() == [0]
        assert driver.calls["upload"] == 0


@by_kernel
def test_empty_sequences(spec, kernel):
    batch = batch_of([(b"", b""), (b"ACG", b""), (b"", b"AC"), (b"A", b"A"), (b"", b"")])
    with opened_gpu(spec) as (engine, _):
        assert_equal(aligned(engine, batch, kernel), of_cpu(spec, batch))
        only = np.array([0, 4], np.int32)
        assert_equal(aligned(engine, batch, kernel, only), of_cpu(spec, batch, only))


@by_kernel
def test_score_only(spec, kernel):
    spec, batch = replace(spec, score_only=True), batch_of(some_pairs(129, 60))
    with opened_gpu(spec) as (engine, driver):
        found = aligned(engine, batch, kernel)
        assert_equal(found, of_cpu(spec, batch), f"seed {SEED}")
        assert not len(found.cigar)
        assert driver.calls["download"] == 1


@pytest.mark.parametrize("kernel", [GAPS, RESIDENT, WAVEFRONT])
@pytest.mark.parametrize("match", [1, 2])
def test_match_bonus(kernel, match):
    spec, batch = AlignSpec(Metric.AFFINE, Penalties(4, ((6, 2),), match)), batch_of(some_pairs(60, 60, 0.02))
    with opened_gpu(spec) as (engine, _):
        assert_equal(aligned(engine, batch, kernel), of_cpu(spec, batch), f"seed {SEED}")


@pytest.mark.parametrize("spec", [EDIT, AFFINE], ids=["edit", "affine"])
@pytest.mark.parametrize("bound", [0, 1, 3, 20, 100])
def test_a_bound_on_the_cost(spec, bound):
    """Test a maximum cost through all retries.

    A kernel need not distinguish pairs over the maximum from pairs beyond its reach.
    """
    spec, batch = replace(spec, max_cost=bound), batch_of(some_pairs(60, 60))
    cpu = CpuEngine(spec, Limits(), 1)
    wanted = align_batch(cpu, batch, spec, Limits(), Stats())
    with opened_gpu(spec) as (engine, _):
        both = HybridEngine(engine, cpu)
        found = align_batch(both, with_estimates(batch, spec, gpu=True), spec, Limits(), Stats())
        assert_equal(found, wanted, f"seed {SEED}")
    cpu.close()
    assert {Status.OK, Status.SCORE_LIMIT} >= set(found.status.tolist())


@pytest.mark.parametrize("spec", [EDIT, AFFINE], ids=["edit", "affine"])
def test_all_rungs(spec):
    """Similar and dissimilar, short and long pairs, and other symbols: pairs that the GPU cannot align are retried."""
    pairs = [*some_pairs(40), *some_pairs(15, 90, 0.4), *some_pairs(3, 400, 0.3), (b"ACGNNT", b"ACRT"), (b"", b"A")]
    batch, stats = batch_of(pairs), Stats()
    cpu = CpuEngine(spec, Limits(), 1)
    with opened_gpu(spec, stats=stats) as (engine, _):
        found = align_batch(HybridEngine(engine, cpu), with_estimates(batch, spec, gpu=True), spec, Limits(), stats)
    assert_equal(found, align_batch(cpu, batch, spec, Limits(), Stats()), f"seed {SEED}")
    cpu.close()
    assert any(name.startswith("gpu-") for name in stats.kernels)


def test_batches_from_several_threads():
    """Test more batches than fit in flight, with several kernels, split into parts, collected in another order."""
    batches = [batch_of(some_pairs(100 + i, 60, seed=SEED + i)) for i in range(8)]
    wanted = [of_cpu(EDIT, batch) for batch in batches]
    barrier = threading.Barrier(4)

    def work(first: int) -> None:
        barrier.wait()
        for _ in range(3):
            mine = [
                (i, engine.submit(batches[i], Route(all_rows(batches[i]), k)))
                for i in range(first, 8, 4)
                for k in (THREAD, "gpu-bits-32", "gpu-wfa-edit-64")
            ]
            random.Random(first).shuffle(mine)
            for i, ticket in mine:
                assert_equal(engine.collect(ticket), wanted[i], f"seed {SEED} batch {i}")

    with opened_gpu(EDIT, IN_FLIGHT * 250_000) as (engine, driver), ThreadPoolExecutor(4) as pool:
        within(lambda: list(pool.map(work, range(4))))
        # Page-locked memory is reused.
        assert driver.calls["pinned"] < driver.calls["upload"]


def test_more_parts_than_buffers():
    """Submitting a route that is split into many parts waits only for the GPU."""
    batch = batch_of(some_pairs(300, 60))
    with opened_gpu(EDIT, IN_FLIGHT * 90_000) as (engine, driver):
        tickets = within(lambda: [engine.submit(batch, Route(all_rows(batch), THREAD)) for _ in range(3)])
        assert driver.calls["upload"] > 2 * (IN_FLIGHT + 2)
        for ticket in reversed(tickets):
            assert_equal(engine.collect(ticket), of_cpu(EDIT, batch), f"seed {SEED}")


def test_stats():
    stats = Stats()
    with opened_gpu(EDIT, 0.25, stats, memory_total=1 << 26) as (engine, _):
        aligned(engine, batch_of(some_pairs(10)), THREAD)
        assert engine.stats() == {
            "engine": "gpu",
            "gpu": "emulated GPU",
            "architecture": "sm_90",
            "driver": "13.0",
            "memory_bytes": (1 << 24) // IN_FLIGHT * IN_FLIGHT,
            "failure": None,
            "bus": "",
            "through": "",
        }
    rows = ("copy", "pack", "bits-64", "bits-64-walk", "gather")
    assert set(stats.seconds) == {"stage", "unstage", *(f"gpu {row}" for row in rows)}
    assert engine.stats()["gpu"] == "emulated GPU"  # as required by the report at the end of a run


def test_closed_twice_and_used_afterwards():
    with opened_gpu(EDIT) as (engine, _):
        within(engine.close)
        with pytest.raises(RuntimeError, match="closed"):
            within(lambda: aligned(engine, pairs_of(["A"], ["A"]), THREAD))
