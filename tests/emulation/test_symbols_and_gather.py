"""Packing and encoding of sequences, and gathering of operations, by the sources in cuda/."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulation.launching import Kernels, address, aligned
from wfacli.gpu.kernels.layout import gather_chunks
from wfacli.gpu.runtime.task import ENCODE_TASK, GATHER_TASK, GUARD, PACK_TASK

ORDERS = (0, 1)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("words", [0, 1, 31, 64, 1000])
def test_packed_symbols_follow_the_file(order, words):
    rng = np.random.default_rng(words)
    bases = aligned(16 * words, np.uint8)
    bases[:] = rng.choice(np.frombuffer(b"ACGTacgtNn", np.uint8), 16 * words)
    around = aligned(words + 2 * GUARD + 2, np.uint32)
    packed = around[1 + GUARD :]
    task = np.zeros(1, PACK_TASK)
    task["bases"], task["packed"], task["n_bases"] = address(bases), address(packed), 16 * words
    Kernels("common/pack.cu", 64).launch("pack_bases", task, 3, order)
    symbols = packed[:words, None] >> (2 * np.arange(16, dtype=np.uint32)) & 3
    np.testing.assert_array_equal(symbols.reshape(-1), bases >> 1 & 3)
    assert not around[1 : 1 + GUARD].any() and not packed[words : words + GUARD].any()
    assert around[0] == around[-1] == 0xA5A5A5A5, "a word beyond those that can be read was written"
    codes = dict(zip(b"ACTGactg", [0, 1, 2, 3] * 2, strict=True))
    plain = np.isin(bases, list(codes))
    assert symbols.reshape(-1)[plain].tolist() == [codes[b] for b in bases[plain].tolist()]


@pytest.mark.parametrize("order", ORDERS)
def test_codes_of_some_rows(order):
    rng = np.random.default_rng(5)
    lengths = rng.choice([0, 1, 15, 16, 17, 100, 511, 512, 513, 1100], (40, 2))
    tables = aligned(512, np.uint8)
    tables[:] = rng.integers(0, 256, 512)
    groups = -(-lengths // 16)
    start = (np.cumsum(groups.reshape(-1)) - groups.reshape(-1)).reshape(-1, 2)
    start[7, 1] = start[3, 1]  # two rows share a target
    lengths[7, 1] = lengths[3, 1]
    bases, codes = aligned(16 * groups.sum() + 64, np.uint8), aligned(16 * groups.sum() + 64, np.uint8)
    bases[:] = rng.integers(0, 256, len(bases))
    rows = np.array([39, 0, 3, 7, 8, 9, 20, 21, 1], np.int32)
    columns = [np.ascontiguousarray(c) for c in (*start.T.astype(np.uint32), *lengths.T.astype(np.int32))]
    task = np.zeros(1, ENCODE_TASK)
    for name, array in zip(ENCODE_TASK.names, [bases, codes, tables, rows, *columns, None], strict=True):
        task[name] = len(rows) if array is None else address(array)
    Kernels("common/pack.cu", 64).launch("encode_symbols", task, 2, order)
    expected = np.full(len(bases), 0xA5, np.uint8)
    for row in rows:
        for side in (0, 1):
            at = slice(16 * start[row, side], 16 * (start[row, side] + groups[row, side]))
            if (row, side) == (7, 1):
                at = slice(16 * start[3, 1], 16 * (start[3, 1] + groups[3, 1]))
            expected[at] = tables[256 * side + bases[at].astype(int)]
    np.testing.assert_array_equal(codes, expected)


def gathered(counts: np.ndarray, capacity: int, lanes_log2: int, grid: int, order: int, chunk: int | None = None):
    rng = np.random.default_rng(len(counts))
    ops = rng.integers(0, 2**32, (len(counts), capacity), dtype=np.uint32)
    own = aligned(len(counts), np.int32)
    own[:] = counts
    own_chunk, chunks = gather_chunks(len(counts))
    if chunk:
        own_chunk, chunks = chunk, max(1, -(-len(counts) // chunk))
    start, sums, cigar = (
        aligned(len(counts) + 1, np.int64),
        aligned(chunks, np.int64),
        aligned(counts.sum(), np.uint32),
    )
    task = np.zeros(1, GATHER_TASK)
    for name, array in (("op_count", own), ("ops", ops), ("start", start), ("sums", sums), ("cigar", cigar)):
        task[name] = address(array)
    task["chunk"], task["chunks"], task["count"], task["op_capacity"] = own_chunk, chunks, len(counts), capacity
    task["lanes_log2"] = lanes_log2
    kernels = Kernels("common/cigar.cu", 64)
    kernels.launch("sum_chunks", task, grid, order)
    kernels.launch("sum_before", task, 1, order)
    kernels.launch("sum_slots", task, grid, order)
    np.testing.assert_array_equal(start, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]))
    kernels.launch("gather_ops", task, grid, order)
    expected = np.concatenate([ops[s, :c] for s, c in enumerate(counts)] or [np.zeros(0, np.uint32)])
    np.testing.assert_array_equal(cigar, expected)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("lanes_log2", [0, 3, 8])
@pytest.mark.parametrize("slots", [0, 1, 3, 4, 5, 255, 256, 257, 3000])
def test_operations_end_to_end(slots, lanes_log2, order):
    counts = np.random.default_rng(slots).choice([0, 0, 1, 2, 7, 8, 9, 40], slots)
    gathered(counts, 40, lanes_log2, 1 + slots % 3, order, chunk=100 if slots % 2 else None)


@pytest.mark.parametrize("order", ORDERS)
def test_operations_of_slots_that_are_other_rows(order):
    """Test two launches with different operation capacities per slot, whose slots are permuted rows."""
    rng = np.random.default_rng(5)
    counts, rows = aligned(300, np.int32), rng.permutation(300).astype(np.int32)
    counts[:] = rng.integers(0, 6, 300)
    start, cigar = aligned(301, np.int64), aligned(counts.sum(), np.uint32)
    start[:] = np.concatenate([[0], np.cumsum(counts)])
    expected = np.empty(len(cigar), np.uint32)
    for some, capacity in ((rows[:100], 9), (rows[100:], 5)):
        ops = rng.integers(0, 2**32, (len(some), capacity), dtype=np.uint32)
        for slot, row in enumerate(some):
            expected[start[row] : start[row + 1]] = ops[slot, : counts[row]]
        task = np.zeros(1, GATHER_TASK)
        for name, array in (("op_count", counts), ("ops", ops), ("rows", some), ("start", start), ("cigar", cigar)):
            task[name] = address(array)
        task["count"], task["op_capacity"], task["lanes_log2"] = len(some), capacity, 1
        Kernels("common/cigar.cu", 64).launch("gather_ops", task, 2, order)
    np.testing.assert_array_equal(cigar, expected)


def test_many_chunks():
    """Test more chunks than the single block has threads."""
    gathered(np.random.default_rng(1).integers(0, 3, 5001), 3, 1, 2, 0, chunk=4)


@pytest.mark.parametrize(("count", "chunks"), [(0, 1), (1, 1), (4096, 1), (4097, 2), (2**31 - 1, 4096)])
def test_chunks_cover_all_slots(count, chunks):
    chunk, parts = gather_chunks(count)
    assert parts == chunks and chunk % 4 == 0 and (parts - 1) * chunk < max(count, 1) <= parts * chunk


def test_totals_beyond_32_bits():
    counts = aligned(10, np.int32)
    counts[:] = 2**31 - 1
    start, sums = aligned(11, np.int64), aligned(3, np.int64)
    task = np.zeros(1, GATHER_TASK)
    task["op_count"], task["start"], task["sums"] = address(counts), address(start), address(sums)
    task["chunk"], task["chunks"], task["count"] = 4, 3, 10
    for name, grid in (("sum_chunks", 2), ("sum_before", 1), ("sum_slots", 2)):
        Kernels("common/cigar.cu", 64).launch(name, task, grid)
    assert start.tolist() == [k * (2**31 - 1) for k in range(11)]
