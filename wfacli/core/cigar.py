"""CIGARs in BAM's packing: conversion to and from text, counts, spans and scores, vectorised over operations."""

from __future__ import annotations

import re

import numpy as np

from ..config import AlignSpec
from .batch import U32

OPERATIONS = "MIDNSHP=X"
_SHOWN = 100  # characters of a text in an error message
# Lengths of BAM have 28 bits. Without a bound, a long number takes time that grows with the square of its length.
_RUN, _MAX_LENGTH = re.compile(r"([0-9]{1,9})([MIDNSHP=X])"), (1 << 28) - 1


def to_text(cigar: U32) -> str:
    """Return the CIGAR as SAM writes it; "*" if it is empty."""
    return "".join(f"{run >> 4}{OPERATIONS[run & 15]}" for run in cigar.tolist()) or "*"


def from_text(text: str) -> U32:
    """Pack a CIGAR. Raises ValueError if the text is not a CIGAR, or one that BAM cannot hold."""
    if text == "*":
        return np.zeros(0, np.uint32)
    runs = _RUN.findall(text)
    if "".join(n + op for n, op in runs) != text:
        raise ValueError(f"not a CIGAR: {text[:_SHOWN]!r}")
    if any(int(n) > _MAX_LENGTH for n, _ in runs):
        raise ValueError(f"an operation is longer than {_MAX_LENGTH:,}")
    return np.array([int(n) << 4 | OPERATIONS.index(op) for n, op in runs], np.uint32)


def operation_length(cigar: U32, operation: str) -> int:
    """Return the total length of an operation (one of MIDNSHP=X), in bases."""
    return int((cigar[(cigar & 15) == OPERATIONS.index(operation)] >> 4).sum(dtype=np.int64))


def spans(cigar: U32) -> tuple[int, int]:
    """Return the numbers of query and of target bases that the CIGAR consumes."""
    both = sum(operation_length(cigar, op) for op in "M=X")
    return both + operation_length(cigar, "I") + operation_length(cigar, "S"), both + operation_length(
        cigar, "D"
    ) + operation_length(cigar, "N")


def edits(cigar: U32) -> int:
    """Return the number of edits: mismatches, inserted and deleted bases."""
    return sum(operation_length(cigar, op) for op in "XID")


def score(cigar: U32, spec: AlignSpec) -> int:
    """Return the score of a CIGAR under a spec: match bonuses minus costs."""
    p = spec.penalties
    operation = cigar & 15
    gaps = (cigar[(operation == OPERATIONS.index("I")) | (operation == OPERATIONS.index("D"))] >> 4).astype(np.int64)
    charged = np.min([o + e * gaps for o, e in p.gaps], axis=0).sum()
    aligned = p.match * operation_length(cigar, "=") - p.mismatch * operation_length(cigar, "X")
    return aligned - p.of_ambiguous * operation_length(cigar, "M") - int(charged)
