"""Compare answers with the oracle's, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wfacli.config import AlignSpec
from wfacli.core.batch import Status

from .oracle import Optima, optima, text_of
from .run import NOTHING, Answers, Pair, TooSlow, run
from .specs import written
from .ways import ENGINE, GPU, Way

SECONDS = 20.0  # time limit of a block in each way


class Failure(NamedTuple):
    """A wrong answer: its row (-1 for the whole block), what is wrong, a description, and the kernel."""

    row: int
    kind: str
    text: str
    by: str = ""


def failures(
    pairs: Sequence[Pair], spec: AlignSpec, way: Way, best: Optima | None = None, seconds: float = SECONDS
) -> tuple[list[Failure], Answers | None]:
    """Align pairs in one way and compare with the oracle; the answers are None if the call failed."""
    best = optima(pairs, spec) if best is None else best
    try:
        found = run(pairs, spec, way, seconds)
    except TooSlow as error:
        return [Failure(-1, "time", str(error))], None
    except Exception as error:  # any exception counts as a failure
        return [Failure(-1, "error", f"{type(error).__name__}: {error}")], None
    return compared(found, best, spec, way), found


def compared(found: Answers, best: Optima, spec: AlignSpec, way: Way) -> list[Failure]:
    """Return the failures of a block of answers."""
    count = len(best.score)
    over = np.zeros(count, bool) if spec.max_cost is None else -best.score > spec.max_cost
    wanted = np.where(over, int(Status.SCORE_LIMIT), int(Status.OK))
    empty = (best.span[:, 0] == best.span[:, 1]) & (best.span[:, 2] == best.span[:, 3])
    wrong = (found.status != wanted) & ~((found.status == NOTHING) & (over | empty))
    if not way.ample:
        wrong &= found.status != Status.MEMORY_LIMIT
    aligned = (found.status == Status.OK) & ~over
    problems = [("status", wrong), ("heuristic", found.heuristic & aligned)]
    problems.append(("score", aligned & (found.score != best.score)))
    problems.append(("span", aligned & (found.span != best.span).any(axis=1)))
    runs, starts = _wanted_runs(best, spec, way, found, aligned)
    if spec.score_only:
        problems.append(("path", np.diff(found.cigar_start) != 0))
    else:
        problems.append(("path", aligned & _different(found, runs, starts, aligned)))
        if found.edits is not None:
            problems.append(("edits", aligned & (found.edits != _edits(runs, starts))))
    if not any(rows.any() for _, rows in problems):
        return []
    listed: list[Failure] = []
    for kind, rows in problems:  # only the first failure of a row is reported
        known = {failure.row for failure in listed}
        new = [row for row in np.flatnonzero(rows).tolist() if row not in known]
        listed += [Failure(row, kind, _said(row, found, best, runs, starts), _by(row, found)) for row in new]
    return listed


def _wanted_runs(
    best: Optima, spec: AlignSpec, way: Way, found: Answers, aligned: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the CIGAR columns that a way should return.

    Unless the rule is "literal", records have SAM's "=" and "X"; kernels may leave the conversion to the writers.
    """
    by_rule, by_sam = (best.cigar, best.cigar_start), (best.sam, best.sam_start)
    if not spec.by_bits:
        return by_rule
    if way.entry in (ENGINE, GPU) and not _different(found, *by_rule, aligned)[aligned].any():
        return by_rule
    return by_sam


def _different(found: Answers, runs: np.ndarray, starts: np.ndarray, aligned: np.ndarray) -> np.ndarray:
    """Return the rows (bool[n]) whose operations differ from the given ones; all rows are compared at once."""
    if aligned.all() and np.array_equal(found.cigar_start, starts) and np.array_equal(found.cigar, runs):
        return np.zeros(len(aligned), bool)
    lengths, wanted = np.diff(found.cigar_start), np.diff(starts)
    different = lengths != wanted
    same = ~different & aligned
    rows = np.repeat(np.arange(len(aligned)), np.where(same, lengths, 0))
    # Compare the operations of rows with equal numbers of operations.
    left, right = found.cigar[np.repeat(same, lengths)], runs[np.repeat(same, wanted)]
    different[rows[left != right]] = True
    return different


def _edits(runs: np.ndarray, starts: np.ndarray) -> np.ndarray:
    before = np.cumsum(np.append(0, np.where(runs & 15 == 7, 0, runs >> 4).astype(np.int64)))
    return before[starts[1:]] - before[starts[:-1]]


def status_name(status: int) -> str:
    """Return the name of a status."""
    return "nothing" if status == NOTHING else Status(int(status)).name


def _by(row: int, found: Answers) -> str:
    return "" if found.origin is None else found.kernels[int(found.origin[row])]


def _said(row: int, found: Answers, best: Optima, runs: np.ndarray, starts: np.ndarray) -> str:
    cigars = [text_of(c[s[row] : s[row + 1]]) for c, s in ((found.cigar, found.cigar_start), (runs, starts))]
    answer = f"{status_name(found.status[row])} {found.score[row]} {found.span[row].tolist()} {cigars[0]}"
    if found.edits is not None:
        answer += f" ({found.edits[row]} edits)"
    answer += f" by {_by(row, found)}" if _by(row, found) else ""
    return f"found {answer}; best is {best.score[row]} {best.span[row].tolist()} {cigars[1]}"


def assert_exact(
    pairs: Sequence[Pair], spec: AlignSpec, way: Way | None = None, seconds: float = SECONDS
) -> Answers | None:
    """Assert that a way returns the canonical alignment of each pair."""
    way = way or Way()
    problems, found = failures(pairs, spec, way, seconds=seconds)
    if problems:
        first = problems[0]
        pair = pairs[first.row] if first.row >= 0 else f"{len(pairs)} pairs"
        raise AssertionError(
            f"{len(problems)} of {len(pairs)}: {first.kind} of {pair}, {written(spec)}, {way}: {first.text}"
        )
    return found
