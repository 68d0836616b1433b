"""StripedScore, StripedAlignment, ChunkedAlignment: figures 5 and 6 are images; the numbers are from the text."""

from __future__ import annotations

from collections.abc import Callable

from bench.pages.text import number

from .found import MISSING, Missed, Results
from .layout import NOT_READ, Figure, Paper, Part, ours

RATE = 7.1  # GCUPS of StripedScore
TIMES = {
    "PerotRecurrence": "13 to 17",
    "BlockedAntidiagonal": "20 to 33",
    "EnhancedBA": "2.8 to 9.3",
    "CUDASW++ 2.0": "7.7 to 22.8",
}
PAIRS = ("long_mt_human_orang", "long_mpxv", "long_lpa_human", "long_ont_500k",
         "long_hpylori_puno120_sjm180", "long_ecoli_dh1_mg1655")  # fmt: skip


def paper(results: Callable[[], Results]) -> Paper:
    """Return all of it."""
    cite = "Li, Ranka, Sahni, Pairwise sequence alignment for very long sequences on GPUs (StripedScore), 2012"
    return Paper("StripedScore", cite, "NVIDIA Tesla C2050", [strips(results()), times(results())])


def strips(found: Results) -> Part:
    """Figure 5."""
    report = found.whole("local-gpu", "strips")
    rows = [["bases of both", "rows of a strip", "build", "score, ms", "TCUPS"]]
    points: dict[str, list[tuple[float | str, float]]] = {}
    for one in report["strips"] if report else []:
        kind, length = "four symbols" if one["pairs"] else "any symbols", f"{one['length']:,}"
        build = f"{kind}, tiles of {one['chunk']} columns"
        rows.append([length, str(one["rows"]), build, number(1000 * one["score"]), number(one["tcups"])])
        line = points.setdefault(f"{length}, {kind}", [])
        if one["chunk"] == 128:
            line.append((one["rows"], 1000 * one["score"]))
    if not report:
        rows.append([MISSING] * 5)
    title = "Figure 5 of StripedScore's paper, by wfacli: tiles of 128 columns"
    figure = (
        Figure("striped-figure-5", found.titled(title), "rows of a strip", "milliseconds", points) if points else None
    )
    notes = [
        "Prefixes of two E. coli genomes without skipping tiles (`python -m bench.tables.local_gpu "
        "--strips`), by the kernel of that commit. The paper's milliseconds by strip width are in a "
        "picture. Its text says that wider strips are faster for long sequences, and that short "
        "sequences have an optimal width. In wfacli, narrower tiles are faster for short sequences.",
    ]
    return Part("Figure 5: the strip's size", rows, notes, figure, found.devices())


def times(found: Results) -> Part:
    """Figure 6."""
    rows = [["pair", "bases", "score, s", "GCUPS", "by StripedScore's 7.1 GCUPS", "with the alignment, s",
             "MASA-CUDAlign here, stage 1, s"]]  # fmt: skip
    bars: list[tuple[float | str, float]] = []
    for name in PAIRS:
        row = found.row("local-gpu", name, lambda row: "alignment" in row) or found.row("local-gpu", name)
        if row is None:
            rows.append([name, NOT_READ, *[ours(None)] * 5])
            continue
        score, whole = row["score"], row.get("alignment")
        total = whole and whole["bases"] + whole["score"] + whole["path"]
        peer = row.get("masa", {}).get("score", {}).get("own_seconds")
        if peer is None:
            found.missed.append(Missed("local-gpu", name, aligner="masa"))
        gcups = 1000 * score["tcups"]
        shown = [number(score["score"]), number(gcups), number(gcups / RATE), ours(total), ours(peer)]
        rows.append([name, " × ".join(f"{n:,}" for n in row["lengths"]), *shown])
        bars.append((name.removeprefix("long_").split("_")[0], gcups))
    every: dict[str, list[tuple[float | str, float]]] = {"StripedScore (paper, C2050)": [(n, RATE) for n, _ in bars]}
    every["wfacli (here)"] = bars
    title = "Rates of best local scores"
    figure = Figure("striped-figure-6", found.titled(title), "", "GCUPS", every, "y") if bars else None
    others = ", ".join(f"{name} {times}" for name, times in TIMES.items())
    notes = [
        f"The paper's milliseconds are a picture; its text has StripedScore's rate, and how many times as long others"
        f" take: {others}.",
        "GCUPS of the whole matrix; wfacli skips tiles that cannot contain the best score.",
    ]
    return Part("Figure 6: time of the score", rows, notes, figure, found.devices())
