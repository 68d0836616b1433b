"""Order, limits, errors and cancellation of the pipeline."""

import contextlib
import random
import signal
import threading
import time

import pytest

from tests.interruption_points import Points
from tests.unit.reading import within
from wfacli.cli import signals
from wfacli.run import pipeline
from wfacli.run.pipeline import run_ordered


class Fault(Exception):
    pass


def run(items, work=lambda x: x, write=None, workers=3, in_flight=5):
    """Return (items written, number of cancel calls, error raised)."""
    written, cancels, error = [], [], None
    with within(20):
        try:
            run_ordered(
                iter(items), work, write or written.extend,
                workers=workers, in_flight=in_flight, cancel=lambda: cancels.append(1),
            )  # fmt: skip
        except BaseException as caught:
            error = caught
    return written, len(cancels), error


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("in_flight", [1, 2, 20])
def test_order_is_kept(workers, in_flight):
    delays = random.Random(workers).choices((0, 0.0005, 0.003), k=100)

    def work(i):
        time.sleep(delays[i])
        return -i

    assert run(range(100), work, workers=workers, in_flight=in_flight) == ([-i for i in range(100)], 0, None)


def test_what_comes_first_is_written_while_others_work():
    worked, begun, written = threading.Event(), [], []

    def begin():
        begun.append(threading.current_thread())
        assert worked.wait(10) and not written

    with within(20):
        run_ordered(
            iter(range(5)), lambda i: worked.set() or i, written.extend,
            workers=2, in_flight=3, cancel=lambda: None, begin=begin,
        )  # fmt: skip
    assert begun == [threading.current_thread()] and written == list(range(5))


def test_what_fails_first_ends_everything():
    def begin():
        raise Fault("header")

    cancels, written = [], []
    with within(20), pytest.raises(Fault, match="header"):
        run_ordered(
            iter(range(1000)), lambda i: i, written.extend,
            workers=2, in_flight=3, cancel=lambda: cancels.append(1), begin=begin,
        )  # fmt: skip
    assert cancels == [1] and not written


def test_nothing_to_do():
    assert run([]) == ([], 0, None)


@pytest.mark.parametrize("in_flight", [1, 3, 7])
def test_items_between_reader_and_writer_are_bounded(in_flight):
    lock, alive, most = threading.Lock(), 0, 0

    def items():
        nonlocal alive, most
        for i in range(60):
            with lock:
                alive += 1
                most = max(most, alive)
            yield i

    def write(results):
        nonlocal alive
        time.sleep(0.001)
        with lock:
            alive -= len(results)

    _, cancels, error = run(items(), write=write, workers=4, in_flight=in_flight)
    assert error is None and cancels == 0
    assert most <= in_flight
    assert in_flight == 1 or most > 1


def test_results_that_are_there_are_written_together():
    together, made = [], threading.Event()

    def items():
        yield from range(20)
        made.set()

    def write(results):
        assert made.wait(10)
        time.sleep(0.01)
        together.append(results)

    assert run(items(), write=write, workers=4, in_flight=30)[2] is None
    assert [i for results in together for i in results] == list(range(20))
    assert pipeline._TOGETHER in map(len, together) and max(map(len, together)) <= pipeline._TOGETHER


def test_what_was_written_is_not_kept_while_the_next_result_is_awaited():
    gone, results = threading.Event(), []

    class Result:
        def __del__(self):
            gone.set()

    def work(i):
        assert i == 0 or gone.wait(10)
        return Result()

    assert run(range(2), work, write=lambda some: results.append(len(some)), workers=1, in_flight=2)[2] is None
    assert results == [1, 1]


def test_a_reader_s_error_comes_after_all_that_it_read():
    def items():
        yield from range(10)
        raise Fault("reader")

    def work(i):
        time.sleep(0.002 * (10 - i))
        return i

    written, cancels, error = run(items(), work)
    assert written == list(range(10))
    assert isinstance(error, Fault) and cancels == 1


def test_a_worker_s_error_comes_after_what_was_before_it():
    def work(i):
        if i == 7:
            raise Fault("worker")
        return i

    written, cancels, error = run(range(100), work)
    assert written == list(range(7))
    assert isinstance(error, Fault) and cancels == 1


@pytest.mark.parametrize("kind", [Fault, KeyboardInterrupt])
def test_a_writer_s_error_ends_everything(kind):
    before = threading.active_count()
    seen = []

    def write(results):
        seen.extend(results)
        if 3 in results:
            raise kind

    _, cancels, error = run(range(10**9), write=write)
    assert seen == list(range(len(seen))) and 4 <= len(seen) < 4 + pipeline._TOGETHER
    assert isinstance(error, kind) and cancels == 1
    assert threading.active_count() == before


def test_cancel_frees_work_that_would_not_end():
    stopped = threading.Event()

    def work(i):
        if i == 0:
            raise Fault
        assert stopped.wait(15)

    begun = time.perf_counter()
    with within(20), pytest.raises(Fault):
        run_ordered(iter(range(4)), work, print, workers=4, in_flight=4, cancel=stopped.set)
    assert time.perf_counter() - begun < 10


def test_a_reader_that_waits_forever_is_left_behind():
    waiting, release = threading.Event(), threading.Event()

    def items():
        yield 0
        waiting.set()
        release.wait(30)

    def write(_):
        assert waiting.wait(15)
        raise Fault

    _, _, error = run(items(), write=write)
    assert isinstance(error, Fault)
    release.set()


def ends_after_a_signal(at):
    """Signal at one point of a run whose last work ends when it is cancelled; return the points of the run."""
    stopped = threading.Event()

    def work(i):
        if i == 2:
            stopped.wait(0.05)
        return i

    before = threading.active_count()
    with within(10), contextlib.suppress(signals.Terminated), Points(signal.SIGTERM, at) as points:
        run_ordered(iter(range(3)), work, lambda _: None, workers=2, in_flight=2, cancel=stopped.set)
    assert threading.active_count() <= before, points.where
    return points


def test_signal_at_each_point(handlers):
    """A signal leaves no lock held, which would be waited for, and no thread that goes on."""
    at = 0
    while ends_after_a_signal(at).where:
        signals.catch()
        at += 1
    assert at > 50
