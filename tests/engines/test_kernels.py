"""All kernels, instruction sets, limits, threads and parts give the same answer, or a status that leads to it."""

import random

import numpy as np
import pytest

from tests import oracles, pairgen
from tests.engines.agreement import align_batch
from tests.engines.helpers import AMPLE, answers, cost_spec, engine, spec_of, through
from tests.oracles import EDIT
from wfacli._native import Aligner, CancelFlag, instruction_sets
from wfacli.config import Limits
from wfacli.core.batch import Status
from wfacli.core.route import Route
from wfacli.core.stats import Stats
from wfacli.engines import cpu as cpu_engine
from wfacli.engines import threads as engine_threads
from wfacli.engines.cpu import CpuEngine, native_options
from wfacli.errors import Cancelled
from wfacli.io.read.memory import pairs_of
from wfacli.plan.kernels import DIFFERENCE, LINEAR, READS, TABLE

COSTS = [EDIT, (4, 6, 2), (2, 3, 1), (5, 1, 7), (1, 1, 3), (7, 20, 1)]
# Limits that make the linear kernel store different checkpoints and recompute different parts.
TIGHT = [
    Limits(table=1, checkpoints=1 << 30),
    Limits(table=3000, checkpoints=1 << 30),
    Limits(table=20_000, checkpoints=1 << 30),
    Limits(table=1, checkpoints=1 << 17),
    Limits(table=3000, checkpoints=40_000),
    Limits(table=50_000, checkpoints=100_000),
]


WAVEFRONTS = (TABLE, LINEAR)


@pytest.fixture(scope="module")
def pairs():
    return [
        *pairgen.edge_pairs(1, b"ACGT"),
        *pairgen.edge_pairs(2, pairgen.ALPHABETS["iupac"]),
        *pairgen.random_pairs(3, 150, 300, b"ACGT"),
        *pairgen.random_pairs(4, 50, 300, b"AC"),
    ]


@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_instruction_sets_and_kernels_agree(pairs, costs):
    expected = None
    for isa in instruction_sets():
        for kernel in WAVEFRONTS:
            with engine(cost_spec(costs), isa=isa) as cpu:
                assert cpu.isa == isa
                found = answers(through(cpu, pairs, kernel))
            expected = expected or found
            assert found == expected, (isa, kernel)
    assert [cost for cost, _ in expected] == [oracles.pywfa_cost(*p, costs) for p in pairs]
    for (query, target), (cost, cigar) in zip(pairs, expected, strict=True):
        oracles.replay(query, target, cigar)
        assert oracles.cigar_cost(cigar, costs) == cost


@pytest.mark.parametrize("limits", TIGHT, ids=str)
@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_linear_memory_gives_the_table_s_answers_whatever_it_keeps(pairs, costs, limits):
    with engine(cost_spec(costs)) as ample, engine(cost_spec(costs), limits) as tight:
        expected = answers(through(ample, pairs, TABLE))
        found = answers(through(tight, pairs, LINEAR))
    solved = [a == b for a, b in zip(expected, found, strict=True)]
    assert all(ok or b is Status.MEMORY_LIMIT for ok, b in zip(solved, found, strict=True))
    assert sum(solved) > len(pairs) / 3
    if limits.checkpoints == 1 << 30:
        assert all(solved)


@pytest.mark.parametrize("rule", oracles.RULES)
def test_linear_memory_under_each_rule(rule):
    pairs = pairgen.random_pairs(8, 150, 120, pairgen.ALPHABETS["iupac"])
    spec = spec_of("affine", (4, 6, 2), rule)
    with engine(spec) as ample, engine(spec, TIGHT[0]) as tight:
        assert answers(through(tight, pairs, LINEAR)) == answers(through(ample, pairs, TABLE))


@pytest.mark.parametrize("kernel", [*WAVEFRONTS, DIFFERENCE])
def test_a_hopeless_limit_is_a_status(kernel):
    pair = pairgen.sequence(random.Random(1), 300, b"ACGT"), pairgen.sequence(random.Random(2), 300, b"ACGT")
    with engine(cost_spec((4, 6, 2)), Limits(table=64, checkpoints=64)) as cpu:
        found = answers(through(cpu, [pair, (b"AC", b"AC"), pair], kernel))
    assert found == [Status.MEMORY_LIMIT, (0, "2="), Status.MEMORY_LIMIT]


def test_what_the_table_cannot_hold_is_rescued(pairs):
    spec, limits, stats = cost_spec((4, 6, 2)), Limits(table=30_000), Stats()
    batch = pairs_of(*zip(*pairs, strict=True))  # without estimates every pair starts with the table
    with engine(spec, limits) as cpu, engine(spec) as ample:
        first = through(cpu, pairs, TABLE)
        result = align_batch(cpu, batch, spec, limits, stats, TABLE)
        assert answers(result) == answers(through(ample, pairs, TABLE))
    failed = first.status == Status.MEMORY_LIMIT
    assert 0 < failed.sum() < len(pairs)
    assert [result.kernels[k] for k in result.origin] == [LINEAR if f else TABLE for f in failed]
    assert stats.retried == {"MEMORY_LIMIT": failed.sum()}
    assert stats.kernels == {TABLE: (~failed).sum(), LINEAR: failed.sum()}
    assert not stats.unaligned


@pytest.mark.parametrize("metric", COSTS, ids=str)
def test_a_row_that_is_too_long_for_the_difference_kernel_is_the_wavefront_s(metric):
    spec, stats = cost_spec(metric), Stats()
    short = pairgen.sequence(random.Random(3), 3000, b"ACGT")
    long = pairgen.sequence(random.Random(4), 40_000, b"ACGT")
    pairs = [(short, short[:900] + short[902:]), (long, long[:700] + b"A" + long[701:])]
    limits = Limits(table=1 << 15, checkpoints=60_000)
    batch = pairs_of(*zip(*pairs, strict=True))
    with engine(spec, limits) as cpu, engine(spec) as ample:
        result = align_batch(cpu, batch, spec, limits, stats, DIFFERENCE)
        assert answers(result) == answers(through(ample, pairs, DIFFERENCE))
    assert [result.kernels[k] for k in result.origin] == [DIFFERENCE, LINEAR]
    assert stats.handed_on == {(DIFFERENCE, "MEMORY_LIMIT", LINEAR): 1}


def test_what_no_rung_can_hold_keeps_its_status(pairs):
    spec, limits, stats = cost_spec((4, 6, 2)), Limits(table=64, checkpoints=64), Stats()
    with engine(spec, limits) as cpu:
        long = tuple(pairgen.sequence(random.Random(seed), 70_000, b"ACGT") for seed in (1, 2))
        result = align_batch(cpu, pairs_of(*zip(*pairs, long, strict=True)), spec, limits, stats, TABLE)
    assert [status for status in result.status.tolist() if status] == [Status.MEMORY_LIMIT] == [result.status[-1]]
    assert stats.unaligned == {"MEMORY_LIMIT": 1}


@pytest.mark.parametrize("kernel", WAVEFRONTS)
@pytest.mark.parametrize(("length", "error"), [(1000, 0.3), (3000, 0.1), (5000, 0.2), (10_000, 0.05), (20_000, 0.01)])
def test_long_pairs_cost_what_other_aligners_say(length, error, kernel):
    rng = random.Random(length)
    for kind in ("uniform", "repeats"):
        query, target = pairgen.pair(rng, length, b"ACGT", error / 2, kind)
        for costs in (EDIT, (4, 6, 2)):
            with engine(cost_spec(costs), Limits(table=1 << 30 if kernel == TABLE else 1 << 20)) as cpu:
                ((cost, cigar),) = answers(through(cpu, [(query, target)], kernel))
            expected = oracles.edlib_cost(query, target) if costs == EDIT else oracles.pywfa_cost(query, target, costs)
            assert cost == expected
            if costs != EDIT and length <= 5000:
                assert cost == oracles.parasail_cost(query, target, costs)
            oracles.replay(query, target, cigar)
            assert oracles.cigar_cost(cigar, costs) == cost


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("costs", [(4, 6, 2), (2, 3, 1), (5, 1, 7)], ids=str)
def test_reads_of_all_lengths_and_errors_share_vectors(costs, isa):
    rng = random.Random(9)
    pairs = [*pairgen.edge_pairs(7, b"ACGT"), *pairgen.edge_pairs(8, b"ACGTN")]
    for length in (1, 15, 16, 17, 63, 64, 65, 150, 500, 1999, 2000, 2001):
        for error in (0, 0.01, 0.05, 0.2):
            target = pairgen.sequence(rng, length, b"ACGT")
            pairs += [(pairgen.mutated(rng, target, b"ACGT", error), target) for _ in range(3)]
    many = [*pairs, *pairs[::-1], *pairs[:33]]
    with engine(cost_spec(costs), isa=isa) as cpu:
        expected = answers(through(cpu, pairs, TABLE))
        whole, few = through(cpu, many, READS), through(cpu, pairs[:5], READS)
    wanted = [*expected, *expected[::-1], *expected[:33]]
    assert all(a == b for a, b in zip(answers(whole), wanted, strict=True) if not isinstance(a, Status))
    assert (whole.status == Status.OK).mean() > 0.7
    assert [a for a in answers(few) if not isinstance(a, Status)]
    longest = np.array([max(map(len, p)) for p in many])
    assert (whole.status[longest > 2000] == Status.LENGTH_LIMIT).all()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_and_parts_change_nothing(pairs, threads, monkeypatch):
    monkeypatch.setattr(cpu_engine, "_SHARED", 0)
    monkeypatch.setattr(engine_threads, "_PART_LEAST", 300)
    many = pairs * 6  # enough bases for several parts
    with engine(cost_spec((4, 6, 2))) as cpu:
        expected = answers(through(cpu, pairs, TABLE)) * 6
    with engine(cost_spec((4, 6, 2)), threads=threads) as cpu:
        assert answers(through(cpu, many, TABLE)) == expected
        order = list(range(len(many)))
        random.Random(threads).shuffle(order)
        assert answers(through(cpu, many, TABLE, order)) == [expected[i] for i in order]
        for size in (1, 7):
            picked = order[:63]
            parts = [picked[i : i + size] for i in range(0, len(picked), size)]
            assert [answers(through(cpu, many, TABLE, part)) for part in parts] == [
                [expected[i] for i in part] for part in parts
            ]


def test_columns_of_a_result():
    with engine(cost_spec((4, 6, 2))) as cpu:
        result = through(cpu, [(b"ACGT", b"ACG"), (b"", b"")], TABLE, [1, 0])
        nothing = through(cpu, [(b"ACGT", b"ACG")], TABLE, [])
    assert result.rows.tolist() == [1, 0]
    assert result.span.tolist() == [[0, 0, 0, 0], [0, 4, 0, 3]]
    assert result.cigar_start.tolist() == [0, 0, 2]
    assert len(nothing.status) == 0 and nothing.span.shape == (0, 4) and nothing.cigar_start.tolist() == [0]


def test_rows_outside_the_batch_are_refused():
    with engine(cost_spec(EDIT)) as cpu:
        for row in (-1, 2):
            with pytest.raises(IndexError):
                through(cpu, [(b"A", b"A"), (b"C", b"C")], TABLE, [row])


def test_unknown_instruction_set_is_refused():
    with pytest.raises(ValueError, match="abacus"):
        CpuEngine(cost_spec(EDIT), AMPLE, 1, "abacus")


@pytest.mark.parametrize("kernel", (*WAVEFRONTS, READS))
def test_a_cancelled_kernel_drops_its_pair(kernel):
    rng = random.Random(1)
    batch = pairs_of([pairgen.sequence(rng, 500, b"ACGT")], [pairgen.sequence(rng, 500, b"ACGT")])
    flag = CancelFlag()
    assert not flag.is_set
    flag.set()
    options = native_options(cost_spec(EDIT), AMPLE, kernel)
    status, *_ = Aligner().align(batch, np.zeros(1, np.int32), options, flag)
    assert status.tolist() == [Status.DROPPED]


def test_a_cancelled_engine_says_so():
    rng = random.Random(1)
    pairs = [(pairgen.sequence(rng, 60_000, b"ACGT"), pairgen.sequence(rng, 60_000, b"ACGT")) for _ in range(3)]
    batch = pairs_of(*zip(*pairs, strict=True))
    with engine(cost_spec((4, 6, 2)), threads=1) as cpu:
        ticket = cpu.submit(batch, Route(np.arange(3, dtype=np.int32), LINEAR))
        cpu.cancel()
        with pytest.raises(Cancelled):
            cpu.collect(ticket)


def test_a_batch_that_comes_after_cancelling_is_cancelled_too():
    spec = cost_spec((4, 6, 2))
    with engine(spec) as cpu:
        cpu.cancel()
        with pytest.raises(Cancelled):
            align_batch(cpu, pairs_of(["ACGT"], ["AGGT"]), spec, AMPLE, Stats())


@pytest.mark.parametrize("costs", [(1, 5000, 1), (5000, 5000, 1), (5000, 0, 1)], ids=str)
def test_short_pairs_align_under_penalties_far_apart(costs):
    """Memory depends on the cost of a pair, not on the range of the scores."""
    spec = cost_spec(costs)
    with engine(spec) as cpu:
        result = align_batch(cpu, pairs_of(["ACGTACGT"] * 2, ["ACGTACGT", "ACGACGT"]), spec, AMPLE, Stats())
    assert answers(result) == [(0, "8="), (costs[1] + costs[2], "3=1I4=")]
