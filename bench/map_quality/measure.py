"""Figures of the records of one program, and of two programs' records side by side."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from bench.map_quality.donor import DELETION, INVERSION, SMALLEST_SV, Donor, Variant
from bench.map_quality.genome import I64
from bench.map_quality.records import Columns, Found, Gap
from bench.map_quality.simulate import Reads

NEAR = 10  # bases by which a read may be off its true place
SV_NEAR = 20  # bases by which a structural variant may be off
SV_SIZE = 0.1  # share by which its length may differ
SAME_START = 100  # bases between starts of records that count as the same
PLACEABLE = 50  # bases with a true place that a read must have to count as one that can be placed
SURE = 20  # MAPQ from which a wrong place counts as confident
Report = dict[str, Any]


def placed(records: Columns, reads: Reads) -> np.ndarray:
    """Return for each record whether both of its ends are at their true places and on the true strand."""
    known = reads.codes >= 0
    index = np.arange(len(known))
    following = np.minimum.accumulate(np.where(known, index, len(known))[::-1])[::-1]
    preceding = np.maximum.accumulate(np.where(known, index, -1))
    low, high = reads.starts[records.read] + records.first, reads.starts[records.read] + records.last - 1
    reverse = records.reverse
    first, last = records.begin, records.end - 1
    right = np.ones(len(records), bool)
    for end, nearest, position, inward in (
        (low, following, np.where(reverse, last, first), 1),
        (high, preceding, np.where(reverse, first, last), -1),
    ):
        hit = np.zeros(len(records), bool)
        # Beside a breakpoint, a few bases may match by chance across it, so bases further inside decide as well.
        for step in range(NEAR + 1):
            at = (end + step * inward).clip(low, high)
            # Where a base has no true position, the next one inside that has one says where it should be.
            base = nearest[at].clip(0, len(known) - 1)
            moved = np.abs(base - end)
            code = reads.codes[base]
            expected = (code >> 1) - moved * inward * np.where(reverse, -1, 1)
            inside = (base >= low) & (base <= high) & (code >= 0)
            hit |= inside & ((code & 1) == reverse) & (np.abs(expected - position) <= NEAR + moved)
        right &= hit
    return right


def spanned(donor: Donor, reads: Reads, flank: int) -> dict[int, list[Variant]]:
    """Return by read the large deletions and insertions that it spans with `flank` bases on both sides."""
    found: dict[int, list[Variant]] = defaultdict(list)
    begins, ends = reads.parts[:, 0], reads.parts[:, 1]
    for one, (low, high) in zip(donor.variants, donor.places.tolist(), strict=True):
        if one.large and one.kind != INVERSION:
            for part in np.flatnonzero((begins + flank <= low) & (ends - flank >= high)):
                found[int(reads.part_read[part])].append(one)
    return found


def matches(gap: Gap, one: Variant) -> bool:
    """Return whether a gap is a large deletion or insertion, at any of its equivalent places."""
    return (
        gap.deletes == (one.kind == DELETION)
        and abs(gap.size - one.size) <= SV_SIZE * one.size
        and one.left - SV_NEAR <= gap.position <= one.right + SV_NEAR
    )


def variants_found(gaps: list[Gap], wanted: dict[int, list[Variant]]) -> set[tuple[int, int]]:
    """Return (read, position of the variant) of the spanned variants that a read has whole."""
    return {(gap.read, one.position) for gap in gaps for one in wanted.get(gap.read, ()) if matches(gap, one)}


def false_gaps(gaps: list[Gap], donor: Donor) -> int:
    """Return the number of large gaps that are unlike all large deletions and insertions of the donor."""
    true = [one for one in donor.variants if one.large and one.kind != INVERSION]
    return sum(gap.size >= SMALLEST_SV and not any(matches(gap, one) for one in true) for gap in gaps)


def figures(found: Found, reads: Reads, donor: Donor, wanted: dict[int, list[Variant]]) -> Report:
    """Return the figures of one program's records; `wanted`: the large gaps that each read spans."""
    records = found.records
    counted = ~records.secondary
    primary = np.flatnonzero(records.primary)
    right = placed(records, reads)
    wrong = primary[~right[primary]]
    mapped = np.zeros(len(reads), bool)
    mapped[records.read[primary]] = True
    lengths = np.diff(reads.starts)
    single = np.bincount(records.read[counted], minlength=len(reads))[records.read] == 1
    known = reads.codes >= 0
    true_variants = [(read, one) for read, some in wanted.items() for one in some]
    had = variants_found(found.gaps, wanted)
    report: Report = {
        "mapped": int(mapped.sum()),
        "placeable": int((np.add.reduceat(known.astype(np.int64), reads.starts[:-1]) >= PLACEABLE).sum()),
        "placed": int(right[primary].sum()),
        "misplaced_sure": int((records.mapq[wrong] >= SURE).sum()),
        "right_bases": _share(found.right.sum(), known.sum()),
        "wrong_bases": _share((found.aligned & ~found.right).sum(), len(known)),
        "clipped_bases": int(lengths[mapped].sum() - found.covered.sum()),
        "whole_reads": int((records.primary & single & (records.clipped == 0)).sum()),
        "false_large_gaps": false_gaps(found.gaps, donor),
        "primary": len(primary),
        "supplementary": int((counted & ~records.primary).sum()),
        "secondary": int(records.secondary.sum()),
        "tags_that_differ": int((records.tag != records.score).sum()),
    }
    for name, deletes in (("deletions", True), ("insertions", False)):
        some = [(read, one.position) for read, one in true_variants if (one.kind == DELETION) == deletes]
        report[f"whole_{name}"], report[f"spanned_{name}"] = len(had & set(some)), len(set(some))
    return report


def _share(part: int, whole: int) -> float:
    return round(float(part) / float(whole), 6)


def primaries(records: Columns, reads: int) -> I64:
    """Return the row of each read's primary record, -1 where there is none."""
    rows = np.full(reads, -1, np.int64)
    which = np.flatnonzero(records.primary)
    rows[records.read[which]] = which
    return rows


def shared_bases(records: Columns) -> np.ndarray:
    """Return whether each record aligns bases of its read that another one, not secondary, aligns too (bool[n])."""
    some = np.flatnonzero(~records.secondary)
    order = some[np.lexsort((records.first[some], records.read[some]))]
    before, behind = order[:-1], order[1:]
    overlap = (records.read[before] == records.read[behind]) & (records.first[behind] < records.last[before])
    shared = np.zeros(len(records), bool)
    shared[before[overlap]] = shared[behind[overlap]] = True
    return shared


def compared(ours: Columns, theirs: Columns, reads: int, bonus: int = 0) -> tuple[Report, np.ndarray]:
    """Compare the scores of both programs' primary records of the same read with the same start.

    Args:
        ours, theirs: the records.
        reads: number of reads.
        bonus: score of each end of a read that is aligned. It decides whether an end is clipped, but is not in AS.

    Returns:
        Counts of our scores that are lower (and of these, where a base of their record is in another one, too, which
        counts it twice, and where their records of the read together score more than ours), equal or higher, and of
        reads with other starts or one record; i64[k, 2] with the read and the difference of the scores.
    """
    own, other = primaries(ours, reads), primaries(theirs, reads)
    both = np.flatnonzero((own >= 0) & (other >= 0))
    a, b = own[both], other[both]
    near = np.abs(ours.begin[a] - theirs.begin[b]) <= SAME_START
    near &= ours.reverse[a] == theirs.reverse[b]
    scores = [one.score + bonus * ((one.first == 0) * 1 + (one.clipped == one.first)) for one in (ours, theirs)]
    gain = (scores[0][a] - scores[1][b])[near]
    lower = gain < 0
    sums = [np.bincount(one.read, np.where(one.secondary, 0, one.score), reads)[both][near] for one in (ours, theirs)]
    report = {
        "lower": int(lower.sum()),
        "lower_with_shared_bases": int((lower & shared_bases(theirs)[b][near]).sum()),
        "lower_in_all": int((lower & (sums[0] < sums[1])).sum()),
        "equal": int((gain == 0).sum()),
        "higher": int((gain > 0).sum()),
        "sum_of_losses": int(-gain[gain < 0].sum()),
        "sum_of_gains": int(gain[gain > 0].sum()),
        "other_start": int((~near).sum()),
        "only_wfacli": int(((own >= 0) & (other < 0)).sum()),
        "only_minimap2": int(((own < 0) & (other >= 0)).sum()),
    }
    return report, np.stack([both[near], gain], axis=1)
