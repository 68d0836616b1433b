"""The band of the wavefront kernels gives the CPU engine's answers, and the same flag for dropped cells."""

from __future__ import annotations

import random

import pytest

from tests.emulation.wavefronts import AFFINE, EDIT, TWO_NEAR, align
from tests.pairgen import mutated, random_pairs, sequence
from tests.thorough import in_turn
from wfacli import Heuristics, api
from wfacli.core.batch import Status
from wfacli.gpu.kernels.wfa import BANDED, BLOCKS, CODES, NO_TRACE, Variant

KINDS = {
    0: (EDIT, {"metric": "edit"}),
    1: (AFFINE, {"penalties": (4, 6, 2)}),
    2: (TWO_NEAR, {"metric": "affine2p", "penalties": (4, 4, 2, 8, 1)}),
}


def by_cpu(pairs, kind, band):
    """Return (status, score, CIGAR, cut) of each pair."""
    queries, targets = zip(*pairs, strict=True)
    with api.Aligner(heuristics=Heuristics(band=band[0], band_step=band[1]), threads=1, **KINDS[kind][1]) as aligner:
        found = aligner.align_batch(queries, targets)
    return [(a.status, a.score, a.cigar, not a.exact) for a in found]


# Threads with several columns each, and with two, as in the catalogue.
NARROW, BLOCK = {"threads": 32, "group": 8, "width": 1024}, {"threads": 128, "group": 128, "width": 256}


BUILDS = [(CODES, NARROW), (BLOCKS, NARROW), (CODES, BLOCK)]
BANDS = [(3, 2), (5, 7), (10, 0), (2, 1)]
CASES = in_turn([(kind, *build, band) for band in BANDS for kind in KINDS for build in BUILDS], 2)


@pytest.mark.parametrize(("kind", "trace", "size", "band"), CASES)
def test_band_is_the_cpus(kind, trace, size, band):
    rng = random.Random(21)
    pairs = [pair for pair in random_pairs(21, 60, 150, b"ACGT") if all(pair)]
    for error in (0.05, 0.2):
        target = sequence(rng, 400, b"ACGT")
        pairs.append((mutated(rng, target, b"ACGT", error), target))
    scheme, _ = KINDS[kind]
    unit = 2 if kind == 1 else 1
    expected = by_cpu(pairs, kind, band)
    kernel = Variant(pieces=kind, trace=trace, outside=BANDED, **size)
    for order in (0, 1):
        got = align(kernel, pairs, scheme, band=band, order=order, op_capacity=800, max_cost=2000, trace_cost=1500)
        for p, pair in enumerate(pairs):
            status, score, cigar, cut = expected[p]
            if status is Status.OK:
                answer = (got.status[p], -unit * got.cost[p], got.cigar[p], bool(got.cut[p]))
                assert answer == (status, score, cigar, cut), f"pair {p} of seed 21, {pair!r}"
            else:
                assert got.status[p] is status, f"pair {p} of seed 21, {pair!r}"


def test_band_wider_than_shared_memory_is_told():
    pairs = [(b"ACGT" * 20, b"TTGC" * 40), (b"ACGTA", b"ACGTA")]
    found = align(Variant(32, 8, 1, NO_TRACE, 16, outside=BANDED), pairs, AFFINE, band=(30, 5), max_cost=2000)
    assert found.status == [Status.MEMORY_LIMIT, Status.OK]


# Tracebacks through the rows of several threads, and through one thread's rows with runs longer than codes hold. A
# band that does not move says little about the position of the path.
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_of_a_path(kind):
    rng, pairs = random.Random(5), []
    for error, length in ((0.3, 2500), (0.15, 6000)):
        target = sequence(rng, length, b"ACGT")
        pairs.append((mutated(rng, target, b"ACGT", error), target))
    same = sequence(rng, 9000, b"ACGT")
    pairs.append((pairs[0][0] + same + pairs[0][1], pairs[0][1] + same + pairs[0][0]))
    pairs.append((pairs[0][0][:900] + pairs[0][0][960:], pairs[0][1]))
    kernel = Variant(pieces=kind, trace=CODES, outside=BANDED, offset=32, **BLOCK)
    for band in ((30, 10), (50, 0)):
        expected = by_cpu(pairs, kind, band)
        got = align(kernel, pairs, KINDS[kind][0], band=band, op_capacity=20000, max_cost=60000, stride=16 << 20)
        unit = 2 if kind == 1 else 1
        for p, (status, score, cigar, cut) in enumerate(expected):
            answer = (got.status[p], -unit * got.cost[p], got.cigar[p], bool(got.cut[p]))
            assert answer == (status, score, cigar, cut), f"pair {p}, band {band}"
        assert max(got.cost) > 600, "more than one thread's rows"
