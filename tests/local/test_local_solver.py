"""The native solver of one local alignment against the oracle of all its cells."""

import random

import numpy as np
import pytest

from tests import oracle_local, pairgen
from tests.oracle_spans import Optimum
from wfacli import _native
from wfacli.scoring.scheme import Scheme

NO_RUNS = np.zeros((0, 3), np.int64)
# A tile of few columns, directions of a strip alone, every strip's last row kept: all edges come into play.
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
