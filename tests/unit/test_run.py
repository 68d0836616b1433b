"""Preparation of batches before they are aligned."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.engines.agreement import SCHEMES, spec_for
from wfacli.config import CPU_BATCH, GPU_BATCH, Config, Container, Format, Limits, OutputSpec
from wfacli.core.stats import Stats, counted
from wfacli.engines.cpu import CpuEngine
from wfacli.engines.execute import align_batch
from wfacli.io.read.memory import pairs_of
from wfacli.plan.kernels import TABLE
from wfacli.plan.planner import Planner
from wfacli.run.sizes import batch_bases, mapped_bases, max_in_flight, shared_out


@pytest.mark.parametrize("total", [1, GPU_BATCH, GPU_BATCH + 1, 200_040_000, 290_000_000, 608_000_000, 10**12])
def test_batches_are_alike(total):
    symbols = shared_out([total // 2, total - total // 2])
    assert symbols <= GPU_BATCH
    if total <= GPU_BATCH:
        assert symbols == GPU_BATCH
    else:
        count = -(-total // GPU_BATCH)
        assert symbols * count >= total > symbols * (count - 1), "no batch more, and none that is hardly one"


@pytest.mark.parametrize("gpus", [2, 3, 8])
@pytest.mark.parametrize("total", [10_000_000, GPU_BATCH, GPU_BATCH + 1, 132_000_000, 608_000_000, 10**11])
def test_every_gpu_has_as_many_batches(total, gpus):
    symbols = shared_out([total], gpus)
    count = round(total / symbols * 17 / 16) if symbols < GPU_BATCH else -(-total // GPU_BATCH)
    assert symbols <= GPU_BATCH
    if total < 16_000_000:
        assert symbols == GPU_BATCH, "too few symbols for two"
    elif total / gpus > 8_000_000 and symbols < GPU_BATCH:
        assert count % gpus == 0
    assert symbols > 8_000_000


def test_of_a_stream_nobody_knows_how_much_there_is():
    assert shared_out([None, 10**9]) == shared_out([None]) == GPU_BATCH


PAF, BAM = OutputSpec(Format.PAF), OutputSpec(container=Container.BAM)


@pytest.mark.parametrize("output", [PAF, BAM, replace(BAM, sort=True)])
@pytest.mark.parametrize(("sizes", "threads"), [([10_000, 20_000], 16), ([10**12], 128), ([None, 10**12], 2)])
def test_batches_on_the_cpu_do_not_depend_on_files_and_threads(output, sizes, threads):
    """Each batch of BAM begins a block, so that other sizes would change the bytes; memory would grow with them."""
    sources = [SimpleNamespace(size=size) for size in sizes]
    config = Config(output=output, threads=threads)
    assert batch_bases(config, sources, 0) == CPU_BATCH
    assert batch_bases(replace(config, batch_bases=77), sources, 0) == 77


@pytest.mark.parametrize(
    ("output", "sizes", "threads", "gpus", "expected"),
    [
        (PAF, [None, 10**12], 2, 0, CPU_BATCH),
        (PAF, [10**9, 10**8], 16, 0, 16_000_000),
        (PAF, [10**9, 10**8], 10, 0, 10_000_000),
        (PAF, [10**8, 10**7], 16, 0, 110_000_000 // 16),
        (BAM, [10**9, 10**8], 16, 0, CPU_BATCH),
        (PAF, [None, 10**9], 16, 1, 16_000_000),
        (BAM, [None, 10**9], 16, 2, 16_000_000),
    ],
)
def test_batches_of_mapped_reads(output, sizes, threads, gpus, expected):
    sources = [SimpleNamespace(size=size) for size in sizes]
    config = Config(output=output, threads=threads)
    assert mapped_bases(config, sources, gpus) == expected
    assert mapped_bases(replace(config, batch_bases=77), sources, gpus) == 77


def test_batches_in_flight():
    """Of smaller batches there are more, in no more memory."""
    assert max_in_flight(0, 5, 64_000_000) == 8
    assert [max_in_flight(1, 64, GPU_BATCH // size) for size in (1, 2, 4, 16)] == [8, 16, 32, 67]
    assert max_in_flight(1, 2, 1000) == 8 and max_in_flight(2, 2, 1000) == 16


def test_few_batches_get_ready_at_a_time(monkeypatch):
    spec, batch = spec_for(SCHEMES[6]), pairs_of(["ACGT"], ["AGGT"])
    inside, most, lock = 0, 0, threading.Lock()

    def together(planner, pairs):
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
            if inside == expected:
                full.set()
        assert full.wait(60)
        time.sleep(0.002)  # time for one batch too many
        with lock:
            inside -= 1
        return pairs

    monkeypatch.setattr(Planner, "estimated", together)
    engine = CpuEngine(spec, Limits(), 1)
    for gpus, expected in ((1, 2), (2, 4), (0, 6)):
        most, planner, full = 0, Planner(spec, forced=TABLE, gpus=gpus), threading.Event()
        with ThreadPoolExecutor(6) as pool:
            work = [pool.submit(align_batch, engine, batch, planner, Stats()) for _ in range(6)]
            assert [w.result().score[0] for w in work] == [work[0].result().score[0]] * 6
        assert most == expected
    engine.close()


@pytest.mark.parametrize(
    ("count", "words", "more"),
    [(0, "0 pairs", "0 pairs were"), (1, "1 pair", "1 pair was"), (1200, "1,200 pairs", "1,200 pairs were")],
)
def test_things_are_counted_in_words(count: int, words: str, more: str) -> None:
    assert (counted(count, "pair"), counted(count, "pair", "was", "were")) == (words, more)
    assert counted(count, "mismatch") == words.replace("pairs", "mismatches").replace("pair", "mismatch")
