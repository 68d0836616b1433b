"""Compare every width of cuda/bits/bits.cu with the oracle."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from tests import pairgen
from tests.emulation.batches import Answers, DeviceBatch
from tests.emulation.launching import Kernels, address, aligned
from tests.engines.agreement import aligned as aligned_by_cpu
from tests.oracle_spans import Scheme, optima
from tests.oracles import Pair
from wfacli.config import AlignSpec, Limits, Metric, Mode, Penalties
from wfacli.core.batch import Status
from wfacli.gpu.kernels.layout import bits_diagonals, bits_provable, bits_stride, bits_warps

EDIT = Scheme(1, ((0, 1),))
THREADS = [(words, 1) for words in (1, 2, 3, 4, 8, 16)]
WARPS = [(words, 32) for words in (1, 2, 3, 8, 16)]
BLOCK = 64
NO_BOUND = 2**31 - 1


def launched(pairs: Sequence[Pair], words: int, lanes: int, order: int, **rest: int) -> Answers:
    """Run both launches; `rest` has fields of the task, and `path`."""
    batch = DeviceBatch(pairs)
    task = batch.task()
    path = rest.pop("path", 1)
    longest = int(batch.lengths.max(initial=0))
    answers = Answers.room(task, batch.count, rest.pop("op_capacity", 2 * longest + 2))
    rows = np.arange(batch.count, dtype=np.int32)
    stride = rest.pop("stride", bits_stride(words, longest)) if path else 0
    workspace = aligned(stride * bits_warps(lanes, batch.count), np.uint8)
    task["rows"], task["workspace"], task["stride"] = address(rows), address(workspace), stride
    task["longest"], task["path"], task["max_cost"] = longest, path, NO_BOUND
    for name, value in rest.items():
        task[name] = value
    kernels = Kernels("bits/bits.cu", BLOCK, {"WFACLI_WORDS": words, "WFACLI_LANES": lanes})
    grid = -(-batch.count * lanes // BLOCK)
    kernels.launch("bits_align", task, grid, order)
    if path:
        kernels.launch("bits_walk", task, grid, order)
    return answers


def check(pairs: Sequence[Pair], words: int, lanes: int, order: int, note: object) -> int:
    """Compare the answers with the oracle's; return the number of proven pairs."""
    expected = optima(pairs, EDIT)
    answers = launched(pairs, words, lanes, order)
    costs_only = launched(pairs, words, lanes, order, path=0)
    np.testing.assert_array_equal(costs_only.status, answers.status)
    np.testing.assert_array_equal(costs_only.cost, answers.cost)
    assert not costs_only.op_count.any()
    proved = 0
    for slot, (pair, optimum) in enumerate(zip(pairs, expected, strict=True)):
        provable = bits_provable(bits_diagonals(words, lanes), *map(len, pair))
        what = f"{note}, {words} x {lanes}, order {order}, slot {slot}: {pair}"
        if -optimum.score < provable:
            assert answers.status[slot] == Status.OK, what
            assert (answers.cost[slot], answers.cigar(slot)) == (-optimum.score, optimum.cigar), what
            proved += 1
        else:
            assert answers.status[slot] == Status.SCORE_LIMIT, what
            assert -optimum.score <= answers.cost[slot] <= sum(map(len, pair)) and not answers.op_count[slot], what
    return proved


def near_the_edge(seed: int, diagonals: int, count: int, longest: int, alphabet: bytes) -> list[Pair]:
    """Return pairs whose distance, or difference of lengths, is about the maximum that the band can prove."""
    rng = random.Random(seed)
    pairs = []
    for number in range(count):
        target = pairgen.sequence(rng, rng.randint(min(diagonals // 2, longest), longest), alphabet)
        if number % 3 == 0:  # the path runs along the band's edge
            shift = diagonals // 2 + rng.randint(-3, 3)
            pair = pairgen.sequence(rng, shift, alphabet) + target, target + pairgen.sequence(rng, shift, alphabet)
        else:
            apart = rng.choice((0, 0, 1, 2, diagonals // 2, diagonals - 2, diagonals - 1, diagonals, diagonals + 1))
            query = bytearray(target)
            edits = max(0, diagonals - apart + rng.randint(-3, 3))
            for at in rng.sample(range(len(query)), min(edits, len(query))):
                query[at] = rng.choice(alphabet)
            at = rng.randint(0, len(query))
            pair = bytes(query[:at]) + pairgen.sequence(rng, apart, alphabet) + bytes(query[at:]), target
        pairs.append(pair if rng.random() < 0.5 else pair[::-1])
    return pairs


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("words", "lanes"), THREADS)
def test_threads_agree_with_the_oracle(words, lanes, order):
    seed = 10 * words + order
    proved = check(pairgen.some_lengths(seed, 70, b"ACGT", 600), words, lanes, order, seed)
    for alphabet in (b"ACGT", b"AC", b"A"):
        proved += check(pairgen.random_pairs(seed, 300, 130, alphabet), words, lanes, order, seed)
        diagonals = bits_diagonals(words, lanes)
        proved += check(
            near_the_edge(seed, diagonals, max(12, 2000 // diagonals), 2 * diagonals + 40, alphabet),
            words,
            lanes,
            order,
            seed,
        )
    proved += check(list(pairgen.edge_pairs(seed, b"ACGT")), words, lanes, order, seed)
    assert proved > 500


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("words", "lanes"), WARPS)
def test_warps_agree_with_the_oracle(words, lanes, order):
    seed = 1000 + 10 * words + order
    proved = check(pairgen.some_lengths(seed, 70, b"ACGT", 40), words, lanes, order, seed)
    for alphabet in (b"ACGT", b"AC", b"A"):
        proved += check(pairgen.random_pairs(seed, 25, 200, alphabet), words, lanes, order, seed)
    proved += check(list(pairgen.edge_pairs(seed, b"ACGT"))[:: 3 + order], words, lanes, order, seed)
    assert proved > 100


@pytest.mark.parametrize("order", [0, 1])
def test_bands_over_a_warp_at_their_edges(order):
    """Sequences longer than the band is wide: carries and deltas cross lanes everywhere."""
    for alphabet in (b"ACGT", b"AC", b"A"):
        pairs = near_the_edge(7 + order, 1024, 6, 700, alphabet)
        check(pairs, 1, 32, order, f"{alphabet!r}")
        check(pairs, 2, 32, order, f"{alphabet!r}")


@pytest.mark.parametrize(("words", "lanes", "error"), [(16, 1, 0.08), (1, 32, 0.1), (2, 32, 0.25)])
def test_noisy_reads_as_the_cpu_has_them(words, lanes, error):
    """Sequences of some thousand bases, too long for the oracle: compared with the CPU engine."""
    rng = random.Random(words * lanes)
    targets = [pairgen.sequence(rng, rng.randint(1500, 3000), b"ACGT") for _ in range(6)]
    pairs = [(pairgen.mutated(rng, target, b"ACGT", error), target) for target in targets]
    spec = AlignSpec(Metric.EDIT, Penalties.of(Metric.EDIT, None, 0), mode=Mode.GLOBAL)
    expected = aligned_by_cpu(pairs, spec, None, Limits())
    answers = launched(pairs, words, lanes, 0)
    runs = np.split(expected.cigar, expected.cigar_start[1:-1])
    for slot, pair in enumerate(pairs):
        assert answers.status[slot] == Status.OK, (slot, pair, answers.cost[slot])
        assert answers.cost[slot] == -expected.score[slot], (slot, pair)
        np.testing.assert_array_equal(answers.ops[slot, : answers.op_count[slot]], runs[slot], err_msg=f"{pair}")


@pytest.mark.parametrize(("words", "lanes"), [(1, 1), (4, 1), (1, 32)])
def test_statuses(words, lanes):
    pairs = [(b"ACGTACGT", b"ACGTTCGT"), (b"", b""), (b"GATTACA" * 9, b"GATACA" * 10), (b"A" * 20, b""), (b"", b"AC")]
    plain = launched(pairs, words, lanes, 0)
    assert plain.status.tolist() == [Status.OK] * 5
    assert plain.op_count.tolist()[:2] + plain.op_count.tolist()[3:] == [3, 0, 1, 1]
    bounded = launched(pairs, words, lanes, 0, max_cost=2)
    assert (bounded.status == np.where(plain.cost > 2, Status.SCORE_LIMIT, Status.OK)).all()
    np.testing.assert_array_equal(bounded.cost, plain.cost)
    most = int(plain.op_count.max())
    for capacity in (0, 1, 2, 3, most - 1, most):
        tight = launched(pairs, words, lanes, 0, op_capacity=capacity)
        fits = plain.op_count <= capacity
        assert (tight.status == np.where(fits, Status.OK, Status.MEMORY_LIMIT)).all()
        assert (tight.op_count == np.where(fits, plain.op_count, 0)).all()
        assert all(tight.cigar(s) == plain.cigar(s) for s in np.flatnonzero(fits))
    targets = np.array([len(target) for _, target in pairs])
    for symbols in (7, 8, 59, 60):
        small = launched(pairs, words, lanes, 0, stride=bits_stride(words, symbols))
        assert (small.status == np.where(targets <= symbols, Status.OK, Status.MEMORY_LIMIT)).all()


def test_too_long_is_refused():
    batch = DeviceBatch([(b"ACGT", b"ACGT")] * 3)
    batch.lengths[1] = 2**30 + 1, 5
    task = batch.task()
    lengths = np.ascontiguousarray(batch.lengths[:, 0])
    task["seq"]["query_len"] = address(lengths)
    answers = Answers.room(task, 3, 4)
    rows = np.arange(3, dtype=np.int32)
    task["rows"], task["max_cost"] = address(rows), NO_BOUND
    Kernels("bits/bits.cu", BLOCK, {"WFACLI_WORDS": 1, "WFACLI_LANES": 1}).launch("bits_align", task, 1)
    assert answers.status.tolist() == [Status.OK, Status.LENGTH_LIMIT, Status.OK]


def test_rows_pick_pairs():
    pairs = pairgen.random_pairs(3, 40, 30, b"ACGT")
    batch, rows = DeviceBatch(pairs), np.random.default_rng(3).permutation(40).astype(np.int32)[:33]
    task = batch.task()
    answers = Answers.room(task, 33, 62)
    workspace = aligned(2 * bits_stride(2, 30), np.uint8)
    task["rows"], task["workspace"], task["stride"] = address(rows), address(workspace), bits_stride(2, 30)
    task["path"], task["max_cost"] = 1, NO_BOUND
    kernels = Kernels("bits/bits.cu", BLOCK, {"WFACLI_WORDS": 2, "WFACLI_LANES": 1})
    kernels.launch("bits_align", task, 1)
    kernels.launch("bits_walk", task, 1)
    expected = optima([pairs[row] for row in rows], EDIT)
    assert [answers.cigar(s) for s in range(33)] == [o.cigar for o in expected]
