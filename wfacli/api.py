"""Alignments of sequences in memory, for Python programs.

Alignments are those of the command line: exact under the costs asked for unless heuristics are, and of all that are
equally good the same one whatever the threads, the machine and the company (docs/semantics.md).
Algorithms: wavefronts (Marco-Sola et al. 2021, doi:10.1093/bioinformatics/btaa777), bit-parallel columns (Myers 1999,
doi:10.1145/316542.316550) and differences (Suzuki & Kasahara 2018, doi:10.1186/s12859-018-2014-8).
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import operator
import os
import sys
import threading
import weakref
from collections.abc import Sequence
from functools import cached_property, lru_cache
from types import ModuleType, TracebackType
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

import numpy as np

from ._native import written_cigars
from .config import AlignSpec, Ambiguous, FreeEnds, Heuristics, Limits, Metric, Mode, Penalties
from .core.batch import NO_SCORE, PairBatch, Status
from .core.cores import usable_cores
from .core.stats import Stats
from .engines.cpu import CpuEngine
from .engines.execute import align_batch
from .engines.single import SingleEngine
from .errors import UsageError
from .io.read.memory import Letters, Sequences, pairs_of
from .plan.planner import Planner
from .results import Alignment, AlignmentBatch

MetricName = Metric | Literal["edit", "indel", "linear", "affine", "affine2p"]
ModeName = Mode | Literal["global", "hw", "overlap", "ends-free", "extension"]
AmbiguousName = Ambiguous | Literal["mismatch", "wildcard", "literal"]


class Options(TypedDict, total=False):
    """Keyword arguments of align, as Aligner has and explains them."""

    metric: MetricName
    penalties: Sequence[int] | None
    match: int
    mode: ModeName
    free: tuple[int, int, int, int]
    ambiguous: AmbiguousName
    score_only: bool
    heuristics: Heuristics | None
    max_cost: int | None
    limits: Limits | None


class BatchOptions(Options, total=False):
    """Keyword arguments of align_pairs."""

    threads: int | None


class Aligner:
    """Aligns pairs one at a time, or many on threads of its own; a context manager, safe to share between threads.

    A child process made by os.fork() (multiprocessing's start method "fork" too) can use it whatever other threads do
    with it meanwhile; its threads are then the child's own.

    >>> import wfacli
    >>> with wfacli.Aligner(metric="affine", penalties=(4, 6, 2), threads=2) as aligner:
    ...     done = aligner.align_batch(["ACGTTGCA", "ACGT"], ["ACGTGCA", "ACGT"])
    >>> done.cigars()
    ['3=1I4=', '4=']
    >>> done.score
    array([-8,  0], dtype=int32)

    Attributes:
        spec: what is computed, validated.
        stats: counts and times of the batches so far.
    """

    def __init__(
        self,
        *,
        metric: MetricName = "affine",
        penalties: Sequence[int] | None = None,
        match: int = 0,
        mode: ModeName = "global",
        free: tuple[int, int, int, int] = (0, 0, 0, 0),
        ambiguous: AmbiguousName = "mismatch",
        score_only: bool = False,
        heuristics: Heuristics | None = None,
        max_cost: int | None = None,
        limits: Limits | None = None,
        threads: int | None = None,
    ) -> None:
        """Says what to compute.

        Args:
            metric: what is charged: "edit" (1 for every edit), "indel" (1 for every letter inserted or deleted, no
                mismatches), "linear" (mismatch, gap letter), "affine" (a gap of l letters costs open + l * extend) or
                "affine2p" (the cheaper of two such).
            penalties: costs of 1 to 10,000 (openings from 0), in the order in which the metric takes them; unless
                given linear 4, 2; affine 4, 6, 2 (mismatch, open, extend); affine2p 4, 6, 2, 24, 1.
            match: what a match earns, 0 to 10,000; scores are then earnings minus costs.
            mode: what is aligned: "global" (both sequences whole), "hw" (the query whole, inside the target),
                "overlap" (ends of either may stay unaligned), "ends-free" (as many letters as `free` says) or
                "extension" (from both beginnings to the best end). Overlap and extension need match.
            free: of "ends-free": letters of query begin, query end, target begin and target end that may stay
                unaligned, at no cost.
            ambiguous: how letters other than A, C, G, T, U (which reads as T) compare; case never matters.
                "mismatch": they match nothing; "wildcard": IUPAC codes match what they share a nucleotide with;
                "literal": every letter matches itself.
            score_only: no CIGARs, edits and texts.
            heuristics: ways to leave work out, if any; what they may have made worse is not `exact`.
            max_cost: pairs that cost more have no alignment; not with match.
            limits: memory of a pair, in bytes.
            threads: CPU threads of align_batch; all that the process may use unless given.

        Raises:
            TypeError: a number that is not whole.
            ValueError: an unknown metric, mode or rule, or less than one thread.
            UsageError: penalties out of range, or options that do not go together.
        """
        chosen, charged = _one_of(Mode, "mode", mode), _one_of(Metric, "metric", metric)
        if isinstance(penalties, str):
            raise TypeError(f"penalties are whole numbers, not {penalties!r}")
        costs = None if penalties is None else [_whole("penalties", cost) for cost in penalties]
        ends = FreeEnds(*(_whole("free", letters) for letters in free))
        if ends and chosen is not Mode.ENDS_FREE:
            raise UsageError(f"free belongs to mode ends-free, not to {chosen}")
        self.spec = AlignSpec(
            metric=charged,
            penalties=Penalties.of(charged, costs, _whole("match", match)),
            ambiguous=_one_of(Ambiguous, "ambiguous", ambiguous),
            mode=chosen,
            free=ends or FreeEnds.of(chosen),
            score_only=score_only,
            heuristics=heuristics or Heuristics(),
            max_cost=None if max_cost is None else _whole("max_cost", max_cost),
        )
        self.stats = Stats()
        self._limits = limits or Limits()
        self._threads = usable_cores() if threads is None else _whole("threads", threads)
        self._planner = Planner(self.spec, self._limits)
        self._engine = self._new_engine()
        self._single = SingleEngine(self.spec, self._limits)
        self._closed = False
        _ALIGNERS.add(self)

    def _renewed_by_fork(self) -> None:
        """Make ready in a child process, which has neither the threads nor what other threads had taken."""
        _LEFT.append((self._engine, self._single))
        self.stats.renew_lock()
        self._engine = self._new_engine()
        self._single = SingleEngine(self.spec, self._limits)
        if self._closed:
            self._engine.close()

    def _new_engine(self) -> CpuEngine:
        return CpuEngine(self.spec, self._limits, self._threads, stats=self.stats)

    def align(self, query: Letters, target: Letters) -> Alignment:
        """Aligns one pair, in the calling thread; the GIL is released meanwhile.

        Args:
            query: letters as str, bytes or one dimension of bytes.
            target: likewise.

        Returns:
            The alignment, or where there is none an Alignment whose status says why.

        Raises:
            TypeError: not a sequence.
            InputError: a byte that cannot stand in a sequence.
        """
        return Alignment._make(self._single.align(query, target))

    @overload
    def align_batch(self, queries: PairBatch) -> AlignmentBatch: ...
    @overload
    def align_batch(self, queries: Sequences, targets: Sequences) -> AlignmentBatch: ...
    def align_batch(self, queries: PairBatch | Sequences, targets: Sequences | None = None) -> AlignmentBatch:
        """Aligns query i with target i, on the Aligner's threads; the GIL is released meanwhile.

        Args:
            queries: n sequences, or a packed batch (see pack); what is packed once can be aligned many times.
            targets: n sequences; none with a packed batch.

        Returns:
            Columns of n rows, in the order of the pairs, with a status for each. A pair without an alignment is no
            error.

        Raises:
            TypeError: not lists of sequences.
            ValueError: not as many targets as queries.
            InputError: a byte that cannot stand in a sequence.
            RuntimeError: the Aligner is closed.
        """
        if self._closed:
            raise RuntimeError("the Aligner is closed")
        if not isinstance(queries, PairBatch):
            if targets is None:
                raise TypeError("align_batch takes queries and targets, or a packed batch")
            queries = pairs_of(queries, targets)
        elif targets is not None:
            raise TypeError("a packed batch has its targets")
        pairs = queries
        try:
            done = align_batch(self._engine, pairs, self._planner, self.stats)
        except KeyboardInterrupt:
            # What still runs is of no use, and would keep the threads.
            self._engine.cancel()
            self._engine = self._new_engine()
            raise
        columns = {f.name: getattr(done, f.name) for f in dataclasses.fields(done)}
        if np.count_nonzero(done.status):
            columns["score"] = np.where(done.status == np.uint8(Status.OK), done.score, np.int32(NO_SCORE))
        if self.spec.ambiguous is Ambiguous.WILDCARD and not self.spec.score_only:
            columns["cigar"], columns["cigar_start"] = written_cigars(pairs, done)
        return AlignmentBatch(**columns, pairs=pairs, spec=self.spec)

    def close(self) -> None:
        """Ends the threads. After it align still works, and align_batch raises RuntimeError."""
        self._closed = True
        self._engine.close()

    def __enter__(self) -> Aligner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


# All that are alive; and, in a child process, what they had before: native memory that another thread was using at the
# fork is in no state to be freed.
_ALIGNERS: weakref.WeakSet[Aligner] = weakref.WeakSet()
_LEFT: list[object] = []


def _before_fork() -> None:
    """Waits for imports in other threads, whose locks a child process could never get: numpy imports this one late."""
    if len(_ALIGNERS):
        importlib.import_module("numpy.ma")


def _after_fork() -> None:
    """In a child process locks that other threads held stay locked, and what they had taken stays taken."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{__package__}."):
            _renew_locks(module)
    for aligner in list(_ALIGNERS):
        aligner._renewed_by_fork()


def _renew_locks(module: ModuleType) -> None:
    # Up to Python 3.11 there is one in each cached property.
    for class_ in [c for c in vars(module).values() if isinstance(c, type)]:
        for member in vars(class_).values():
            if isinstance(member, cached_property) and hasattr(member, "lock"):
                member.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)

_Choice = TypeVar("_Choice", bound=enum.StrEnum)


def _one_of(choices: type[_Choice], option: str, asked: str) -> _Choice:
    try:
        return choices(asked)
    except ValueError:
        raise ValueError(f"{option} is one of {', '.join(choices)}, not {asked!r}") from None


def _whole(option: str, asked: int) -> int:
    try:
        return operator.index(asked)
    except TypeError:
        raise TypeError(f"{option}: a whole number is wanted, not {asked!r}") from None


def pack(queries: Sequences, targets: Sequences) -> PairBatch:
    """Packs n pairs for Aligner.align_batch, which does it itself; worth a call for pairs aligned more than once.

    Args:
        queries: n sequences in a list, tuple or anything else that can be iterated, each a str, a bytes or one
            dimension of bytes; or a numpy array, S or U of shape [n], or u8[n, letters].
        targets: as many.

    Raises:
        TypeError: not a list of sequences, or an item that is none.
        ValueError: not as many targets as queries.
        InputError: a byte that cannot stand in a sequence; with the pair's name.
    """
    return pairs_of(queries, targets)


def align(query: Letters, target: Letters, **options: Unpack[Options]) -> Alignment:
    """Aligns one pair; options are Aligner's (without threads: the calling one does it), and so are errors.

    What options mean is worked out once for each set of them. For many pairs, align_batch is faster by far.

    >>> import wfacli
    >>> wfacli.align("ACGTTGCA", "ACGTGCA", metric="edit")
    Alignment(score=-1, cigar='3=1I4=', edits=1, span=(0, 8, 0, 7), exact=True)
    >>> wfacli.align("CGT", "AACGTAA", mode="hw").span
    (0, 3, 2, 5)
    >>> wfacli.align("ACGT", "TTTT", metric="edit", max_cost=2).status.name
    'SCORE_LIMIT'
    """
    try:
        aligner = _cached(**options)
    except TypeError:  # a list cannot be looked up, nor can an array
        aligner = _cached(**{k: tuple(v) if isinstance(v, (list, np.ndarray)) else v for k, v in options.items()})
    return aligner.align(query, target)


@lru_cache(maxsize=32)
def _cached(**options: Any) -> Aligner:
    return Aligner(**options)  # without a batch it starts no threads


def align_pairs(queries: Sequences, targets: Sequences, **options: Unpack[BatchOptions]) -> list[Alignment]:
    """Aligns query i with target i; options and errors are Aligner's, and threads is 1 unless given.

    >>> import wfacli
    >>> [a.cigar for a in wfacli.align_pairs(["ACGT", "AC"], ["AGGT", ""], metric="edit")]
    ['1=1X2=', '2I']
    """
    options.setdefault("threads", 1)
    with Aligner(**options) as aligner:
        return list(aligner.align_batch(queries, targets))
