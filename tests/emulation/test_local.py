"""Compare local alignment of one long pair on the emulated GPU with the full-matrix oracle and the CPU solver."""

from __future__ import annotations

import os
import random
from contextlib import closing

import numpy as np
import pytest

from tests import oracle_local, pairgen
from tests.emulation.driver import EmulatedDriver, leaks
from tests.local.test_local_solver import NO_RUNS, best, solver, text
from tests.oracle_spans import Optimum
from wfacli.errors import OutOfDeviceMemory
from wfacli.gpu.kernels.catalogue import Row
from wfacli.gpu.kernels.local import BUILDS, Build, Scores, best_build, strips_between_rows
from wfacli.scoring.scheme import Scheme
from wfacli.solve.gpu import local as gpu_local
from wfacli.solve.gpu.local import GpuLocal, NotForGpus

PAIRS, BYTES = Build(pairs=True, words=4, chunk=64, warps=2), Build(pairs=False, words=4, chunk=64, warps=2)
SMALL = [PAIRS, BYTES]
EVERY = [*SMALL, *BUILDS] if os.environ.get("WFACLI_FUZZ") else SMALL
PLAIN = Scheme.of_scores(2, 4, 4, 2)


def row_of(build):
    return Row(build.name, "local/local.cu", "local_strips", build.macros, build.threads)


def on_gpu(query, target, scheme, barred=NO_RUNS, *, build=PAIRS, order=0, driver=None, **more):
    driver = driver or EmulatedDriver(order=order)
    codes = [scheme.codes[np.frombuffer(side, np.uint8)] for side in (query, target)]
    return driver, GpuLocal(driver, *codes, scheme, barred, build=build, row=row_of(build), **more)


def found(query, target, scheme, barred=NO_RUNS, *, rng=None, strips=2, **more):
    """Return the alignment, found with `strips` strips per launch, or a random number with `rng`."""
    driver, search = on_gpu(query, target, scheme, barred, **more)
    with closing(search):
        while not search.position[1]:
            search.compute_strips(rng.randint(1, 4) if rng else strips)
        while not search.advance(0):
            assert 0 <= search.position[2] <= 1
        score, span, cigar = search.alignment()
    assert not leaks(driver)
    return Optimum(score, text(cigar), span)


def schemes(build):
    for numbers in [(2, 4, 4, 2), (1, 1, 0, 1), (5, 4, 8, 0), (2, 0, 3, 1), (1, 3, 200, 30)]:
        yield Scheme.of_scores(*numbers), oracle_local.charges(*numbers), b"ACGTNacgtu"
    if not build.pairs:
        for name, opening, extend in [("BLOSUM62", 11, 1), ("PAM250", 14, 2)]:
            charged = oracle_local.protein_charges(name, opening, extend)
            yield Scheme.of_matrix(name, (opening, extend)), charged, b"ARNDCQEGHILKMFPSTVWYBZX*"


def pairs_of(rng, count, alphabet):
    """Yield pairs with lengths around the edges of strips of 256 rows and tiles of 64 columns."""
    for _ in range(count):
        query = pairgen.sequence(rng, rng.choice((1, 3, 63, 64, 65, 127, 255, 256, 257, 300)), alphabet)
        part = pairgen.mutated(
            rng, query[rng.randint(0, len(query) // 2) :], alphabet, rng.choice((0, 0.05, 0.2, 0.6))
        )
        target = pairgen.sequence(rng, rng.choice((0, 1, 40)), alphabet) + part * rng.choice((1, 1, 2))
        yield query, target[: rng.choice((1, 62, 64, 65, 128, 129, 191, 192, 193, 320))] or b"A"


@pytest.mark.parametrize("build", EVERY, ids=lambda build: build.name)
def test_small_pairs_have_the_oracles_alignment(build):
    rng = random.Random(build.name)
    for number, (scheme, charged, alphabet) in enumerate(schemes(build)):
        several = list(pairs_of(rng, 7, alphabet))
        for (query, target), want in zip(several, oracle_local.optima(several, charged, "local"), strict=True):
            more = {
                "build": build,
                "order": number % 2,
                "prune": rng.random() < 0.5,
                "memory": rng.choice((1, 1 << 20)),
            }
            assert found(query, target, scheme, rng=rng, **more) == want, (scheme.name, query, target, more)


@pytest.mark.parametrize("build", SMALL, ids=lambda build: build.name)
def test_scores_beyond_a_base(build):
    """Test tiles whose base score is above 0, also in rows that a state keeps."""
    rng = random.Random(3)
    scheme = Scheme.of_scores(11, 9, 20, 1)
    query = pairgen.sequence(rng, 1700, b"ACGT")
    gap = pairgen.sequence(rng, 150, b"ACGT")
    target = query[:900] + gap + pairgen.mutated(rng, query[900:], b"ACGT", 0.05)
    want = best(query, target, scheme)
    assert want.score > 12_000
    assert build.max_difference(Scores.of(scheme.matrix, 20, 1, *[np.zeros(1, np.uint8)] * 2)) < 8_000
    assert found(query, target, scheme, build=build, strips=3) == want
    assert found(query, target, scheme, build=build, prune=False) == want


def test_rows_that_are_kept():
    """Compare the scores kept below each strip with the full matrix, without pruning.

    Gap scores are compared only where they matter.
    """
    rng = random.Random(5)
    query = pairgen.sequence(rng, 1300, b"ACGT")
    target = pairgen.mutated(rng, query, b"ACGT", 0.3)[:400]
    _, search = on_gpu(query, target, PLAIN, prune=False)
    with closing(search):
        search.advance(0)
        state = search.save()
        assert sorted(search._saved_rows) == [256, 512, 768, 1024, 1280]
        for above in search._saved_rows:
            h, f = search._scores_of(search._row_addresses[above], len(target))
            rows = solver(query[len(query) - above :], target, PLAIN, prune=False)
            while not rows.advance(0):
                pass
            own = rows.save()["row"]
            assert (h == own >> 32).all()
            assert (np.maximum(f, h - 6) == np.maximum(own & 0xFFFFFFFF, h - 6)).all()
    assert state["numbers"][3] == 1300


def test_ties_begin_last():
    """Test equal parts in different strips, in different tiles of a strip, and in the same tile."""
    rng = random.Random(6)
    part = pairgen.sequence(rng, 30, b"ACGT")
    for gaps in ((0, 0), (1, 5), (40, 200), (300, 100), (600, 10)):
        fill = [pairgen.sequence(rng, gap, b"AC") for gap in gaps]
        for query in (part + fill[0] + part, part + fill[0] + part + fill[1] + part):
            for target in (part, part + fill[1] + part, fill[1] + part + part):
                want = best(query, target, PLAIN)
                for order in (0, 1):
                    assert found(query, target, PLAIN, order=order, strips=9) == want, (query, target)


@pytest.mark.parametrize("build", SMALL, ids=lambda build: build.name)
def test_beside_alignments_found_before(build):
    rng = random.Random(7)
    repeat = pairgen.sequence(rng, 150, b"ACGT")
    query, target = repeat * 3, pairgen.mutated(rng, repeat, b"ACGT", 0.03) + repeat
    barred = NO_RUNS
    for _ in range(4):
        running = solver(query, target, PLAIN, barred)
        while not running.advance(0):
            pass
        score, span, cigar = running.alignment()
        assert found(query, target, PLAIN, barred, build=build) == Optimum(score, text(cigar), span)
        barred = np.concatenate([barred, runs_of(span, cigar)])


def runs_of(span, cigar):
    runs, (q, _, t, _) = [], span
    for op in cigar.tolist():
        length, kind = op >> 4, "MIDNSHP=X"[op & 15]
        if kind in "=X":
            runs.append((q, t, length))
        q, t = q + length * (kind != "D"), t + length * (kind != "I")
    return np.array(runs, np.int64).reshape(-1, 3)


def test_states_go_from_gpu_to_cpu_and_back():
    rng = random.Random(8)
    query = pairgen.sequence(rng, 2300, b"ACGT")
    target = pairgen.mutated(rng, query, b"ACGT", 0.1)[:900]
    memory = 8 * len(target) * 3  # bytes of three rows
    want = best(query, target, PLAIN, memory=memory)
    _, search = on_gpu(query, target, PLAIN, memory=memory)
    with closing(search):
        search.compute_strips(4)
        state = search.save()
    assert 0 < state["numbers"][3] < 2300
    other = solver(query, target, PLAIN, memory=memory)
    other.restore(state)
    assert not other.position[1] and other.position[2] > 0
    while not other.advance(0):
        pass
    score, span, cigar = other.alignment()
    assert Optimum(score, text(cigar), span) == want
    first = solver(query, target, PLAIN, memory=memory)
    first.advance(0)
    for saved in (state, first.save()):
        driver, search = on_gpu(query, target, PLAIN, memory=memory)
        with closing(search):
            search.restore(saved)
            assert search.position[0] == saved["numbers"][5] and (search.position[1] or search.position[2] > 0)
            while not search.advance(0):
                pass
            score, span, cigar = search.alignment()
            assert Optimum(score, text(cigar), span) == want
        assert not leaks(driver)
    _, search = on_gpu(query, target, PLAIN, memory=memory)
    with closing(search):
        for name, damage in (("row", lambda a: a[1:]), ("numbers", lambda a: a[1:]), ("kept", lambda a: a[:-1])):
            with pytest.raises(ValueError, match="the state is"):
                search.restore(state | {name: damage(state[name])})
        with pytest.raises(ValueError, match="of other sequences"):
            search.restore(state | {"numbers": state["numbers"] + [1, 0, 0, 0, 0, 0, 0, 0]})


@pytest.mark.parametrize("late", [False, True])
def test_a_launch_that_is_stopped(monkeypatch, late):
    """A stopped launch ends at a tile boundary and changes nothing, even if it had finished already."""
    monkeypatch.setattr(gpu_local, "_INTERRUPTIBLE", -1.0)
    rng = random.Random(9)
    query = pairgen.sequence(rng, 3100, b"ACGT")
    target = pairgen.mutated(rng, query, b"ACGT", 0.1)[:700]
    answers = []  # return values of stop(): after the copy of the row, and after the launch
    driver, search = on_gpu(query, target, PLAIN, prune=False, stop=lambda: bool(answers) and answers.pop(0))
    with closing(search):
        search.compute_strips(6)
        before, position = search.save(), search.position
        assert 0 < position[2] < 1
        answers += [False, True] if late else [True]
        search.compute_strips(6)
        assert not answers and search.position == position
        for name, values in search.save().items():
            assert (values == before[name]).all(), name
        _, known, *tiles = search._buffers.read(search._counters, 16).view(np.uint32).tolist()
        assert known == 2**31 - 1 and (tiles[0] * search._tile > search.position[3]) == late
        while not search.advance(0):
            pass
        score, span, cigar = search.alignment()
        assert Optimum(score, text(cigar), span) == best(query, target, PLAIN)
    assert not leaks(driver)


def test_score_and_beginning_alone():
    _, search = on_gpu(b"TTTACGTACGT", b"GGACGTACGTCC", PLAIN, path=False)
    with closing(search):
        while not search.advance(0):
            pass
        score, span, cigar = search.alignment()
        assert (score, span, len(cigar)) == (16, (3, -1, 2, -1), 0)
    assert found(b"AAAA", b"CCC", PLAIN) == Optimum(0, "*", (0, 0, 0, 0))


def test_what_a_gpu_cannot_hold():
    """Test scores that exceed 16 bits, and alphabets too large for shared memory."""
    codes = np.arange(4, dtype=np.uint8)
    for numbers in ((127, 127, 0, 1), (2, 4, 10_000, 10_000)):
        scheme = Scheme.of_scores(*numbers)
        assert best_build(Scores.of(scheme.matrix, scheme.open, scheme.extend, codes, codes), 1 << 20) is None
        with pytest.raises(NotForGpus):
            on_gpu(b"ACGT", b"ACGT", scheme)
    protein = Scheme.of_matrix("BLOSUM62", (11, 1))
    scores = Scores.of(protein.matrix, 11, 1, *[np.arange(20, dtype=np.uint8)] * 2)
    assert best_build(scores, 227 << 10) == BUILDS[1] and best_build(scores, 16 << 10) is None
    plain = Scores.of(PLAIN.matrix, 4, 2, codes, codes)
    assert plain.n_column_codes == 4 and best_build(plain, 227 << 10) == BUILDS[0]


def test_kept_rows_are_among_those_of_states():
    for strips, every, memory in ((9000, 352, 20e9), (100, 7, 1e4), (50, 64, 1e9), (3, 1, 0)):
        apart = strips_between_rows(strips, every, 1000, int(memory))
        assert every % apart == 0
        assert apart == every or strips // apart * 8000 <= memory


def test_a_gpu_without_memory_gives_back_all():
    driver = EmulatedDriver()
    driver.fail(call="allocate", after=4, error=OutOfDeviceMemory)
    with pytest.raises(OutOfDeviceMemory):
        on_gpu(b"ACGT" * 9, b"ACGT" * 9, PLAIN, driver=driver)
    assert not leaks(driver)
