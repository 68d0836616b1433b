"""Parts of tables: numbers, names of peers, lines of Markdown."""

from __future__ import annotations

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


def text(some: str) -> str:
    """Return text with Markdown's special characters escaped."""
    return some.replace("|", r"\|").replace("*", r"\*").replace("<", "&lt;")
