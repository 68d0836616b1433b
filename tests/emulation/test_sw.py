"""Scored alignment in groups of lanes, with stripes and parts so small that short pairs cross all their edges."""

from __future__ import annotations

import functools
import os
import random

import pytest

from tests.emulation.sw_batches import TINY, launch_sw
from tests.engines.extending import SCHEMES, extended, optima_of, spec_of
from tests.oracle_local import MODES, optima
from tests.oracle_spans import Optimum, Pair
from tests.pairgen import mutated, sequence
from wfacli.core.batch import Status
from wfacli.gpu.kernels import sw
from wfacli.scoring.scheme import Scheme

SYMBOLS = {
    "mixed": b"ACGTNacgtRYU",
    "AC": b"AC",
    "ACGT": b"ACGT",
    "ACGTN": b"ACGTN",
    "iupac": b"ACGTRYSWKMBDHVN",
    "protein": b"ARNDCQEGHILKMFPSTWYVX",
}
# Lengths around the ends of lanes, stripes and parts of the tiny builds.
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50, 127, 128, 129)
NARROW, BROAD, WIDE, WHOLE = TINY[0], *TINY[-3:]
# Each build and rule takes seconds to compile: `make fuzz` tests all, engine tests those of the catalogue.
ALL = [(build, mode) for build in (*TINY, *sw.BUILDS, *sw.ALL_DIRECTIONS, sw.WIDE) for mode in MODES]
FEW = [(NARROW, mode) for mode in MODES] + [(WIDE, "local")]
FEW += [(build, mode) for build in (BROAD, WHOLE) for mode in ("local", "global")]


@functools.cache
def some_pairs(symbols: str, seed: int = 6) -> list[Pair]:
    """Return similar pairs with dissimilar parts, and dissimilar pairs, of even and odd lengths."""
    rng, alphabet = random.Random(seed), SYMBOLS[symbols]
    pairs = []
    for number, length in enumerate(LENGTHS):
        target = sequence(rng, length, alphabet)
        inner = mutated(rng, target, alphabet, 0.2)
        pairs.append(
            (sequence(rng, number % 5, alphabet) + inner + sequence(rng, 20 * (number % 2), alphabet), target)
        )
        pairs.append((sequence(rng, rng.choice(LENGTHS[:13]), alphabet), sequence(rng, length, alphabet)))
    return [(query or b"A", target) for query, target in pairs]


@functools.cache
def wanted(scheme: str, mode: str) -> list[Optimum | Status]:
    """Return the CPU's answers, which other tests compare with the oracle."""
    return optima_of(extended(some_pairs(SCHEMES[scheme][2]), spec_of(SCHEMES[scheme][0], mode)))


def scores(found: list[Optimum | Status]) -> list[int | Status]:
    return [one.score if isinstance(one, Optimum) else one for one in found]


@pytest.mark.parametrize(("build", "mode"), ALL if os.environ.get("WFACLI_FUZZ") else FEW, ids=str)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_as_the_cpu(scheme: str, mode: str, build: sw.Build) -> None:
    rules, symbols = SCHEMES[scheme][0], SCHEMES[scheme][2]
    order = list(SCHEMES).index(scheme) % 2
    found = launch_sw(some_pairs(symbols), rules, sw.Rule[mode.upper()], build, True, order, grid=1 + order)
    assert found == wanted(scheme, mode)


@pytest.mark.parametrize("mode", MODES if os.environ.get("WFACLI_FUZZ") else ["local"])
@pytest.mark.parametrize("scheme", ["2,4,4,2", "BLOSUM62"])
def test_scores_alone(scheme: str, mode: str) -> None:
    found = launch_sw(some_pairs(SCHEMES[scheme][2]), SCHEMES[scheme][0], sw.Rule[mode.upper()], NARROW, False)
    assert scores(found) == scores(wanted(scheme, mode))


@pytest.mark.parametrize("mode", MODES)
def test_as_the_oracle(mode: str) -> None:
    """Test many ties: cheap gaps, two symbols."""
    scheme, charged, symbols = SCHEMES["1,1,0,1"]
    pairs = [pair for pair in some_pairs(symbols, 8) if max(map(len, pair)) < 40]
    assert launch_sw(pairs, scheme, sw.Rule[mode.upper()], NARROW, True) == optima(pairs, charged, mode)


@pytest.mark.parametrize("most", [14, 15])
def test_where_keys_do_not_hold_scores(most: int) -> None:
    """129 matches of score 14 fit in a 16-bit key beside the column, those of score 15 do not.

    A mismatch also costs more than two gaps.
    """
    scheme = Scheme.parse(f"{most},19,3,1")
    pairs = some_pairs("ACGT")
    pairs.append((b"ACGTT" * 26, b"ACGTT" * 26))
    pairs = [(query[:129], target[:129]) for query, target in pairs]
    assert launch_sw(pairs, scheme, sw.Rule.LOCAL, WHOLE, True) == optima_of(extended(pairs, spec_of(scheme, "local")))


@pytest.mark.parametrize("mode", MODES)
def test_at_the_edge_of_16_bits(mode: str) -> None:
    """The maximum score of 16 bits is answered, one match more is not; the other pair is far from the limit."""
    rule, scheme = sw.Rule[mode.upper()], Scheme.parse("127,127,200,1")
    held = (0xFFFF - 203 - 127) // 127 if mode == "local" else _held(scheme, rule)
    longest = held
    for more in (0, 1):
        pairs: list[Pair] = [(b"A" * (longest + more), b"A" * (longest + more)), (b"ACGT", b"AGT")]
        want = optima_of(extended(pairs, spec_of(scheme, mode)))
        found = launch_sw(pairs, scheme, rule, NARROW, True)
        if more and mode == "local":
            assert launch_sw(pairs, scheme, rule, WIDE, True) == want
            assert found == [Status.SCORE_LIMIT, want[1]]
        else:
            assert found == want
    assert longest > 200


def _held(scheme: Scheme, rule: sw.Rule) -> int:
    return sw.Scores.of(scheme.matrix, scheme.same, scheme.open, scheme.extend).longest(16, rule)


@pytest.mark.parametrize("mode", ["semiglobal", "global", "extension"])
def test_low_scores_of_16_bits(mode: str) -> None:
    """Test pairs without matches, with the largest gap costs of 16 bits, beside pairs long in the other sequence."""
    scheme = Scheme.parse("1,127,5000,5")
    assert _held(scheme, sw.Rule.GLOBAL) > 130
    pairs: list[Pair] = [
        (b"A" * 130, b"C" * 2),
        (b"G" * 3, b"T" * 130),
        (b"A" * 125 + b"CCC", b"CCC"),
        (b"ACG", b"ACG"),
    ]
    found = launch_sw(pairs, scheme, sw.Rule[mode.upper()], NARROW, True)
    assert found == optima_of(extended(pairs, spec_of(scheme, mode)))


def test_too_many_operations() -> None:
    """A pair without room for its CIGAR gets MEMORY_LIMIT; the other pair of its group is unaffected."""
    scheme = SCHEMES["2,4,4,2"][0]
    pairs: list[Pair] = [(b"ACGT" * 4, b"ACGT" * 4), (b"ACGTACGTACGAACGTTCGT", b"ACGTACGTACGTACGTACGT")]
    want = optima_of(extended(pairs, spec_of(scheme, "global")))
    assert launch_sw(pairs, scheme, sw.Rule.GLOBAL, NARROW, True, capacity=5) == want
    assert launch_sw(pairs, scheme, sw.Rule.GLOBAL, NARROW, True, capacity=4) == [want[0], Status.MEMORY_LIMIT]


def test_nothing_that_scores() -> None:
    scheme = SCHEMES["2,4,4,2"][0]
    pairs: list[Pair] = [(b"AAAA", b"CCCCCCCC"), (b"A" * 40, b"G"), (b"N", b"N")]
    for mode in ("local", "extension"):
        found = launch_sw(pairs, scheme, sw.Rule[mode.upper()], NARROW, True)
        assert found == [Optimum(0, "*", (0, 0, 0, 0))] * 3
