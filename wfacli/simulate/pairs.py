"""Simulated pairs of sequences that differ by sequencing errors: error models, and output.

The same options and seed give the same bytes on every machine, with any number of threads: all random choices use
integers (`native/io/simulate.hpp`), and the probabilities are computed here from fractions, not in floating point.
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

PLACES, KINDS = 64, 16  # positions along a read, classes of reads; as in native/io/simulate.hpp
MAX_ERROR = 0.9
_ONE = 1 << 32  # probability 1
_BLOCK_BASES = 1 << 21  # target bases of a block
_MAX_PAIRS = 1 << 14  # maximum pairs of a block
_EVEN = (1,) * KINDS

Outputs = tuple[
    Output, Output | None, Output | None
]  # queries, pairs or first reads; targets or second reads; true alignments


class PairsFormat(enum.StrEnum):
    """How pairs are written."""

    FASTA = "fasta"
    FASTQ = "fastq"
    SEQ = "seq"
    TSV = "tsv"

    @property
    def two_files(self) -> bool:
        """True if queries and targets are written to separate files."""
        return self in (PairsFormat.FASTA, PairsFormat.FASTQ)


@dataclass(frozen=True)
class Mates:
    """Paired-end reads.

    Attributes:
        insert: mean insert size in bases, including both reads; at least 1.
        deviation: standard deviation of the insert size; it differs from the mean by at most six of these.
        interleaved: write both reads of a pair to the first file.
    """

    insert: int = 400
    deviation: int = 50
    interleaved: bool = False


@dataclass(frozen=True)
class ErrorModel:
    """An error model.

    Attributes:
        about: description in one line.
        error: default error rate, in edits a base of the target.
        mismatch, insertion, deletion: relative frequencies of errors.
        gap: mean length of a gap in bases.
        runs: share of gaps inside homopolymers.
        last: error rate at the end of a read, relative to its beginning.
        kinds: relative error rates of KINDS equally frequent classes of reads.
        best: maximum Phred quality of a base.
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
        """Mean number of edits of an error."""
        gaps = self.insertion + self.deletion
        return (self.mismatch + gaps * self.gap) / Fraction(self.mismatch + gaps)


# A few reads are much worse than most, as on real platforms: the mean is three times the best.
_UNEVEN = (4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 13, 15, 18, 22, 32)

MODELS: dict[str, ErrorModel] = {
    "uniform": ErrorModel("equal numbers of mismatches, insertions and deletions, at random positions", 0.05, 1, 1, 1),
    "illumina": ErrorModel(
        "mostly mismatches, more of them towards the end of a read", 0.003, 98, 1, 1, last=5, best=40
    ),
    "hifi": ErrorModel(
        "few errors, mostly gaps in homopolymers", 0.002, 2, 4, 4, runs=Fraction(3, 4), kinds=_UNEVEN, best=60
    ),
    "ont": ErrorModel(
        "mismatches and gaps, most of them deletions, many in homopolymers; reads differ in quality",
        0.05, 8, 5, 7, gap=Fraction(3, 2), runs=Fraction(1, 2), kinds=_UNEVEN, best=50,
    ),
    "indels": ErrorModel("mostly gaps, of five bases on average", 0.05, 2, 4, 4, gap=Fraction(5)),
}  # fmt: skip


@dataclass(frozen=True)
class PairsSpec:
    """Which pairs to simulate.

    Attributes:
        pairs: number of pairs.
        shortest, longest: bounds of the target length in bases, which is distributed uniformly.
        model: name of an error model in MODELS.
        error: mean edits a base of the target, 0 to MAX_ERROR; None for the model's default.
        seed: random seed, 0 to 2^64 - 1.
        format: output format.
        truth: also write the true alignments as PAF.
        mates: paired-end reads of the reference; None for targets with one read each.
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
class Totals:
    """Totals of a simulation: pairs, bases of both sides or reads, and edits of the true alignments."""

    pairs: int
    bases: int
    edits: int


def chances(model: ErrorModel, error: Fraction) -> U32:
    """Return error probabilities by class and position, u32[KINDS * PLACES] in 2^-32, with mean edits `error`."""
    places = [(PLACES - 1) + (model.last - 1) * i for i in range(PLACES)]
    mean = Fraction(sum(places) * sum(model.kinds), PLACES * KINDS)
    scale = error / model.edits / mean * _ONE
    return np.array([min(_ONE - 1, int(scale * kind * place)) for kind in model.kinds for place in places], np.uint32)


def phreds(chance: U32, best: int) -> U8:
    """Return Phred qualities (u8[n]) of error probabilities: -10 log10 p, rounded down, at most `best`."""
    ten = Context(prec=30)
    thresholds = [int(ten.power(Decimal(10), Decimal(-q) / 10) * _ONE) for q in range(best + 1)]
    # thresholds fall with q; the result is the last one that is not below the probability
    rising = np.array(thresholds[::-1], np.uint64)
    return (best - np.searchsorted(rising, chance.astype(np.uint64))).clip(0, best).astype(np.uint8)


def simulator(spec: PairsSpec, reference: Reference | None) -> PairSimulator:
    """Return the generator of the pairs. Raises UsageError if no sequence of the reference is long enough."""
    model = MODELS[spec.model]
    chance = chances(model, Fraction(model.error if spec.error is None else spec.error))
    kinds = model.mismatch + model.insertion + model.deletion
    mates = spec.mates or Mates(0, 0)
    try:
        return PairSimulator(
            reference,
            error_rate=chance,
            phred=phreds(chance, model.best),
            mismatch=_ONE * model.mismatch // kinds,
            insertion=_ONE * (model.mismatch + model.insertion) // kinds - 1,
            extension=int((1 - 1 / model.gap) * _ONE),
            runs=int(model.runs * _ONE),
            seed=spec.seed,
            min_length=spec.shortest,
            max_length=spec.longest,
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
) -> Totals:
    """Simulate all pairs and write them in order.

    Args:
        spec: which pairs.
        reference: sequences that targets are windows of; None for random targets.
        outputs: output files.
        threads: number of threads that simulate.
        tell: called from time to time with the number of pairs written.
        path: of the reference, for error messages.

    Raises:
        UsageError: no sequence of the reference is long enough.
        InputError: hardly a window of the reference consists of A C G T only.
        OutputError: the output cannot be written.
    """
    source = simulator(spec, reference)
    longest = max(1, spec.longest, spec.mates.insert if spec.mates else 0)
    block = max(1, min(_MAX_PAIRS, _BLOCK_BASES // longest))
    made = [0, 0, 0]

    def blocks() -> Iterator[tuple[int, int]]:
        for first in range(0, spec.pairs, block):
            yield first, min(block, spec.pairs - first)

    def make(part: tuple[int, int]) -> tuple[int, tuple[U8, U8, U8, int, int]]:
        try:
            return part[1], source.make(*part)
        except RuntimeError as error:
            raise InputError(path or "the reference", str(error)) from None

    def write(parts: list[tuple[int, tuple[U8, U8, U8, int, int]]]) -> None:
        for count, (query, target, truth, bases, edits) in parts:
            for out, text in zip(outputs, (query, target, truth), strict=True):
                if out is not None:
                    out.write(text)
            for i, more in enumerate((count, bases, edits)):
                made[i] += more
            tell(made[0])

    run_ordered(blocks(), make, write, workers=threads, in_flight=threads + 2, cancel=lambda: None)
    return Totals(*made)
