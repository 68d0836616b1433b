"""Tables of the whole command, its files and memory, and of the Python API."""

from __future__ import annotations

from collections.abc import Iterator

from .text import Report, Rows, Wins, number, said


def api(report: Report) -> Rows:
    rows = [["metric", "edits", "from Python", "threads", "pairs per second", "rate / rate of the peer"]]
    for r in report["rows"]:
        aligner = {"wfacli": "wfacli, a batch", "wfacli.align": "wfacli, one call per pair"}.get(
            r["aligner"], r["aligner"]
        )
        shown = [f"{r['pairs_per_second']:,}", number(r["times_the_peer"])]
        rows.append([r["metric"], f"{100 * r['error']:.0f}%", aligner, str(r["threads"]), *shown])
    return rows


def api_wins(report: Report) -> Iterator[Wins]:
    names = {"edit": "edlib", "affine": "pywfa"}
    for r in report["rows"]:
        if r["aligner"].startswith("wfacli"):
            how = "one call per pair" if r["aligner"] == "wfacli.align" else f"a batch, {r['threads']} threads"
            yield f"{r['metric']}, {100 * r['error']:.0f}%, {how}", names.get(r["metric"], "it"), r["times_the_peer"]


def mapped(report: Report) -> Rows:
    rows = [["reads", "preset", "mappings", "higher score", "equal", "lower"]]
    for r in report["rows"]:
        counts = [r["better"], r["equal"], r["worse"]]
        rows.append([r["reads"], r["preset"], f"{sum(counts):,}", *(f"{count:,}" for count in counts)])
    return rows


def map_quality(report: Report) -> Rows:
    rows = [["preset", "program", "mapped correctly", "bases at the right position", "clipped bases",
             "large gaps in one piece", "SNV precision", "SNV recall", "higher score", "CPU s"]]  # fmt: skip
    for r in report["rows"]:
        for program, better in (("wfacli", "higher"), ("minimap2", "lower")):
            one = r[program]
            found, spanned = (one[f"{what}_deletions"] + one[f"{what}_insertions"] for what in ("whole", "spanned"))
            snv = one["calls"]["snv"]
            called = ["–" if snv[what] is None else f"{100 * snv[what]:.2f}%" for what in ("precision", "recall")]
            rows.append([r["name"], program, f"{one['placed']:,} of {one['placeable']:,}",
                         f"{100 * one['right_bases']:.2f}%", f"{one['clipped_bases']:,}", f"{found:,} of {spanned:,}",
                         *called, f"{r['scores'][better]:,}", number(one["cpu_seconds"])])  # fmt: skip
    return rows


def whole_jobs(report: Report) -> Rows:
    rows = [["job", "records", "wfacli, s", "minimap2, s", "minimap2 / wfacli", "mapping alone, s"]]
    for r in report["rows"]:
        peer = r.get("minimap2 | samtools") or r.get("minimap2")
        ours = r["wfacli"]["best_seconds"]
        rows.append([r["name"], f"{r['records']:,}", number(ours), number(peer and peer["best_seconds"]),
                     number(peer and peer["best_seconds"] / ours),
                     number(r["mapping"]["best_seconds"] if "mapping" in r else None)])  # fmt: skip
    return rows


def whole(report: Report) -> Rows:
    pairs = report["workload"]["pairs"]
    rows = [["what is measured", "s", "pairs per second"]]
    for name, run in report["timings"].items():
        rows.append([said(report["what_is_timed"].get(name, name)), number(run["best_seconds"]),
                     f"{pairs / run['best_seconds']:,.0f}"])  # fmt: skip
    return rows


def memory(report: Report) -> Rows:
    sizes = list(next(iter(report["peak_memory_bytes"].values())))
    rows = [["output", *(f"{int(size):,} pairs, MB" for size in sizes)]]
    for name, runs in report["peak_memory_bytes"].items():
        rows.append([name.upper(), *(number(runs[size] / 1e6) for size in sizes)])
    return rows


def reused(report: Report) -> Rows:
    rows = [["metric", "pairs", "MB after 10%", "MB at the end"]]
    for r in report["runs"]:
        sizes = [number(r[k] / 1e6) for k in ("bytes_after_a_tenth", "bytes_at_the_end")]
        rows.append([r["metric"], f"{r['pairs']:,}", *sizes])
    return rows


def path(report: Report) -> Rows:
    """Readers of sequence files."""
    names = list(dict.fromkeys(n for file in report["reader"].values() for n in file["gigabytes_per_second"]))
    rows = [["files", *(f"{name}, GB/s of text" for name in names)]]
    for file, found in report["reader"].items():
        rows.append([file, *(number(found["gigabytes_per_second"].get(name)) for name in names)])
    return rows


def path_wins(report: Report) -> Iterator[Wins]:
    """Compare one thread of ours with one of dnaio."""
    for file, found in report["reader"].items():
        rates = found["gigabytes_per_second"]
        if "dnaio" in rates:
            yield f"reading {file}, one thread", "dnaio", rates["wfacli, 1 threads"] / rates["dnaio"]


def bus(report: Report) -> Rows:
    """Windows of a reference on the bus to a GPU."""
    rows = [["reads, output", "mappings", "whole, s", "windows on the bus, ms", "share of the time"]]
    for name, r in report["rows"].items():
        rows.append([name, f"{r['mappings']:,}", number(r["wall"]["best_seconds"]),
                     number(1e3 * r["windows_seconds"]), f"{r['windows_share']:.2%}"])  # fmt: skip
    return rows
