"""Mapping by minimap2's library (mappy): writes PAF, or SAM with mates paired as minimap2 does with preset sr.

mappy computes alignments for all hits. Reads go to its threads in chunks, and hits are written in the reads' order.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ...errors import WfacliError

# Parameters of that preset: its scores, which mappy does not expose, and the limits for a proper pair.
_MATCH, _MISMATCH, _GAPS = 2, 8, ((12, 2), (24, 1))
_MAX_FRAGMENT, _MIN_GAP, _PAIR_BONUS = 800, 100, 33
_PAIRED, _PROPER, _UNMAPPED, _REVERSE, _MATES, _SUPPLEMENTARY = 1, 2, 4, 16, (64, 128), 2048

Read = tuple[str, str]  # name, bases


def base_of(name: str) -> str:
    """Return a name without the suffix that tells the mates apart."""
    return name[:-2] if name.endswith(("/1", "/2")) else name


def fragments(files: Sequence[Iterable[Any]]) -> Iterator[tuple[Read, ...]]:
    """Yield pairs and single reads: pairs of two files, or adjacent reads of one file with the same name.

    Args:
        files: records, each starting with a name and its bases.
    """
    if len(files) == 2:
        yield from (((a[0], a[1]), (b[0], b[1])) for a, b in zip(*files, strict=False))
        return
    waiting: Read | None = None
    for name, bases, *_ in files[0]:
        if waiting and base_of(waiting[0]) == base_of(name):
            yield waiting, (name, bases)
            waiting = None
            continue
        if waiting:
            yield (waiting,)
        waiting = name, bases
    if waiting:
        yield (waiting,)


def reports_reverse_coordinates() -> bool:
    """Return True if mappy reports coordinates of second mates on their reverse strand, as 2.31 and earlier do."""
    import mappy

    rng = random.Random(1)
    bases = "".join(rng.choice("ACGT") for _ in range(600))
    second = "A" * 30 + mappy.revcomp(bases[250:400])
    hits = mappy.Aligner(seq=bases, preset="sr").map(bases[:150], second)
    return any(hit.read_num == 2 and hit.q_st < 15 for hit in hits)


def score(hit: Any) -> int:
    """Return the alignment score of a hit."""
    gaps = [length for length, operation in hit.cigar if operation in (1, 2)]
    matches: int = hit.mlen
    mismatches: int = hit.NM - sum(gaps)
    costs: int = sum(min(o + e * length for o, e in _GAPS) for length in gaps)
    return _MATCH * matches - _MISMATCH * mismatches - costs


def proper_pair(firsts: Sequence[Any], seconds: Sequence[Any], bases: int) -> tuple[Any, Any] | None:
    """Return the best two hits of mates that form a proper pair (facing each other, within the distance), or None.

    Args:
        firsts: hits of the first mate.
        seconds: hits of the second mate.
        bases: length of both reads together, in bases.
    """
    if not firsts or not seconds:
        return None
    max_distance = max(_MIN_GAP, _MAX_FRAGMENT - bases)
    min_score = max(0, max(map(score, firsts)) + max(map(score, seconds)) - _PAIR_BONUS)

    def is_proper(a: Any, b: Any) -> bool:
        left, right = (a, b) if a.strand > 0 else (b, a)
        near = left.r_st <= right.r_st <= left.r_en + max_distance
        return a.strand != b.strand and a.ctg == b.ctg and near and score(a) + score(b) >= min_score

    pairs = [(a, b) for a in firsts for b in seconds if is_proper(a, b)]
    return max(pairs, key=lambda pair: score(pair[0]) + score(pair[1]), default=None)


def sam_line(name: str, flags: int, hit: Any, length: int, mirrored: bool) -> str:
    """Return a SAM line; length: bases of the read; mirrored: query coordinates are on the reverse strand."""
    clips = [hit.q_st, length - hit.q_en]
    if (hit.strand < 0) != mirrored:
        clips.reverse()
    before, after = (f"{clip}S" if clip else "" for clip in clips)
    flags |= _REVERSE * (hit.strand < 0)
    place = f"{hit.ctg}\t{hit.r_st + 1}\t{hit.mapq}\t{before}{hit.cigar_str}{after}"
    return f"{name}\t{flags}\t{place}\t*\t0\t0\t*\t*\n"


def sam_lines(reads: Sequence[Read], hits: Iterable[Any], mirrored: bool) -> str:
    """Return the SAM lines of a read or a pair; a mate without a hit has a line too.

    Args:
        reads: one read or two mates.
        hits: hits of all reads; secondary ones are skipped, as minimap2 does with these presets.
        mirrored: see tells_other_strand().
    """
    found: list[list[Any]] = [[] for _ in reads]
    for hit in hits:
        if hit.is_primary:
            found[hit.read_num - 1].append(hit)
    pair = proper_pair(found[0], found[1], sum(len(r[1]) for r in reads)) if len(reads) == 2 else None
    lines = []
    for mate, ((name, bases), own) in enumerate(zip(reads, found, strict=True)):
        flags = _PAIRED | _MATES[mate] if len(reads) == 2 else 0
        name = base_of(name) if flags else name
        if not own:
            lines.append(f"{name}\t{flags | _UNMAPPED}\t*\t0\t0\t*\t*\t0\t0\t*\t*\n")
        best = pair[mate] if pair else own[0] if own else None
        for hit in own:
            more = (_PROPER if pair else 0) if hit is best else _SUPPLEMENTARY
            lines.append(sam_line(name, flags | more, hit, len(bases), mirrored and mate == 1))
    return "".join(lines)


def paf_lines(name: str, bases: str, hits: Iterable[Any]) -> str:
    """Return the PAF lines of a single read; without a hit, one line without a target (minimap2's --paf-no-hit)."""
    lines = "".join(
        f"{name}\t{len(bases)}\t{h.q_st}\t{h.q_en}\t{'+' if h.strand > 0 else '-'}\t{h.ctg}\t{h.ctg_len}\t"
        f"{h.r_st}\t{h.r_en}\t{h.mlen}\t{h.blen}\t{h.mapq}\ttp:A:{'P' if h.is_primary else 'S'}\n"
        for h in hits
    )
    return lines or f"{name}\t{len(bases)}\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n"


def mappings(pairing: bool, preset: str, threads: int, reference: str, *paths: str) -> Iterator[str]:
    """Yield the mappings of the reads of all files, or of the pairs of two files, in their order.

    Args:
        pairing: write SAM without sequences; otherwise PAF of single reads.
        preset: minimap2's preset.
        threads: number of mapping threads.
        reference: path of the reference.
        paths: paths of the reads, and of the mates.

    Raises:
        WfacliError: mappy cannot read the reference.
    """
    import mappy

    aligner = mappy.Aligner(reference, preset=preset, n_threads=threads)
    if not aligner:
        raise WfacliError("the reference cannot be read")
    mirrored = pairing and reports_reverse_coordinates()
    own = threading.local()

    def lines(reads: tuple[Read, ...]) -> str:
        if not hasattr(own, "buffer"):
            own.buffer = mappy.ThreadBuffer()
        hits = aligner.map(*(bases for _, bases in reads), buf=own.buffer)
        return sam_lines(reads, hits, mirrored) if pairing else paf_lines(*reads[0], hits)

    files = [mappy.fastx_read(path) for path in paths]
    work: Iterable[tuple[Read, ...]]
    single = itertools.chain.from_iterable(files)
    work = fragments(files) if pairing else (((name, bases),) for name, bases, *_ in single)
    work = iter(work)
    with ThreadPoolExecutor(threads) as pool:
        while some := list(itertools.islice(work, 16 * threads)):
            yield "".join(pool.map(lines, some))
