"""`wfacli simulate`: simulated pairs of sequences for testing and timing aligners."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._native import keep_memory_flat
from ..core.cores import usable_cores
from ..core.stats import counted
from ..errors import UsageError
from ..io.mapper.mapped import read_reference
from ..io.read.sources import Source
from ..io.write.output import Output, is_standard_output, refuse_overwriting
from ..io.write.suffixes import compressor_of
from ..simulate.pairs import MAX_ERROR, Mates, Outputs, PairsFormat, PairsSpec, Totals, write_pairs
from .console import note
from .numbers import count_of
from .options import DebugOption, MaxLineOption, ProgressOption, QuietOption
from .progress import shown_long
from .progress_line import ProgressLine
from .report import rate
from .simulate_options import (
    ErrorOption,
    FormatOption,
    InsertDeviationOption,
    InsertOption,
    InterleavedOption,
    LengthOption,
    Model,
    ModelOption,
    OutputOption,
    PairedOption,
    PairsOption,
    ReferenceOption,
    SeedOption,
    ThreadsOption,
    TruthOption,
)

_SUFFIXES = {
    **dict.fromkeys((".fa", ".fasta", ".fna"), PairsFormat.FASTA),
    **dict.fromkeys((".fq", ".fastq"), PairsFormat.FASTQ),
    ".seq": PairsFormat.SEQ,
    ".tsv": PairsFormat.TSV,
}
_LONGEST = (1 << 31) - 1


def simulate(
    pairs: PairsOption = "1k",
    length: LengthOption = "150",
    paired: PairedOption = False,
    insert: InsertOption = None,
    insert_sd: InsertDeviationOption = None,
    interleaved: InterleavedOption = False,
    model: ModelOption = None,
    error: ErrorOption = None,
    reference: ReferenceOption = None,
    seed: SeedOption = 1,
    output: OutputOption = None,
    format_: FormatOption = None,
    truth: TruthOption = None,
    threads: ThreadsOption = None,
    progress: ProgressOption = None,
    max_line: MaxLineOption = "16M",
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Makes pairs; the help is SIMULATE_HELP."""
    begun = time.perf_counter()
    keep_memory_flat()
    shortest, longest = _lengths(length)
    mates = _mates(paired, insert, insert_sd, interleaved, reference, shortest)
    chosen = model or Model("illumina" if mates else "uniform")
    form = _format(output, format_) if mates is None else _format_of_reads(output, format_, mates)
    spec = PairsSpec(count_of("--pairs", pairs), shortest, longest, str(chosen), error, seed, form, bool(truth), mates)
    if error is not None and not 0 <= error <= MAX_ERROR:
        raise UsageError(f"--error is edits per base, 0 to {MAX_ERROR}, not {error}")
    if truth is not None and is_standard_output(truth) and is_standard_output(output):
        raise UsageError("pairs and --truth cannot both be standard output: give -o FILE")
    names = _names(output, spec.format) if mates is None else _names_of_reads(output, spec.format, mates)
    refuse_overwriting((reference,), (*names, truth))
    sequences = None if reference is None else read_reference(Source(reference))
    written = 0

    def tell(count: int) -> None:
        nonlocal written
        written = count

    with (
        _opened(names, truth) as outputs,
        shown_long(lambda: _progress_line(written, spec.pairs, begun), progress, quiet),
    ):
        made = write_pairs(spec, sequences, outputs, threads or usable_cores(), tell, reference)
    if not quiet:
        _conclude(made, names, time.perf_counter() - begun)


@contextmanager
def _opened(names: tuple[str | None, str | None], truth: str | None) -> Iterator[Outputs]:
    """Open the outputs; they get their final names if the block succeeds, and keep temporary ones if it fails."""
    opened: list[Output] = []

    def one(path: str | None) -> Output:
        opened.append(Output(path))
        return opened[-1]

    try:
        query = one(names[0])
        yield query, None if names[1] is None else one(names[1]), None if truth is None else one(truth)
        for out in opened:
            out.finish()
    except BaseException:
        for out in opened:
            out.abandon()
        raise


def _progress_line(written: int, pairs: int, begun: float) -> ProgressLine:
    share = written / pairs if pairs else 1.0
    elapsed = time.perf_counter() - begun
    return ProgressLine(counted(written, "pair"), share, elapsed / share - elapsed if share else None)


def _conclude(made: Totals, names: tuple[str | None, str | None], seconds: float) -> None:
    where = "" if names[1] is None else f" in {names[0]} and {names[1]}"
    note(
        f"{counted(made.pairs, 'pair')}, {counted(made.bases, 'base')}, {counted(made.edits, 'edit')}{where}; "
        f"{seconds:.2f} s, {rate(made.pairs / max(seconds, 1e-9))} pairs/s"
    )


def _lengths(text: str) -> tuple[int, int]:
    shortest, _, longest = text.partition("-")
    first = count_of("--length", shortest)
    last = count_of("--length", longest) if longest else first
    if not first <= last <= _LONGEST:
        raise UsageError(f"--length is one length, or the shortest and the longest like 100-20k, not {text!r}")
    return first, last


def _mates(
    paired: bool, insert: str | None, deviation: str | None, interleaved: bool, reference: str | None, shortest: int
) -> Mates | None:
    """Return the parameters of paired reads; None without --paired. Raises UsageError."""
    if not paired:
        given = {"--insert": insert is not None, "--insert-sd": deviation is not None, "--interleaved": interleaved}
        if unused := [name for name, used in given.items() if used]:
            raise UsageError(f"{unused[0]} is for pairs of reads: give --paired")
        return None
    if reference is None:
        raise UsageError("--paired simulates reads of a reference: give --reference FILE")
    mean = Mates.insert if insert is None else count_of("--insert", insert)
    spread = Mates.deviation if deviation is None else count_of("--insert-sd", deviation)
    if shortest < 1:
        raise UsageError("reads have at least one base: --length is 1 or more with --paired")
    if not (0 < mean <= _LONGEST and spread <= _LONGEST // 8):
        raise UsageError(f"--insert is 1 to {_LONGEST:,} bases, and --insert-sd at most {_LONGEST // 8:,}")
    return Mates(mean, spread, interleaved)


def _suffix_of(output: str | None) -> str:
    if compressor_of(output):
        raise UsageError(f"simulate does not compress its output: write {Path(output or '').stem} and compress it")
    return Path(output).suffix.lower() if output else ""


def _format_of_reads(output: str | None, chosen: PairsFormat | None, mates: Mates) -> PairsFormat:
    suffix = _suffix_of(output)
    found = chosen or _SUFFIXES.get(suffix, None if suffix else PairsFormat.FASTQ)
    if found is None or not found.two_files:
        raise UsageError("reads are FASTA or FASTQ: -o NAME.fq, NAME.fa, or --format")
    if output in (None, "-") and not mates.interleaved:
        raise UsageError("reads of pairs go to two files: give -o NAME.fq, or --interleaved for a pipe")
    return found


def _names_of_reads(output: str | None, format_: PairsFormat, mates: Mates) -> tuple[str | None, str | None]:
    """Return the file names of first (or all) reads and of second reads; None: standard output, or no second file."""
    if mates.interleaved or output is None:
        return output, None
    suffix = Path(output).suffix
    known = suffix.lower() in _SUFFIXES
    stem = output[: len(output) - len(suffix)] if known else output
    ending = suffix if known else "." + ("fq" if format_ is PairsFormat.FASTQ else "fa")
    return f"{stem}_1{ending}", f"{stem}_2{ending}"


def _format(output: str | None, chosen: PairsFormat | None) -> PairsFormat:
    suffix = _suffix_of(output)
    if suffix and not chosen and suffix not in _SUFFIXES:
        raise UsageError(
            f"{output}: {suffix} is not the suffix of a format of pairs ({', '.join(_SUFFIXES)}): give --format"
        )
    found = chosen or _SUFFIXES.get(suffix, PairsFormat.SEQ)
    if found.two_files and output in (None, "-"):
        raise UsageError(f"{found.upper()} requires two files: give -o FILE, or --format seq or tsv for a pipe")
    return found


def _names(output: str | None, format_: PairsFormat) -> tuple[str | None, str | None]:
    """Return the file names of queries (or pairs) and of targets; None: standard output, or no second file."""
    if not format_.two_files or output is None:
        return output, None
    path = Path(output)
    suffix = path.suffix if path.suffix.lower() in _SUFFIXES else f".{format_}"
    stem = str(path)[: len(str(path)) - len(path.suffix)] if path.suffix.lower() in _SUFFIXES else str(path)
    targets = suffix if format_ is PairsFormat.FASTA else ".fa"
    return f"{stem}.query{suffix}", f"{stem}.target{targets}"
