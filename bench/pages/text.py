"""Parts of tables: numbers, names of peers, lines of Markdown."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

Report = dict[str, Any]
Rows = list[list[str]]
Wins = tuple[str, str, float]
PEERS = {
    "wfa2": "WFA2-lib",
    "quicked": "QuickEd",
    "block-aligner": "Block Aligner",
    "astarpa2": "A*PA2",
    "variants": "WavefrontVariants",
    "wfa-gpu": "WFA-GPU",
    "ewfa-gpu": "eWFA-GPU",
    "gasal2": "GASAL2",
    "agatha": "AGAThA",
}


def number(value: float | None) -> str:
    """Return three significant digits, without an exponent."""
    if value is None:
        return "–"
    if not value or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - int(f'{value:e}'.split('e')[1]))}f}"


def peer(name: str) -> str:
    """Return a peer's name as it writes it."""
    first, *rest = name.split(" ", 1)
    return " ".join([PEERS.get(first, first), *(f"({r})" for r in rest)])


def line(cells: list[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(text(cell) for cell in cells) + " |"


@functools.cache
def _rewritten() -> dict[str, str]:
    found: dict[str, str] = json.loads(Path(__file__).with_name("rewritten.json").read_text())
    return found


def said(note: str) -> str:
    """Return a note of a result file; those of older files are in the words that the project uses now.

    rewritten.json has the old texts, word for word. The files themselves do not change.
    """
    return _rewritten().get(note, note)


def text(some: str) -> str:
    """Return text with Markdown's special characters escaped."""
    return some.replace("|", r"\|").replace("*", r"\*").replace("<", "&lt;")
