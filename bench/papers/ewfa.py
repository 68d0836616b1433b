"""eWFA-GPU: tables 1, 3, 4 and figure 5. The tables are images: the numbers are those in the paper's text."""

from __future__ import annotations

from collections.abc import Callable

from bench.pages.batches import kernel_seconds
from bench.pages.text import number

from .found import Results
from .layout import NOT_READ, Figure, Paper, Part, ours

_COUNT = 10_000_000  # pairs of its tables
ERRORS = ("2%", "5%", "10%")
ROWS = {150: "2 M × 150 bp {}", 300: "500 k × 300 bp {}", 1000: "300 k × 1 kb {}"}
# Times of other aligners relative to eWFA-GPU, from section IV-B.
TIMES = {
    "eWFA, 80 threads": ("alignment", "3 to 9"),
    "BPM, 80 threads": ("distance", "24 to 102"),
    "O(ND), 80 threads": ("distance", "19 to 100"),
    "Edlib, 80 threads": ("alignment", "31 to 265"),
    "NVBio, dynamic programming": ("distance", "2.5 to 7.4"),
    "NVBio, BPM": ("distance", "4.5 to 7.2"),
    "WmCudaTile": ("distance", "up to 12 (150), up to 56 (longer)"),
    "GASAL2, gap-affine made to be edits": ("alignment", "10 to 30"),
}
HERE = (("wfacli", "edit score"), ("wfacli", "edit CIGAR"), ("ewfa-gpu", "edit CIGAR"), ("wfa2", "edit CIGAR"))
SHOWN = {"wfacli": "wfacli", "ewfa-gpu": "eWFA-GPU", "wfa2": "WFA2-lib, all cores"}
KERNELS = {"E32": "wfa-edit-32", "E64": "wfa-edit-64", "E128": "wfa-edit-128"}
NOMINAL = {20: "2%", 35: "3.5%", 50: "5%", 75: "7.5%", 100: "10%"}  # by edits of 1,000 bases
MOST = 0.99  # share of the pairs; a kernel that aligns fewer has no time here
BY_THREADS = {"150": "150 bp 10%", "300": "300 bp 10%", "1,000": "1 kb 10%"}


def paper(results: Callable[[], Results]) -> Paper:
    """Return all of it; each part has its own files."""
    parts = [part(results()) for part in (times, kernels, threads, breakdown)]
    cite = (
        "Aguado-Puig et al., Accelerating Edit-Distance Sequence Alignment on GPU Using the Wavefront Algorithm, 2022"
    )
    return Paper("eWFA-GPU", cite, "NVIDIA V100 (16 GB), IBM Power9 with 80 threads", parts)


def times(found: Results) -> Part:
    """Table 1."""
    head = [
        "aligner",
        "what",
        *(f"{n} bp {error}" for n in ROWS for error in ERRORS),
        "paper: times as long as eWFA-GPU",
    ]
    rows = [head]
    for aligner, task in HERE:
        names = [name.format(error) for name in ROWS.values() for error in ERRORS]
        what = "distance" if task.endswith("score") else "alignment"
        rows.append(
            [f"{SHOWN[aligner]} (here)", what, *(_milliseconds(found, name, task, aligner) for name in names), ""]
        )
    rows += [[aligner, what, *[NOT_READ] * 9, times] for aligner, (what, times) in TIMES.items()]
    notes = [
        "Milliseconds for 10 million pairs, copies included. wfacli's are computed from the rate of "
        "fewer pairs (2 M of 150 bases, 500 k of 300, 300 k of 1,000). All pairs are simulated, as in"
        " the paper.",
        "The paper's milliseconds are only in a picture, so the table has the ratios of its text.",
        "eWFA-GPU is exact up to 63 edits.",
    ]
    return Part("Table 1: ten million pairs", rows, notes, None, found.devices())


def _milliseconds(found: Results, row: str, task: str, aligner: str) -> str:
    cell = found.pairs(row, task, aligner)
    return number(1000 * cell.for_pairs(_COUNT)) if cell else found.unable(row, task, aligner)


def kernels(found: Results) -> Part:
    """Table 3."""
    row = found.row("kernel-table", "150 bp 5%")
    by_name = {k["kernel"]: k for k in row["kernels"]} if row else {}
    first = by_name.get(KERNELS["E32"])
    rows = [["kernel", "ours", "threads per pair", "kernel, ms", "ratio to E32", "total, ms", "ratio to E32",
             "paper: kernel", "paper: total"]]  # fmt: skip
    paper = {"E32": ("1", "1"), "E64": (NOT_READ, NOT_READ), "E128": ("11", "up to 3.8")}
    for name, own in KERNELS.items():
        k = by_name.get(own)
        if k is None or first is None:
            rows.append([name, own, *[ours(None)] * 5, *paper[name]])
            continue
        alone, whole = kernel_seconds(k), k["best_seconds"]
        shown = [number(1000 * alone), number(alone / kernel_seconds(first)), number(1000 * whole)]
        rows.append([name, own, str(k["threads"]), *shown, number(whole / first["best_seconds"]), *paper[name]])
    notes = [
        "One million pairs of 150 bases with 5% errors, aligned by each kernel: the cost of a "
        "kernel for more errors than the pairs have."
    ]
    return Part("Table 3: kernels for more errors than the pairs have", rows, notes, None, found.devices())


def threads(found: Results) -> Part:
    """Table 4."""
    known: dict[tuple[str, int], dict[str, str]] = {}
    for length, name in BY_THREADS.items():
        row = found.row("kernel-table", name)
        for k in row["kernels"] if row else []:
            done = k["aligned"] >= MOST * row["pairs"] if row else False
            per = kernel_seconds(k) * _COUNT / row["pairs"] if row else 0.0
            known.setdefault((k["kernel"], k["threads"]), {})[length] = number(1000 * per) if done else "out of reach"
    rows = [["threads per pair", "kernel", *(f"{length} bp 10%" for length in BY_THREADS)]]
    order = sorted(known, key=lambda key: (key[1], key[0].startswith("bits"), int(key[0].rsplit("-", 1)[1])))
    rows += [[str(n), name, *(known[name, n].get(length, ours(None)) for length in BY_THREADS)] for name, n in order]
    if not known:
        rows.append([NOT_READ, ours(None), *[ours(None)] * len(BY_THREADS)])
    notes = [
        "Milliseconds of the kernel alone for ten million pairs, computed from the rates of 1 M, 500 "
        "k and 300 k pairs. In wfacli each kernel has a fixed number of threads per pair. The paper "
        "has no bit-vector kernel with one thread per pair.",
        "Out of reach: more than 1% of the pairs fall back to another kernel.",
        "The paper's milliseconds are in a picture. Its text says that 32 and 64 threads are equally "
        "fast up to 300 bases, and that 128 threads are fastest for 1,000 bases.",
    ]
    return Part("Table 4: threads per pair", rows, notes, None, found.devices())


def breakdown(found: Results) -> Part:
    """Figure 5."""
    rows = [["errors per pair", "copies, ms", "kernels, ms", "total, ms", "(copies + kernels) / total"]]
    bars: dict[str, list[tuple[float | str, float]]] = {"copies": [], "kernels": [], "total": []}
    for errors, share in NOMINAL.items():
        cell = found.pairs(ROWS[1000].format(share), "edit CIGAR")
        if cell is None:
            rows.append([str(errors), *[ours(None)] * 4])
            continue
        scale = 1000 * 1_000_000 / cell.pairs
        copies = scale * cell.stages.get("gpu copy", 0.0)
        inside = scale * sum(s for n, s in cell.stages.items() if n.startswith("gpu ") and n != "gpu copy")
        whole = scale * cell.seconds
        rows.append([str(errors), *map(number, (copies, inside, whole, (copies + inside) / whole))])
        for name, value in zip(bars, (copies, inside, whole), strict=True):
            bars[name].append((str(errors), value))
    notes = [
        "Alignments of one million pairs of 1,000 bases, computed from the rate of 300,000. Times of "
        "copies and kernels are added over streams, of which several run at the same time, so their "
        "sum can exceed the total.",
        "The paper's bars are a picture. Its text says that copies limit the rate at 20 errors, and "
        "kernels at 75 and 100. The time of wfacli's bit-vector kernels hardly depends on the errors,"
        " so copies limit the rate at all of them.",
    ]
    title = "eWFA-GPU's figure 5, by wfacli: 1 M pairs of 1,000 bases"
    figure = (
        Figure("ewfa-figure-5", found.titled(title), "errors per pair", "milliseconds", bars)
        if bars["copies"]
        else None
    )
    return Part("Figure 5: copies and kernels", rows, notes, figure, found.devices())
