"""Plot of a result of distance_scale: seconds, time per step, memory.

python -m bench.pages.distance_scale_plot RESULT.json
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

# The lightness of the colours differs too, for grey prints.
COLOURS = {"wavefront": "#0072b2", "bits": "#d55e00"}
LINES = {"random": ("-", "o"), "simulated": ("--", "s"), "planted": (":", "D")}


def draw(result: Path) -> Path:
    """Write a PNG beside the JSON; return its path."""
    report = json.loads(result.read_text())
    plt.rcParams.update({"font.size": 11, "axes.titlesize": 12})
    figure, panels = plt.subplots(1, 3, figsize=(16, 5.2), layout="constrained")
    _seconds(panels[0], report)
    _steps(panels[1], report)
    _memory(panels[2], report)
    for axes in panels:
        axes.grid(color="#d8dbe0", linewidth=0.5)
        axes.set_axisbelow(True)
    place = (
        report["gpu"]["name"] if report["gpu"] else f"{report['machine']['cpu']}, {report['rules']['threads']} threads"
    )
    figure.suptitle(f"Edit distance of one pair: {place}, {report['date']}, {report['commit']}")
    path = result.with_suffix(".png")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def _series(report: dict[str, Any]) -> dict[tuple[str, str], list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Return (row, run) by algorithm and kind of pair, sorted by length."""
    found: dict[tuple[str, str], list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for row in sorted(report["rows"], key=lambda one: one["lengths"][0]):
        for run in row["runs"]:
            found.setdefault((run["algorithm"].partition("-")[2], row["kind"]), []).append((row, run))
    return found


def _seconds(axes: Axes, report: dict[str, Any]) -> None:
    for (algorithm, kind), series in _series(report).items():
        line, marker = LINES[kind]
        lengths = [row["lengths"][1] / 1e6 for row, _ in series]
        style = {"color": COLOURS[algorithm], "linestyle": line, "marker": marker}
        axes.plot(lengths, [run["seconds"] for _, run in series], label=f"{algorithm}, {kind}", **style)
    paper = report["extrapolated"]["paper"]
    for name, one in report["extrapolated"]["algorithms"].items():
        colour = COLOURS[name.partition("-")[2]]
        axes.plot(paper["lengths"][0] / 1e6, one["seconds"], "*", color=colour, markersize=11)
    axes.plot(paper["lengths"][0] / 1e6, paper["seconds"], "x", color="black", label="79%: paper 002 (RTX 3090)")
    axes.plot([], [], "*", color="grey", label="79%: extrapolated")
    axes.set(xscale="log", yscale="log", xlabel="Mb", ylabel="seconds", title="seconds to the distance")
    axes.legend(frameon=False, fontsize=9)


def _steps(axes: Axes, report: dict[str, Any]) -> None:
    for row in report["rows"]:
        for run in row["runs"]:
            if run["steps"]:
                at = [step["share_of_time"] for step in run["steps"]]
                line, marker = LINES[row["kind"]]
                style = {"color": COLOURS[run["algorithm"].partition("-")[2]], "linestyle": line, "marker": marker}
                axes.plot(at, [1e6 * step["seconds"] for step in run["steps"]], linewidth=0.9, **style)
                axes.annotate(
                    f" {row['lengths'][1] / 1e6:.3g}", (at[-1], 1e6 * run["steps"][-1]["seconds"]), fontsize=8
                )
    axes.set(yscale="log", xlabel="share of the time", ylabel="microseconds", xlim=(None, 1.1))
    axes.set_title("a step: a score of both fronts, a row by bits (Mb at the end)")


def _memory(axes: Axes, report: dict[str, Any]) -> None:
    on_gpu = report["gpu"] is not None
    for (algorithm, kind), series in _series(report).items():
        line, marker = LINES[kind]
        edits = [run["distance"] for _, run in series]
        taken = [run["gpu_bytes" if on_gpu else "host_bytes"] / 1e6 for _, run in series]
        axes.plot(edits, taken, color=COLOURS[algorithm], linestyle=line, marker=marker, label=f"{algorithm}, {kind}")
    axes.set(xscale="log", yscale="log", xlabel="edits", ylabel="MB", title=f"{'GPU' if on_gpu else 'process'} memory")
    axes.legend(frameon=False, fontsize=9)


if __name__ == "__main__":
    print(draw(Path(sys.argv[1])))
