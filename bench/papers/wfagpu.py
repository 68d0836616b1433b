"""WFA-GPU: table 1 and figure 3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.pages.text import number

from .found import MISSING, NO_PEER, NO_SET, Results
from .layout import Figure, Paper, Part, ours, theirs

_M = 1_000_000


@dataclass(frozen=True)
class Set:
    """A column of the table: its pairs, and the row that stands in for them."""

    name: str
    pairs: int
    row: str


SETS = (
    Set("Illumina 150", 100 * _M, "illumina150 × 30"),
    Set("Illumina 250", 100 * _M, "illumina250 × 1000"),
    Set("PacBio CSS", 10 * _M, ""),
    Set("PacBio HiFi", 10 * _M, "hifi_human × 100"),
    Set("Nanopore", 10 * _M, "ont_ecoli_ul × 5"),
)
TOO_LONG, FAILED = "over 48 h", "failed"
# Seconds and recall in per cent by set, from table 1.
PAPER: dict[str, list[tuple[float | str, float | None]]] = {
    "GASAL2": [(12, 99.9), (28, 94.7), *[(FAILED, None)] * 3],
    "ADEPT": [(158, None), (308, None), *[(FAILED, None)] * 3],
    "NVBio": [(4, 49.2), (6, 27.2), *[(FAILED, None)] * 3],
    "CudaAligner (edits)": [(102, 97.5), (169, 91.6), (2036, 42.6), (3105, 32.5), (1350, 0.0)],
    "WFA-GPU": [(13, 100), (17, 100), (71, 100), (159, 100), (4395, 100)],
    "WFA-GPU, approximate": [(10, 100), (17, 100), (66, 98.6), (101, 98.4), (1041, 98.7)],
    "WFA-GPU, distance": [(7, 100), (13, 100), (48, 100), (100, 100), (1083, 100)],
    "WFA-GPU, distance, approximate": [(5, 100), (13, 100), (55, 98.6), (69, 98.4), (569, 98.6)],
    "SeqAn": [(1810, 100), (5076, 100), *[(TOO_LONG, None)] * 3],
    "parasail, striped": [(8424, 99.9), (21240, 99.9), *[(TOO_LONG, None)] * 3],
    "parasail, scan": [(1160, 99.9), (2814, 99.9), *[(TOO_LONG, None)] * 3],
    "parasail, diagonal": [(1878, 99.9), (4912, 99.9), *[(TOO_LONG, None)] * 3],
    "Edlib (edits)": [(155, 97.5), (246, 91.8), (2127, 47.7), (7998, 35.7), (22620, 0.0)],
    "KSW2": [(251, 100), (661, 100), (163860, 100), (TOO_LONG, None), (86580, 100)],
    "WFA, 10 threads": [(11, 100), (21, 100), (175, 100), (486, 100), (18960, 100)],
}
# Aligners that gpu_table has, and the task.
HERE = {
    "GASAL2": ("gasal2", "affine CIGAR"),
    "WFA-GPU": ("wfa-gpu", "affine CIGAR"),
    "WFA-GPU, distance": ("wfa-gpu", "affine score"),
    "WFA, 10 threads": ("wfa2", "affine CIGAR"),
}
BANDS = {"wfacli": "exact", "wfacli, a band (100,50)": "band 100,50", "wfacli, scores": "scores alone"}


def paper(results: Callable[[], Results]) -> Paper:
    """Return all of it."""
    found = results()
    cells = {name: [_exact(found, one, *what) for one in SETS] for name, what in HERE.items()}
    cells |= {name: [_ours(found, one, name) for one in SETS] for name in BANDS}
    parts = [table(cells, found), rates(cells, found)]
    cite = "Aguado-Puig et al., WFA-GPU: gap-affine pairwise read-alignment using GPUs, Bioinformatics 2023"
    return Paper("WFA-GPU", cite, "NVIDIA RTX 3080 (10 GB), Xeon W-2155 with 10 threads", parts)


Cell = tuple[float, float | None] | None  # seconds for the paper's number of pairs, share of right costs


def _exact(found: Results, one: Set, aligner: str, task: str) -> Cell:
    cell = found.pairs(one.row, task, aligner) if one.row else None
    return cell and (cell.for_pairs(one.pairs), cell.right)


def _ours(found: Results, one: Set, name: str) -> Cell:
    if name == "wfacli":
        return _exact(found, one, "wfacli", "affine CIGAR")
    if name == "wfacli, scores" and one.row and (cell := found.pairs(one.row, "affine score")):
        return cell.for_pairs(one.pairs), cell.right
    row = found.row("band-table", one.row) if one.row else None
    ways = {way["way"]: way for way in row["ways"]} if row else {}
    if row is None or BANDS[name] not in ways:
        return None
    way = ways[BANDS[name]]
    return way["best_seconds"] * one.pairs / row["pairs"], way["recall"]


def _absent(found: Results, place: int, name: str) -> str:
    """Return why an aligner has no time on a set."""
    if not SETS[place].row:
        return NO_SET
    if name in BANDS:
        return MISSING
    return found.unable(SETS[place].row, HERE[name][1], HERE[name][0]) if name in HERE else NO_PEER


def table(cells: dict[str, list[Cell]], found: Results) -> Part:
    """Table 1."""
    rows = [["aligner", *(f"{one.name}: {what}" for one in SETS for what in ("paper, s", "R %", "here, s", "R %"))]]
    for name in (*BANDS, *PAPER):
        line = [name]
        for place in range(len(SETS)):
            seconds, recall = PAPER[name][place] if name in PAPER else ("", None)
            here = cells[name][place] if name in cells else None
            line += [seconds if isinstance(seconds, str) else f"{seconds:,}", theirs(recall) if name in PAPER else ""]
            line += [number(here[0]), ours(here[1] and 100 * here[1])] if here else [_absent(found, place, name), ""]
        rows.append(line)
    notes = [
        "Seconds for the paper's number of pairs (100 million for Illumina, 10 million for the "
        "others). R is the share of pairs with the best score. wfacli's seconds are computed from the"
        " rates of the sets below. These are other reads of the same sequencers, since the paper's "
        "reads are not available.",
        "Illumina 150: 955,050 pairs (31,835 distinct); Illumina 250: 757,000 (757); PacBio HiFi: 5,000 (50, human);"
        " Nanopore: 750 (150, E. coli, ultra-long), which are not as long and as noisy as the paper's. No set stands"
        " in for PacBio CSS.",
        "Columns with 'here' are peers that ran on the same GPU with the same pairs; WFA ran on all "
        "cores of the machine.",
        "WFA-GPU aligns fewer pairs per second here than its paper reports for an RTX 3080: the reads"
        " are others, there are a hundredth of the pairs, and its time includes allocation.",
    ]
    return Part("Table 1: real reads", rows, notes, None, found.devices())


def rates(cells: dict[str, list[Cell]], found: Results) -> Part:
    """Figure 3."""
    chosen = ("WFA, 10 threads", "GASAL2", "KSW2", "WFA-GPU")
    series: dict[str, list[tuple[float | str, float]]] = {}
    rows = [["aligner", *(f"{one.name}, pairs/s" for one in SETS)]]

    def add(label: str, seconds: list[float | None], own: str = "") -> None:
        every = [one.pairs / s if s else None for one, s in zip(SETS, seconds, strict=True)]
        shown = [number(rate) if rate else _absent(found, place, own) for place, rate in enumerate(every)]
        rows.append([label, *(shown if own else map(theirs, every))])
        points = [(one.name, rate) for one, rate in zip(SETS, every, strict=True) if rate]
        if points:
            series[label] = [(name, rate) for name, rate in points]

    for name in chosen:
        add(f"{name} (paper)", [s if not isinstance(s, str) else None for s, _ in PAPER[name]])
    for name in ("WFA-GPU", "wfacli"):
        add(f"{name} (here)", [cell and cell[0] for cell in cells[name]], name)
    figure = Figure("wfagpu-figure-3", found.titled("WFA-GPU's figure 3"), "", "pairs per second", series, "y")
    return Part("Figure 3: pairs per second", rows, ["Computed from the times of table 1."], figure, found.devices())
