"""Make the tables of README.md from bench/results: pairs on a GPU, and the comparison on the CPU.

    python -m bench.pages.readme            # writes them
    python -m bench.pages.readme --check    # exit status 1 if they differ from the results

Our times are those of the newest file that has a row. Beside them stand the times of the newest run with peers, ours
of the same run among them, since only those are comparable. Peers that were faster are named below the table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.pages.results import RESULTS, commit, machine
from bench.pages.text import Report, line, number, peer
from bench.papers.found import Results

README = Path(__file__).parents[2] / "README.md"
ROWS = {
    "2 M × 150 bp 2%": "2 M × 150 bp, 2%",
    "2 M × 150 bp 5%": "5%",
    "2 M × 150 bp 10%": "10%",
    "300 k × 1 kb 2%": "300 k × 1 kb, 2%",
    "300 k × 1 kb 5%": "5%",
    "300 k × 1 kb 10%": "10%",
    "10 k × 10 kb 2%": "10 k × 10 kb, 2%",
    "10 k × 10 kb 5%": "5%",
    "10 k × 10 kb 10%": "10%",
    "illumina150 × 30": "Illumina 150 bp (955 k)",
    "illumina250 × 1000": "Illumina 250 bp (757 k)",
    "hifi_human × 100": "HiFi 12 kb (5,000)",
    "pacbio_clr_ecoli × 10": "PacBio CLR (2,000)",
    "ont_ecoli_ul × 5": "ONT ultra-long (750)",
}
TASKS = {"affine CIGAR": {"wfa-gpu": "WFA-GPU", "gasal2": "GASAL2"}, "edit CIGAR": {"ewfa-gpu": "eWFA-GPU"}}


def beside(found: Results) -> tuple[Path, Report]:
    """Return the newest whole table whose cells have peers. Raises LookupError."""
    for path, report in found.reports("gpu-table"):
        if report["name"] == "gpu-table" and any(len(cell["timings"]) > 1 for cell in report["cells"]):
            return path, report
    raise LookupError("no gpu-table with peers in bench/results")


def timing(cell: Report | None, aligner: str) -> dict[str, Any] | None:
    """Return an aligner's best setting, None if it did not run."""
    found = [t for t in cell["timings"] if t["aligner"] == aligner] if cell else []
    return min(found, key=lambda t: float(t["best_seconds"]), default=None)


def shown(time: dict[str, Any] | None) -> str:
    """Return seconds, and the share of wrong pairs."""
    if time is None:
        return "–"
    wrong = 1 - (time["equal_share"] if time["equal_share"] is not None else 1)
    return number(time["best_seconds"]) + (f", {100 * wrong:.1f}% wrong" if wrong else "")


def block(results: Path = RESULTS) -> str:
    """Return the table and the lines below it."""
    found = Results(results)
    path, report = beside(found)
    cells = {(cell["row"], cell["task"]): cell for cell in report["cells"]}
    lines = [line(["pairs", "affine, s", "same run: wfacli", "WFA-GPU", "GASAL2 (inexact)",
                   "edit distance, s", "same run: wfacli", "eWFA-GPU"]), "|---" * 8 + "|"]  # fmt: skip
    for row, name in ROWS.items():
        words = [name]
        for task, peers in TASKS.items():
            newest, cell = found.pairs(row, task), cells.get((row, task))
            words += [number(newest.seconds) if newest else "–", shown(timing(cell, "wfacli"))]
            words += [shown(timing(cell, peer)) for peer in peers]
        lines.append(line(words))
    run = f"[{path.name}](bench/results/{path.name})"
    newer = [f"[`{commit(r)}`](bench/results/{p.name}) of {r['date']}, best of {r['rules']['repeats']}"
             for p, r in found.reports("gpu-table") if p in found.used and p != path]  # fmt: skip
    lines += ["", f"*Same run*: {run}, {machine(report)}, {report['date']}, commit `{commit(report)}`,"
              f" best of {report['rules']['repeats']}."]  # fmt: skip
    lines[-1] += f" The columns before it are the newest: {'; '.join(newer)}; else that run." if newer else ""
    return "\n".join([*lines, *said_plainly(report)]) + "\n"


def said_plainly(report: Report) -> Iterator[str]:
    """Yield how exact peers compare, and each cell that one of them wins."""
    names = {peer: name for peers in TASKS.values() for peer, name in peers.items()}
    ratios: dict[str, list[float]] = {}
    won, none = [], 0
    for cell in report["cells"]:
        if cell["row"] not in ROWS or cell["task"] not in TASKS:
            continue
        if not cell.get("best_peer"):
            none += 1
            continue
        name = names.get(cell["best_peer"].split(" ")[0], cell["best_peer"])
        ratios.setdefault(name, []).append(cell["best_peer_by_ours"])
        if cell["best_peer_by_ours"] < 1:
            won.append(f"{cell['row']}, {cell['task']}: {name} takes {number(cell['best_peer_by_ours'])} of our time")
    spans = [
        f"{name} takes {number(min(r))} to {number(max(r))} times as long ({len(r)} cells)"
        for name, r in ratios.items()
    ]
    yield f"Of exact peers {', '.join(spans)}; {none} cells have none. " + (
        f"**Faster than wfacli:** {'; '.join(won)}." if won else "No peer is faster in any cell of that run."
    )


def cpu_block(results: Path = RESULTS) -> str:
    """Return how our CPU engine compares with its peers in the newest whole table. Raises LookupError."""
    whole = (found for found in Results(results).reports("cpu-table") if found[1]["name"] == "cpu-table")
    path, report = next(whole, (None, {}))
    if path is None:
        raise LookupError("no cpu-table in bench/results")
    ratios = {(cell["row"], cell["task"]): cell["best_peer_by_ours"] for cell in report["cells"]}
    held = [ratio for ratio in ratios.values() if ratio is not None]
    even, twice = sum(ratio >= 1 for ratio in held), sum(ratio >= 2 for ratio in held)
    lines = [f"{machine(report)}, one thread, {report['date']}, commit `{commit(report)}`; `make bench-cpu` makes it"
             f" on your machine, numbers in [{path.name}](bench/results/{path.name})."]  # fmt: skip
    lines += [f"In {even} of {len(held)} cells wfacli is at least as fast as the best peer, in {twice} twice as fast."]
    won = [f"{cell['row']}, {cell['task']}: {peer(cell['best_peer'])} takes {number(cell['best_peer_by_ours'])} of our"
           " time" for cell in report["cells"] if (cell["best_peer_by_ours"] or 1) < 1]  # fmt: skip
    lines += [f"**Faster than wfacli:** {'; '.join(won)}." if won else "No peer is faster in any cell."]
    return "\n".join([*lines, *report.get("notes", [])]) + "\n"


def replaced(text: str, name: str, block: str) -> str:
    """Return README.md with a block between its marks. Raises LookupError if they are missing."""
    begin, end = f"<!-- {name}:begin (bench/pages/readme.py) -->", f"<!-- {name}:end -->"
    marks = re.compile(re.escape(begin) + r"\n.*?" + re.escape(end), re.S)
    if not marks.search(text):
        raise LookupError(f"no {begin} … {end} in README.md")
    return marks.sub(lambda _: f"{begin}\n{block}{end}", text)


def made_of(text: str, results: Path = RESULTS) -> str:
    """Return README.md with all of its blocks."""
    return replaced(replaced(text, "gpu", block(results)), "cpu", cpu_block(results))


def main() -> None:
    text = README.read_text()
    made = made_of(text)
    if "--check" in sys.argv:
        if made != text:
            sys.exit("README.md's blocks are not what bench/results says: python -m bench.pages.readme")
        return
    README.write_text(made)


if __name__ == "__main__":
    main()
