"""Tables of one long pair."""

from __future__ import annotations

from collections.abc import Iterator

from .text import Report, Rows, Wins, number, peer


def distances(report: Report) -> Rows:
    names = list(dict.fromkeys(name for row in report["rows"] for name in row["measured"]))
    rows = [["pair", "bases", "distance", *(f"{peer(name)}, s" for name in names)]]
    for row in report["rows"]:
        times = [_time(row, name) for name in names]
        found = ("not agreed" if row["measured"] else "not run") if row["distance"] is None else f"{row['distance']:,}"
        rows.append([row["name"], f"{max(row['query_len'], row['target_len']):,}", found, *times])
    return rows


def _time(row: Report, name: str) -> str:
    if name in row.get("mismatch", {}):
        return "wrong"
    return number(row["measured"][name]["best_seconds"]) if name in row["measured"] else "–"


def distance_wins(report: Report) -> Iterator[Wins]:
    for row in report["rows"]:
        for place, ratio in row["peer_over_ours"].items():
            if ratio is not None:
                yield f"{row['name']}, faster algorithm on the {place.upper()}", "the fastest peer", ratio


def scale(report: Report) -> Rows:
    rows = [["pair", "bases", "algorithm", "distance", "s", "TCUPS", "algorithms agree"]]
    for row in report["rows"]:
        for run in row["runs"]:
            agreed = "yes" if row["agreed"] else "only one ran" if len(row["runs"]) < 2 else "no"
            what = [row["name"], f"{max(row['lengths']):,}", run["algorithm"], f"{run['distance']:,}"]
            rows.append([*what, number(run["seconds"]), number(run["tcups"]), agreed])
    return rows


def locals(report: Report) -> Rows:
    rows = [["pair", "bases", "score, GCUPS", "whole alignment, GCUPS", "fastest of parasail, GCUPS", "function"]]
    for row in report["rows"]:
        done = row["measured"]
        name, best = _parasail(done)
        ours = [number(done[k]["gcups"]) if k in done else "–" for k in ("score", "alignment")]
        rows.append([row["name"], f"{max(row['lengths']):,}", *ours, number(best), name])
    return rows


def _parasail(measured: Report) -> tuple[str, float | None]:
    found = {name: run["gcups"] for name, run in measured.items() if name.startswith("sw_")}
    return max(((n, g) for n, g in found.items()), key=lambda pair: pair[1], default=("not measured", None))


def local_wins(report: Report) -> Iterator[Wins]:
    for row in report["rows"]:
        name, best = _parasail(row["measured"])
        if best:
            yield f"{row['name']}, score", f"parasail ({name})", row["measured"]["score"]["gcups"] / best


def local_gpu(report: Report) -> Rows:
    head = [
        "pair",
        "bases",
        "all cells, s",
        "score, s",
        "TCUPS",
        "alignment added, s",
        "MASA-CUDAlign, score, s",
    ]
    rows = [head]
    for row in (*report["rows"], *report.get("lengths", [])):
        score, masa = row["score"], row.get("masa", {}).get("score", {})
        name = row["name"] if row in report["rows"] else f"prefix of {row['lengths'][0]:,}"
        found = (row["every tile"]["score"], score["score"], score["tcups"], row.get("alignment", {}).get("path"))
        rows.append([name, f"{max(row['lengths']):,}", *map(number, found), number(masa.get("own_seconds"))])
    return rows


def local_gpu_wins(report: Report) -> Iterator[Wins]:
    for row in report["rows"]:
        if theirs := row.get("masa", {}).get("score", {}).get("own_seconds"):
            yield f"{row['name']}, score", "MASA-CUDAlign", theirs / row["score"]["score"]


def long(report: Report) -> Rows:
    rows = [["pair", "metric", "identity", "s", "peak memory, MB", "kernel"]]
    for r in report["runs"]:
        shown = [number(r["wall_seconds"]), number(r["peak_memory_bytes"] / 1e6), ", ".join(r["pairs_by_kernel"])]
        rows.append([r["name"], r["metric"], f"{100 * r['identity']:.1f}%", *shown])
    return rows
