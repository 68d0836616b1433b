"""Figures as SVG, drawn by matplotlib."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .layout import Figure

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6b7280")
_MARKS = ("o", "s", "D", "^", "v", "P", "X")
_STYLE: Any = {"font.size": 9, "svg.hashsalt": "wfacli", "svg.fonttype": "none", "text.parse_math": False}
_DIGEST = re.compile(r"data ([0-9a-f]{16})")


def digest_of(path: Path) -> str:
    """Return the digest of the data that a file shows, "" without a file."""
    found = _DIGEST.search(path.read_text()) if path.exists() else None
    return found[1] if found else ""


def draw(figure: Figure, folder: Path) -> Path:
    """Draw a figure unless its file shows the same data; return its path."""
    path = folder / f"{figure.name}.svg"
    if digest_of(path) == figure.digest:
        return path
    import matplotlib
    from matplotlib.figure import Figure as Drawn

    with matplotlib.rc_context(_STYLE):
        drawn = Drawn((6.8, 3.9), layout="constrained")
        axes = drawn.subplots()
        names = [x for points in figure.series.values() for x, _ in points if isinstance(x, str)]
        (_bars if names else _lines)(axes, figure)
        axes.set(title=figure.title, xlabel=figure.x, ylabel=figure.y)
        axes.grid(color="#d8dbe0", linewidth=0.5)
        axes.set_axisbelow(True)
        if "y" in figure.log:
            _log_up(axes, [y for points in figure.series.values() for _, y in points])
        drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
        folder.mkdir(exist_ok=True)
        drawn.savefig(path, format="svg", metadata={"Date": None, "Description": f"data {figure.digest}"})
    return path


def _log_up(axes: Any, values: list[float]) -> None:
    """Make an axis logarithmic, beginning below the smallest value so that its bar is visible."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_yscale("log")
    axes.set_ylim(min(values) / 2, max(values) * 2)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}" if y >= 1 else f"{y:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _lines(axes: Any, figure: Figure) -> None:
    for place, (name, points) in enumerate(figure.series.items()):
        look = {"color": _COLOURS[place % len(_COLOURS)], "marker": _MARKS[place % len(_MARKS)], "markersize": 4}
        style = "-" if figure.joined else ""
        axes.plot(*zip(*sorted(points), strict=True), linewidth=1.3, linestyle=style, label=name, **look)
    if "x" in figure.log:
        axes.set_xscale("log")
        ticks = sorted({float(x) for points in figure.series.values() for x, _ in points})
        if len(ticks) < 9:
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axes.minorticks_off()


def _bars(axes: Any, figure: Figure) -> None:
    names = list(dict.fromkeys(str(x) for points in figure.series.values() for x, _ in points))
    width = 0.8 / len(figure.series)
    for place, (series, points) in enumerate(figure.series.items()):
        at = [names.index(str(x)) + width * (place - (len(figure.series) - 1) / 2) for x, _ in points]
        axes.bar(at, [y for _, y in points], width, color=_COLOURS[place % len(_COLOURS)], label=series)
    axes.set_xticks(range(len(names)), names)
