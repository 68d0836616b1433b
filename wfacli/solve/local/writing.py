"""Output of local alignments as PAF, SAM, BAM or TSV records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...config import Config, Format, OutputSpec
from ...core.batch import AlignmentBatch, PairBatch
from ...io.write.format import Formatter
from ...io.write.header import header_around
from ...io.write.output import Output
from ...io.write.scratch import Scratch
from ..distance.deliver import Form, as_bam, copy_to
from ..distance.inputs import Inputs
from ..distance.path import check_names, sq_line
from .found import Found

FORMS = (Form.PAF, Form.SAM, Form.BAM, Form.TSV)
_SECONDARY = b"256"  # SAM flag of a secondary alignment


def write_alignments(
    inputs: Inputs, found: Sequence[Found], form: Form, version: str, command_line: str, out: Output
) -> None:
    """Write local alignments in one of FORMS. Raises the errors of `_write_text`, and OutputError."""
    if form is not Form.BAM:
        _write_text(inputs, found, Format(form.value), version, command_line, out)
        return
    with Scratch() as folder:
        file = str(Path(folder) / "local.sam")
        written = Output(file)
        try:
            _write_text(inputs, found, Format.SAM, version, command_line, written)
        finally:
            written.finish()
        copy_to(out, as_bam(file))


def _write_text(
    inputs: Inputs, found: Sequence[Found], format_: Format, version: str, command_line: str, out: Output
) -> None:
    """Write the header of the format, if any, and a record per alignment; without alignments, a record of score 0.

    All but the first are secondary alignments: flag 256 in SAM, tp:A:S in PAF.

    Raises:
        UsageError: the sequences are too long for records.
        InputError: a name is not valid in SAM.
        OutputError: the output cannot be written.
        OutputClosed: the reader of the output has closed it.
    """
    config = Config(output=OutputSpec(format_), command_line=command_line)
    pairs = inputs.as_batch(0)
    if format_ is Format.SAM:
        check_names(inputs)
        for piece in header_around(sq_line(inputs), config, version):
            out.write(piece)
    formatter = Formatter(config.output, scores_only=False, heuristic=False)
    if format_ is Format.TSV:
        out.write(formatter.titles)
    for number, one in enumerate(found or [Found(0, (0, 0, 0, 0), np.zeros(0, np.uint32))]):
        text = formatter.format(pairs, _as_batch(pairs, one))[0]
        out.write(text if number == 0 else _secondary(text.tobytes(), format_))


def _as_batch(pairs: PairBatch, found: Found) -> AlignmentBatch:
    assert found.cigar is not None
    return AlignmentBatch(
        ordinal=pairs.ordinal,
        status=np.zeros(1, np.uint8),
        cut=np.zeros(1, np.uint8),
        score=np.array([found.score], np.int32),
        span=np.array([found.span], np.int32),
        cigar=found.cigar,
        cigar_start=np.array([0, len(found.cigar)], np.int64),
        origin=np.zeros(1, np.uint8),
        kernels=("local",),
    )


def _secondary(line: bytes, format_: Format) -> bytes:
    if format_ is Format.SAM:
        name, _, rest = line.split(b"\t", 2)
        return b"\t".join((name, _SECONDARY, rest))
    if format_ is Format.PAF:
        return line.replace(b"\ttp:A:P\t", b"\ttp:A:S\t", 1)
    return line
