"""SALoBa: figures 6 to 8, which are images: the numbers are those in the paper's text."""

from __future__ import annotations

from collections.abc import Callable

from bench.pages.text import Report, number

from .found import Missed, Results
from .layout import Figure, Paper, Part, ours, theirs

LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)
_CALL = 5000  # pairs of a call of its kernels
# Milliseconds of a call at 64 bases, and speed relative to GASAL2: GTX 1650, RTX 3090.
MILLISECONDS = {"SALoBa": {64: (0.51, 0.24)}, "NVBio": {64: (0.42, 0.21)}}
OVER_GASAL2 = {512: (1.277, 1.436), 1024: (1.3, 1.5), 2048: (1.3, 1.5), 4096: (1.3, 1.5)}
SUBWARPS = (2.26, 2.85)  # geometric mean of their gain with shorter sequences
SETS = {
    "A: Illumina MiSeq, 250 bases": ("illumina250", (1.325, 1.202)),
    "B: PacBio RS, 2,000 bases": ("pacbio_clr_ecoli", (2.1, 2.1)),
}


def paper(results: Callable[[], Results]) -> Paper:
    """Return all of it."""
    cite = (
        "Park et al., SaLoBa: Maximizing Data Locality and Workload Balance for Fast Sequence Alignment on GPUs, 2022"
    )
    return Paper(
        "SALoBa", cite, "NVIDIA GTX 1650 and RTX 3090", [lengths(results()), groups(results()), seeds(results())]
    )


def _of(row: Report | None, kind: str, aligner: str, what: str) -> float | None:
    value = row and row.get(kind, {}).get(aligner, {}).get(what)
    return float(value) if value else None


def _ratio(row: Report | None, kind: str) -> float | None:
    own, other = _of(row, kind, "wfacli", "tcups"), _of(row, kind, "gasal2", "tcups")
    return own / other if own and other else None


def _beside(found: Results, name: str) -> Report | None:
    """Return the newest row that has both aligners in one run, else the newest of ours."""
    both = found.row("sw-table", name, lambda row: _of(row, "scores", "gasal2", "tcups") is not None)
    return both or found.row("sw-table", name)


def lengths(found: Results) -> Part:
    """Figure 6."""
    rows = [["bases", "paper: SALoBa, ms (GTX 1650, RTX 3090)", "NVBio, ms", "paper: SALoBa by GASAL2",
             "wfacli's kernels, ms", "wfacli with copies, ms", "wfacli by GASAL2, both with copies"]]  # fmt: skip
    series: dict[str, list[tuple[float | str, float]]] = {"wfacli's kernels": [], "wfacli with copies": []}
    for length in LENGTHS:
        row = found.row("sw-table", str(length))
        cells = _CALL * length**2 / 1e12
        times = [cells / rate * 1000 if (rate := _of(row, "scores", "wfacli", what)) else None
                 for what in ("kernel_tcups", "tcups")]  # fmt: skip
        paper = [_two(MILLISECONDS[name].get(length)) for name in ("SALoBa", "NVBio")]
        gain = _two(OVER_GASAL2.get(length))
        rows.append(
            [str(length), *paper, gain, *map(ours, times), ours(_ratio(_beside(found, str(length)), "scores"))]
        )
        for points, value in zip(series.values(), times, strict=True):
            if value:
                points.append((length, value))
    drawn = {name: points for name, points in series.items() if points}
    drawn["SALoBa (paper, RTX 3090)"] = [(64, MILLISECONDS["SALoBa"][64][1])]
    title = "SALoBa's figure 6: scores of 5,000 pairs"
    figure = Figure("saloba-figure-6", found.titled(title), "bases of both sequences", "milliseconds", drawn, "xy")
    notes = [
        "Milliseconds for 5,000 pairs of equal lengths, scores alone, computed from the rates of "
        "batches that fill the GPU: 5,000 short pairs alone do not fill an H200. The paper's times "
        "are those of the kernels alone.",
        "From 1,024 bases on, the paper's text gives approximate ratios. GASAL2 ran here with few "
        "pairs of more than 1,000 bases (see the notes of the file), so the last ratios are "
        "uncertain.",
    ]
    return Part("Figure 6: pairs of equal lengths", rows, notes, figure, found.devices())


def _two(values: tuple[float, float] | None) -> str:
    return ", ".join(map(theirs, values)) if values else theirs(None)


def groups(found: Results) -> Part:
    """Figure 7."""
    head = ["bases", "best build", "TCUPS", "the build of a whole warp a pair, TCUPS", "gain by smaller groups"]
    rows, gains = [head], []
    for length in LENGTHS:
        row = found.row("sw-table", str(length), lambda row: "builds" in row["scores"]["wfacli"])
        builds: dict[str, float] = row["scores"]["wfacli"]["builds"] if row else {}
        if "32x16" not in builds:
            rows.append([str(length), *[ours(None)] * 4])
            continue
        best = max(builds, key=builds.__getitem__)
        gains.append(builds[best] / builds["32x16"])
        rows.append([str(length), best, number(builds[best]), number(builds["32x16"]), number(gains[-1])])
    notes = [
        "The paper adds its three techniques to GASAL2 one after the other. In wfacli, every kernel "
        "keeps columns in registers and passes values between strips through shared memory, so only "
        "the group size can be changed: a kernel is named by lanes per group x columns per lane, and "
        "32x16 uses a whole warp per pair. Kernels alone, scores.",
        f"The paper's text: groups smaller than a warp gain {SUBWARPS[0]} (GTX 1650) and {SUBWARPS[1]} times (RTX"
        " 3090) with shorter sequences.",
    ]
    return Part("Figure 7: gain of each technique", rows, notes, None, found.devices())


def seeds(found: Results) -> Part:
    """Figure 8."""
    rows = [["set", "stands in", "paper: SALoBa by GASAL2 (GTX 1650, RTX 3090)", "wfacli, TCUPS", "GASAL2 here, TCUPS",
             "wfacli by GASAL2"]]  # fmt: skip
    bars: dict[str, list[tuple[float | str, float]]] = {"SALoBa (paper, RTX 3090)": [], "wfacli": []}
    for name, (row_name, paper) in SETS.items():
        row = _beside(found, row_name)
        own, other = _of(row, "scores", "wfacli", "tcups"), _of(row, "scores", "gasal2", "tcups")
        ratio = _ratio(row, "scores")
        if own and not other:
            found.missed.append(Missed("sw-table", row_name, aligner="gasal2"))
        rows.append([name, row_name, _two(paper), ours(own), ours(other), ours(ratio)])
        bars["SALoBa (paper, RTX 3090)"].append((name[0], paper[1]))
        if ratio:
            bars["wfacli"].append((name[0], ratio))
    title = "SALoBa's figure 8: times as fast as GASAL2"
    figure = Figure(
        "saloba-figure-8", found.titled(title), "set", "times as fast", {n: p for n, p in bars.items() if p}, "y"
    )
    notes = [
        "The parts of reads on both sides of their seeds. The paper's human reads (SRR835433, "
        "SRP091981) are not available; Illumina reads of 250 bases and PacBio CLR reads of E. coli "
        "are used instead. Times include copies here, but not in the paper.",
    ]
    return Part("Figure 8: both sides of seeds", rows, notes, figure, found.devices())
