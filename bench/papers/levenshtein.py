"""Edit distance of long strings on a GPU: tables 2 to 4, figure 13."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bench.pages.text import Report, number

from .found import Results
from .layout import NOT_READ, Figure, Paper, Part, ours

NONE = "none"
_SCALED = re.compile(r"(random \d+|planted .*|simulated .*) ?Mb.*")  # pairs of distance_scale


@dataclass(frozen=True)
class Pair:
    """A row of table 2 or 3.

    Attributes:
        name: the paper's name.
        lengths, distance: the paper's.
        peer: seconds of the paper's peer: Sadiq and Yousaf's cluster, or MASA-CUDAlign.
        seconds: seconds of the paper's kernels.
        stand_in: the most similar pair of distance_table or distance_scale, "" if there is none.
    """

    name: str
    lengths: tuple[int, int]
    distance: int
    peer: float
    seconds: float
    stand_in: str = ""

    @property
    def identity(self) -> float:
        """1 - distance / length of the longer sequence."""
        return 1 - self.distance / max(self.lengths)

    @property
    def gcups(self) -> float:
        """10^9 cells of the whole matrix per second."""
        return self.lengths[0] * self.lengths[1] / self.seconds / 1e9


TABLE_2 = (
    Pair("1", (156_931, 79_314), 91_590, 42.44, 0.12, "random 157 kb × 79 kb"),
    Pair("2", (156_931, 606_452), 450_982, 83.44, 0.86, "random 157 kb × 606 kb"),
    Pair("3", (606_452, 1_517_819), 969_770, 606.71, 4.81, "random 606 kb × 1.5 Mb"),
    Pair("4", (308_453, 3_424_429), 3_116_517, 553.04, 6.04, "random 308 kb × 3.4 Mb"),
)
TABLE_3 = (
    Pair("1", (162_114, 171_823), 92_254, 0.05, 0.13),
    Pair("2", (542_868, 536_165), 271_907, 0.55, 0.79),
    Pair("3", (1_044_459, 1_072_950), 549_784, 2.00, 2.73, "random 1 Mb"),
    Pair("4", (3_147_090, 3_282_708), 1_528_200, 20.00, 20.81, "random 5 Mb"),
    Pair("5", (5_227_293, 5_228_663), 2_595, 36, 0.34, "5 Mb 99.9%"),
    Pair("6", (7_145_576, 5_227_293), 3_700_051, 78.00, 103.38, "random 5 Mb"),
    Pair("7", (23_011_544, 24_543_557), 12_565_054, 1200, 1310.61, "random 10 Mb"),
    Pair("8", (32_799_110, 46_944_323), 15_700_576, 2258, 2159.39),
    Pair("chr1", (249_000_000, 228_000_000), 50_882_030, 92162, 32060.21, "simulated 250 Mb 99%"),
    Pair("chr19", (59_128_983, 63_644_993), 15_090_152, 6557, 2779.20),
    Pair("chr20", (63_025_520, 61_729_293), 7_609_553, 5933, 889.55),
    Pair("chr21", (48_129_895, 46_489_110), 4_000_655, 3290, 167.85, "simulated 50 Mb 99%"),
    Pair("chr22", (51_304_566, 49_737_984), 6_818_507, 3827, 681.13),
    Pair("10M", (10_236_779, 10_236_715), 374, 136, 0.65, "simulated 10 Mb 99%"),
)
# Works of table 4: method, longest sequence, GCUPS.
TABLE_4 = (
    ("2021", "banded bit-parallel, FPGA", "300", "5,076"),
    ("eWFA-GPU 2022", "wavefronts, GPU", "1,000", "10,060 (90%), 25,062 (98%)"),
    ("2014", "bit-parallel, GPU", "1,000", "2,300"),
    ("2018", "bit-parallel, CPU", "not said", "1,620"),
    ("2017", "dynamic programming, GPU", "22,500", "0.88"),
    ("2015", "dynamic programming, GPU", "128,000", "20.48"),
    ("2020", "dynamic programming, CPU", "3,424,429", "1.90"),
    ("the paper", "wavefronts, GPU", "249,000,000", "100 (41%), 1,775 (79%), 161,217 (99.9%)"),
)


@dataclass(frozen=True)
class Run:
    """The best of our algorithms on a pair."""

    name: str
    lengths: tuple[int, int]
    distance: int
    seconds: float
    algorithm: str

    @property
    def gcups(self) -> float:
        """10^9 cells of the whole matrix per second."""
        return self.lengths[0] * self.lengths[1] / self.seconds / 1e9

    @property
    def identity(self) -> float:
        """1 - distance / length of the longer sequence."""
        return 1 - self.distance / max(self.lengths)


def run_of(found: Results, name: str) -> Run | None:
    """Return the newest run on a GPU, of either table."""
    scaled = _SCALED.fullmatch(name)
    if scaled and (row := found.row("distance-scale", name)):
        best = min(row["runs"], key=lambda run: float(run["seconds"]), default=None)
        return best and Run(name, tuple(row["lengths"]), best["distance"], best["seconds"], best["algorithm"])
    row = found.row("distance-table", name)
    return row and _of_table(row)


def _of_table(row: Report) -> Run | None:
    own = {name: m["best_seconds"] for name, m in row["measured"].items() if name.startswith("gpu-")}
    if not own or row["distance"] is None:
        return None
    best = min(own, key=own.__getitem__)
    return Run(row["name"], (row["query_len"], row["target_len"]), row["distance"], own[best], best)


def paper(results: Callable[[], Results]) -> Paper:
    """Return all of it."""
    low = compared(results(), TABLE_2, "Table 2: dissimilar strings", "a cluster's CPUs")
    high = compared(results(), TABLE_3, "Table 3: compared with MASA-CUDAlign", "MASA-CUDAlign, stage 1")
    cite = "Castells-Rufas, GPU acceleration of Levenshtein distance computation between long strings, 2023"
    return Paper(
        "Long strings", cite, "NVIDIA RTX 3090, Xeon W-2155", [low, high, literature(results()), plot(results())]
    )


def compared(found: Results, pairs: tuple[Pair, ...], title: str, peer: str) -> Part:
    """Tables 2 and 3."""
    rows = [["pair", "bases", "identity", f"paper: {peer}, s", "paper, s", "paper, GCUPS",
             "ours: it stands in", "bases", "identity", "s", "GCUPS", "by the paper's GCUPS"]]  # fmt: skip
    for pair in pairs:
        run = run_of(found, pair.stand_in) if pair.stand_in else None
        shown = [pair.name, _bases(pair.lengths), f"{100 * pair.identity:.2f}%", number(pair.peer)]
        shown += [number(pair.seconds), number(pair.gcups), pair.stand_in or NONE]
        if run:
            own = [_bases(run.lengths), f"{100 * run.identity:.2f}%", number(run.seconds), number(run.gcups)]
            rows.append([*shown, *own, number(run.gcups / pair.gcups)])
        else:
            rows.append([*shown, *[ours(None) if pair.stand_in else NOT_READ] * 5])
    notes = [
        "The paper's sequences are not available. Random bases (48% identity, as of unrelated "
        "genomes) and simulated edits of similar length and identity are used instead. The table has "
        "lengths and identities of both. GCUPS, cells of the whole matrix, can be compared; from 99% "
        "identity on, they rise as the number of edits falls.",
        "Identity is 1 - distance / length of the longer sequence, for both.",
    ]
    if pairs is TABLE_3:
        notes.append(
            "For the pair of chromosomes 1, at 79% identity, see the extrapolation in the file of distance-scale."
        )
    return Part(title, rows, notes, None, found.devices())


def literature(found: Results) -> Part:
    """Table 4."""
    rows = [["work", "method", "longest", "GCUPS (identity)"], *map(list, TABLE_4)]
    names = ("random 10 Mb", "long_hpylori_puno120_sjm180", "simulated 250 Mb 99%", "50 Mb 99.9%")
    runs = [run for name in names if (run := run_of(found, name))]
    rates = ", ".join(f"{number(r.gcups)} ({100 * r.identity:.1f}%)" for r in runs)
    longest = f"{max(max(r.lengths) for r in runs):,}" if runs else ours(None)
    rows.append(["wfacli", "bit-vectors or wavefronts, GPU", longest, rates or ours(None)])
    return Part("Table 4: the longest strings, and the highest rates", rows, [], None, found.devices())


def plot(found: Results) -> Part:
    """Figure 13."""
    theirs = {(p.identity, p.gcups) for p in (*TABLE_2, *TABLE_3)}
    names: list[str] = []
    for kind in ("distance-scale", "distance-table"):
        names += [row["name"] for _, report in found.reports(kind) for row in report["rows"]]
    runs = [run for name in dict.fromkeys(names) if (run := run_of(found, name))]
    rows = [["pair", "bases", "identity", "GCUPS", "algorithm"]]
    for run in sorted(runs, key=lambda run: run.identity):
        rows.append([run.name, _bases(run.lengths), f"{100 * run.identity:.2f}%", number(run.gcups), run.algorithm])
    if not runs:
        rows.append([ours(None)] * 5)
    series: dict[str, list[tuple[float | str, float]]] = {
        "the paper, RTX 3090": [(100 * i, g) for i, g in sorted(theirs)]
    }
    if runs:
        series["wfacli"] = [(100 * run.identity, run.gcups) for run in runs]
    title = "Figure 13 of the paper on long strings"
    figure = Figure("levenshtein-figure-13", found.titled(title), "identity, %", "GCUPS", series, "y", joined=False)
    notes = ["The rate depends on the length, too: our shortest pairs, of 16,500 bases, are too small to fill a GPU."]
    return Part("Figure 13: rate by identity", rows, notes, figure, found.devices())


def _bases(lengths: tuple[int, ...]) -> str:
    return " × ".join(f"{n:,}" for n in lengths)
