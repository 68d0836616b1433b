"""Batches whose bases the reader writes into memory provided by the caller."""

import gc
import weakref

import numpy as np
import pytest

from tests.unit.reading import pairs_in, within
from wfacli.core.batch import PairBatch, all_rows, is_all_rows
from wfacli.errors import InputError
from wfacli.io.read.reader import PairFiles, layout_of, read_batches

PAIRS = [("ACGT" * (1 + i % 7), "GATTACA" * (1 + i % 5)) for i in range(200)]


class Lending(np.ndarray):
    """An array that supports weak references."""


class PinnedPool:
    """Provides buffers of a fixed size, whatever size is requested."""

    def __init__(self, size: int, keep: bool = False) -> None:
        self.size, self.asked, self.lent, self.kept = size, [], [], [] if keep else None

    def __call__(self, nbytes: int) -> np.ndarray:
        self.asked.append(nbytes)
        memory = np.full(self.size, 255, np.uint8).view(Lending)
        self.lent.append((memory.ctypes.data, weakref.ref(memory)))
        if self.kept is not None:  # so that its address is not reused
            self.kept.append(memory)
        return memory

    @property
    def alive(self) -> int:
        gc.collect()
        return sum(reference() is not None for _, reference in self.lent)

    def has(self, batch: PairBatch) -> bool:
        return any(begin <= batch.bases.ctypes.data < begin + self.size for begin, _ in self.lent)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{q}\t{t}\n" for q, t in PAIRS))
    return str(file)


def batches(path, weight, lend=None):
    sources = PairFiles(path, None).open()
    with within(20):
        yield from read_batches(sources, layout_of(sources), weight, allocate=lend)
    for source in sources:
        source.close()


@pytest.mark.parametrize("weight", [1, 500, 1 << 20])
@pytest.mark.parametrize("size", [0, 1, 64, 300, 1 << 16])
def test_the_same_pairs_wherever_symbols_lie(path, weight, size):
    lender = PinnedPool(size, keep=True)
    found, wanted = list(batches(path, weight, lender)), list(batches(path, weight))
    assert [pairs_in(batch) for batch in found] == [pairs_in(batch) for batch in wanted]
    for batch, other in zip(found, wanted, strict=True):
        assert batch.bases.tobytes() == other.bases.tobytes()
        assert lender.has(batch) == (len(batch.bases) <= size)


def test_lent_memory_lives_as_long_as_its_batch(path):
    lender = PinnedPool(1 << 16)
    reading = batches(path, 500, lender)
    first, second = next(reading), next(reading)
    assert (len(lender.lent), lender.alive) == (2, 2)
    view = first.bases[16:20]
    del first
    assert lender.alive == 2
    del view
    assert lender.alive == 1
    del second
    assert lender.alive == 0
    rest = sum(1 for _ in reading)
    assert len(lender.lent) - rest in (2, 3)  # one is for what may follow a full batch
    assert lender.alive == 0


def test_memory_that_does_not_suffice_is_let_go(path):
    lender = PinnedPool(64)
    only = list(batches(path, 1 << 20, lender))
    assert (len(lender.lent), lender.alive, len(only)) == (1, 0, 1)


def test_no_memory_to_lend(path):
    assert len(list(batches(path, 500, lambda nbytes: None))) > 2


def test_what_is_asked_for(path):
    """The reader requests enough memory for a batch of reads, and little for a small file."""
    lender = PinnedPool(1 << 16)
    list(batches(path, 1 << 30, lender))
    assert lender.asked[0] < 1 << 20
    list(batches(path, 1000, lender))
    assert max(lender.asked) >= max(len(batch.bases) for batch in batches(path, 1000))


def test_a_fault_lets_the_memory_go(tmp_path):
    (tmp_path / "x.tsv").write_text("ACGT\tACG\nAC\n")
    lender = PinnedPool(1 << 16)
    reading = batches(str(tmp_path / "x.tsv"), 1 << 20, lender)
    assert len(next(reading)) == 1
    with pytest.raises(InputError):
        next(reading)
    del reading
    assert lender.alive == 0


def test_every_row():
    for count in (0, 1, 5, 4, 70_000, 5):
        rows = all_rows(count)
        assert rows.dtype == np.int32
        assert rows.tolist() == list(range(count))
        assert all_rows(count) is rows
        assert not rows.flags.writeable
        assert is_all_rows(rows, count) and is_all_rows(rows.copy(), count)
        assert not is_all_rows(rows, count + 1)
        assert not count or not is_all_rows(rows[:-1], count)
        assert count < 2 or not is_all_rows(rows[::-1].copy(), count)
