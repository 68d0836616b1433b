"""Make the generated blocks of docs/speed.md (CPU, GPU) and README.md (headline numbers) from bench/results.

    python -m bench.pages.speed            # writes them
    python -m bench.pages.speed --check    # exit status 1 if they differ from the results

Our times are those of the newest file that has a row. Next to them are the times of the newest run with peers,
including ours of the same run, since only those are comparable. Peers that were faster are named below the table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.pages.results import RESULTS, commit, gpu_name, machine
from bench.pages.text import Report, line, number, peer
from bench.papers.found import Results

ROOT = Path(__file__).parents[2]
README, SPEED = ROOT / "README.md", ROOT / "docs" / "speed.md"
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
AVX2 = "cpu-table-x86-64-v3"
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
    run = f"[{path.name}](../bench/results/{path.name})"
    newer = [f"[`{commit(r)}`](../bench/results/{p.name}) of {r['date']}, best of {r['rules']['repeats']}"
             for p, r in found.reports("gpu-table") if p in found.used and p != path]  # fmt: skip
    lines += ["", f"*Same run*: {run}, {machine(report)}, {report['date']}, commit `{commit(report)}`,"
              f" best of {report['rules']['repeats']}."]  # fmt: skip
    lines[-1] += f" The columns before it are the newest: {'; '.join(newer)}; else that run." if newer else ""
    return "\n".join([*lines, *said_plainly(report)]) + "\n"


def ratios(report: Report) -> dict[str, list[float]]:
    """Return, for each exact peer of a GPU table, its seconds divided by ours in each cell that it has."""
    names = {peer: name for peers in TASKS.values() for peer, name in peers.items()}
    found: dict[str, list[float]] = {}
    for cell in compared(report):
        if cell.get("best_peer"):
            name = names.get(cell["best_peer"].split(" ")[0], cell["best_peer"])
            found.setdefault(name, []).append(cell["best_peer_by_ours"])
    return found


def compared(report: Report) -> list[Report]:
    """Return the cells of a GPU table that the page shows."""
    return [cell for cell in report["cells"] if cell["row"] in ROWS and cell["task"] in TASKS]


def span(found: list[float]) -> str:
    """Return the least and the greatest ratio."""
    return f"{number(min(found))} to {number(max(found))} times"


def said_plainly(report: Report) -> Iterator[str]:
    """Yield how exact peers compare, and each cell in which one of them is faster."""
    names = {peer: name for peers in TASKS.values() for peer, name in peers.items()}
    cells = compared(report)
    against = [f"{span(found)} as fast as {name} ({len(found)} cells)" for name, found in ratios(report).items()]
    none = sum(not cell.get("best_peer") for cell in cells)
    won = []
    for cell in cells:
        if cell.get("best_peer") and cell["best_peer_by_ours"] < 1:
            name = names.get(cell["best_peer"].split(" ")[0], cell["best_peer"])
            took = number(cell["best_peer_by_ours"])
            won.append(f"{cell['row']}, {cell['task']}: {name} takes {took} of our time")
    yield f"In the same run wfacli is {', '.join(against)}; {none} cells have no exact peer. " + (
        f"**Faster than wfacli:** {'; '.join(won)}." if won else "No peer is faster in any cell of that run."
    )


def cpu_report(results: Path = RESULTS) -> tuple[Path, Report]:
    """Return the newest whole table of the CPU engine and its peers. Raises LookupError."""
    whole = (found for found in Results(results).reports("cpu-table") if found[1]["name"] == "cpu-table")
    found = next(whole, None)
    if found is None:
        raise LookupError("no cpu-table in bench/results")
    return found


def held(report: Report) -> list[float]:
    """Return the best exact peer's seconds divided by ours, of all cells that have a peer."""
    found = {(cell["row"], cell["task"]): cell["best_peer_by_ours"] for cell in report["cells"]}
    return [ratio for ratio in found.values() if ratio is not None]


def faster(report: Report) -> str:
    """Return the cells of a CPU table in which a peer is faster."""
    won = [f"{cell['row']}, {cell['task']}: {peer(cell['best_peer'])} takes {number(cell['best_peer_by_ours'])} of our"
           " time" for cell in report["cells"] if (cell["best_peer_by_ours"] or 1) < 1]  # fmt: skip
    return f"**Faster than wfacli:** {'; '.join(won)}." if won else "No peer is faster in any cell."


def cpu_block(results: Path = RESULTS) -> str:
    """Return how our CPU engine compares with its peers in the newest whole table. Raises LookupError."""
    path, report = cpu_report(results)
    found = held(report)
    even, twice = sum(ratio >= 1 for ratio in found), sum(ratio >= 2 for ratio in found)
    lines = [f"{machine(report)}, one thread, {report['date']}, commit `{commit(report)}`; `make bench-cpu` makes it"
             f" on your machine, numbers in [{path.name}](../bench/results/{path.name})."]  # fmt: skip
    shares = f"In {even} of {len(found)} cells wfacli is at least as fast as the best peer, in {twice} twice as fast."
    lines += [shares, faster(report), *report.get("notes", [])]
    for path, report in Results(results).reports(AVX2)[:1]:
        lines += ["", f"With all of them restricted to AVX2 ([{path.name}](../bench/results/{path.name})) wfacli is at"
                  f" least as fast in {sum(ratio >= 1 for ratio in held(report))} of {len(held(report))} cells."
                  f" {faster(report)}"]  # fmt: skip
    return "\n".join(lines) + "\n"


def headlines(results: Path = RESULTS) -> str:
    """Return README.md's three numbers: the CPU, a GPU, and scores of mapped reads. Raises LookupError."""
    found = Results(results)
    _, cpu = cpu_report(results)
    _, gpu = beside(found)
    mapped = next((report for _, report in found.reports("mapped-scores")), None)
    if mapped is None:
        raise LookupError("no mapped-scores in bench/results")
    ahead = [ratio for ratio in held(cpu) if ratio >= 1]
    avx2 = [held(report) for _, report in found.reports(AVX2)[:1]]
    behind = "".join(f"; with AVX2 alone, a peer is faster in {sum(r < 1 for r in a)} of {len(a)}" for a in avx2)
    better, equal, worse = (sum(row[key] for row in mapped["rows"]) for key in ("better", "equal", "worse"))
    against = " and ".join(f"{span(seconds)} as fast as {name}" for name, seconds in ratios(gpu).items())
    return (
        f"- [CPU](docs/speed.md#pairs-on-one-cpu-thread), one thread: at least as fast as the fastest of WFA2-lib,"
        f" edlib, ksw2, parasail and QuickEd in {len(ahead)} of {len(held(cpu))} cells (data set × task){behind}.\n"
        f"- [GPU](docs/speed.md#pairs-on-a-gpu), {gpu_name(gpu)}: {against}.\n"
        f"- [Scores](docs/speed.md#mapped-reads-and-minimap2s-own-alignments): of {better + equal + worse:,} minimap2"
        f" mappings, {better:,} score higher than minimap2's own alignment of the same span,"
        f" {worse or 'none'} lower.\n"
    )


def replaced(text: str, name: str, block: str) -> str:
    """Return a page with a block between its marks. Raises LookupError if they are missing."""
    begin, end = f"<!-- {name}:begin (bench/pages/speed.py) -->", f"<!-- {name}:end -->"
    marks = re.compile(re.escape(begin) + r"\n.*?" + re.escape(end), re.S)
    if not marks.search(text):
        raise LookupError(f"no {begin} … {end}")
    return marks.sub(lambda _: f"{begin}\n{block}{end}", text)


def made_of(page: Path, results: Path = RESULTS) -> str:
    """Return README.md or docs/speed.md with all of its blocks."""
    makers = {README: {"headlines": headlines}, SPEED: {"gpu": block, "cpu": cpu_block}}[page]
    text = page.read_text()
    for name, make in makers.items():
        text = replaced(text, name, make(results))
    return text


def main() -> None:
    for page in (README, SPEED):
        made = made_of(page)
        if "--check" not in sys.argv:
            page.write_text(made)
        elif made != page.read_text():
            sys.exit(f"{page.name}'s blocks are not what bench/results says: python -m bench.pages.speed")


if __name__ == "__main__":
    main()
