"""Outputs of a pair whose distance is known: its alignment in any format, and a dot plot."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ... import dotplot
from ...config import Format
from ...dotplot.draw import write as write_picture
from ...dotplot.paths import Block, read_blocks
from ...dotplot.picture import default_size, picture_of, refuse_picture
from ...dotplot.sequences import Axis
from ...errors import OutputError, UsageError, WfacliError
from ...io.write.output import Output
from ...io.write.scratch import Scratch
from ...io.write.suffixes import compressor_of
from .inputs import Inputs, Unit
from .path import PathOptions, write_path
from .symbols_path import as_patch, as_table, operation_counts, symbols_path

_BLOCK = 1 << 22


class Form(enum.StrEnum):
    """Output format of an alignment."""

    PAF = "paf"
    SAM = "sam"
    BAM = "bam"
    TSV = "tsv"
    DIFF = "diff"


_FORMS = {
    Unit.SYMBOLS: (Form.PAF, Form.SAM, Form.BAM),
    Unit.BYTES: (Form.TSV,),
    Unit.LINES: (Form.DIFF, Form.TSV),
}
_SUFFIXES = {
    ".sam": Form.SAM,
    ".bam": Form.BAM,
    ".paf": Form.PAF,
    ".tsv": Form.TSV,
    ".diff": Form.DIFF,
    ".patch": Form.DIFF,
}


def form_of(path: str | None, chosen: Form | None, unit: Unit) -> Form:
    """Return the format of `distance --path`; see `choose_form`."""
    return choose_form(_FORMS[unit], path, chosen, "wfacli distance … --path", f"--path writes {unit.plural}")


def choose_form(possible: Sequence[Form], path: str | None, chosen: Form | None, command: str, writes: str) -> Form:
    """Return the output format: the chosen one, else by the suffix of the path, else the default.

    Call this before long work: it also checks that pysam, which writes BAM, is installed.

    Args:
        possible: supported formats, the default first.
        path: output path; None: standard output.
        chosen: format given by an option; None: not given.
        command: command that messages suggest in a pipe.
        writes: beginning of the message about an unsupported format.

    Raises:
        UsageError: the format is not supported.
        WfacliError: BAM is requested and pysam is missing.
    """
    suffix = Path(path).suffix.lower() if path else ""
    if suffix == ".cram":
        raise UsageError(f"CRAM is not written: {command} --format sam | samtools view -C -o {path}")
    if program := compressor_of(path):
        raise UsageError(f"this command does not compress its output: {command} | {program} > {path}")
    if chosen is None:
        refuse_picture(path, f"--plot {path}")
    form = chosen or _SUFFIXES.get(suffix, possible[0])
    if form not in possible:
        raise UsageError(f"{writes} as {' or '.join(f.upper() for f in possible)}, not as {form.upper()}")
    if form is Form.BAM:
        _pysam(command)
    return form


def _pysam(command: str) -> Any:
    try:
        import pysam
    except ModuleNotFoundError:
        raise WfacliError(
            "BAM is written by pysam, which is missing: pip install pysam, "
            f"or {command} --format sam | samtools view -b"
        ) from None
    return pysam


@dataclass(frozen=True)
class Delivery:
    """Requested outputs and their destinations.

    Attributes:
        form: format of the alignment; None: it is computed only for the dot plot.
        out: destination of the alignment.
        picture: destination of the dot plot; None: none is drawn.
        options: how the alignment is computed.
        stop: polled; returns True if the run should stop.
    """

    form: Form | None
    out: Output
    picture: Output | None
    options: PathOptions
    stop: Callable[[], bool]

    def deliver(self, inputs: Inputs, distance: int | None) -> dict[str, Any] | None:
        """Compute and write all requested outputs; return the counts of the alignment, as `path.write_path` does.

        Without a distance there is no alignment, but a dot plot still shows what the sequences have in common.

        Raises:
            Cancelled, InternalError, WfacliError, InputError: see `write_path` and `symbols_path`.
            OutputError: an output cannot be written.
        """
        if inputs.unit is Unit.SYMBOLS:
            return self._sequences(inputs, distance)
        if distance is None:
            cigar = counts = None
        else:
            cigar = symbols_path(inputs.pair, distance, self.stop)
            counts = {**operation_counts(cigar), "by": "cpu-fronts", "gpu_failed": None}
            if self.form is not None:
                for piece in as_patch(cigar, inputs) if self.form is Form.DIFF else as_table(cigar):
                    self.out.write(piece)
        if self.picture:
            whole = (0, inputs.a.length), (0, inputs.b.length)
            self._draw(inputs, [] if cigar is None else [Block(*whole, cigar=cigar)])
        return counts

    def _sequences(self, inputs: Inputs, distance: int | None) -> dict[str, Any] | None:
        text = Format.SAM if self.form in (Form.SAM, Form.BAM) else Format.PAF
        options = replace(self.options, format=text)
        if self.form in (Form.SAM, Form.PAF) and not self.picture:
            return write_path(inputs, distance, options, self.out, self.stop)
        with Scratch() as folder:
            file = str(Path(folder) / f"path.{text}")
            written = Output(file)
            try:
                counts = write_path(inputs, distance, options, written, self.stop)
            finally:
                written.finish()
            if self.form is Form.BAM:
                copy_to(self.out, as_bam(file))
            elif self.form is not None:
                copy_to(self.out, file)
            if self.picture:
                self._draw(inputs, None if distance is None else file)
        return counts

    def _draw(self, inputs: Inputs, path: str | list[Block] | None) -> None:
        assert self.picture
        axes = Axis.of(inputs.pair.query, inputs.a.name), Axis.of(inputs.pair.target, inputs.b.name)
        blocks = path if isinstance(path, list) else [] if path is None else read_blocks(path, *axes)
        format_ = dotplot.format_of(self.picture.name)
        literal = inputs.unit is not Unit.SYMBOLS
        write_picture(self.picture, picture_of(*axes, blocks, size=default_size(format_), literal=literal), format_)


def as_bam(sam: str) -> str:
    """Convert a SAM file to a BAM file beside it, and return its path. Raises OutputError.

    htslib stores a CIGAR of more than 65,535 operations in the CG tag, where readers expect it.
    """
    pysam, bam = _pysam("wfacli"), f"{sam}.bam"
    before = pysam.set_verbosity(0)
    try:
        records = pysam.AlignmentFile(sam, "r", check_sq=False)
        with records, pysam.AlignmentFile(bam, "wb", template=records) as written:
            for record in records:
                written.write(record)
    except (OSError, ValueError) as error:
        raise OutputError(f"BAM cannot be written: {error}") from None
    finally:
        pysam.set_verbosity(before)
    return bam


def copy_to(out: Output, path: str) -> None:
    """Copy a file to the output. Raises OutputError."""
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK):
            out.write(block)
