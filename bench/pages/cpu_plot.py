"""Plot of cpu_table: seconds relative to the best peer, one panel for each task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

from bench.peers.contest import TASKS
from bench.peers.verdict import OURS, Cell

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

FASTEST, SLOWEST = 0.1, 50.0  # slower aligners are named at the edge
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
# Name, colour and marker; the lightness of the colours differs too, for grey prints.
STYLES = {
    OURS: ("wfacli", "#000000", "D"),
    "wfa2": ("WFA2-lib", "#0072b2", "o"),
    "edlib": ("edlib", "#d55e00", "s"),
    "ksw2": ("ksw2", "#56b4e9", "^"),
    "parasail": ("parasail", "#e7c400", "v"),
    "quicked": ("QuickEd", "#cc79a7", "P"),
}


def draw(cells: list[Cell], title: str, path: Path) -> Path:
    """Write a PNG; return its path."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    names = [task.name for task in TASKS]
    plt.rcParams.update({"font.size": 12, "axes.titlesize": 14})
    figure, panels = plt.subplots(2, 2, figsize=(14, 3.2 + 0.75 * len(rows)), sharey=True, layout="constrained")
    for axes, task in zip(panels.flat, names, strict=True):
        _panel(axes, [cell for cell in cells if cell.task == task], rows)
        axes.set_title(task)
    for axes in panels[-1]:
        axes.set_xlabel("seconds relative to the best peer (left of 1: faster)")
    handles = {}
    for axes in panels.flat:
        handles.update(dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True)))
    order = [name for name, _, _ in STYLES.values() if name in handles]
    figure.legend(
        [handles[name] for name in order], order, loc="outside lower center", ncols=len(order), frameon=False
    )
    figure.suptitle(f"Pairwise alignment, seconds: {title}", fontsize=16)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def _panel(axes: Axes, cells: list[Cell], rows: list[str]) -> None:
    """Draw one task: a line for each row, a marker for each aligner, hollow if it was wrong on some pairs."""
    for cell in cells:
        spot, beyond = rows.index(cell.row), []
        for aligner, (name, colour, marker) in STYLES.items():
            timing, relative = cell.of(aligner), cell.relative(aligner)
            if timing is None or relative is None:
                continue
            if relative > SLOWEST:
                beyond.append(f"{name} ×{relative:,.0f}")
                continue
            look: dict[str, Any] = {"facecolors": colour, "edgecolors": "#333333", "linewidths": 0.6}
            if timing.wrong:
                look = {"facecolors": "none", "edgecolors": colour, "linewidths": 1.6}
            size, above = (130, 4) if aligner == OURS else (90, 3)
            axes.scatter(max(relative, FASTEST), spot, size, marker=marker, zorder=above, label=name, **look)
        if beyond:
            axes.text(SLOWEST, spot - 0.3, ", ".join(beyond) + " →", ha="right", va="center", fontsize=9)
    axes.axvline(1.0, color="#666666", linewidth=1.2, zorder=1)
    axes.axvline(0.5, color="#666666", linewidth=1.0, linestyle=":", zorder=1)
    axes.set_xscale("log")
    axes.set_xlim(FASTEST * 0.85, SLOWEST * 1.1)
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(labelbottom=True)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", color="#dddddd", zorder=0)
    axes.grid(axis="x", color="#eeeeee", zorder=0)
