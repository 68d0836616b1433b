"""The end of an extension until a Z-drop, by its definition (native/kernels/extension_rule.hpp), from every kernel."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from tests import pairgen
from tests.oracle_spans import RULES, Pair
from wfacli._native import instruction_sets
from wfacli.config import AlignSpec, Ambiguous, Heuristics, Metric, Mode, Penalties
from wfacli.core.batch import Status

from .helpers import engine, through

NEVER = 1 << 40
SCHEMES = {
    "affine": Penalties(match=2, mismatch=4, gaps=((4, 2),)),
    "linear": Penalties(match=1, mismatch=1, gaps=((0, 1),)),
    "ONT": Penalties(match=2, mismatch=4, gaps=((4, 2), (24, 1))),
    "assembly": Penalties(match=1, mismatch=19, gaps=((39, 3), (81, 1))),
    "free extension": Penalties(match=3, mismatch=1, gaps=((1, 1), (6, 1))),
}


@dataclass(frozen=True)
class End:
    """The end of an extension: whether a Z-drop stopped it, its score, and its bases of query and target."""

    cut: bool
    score: int
    query: int
    target: int


def costs_of(query: bytes, target: bytes, scheme: Penalties, rule: str) -> list[list[int]]:
    """Return the cost of the best path to each cell, in which a match costs 0 (docs/internals/kernels.md)."""
    n, m, b = len(query), len(target), scheme.match
    mismatch, gaps = 2 * (scheme.mismatch + b), [(2 * o, 2 * e + b) for o, e in scheme.gaps]
    cost = [[NEVER] * (m + 1) for _ in range(n + 1)]
    into = [[[NEVER] * (m + 1) for _ in range(n + 1)] for _ in range(2 * len(gaps))]
    cost[0][0] = 0
    for i, j in itertools.product(range(n + 1), range(m + 1)):
        found = [cost[i][j]]
        for number, (opening, extension) in enumerate(gaps):
            for state, (x, y) in ((into[2 * number], (i - 1, j)), (into[2 * number + 1], (i, j - 1))):
                if x >= 0 and y >= 0:
                    state[i][j] = extension + min(state[x][y], opening + cost[x][y])
                    found.append(state[i][j])
        if i and j:
            found.append(cost[i - 1][j - 1] + (0 if RULES[rule](query[i - 1], target[j - 1]) else mismatch))
        cost[i][j] = min(found)
    return cost


def end_of(query: bytes, target: bytes, scheme: Penalties, zdrop: int, rule: str) -> End:
    """Return the end of an extension, place by place as the definition has it."""
    n, m, b = len(query), len(target), scheme.match
    cost = costs_of(query, target, scheme, rule)
    cells = [(i, j) for i in range(n + 1) for j in range(m + 1)]
    extension = 2 * scheme.gaps[0][1]  # per diagonal, as twice a score
    value = {(i, j): b * (i + j) - cost[i][j] for i, j in cells}
    highest = {s: highest_value(n, m, scheme, s) for s in {cost[i][j] for i, j in cells}}
    best = 0, 0
    for place in range(n + m + 1):
        for i in range(max(0, place - m), min(n, place) + 1):
            if value[i, place - i] > value[best]:
                best = i, place - i
        if place == n + m:
            break
        beyond = [(i, j) for i, j in cells if i + j >= place]
        reach = min(cost[i][j] for i, j in beyond)
        if highest[reach] <= value[best]:
            break
        nearest = min(abs((j - i) - (best[1] - best[0])) for i, j in beyond if cost[i][j] == reach)
        if zdrop and value[best] - (b * place - reach) > 2 * zdrop + extension * nearest:
            return End(True, value[best] // 2, *best)
    return End(False, value[best] // 2, *best)


def highest_value(n: int, m: int, scheme: Penalties, least: int) -> int:
    """Return an upper bound of the value of paths that cost at least `least`: of matches and one gap at an end."""
    values = []
    for gap in range(abs(n - m) + 1):
        cost = min((2 * o + gap * (2 * e + scheme.match) for o, e in scheme.gaps), default=0) if gap else 0
        values.append(scheme.match * (2 * min(n, m) + gap) - max(cost, least))
    return max(values)


def ends(spec: AlignSpec, pairs: Sequence[Pair], kernel: str, isa: str) -> list[End]:
    """Return the ends that a kernel finds, without and with paths, which must agree."""
    answers = []
    for score_only in (True, False):
        with engine(replace(spec, score_only=score_only), isa=isa) as cpu:
            found = through(cpu, pairs, kernel)
        assert set(found.status.tolist()) == {Status.OK}
        assert not found.span[:, [0, 2]].any()
        rows = zip(
            found.cut.tolist(), found.score.tolist(), found.span[:, 1].tolist(), found.span[:, 3].tolist(), strict=True
        )
        answers.append([End(bool(cut), score, q, t) for cut, score, q, t in rows])
    assert answers[0] == answers[1]
    return answers[0]


def drawn(rng: random.Random, count: int, symbols: bytes) -> list[Pair]:
    """Return pairs that are similar up to some place, and unrelated, shifted or similar again after it."""
    pairs = []
    for _ in range(count):
        parts = [pairgen.sequence(rng, rng.randint(0, 14), symbols) for _ in range(rng.randint(1, 4))]
        query, target = b"", b""
        for part in parts:
            kind = rng.choice(("similar", "similar", "unrelated", "query", "target"))
            query += b"" if kind == "target" else pairgen.mutated(rng, part, symbols, rng.choice((0, 0.1, 0.3)))
            target += (
                b"" if kind == "query" else pairgen.sequence(rng, len(part), symbols) if kind == "unrelated" else part
            )
        pairs.append((query, target))
    return pairs


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("rule", ["mismatch", "wildcard"])
def test_ends_of_all_kernels(name: str, rule: str) -> None:
    rng = random.Random(f"{name} {rule}")
    scheme, symbols = SCHEMES[name], b"ACGTN" if rule == "wildcard" else b"ACGT"
    metric = Metric.AFFINE if len(scheme.gaps) == 1 else Metric.AFFINE2P
    for zdrop in (0, 1, 3, 8, 20):
        pairs = drawn(rng, 60, symbols)
        wanted = [end_of(*pair, scheme, zdrop, rule) for pair in pairs]
        spec = AlignSpec(metric, scheme, Ambiguous(rule), Mode.EXTENSION, heuristics=Heuristics(zdrop=zdrop))
        # A band, however wide, leaves all pairs to the wavefront; without one, noisy pairs go to all cells.
        wavefront = replace(spec, heuristics=Heuristics(band=1000, zdrop=zdrop))
        for isa in instruction_sets():
            for kernel, one in (("wavefront-table", spec), ("wavefront-table", wavefront), ("gotoh", spec)):
                for pair, want, found in zip(pairs, wanted, ends(one, pairs, kernel, isa), strict=True):
                    assert found == want, (pair, zdrop, kernel, one.heuristics, isa)
