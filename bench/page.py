"""docs/benchmarks.md out of bench/results: of each kind of measurement the newest file, as a table.

    python bench/page.py            # writes the page
    python bench/page.py --check    # ends with 1 where the page is not what the results say

Nothing is measured, and nothing on the page is from anywhere else. Of files of one day the one that came to the
repository last is newest. Kinds that are not in KINDS are named at the end, so that no result goes unseen.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
Report = dict[str, Any]
Rows = list[list[str]]
PEERS = {"wfa2": "WFA2-lib", "quicked": "QuickEd", "wfa-gpu": "WFA-GPU", "ewfa-gpu": "eWFA-GPU", "gasal2": "GASAL2"}

HEAD = """# How fast is it, and beside what?

<!-- Made by bench/page.py from bench/results: do not edit. -->

Every number on this page is out of a file in `bench/results`, which is named above its table with the machine, the
date and the commit. Times of one table are of one run on one machine. A ratio above 1 means that wfacli is faster.
Where a peer is faster, a line below the table says so.

Times of two tables are of two machines, or two days: do not compare them. To measure your own machine, see
[Performance](performance.md#how-do-i-measure-my-own-machine).
"""


@dataclass(frozen=True)
class Kind:
    """A kind of measurement.

    Attributes:
        title: its heading.
        command: what makes its file.
        table: the rows, the first of which is the head.
        wins: for each row with a peer that is as good as ours: what it is, the peer, and ours by the peer's rate.
        plot: a picture beside the results, or the suffix of one that has the file's name.
    """

    title: str
    command: str
    table: Callable[[Report], Rows]
    wins: Callable[[Report], Iterator[tuple[str, str, float]]] | None = None
    plot: str = ""


def number(value: float | None) -> str:
    """Three digits, without an exponent."""
    if value is None:
        return "–"
    if not value or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - int(f'{value:e}'.split('e')[1]))}f}"


def peer(name: str) -> str:
    """A peer as it writes its own name."""
    first, *rest = name.split(" ", 1)
    return " ".join([PEERS.get(first, first), *(f"({r})" for r in rest)])


def _cells(report: Report) -> Rows:
    rows = [["pairs", "task", "wfacli, s", "best exact peer", "its s", "times as fast", "inexact peers"]]
    for cell in report["cells"]:
        # What two threads take stands beside; peers have one.
        own = min((t for t in cell["timings"] if t["aligner"] == "wfacli"), key=lambda t: t["threads"])
        ratio, name = cell.get("best_peer_by_ours"), cell.get("best_peer")
        seconds = next((t["best_seconds"] for t in cell["timings"] if _named(t) == name), None)
        absent = ", ".join(f"{peer(who)}: {why}" for who, why in cell["not_run"].items() if len(why) < 30)
        shown = [peer(name) if name else f"none ({absent})" if absent else "none", number(seconds), number(ratio)]
        rows.append([cell["row"], cell["task"], number(own["best_seconds"]), *shown, _inexact(cell)])
    return rows if any(row[-1] for row in rows[1:]) else [row[:-1] for row in rows]


def _inexact(cell: Report) -> str:
    """Those that were wrong on some pairs, and how often."""
    found = [t for t in cell["timings"] if t["wrong_pairs"] and t["aligner"] != "wfacli"]
    pairs = {id(t): t.get("checked_pairs") for t in found}
    wrong = {id(t): f"{100 * t['wrong_pairs'] / n:.1f}%" if (n := pairs[id(t)]) else t["wrong_pairs"] for t in found}
    return ", ".join(f"{peer(t['aligner'])} {number(t['best_seconds'])}, {wrong[id(t)]} wrong" for t in found)


def _named(timing: Report) -> str:
    return f"{timing['aligner']} {timing['setting']}".strip()


def _cell_wins(report: Report) -> Iterator[tuple[str, str, float]]:
    for cell in report["cells"]:
        if cell.get("best_peer"):
            yield f"{cell['row']}, {cell['task']}", peer(cell["best_peer"]), cell["best_peer_by_ours"]


def _distances(report: Report) -> Rows:
    names = list(dict.fromkeys(name for row in report["rows"] for name in row["measured"]))
    rows = [["pair", "letters", "distance", *(f"{peer(name)}, s" for name in names)]]
    for row in report["rows"]:
        times = [_time(row, name) for name in names]
        found = ("not agreed" if row["measured"] else "not run") if row["distance"] is None else f"{row['distance']:,}"
        rows.append([row["name"], f"{max(row['query_len'], row['target_len']):,}", found, *times])
    return rows


def _time(row: Report, name: str) -> str:
    if name in row.get("mismatch", {}):
        return "wrong"
    return number(row["measured"][name]["best_seconds"]) if name in row["measured"] else "–"


def _distance_wins(report: Report) -> Iterator[tuple[str, str, float]]:
    for row in report["rows"]:
        for place, ratio in row["peer_over_ours"].items():
            if ratio is not None:
                yield f"{row['name']}, the better algorithm on the {place}", "the best of the peers", ratio


def _scale(report: Report) -> Rows:
    rows = [["pair", "letters", "algorithm", "distance", "s", "TCUPS", "both agree"]]
    for row in report["rows"]:
        for run in row["runs"]:
            agreed = "yes" if row["agreed"] else "only one ran" if len(row["runs"]) < 2 else "no"
            what = [row["name"], f"{max(row['lengths']):,}", run["algorithm"], f"{run['distance']:,}"]
            rows.append([*what, number(run["seconds"]), number(run["tcups"]), agreed])
    return rows


def _locals(report: Report) -> Rows:
    rows = [["pair", "letters", "score, GCUPS", "whole alignment, GCUPS", "parasail's best, GCUPS", "which"]]
    for row in report["rows"]:
        done = row["measured"]
        name, best = _parasail(done)
        ours = [number(done[k]["gcups"]) if k in done else "–" for k in ("score", "alignment")]
        rows.append([row["name"], f"{max(row['lengths']):,}", *ours, number(best), name])
    return rows


def _parasail(measured: Report) -> tuple[str, float | None]:
    found = {name: run["gcups"] for name, run in measured.items() if name.startswith("sw_")}
    return max(((n, g) for n, g in found.items()), key=lambda pair: pair[1], default=("not measured", None))


def _local_wins(report: Report) -> Iterator[tuple[str, str, float]]:
    for row in report["rows"]:
        name, best = _parasail(row["measured"])
        if best:
            yield f"{row['name']}, score", f"parasail ({name})", row["measured"]["score"]["gcups"] / best


def _local_card(report: Report) -> Rows:
    rows = [
        ["pair", "letters", "every cell, s", "score, s", "TCUPS", "alignment on top, s", "MASA-CUDAlign, score, s"]
    ]
    for row in (*report["rows"], *report.get("lengths", [])):
        score, masa = row["score"], row.get("masa", {}).get("score", {})
        name = row["name"] if row in report["rows"] else f"its first {row['lengths'][0]:,}"
        found = (row["every tile"]["score"], score["score"], score["tcups"], row["alignment"]["path"])
        rows.append([name, f"{max(row['lengths']):,}", *map(number, found), number(masa.get("own_seconds"))])
    return rows


def _local_card_wins(report: Report) -> Iterator[tuple[str, str, float]]:
    for row in report["rows"]:
        if theirs := row.get("masa", {}).get("score", {}).get("own_seconds"):
            yield f"{row['name']}, score", "MASA-CUDAlign", theirs / row["score"]["score"]


def _scored(report: Report) -> Rows:
    rows = [["pairs", "how many", "task", "wfacli, TCUPS", "its kernels alone", "GASAL2, TCUPS"]]
    for row in report["rows"]:
        for task in ("scores", "cigars", "CIGARs"):
            if done := row.get(task):
                other = done.get("gasal2", {})
                theirs = "failed" if "failed" in other else number(other.get("tcups"))
                own = done["wfacli"]
                shown = [number(own.get("tcups")), number(own.get("kernel_tcups")), theirs]
                rows.append([row["name"], f"{row['pairs']:,}", task, *shown])
    return rows


def _scored_wins(report: Report) -> Iterator[tuple[str, str, float]]:
    for row in report["rows"]:
        for task in ("scores", "cigars", "CIGARs"):
            done = row.get(task, {})
            if (theirs := done.get("gasal2", {}).get("tcups")) and (own := done["wfacli"].get("tcups")):
                yield f"{row['name']}, {task}", "GASAL2", own / theirs


def _extends(report: Report) -> Rows:
    rows = [["pairs", "how many", "mode", "task", "wfacli, GCUPS", "parasail's best", "times as fast"]]
    for r in report["rows"]:
        what = [r["set"], f"{r['pairs']:,}", r["mode"], "CIGAR" if r["cigars"] else "score"]
        rows.append([*what, number(r["ours"]["gcups"]), r["best"], number(r["ratio"])])
    return rows


def _extend_wins(report: Report) -> Iterator[tuple[str, str, float]]:
    for r in report["rows"]:
        yield f"{r['set']}, {r['mode']}, {'CIGAR' if r['cigars'] else 'score'}", f"parasail ({r['best']})", r["ratio"]


def _bands(report: Report) -> Rows:
    rows = [["pairs", "way", "s", "share of the exact scores", "times as fast as exact"]]
    for row in report["rows"]:
        for w in row["ways"]:
            shown = [number(w["best_seconds"]), f"{100 * w['recall']:.0f}%", number(w["times"])]
            rows.append([row["row"], w["way"], *shown])
    return rows


def _api(report: Report) -> Rows:
    rows = [["metric", "edits", "from Python", "threads", "pairs a second", "times the peer"]]
    for r in report["rows"]:
        who = {"wfacli": "wfacli, a batch", "wfacli.align": "wfacli, a call a pair"}.get(r["aligner"], r["aligner"])
        shown = [f"{r['pairs_per_second']:,}", number(r["times_the_peer"])]
        rows.append([r["metric"], f"{100 * r['error']:.0f}%", who, str(r["threads"]), *shown])
    return rows


def _api_wins(report: Report) -> Iterator[tuple[str, str, float]]:
    names = {"edit": "edlib", "affine": "pywfa"}
    for r in report["rows"]:
        if r["aligner"].startswith("wfacli"):
            how = "a call a pair" if r["aligner"] == "wfacli.align" else f"a batch, {r['threads']} threads"
            yield f"{r['metric']}, {100 * r['error']:.0f}%, {how}", names.get(r["metric"], "it"), r["times_the_peer"]


def _bench(report: Report) -> Rows:
    rows = [["pairs", "task", "engine", "s", "pairs a second", "GCUPS", "of limit", "share of the exact scores"]]
    for r in report["rows"]:
        engine = ", ".join(
            filter(None, [r["engine"], f"{r['threads']} thread{'s' * (r['threads'] > 1)}", r["heuristic"]])
        )
        limit = f"{100 * r['limit_share']:.0f}% ({r['limit']})" if r["limit_share"] is not None else "–"
        recall = "–" if r["recall"] is None else f"{100 * r['recall']:.0f}%"
        shown = [number(r["best_seconds"]), f"{r['pairs_per_second']:,.0f}", number(r["gcups"]), limit, recall]
        rows.append([r["row"], r["task"], engine, *shown])
    return rows


def _mapped(report: Report) -> Rows:
    rows = [["reads", "preset", "mappings", "better score", "the same", "worse"]]
    for r in report["rows"]:
        counts = [r["better"], r["equal"], r["worse"]]
        rows.append([r["reads"], r["preset"], f"{sum(counts):,}", *(f"{count:,}" for count in counts)])
    return rows


def _whole(report: Report) -> Rows:
    pairs = report["workload"]["pairs"]
    rows = [["what is timed", "s", "pairs a second"]]
    for name, run in report["timings"].items():
        rows.append([report["what_is_timed"].get(name, name), number(run["best_seconds"]),
                     f"{pairs / run['best_seconds']:,.0f}"])  # fmt: skip
    return rows


def _memory(report: Report) -> Rows:
    sizes = list(next(iter(report["peak_memory_bytes"].values())))
    rows = [["output", *(f"{int(size):,} pairs, MB" for size in sizes)]]
    for name, runs in report["peak_memory_bytes"].items():
        rows.append([name.upper(), *(number(runs[size] / 1e6) for size in sizes)])
    return rows


def _reused(report: Report) -> Rows:
    rows = [["metric", "pairs", "MB after a tenth", "MB at the end"]]
    for r in report["runs"]:
        sizes = [number(r[k] / 1e6) for k in ("bytes_after_a_tenth", "bytes_at_the_end")]
        rows.append([r["metric"], f"{r['pairs']:,}", *sizes])
    return rows


def _long(report: Report) -> Rows:
    rows = [["pair", "metric", "identity", "s", "peak memory, MB", "kernel"]]
    for r in report["runs"]:
        shown = [number(r["wall_seconds"]), number(r["peak_memory_bytes"] / 1e6), ", ".join(r["pairs_by_kernel"])]
        rows.append([r["name"], r["metric"], f"{100 * r['identity']:.1f}%", *shown])
    return rows


KINDS = {
    "bench": Kind("What wfacli bench measured", "wfacli bench", _bench),
    "cpu-table": Kind("Pairs on one CPU thread", "make bench-cpu", _cells, _cell_wins, "cpu-table.png"),
    "gpu-table": Kind("Pairs on a card", "make bench-gpu", _cells, _cell_wins),
    "band-table": Kind("A band on a card", "make bench-band", _bands),
    "extend-table": Kind(
        "Any scores, on one CPU thread", "python bench/extend_table.py", _extends, _extend_wins
    ),
    "sw-table": Kind("Any scores, on a card", "make bench-sw", _scored, _scored_wins, ".png"),
    "distance-table": Kind("The distance of one long pair", "make bench-distance", _distances, _distance_wins),
    "distance-scale": Kind("Longer pairs", "make bench-distance-scale", _scale, None, ".png"),
    "local-table": Kind("The best local alignment of one long pair", "make bench-local", _locals, _local_wins),
    "local-card": Kind("The same on a card", "make bench-local-card", _local_card, _local_card_wins, ".png"),
    "mapped-scores": Kind(
        "Reads against a reference: scores beside minimap2's", "python bench/mapped_scores.py", _mapped
    ),
    "whole-command": Kind("The whole command", "make bench", _whole),
    "peak-memory": Kind("Its memory", "make bench", _memory),
    "api-rate": Kind("From Python", "python bench/api_rate.py", _api, _api_wins),
    "reuse-memory": Kind("Memory of one engine that is used again", "python bench/reuse_memory.py", _reused),
    "long-pairs": Kind("Long pairs by align", "python bench/long_pairs.py", _long),
}  # fmt: skip
NO_TABLE = {"crossover": "the models of kernels' times (`python bench/crossover.py`)"}


def newest(results: Path = RESULTS) -> dict[str, list[Path]]:
    """Files of each kind, newest first; a part of a table counts as its kind, behind whole ones of its day."""
    came = _came_at(results)
    found: dict[str, list[tuple[Any, Path]]] = {}
    for path in sorted(results.glob("*.json")):
        report = json.loads(path.read_text())
        name = report["name"]
        order = (report["date"], not name.endswith("-part"), came.get(path.name, sys.maxsize), path.name)
        found.setdefault(name.removesuffix("-part"), []).append((order, path))
    return {kind: [path for _, path in sorted(files, reverse=True)] for kind, files in found.items()}


def _came_at(results: Path) -> dict[str, int]:
    """When files came to the repository, in seconds; those that have not are missing."""
    asked = ["git", "log", "--diff-filter=A", "--format=@%ct", "--name-only", "--", "."]
    log = subprocess.run(asked, cwd=results, capture_output=True, text=True)
    when, found = 0, {}
    for line in log.stdout.splitlines():
        if line.startswith("@"):
            when = int(line[1:])
        elif line:
            found.setdefault(Path(line).name, when)
    return found


def page(results: Path = RESULTS) -> str:
    """The whole page."""
    files = newest(results)
    parts = [HEAD]
    parts += [section(kind, files[name]) for name, kind in KINDS.items() if name in files]
    others = [name for name in files if name not in KINDS]
    if others:
        parts.append("## Other results\n")
        for name in others:
            what = NO_TABLE.get(name, "no table yet")
            parts.append(f"- {name}: {what}, [{files[name][0].name}](../bench/results/{files[name][0].name})")
        parts.append("")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def section(kind: Kind, files: list[Path]) -> str:
    """One kind: where it is from, what is timed, the table, and where peers are faster."""
    path, *older = files
    report = json.loads(path.read_text())
    part = " A part of the table: not all rows, or not all peers." if report["name"].endswith("-part") else ""
    where = f"{_machine(report)}, {report['date']}, commit `{report['commit']}`. `{kind.command}`"
    lines = [f"## {kind.title}", "", f"{where}; [{path.name}](../bench/results/{path.name}).{part}", ""]
    head, *rows = kind.table(report)
    lines += [_line(head), "|---" * len(head) + "|", *map(_line, rows), ""]
    if kind.wins:
        lines += [*_said_plainly(list(kind.wins(report))), ""]
    lines += [f"- {_text(note)}" for note in [*report.get("notes", []), *filter(None, [report.get("note")])]]
    lines += ["", "<details markdown><summary>What is timed</summary>", ""]
    lines += [f"- *{name}*: {_text(what)}" for name, what in report["what_is_timed"].items()]
    lines += ["", "</details>", ""]
    picture = path.with_suffix(".png").name if kind.plot == ".png" else kind.plot
    if picture and (path.parent / picture).exists():
        lines += [f"![{kind.title}](../bench/results/{picture})", ""]
    if older:
        lines += ["Older: " + ", ".join(f"[{p.name}](../bench/results/{p.name})" for p in older) + ".", ""]
    return "\n".join(lines)


def _said_plainly(rows: list[tuple[str, str, float]]) -> Iterator[str]:
    lost = [row for row in rows if row[2] < 1]
    if not rows:
        yield "No row of this run has an exact peer beside it."
        return
    if not lost:
        yield f"No peer is faster in any row ({len(rows)} row{'s' * (len(rows) > 1)} with an exact peer)."
        return
    verb = "is the peer" if len(lost) == 1 else "are peers"
    yield f"**In {len(lost)} of {len(rows)} rows with an exact peer {verb} faster:**"
    yield ""
    for what, who, ratio in lost:
        yield f"- {what}: {who} takes {number(ratio)} of wfacli's time."


def _machine(report: Report) -> str:
    card, machine = report.get("card") or _card_of(report.get("engine") or report.get("engines")), report["machine"]
    name = card["name"] if isinstance(card, dict) else card
    cores = f"{machine['cores']} cores" if "cores" in machine else ""
    cpu = machine.get("cpu", "")
    shown = [name, cpu if cpu != cores else "", cores]
    return ", ".join(part for part in shown if part)


def _card_of(engine: Any) -> Any:
    if isinstance(engine, dict):
        return engine.get("card") or next(filter(None, map(_card_of, engine.values())), None)
    return None


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(_text(cell) for cell in cells) + " |"


def _text(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*").replace("<", "&lt;")


def main() -> None:
    text = page()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit("docs/benchmarks.md is not what bench/results says: python bench/page.py")
        return
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
