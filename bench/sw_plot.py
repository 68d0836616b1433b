"""The result of sw_table.py as a picture: equal lengths (figure 6 of SALoBa), and what mappers extend (figure 8).

python bench/sw_plot.py RESULT.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

COLOURS = {"wfacli, kernels": "#56b4e9", "wfacli": "#0072b2", "gasal2": "#d55e00"}
TITLES = {"scores": "scores", "cigars": "with CIGARs"}


def values(row: dict[str, Any], kind: str) -> dict[str, float]:
    """TCUPS by line of the picture; without those that failed."""
    found = row.get(kind, {})
    ours, theirs = found.get("wfacli", {}), found.get("gasal2", {})
    every = {"wfacli, kernels": ours.get("kernel_tcups"), "wfacli": ours.get("tcups"), "gasal2": theirs.get("tcups")}
    return {name: value for name, value in every.items() if value is not None}


def draw(result: Path) -> Path:
    """Writes a PNG beside the JSON; returns its path."""
    report = json.loads(result.read_text())
    kinds = [kind for kind in TITLES if any(values(row, kind) for row in report["rows"])]
    plt.rcParams.update({"font.size": 11, "axes.titlesize": 12})
    figure, panels = plt.subplots(2, len(kinds), figsize=(6.5 * len(kinds), 8.5), layout="constrained", squeeze=False)
    for column, kind in enumerate(kinds):
        _by_length(panels[0][column], report["rows"], kind)
        _by_set(panels[1][column], report["rows"], kind)
    for axes in panels.flat:
        axes.grid(color="#d8dbe0", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.set_ylabel("TCUPS")
    figure.suptitle(f"Smith-Waterman in batches: {report['card']}, {report['date']}, {report['commit']}")
    path = result.with_suffix(".png")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def _by_length(axes: Axes, rows: list[dict[str, Any]], kind: str) -> None:
    equal = sorted((int(row["name"]), values(row, kind)) for row in rows if row["name"].isdigit())
    for name, colour in COLOURS.items():
        points = [(length, found[name]) for length, found in equal if name in found]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", color=colour, label=name)
    axes.set(xscale="log", title=f"equal lengths, {TITLES[kind]}", xlabel="letters of both sequences", ylim=(0, None))
    axes.set_xticks([length for length, _ in equal], [str(length) for length, _ in equal], minor=False)
    axes.minorticks_off()
    axes.legend(frameon=False)


def _by_set(axes: Axes, rows: list[dict[str, Any]], kind: str) -> None:
    sets = [(row["name"], values(row, kind)) for row in rows if not row["name"].isdigit()]
    width = 0.8 / len(COLOURS)
    for place, (name, colour) in enumerate(COLOURS.items()):
        at = [k + width * (place - 1) for k, (_, found) in enumerate(sets) if name in found]
        axes.bar(at, [found[name] for _, found in sets if name in found], width, color=colour, label=name)
    axes.set_xticks(range(len(sets)), [name for name, _ in sets])
    axes.set(title=f"both sides of seeds, {TITLES[kind]}")


if __name__ == "__main__":
    print(draw(Path(sys.argv[1])))
