"""CIGARs in BAM's packing: text, counts, spans, costs; all vectorised over runs."""

from __future__ import annotations

import re

import numpy as np

from ..config import AlignSpec
from .batch import U32

OPERATIONS = "MIDNSHP=X"
_RUN = re.compile(r"(\d+)([MIDNSHP=X])")


def to_text(cigar: U32) -> str:
    """The CIGAR as SAM writes it; "*" when it is empty."""
    return "".join(f"{run >> 4}{OPERATIONS[run & 15]}" for run in cigar.tolist()) or "*"


def from_text(text: str) -> U32:
    """Packs a CIGAR. Raises ValueError where the text is none."""
    if text == "*":
        return np.zeros(0, np.uint32)
    runs = _RUN.findall(text)
    if "".join(n + op for n, op in runs) != text:
        raise ValueError(f"not a CIGAR: {text!r}")
    return np.array([int(n) << 4 | OPERATIONS.index(op) for n, op in runs], np.uint32)


def letters(cigar: U32, operation: str) -> int:
    """How many letters an operation (one of MIDNSHP=X) covers in all its runs."""
    return int((cigar[(cigar & 15) == OPERATIONS.index(operation)] >> 4).sum(dtype=np.int64))


def spans(cigar: U32) -> tuple[int, int]:
    """(query letters, target letters) that the CIGAR consumes."""
    both = sum(letters(cigar, op) for op in "M=X")
    return both + letters(cigar, "I") + letters(cigar, "S"), both + letters(cigar, "D") + letters(cigar, "N")


def edits(cigar: U32) -> int:
    """Mismatches, inserted and deleted letters."""
    return sum(letters(cigar, op) for op in "XID")


def score(cigar: U32, spec: AlignSpec) -> int:
    """What the CIGAR's operations score under a spec: minus the cost, and what matches earn."""
    p = spec.penalties
    operation = cigar & 15
    gaps = (cigar[(operation == OPERATIONS.index("I")) | (operation == OPERATIONS.index("D"))] >> 4).astype(np.int64)
    charged = np.min([o + e * gaps for o, e in p.gaps], axis=0).sum()
    return p.match * letters(cigar, "=") - p.mismatch * letters(cigar, "X") - int(charged)
