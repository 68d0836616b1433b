"""Make docs/benchmarks.md from bench/results: for each kind of measurement the newest file of a machine, as a table.

    python -m bench.pages.page            # writes the page
    python -m bench.pages.page --check    # exit status 1 if the page differs from the results

Nothing is measured, and everything on the page is from the results. Among files of one day the one that was committed
last is the newest. Kinds that are not in KINDS are listed at the end, so that no result is overlooked.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.pages.kinds import KINDS, NO_TABLE, Kind
from bench.pages.results import RESULTS, commit, machine, newest
from bench.pages.text import Wins, line, number, said, text

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"

HEAD = """# Benchmarks: all measurements

<!-- Made by bench/pages/page.py from bench/results: do not edit. -->

Every number on this page is from a file in `bench/results`. Its name is above each table, with the machine, the date
and the commit. All times of a table are from one run on one machine. A ratio above 1 means that wfacli is faster, and
a line below the table lists the rows in which a peer is faster.

Do not compare times of different tables: they are from different machines or days. To measure your own machine, see
[Performance](performance.md#how-do-i-measure-my-own-machine). The most important numbers are in [Speed](speed.md).
"""


def page(results: Path = RESULTS) -> str:
    """Return the whole page."""
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
    """Return the section of one kind: its newest whole table, and parts that were measured since."""
    whole = next((n for n, path in enumerate(files) if not _is_part(path)), 0)
    lines = [f"## {kind.title}", "", *_table(kind, files[whole])]
    shown = [files[whole]]
    since, there = files[:whole], _cores(files[whole])
    for head, here in (("Later partial runs", True), ("Partial runs on other machines", False)):
        parts = [path for path in since if (_cores(path) in (there, None)) == here]
        lines += [f"### {head}", ""] if parts else []
        for path in parts:
            lines += _table(kind, path)
        shown += parts
    older = files[whole + 1 :]
    for path in _elsewhere(files[whole], older):
        lines += ["### On another machine", "", *_table(kind, path)]
        older.remove(path)
        shown.append(path)
    lines += _definitions(shown)
    if older:
        lines += ["Older: " + ", ".join(f"[{p.name}](../bench/results/{p.name})" for p in older) + ".", ""]
    return "\n".join(lines)


def _elsewhere(path: Path, older: list[Path]) -> list[Path]:
    """Return the newest older whole table of each other machine; machines are told apart by their cores."""
    known: set[int | None] = {_cores(path), None}
    found: list[Path] = []
    for other in older:
        if not _is_part(other) and (cores := _cores(other)) not in known:
            known.add(cores)
            found.append(other)
    return found


def _cores(path: Path) -> int | None:
    cores: int | None = json.loads(path.read_text())["machine"].get("cores")
    return cores


def _is_part(path: Path) -> bool:
    return path.stem.endswith("-part")


def _table(kind: Kind, path: Path) -> list[str]:
    """Return the lines of one file: its origin, its table, and rows in which peers are faster."""
    report = json.loads(path.read_text())
    part = " A partial run: some rows or peers are missing." if _is_part(path) else ""
    where = f"{machine(report)}, {report['date']}, commit `{commit(report)}`. `{kind.command}`"
    lines = [f"{where}; [{path.name}](../bench/results/{path.name}).{part}", ""]
    head, *rows = kind.table(report)
    lines += [line(head), "|---" * len(head) + "|", *map(line, rows), ""]
    if kind.wins:
        lines += [*_said_plainly(list(kind.wins(report))), ""]
    lines += [f"- {text(said(note))}" for note in [*report.get("notes", []), *filter(None, [report.get("note")])]]
    lines.append("")
    picture = path.with_suffix(".png").name if kind.plot == ".png" else kind.plot
    if picture and (path.parent / picture).exists():
        lines += [f"![{kind.title}](../bench/results/{picture})", ""]
    return lines


def _definitions(paths: list[Path]) -> list[str]:
    """Return what the tables of a section measure: each definition once, those that differ with their dates."""
    dates: dict[tuple[str, str], list[str]] = {}
    for path in paths:
        report = json.loads(path.read_text())
        timed = report.get("what_is_timed") or {"seconds": report["what"]}
        for name, what in timed.items():
            dates.setdefault((name, said(what)), []).append(report["date"])
    names = [name for name, _ in dates]
    lines = ["<details markdown><summary>What is measured</summary>", ""]
    for (name, what), days in sorted(dates.items(), key=lambda item: names.index(item[0][0])):
        when = f" ({', '.join(sorted({*days}))})" if names.count(name) > 1 else ""
        lines.append(f"- *{name}*{when}: {text(what)}")
    return [*lines, "", "</details>", ""]


def _said_plainly(rows: list[Wins]) -> Iterator[str]:
    lost = [row for row in rows if row[2] < 1]
    if not rows:
        yield "No row of this run has an exact peer."
        return
    if not lost:
        yield f"No peer is faster in any row ({len(rows)} row{'s' * (len(rows) > 1)} with an exact peer)."
        return
    yield f"**A peer is faster in {len(lost)} of {len(rows)} rows with an exact peer:**"
    yield ""
    for what, aligner, ratio in lost:
        yield f"- {what}: the time of {aligner} is {number(ratio)} of wfacli's."


def main() -> None:
    made = page()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != made:
            sys.exit("docs/benchmarks.md is not what bench/results says: python -m bench.pages.page")
        return
    PAGE.write_text(made)


if __name__ == "__main__":
    main()
