"""Regression tests: reported wrong answers, failures and slow pairs, compared with the oracle."""

import threading
from random import Random

import numpy as np
import pytest

import wfacli
from wfacli._native import instruction_sets
from wfacli.config import WHOLE, Heuristics, Limits
from wfacli.core.batch import Status
from wfacli.core.route import on_gpu
from wfacli.plan.kernels import CPU_KERNELS, DIFFERENCE, INSIDE, READS, candidates

from .check import assert_exact
from .oracle import optima
from .pairs import mutated
from .run import TooSlow, run, within
from .specs import spec_of
from .ways import BATCH, COMMAND, GPU, SINGLE, Way

NNAT = (
    b"CAACCGTCTATGCGCCGCNGGGGATGATGNGANGACAGNNTCAANNNCCCTNTCGTNTTACTGCCCGAGAGAATGCTNNGGTNNACNGTNTAGTNTANACTTGCNNTCNAC"
)
INSIDE_PAIRS = [
    ((b"AACC", b"CCCACACCCAAAAAACAAACACACCCCACC"), spec_of("linear", (9, 10), mode="semiglobal"), 9),
    ((b"ATC", b"NGCNCACGNGACNTTNTC"), spec_of("affine", (12, 2, 11), mode="semiglobal"), 12),
    ((b"NNAT", NNAT), spec_of("affine", (6, 0, 5), mode="semiglobal"), 10),
]
ZERO_OPENINGS = [
    (9, 0, 7087, 2, 11),
    (1, 0, 1, 0, 1),
    (4, 0, 2, 24, 1),
    (4, 6, 2, 0, 3),
    (2, 0, 1, 1, 1),
    (1, 0, 3, 4, 35),
]
MEGA = 214_752  # bases whose matches score 2^31 or more with a match bonus of 10,000


def bases(seed, count, symbols=b"ACGT"):
    return bytes(Random(repr(seed)).choices(symbols, k=count))


def similar(seed, count, length, error=0.1, symbols=b"ACGT"):
    rng = Random(repr(seed))
    targets = [bytes(rng.choices(symbols, k=length)) for _ in range(count)]
    return [(mutated(rng, target, symbols, error), target) for target in targets]


def inside(seed, count):
    """Return short queries from random positions in targets of up to 60 bases."""
    rng = Random(repr(seed))
    pairs = []
    for _ in range(count):
        target = bytes(rng.choices(b"AC", k=rng.randint(12, 60)))
        begin = rng.randrange(len(target))
        pairs.append((mutated(rng, target[begin : begin + rng.randint(3, 12)], b"AC", 0.2), target))
    return pairs


# Queries within targets


@pytest.mark.parametrize("score_only", [False, True])
@pytest.mark.parametrize(("pair", "spec", "cost"), INSIDE_PAIRS)
def test_a_query_lies_where_it_costs_least(pair, spec, cost, score_only):
    assert -optima([pair], spec).score[0] == cost
    values = (spec.penalties.mismatch, *sum(spec.penalties.gaps, ()))
    values = (values[0], values[2]) if spec.metric == "linear" else values
    asked = spec_of(str(spec.metric), values, mode="semiglobal", score_only=score_only)
    for isa in instruction_sets():
        for kernel in (INSIDE, None):
            assert_exact([pair], asked, Way(kernel=kernel, isa=isa))
    for entry in (BATCH, SINGLE):
        assert_exact([pair], asked, Way(entry))
    if not score_only:
        assert_exact([pair], asked, Way(COMMAND))


@pytest.mark.parametrize("mode", ["semiglobal", "ends-free"])
@pytest.mark.parametrize("values", [(9, 10), (3, 2), (5, 4), (5, 2, 4), (12, 2, 11), (6, 0, 5), (7, 3, 2, 9, 1)])
def test_many_queries_lie_where_they_cost_least(values, mode):
    metric = {2: "linear", 3: "affine", 5: "affine2p"}[len(values)]
    spec = spec_of(metric, values, mode=mode, free=(0, 0, 30, 40) if mode == "ends-free" else None)
    for isa in instruction_sets():
        assert_exact(inside(values, 600), spec, Way(kernel=INSIDE, isa=isa))


# Two pieces without an opening cost


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("values", ZERO_OPENINGS)
def test_pieces_without_an_opening(values, isa):
    pairs = [(b"TTCGATTACA", b"TTCGATTACA"), *similar(values, 150, 150)]
    for kernel in (DIFFERENCE, READS, None):
        for mode in ("global", "semiglobal"):
            assert_exact(pairs, spec_of("affine2p", values, mode=mode), Way(kernel=kernel, isa=isa))
        assert_exact(pairs, spec_of("affine2p", values, 2, "overlap"), Way(kernel=kernel, isa=isa))


@pytest.mark.parametrize("values", [ZERO_OPENINGS[0], ZERO_OPENINGS[-1]])
def test_pieces_without_an_opening_on_a_gpu(values):
    """Test the first kernel of each family."""
    spec = spec_of("affine2p", values)
    families = {name.split("-")[1]: name for name in reversed(candidates(spec, gpu=True)) if on_gpu(name)}
    pairs = [(b"TTCGATTACA", b"TTCGATTACA"), *similar(values, 5, 40)]
    for kernel in (None, *families.values()):
        assert_exact(pairs, spec, Way(GPU, kernel), seconds=120)


# Scores beyond 32 bits


def assert_range(pairs, spec, entry):
    """Assert that each pair has its score, or a status that says that the score is out of range."""
    try:
        answers = run(pairs, spec, Way(entry), 60)
    except TooSlow as error:
        raise AssertionError(str(error)) from error
    for (query, target), status, score in zip(pairs, answers.status.tolist(), answers.score.tolist(), strict=True):
        wanted = spec.penalties.match * len(query)
        if not spec.penalties.match:
            wanted = -sum(spec.penalties.gaps[0]) - spec.penalties.gaps[0][1] * (abs(len(query) - len(target)) - 1)
        assert status == Status["SCORE_RANGE"] or (status == Status.OK and score == wanted), (Status(status), score)


@pytest.mark.parametrize("entry", [BATCH, SINGLE])
@pytest.mark.parametrize("mode", ["global", "extension", "overlap"])
def test_scores_beyond_32_bits(mode, entry):
    sequence = bases(mode, MEGA)
    assert_range([(sequence, sequence)], spec_of("affine", (4, 6, 2), 10_000, mode, score_only=True), entry)
    assert_range([(sequence, sequence)], spec_of("affine", (4, 6, 2), 10_000, mode), entry)


@pytest.mark.parametrize("entry", [BATCH, SINGLE])
def test_costs_beyond_32_bits(entry):
    assert_range([(bases(1, MEGA), b""), (b"", bases(1, MEGA))], spec_of("affine", (4, 6, 10_000)), entry)


# Time and memory that grow with costs


def test_an_extension_of_nothing_takes_no_time():
    spec = spec_of("linear", (1, 1), 10_000, "extension")
    for entry in (BATCH, SINGLE):
        assert_exact([(b"", bases(1, 1000)), (bases(1, 1000), b"")], spec, Way(entry), seconds=2)
        answers = run([(b"", bases(1, 250_000))], spec, Way(entry), 30)
        assert (answers.status[0], answers.score[0], answers.span[0].tolist()) == (Status.OK, 0, [0, 0, 0, 0])


@pytest.mark.parametrize("mode", ["global", "semiglobal", "overlap", "extension"])
def test_tiny_pairs_with_a_huge_bonus(mode):
    rng = Random(mode)
    pairs = [(bases(rng.random(), rng.randint(0, 12)), bases(rng.random(), rng.randint(0, 12))) for _ in range(404)]
    spec = spec_of("affine2p", (4, 6, 2, 24, 1), 9_999, mode)
    for entry in (BATCH, SINGLE):
        assert_exact(pairs, spec, Way(entry), seconds=5)


@pytest.mark.parametrize(
    ("lengths", "spec"),
    [
        ((882, 1764), spec_of("affine", (97, 10_000, 8), mode="semiglobal")),
        ((2, 3475), spec_of("affine", (9973, 57, 35), 1, "semiglobal")),
        ((4990, 4990), spec_of("affine2p", (9999, 10_000, 9973, 7087, 9999))),
        ((4990, 4000), spec_of("affine2p", (9999, 10_000, 9973, 7087, 9999), 1, "overlap")),
    ],
)
def test_pairs_under_5000_bases_need_no_more_memory_than_the_default(lengths, spec):
    pairs = [tuple(bases(length, length) for length in lengths), (b"A" * lengths[0], b"C" * lengths[1])]
    for entry in (BATCH, SINGLE):
        assert_exact(pairs, spec, Way(entry), seconds=20)
    for kernel in CPU_KERNELS if max(lengths) < 4000 else ():
        assert_exact(pairs, spec, Way(kernel=kernel), seconds=20)


# Python


def test_wildcards_are_marked_as_in_records():
    for pair in ((b"ACNT", b"ACGT"), (b"ACGT", b"ACRT")):
        for entry in (SINGLE, BATCH, COMMAND):
            assert_exact([pair], spec_of("affine", (4, 6, 2), rule="wildcard"), Way(entry))
    found = wfacli.align("ACNT", "ACGT", ambiguous="wildcard")
    assert (found.score, found.cigar, found.edits) == (0, "2=1X1=", 1)
    (found,) = wfacli.align_pairs(["ACNT"], ["ACGT"], ambiguous="wildcard")
    assert (found.score, found.cigar, found.edits) == (0, "2=1X1=", 1)


def test_dropped_alignments_are_not_exact():
    pair = "CAAGTGCAGTTGTAGTGCCGTATTTGTGGC", "ATGAGCCCGGGCAAAGTTTTCTGAAATAAGCAAGACGCCC"
    with wfacli.Aligner(match=1, heuristics=Heuristics(xdrop=1), threads=1) as aligner:
        for found in (aligner.align(*pair), aligner.align_batch(*[[side] for side in pair])[0]):
            assert (found.status, found.exact) == (Status.DROPPED, False)


@pytest.mark.parametrize("limits", [Limits(1, 1), Limits(1, 4 << 20), Limits(table=3000)])
@pytest.mark.parametrize("metric", ["edit", "affine", "affine2p"])
def test_a_single_call_solves_what_a_batch_solves(metric, limits):
    pairs = similar(metric, 50, 7, 0.4)
    for match in (0, 1, 4):
        spec = spec_of(metric, match=match)
        batch, single = (run(pairs, spec, Way(entry, limits=limits), 20) for entry in (BATCH, SINGLE))
        assert np.array_equal(batch.status, single.status), (match, np.flatnonzero(batch.status != single.status))
        for entry in (BATCH, SINGLE):
            assert_exact(pairs, spec, Way(entry, limits=limits))


def test_the_time_guard():
    never = threading.Event()
    with pytest.raises(TooSlow):
        within(never.wait, 0.1)
    never.set()


@pytest.mark.parametrize(("values", "band"), [((64, 65), 16), ((6400, 6500), 16), ((64, 65), 32)], ids=str)
def test_costs_at_the_edge_of_a_gpu_band(values, band):
    """Costs at the limit of a band were reported one too low.

    Cells beside a band of threads lacked a tag, so that such a cost passed as exact.
    """
    pairs = [(bases(seed, 120), bases(seed + 9, 120)) for seed in range(6)]
    assert_exact(pairs, spec_of("linear", values), Way(GPU, f"gpu-dp-{band}"), 200)


SWEPT = [(4, 6, 4, 60, 1), (4, 6, 2, 24, 1), (2, 6, 2, 24, 1), (4, 10, 2, 24, 1), (4, 24, 1, 6, 2)]


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("match", [0, 3, 7])
@pytest.mark.parametrize("values", SWEPT, ids=str)
def test_bands_in_memory_do_not_open_on_the_way_back(values, match, isa):
    """Traceback windows wider than the rows of a band in memory overflowed: right scores, wrong paths."""
    rng = Random(f"{values} {match}")
    for free in ((WHOLE, 0, 0, 0), (0, WHOLE, 0, 0), (WHOLE, 0, 2, 5), (50, 20, 2, 0), (0, 0, WHOLE, 9)):
        pairs = []
        for _ in range(40):
            target = bases(rng.random(), rng.randint(60, 220))
            query = mutated(rng, target, b"ACGT", rng.choice((0.02, 0.1, 0.2)))[: rng.randint(50, 220)]
            pairs.append((query, target))
        spec = spec_of("affine2p", values, match=match, mode="ends-free", free=free)
        assert_exact(pairs, spec, Way(kernel=DIFFERENCE, isa=isa))
