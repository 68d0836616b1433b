"""Iterators that a thread reads ahead."""

import itertools
import threading
import time

import pytest

from tests.unit.reading import within
from wfacli.io.read.ahead import Ahead


def test_items_come_in_order_and_end_for_good():
    with within(20):
        items = Ahead(iter(range(1000)), 3)
        assert list(items) == list(range(1000))
        assert list(items) == []
        items.close()


def test_an_error_comes_after_what_was_before_it():
    def failing():
        yield from range(5)
        raise ValueError("five")

    got = []
    with within(20):
        items = Ahead(failing(), 2)
        with pytest.raises(ValueError, match="five"):
            for item in items:
                got.append(item)
        items.close()
    assert got == list(range(5))


def test_it_is_so_many_items_ahead_and_no_more():
    taken, full = [], threading.Event()

    def items():
        for i in itertools.count():
            taken.append(i)
            if i == 4:
                full.set()
            yield i

    with within(20):
        ahead = Ahead(items(), 4)
        assert full.wait(10)  # the fifth item has been read and waits for space
        time.sleep(0.05)
        assert taken == [0, 1, 2, 3, 4]
        assert next(ahead) == 0
        ahead.close()


def test_closing_it_closes_a_generator():
    closed = []

    def items():
        try:
            yield from itertools.count()
        finally:
            closed.append(threading.current_thread())

    with within(20):
        ahead = Ahead(items(), 2)
        assert next(ahead) == 0
        ahead.close()
    assert len(closed) == 1 and closed[0] is not threading.current_thread()
