"""Tables of batches of pairs."""

from __future__ import annotations

from collections.abc import Iterator

from .text import Report, Rows, Wins, number, peer

_GUIDED = {
    "wfacli": "wfacli, all threads",
    "ksw2": "ksw2, all threads",
    "wfacli, GPU": "wfacli, a GPU",
    "agatha": "AGAThA, a GPU",
    "wfacli, GPU, kernels": "wfacli, kernels alone",
    "agatha, kernels": "AGAThA, kernels alone",
    "wfacli, every cell": "wfacli, a GPU, without band and Z-drop",
}


def cells(report: Report) -> Rows:
    rows = [["pairs", "task", "wfacli, s", "fastest exact peer", "its time, s", "peer / wfacli", "inexact peers"]]
    for cell in report["cells"]:
        # Our run with the fewest threads is shown, since peers have one.
        own = min((t for t in cell["timings"] if t["aligner"] == "wfacli"), key=lambda t: t["threads"], default=None)
        ratio, name = cell.get("best_peer_by_ours"), cell.get("best_peer")
        seconds = next((t["best_seconds"] for t in cell["timings"] if _named(t) == name), None)
        absent = _absent(cell)
        shown = [peer(name) if name else f"none ({absent})" if absent else "none", number(seconds), number(ratio)]
        rows.append([cell["row"], cell["task"], number(own and own["best_seconds"]), *shown, _inexact(cell)])
    return rows if any(row[-1] for row in rows[1:]) else [row[:-1] for row in rows]


def _absent(cell: Report) -> str:
    """Return the aligners that did not run, by reason, whatever the setting."""
    by_reason: dict[str, list[str]] = {}
    for aligner, why in cell["not_run"].items():
        if len(why) < 30:
            by_reason.setdefault(why, []).append(peer(aligner).split(" (")[0])
    return "; ".join(f"{', '.join(dict.fromkeys(names))}: {why}" for why, names in by_reason.items())


def _inexact(cell: Report) -> str:
    """Return the aligners that were wrong on some pairs, with their shares."""
    found = [t for t in cell["timings"] if t["wrong_pairs"] and t["aligner"] != "wfacli"]
    pairs = {id(t): t.get("checked_pairs") for t in found}
    wrong = {id(t): f"{100 * t['wrong_pairs'] / n:.1f}%" if (n := pairs[id(t)]) else t["wrong_pairs"] for t in found}
    return ", ".join(f"{peer(t['aligner'])} {number(t['best_seconds'])}, {wrong[id(t)]} wrong" for t in found)


def _named(timing: Report) -> str:
    return f"{timing['aligner']} {timing['setting']}".strip()


def cell_wins(report: Report) -> Iterator[Wins]:
    for cell in report["cells"]:
        if cell.get("best_peer") and cell["best_peer_by_ours"]:
            yield f"{cell['row']}, {cell['task']}", peer(cell["best_peer"]), cell["best_peer_by_ours"]


def scored(report: Report) -> Rows:
    rows = [["data set", "pairs", "task", "wfacli, TCUPS", "kernels, TCUPS", "bus limit, TCUPS", "GASAL2, TCUPS"]]
    for row in report["rows"]:
        for task in ("scores", "cigars", "CIGARs"):
            if done := row.get(task):
                other = done.get("gasal2", {})
                theirs = "failed" if "failed" in other else number(other.get("tcups"))
                own = done["wfacli"]
                rates = [own.get("tcups"), own.get("kernel_tcups"), row.get("bus_tcups")]
                shown = [*map(number, rates), theirs]
                rows.append([row["name"], f"{row['pairs']:,}", task, *shown])
    return rows


def scored_wins(report: Report) -> Iterator[Wins]:
    for row in report["rows"]:
        for task in ("scores", "cigars", "CIGARs"):
            done = row.get(task, {})
            if (theirs := done.get("gasal2", {}).get("tcups")) and (own := done["wfacli"].get("tcups")):
                yield f"{row['name']}, {task}", "GASAL2", own / theirs


def extends(report: Report) -> Rows:
    rows = [["data set", "pairs", "mode", "task", "wfacli, GCUPS", "fastest parasail function", "wfacli / parasail"]]
    for r in report["rows"]:
        what = [r["set"], f"{r['pairs']:,}", r["mode"], "CIGAR" if r["cigars"] else "score"]
        rows.append([*what, number(r["ours"]["gcups"]), r.get("best", "none"), number(r.get("ratio"))])
    return rows


def extend_wins(report: Report) -> Iterator[Wins]:
    for r in (row for row in report["rows"] if "ratio" in row):
        yield f"{r['set']}, {r['mode']}, {'CIGAR' if r['cigars'] else 'score'}", f"parasail ({r['best']})", r["ratio"]


def free(report: Report) -> Rows:
    """Queries inside their targets."""
    rows = [["query in target", "edits", "task", "wfacli, µs per pair", "edlib, µs per pair", "edlib / wfacli"]]
    for row in report["rows"]:
        shown = [number(row[aligner]["us_a_pair"]) if aligner in row else "–" for aligner in ("ours", "edlib")]
        rows.append([*_free_named(row), *shown, number(row.get("ratio"))])
    return rows


def free_wins(report: Report) -> Iterator[Wins]:
    for row in report["rows"]:
        if row.get("equal"):
            yield ", ".join(_free_named(row)), "edlib", row["ratio"]


def _free_named(row: Report) -> list[str]:
    return [f"{row['query']:,} in {row['target']:,}", f"{100 * row['error']:g}%", row["task"]]


def overlaps(report: Report) -> Rows:
    """Overlaps of noisy reads."""
    rows = [["bases", "overlap", "edits", "task", "wfacli, µs per pair", "parasail, µs per pair", "parasail / wfacli"]]
    for row in report["rows"]:
        theirs = number(row[row["best"]]["us_a_pair"]) if "best" in row else "–"
        rows.append([*_overlap_named(row), number(row["ours"]["us_a_pair"]), theirs, number(row.get("ratio"))])
    return rows


def overlap_wins(report: Report) -> Iterator[Wins]:
    for row in report["rows"]:
        if row.get("equal"):
            yield ", ".join(_overlap_named(row)), f"parasail ({row['best']})", row["ratio"]


def _overlap_named(row: Report) -> list[str]:
    return [f"{row['length']:,}", f"{100 * row['share']:g}%", f"{100 * row['error']:g}%", row["task"]]


def guided(report: Report) -> Rows:
    """Extensions in a band with a Z-drop."""
    rows = [["data set", "pairs", "aligner", "s", "pairs per second", "GCUPS of the band", "correct scores"]]
    for row in report["rows"]:
        for aligner, where in _GUIDED.items():
            if run := row.get(aligner):
                count = row["cpu_pairs"] if "all threads" in where else row["pairs"]
                share = "–" if "equal_share" not in run else f"{100 * run['equal_share']:.2f}%"
                shown = [number(run["best_seconds"]), f"{run['pairs_per_second']:,.0f}", number(run["gcups"]), share]
                rows.append([row["name"], f"{count:,}", where, *shown])
        for aligner, why in row.get("failed", {}).items():
            rows.append([row["name"], f"{row['pairs']:,}", f"{peer(aligner)}: {why}", *["–"] * 4])
    return rows


def guided_wins(report: Report) -> Iterator[Wins]:
    """Compare ours on the CPU with ksw2, and on a GPU with AGAThA if its scores are right."""
    for row in report["rows"]:
        for ours, aligner in (("wfacli", "ksw2"), ("wfacli, GPU", "agatha")):
            if ours in row and aligner in row and row[aligner]["equal_share"] == 1:
                yield row["name"], peer(aligner), row[ours]["pairs_per_second"] / row[aligner]["pairs_per_second"]


def bands(report: Report) -> Rows:
    rows = [["pairs", "method", "s", "exact scores", "exact time / time"]]
    for row in report["rows"]:
        for w in row["ways"]:
            shown = [number(w["best_seconds"]), f"{100 * w['recall']:.0f}%", number(w["times"])]
            rows.append([row["row"], w["way"], *shown])
    return rows


def bench(report: Report) -> Rows:
    rows = [["pairs", "task", "engine", "s", "pairs per second", "GCUPS", "share of the limit", "exact scores"]]
    for r in report["rows"]:
        engine = ", ".join(
            filter(None, [r["engine"], f"{r['threads']} thread{'s' * (r['threads'] > 1)}", r["heuristic"]])
        )
        limit = f"{100 * r['limit_share']:.0f}% ({r['limit']})" if r["limit_share"] is not None else "–"
        recall = "–" if r["recall"] is None else f"{100 * r['recall']:.0f}%"
        shown = [number(r["best_seconds"]), f"{r['pairs_per_second']:,.0f}", number(r["gcups"]), limit, recall]
        rows.append([r["row"], r["task"], engine, *shown])
    return rows


def tiles(report: Report) -> Rows:
    """Two commits side by side: kernels of noisy long reads."""
    rows = [["pairs and task", "commit", "s, best", "s, median", "kernels, s"]]
    for r in report["rows"]:
        kernels = sum(s for name, s in r["gpu_seconds"].items() if name.startswith("gpu tiles"))
        rows.append([r["row"], r["commit"], number(r["best_seconds"]), number(r["median_seconds"]), number(kernels)])
    return rows


def steps(report: Report) -> Rows:
    """Two trees that alternate on one GPU, and variants of the newer one."""
    rows = [["pairs", "commit", "variant", "s, best", "s, median"]]
    names = {tree: str(what).split(",")[0] for tree, what in report["trees"].items()}
    for r in sorted(report["runs"], key=lambda r: (r["row"], r["tree"] == "new", r["variant"] or "")):
        shown = [number(r["best_seconds"]), number(r["median_seconds"])]
        rows.append([r["row"], names[r["tree"]], r["variant"] or "", *shown])
    return rows


def kernels(report: Report) -> Rows:
    """Each kernel with every pair of a row."""
    rows = [["data set", "pairs", "kernel", "threads per pair", "s", "kernel alone, s", "aligned"]]
    for row in report["rows"]:
        for k in row["kernels"]:
            shown = [number(k["best_seconds"]), number(kernel_seconds(k)), f"{100 * k['aligned'] / row['pairs']:.0f}%"]
            rows.append([row["row"], f"{row['pairs']:,}", k["kernel"], str(k["threads"]), *shown])
    return rows


def kernel_seconds(found: Report) -> float:
    """Return the seconds of the kernel, and of the traceback if that is another kernel."""
    stages: dict[str, float] = found["gpu_seconds"]
    return sum(s for name, s in stages.items() if found["kernel"] in name)


def trees(report: Report) -> Rows:
    """Commits that alternate on one machine: seconds of each repeat, by workload."""
    names = list(report["trees"])
    rows = [["pairs", *(f"{name}, s, best ({str(report['trees'][name]).split(':')[0]})" for name in names)]]
    for row, found in report["results"].items():
        rows.append([row, *(number(min(found[name])) for name in names)])
    return rows


def gpus(report: Report) -> Rows:
    """One GPU and several."""
    counts = [str(count) for count in report["gpus"]]
    rows = [["pairs", "what", *(f"{count} × GPU, s" for count in counts), "share of linear speed-up"]]
    for name, row in report["rows"].items():
        for what, part in ((what, part) for what, part in row.items() if isinstance(part, dict)):
            seconds = [number(part["runs"][count]["best_seconds"]) for count in counts]
            rows.append([name, what, *seconds, f"{part['by_gpus'][counts[-1]].get('share_of_linear', 1):.0%}"])
    return rows
