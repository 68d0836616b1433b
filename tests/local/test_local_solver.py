"""Compare the native solver of one local alignment with the full-matrix oracle, parasail, and itself."""

import random

import numpy as np
import parasail
import pytest

from tests import oracle_local, pairgen
from tests.oracle_spans import Optimum
from wfacli import _native
from wfacli.scoring.scheme import Scheme

NO_RUNS = np.zeros((0, 3), np.int64)
# Narrow tiles, directions of one strip, and the last row of every strip saved: all boundaries are crossed.
TINY = {"steps": 16, "trace": 1, "memory": 1}
DNA = [(2, 4, 4, 2), (1, 1, 0, 1), (5, 4, 8, 0), (2, 0, 3, 1), (127, 127, 0, 1), (1, 3, 200, 30)]
PROTEIN = [("BLOSUM62", 11, 1), ("PAM250", 14, 2), ("BLOSUM50", 0, 5)]


def solver(query, target, scheme, barred=NO_RUNS, **options):
    codes = [scheme.codes[np.frombuffer(side, np.uint8)] for side in (query, target)]
    return _native.LocalSolver(*codes, scheme.matrix, scheme.open, scheme.extend, scheme.same, barred, **options)


def text(cigar):
    return "".join(f"{op >> 4}{'MIDNSHP=X'[op & 15]}" for op in cigar.tolist()) or "*"


def best(query, target, scheme, barred=NO_RUNS, **options):
    running = solver(query, target, scheme, barred, **options)
    while not running.advance(0):
        pass
    score, span, cigar = running.alignment()
    return Optimum(score, text(cigar), span)


def pairs(rng, count, alphabet, most=90):
    for _ in range(count):
        query = pairgen.sequence(rng, rng.randint(0, most), alphabet)
        if rng.random() < 0.3:
            yield query, pairgen.sequence(rng, rng.randint(0, most), alphabet)
        else:
            part = query[rng.randint(0, 20) :]
            yield query, pairgen.mutated(rng, part, alphabet, rng.choice((0, 0.05, 0.2, 0.5)))[:most]


def schemes():
    for numbers in DNA:
        yield Scheme.of_scores(*numbers), oracle_local.charges(*numbers), (b"A", b"AC", b"ACGT", b"ACGTNacgtu")
    yield Scheme.of_scores(2, 3, 4, 1, n_score=0), oracle_local.charges(2, 3, 4, 1, n_score=0), (b"ACGTN",)
    for name, opening, extend in PROTEIN:
        scheme = Scheme.of_matrix(name, (opening, extend))
        yield scheme, oracle_local.protein_charges(name, opening, extend), (b"ARNDCQEGHILKMFPSTVWYBZX*", b"WF")


@pytest.mark.parametrize("isa", _native.instruction_sets())
def test_small_pairs_have_the_oracles_alignment(isa):
    rng = random.Random(7)
    for scheme, charged, alphabets in schemes():
        for alphabet in alphabets:
            several = list(pairs(rng, 12, alphabet))
            for (query, target), want in zip(several, oracle_local.optima(several, charged, "local"), strict=True):
                for options in ({}, {"prune": False}, TINY | {"threads": rng.choice((1, 2))}):
                    found = best(query, target, scheme, isa=isa, **options)
                    assert found == want, (scheme.name, scheme.open, scheme.extend, query, target, options)


def test_other_lanes_threads_tiles_and_memory_change_nothing():
    rng = random.Random(8)
    scheme, charged = Scheme.of_scores(3, 2, 3, 1), oracle_local.charges(3, 2, 3, 1)
    matrix = parasail.matrix_create("ACGT", 3, -2)
    ways = [{"isa": isa} for isa in _native.instruction_sets()]
    ways += [{"threads": 2, "steps": 32}, {"prune": False, "trace": 1}, {"memory": 1, "trace": 1 << 16, "threads": 2}]
    for length, error in ((255, 0.1), (256, 0.3), (257, 0.02), (1025, 0.2), (2049, 0.6), (2600, 0.05)):
        query = pairgen.sequence(rng, length, b"ACGT")
        target = pairgen.sequence(rng, 300, b"ACGT") + pairgen.mutated(rng, query, b"ACGT", error)
        found = [best(query, target, scheme, **way) for way in ways]
        assert found == found[:1] * len(ways), (query, target)
        assert found[0].score == parasail.sw_scan_32(query.decode(), target.decode(), 4, 1, matrix).score
        assert oracle_local.score_of(query, target, charged, found[0]) == found[0].score


@pytest.mark.parametrize("isa", _native.instruction_sets())
def test_scores_far_beyond_16_bits(isa):
    """Includes sequences before and after the high-scoring ridge, and a gap across several tiles."""
    rng = random.Random(9)
    scheme, charged = Scheme.of_scores(11, 9, 20, 1), oracle_local.charges(11, 9, 20, 1)
    shared = [pairgen.sequence(rng, 5000, b"ACGT") for _ in range(2)]
    gap = pairgen.sequence(rng, 1500, b"ACGT")
    query = pairgen.sequence(rng, 700, b"ACGT") + b"".join(shared) + pairgen.sequence(rng, 900, b"ACGT")
    target = shared[0] + gap + pairgen.mutated(rng, shared[1], b"ACGT", 0.05)
    want = parasail.sw_scan_32(query.decode(), target.decode(), 21, 1, parasail.matrix_create("ACGT", 11, -9)).score
    assert want > 100_000
    for way in ({}, {"prune": False}, {"memory": 1, "trace": 1 << 16}):
        found = best(query, target, scheme, isa=isa, **way)
        assert found.score == want
        assert oracle_local.score_of(query, target, charged, found) == want
    assert best(target, query, scheme, isa=isa).score == want


def test_goes_on_from_a_state():
    rng = random.Random(10)
    scheme = Scheme.of_scores(2, 4, 4, 2)
    query = pairgen.sequence(rng, 4000, b"ACGT")
    target = pairgen.mutated(rng, query, b"ACGT", 0.2)
    want = best(query, target, scheme)
    running = solver(query, target, scheme)
    assert not running.advance(0)
    assert not running.position[1]
    state = running.save()
    for threads in (1, 2):
        other = solver(query, target, scheme, threads=threads)
        other.restore(state)
        assert 0 < other.position[2] < 1
        while not other.advance(0):
            pass
        score, span, cigar = other.alignment()
        assert Optimum(score, text(cigar), span) == want
    with pytest.raises(ValueError, match="of other sequences"):
        solver(query[1:], target, scheme).restore(state)
    with pytest.raises(ValueError, match="of a run with other memory"):
        solver(query, target, scheme, memory=1).restore(state)
    for name, damage in (("row", lambda a: a[1:]), ("numbers", lambda a: a - 1), ("kept", lambda a: a[:-1])):
        with pytest.raises(ValueError, match="the state is"):
            solver(query, target, scheme).restore(state | {name: damage(state[name])})


def test_what_makes_no_sense_is_refused():
    good = Scheme.of_scores(2, 4, 4, 2)
    with pytest.raises(ValueError, match="not one of the scheme's"):
        _native.LocalSolver(np.array([7], np.uint8), good.codes[:0], good.matrix, 4, 2, good.same, NO_RUNS)
    with pytest.raises(ValueError, match="must cost something"):
        _native.LocalSolver(good.codes[:0], good.codes[:0], good.matrix, 0, 0, good.same, NO_RUNS)
    with pytest.raises(ValueError, match="outside the sequences"):
        solver(b"ACGT", b"ACGT", good, np.array([[2, 0, 3]], np.int64))
    with pytest.raises(ValueError, match="not come to its end"):
        solver(b"ACGT", b"ACGT", good).alignment()
    with pytest.raises(ValueError, match="2\\^30"):
        long = np.zeros(9_000_000, np.uint8)
        _native.LocalSolver(long, long, np.full((1, 1), 127, np.int8), 4, 2, np.ones(1, np.uint8), NO_RUNS)
