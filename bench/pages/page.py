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
from bench.pages.text import Wins, line, number, text

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"

HEAD = """# How fast is it, and beside what?

<!-- Made by bench/pages/page.py from bench/results: do not edit. -->

Every number on this page is out of a file in `bench/results`, which is named above its table with the machine, the
date and the commit. Times of one table are of one run on one machine. A ratio above 1 means that wfacli is faster.
Where a peer is faster, a line below the table says so.

Times of two tables are of two machines, or two days: do not compare them. To measure your own machine, see
[Performance](performance.md#how-do-i-measure-my-own-machine).
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
    since, there = files[:whole], _cores(files[whole])
    for head, here in (("Measured again since then", True), ("A part, on another machine", False)):
        parts = [path for path in since if (_cores(path) in (there, None)) == here]
        lines += [f"### {head}", ""] if parts else []
        for path in parts:
            lines += _table(kind, path)
    older = files[whole + 1 :]
    for path in _elsewhere(files[whole], older):
        lines += ["### On another machine", "", *_table(kind, path)]
        older.remove(path)
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
    """Return the lines of one file: its origin, its table, rows where peers are faster, what is timed."""
    report = json.loads(path.read_text())
    part = " A part of the table: not all rows, or not all peers." if _is_part(path) else ""
    where = f"{machine(report)}, {report['date']}, commit `{commit(report)}`. `{kind.command}`"
    lines = [f"{where}; [{path.name}](../bench/results/{path.name}).{part}", ""]
    head, *rows = kind.table(report)
    lines += [line(head), "|---" * len(head) + "|", *map(line, rows), ""]
    if kind.wins:
        lines += [*_said_plainly(list(kind.wins(report))), ""]
    lines += [f"- {text(note)}" for note in [*report.get("notes", []), *filter(None, [report.get("note")])]]
    lines += ["", "<details markdown><summary>What is timed</summary>", ""]
    timed = report.get("what_is_timed") or {"seconds": report["what"]}
    lines += [f"- *{name}*: {text(what)}" for name, what in timed.items()]
    lines += ["", "</details>", ""]
    picture = path.with_suffix(".png").name if kind.plot == ".png" else kind.plot
    if picture and (path.parent / picture).exists():
        lines += [f"![{kind.title}](../bench/results/{picture})", ""]
    return lines


def _said_plainly(rows: list[Wins]) -> Iterator[str]:
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
    for what, aligner, ratio in lost:
        yield f"- {what}: {aligner} takes {number(ratio)} of wfacli's time."


def main() -> None:
    made = page()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != made:
            sys.exit("docs/benchmarks.md is not what bench/results says: python -m bench.pages.page")
        return
    PAGE.write_text(made)


if __name__ == "__main__":
    main()
