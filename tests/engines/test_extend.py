"""Scored alignment: every kernel and instruction set gives the oracle's alignments and parasail's scores."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from tests import pairgen
from tests.oracle_local import MODES, optima, score_of, second_best
from tests.oracle_spans import Optimum
from wfacli._native import instruction_sets
from wfacli.config import MIB, Limits
from wfacli.core.batch import Status
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

from .extending import SCHEMES, extended, optima_of, parasail_scores, spec_of

TIMES = int(os.environ.get("WFACLI_FUZZ") or 1)  # multiplier of the number of pairs
KERNELS = ("lanes", "strips")
BLOSUM62, PLAIN = SCHEMES["BLOSUM62"][0], SCHEMES["2,4,4,2"][0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SCHEMES)
def test_alignments_are_the_oracles(name: str, mode: str) -> None:
    scheme, charged, alphabet = SCHEMES[name]
    seed = random.Random(f"{name} {mode}").randrange(1000)
    for times in range(TIMES):
        pairs = pairgen.random_pairs(seed + times, 120, 68, pairgen.ALPHABETS[alphabet])
        expected = optima(pairs, charged, mode)
        for isa in instruction_sets():
            for kernel in KERNELS:
                for wide in (False, True)[: 1 + (kernel == "strips")]:
                    say = (name, mode, seed + times, isa, kernel, wide)
                    found = extended(pairs, spec_of(scheme, mode), isa=isa, kernel=kernel, wide=wide)
                    for pair, one, other in zip(pairs, optima_of(found), expected, strict=True):
                        assert one == other, (*say, pair)
                    alone = extended(pairs, spec_of(scheme, mode, score_only=True), isa=isa, kernel=kernel, wide=wide)
                    assert alone.score.tolist() == [other.score for other in expected], say
                    assert not len(alone.cigar)


@pytest.mark.parametrize("mode", MODES)
def test_all_lengths_around_a_vector(mode: str) -> None:
    scheme, charged, _ = SCHEMES["2,4,4,2"]
    pairs = pairgen.all_lengths(3, 20, b"ACGT")
    expected = optima(pairs, charged, mode)
    for kernel in KERNELS:
        assert optima_of(extended(pairs, spec_of(scheme, mode), kernel=kernel)) == expected


@pytest.mark.parametrize("mode", ["local", "semiglobal", "global"])
@pytest.mark.parametrize("scheme", [BLOSUM62, PLAIN], ids=["protein", "dna"])
def test_lengths_at_the_edges_of_strips_and_vectors(scheme: Scheme, mode: str) -> None:
    symbols = pairgen.ALPHABETS["protein" if scheme is BLOSUM62 else "ACGT"]
    pairs = [pair for pair in pairgen.edge_pairs(11, symbols) if all(pair)]
    scores = parasail_scores(pairs, scheme, mode)
    charged = SCHEMES["BLOSUM62" if scheme is BLOSUM62 else "2,4,4,2"][1]
    answers = []
    for isa in instruction_sets():
        for kernel in KERNELS:
            answers.append(optima_of(extended(pairs, spec_of(scheme, mode), isa=isa, kernel=kernel)))
            assert [one.score for one in answers[-1] if isinstance(one, Optimum)] == scores
            assert answers[-1] == answers[0]
    for pair, one in zip(pairs, answers[0], strict=True):
        assert isinstance(one, Optimum) and score_of(*pair, charged, one) == one.score


def long_pairs(seed: int, lengths: list[int], symbols: bytes, error: float) -> list[tuple[bytes, bytes]]:
    rng = random.Random(seed)
    targets = [pairgen.sequence(rng, length, symbols) for length in lengths]
    return [(pairgen.mutated(rng, target, symbols, error), target) for target in targets]


@pytest.mark.parametrize("mode", MODES)
def test_long_pairs_and_little_memory(mode: str) -> None:
    # 16,384 columns are processed at a time; 1 MiB holds the rows of only some strips, so that a second pass is
    # needed.
    pairs = [*long_pairs(5, [700, 3000], b"ACGT", 0.1), (b"ACGT" * 20, (b"TTTTCCCC" + b"ACGT" * 20) * 200)]
    spec, charged = spec_of(PLAIN, mode), SCHEMES["2,4,4,2"][1]
    ample = optima_of(extended(pairs, spec))
    assert optima_of(extended(pairs, spec, Limits(1 << 19, 1 << 19), kernel="strips")) == ample
    assert optima_of(extended(pairs, spec, wide=True)) == ample
    if mode != "extension":
        assert [one.score for one in ample if isinstance(one, Optimum)] == parasail_scores(pairs, PLAIN, mode)
    for pair, one in zip(pairs, ample, strict=True):
        assert isinstance(one, Optimum) and score_of(*pair, charged, one) == one.score


def test_too_little_memory_is_a_status() -> None:
    pairs = long_pairs(5, [3000], b"ACGT", 0.1)
    found = extended(pairs, spec_of(PLAIN, "global"), Limits(1024, 1024))
    assert optima_of(found) == [Status.MEMORY_LIMIT]
    assert extended(pairs, spec_of(PLAIN, "global", score_only=True), Limits(1024, 1024)).status[0] == Status.OK


@pytest.mark.parametrize("match", [1, 2, 126, 127])
def test_scores_that_outgrow_8_and_16_bits(match: int) -> None:
    scheme = Scheme.of_scores(match, 4, 4, 2)
    lengths = [60, 62, 63, 64, 115, 116, 120, 122, 123, 124, 125, 126, 127, 240, 247, 248, 249, 250, 257, 258, 259]
    sequences = [pairgen.sequence(random.Random(n), n, b"ACGT") for n in lengths]
    for kernel in KERNELS:
        found = extended([(s, s) for s in sequences], spec_of(scheme, "local", score_only=True), kernel=kernel)
        assert found.score.tolist() == [match * n for n in lengths]
        found = extended([(s, s) for s in sequences], spec_of(scheme, "local"), kernel=kernel)
        assert [one.cigar for one in optima_of(found)] == [f"{n}=" for n in lengths]


def test_costs_that_16_bits_do_not_hold() -> None:
    scheme = Scheme.of_scores(5, 120, 10_000, 10_000)
    pairs = long_pairs(9, [40, 300], b"ACGT", 0.2)
    for mode in ("local", "semiglobal", "global"):
        assert extended(pairs, spec_of(scheme, mode)).score.tolist() == parasail_scores(pairs, scheme, mode)


@pytest.mark.parametrize("mode", ["local", "semiglobal"])
def test_second_best(mode: str) -> None:
    scheme, charged, alphabet = SCHEMES["2,4,4,2"]
    pairs = pairgen.random_pairs(21, 60, 40, pairgen.ALPHABETS[alphabet])
    best = optima(pairs, charged, mode)
    expected = [second_best(*pair, charged, mode, one) for pair, one in zip(pairs, best, strict=True)]
    for score_only in (False, True):
        found = extended(pairs, ExtendSpec(scheme, ExtendMode(mode), score_only, second_best=True))
        assert found.second is not None and found.second.tolist() == expected
        assert found.score.tolist() == [one.score for one in best]
        assert score_only or optima_of(found) == best
    assert extended(pairs, spec_of(scheme, mode)).second is None


def test_answers_depend_on_no_company_and_no_thread() -> None:
    pairs = pairgen.random_pairs(31, 300, 120, b"ACGTN")
    spec = ExtendSpec(PLAIN, second_best=True)
    alone, rows = extended(pairs, spec), list(range(len(pairs)))
    random.Random(1).shuffle(rows)
    for threads in (1, 4):
        shuffled = extended(pairs, spec, threads=threads, rows=rows)
        assert optima_of(shuffled) == [optima_of(alone)[row] for row in rows]
        assert alone.second is not None and shuffled.second is not None
        assert (shuffled.second == alone.second[np.array(rows)]).all()


def test_symbols_without_scores_are_unsupported() -> None:
    found = extended([(b"ACDE", b"ACDE"), (b"ACUE", b"ACDE"), (b"", b"J")], spec_of(BLOSUM62, "local"))
    assert found.status.tolist() == [Status.OK, Status.UNSUPPORTED, Status.UNSUPPORTED]


def test_memory_limits_of_the_command_line_suffice_for_long_reads() -> None:
    assert Limits().table + Limits().checkpoints == 784 * MIB


@pytest.mark.parametrize("mode", ["extension", "semiglobal", "global"])
def test_scores_that_fall_below_what_16_bits_hold(mode: str) -> None:
    # Scores below the 16-bit range do not matter far from the first pair's path, but the second pair's path has some.
    scheme = Scheme.of_scores(2, 4, 4, 9)
    pairs = [*long_pairs(6, [8000], b"ACGT", 0.1), (b"ACGT" * 50, b"GATTACA" * 2000)]
    spec = spec_of(scheme, mode)
    assert optima_of(extended(pairs, spec)) == optima_of(extended(pairs, spec, wide=True))
