"""Scoring schemes: a substitution score for each two symbols, and affine gap costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..config import MAX_PENALTY, Ambiguous
from ..core.batch import U8
from ..errors import UsageError
from .matrix_file import SubstitutionMatrix, read_matrix

I8 = npt.NDArray[np.int8]

NO_CODE = 255  # code of symbols without scores
MAX_ALPHABET = 30  # maximum alphabet size; kernels use two further codes for padding
MAX_SUBSTITUTION = 127  # maximum absolute substitution score
DEFAULT_SCORES = (2, 4, 4, 2)

_PRINTABLE = bytes(range(0x21, 0x7F))
_IUPAC = "ACGTRYSWKMBDHVN"  # the four bases, then the ambiguity codes
_CODE_BASES = (1, 2, 4, 8, 5, 10, 6, 9, 12, 3, 14, 13, 11, 7, 15)  # bases of each code, as bits of A C G T


@dataclass(frozen=True, eq=False)
class Scheme:
    """A scoring scheme in the user's units; a score is the sum of substitution scores minus the gap costs.

    Attributes:
        name: the user's name of the scheme, for error messages.
        alphabet: A symbols, at most 30; the code of a symbol is its index here.
        matrix: i8[A, A], read-only: the score of a query code (row) and a target code (column).
        open, extend: a gap of l symbols costs open + l * extend; each is 0 to MAX_PENALTY, their sum at least 1.
        codes: u8[256], read-only: code of each character (in either case), NO_CODE for those without scores.
        same: u8[A], read-only: 1 if a symbol aligned to itself is written as '=', 0 if as 'X', like different symbols.
    """

    name: str
    alphabet: str
    matrix: I8
    open: int
    extend: int
    codes: U8
    same: U8

    def __post_init__(self) -> None:
        size = len(self.alphabet)
        if not 1 <= size <= MAX_ALPHABET or self.matrix.shape != (size, size) or len(self.same) != size:
            raise UsageError(
                f"{self.name} has {size} symbols; a scheme has 1 to {MAX_ALPHABET}, and a score for each two"
            )
        for what, value in (("opening", self.open), ("extension", self.extend)):
            if not 0 <= value <= MAX_PENALTY:
                raise UsageError(f"the cost of a gap's {what} is {value}; it must be 0 to {MAX_PENALTY:,}")
        if self.open + self.extend == 0:
            raise UsageError("gap opening and extension cannot both be 0: alignments would have no end")
        for column in (self.matrix, self.codes, self.same):
            column.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scheme) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        arrays = (self.matrix.tobytes(), self.codes.tobytes(), self.same.tobytes())
        return self.alphabet, self.open, self.extend, arrays

    @property
    def has_unscored_symbols(self) -> bool:
        """True if a sequence may contain symbols without a score."""
        return bool((self.codes[np.frombuffer(_PRINTABLE, np.uint8)] == NO_CODE).any())

    @property
    def nucleotides_only(self) -> bool:
        """True if characters other than nucleotide codes are one symbol, which matches nothing."""
        return bool(self.codes[ord("E")] == self.codes[ord("F")] != NO_CODE)

    def require_positive(self, mode: str) -> None:
        """Raise UsageError if no substitution score is positive, so that the empty alignment would always be best."""
        if self.matrix.max() <= 0:
            raise UsageError(
                f"{mode} alignments require a score above 0 for some pair of symbols, and {self.name} has none"
            )

    @classmethod
    def of_scores(
        cls,
        match: int,
        mismatch: int,
        open: int,
        extend: int,
        ambiguous: Ambiguous = Ambiguous.MISMATCH,
        n_score: int | None = None,
    ) -> Scheme:
        """Return a scheme with one score for all matches and one for all mismatches.

        Args:
            match: score of a match, 0 to MOST_SCORE.
            mismatch: cost of a mismatch, 0 to MOST_SCORE.
            open: cost of a gap, once.
            extend: cost of each symbol in a gap.
            ambiguous: how characters other than A C G T U are compared. With LITERAL, the symbols are A to Z and *.
            n_score: score of those characters against any symbol; only with MISMATCH.

        Raises:
            UsageError: a value out of range, or n_score with another rule.
        """
        for what, value in (("score of a match", match), ("cost of a mismatch", mismatch)):
            if not 0 <= value <= MAX_SUBSTITUTION:
                raise UsageError(f"the {what} is {value}; it must be 0 to {MAX_SUBSTITUTION}")
        if n_score is not None and ambiguous is not Ambiguous.MISMATCH:
            raise UsageError(f"a score for N and the like (--n-score) cannot be used with --ambiguous {ambiguous}")
        if n_score is not None and abs(n_score) > MAX_SUBSTITUTION:
            raise UsageError(f"the score of N is {n_score}; it must be -{MAX_SUBSTITUTION} to {MAX_SUBSTITUTION}")
        alphabet, matches, codes = _ALPHABETS[ambiguous]()
        matrix = np.where(matches, match, -mismatch).astype(np.int8)
        if n_score is not None:
            matrix[4, :] = matrix[:, 4] = n_score
        same = np.ones(len(alphabet), np.uint8)
        if ambiguous is not Ambiguous.LITERAL:
            same[4:] = 0  # SAM: only the four bases match themselves
        return cls(f"{match},{mismatch},{open},{extend}", alphabet, matrix, open, extend, codes, same)

    @classmethod
    def parse(cls, text: str, ambiguous: Ambiguous = Ambiguous.MISMATCH, n_score: int | None = None) -> Scheme:
        """Parse match,mismatch,open,extend like "2,4,4,2". Raises UsageError."""
        values = numbers(text)
        if len(values) != 4:
            raise UsageError(f"scores are match,mismatch,open,extend like 2,4,4,2, not {text!r}")
        return cls.of_scores(values[0], values[1], values[2], values[3], ambiguous, n_score)

    @classmethod
    def of_matrix(cls, name: str, gaps: tuple[int, int] | None = None) -> Scheme:
        """Return the scheme of a built-in matrix, or of one in a file.

        Args:
            name: BLOSUM62, BLOSUM50 or PAM250, in upper or lower case; otherwise the path of a file.
            gaps: (open, extend); None for BLAST's defaults for a built-in matrix.

        Raises:
            UsageError: a matrix from a file without gaps, or gaps out of range.
            InputError: a file that cannot be read or is not a matrix.
        """
        matrix, default_gaps = read_matrix(name)
        chosen = gaps or default_gaps
        if chosen is None:
            raise UsageError(f"{name} has no gap costs: give them (--gaps OPEN,EXTEND)")
        return cls._from_table(matrix, *chosen)

    @classmethod
    def _from_table(cls, table: SubstitutionMatrix, opening: int, extend: int) -> Scheme:
        codes = np.full(256, NO_CODE, np.uint8)
        _set_codes(codes, table.alphabet)
        same = np.ones(len(table.alphabet), np.uint8)
        if set(table.alphabet) <= set(_IUPAC + "U*"):
            same[:] = [symbol in "ACGTU" for symbol in table.alphabet]
            for one, other in ("TU", "UT"):
                if one in table.alphabet and other not in table.alphabet:
                    codes[[ord(other), ord(other.lower())]] = codes[ord(one)]
        return cls(table.name, table.alphabet, table.scores, opening, extend, codes, same)


def numbers(text: str) -> list[int]:
    """Parse integers separated by commas. Raises UsageError."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"scores are whole numbers between commas, not {text!r}") from None


def _set_codes(codes: U8, alphabet: str) -> None:
    for code, symbol in enumerate(alphabet):
        codes[[ord(symbol), ord(symbol.lower())]] = code


def _bases_and_others() -> tuple[str, npt.NDArray[np.bool_], U8]:
    """Return A C G T, and N for all other characters, which match nothing."""
    codes = np.full(256, NO_CODE, np.uint8)
    codes[np.frombuffer(_PRINTABLE, np.uint8)] = 4
    _set_codes(codes, "ACGT")
    codes[[ord("U"), ord("u")]] = 3
    return "ACGTN", np.diag([True] * 4 + [False]), codes


def _nucleotide_codes() -> tuple[str, npt.NDArray[np.bool_], U8]:
    """Return the IUPAC codes, which match if they share a base, and ? for characters that match nothing."""
    codes = np.full(256, NO_CODE, np.uint8)
    codes[np.frombuffer(_PRINTABLE, np.uint8)] = len(_IUPAC)
    _set_codes(codes, _IUPAC)
    codes[[ord("U"), ord("u")]] = 3
    code_bases = np.array([*_CODE_BASES, 0])
    return _IUPAC + "?", (code_bases[:, None] & code_bases) != 0, codes


def _literal_symbols() -> tuple[str, npt.NDArray[np.bool_], U8]:
    """Return A to Z and *, each of which matches only itself."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ*"
    codes = np.full(256, NO_CODE, np.uint8)
    _set_codes(codes, alphabet)
    return alphabet, np.eye(len(alphabet), dtype=np.bool_), codes


_ALPHABETS = {
    Ambiguous.MISMATCH: _bases_and_others,
    Ambiguous.WILDCARD: _nucleotide_codes,
    Ambiguous.LITERAL: _literal_symbols,
}
