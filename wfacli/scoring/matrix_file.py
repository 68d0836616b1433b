"""Substitution matrices in NCBI's text format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import InputError, UsageError

_TABLES = Path(__file__).with_name("tables")
# Built-in matrices, and the default (open, extend) of BLAST for each.
BUILT_IN = {"BLOSUM62": (11, 1), "BLOSUM50": (13, 2), "PAM250": (14, 2)}
_MAX_SUBSTITUTION, _MAX_ALPHABET = 127, 30
_MAX_BYTES = 1 << 20  # of a file, far more than a matrix and its comments have


@dataclass(frozen=True)
class SubstitutionMatrix:
    """Substitution scores of a matrix file.

    Attributes:
        name: as the user gave it.
        alphabet: upper-case symbols in the order of the file's columns.
        scores: i8[A, A]; rows belong to the query, columns to the target.
    """

    name: str
    alphabet: str
    scores: npt.NDArray[np.int8]


def read_matrix(name: str) -> tuple[SubstitutionMatrix, tuple[int, int] | None]:
    """Return a matrix by its name or path, and its default gaps (open, extend) if it is built in.

    Raises:
        UsageError: neither the name of a built-in matrix nor a file.
        InputError: the file cannot be read, or is not a matrix.
    """
    known = name.upper()
    path = _TABLES / known if known in BUILT_IN else Path(name)
    try:
        with path.open(encoding="ascii") as file:
            text = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"{name} is neither a file nor one of the matrices {', '.join(BUILT_IN)}") from None
    except UnicodeDecodeError:
        raise InputError(name, "is not a matrix: it contains non-ASCII bytes") from None
    except OSError as error:
        raise InputError(name, error.strerror or "cannot be read") from None
    if len(text) > _MAX_BYTES:
        raise InputError(name, f"is not a matrix: it is larger than {_MAX_BYTES:,} bytes")
    alphabet, scores = parse_matrix(text, name)
    return SubstitutionMatrix(known if known in BUILT_IN else name, alphabet, scores), BUILT_IN.get(known)


def parse_matrix(text: str, path: str) -> tuple[str, npt.NDArray[np.int8]]:
    """Parse a matrix in NCBI's format into (alphabet, i8[A, A]).

    Lines that start with # are followed by one with the symbols of the columns; each further line has a row's symbol
    and an integer for each column. The order of the rows may differ from that of the columns.

    Args:
        text: content of the file.
        path: name of the file, for error messages.

    Raises:
        InputError: the format is wrong; the error has the line number.
    """
    lines = _lines(text)
    header = next(lines, None)
    if header is None:
        raise InputError(path, "contains no matrix")
    alphabet = _columns(path, *header)
    rows: dict[str, list[int]] = {}
    number = header[0]
    for number, fields in lines:
        symbol = fields[0].upper()
        if symbol not in alphabet or len(symbol) != 1:
            raise InputError(
                path, f"a row begins with {fields[0]!r}, which is not the symbol of a column", line=number
            )
        if symbol in rows:
            raise InputError(path, f"{symbol} has two rows", line=number)
        if len(fields) - 1 != len(alphabet):
            raise InputError(
                path, f"the row of {symbol} has {len(fields) - 1} scores, and there are {len(alphabet)} columns",
                line=number,
            )  # fmt: skip
        rows[symbol] = [_score(path, number, symbol, field) for field in fields[1:]]
    if missing := [symbol for symbol in alphabet if symbol not in rows]:
        raise InputError(path, f"there is no row for {', '.join(missing)}", line=number)
    return alphabet, np.array([rows[symbol] for symbol in alphabet], np.int8)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) of lines that are neither blank nor comments."""
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if fields and not fields[0].startswith("#"):
            yield number, fields


def _columns(path: str, number: int, fields: list[str]) -> str:
    symbols = "".join(fields).upper()
    if len(symbols) != len(fields):
        invalid = next(field for field in fields if len(field) != 1)
        raise InputError(
            path, f"the first line names the columns by single characters, and {invalid!r} is not one", line=number
        )
    if len(set(symbols)) != len(symbols):
        repeated = next(symbol for symbol in symbols if symbols.count(symbol) > 1)
        raise InputError(path, f"{repeated} has two columns", line=number)
    if len(symbols) > _MAX_ALPHABET:
        raise InputError(path, f"there are {len(symbols)} columns; {_MAX_ALPHABET} is the maximum", line=number)
    return symbols


def _score(path: str, number: int, symbol: str, field: str) -> int:
    try:
        score = int(field)
    except ValueError:
        raise InputError(path, f"in the row of {symbol}, {field!r} is not a whole number", line=number) from None
    if abs(score) > _MAX_SUBSTITUTION:
        raise InputError(path, f"in the row of {symbol}, {score} is not -127 to 127", line=number)
    return score
