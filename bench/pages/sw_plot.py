"""Plot of a result of sw_table, like SALoBa's figures 6 to 8 (Park et al. 2022).

Panels: equal lengths (6), what mappers extend (8), each size of groups of lanes alone (7 and 8c, where they are called
sub-warps), and speed relative to GASAL2 (7).

python -m bench.pages.sw_plot RESULT.json
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
BUS = "the bus, a byte a base"
BUILDS = ("#009e73", "#cc79a7", "#e69f00", "#332288", "#882255", "#999933", "#44aa99", "#aa4499", "#777777")
TITLES = {"scores": "scores", "cigars": "with CIGARs"}
Row = dict[str, Any]


def values(row: Row, kind: str) -> dict[str, float]:
    """Return the TCUPS of each line of the plot, without those that failed."""
    found = row.get(kind, {})
    ours, theirs = found.get("wfacli", {}), found.get("gasal2", {})
    every = {"wfacli, kernels": ours.get("kernel_tcups"), "wfacli": ours.get("tcups"), "gasal2": theirs.get("tcups")}
    return {name: value for name, value in every.items() if value is not None}


def draw(result: Path) -> Path:
    """Write a PNG beside the JSON; return its path."""
    report = json.loads(result.read_text())
    rows = report["rows"]
    kinds = [kind for kind in TITLES if any(values(row, kind) for row in rows)]
    parts = [_by_length, _by_set]
    if any("builds" in row.get(kind, {}).get("wfacli", {}) for row in rows for kind in kinds):
        parts.append(_by_build)
    if any("gasal2" in values(row, kind) for row in rows for kind in kinds):
        parts.append(_by_peer)
    plt.rcParams.update({"font.size": 11, "axes.titlesize": 12})
    size = (6.5 * len(kinds), 4.25 * len(parts))
    figure, panels = plt.subplots(len(parts), len(kinds), figsize=size, layout="constrained", squeeze=False)
    for column, kind in enumerate(kinds):
        for line, part in enumerate(parts):
            panels[line][column].set_ylabel("TCUPS")
            part(panels[line][column], rows, kind)
    for axes in panels.flat:
        axes.grid(color="#d8dbe0", linewidth=0.5)
        axes.set_axisbelow(True)
    figure.suptitle(f"Smith-Waterman in batches: {report['gpu']}, {report['date']}, {report['commit']}")
    path = result.with_suffix(".png")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def _by_length(axes: Axes, rows: list[Row], kind: str) -> None:
    equal = sorted((int(row["name"]), values(row, kind)) for row in rows if row["name"].isdigit())
    for name, colour in COLOURS.items():
        points = [(length, found[name]) for length, found in equal if name in found]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", color=colour, label=name)
    top = 1.15 * max((value for _, found in equal for value in found.values()), default=1)
    bus = sorted((int(row["name"]), row["bus_tcups"]) for row in rows if row["name"].isdigit() and "bus_tcups" in row)
    if bus:
        axes.plot(*zip(*bus, strict=True), linestyle="--", color="#777777", label=BUS)
    axes.set(xscale="log", title=f"equal lengths, {TITLES[kind]}", xlabel="bases of both sequences", ylim=(0, top))
    axes.set_xticks([length for length, _ in equal], [str(length) for length, _ in equal], minor=False)
    axes.minorticks_off()
    axes.legend(frameon=False)


def _by_set(axes: Axes, rows: list[Row], kind: str) -> None:
    sets = [row for row in rows if not row["name"].isdigit()]
    found, width = [values(row, kind) for row in sets], 0.8 / len(COLOURS)
    for place, (name, colour) in enumerate(COLOURS.items()):
        at = [k + width * (place - 1) for k, one in enumerate(found) if name in one]
        axes.bar(at, [one[name] for one in found if name in one], width, color=colour, label=name)
    top = 1.15 * max((value for one in found for value in one.values()), default=1)
    for k, row in enumerate(sets):
        if row.get("bus_tcups", top) < top:
            axes.hlines(row["bus_tcups"], k - 0.5, k + 0.5, linestyles="--", colors="#777777")
    axes.set_xticks(range(len(sets)), [row["name"] for row in sets])
    axes.set(title=f"both sides of seeds, {TITLES[kind]}", ylim=(0, top))


def _by_build(axes: Axes, rows: list[Row], kind: str) -> None:
    """Draw each size of groups alone and the one that pairs get: the gain from several sizes."""
    shown = [(row["name"], values(row, kind), row.get(kind, {}).get("wfacli", {}).get("builds", {})) for row in rows]
    names = list(dict.fromkeys(name for _, _, builds in shown for name in builds))
    for name, colour in zip(names, BUILDS, strict=False):
        points = [(k, builds[name], row.isdigit()) for k, (row, _, builds) in enumerate(shown) if name in builds]
        lengths = [(k, rate) for k, rate, equal in points if equal]
        style = "--" if "whole" in name else "-"
        axes.plot([k for k, _ in lengths], [rate for _, rate in lengths], color=colour, label=name, linestyle=style)
        axes.plot([k for k, *_ in points], [rate for _, rate, _ in points], ".", color=colour)
    chosen = [(k, found["wfacli, kernels"]) for k, (_, found, _) in enumerate(shown) if "wfacli, kernels" in found]
    axes.plot(
        *zip(*chosen, strict=True), "o", mfc="none", color=COLOURS["wfacli, kernels"], label="chosen by the pair"
    )
    axes.set_xticks(range(len(shown)), [name[:11] for name, *_ in shown], rotation=30)
    axes.set(title=f"kernels, lanes x columns of a group, {TITLES[kind]}", ylim=(0, None))
    axes.legend(frameon=False, fontsize=8, ncols=2)


def _by_peer(axes: Axes, rows: list[Row], kind: str) -> None:
    """Draw the ratio of our rate to the peer's."""
    shown = [(row["name"], values(row, kind)) for row in rows]
    both = [(name, f["wfacli"] / f["gasal2"]) for name, f in shown if {"wfacli", "gasal2"} <= set(f)]
    axes.bar(range(len(both)), [factor for _, factor in both], color=COLOURS["wfacli"])
    axes.axhline(3, linestyle="--", color="#777777")
    axes.set_xticks(range(len(both)), [name[:11] for name, _ in both], rotation=30)
    axes.set(title=f"times as fast as GASAL2, {TITLES[kind]}", ylabel="")


if __name__ == "__main__":
    print(draw(Path(sys.argv[1])))
