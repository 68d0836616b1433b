"""Table of `wfacli bench`: formatted by rich on a terminal, plain columns in a pipe."""

from __future__ import annotations

import os
import sys
from typing import Any

from ..measure.report import engine_name, place_of
from .report import rate

_LEFT = ("pairs", "task", "engine")
_FIRST_OUT = ("max", "GCUPS", "median", "of limit", "J / M pairs", "best")  # omitted in this order if too wide
_BETWEEN = 3  # characters between two columns


def print_report(found: dict[str, Any]) -> None:
    """Print a report (measure.report) to standard output."""
    table, notes = columns(found["rows"]), notes_of(found)
    if sys.stdout.isatty():
        _print_rich(table, notes, found)
        return
    for line in [title(found), *plain(table), *notes]:
        print(line)


def title(found: dict[str, Any]) -> str:
    """Return the title: machine, version, commit and date."""
    commit = "" if found["commit"] == "unknown" else f", {found['commit']}"
    return f"{place_of(found)}; wfacli {found['versions']['wfacli']}{commit}, {found['date']}"


def columns(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return the table: titles, then a line per row; empty columns are omitted."""
    full: list[tuple[str, list[str]]] = [
        ("pairs", [f"{_count(row['pairs'])} × {row['row']}" for row in rows]),
        ("task", [row["task"] for row in rows]),
        ("engine", [engine_name(row) for row in rows]),
        ("pairs/s", [rate(row["pairs_per_second"]) for row in rows]),
        ("GCUPS", [f"{row['gcups']:.3g}" if row["gcups"] < 100 else f"{row['gcups']:,.0f}" for row in rows]),
        ("best", [_seconds(row["best_seconds"]) for row in rows]),
        ("median", [_seconds(row["median_seconds"]) for row in rows]),
        ("max", [_seconds(row["worst_seconds"]) for row in rows]),
        ("of limit", [_share(row) for row in rows]),
        ("J / M pairs", [_joules(row) for row in rows]),
        ("recall", ["" if row["recall"] is None else f"{row['recall']:.3%}" for row in rows]),
    ]
    shown = [(name, cells) for name, cells in full if any(cells)]
    return [[name for name, _ in shown], *(list(line) for line in zip(*(cells for _, cells in shown), strict=True))]


def plain(table: list[list[str]]) -> list[str]:
    """Format a table as text, with words left-aligned and numbers right-aligned."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    left = [name in _LEFT for name in table[0]]
    return [
        "  ".join(
            cell.ljust(width) if begins else cell.rjust(width)
            for cell, width, begins in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in table
    ]


def fitting(table: list[list[str]], width: int) -> tuple[list[list[str]], list[str]]:
    """Return the columns that fit a terminal of `width` characters, and the names of those omitted."""
    left_out: list[str] = []
    for name in _FIRST_OUT:
        widths = [max(map(len, column)) + _BETWEEN for column in zip(*table, strict=True)]
        if sum(widths) <= width:
            break
        if name in table[0]:
            place = table[0].index(name)
            table = [line[:place] + line[place + 1 :] for line in table]
            left_out.append(name)
    return table, left_out


def notes_of(found: dict[str, Any]) -> list[str]:
    """Return the notes below the table: measured limits and omissions."""
    limits = found["limits"]
    lines = [
        f"memory: {rate_ / 1e9:.1f} GB/s read and written by {threads} thread{'' if threads == '1' else 's'}"
        for threads, rate_ in limits["memory_bytes_per_second"].items()
    ]
    if limits["bus_bytes_per_second"]:
        lines.append(f"bus: {limits['bus_bytes_per_second'] / 1e9:.1f} GB/s to the GPU")
    return lines + [f"no {what}: {why}" for what, why in found["left_out"].items()]


def _print_rich(table: list[list[str]], notes: list[str], found: dict[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    colours = None if os.environ.get("NO_COLOR") else "auto"
    console = Console(highlight=False, color_system=colours)  # type: ignore[arg-type]
    table, left_out = fitting(table, console.width)
    if left_out:
        notes = [f"no space for {', '.join(left_out)}: use a wider terminal, a pipe or --stats", *notes]
    drawn = Table(title=title(found), title_justify="left", box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in table[0]:
        drawn.add_column(name, justify="left" if name in _LEFT else "right", no_wrap=True)
    best = _fastest(found["rows"])
    for number, line in enumerate(table[1:]):
        last = number + 2 == len(table) or table[number + 2][:2] != line[:2]
        style = "bold green" if number in best else ""
        drawn.add_row(*(Text(cell, style) for cell in line), end_section=last)
    console.print(drawn)
    for note in notes:
        console.print(note, markup=False, soft_wrap=True)


def _fastest(rows: list[dict[str, Any]]) -> set[int]:
    """Return the row indices of the fastest exact engine per task; tasks with a single engine are skipped."""
    by_task: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(rows):
        if not row["heuristic"]:
            by_task.setdefault((row["row"], row["task"]), []).append(place)
    several = [places for places in by_task.values() if len(places) > 1]
    return {max(places, key=lambda place: rows[place]["pairs_per_second"]) for places in several}


def _count(pairs: int) -> str:
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if pairs >= size and pairs % (size // 10) == 0:
            return f"{pairs / size:g} {unit}"
    return f"{pairs:,}"


def _seconds(value: float) -> str:
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def _share(row: dict[str, Any]) -> str:
    if row["limit_share"] is None:
        return ""
    return f"{100 * row['limit_share']:.2g}% {row['limit']}"


def _joules(row: dict[str, Any]) -> str:
    if row["joules"] is None:
        return ""
    value = row["joules"] / row["pairs"] * 1e6
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
