"""What htslib makes of SAM files, as the oracle of BAM: conversion, order, and records in a region."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pysam

Parts = tuple[bytes, bytes]  # header with its targets, without command lines; records


def parts_of(path: Path) -> Parts:
    """Return the uncompressed parts of a BAM file."""
    data = gzip.decompress(path.read_bytes())
    assert data[:4] == b"BAM\1"
    text_end = 8 + int.from_bytes(data[4:8], "little")
    at = text_end + 4
    for _ in range(int.from_bytes(data[text_end:at], "little")):
        at += 8 + int.from_bytes(data[at : at + 4], "little")
    return re.sub(rb"\tCL:[^\n]*", b"", data[8:text_end]) + data[text_end:at], data[at:]


def converted(sam: Path) -> Parts:
    """Return the parts of the BAM file that htslib makes of a SAM file."""
    made = sam.with_suffix(".converted.bam")
    pysam.view("--no-PG", "-b", "-o", str(made), str(sam), catch_stdout=False)
    return parts_of(made)


def sorted_parts(sam: Path) -> Parts:
    """Return the parts of the BAM file that samtools sort makes of a SAM file."""
    made = sam.with_suffix(".sorted.bam")
    pysam.sort("--no-PG", "-o", str(made), str(sam))
    return parts_of(made)
