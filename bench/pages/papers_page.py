"""Make docs/papers.md and its plots from bench/results: tables and figures of papers, with our numbers beside theirs.

    python -m bench.pages.papers_page            # writes them
    python -m bench.pages.papers_page --check    # exit status 1 if they differ from the results

Nothing is measured; `make bench-tables` measures what is missing.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

from bench.pages.results import RESULTS
from bench.papers import draw, ewfa, levenshtein, saloba, striped, wfagpu
from bench.papers.found import Missed, Results
from bench.papers.layout import Figure, Paper

DOCS = Path(__file__).parents[2] / "docs"
PAPERS = (ewfa, wfagpu, levenshtein, saloba, striped)
PAGE, PLOTS = DOCS / "papers.md", DOCS / "plots"
HEAD = """# The papers' tables

<!-- Made by bench/pages/papers_page.py from bench/results: do not edit. -->

wfacli's GPU kernels follow five papers ([Algorithms](algorithms.md#on-a-gpu) describes the differences). This page
repeats their tables and figures with this project's numbers. **The papers' numbers are from other GPUs, which are
named: they show the state of the field, and not how much faster an algorithm is.** For that, see
[Benchmarks](benchmarks.md), where all programs run on the same GPU with the same pairs.

| cell | meaning |
|---|---|
| not measured | no file in `bench/results` has the number; `make bench-tables` on a machine with a GPU measures it |
| not run | an aligner for which this project has no adapter |
| no set, none | no available data set resembles the paper's sequences |
| – | the paper's text does not have the number |

The files with our numbers are named below each table.
"""


def papers(results: Path = RESULTS) -> list[Paper]:
    """Return all papers in order."""
    return [module.paper(partial(Results, results)) for module in PAPERS]


def missing(results: Path = RESULTS) -> list[Missed]:
    """Return what the tables need and no file has, each once."""
    asked: list[Results] = []

    def own() -> Results:
        asked.append(Results(results))
        return asked[-1]

    for module in PAPERS:
        module.paper(own)
    return list(dict.fromkeys(missed for found in asked for missed in found.missed))


def page(found: list[Paper]) -> str:
    """Return the whole page."""
    parts = [HEAD]
    for paper in found:
        parts += [f"## {paper.name}", "", f"{paper.cite}. Measured on: {paper.device}.", ""]
        parts += [part.text() for part in paper.parts]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def figures(found: list[Paper]) -> list[Figure]:
    """Return all plots."""
    return [part.figure for paper in found for part in paper.parts if part.figure]


def stale(found: list[Paper]) -> list[str]:
    """Return the names of pages and plots that differ from the results."""
    wrong = [PAGE.name] if not PAGE.exists() or PAGE.read_text() != page(found) else []
    return wrong + [f.name for f in figures(found) if draw.digest_of(PLOTS / f"{f.name}.svg") != f.digest]


def main() -> None:
    found = papers()
    if "--check" in sys.argv:
        if wrong := stale(found):
            sys.exit(f"not what bench/results says: {', '.join(wrong)}: python -m bench.pages.papers_page")
        return
    PAGE.write_text(page(found))
    for figure in figures(found):
        draw.draw(figure, PLOTS)


if __name__ == "__main__":
    main()
