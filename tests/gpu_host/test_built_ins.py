"""Functions by which threads cooperate: emulation and GPU against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from .support import BLOCK, run_probe

WARP = 32
SEED = 20
ROWS = np.random.default_rng(SEED).integers(0, 1000, 4 * BLOCK).astype(np.int32)
WARPS = ROWS.reshape(-1, WARP)
LANES = np.arange(WARP)


def ballots(warps, lanes=LANES):
    return sum(((warps[:, lane] & 1).astype(np.int64) << int(lane)) for lane in lanes)


def signed(values):
    return np.asarray(values, np.int64).astype(np.uint32).view(np.int32)


def test_barriers(driver):
    answers = run_probe(driver, "barrier", ROWS)
    assert np.array_equal(answers["cost"].reshape(-1, BLOCK), ROWS.reshape(-1, BLOCK)[:, ::-1])


SOURCES = {
    "shuffle": LANES // 8 * 8 + 3,
    "up": np.where(LANES % 8 >= 2, LANES - 2, LANES),
    "down": np.where(LANES % 16 < 13, LANES + 3, LANES),
    "xor": LANES ^ 5,
}


@pytest.mark.parametrize("name", SOURCES)
def test_shuffles_stay_in_their_segments(driver, name):
    answers = run_probe(driver, name, ROWS)
    assert np.array_equal(answers["cost"].reshape(-1, WARP), WARPS[:, SOURCES[name]])


def test_votes(driver):
    expected = ballots(WARPS) ^ (WARPS.max(1) > 900) ^ 2 * (WARPS.max(1) < 900)
    answers = run_probe(driver, "votes", ROWS)
    assert np.array_equal(answers["cost"], np.repeat(signed(expected), WARP))


def test_reductions(driver):
    joined = np.bitwise_or.reduce(WARPS.astype(np.int64), axis=1) << 20
    expected = (WARPS.min(1).astype(np.int64) * 1000 + WARPS.max(1)) ^ joined
    answers = run_probe(driver, "reductions", ROWS)
    assert np.array_equal(answers["cost"], np.repeat(signed(expected & 0xFFFFFFFF), WARP))


def test_halves_of_a_warp_meet_apart(driver):
    halves = [ballots(WARPS, lanes) + WARPS[:, lanes].max(1) for lanes in (LANES[:16], LANES[16:])]
    answers = run_probe(driver, "half_warps", ROWS)
    assert np.array_equal(answers["cost"], np.repeat(signed(np.stack(halves, 1).ravel() & 0xFFFFFFFF), 16))


def test_atomics(driver):
    answers = run_probe(driver, "atomics", ROWS)
    assert answers["work_counter"][0] == ROWS.size
    assert np.array_equal(np.sort(answers["cost"]), np.sort(ROWS))
    assert answers["op_count"][:2].tolist() == [ROWS.max(), 0]
    assert answers["ops"][:3].tolist() == [-1, 7, 9]


def three_numbers():
    """Return arbitrary, extreme and small numbers, sometimes with equal halves."""
    random = np.random.default_rng(SEED)
    edges = np.array([0, 1, 0xFFFF, 0x7FFF, 0x8000, 0x8001, 0x7FFF7FFF, 0x80008000, 0xFFFFFFFF, 0x7FFF8000], np.uint64)
    anything = random.integers(0, 1 << 32, (3, 2 * BLOCK), dtype=np.uint64)
    chosen = random.choice(edges, (3, 2 * BLOCK))
    return np.where(random.integers(0, 2, (3, 2 * BLOCK)) == 1, anything, chosen).astype(np.uint32).view(np.int32)


def unsigned_halves(joined):
    return [(joined.view(np.uint32) >> shift & 0xFFFF).astype(np.int64) for shift in (0, 16)]


def halves(joined):
    return [np.where(half < 0x8000, half, half - 0x10000) for half in unsigned_halves(joined)]


def by_halves(function, *operands, of=halves):
    low, high = (function(*each) & 0xFFFF for each in zip(*map(of, operands), strict=True))
    return signed(high << 16 | low)


def wrap(values, bits):
    half = 1 << bits - 1
    return (values + half) % (2 * half) - half


def test_dpx(driver):
    rows = a, b, c = three_numbers()
    outputs = run_probe(driver, "dpx", rows, 22 * a.size, count=a.size)["cost"].reshape(22, -1)
    wide = [each.astype(np.int64) for each in rows]
    low, high = (x <= y for x, y in zip(halves(a), halves(b), strict=True))
    expected = {
        "vimin3_s16x2": by_halves(lambda x, y, z: np.minimum(np.minimum(x, y), z), a, b, c),
        "vimax3_s16x2": by_halves(lambda x, y, z: np.maximum(np.maximum(x, y), z), a, b, c),
        "viaddmin_s16x2": by_halves(lambda x, y, z: np.minimum(wrap(x + y, 16), z), a, b, c),
        "viaddmax_s16x2": by_halves(lambda x, y, z: np.maximum(wrap(x + y, 16), z), a, b, c),
        "vmins2": by_halves(np.minimum, a, b),
        "vmaxs2": by_halves(np.maximum, a, b),
        "vadd2": by_halves(np.add, a, b),
        "vsub2": by_halves(np.subtract, a, b),
        "vimin3_s32": rows.min(0),
        "vimax3_s32": rows.max(0),
        "viaddmin_s32": np.minimum(wrap(wide[0] + wide[1], 32), wide[2]),
        "viaddmax_s32": np.maximum(wrap(wide[0] + wide[1], 32), wide[2]),
        "vibmin_s16x2": by_halves(np.minimum, a, b),
        "vibmin_s16x2, which": 2 * high + low,
        "vibmin_s32": np.minimum(a, b),
        "vibmin_s32, which": a <= b,
        "vimax3_u16x2": by_halves(lambda x, y, z: np.maximum(np.maximum(x, y), z), a, b, c, of=unsigned_halves),
        "vmaxu2": by_halves(np.maximum, a, b, of=unsigned_halves),
        "viaddmin_u16x2": by_halves(lambda x, y, z: np.minimum(x + y & 0xFFFF, z), a, b, c, of=unsigned_halves),
        "viaddmax_u16x2": by_halves(lambda x, y, z: np.maximum(x + y & 0xFFFF, z), a, b, c, of=unsigned_halves),
        "vminu2": by_halves(np.minimum, a, b, of=unsigned_halves),
        "vimin3_u16x2": by_halves(lambda x, y, z: np.minimum(np.minimum(x, y), z), a, b, c, of=unsigned_halves),
    }
    for output, (name, values) in zip(outputs, expected.items(), strict=True):
        assert np.array_equal(output, values), f"{name}, seed {SEED}"


def test_bits(driver):
    rows = three_numbers()[:2]
    a, b = ([int(v) for v in row.view(np.uint32)] for row in rows)
    outputs = run_probe(driver, "bits", rows, 7 * len(a), count=len(a))["cost"].reshape(7, -1)
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        both = y << 32 | x
        permuted = 0
        for k in range(4):
            permuted |= (both >> 8 * ((x ^ y) >> 4 * k & 7) & 255) << 8 * k
        expected = [
            x.bit_count(), 32 - x.bit_length(), (x & -x).bit_length(), int(f"{x:032b}"[::-1], 2),
            (both << (x >> 27)) >> 32 & 0xFFFFFFFF, both >> (y >> 27) & 0xFFFFFFFF, permuted,
        ]  # fmt: skip
        assert outputs[:, i].tolist() == signed(expected).tolist(), f"{x:#x} {y:#x}, seed {SEED}"
