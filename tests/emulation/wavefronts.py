"""Run pairs through an emulated wavefront kernel, and compare the answers with the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from tests.emulation.launching import Kernels, address, aligned
from tests.oracle_spans import RULES, Optimum, optima, replay_span
from tests.pairgen import Pair
from wfacli.config import Metric, Penalties
from wfacli.core.batch import Status
from wfacli.gpu.kernels.wfa import Variant
from wfacli.gpu.runtime.task import ALIGN_TASK, GUARD

EDIT = Penalties.of(Metric.EDIT, None, 0)
LINEAR = Penalties.of(Metric.LINEAR, (3, 2), 0)
AFFINE = Penalties.of(Metric.AFFINE, (4, 6, 2), 0)
ODD = Penalties.of(Metric.AFFINE, (1, 1, 3), 0)
TWO = Penalties.of(Metric.AFFINE2P, (4, 6, 2, 24, 1), 0)
TWO_NEAR = Penalties.of(Metric.AFFINE2P, (4, 4, 2, 8, 1), 0)
UNBOUNDED = (1 << 30) - 1
_CODES = {"wildcard": dict(zip(b"ACGTUN", (1, 2, 4, 8, 8, 15), strict=True))}


@dataclass(frozen=True)
class Answers:
    """Status, cost in units, CIGAR and band cut flag of each pair."""

    status: list[Status]
    cost: list[int]
    cigar: list[str]
    cut: list[int]


def in_units(scheme: Penalties) -> tuple[int, int, list[tuple[int, int]]]:
    """Return the costs' greatest common divisor, and mismatch and gaps divided by it."""
    unit = gcd(scheme.mismatch, *(v for gap in scheme.gaps for v in gap))
    return unit, scheme.mismatch // unit, [(o // unit, e // unit) for o, e in scheme.gaps]


def _columns(pairs: Sequence[Pair], rule: str) -> dict[str, np.ndarray]:
    groups = [-(-len(sequence) // 16) for pair in pairs for sequence in pair]
    starts = np.concatenate([[0], np.cumsum(groups)])[:-1].reshape(-1, 2)
    bases = np.zeros(16 * (sum(groups) + 2 * GUARD), np.uint8)
    # Symbols that match nothing have different codes in queries and targets.
    codes = np.full((16 * sum(groups) + 16), 254, np.uint8)
    for pair, start in zip(pairs, starts, strict=True):
        for side, (sequence, at) in enumerate(zip(pair, start, strict=True)):
            symbols = np.frombuffer(sequence, np.uint8)
            bases[16 * (GUARD + at) :][: len(symbols)] = symbols
            coded = [
                _CODES["wildcard"].get(b, 0) if rule == "wildcard" else b if b in b"ACGT" else side for b in sequence
            ]
            codes[16 * at :][: len(symbols)] = coded
    packed = (bases.reshape(-1, 16) >> 1 & 3).astype(np.uint32) << (2 * np.arange(16, dtype=np.uint32))
    words = aligned(len(packed), np.uint32)
    words[:] = packed.sum(1, dtype=np.uint32)
    lengths = np.array([[len(q), len(t)] for q, t in pairs], np.int32).reshape(-1, 2)
    return {
        "packed": words,
        "codes": codes,
        "query_start": np.ascontiguousarray(starts[:, 0].astype(np.uint32)),
        "target_start": np.ascontiguousarray(starts[:, 1].astype(np.uint32)),
        "query_len": np.ascontiguousarray(lengths[:, 0]),
        "target_len": np.ascontiguousarray(lengths[:, 1]),
    }


def align(
    variant: Variant,
    pairs: Sequence[Pair],
    scheme: Penalties,
    *,
    max_cost: int = UNBOUNDED,
    grid: int = 2,
    order: int = 0,
    op_capacity: int = 400,
    stride: int | None = None,
    trace_cost: int = 400,
    rule: str = "mismatch",
    band: tuple[int, int] = (0, 0),
    first_cost: int = UNBOUNDED,
) -> Answers:
    """Return the kernel's answers, and check that memory beyond its arrays is unchanged."""
    n = len(pairs)
    columns = _columns(pairs, rule)
    _, mismatch, gaps = in_units(scheme)
    longest = max((len(sequence) for pair in pairs for sequence in pair), default=0)
    if stride is None:
        stride = variant.stride(mismatch, gaps, max_cost, longest, trace_cost)
    units = grid * variant.pairs
    workspace = aligned(units * stride + 256, np.uint8)
    rows = np.arange(n, dtype=np.int32)[::-1].copy()
    status, cut, cost = aligned(n + 1, np.uint8), aligned(n + 1, np.uint8), aligned(n + 1, np.int32)
    count, ops, drawn = aligned(n + 1, np.int32), aligned(n * op_capacity + 1, np.uint32), np.zeros(1, np.uint32)
    task = np.zeros(1, ALIGN_TASK)
    for name, column in columns.items():
        task["seq"][name] = address(column, GUARD if name == "packed" else 0)
    for name, array in {"rows": rows, "status": status, "cost": cost, "op_count": count, "ops": ops,
                        "work_counter": drawn, "workspace": workspace, "cut": cut}.items():  # fmt: skip
        task[name] = address(array)
    costs = task["costs"]
    costs["mismatch"], costs["pieces"] = mismatch, len(gaps)
    for g, (o, e) in enumerate(gaps):
        costs["open"][0, g], costs["extend"][0, g] = o, e
    task["stride"], task["count"], task["op_capacity"], task["max_cost"] = stride, n, op_capacity, max_cost
    task["longest"], task["path"], task["wildcard"] = longest, variant.trace != 0, rule == "wildcard"
    task["band"], task["band_step"] = band
    task["first_cost"] = first_cost
    kernels = Kernels("wfa/wfa.cu", variant.threads, dict(variant.macros))
    kernels.launch("align_wavefront", task, grid, order, variant.shared_bytes(mismatch, gaps))
    assert (workspace[units * stride :] == 0xA5).all(), "beyond the workspace"
    for array in (status, cut, cost, count, ops):
        assert (array[-1:].view(np.uint8) == 0xA5).all(), "beyond the last slot"
    text = []
    for slot in range(n):
        elements = ops[slot * op_capacity :][: count[slot]].tolist()
        text.append("".join(f"{e >> 4}{'MIDNSHP=X'[e & 15]}" for e in elements) or "*")
    back = slice(None, None, -1)
    return Answers([Status(v) for v in status[:n][back]], cost[:n][back].tolist(), text[back], cut[:n][back].tolist())


def assert_optimal(variant: Variant, pairs: Sequence[Pair], scheme: Penalties, answers: Answers, label: str = "",
                   max_cost: int = UNBOUNDED, rule: str = "mismatch") -> None:  # fmt: skip
    """Assert that pairs within max_cost have the oracle's cost and, with a trace, its CIGAR.

    All other pairs must have SCORE_LIMIT.
    """
    unit, mismatch, gaps = in_units(scheme)
    most = variant.cost_limit(mismatch, gaps, max_cost)
    wanted: list[Optimum] = optima(pairs, scheme, rule=rule)
    for p, (pair, best) in enumerate(zip(pairs, wanted, strict=True)):
        got = (answers.status[p], answers.cost[p], answers.cigar[p])
        cost = -best.score // unit
        path = best.cigar if variant.trace else "*"
        expected = (Status.OK, cost, path) if cost <= most else (Status.SCORE_LIMIT, 0, "*")
        assert got == expected, f"{label} {variant} {scheme} pair {p} of {pair!r}: {got}, not {expected}"
        if got[0] is Status.OK and variant.trace:
            replay_span(*pair, got[2], best.span, RULES[rule])
