"""Blocks: a specification and pairs drawn from a seed, aligned in several ways, compared and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from wfacli._native import instruction_set
from wfacli.config import AlignSpec, Metric, Mode
from wfacli.core.batch import Status

from .check import SECONDS, Failure, failures, status_name
from .oracle import optima
from .pairs import Pair, Size, block, limits_of, size_of
from .run import Answers
from .shrink import as_test, shrunk
from .specs import STRATA, spec, written
from .ways import BATCH, COMMAND, GPU, SINGLE, Way, rows_of, ways_of

CHOSEN, UNKNOWN = "chosen", "unknown"
# In every eight blocks of a stratum, the last has pairs at the first limit of its kernels, the fourth at the second.
_LIMITS = 8
_INSIDE = 0.4  # share of short queries in long targets, if target ends are free


@dataclass(frozen=True)
class Block:
    """Block `index` of a seed; it depends on nothing else."""

    seed: int
    index: int
    size: Size
    spec: AlignSpec
    pairs: list[Pair]
    rng: Random

    @classmethod
    def drawn(cls, seed: int, index: int) -> Block:
        """Draw a block; consecutive blocks rotate through the strata."""
        rng = Random(f"{seed}:{index}")
        mode, metric = STRATA[index % len(STRATA)]
        size = _limit(mode, metric, index // len(STRATA)) or size_of(rng)
        chosen = spec(rng, mode, metric, size.longest)
        inside = _INSIDE if mode in (Mode.SEMIGLOBAL, Mode.ENDS_FREE) else 0.0
        pairs = block(rng, size, chosen, inside)
        return cls(seed, index, size, chosen, pairs, rng)


def _limit(mode: Mode, metric: Metric, turn: int) -> Size | None:
    """Return the pair size if the stratum's block number `turn` tests a limit of its kernels, else None."""
    limits, part = limits_of(mode, metric), _LIMITS // 2
    at = turn % _LIMITS
    if at == _LIMITS - 1:
        return limits[0]
    return limits[1] if len(limits) > 1 and at == part - 1 else None


@dataclass
class Found:
    """A failure of a block.

    Failures with the same `alike` probably have one cause; `test` can be pasted into a test.
    """

    alike: tuple[str, ...]
    kind: str
    where: str
    text: str
    rows: int
    pairs: int
    test: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.kind} of {self.rows} of {self.pairs} pairs\n  {self.text}\n  {self.test}"


@dataclass
class Tally:
    """Counts of cases (pair, specification and way).

    `cases` is keyed by mode, metric, requested kernel, kernel that answered, and instruction set.
    """

    cases: Counter[tuple[str, str, str, str, str]] = field(default_factory=Counter)
    more: Counter[str] = field(default_factory=Counter)  # counts by other properties of the block
    found: list[Found] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Return the number of cases."""
        return sum(self.cases.values())

    def add(self, other: Tally) -> None:
        """Add the counts and failures of other blocks."""
        self.cases.update(other.cases)
        self.more.update(other.more)
        self.found += other.found

    def count(self, chosen: Block, spec: AlignSpec, way: Way, answers: Answers) -> None:
        """Count the cases of one way."""
        count = len(answers.status)
        isa = way.isa or instruction_set()
        names = {UNKNOWN: count}
        if answers.origin is not None:
            unaligned = answers.status != Status.OK
            by_kernel = np.bincount(answers.origin[~unaligned], minlength=len(answers.kernels)).tolist()
            names = {name: n for name, n in zip(answers.kernels, by_kernel, strict=True) if n}
            names |= {"none": int(unaligned.sum())} if unaligned.any() else {}
        for name, n in names.items():
            self.cases[str(spec.mode), str(spec.metric), way.kernel or CHOSEN, name, isa] += n
        bound = "all memory" if way.ample else "little memory"
        drawn = [f"entry {way.entry}", f"up to {chosen.size.longest} bases", f"{way.threads} threads", bound]
        drawn += [f"rule {spec.ambiguous}", "score alone" if spec.score_only else "CIGAR"]
        drawn += ["bound on the cost"] if spec.max_cost is not None else []
        drawn += [f"match {'none' if not spec.penalties.match else 'some'}"]
        drawn += [f"penalty of N {'its own' if spec.charges_ambiguous else 'of a mismatch'}"]
        if spec.metric in (Metric.AFFINE, Metric.AFFINE2P) and any(o == 0 for o, _ in spec.penalties.gaps):
            drawn.append(f"{spec.metric} without an opening")
        if spec.mode in (Mode.SEMIGLOBAL, Mode.ENDS_FREE):
            drawn.append(f"{spec.mode} of {spec.metric}")
        self.more.update(dict.fromkeys(drawn, count))
        for status, n in zip(*np.unique(answers.status, return_counts=True), strict=True):
            self.more[f"status {status_name(status)}"] += int(n)


def run_block(
    seed: int,
    index: int,
    known: set[tuple[str, ...]] | None = None,
    watch: Callable[[str], None] = lambda what: None,
    seconds: float = SECONDS,
) -> Tally:
    """Align a block in all its ways, but stop at the first that times out, since others may time out too.

    Args:
        seed, index: identify the block.
        known: kinds of failures that are not shrunk again; new ones are added.
        watch: called with a description of the next step.
        seconds: time limit of the block in each way.
    """
    known = set() if known is None else known
    chosen, tally = Block.drawn(seed, index), Tally()
    best = optima(chosen.pairs, chosen.spec)
    batch: Answers | None = None
    for asked, way in ways_of(chosen.rng, chosen.spec, chosen.size, best):
        rows = rows_of(way, len(chosen.pairs))
        pairs = chosen.pairs[: len(rows)]
        some = best if len(pairs) == len(chosen.pairs) else optima(pairs, asked)
        watch(f"seed {seed} block {index}: {written(asked)}, {way}")
        limit = 10 * seconds if way.entry in (GPU, COMMAND) else seconds  # these start a process or compile first
        problems, answers = failures(pairs, asked, way, some, limit)
        if answers is not None:
            tally.count(chosen, asked, way, answers)
        if way.entry == BATCH:
            batch = answers
        if way.entry == SINGLE and answers is not None and batch is not None:
            problems += _apart(answers, batch)
        if problems:
            tally.found.append(_described(chosen, pairs, asked, way, problems, known, limit))
            if problems[0].kind == "time":
                break
    return tally


def _apart(single: Answers, batch: Answers) -> list[Failure]:
    """Return the pairs that only one of a single call and a batch leaves unaligned."""
    rows = np.flatnonzero(single.status != batch.status).tolist()
    both = [tuple(status_name(answers.status[row]) for answers in (single, batch)) for row in rows]
    return [
        Failure(row, "single", f"{one} by itself, {other} in a batch")
        for row, (one, other) in zip(rows, both, strict=True)
    ]


def _described(
    chosen: Block,
    pairs: Sequence[Pair],
    asked: AlignSpec,
    way: Way,
    problems: list[Failure],
    known: set[tuple[str, ...]],
    seconds: float,
) -> Found:
    first = problems[0]
    kernel = first.by or way.kernel or CHOSEN
    alike = (first.kind, str(asked.mode), str(asked.metric), kernel if first.kind != "time" else "")
    where = f"seed {chosen.seed} block {chosen.index}, {way.entry} {way.kernel or CHOSEN} {way.isa}"
    found = Found(alike, first.kind, where, first.text, len(problems), len(pairs))
    if alike in known:
        return found
    known.add(alike)
    if first.kind == "single":  # a single pair run alone does not show it
        small, spec, left = [pairs[first.row]], asked, first
    else:
        small, spec, left = shrunk(pairs, asked, way, first, seconds)
    found.test, found.text = as_test(small, spec, way), left.text
    return found
