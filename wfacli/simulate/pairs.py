"""Pairs of sequences that differ by errors of sequencing: which errors, and how the pairs become files.

The same options and seed make the same bytes on every machine, with any number of threads: all that is drawn is drawn
from integers (`native/io/simulate.hpp`), and the chances are made here from fractions, not from floating point.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from .._native import PairSimulator, Reference
from ..core.batch import U8, U32
from ..errors import InputError, UsageError
from ..io.write.output import Output
from ..run.pipeline import run_ordered

PLACES, KINDS = 64, 16  # of a read, of reads; as native/io/simulate.hpp has them
MOST_ERROR = 0.9
_ONE = 1 << 32  # a chance of 1
_LETTERS = 1 << 21  # of targets in a block
_MOST_PAIRS = 1 << 14  # in a block
_EVEN = (1,) * KINDS

Outputs = tuple[
    Output, Output | None, Output | None
]  # of queries, pairs or first reads; of targets or second reads; of true alignments


class PairsFormat(enum.StrEnum):
    """How pairs are written."""

    FASTA = "fasta"
    FASTQ = "fastq"
    SEQ = "seq"
    TSV = "tsv"

    @property
    def two_files(self) -> bool:
        """Whether queries and targets have a file each."""
        return self in (PairsFormat.FASTA, PairsFormat.FASTQ)


@dataclass(frozen=True)
class Mates:
    """Pairs of reads, as paired-end sequencing makes them.

    Attributes:
        insert: letters from the outer end of one read to that of the other, in the mean; 1 at least.
        deviation: their standard deviation; no insert is more than six of them away from the mean.
        interleaved: both reads of a pair go to the first file.
    """

    insert: int = 400
    deviation: int = 50
    interleaved: bool = False


@dataclass(frozen=True)
class ErrorModel:
    """What goes wrong.

    Attributes:
        about: in a line.
        error: edits a letter of the target, where the user says nothing.
        mismatch, insertion, deletion: how frequent errors are beside one another.
        gap: mean letters of a gap.
        runs: share of gaps that lie where a letter repeats the one before.
        last: how many times as many errors the end of a read has as its beginning.
        kinds: how many errors reads have beside one another, KINDS values, each as frequent.
        best: quality that no letter exceeds, in Phred.
    """

    about: str
    error: float
    mismatch: int
    insertion: int
    deletion: int
    gap: Fraction = Fraction(1)
    runs: Fraction = Fraction(0)
    last: int = 1
    kinds: Sequence[int] = _EVEN
    best: int = 60

    @property
    def edits(self) -> Fraction:
        """Mean edits of an error."""
        gaps = self.insertion + self.deletion
        return (self.mismatch + gaps * self.gap) / Fraction(self.mismatch + gaps)


# A few reads are much worse than most, as a platform's are: the mean is three times the best.
_UNEVEN = (4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 13, 15, 18, 22, 32)

MODELS: dict[str, ErrorModel] = {
    "uniform": ErrorModel("a third each of mismatches, insertions and deletions, anywhere", 0.05, 1, 1, 1),
    "illumina": ErrorModel(
        "mismatches, hardly a gap, more of them towards the end of a read", 0.003, 98, 1, 1, last=5, best=40
    ),
    "hifi": ErrorModel(
        "few, mostly gaps where a letter repeats", 0.002, 2, 4, 4, runs=Fraction(3, 4), kinds=_UNEVEN, best=60
    ),
    "ont": ErrorModel(
        "mismatches and gaps, deletions most of all, many where a letter repeats; reads differ much in quality",
        0.05, 8, 5, 7, gap=Fraction(3, 2), runs=Fraction(1, 2), kinds=_UNEVEN, best=50,
    ),
    "indels": ErrorModel("mostly gaps of five letters in the mean", 0.05, 2, 4, 4, gap=Fraction(5)),
}  # fmt: skip


@dataclass(frozen=True)
class PairsSpec:
    """Which pairs.

    Attributes:
        pairs: how many.
        shortest, longest: letters of targets; all lengths between are as frequent.
        model: of MODELS.
        error: mean edits a letter of the target, 0 to MOST_ERROR.
        seed: 0 to 2^64 - 1.
        format: how they are written.
        truth: whether the alignments that the errors make are wanted, as PAF.
        mates: the pairs are reads of the reference; None: targets and what is read of each.
    """

    pairs: int
    shortest: int
    longest: int
    model: str = "uniform"
    error: float | None = None
    seed: int = 1
    format: PairsFormat = PairsFormat.SEQ
    truth: bool = False
    mates: Mates | None = None


@dataclass(frozen=True)
class Made:
    """How much was made: letters of both sides or reads, and edits of the alignments that the errors make."""

    pairs: int
    letters: int
    edits: int


def chances(model: ErrorModel, error: Fraction) -> U32:
    """u32[KINDS * PLACES]: that there is an error at a letter, in 2^-32, such that the mean of edits is `error`."""
    places = [(PLACES - 1) + (model.last - 1) * i for i in range(PLACES)]
    mean = Fraction(sum(places) * sum(model.kinds), PLACES * KINDS)
    scale = error / model.edits / mean * _ONE
    return np.array([min(_ONE - 1, int(scale * kind * place)) for kind in model.kinds for place in places], np.uint32)


def phreds(chance: U32, best: int) -> U8:
    """u8[n]: qualities that say so, -10 log10 of each chance, rounded down, at most `best`."""
    ten = Context(prec=30)
    thresholds = [int(ten.power(Decimal(10), Decimal(-q) / 10) * _ONE) for q in range(best + 1)]
    # thresholds fall; the last one that is not below the chance
    rising = np.array(thresholds[::-1], np.uint64)
    return (best - np.searchsorted(rising, chance.astype(np.uint64))).clip(0, best).astype(np.uint8)


def simulator(spec: PairsSpec, reference: Reference | None) -> PairSimulator:
    """Makes any of the pairs. Raises UsageError where the reference has no sequence that is long enough."""
    model = MODELS[spec.model]
    chance = chances(model, Fraction(model.error if spec.error is None else spec.error))
    kinds = model.mismatch + model.insertion + model.deletion
    mates = spec.mates or Mates(0, 0)
    try:
        return PairSimulator(
            reference,
            chance=chance,
            phred=phreds(chance, model.best),
            mismatch=_ONE * model.mismatch // kinds,
            insertion=_ONE * (model.mismatch + model.insertion) // kinds - 1,
            longer=int((1 - 1 / model.gap) * _ONE),
            runs=int(model.runs * _ONE),
            seed=spec.seed,
            shortest=spec.shortest,
            longest=spec.longest,
            format=str(spec.format),
            truth=spec.truth,
            insert=mates.insert,
            insert_deviation=mates.deviation,
            interleaved=mates.interleaved,
        )
    except ValueError as error:
        raise UsageError(f"{'--insert' if spec.mates else '--length'}: {error}") from None


def write_pairs(
    spec: PairsSpec,
    reference: Reference | None,
    outputs: Outputs,
    threads: int,
    tell: Callable[[int], None],
    path: str | None = None,
) -> Made:
    """Makes all pairs and writes them in order.

    Args:
        spec: which.
        reference: of which targets are windows; None: they are random.
        outputs: where they go.
        threads: that make them.
        tell: gets how many are written, now and then.
        path: of the reference, for messages.

    Raises:
        UsageError: no sequence of the reference is long enough.
        InputError: the reference has hardly a window without other letters than A C G T.
        OutputError: it cannot be written.
    """
    source = simulator(spec, reference)
    longest = max(1, spec.longest, spec.mates.insert if spec.mates else 0)
    block = max(1, min(_MOST_PAIRS, _LETTERS // longest))
    made = [0, 0, 0]

    def blocks() -> Iterator[tuple[int, int]]:
        for first in range(0, spec.pairs, block):
            yield first, min(block, spec.pairs - first)

    def make(part: tuple[int, int]) -> tuple[int, tuple[U8, U8, U8, int, int]]:
        try:
            return part[1], source.make(*part)
        except RuntimeError as error:
            raise InputError(path or "the reference", str(error)) from None

    def write(part: tuple[int, tuple[U8, U8, U8, int, int]]) -> None:
        count, (query, target, truth, letters, edits) = part
        for out, text in zip(outputs, (query, target, truth), strict=True):
            if out is not None:
                out.write(text)
        for i, more in enumerate((count, letters, edits)):
            made[i] += more
        tell(made[0])

    run_ordered(blocks(), make, write, workers=threads, in_flight=threads + 2, cancel=lambda: None)
    return Made(*made)
