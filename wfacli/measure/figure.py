"""A report as PNG, SVG or PDF, drawn by matplotlib; no other module of this package imports it."""

from __future__ import annotations

import io
import math
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from ..dotplot.picture import PictureFormat
from ..dotplot.settings import packaged_style
from .report import engine_name, place_of

# By error rate, or by engine if there is one error rate; lightness differs, for greyscale prints.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_LINES = ("-", "--", ":", "-.")
_MARKS = ("o", "s", "D", "^")
_STYLE: Any = {"font.size": 9, "svg.hashsalt": "wfacli", "pdf.fonttype": 42, "text.parse_math": False}


def figure(report: dict[str, Any], format_: PictureFormat) -> bytes:
    """Return a plot of pairs a second over lengths, one panel for each task; bars extend to the slowest repeat."""
    rows = report["rows"]
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    with packaged_style(_STYLE):
        across = 1 if len(tasks) == 1 else 2
        down = -(-len(tasks) // across)
        drawn = Figure((6.2 * across, 4.2 * down + 0.9), layout="constrained")
        panels = drawn.subplots(down, across, squeeze=False).flat
        for axes, task in zip(panels, tasks, strict=False):
            _panel(axes, [row for row in rows if row["task"] == task], rows)
            axes.set_title(task)
        for axes in list(panels)[len(tasks) :]:
            axes.set_visible(False)
        handles, names = drawn.axes[0].get_legend_handles_labels()
        drawn.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
        drawn.suptitle(_title(report))
        file = io.BytesIO()
        drawn.savefig(file, format=format_.value, dpi=130)
    return file.getvalue()


def _panel(axes: Any, rows: list[dict[str, Any]], all_rows: list[dict[str, Any]]) -> None:
    errors = list(dict.fromkeys(row["error"] for row in all_rows))
    engines = list(dict.fromkeys(map(engine_name, all_rows)))
    for number, engine in enumerate(engines):
        for error in errors:
            series = sorted(
                (r for r in rows if r["error"] == error and engine_name(r) == engine), key=lambda r: int(r["length"])
            )
            rates = [row["pairs"] / row["best_seconds"] for row in series]
            below = [rate - row["pairs"] / row["worst_seconds"] for rate, row in zip(rates, series, strict=True)]
            axes.errorbar(
                [row["length"] for row in series],
                rates,
                yerr=[below, [0.0] * len(below)],
                color=_COLOURS[(errors.index(error) if len(errors) > 1 else number) % len(_COLOURS)],
                linestyle=_LINES[number % len(_LINES)],
                marker=_MARKS[number % len(_MARKS)],
                markersize=4,
                linewidth=1.3,
                capsize=2,
                label=f"{engine}, {100 * error:g}%",
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    lengths = sorted({row["length"] for row in rows})
    axes.set_xticks(lengths, [f"{one / 1000:g} kb" if one >= 1000 else f"{one} bp" for one in lengths])
    axes.xaxis.set_minor_locator(NullLocator())
    if len(lengths) == 1:
        axes.set_xlim(lengths[0] / 2, lengths[0] * 2)
    low, high = (math.log10(end) for end in axes.get_ylim())
    if math.floor(high) <= math.ceil(low):  # only full decades have labels
        axes.set_ylim(10 ** math.floor(low), 10 ** math.ceil(high))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:,.0f}" if rate >= 1 else f"{rate:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("target length (bases)")
    axes.set_ylabel("pairs by the second")
    axes.grid(color="#d8dbe0", linewidth=0.5)
    axes.set_axisbelow(True)


def _title(report: dict[str, Any]) -> str:
    return f"wfacli {report['versions']['wfacli']} ({report['commit']}), {place_of(report)}, {report['date']}"
