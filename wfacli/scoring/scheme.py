"""A scheme: what each two letters score when they are aligned, and what a gap costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..config import MAX_PENALTY, Ambiguous
from ..core.batch import U8
from ..errors import UsageError
from .matrix_file import SubstitutionMatrix, read_matrix

I8 = npt.NDArray[np.int8]

NO_CODE = 255  # of a letter that a scheme has no scores for
MOST_CODES = 30  # kernels have room for two more, which pad sequences
MOST_SCORE = 127  # of two letters, either way
DEFAULT_SCORES = (2, 4, 4, 2)

_PRINTABLE = bytes(range(0x21, 0x7F))
_IUPAC = "ACGTRYSWKMBDHVN"  # after the four bases, what may stand for several
_MEANT = (1, 2, 4, 8, 5, 10, 6, 9, 12, 3, 14, 13, 11, 7, 15)  # bits of A C G T


@dataclass(frozen=True, eq=False)
class Scheme:
    """Scores in the user's units; an alignment's score is the sum of its letters' less what its gaps cost.

    Attributes:
        name: how the user called it, for messages.
        alphabet: A letters, 30 at most; the code of a letter is its place here.
        matrix: i8[A, A], read-only: the score of a query's code (row) against a target's (column).
        open, extend: a gap of l letters costs open + l * extend; each is 0 to MAX_PENALTY, both together 1 at least.
        codes: u8[256], read-only: from a letter as read (either case) to its code, NO_CODE where there is none.
        same: u8[A], read-only: 1 where a code beside itself is written '=', else it is 'X' as two different codes are.
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
        if not 1 <= size <= MOST_CODES or self.matrix.shape != (size, size) or len(self.same) != size:
            raise UsageError(
                f"{self.name} has {size} letters; a scheme has 1 to {MOST_CODES}, and a score for each two"
            )
        for what, value in (("opening", self.open), ("extension", self.extend)):
            if not 0 <= value <= MAX_PENALTY:
                raise UsageError(f"the cost of a gap's {what} is {value}; it must be 0 to {MAX_PENALTY:,}")
        if self.open + self.extend == 0:
            raise UsageError("gaps must cost something (open or extend), or alignments would have no end")
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
    def lacks_letters(self) -> bool:
        """Whether a sequence may hold letters that have no score."""
        return bool((self.codes[np.frombuffer(_PRINTABLE, np.uint8)] == NO_CODE).any())

    def require_positive(self, mode: str) -> None:
        """Raises UsageError where no two letters score more than 0, so that aligning nothing would always be best."""
        if self.matrix.max() <= 0:
            raise UsageError(f"{mode} alignments need a score above 0 for some two letters, and {self.name} has none")

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
        """Nucleotides (or, literally, any letters) that match or do not.

        Args:
            match: what two that match score, 0 to MOST_SCORE.
            mismatch: what two others cost, 0 to MOST_SCORE.
            open: of a gap, once.
            extend: of a gap, for each of its letters.
            ambiguous: how letters other than A C G T U compare. Under LITERAL the letters are A to Z and *.
            n_score: what those letters score against any letter instead; only with MISMATCH.

        Raises:
            UsageError: a value out of range, or n_score with another rule.
        """
        for what, value in (("score of a match", match), ("cost of a mismatch", mismatch)):
            if not 0 <= value <= MOST_SCORE:
                raise UsageError(f"the {what} is {value}; it must be 0 to {MOST_SCORE}")
        if n_score is not None and ambiguous is not Ambiguous.MISMATCH:
            raise UsageError(f"a score for N and the like (--n-score) does not go with --ambiguous {ambiguous}")
        if n_score is not None and abs(n_score) > MOST_SCORE:
            raise UsageError(f"the score of N is {n_score}; it must be -{MOST_SCORE} to {MOST_SCORE}")
        alphabet, matches, codes = _ALPHABETS[ambiguous]()
        matrix = np.where(matches, match, -mismatch).astype(np.int8)
        if n_score is not None:
            matrix[4, :] = matrix[:, 4] = n_score
        same = np.ones(len(alphabet), np.uint8)
        if ambiguous is not Ambiguous.LITERAL:
            same[4:] = 0  # SAM: only the four bases equal themselves
        return cls(f"{match},{mismatch},{open},{extend}", alphabet, matrix, open, extend, codes, same)

    @classmethod
    def parse(cls, text: str, ambiguous: Ambiguous = Ambiguous.MISMATCH, n_score: int | None = None) -> Scheme:
        """From match,mismatch,open,extend like "2,4,4,2". Raises UsageError."""
        values = numbers(text)
        if len(values) != 4:
            raise UsageError(f"scores are match,mismatch,open,extend like 2,4,4,2, not {text!r}")
        return cls.of_scores(values[0], values[1], values[2], values[3], ambiguous, n_score)

    @classmethod
    def of_matrix(cls, name: str, gaps: tuple[int, int] | None = None) -> Scheme:
        """A matrix that the package has, or one in a file.

        Args:
            name: BLOSUM62, BLOSUM50 or PAM250, in either case, else a file's path.
            gaps: (open, extend); None for those that BLAST has as its default for the named matrix.

        Raises:
            UsageError: a file's matrix without gaps, or gaps out of range.
            InputError: a file that cannot be read or is no matrix.
        """
        matrix, default_gaps = read_matrix(name)
        chosen = gaps or default_gaps
        if chosen is None:
            raise UsageError(f"{name} says nothing of gaps: give their costs (--gaps OPEN,EXTEND)")
        return cls._of_table(matrix, *chosen)

    @classmethod
    def _of_table(cls, table: SubstitutionMatrix, opening: int, extend: int) -> Scheme:
        codes = np.full(256, NO_CODE, np.uint8)
        _set_codes(codes, table.alphabet)
        same = np.ones(len(table.alphabet), np.uint8)
        if set(table.alphabet) <= set(_IUPAC + "U*"):
            same[:] = [letter in "ACGTU" for letter in table.alphabet]
            for one, other in ("TU", "UT"):
                if one in table.alphabet and other not in table.alphabet:
                    codes[[ord(other), ord(other.lower())]] = codes[ord(one)]
        return cls(table.name, table.alphabet, table.scores, opening, extend, codes, same)


def numbers(text: str) -> list[int]:
    """Whole numbers between commas. Raises UsageError."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"scores are whole numbers between commas, not {text!r}") from None


def _set_codes(codes: U8, alphabet: str) -> None:
    for code, letter in enumerate(alphabet):
        codes[[ord(letter), ord(letter.lower())]] = code


def _bases_and_others() -> tuple[str, npt.NDArray[np.bool_], U8]:
    """A C G T, and N for all other letters, which match nothing."""
    codes = np.full(256, NO_CODE, np.uint8)
    codes[np.frombuffer(_PRINTABLE, np.uint8)] = 4
    _set_codes(codes, "ACGT")
    codes[[ord("U"), ord("u")]] = 3
    return "ACGTN", np.diag([True] * 4 + [False]), codes


def _nucleotide_codes() -> tuple[str, npt.NDArray[np.bool_], U8]:
    """IUPAC's codes, which match where they share a base, and ? for letters that match nothing."""
    codes = np.full(256, NO_CODE, np.uint8)
    codes[np.frombuffer(_PRINTABLE, np.uint8)] = len(_IUPAC)
    _set_codes(codes, _IUPAC)
    codes[[ord("U"), ord("u")]] = 3
    meant = np.array([*_MEANT, 0])
    return _IUPAC + "?", (meant[:, None] & meant) != 0, codes


def _any_letters() -> tuple[str, npt.NDArray[np.bool_], U8]:
    """A to Z and *, each of which matches itself."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ*"
    codes = np.full(256, NO_CODE, np.uint8)
    _set_codes(codes, alphabet)
    return alphabet, np.eye(len(alphabet), dtype=np.bool_), codes


_ALPHABETS = {
    Ambiguous.MISMATCH: _bases_and_others,
    Ambiguous.WILDCARD: _nucleotide_codes,
    Ambiguous.LITERAL: _any_letters,
}
