"""Compare the best non-overlapping alignments, one after another, with a cell-by-cell computation."""

import random

import numpy as np
import pytest

from tests import oracle_local, pairgen
from wfacli.errors import UsageError
from wfacli.scoring.scheme import Scheme
from wfacli.solve.local.run import LocalRun
from wfacli.solve.local.task import Task
from wfacli.solve.watchers import Watchers

from .test_local_solver import best, text

NEVER = -(10**9)


def best_beside(query, target, charged, barred):
    """Return (score, CIGAR operations with their cells, span) of the canonical alignment without barred cells."""
    m, n, first, more = len(query), len(target), charged.open + charged.extend, charged.extend
    s, insertion, deletion = (np.full((m + 2, n + 2), NEVER) for _ in range(3))
    for i in range(m, -1, -1):
        for j in range(n, -1, -1):
            worth = charged.worth[query[i], target[j]] if i < m and j < n and (i, j) not in barred else NEVER
            insertion[i, j] = max(s[i + 1, j] - first, insertion[i + 1, j] - more)
            deletion[i, j] = max(s[i, j + 1] - first, deletion[i, j + 1] - more)
            s[i, j] = max(0, insertion[i, j], deletion[i, j], s[i + 1, j + 1] + worth)
    i, j = begin = tuple(np.argwhere(s == s.max())[-1].tolist())  # last in row order
    score, inside, operations, cells = int(s[begin]), "", [], []
    while inside or s[i, j] > 0:
        if not inside:
            inside = "I" if insertion[i, j] == s[i, j] else "D" if deletion[i, j] == s[i, j] else ""
        if inside == "I":
            inside = "" if insertion[i, j] == s[i + 1, j] - first else "I"
            operations.append("I")
            i += 1
        elif inside == "D":
            inside = "" if deletion[i, j] == s[i, j + 1] - first else "D"
            operations.append("D")
            j += 1
        else:
            operations.append("X="[int(charged.same[query[i], target[j]])])
            cells.append((i, j))
            i, j = i + 1, j + 1
    return score, "".join(operations), (begin[0], i, begin[1], j), cells


def expanded(cigar):
    return "".join("MIDNSHP=X"[op & 15] * (op >> 4) for op in cigar.tolist())


def run_of(query, target, scheme, **options):
    codes = [scheme.codes[np.frombuffer(side, np.uint8)] for side in (query, target)]
    return LocalRun(Task(*codes, scheme, **options), Watchers())


@pytest.mark.parametrize("protein", [False, True])
def test_each_is_the_best_beside_those_before(protein):
    rng = random.Random(11)
    if protein:
        scheme, charged = Scheme.of_matrix("BLOSUM62", (9, 1)), oracle_local.protein_charges("BLOSUM62", 9, 1)
        alphabet = b"ARNDCQEGHILKMFPSTVWY"
    else:
        scheme, charged, alphabet = Scheme.of_scores(2, 3, 2, 1), oracle_local.charges(2, 3, 2, 1), b"ACGT"
    for _ in range(12):
        repeat = pairgen.sequence(rng, rng.randint(5, 15), alphabet)
        query = b"".join(pairgen.mutated(rng, repeat, alphabet, 0.1) for _ in range(3))
        target = b"".join(pairgen.mutated(rng, repeat, alphabet, 0.1) for _ in range(3))
        outcome = run_of(query, target, scheme, top=4, threads=2).run()
        barred = set()
        for found in outcome.found:
            score, operations, span, cells = best_beside(query, target, charged, barred)
            assert (found.score, expanded(found.cigar), found.span) == (score, operations, span), (query, target)
            assert not barred & set(cells)
            barred |= set(cells)
        if len(outcome.found) < 4:
            assert best_beside(query, target, charged, barred)[0] == 0
        assert best(query, target, scheme).cigar == text(outcome.found[0].cigar)


def test_long_ones_beside_each_other():
    """Test barred cells in many strips and tiles: the copies of a repeat are found one by one."""
    rng = random.Random(12)
    scheme = Scheme.of_scores(2, 4, 4, 2)
    repeat = pairgen.sequence(rng, 900, b"ACGT")
    query, target = repeat * 2, pairgen.mutated(rng, repeat, b"ACGT", 0.02) + repeat
    found = run_of(query, target, scheme, top=3).run().found
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    cells = [{(q + x, t + x) for q, t, length in one.runs().tolist() for x in range(length)} for one in found]
    assert not cells[0] & cells[1] and not cells[0] & cells[2] and not cells[1] & cells[2]
    assert found[1].score >= 2 * 900 and found[2].score > 1500


def test_nothing_to_find():
    scheme = Scheme.of_scores(2, 4, 4, 2)
    for query, target in ((b"", b""), (b"ACGT", b""), (b"", b"A"), (b"AAAA", b"CCCC"), (b"NNN", b"NNN")):
        assert run_of(query, target, scheme, top=2).run().found == ()
    assert len(run_of(b"ACGT", b"ACGT", scheme, top=9).run().found) == 1
    with pytest.raises(UsageError, match="--top requires alignments"):
        run_of(b"A", b"A", scheme, top=2, score_only=True)


def test_score_and_beginning_alone():
    scheme = Scheme.of_scores(2, 4, 4, 2)
    (found,) = run_of(b"TTTACGTACGT", b"GGACGTACGTCC", scheme, score_only=True).run().found
    assert (found.score, found.span, found.cigar) == (16, (3, -1, 2, -1), None)
