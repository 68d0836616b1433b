"""Python API: alignment of sequences in memory.

Alignments are those of the command line: exact under the given costs unless heuristics are on. Among equally good
alignments the choice is the same on every machine, with any threads and any other pairs in the batch
(docs/semantics.md).
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
from .config import MAX_THREADS, AlignSpec, Ambiguous, FreeEnds, Heuristics, Limits, Metric, Mode, Penalties
from .core.batch import NO_SCORE, PairBatch, Status
from .core.cores import usable_cores
from .core.stats import Stats
from .engines.cpu import CpuEngine
from .engines.execute import align_batch
from .engines.single import SingleEngine
from .errors import UsageError
from .io.read.memory import SequenceLike, Sequences, pairs_of
from .plan.planner import Planner
from .results import Alignment, AlignmentBatch

MetricName = Metric | Literal["edit", "indel", "linear", "affine", "affine2p"]
ModeName = Mode | Literal["global", "semiglobal", "overlap", "ends-free", "extension"]
AmbiguousName = Ambiguous | Literal["mismatch", "wildcard", "literal"]


class Options(TypedDict, total=False):
    """Keyword arguments of align; Aligner documents them."""

    metric: MetricName
    penalties: Sequence[int] | None
    match: int
    mode: ModeName
    free: tuple[int, int, int, int]
    ambiguous: AmbiguousName
    n_penalty: int | None
    score_only: bool
    heuristics: Heuristics | None
    max_cost: int | None
    limits: Limits | None


class BatchOptions(Options, total=False):
    """Keyword arguments of align_pairs; Aligner documents them."""

    threads: int | None


class Aligner:
    """Aligns single pairs in the calling thread, and batches on its own threads.

    An Aligner is a context manager and thread-safe. It also works in a child process made by os.fork() (including
    multiprocessing's start method "fork"), whatever other threads were doing with it; the child has its own threads.

    >>> import wfacli
    >>> with wfacli.Aligner(metric="affine", penalties=(4, 6, 2), threads=2) as aligner:
    ...     done = aligner.align_batch(["ACGTTGCA", "ACGT"], ["ACGTGCA", "ACGT"])
    >>> done.cigars()
    ['3=1I4=', '4=']
    >>> done.score
    array([-8,  0], dtype=int32)

    Attributes:
        spec: validated options that determine the alignments.
        stats: counts and times of all batches so far.
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
        n_penalty: int | None = None,
        score_only: bool = False,
        heuristics: Heuristics | None = None,
        max_cost: int | None = None,
        limits: Limits | None = None,
        threads: int | None = None,
    ) -> None:
        """Validate the options and start an engine.

        Args:
            metric: cost model: "edit" (every edit costs 1), "indel" (every inserted or deleted base costs 1; no
                mismatches), "linear" (mismatch and gap penalties), "affine" (a gap of l bases costs
                open + l * extend) or "affine2p" (two-piece affine: the lower of two such costs).
            penalties: costs of 1 to 10,000 (gap openings from 0), in the order of the metric's parameters. Defaults:
                linear 4, 2 (mismatch, gap); affine 4, 6, 2 (mismatch, open, extend); affine2p 4, 6, 2, 24, 1.
            match: match bonus, 0 to 10,000; a score is the sum of bonuses minus the costs.
            mode: "global" (both sequences end to end), "semiglobal" (the whole query, anywhere in the target),
                "overlap" (ends of either sequence may stay unaligned), "ends-free" (at most `free` bases may stay
                unaligned) or "extension" (from the beginning of both to the best end). Overlap and extension require
                match.
            free: for "ends-free": maximum unaligned bases at query begin, query end, target begin and target end; they
                cost nothing.
            ambiguous: how characters other than A, C, G, T, U (equal to T) are compared; case is always ignored.
                "mismatch": they match nothing; "wildcard": IUPAC codes match if they share a nucleotide; "literal":
                every character matches only itself.
            n_penalty: with "mismatch": penalty of aligning those characters with anything, 0 to that of a mismatch,
                which is the default. Not with metric "edit" or "indel", a band or an X-drop.
            score_only: compute scores without CIGARs, edits and text output.
            heuristics: pruning of the search, if any; alignments that it may have affected are not `exact`.
            max_cost: maximum cost; pairs that cost more have no alignment. Not allowed with match.
            limits: maximum memory of a pair, in bytes.
            threads: CPU threads of align_batch, 1 to 1,048,576; by default all cores that the process may use.

        Raises:
            TypeError: a number is not an integer.
            ValueError: an unknown metric, mode or rule, or threads out of range.
            UsageError: penalties out of range, or conflicting options.
        """
        chosen, charged = _one_of(Mode, "mode", mode), _one_of(Metric, "metric", metric)
        if isinstance(penalties, str):
            raise TypeError(f"penalties are whole numbers, not {penalties!r}")
        costs = None if penalties is None else [_whole("penalties", cost) for cost in penalties]
        charge = None if n_penalty is None else _whole("n_penalty", n_penalty)
        ends = FreeEnds(*(_whole("free", bases) for bases in free))
        if ends and chosen is not Mode.ENDS_FREE:
            raise UsageError(f"free requires mode ends-free, not {chosen}")
        self.spec = AlignSpec(
            metric=charged,
            penalties=dataclasses.replace(Penalties.of(charged, costs, _whole("match", match)), ambiguous=charge),
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
        if not 1 <= self._threads <= MAX_THREADS:
            raise ValueError(f"threads is a number from 1 to {MAX_THREADS:,}, not {self._threads:,}")
        self._planner = Planner(self.spec, self._limits)
        self._engine = self._new_engine()
        self._single = SingleEngine(self.spec, self._limits)
        self._closed = False
        _ALIGNERS.add(self)

    def _renewed_by_fork(self) -> None:
        """Replace threads, locks and buffers in a forked child, which has no threads and may find buffers in use."""
        _LEFT.append((self._engine, self._single))
        self.stats.renew_lock()
        self._engine = self._new_engine()
        self._single = SingleEngine(self.spec, self._limits)
        if self._closed:
            self._engine.close()

    def _new_engine(self) -> CpuEngine:
        return CpuEngine(self.spec, self._limits, self._threads, stats=self.stats)

    def align(self, query: SequenceLike, target: SequenceLike) -> Alignment:
        """Align one pair in the calling thread, with the GIL released.

        Args:
            query: str, bytes or a one-dimensional buffer of bytes.
            target: same types as query.

        Returns:
            The alignment; if there is none, an Alignment whose status says why.

        Raises:
            TypeError: an argument is not a sequence.
            InputError: a byte that is not allowed in a sequence.
            RuntimeError: the Aligner is closed.
        """
        self._check_open()
        return Alignment._make(self._single.align(query, target))

    @overload
    def align_batch(self, queries: PairBatch) -> AlignmentBatch: ...
    @overload
    def align_batch(self, queries: Sequences, targets: Sequences) -> AlignmentBatch: ...
    def align_batch(self, queries: PairBatch | Sequences, targets: Sequences | None = None) -> AlignmentBatch:
        """Align query i to target i on the Aligner's threads, with the GIL released.

        Args:
            queries: n sequences, or a packed batch (see pack), which can be aligned any number of times.
            targets: n sequences; omitted for a packed batch.

        Returns:
            Columns of n rows in the order of the pairs, with a status for each. A pair without an alignment does not
            raise.

        Raises:
            TypeError: the arguments are not lists of sequences.
            ValueError: the numbers of queries and targets differ.
            InputError: a byte that is not allowed in a sequence.
            RuntimeError: the Aligner is closed.
        """
        self._check_open()
        if not isinstance(queries, PairBatch):
            if targets is None:
                raise TypeError("align_batch requires queries and targets, or a packed batch")
            queries = pairs_of(queries, targets)
        elif targets is not None:
            raise TypeError("a packed batch has its targets")
        pairs = queries
        try:
            done = align_batch(self._engine, pairs, self._planner, self.stats)
        except KeyboardInterrupt:
            # The results of pairs still running are not needed, and the threads would stay busy with them.
            self._engine.cancel()
            self._engine = self._new_engine()
            raise
        columns = {f.name: getattr(done, f.name) for f in dataclasses.fields(done)}
        if np.count_nonzero(done.status):
            columns["score"] = np.where(done.status == np.uint8(Status.OK), done.score, np.int32(NO_SCORE))
        if self.spec.by_bits and not self.spec.score_only:
            columns["cigar"], columns["cigar_start"] = written_cigars(pairs, done)
        return AlignmentBatch(**columns, pairs=pairs, spec=self.spec)

    def close(self) -> None:
        """Stop the threads. Afterwards align and align_batch raise RuntimeError, as does a `with` statement."""
        self._closed = True
        self._engine.close()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the Aligner is closed")

    def __enter__(self) -> Aligner:
        self._check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


# All living Aligners; and, in a child process, the engines they had before the fork. Those are never freed, since
# another thread may have been using their native memory at the fork.
_ALIGNERS: weakref.WeakSet[Aligner] = weakref.WeakSet()
_LEFT: list[object] = []


def _before_fork() -> None:
    """Wait for imports in other threads, whose locks would stay locked in the child: numpy imports numpy.ma late."""
    if len(_ALIGNERS):
        importlib.import_module("numpy.ma")


def _after_fork() -> None:
    """Renew locks and engines in a child process: locks that other threads held at the fork are never released."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{__package__}."):
            _renew_locks(module)
    for aligner in list(_ALIGNERS):
        aligner._renewed_by_fork()


def _renew_locks(module: ModuleType) -> None:
    # Up to Python 3.11 each cached_property has a lock.
    for class_ in [c for c in vars(module).values() if isinstance(c, type)]:
        for member in vars(class_).values():
            if isinstance(member, cached_property) and hasattr(member, "lock"):
                member.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)

_Choice = TypeVar("_Choice", bound=enum.StrEnum)


def _one_of(choices: type[_Choice], option: str, value: str) -> _Choice:
    try:
        return choices(value)
    except ValueError:
        raise ValueError(f"{option} is one of {', '.join(choices)}, not {value!r}") from None


def _whole(option: str, value: int) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{option}: a whole number is required, not {value!r}") from None


def pack(queries: Sequences, targets: Sequences) -> PairBatch:
    """Pack n pairs for Aligner.align_batch, for pairs that are aligned more than once.

    Args:
        queries: n sequences as any iterable, each a str, bytes or a one-dimensional buffer of bytes; or a numpy
            array, S or U of shape [n], or u8[n, bases].
        targets: n sequences, in any of the same types.

    Raises:
        TypeError: an argument is not a list of sequences, or an item is not a sequence.
        ValueError: the numbers of queries and targets differ.
        InputError: a byte that is not allowed in a sequence; the error names the pair.
    """
    return pairs_of(queries, targets)


def align(query: SequenceLike, target: SequenceLike, **options: Unpack[Options]) -> Alignment:
    """Align one pair in the calling thread; options and errors are those of Aligner, without threads.

    The options are validated once for each set of them. Use align_batch for many pairs: it is much faster.

    >>> import wfacli
    >>> wfacli.align("ACGTTGCA", "ACGTGCA", metric="edit")
    Alignment(score=-1, cigar='3=1I4=', edits=1, span=(0, 8, 0, 7), exact=True)
    >>> wfacli.align("CGT", "AACGTAA", mode="semiglobal").span
    (0, 3, 2, 5)
    >>> wfacli.align("ACGT", "TTTT", metric="edit", max_cost=2).status.name
    'SCORE_LIMIT'
    """
    try:
        aligner = _cached(**options)
    except TypeError:  # lists and arrays are not hashable
        aligner = _cached(**{k: tuple(v) if isinstance(v, (list, np.ndarray)) else v for k, v in options.items()})
    return aligner.align(query, target)


@lru_cache(maxsize=32)
def _cached(**options: Any) -> Aligner:
    return Aligner(**options)  # threads are started by the first batch only


def align_pairs(queries: Sequences, targets: Sequences, **options: Unpack[BatchOptions]) -> list[Alignment]:
    """Align query i to target i; options and errors are those of Aligner, with one thread by default.

    >>> import wfacli
    >>> [a.cigar for a in wfacli.align_pairs(["ACGT", "AC"], ["AGGT", ""], metric="edit")]
    ['1=1X2=', '2I']
    """
    options.setdefault("threads", 1)
    with Aligner(**options) as aligner:
        return list(aligner.align_batch(queries, targets))
