"""Reader of the two sequences, and their translation into codes of a scoring scheme."""

from __future__ import annotations

import numpy as np

from ...config import Ambiguous
from ...core.batch import U8
from ...errors import InputError
from ...scoring.scheme import NO_CODE, Scheme
from ..distance.inputs import Inputs, Side, read_sequences

_NUCLEOTIDES = b"ACGTURYSWKMBDHVN"


def read_pair(paths: tuple[str, str], names: tuple[str | None, str | None]) -> Inputs:
    """Read one record of each file, symbols unchanged. Raises UsageError, InputError; see `read_sequences`."""
    return read_sequences(paths, names, Ambiguous.LITERAL, keep_symbols=True)


def are_nucleotides(inputs: Inputs) -> bool:
    """Return True if both sequences consist of nucleotide codes of IUPAC."""
    known = np.zeros(256, np.bool_)
    known[np.frombuffer(_NUCLEOTIDES + _NUCLEOTIDES.lower(), np.uint8)] = True
    return bool(known[inputs.pair.query].all() and known[inputs.pair.target].all())


def codes_of(inputs: Inputs, scheme: Scheme) -> tuple[U8, U8]:
    """Return the codes of both sequences, u8. Raises InputError if the scheme has no scores for a symbol."""
    query, target = (_codes(side, symbols, scheme) for side, symbols in zip(
        (inputs.a, inputs.b), (inputs.pair.query, inputs.pair.target), strict=True
    ))  # fmt: skip
    return query, target


def _codes(side: Side, symbols: np.ndarray, scheme: Scheme) -> U8:
    codes: U8 = scheme.codes[symbols]
    unknown = codes == NO_CODE
    if unknown.any():
        place = int(unknown.argmax())
        raise InputError(
            side.path,
            f"symbol {place + 1:,} is {chr(symbols[place])!r}, for which {scheme.name} has no scores",
            side.name,
        )
    return codes
