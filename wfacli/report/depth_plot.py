"""Plot of the depth along reference sequences: those with the most aligned bases, and the others as a sum."""

from __future__ import annotations

import numpy as np

from ..errors import shown
from . import charts
from .charts import Axis
from .facts import Facts
from .plots import Plot
from .words import counted, escaped, grouped, length, percent, short, tick_length

MAX_PANELS, MAX_LINES = 12, 50


def mean_depth(facts: Facts) -> float:
    """Return the mean depth over all bases of the reference; 0 if it has none."""
    depth = facts.figures.depth
    assert depth is not None
    return float(depth.aligned_bases().sum()) / max(int(depth.lengths.sum()), 1)


def name_of(facts: Facts, target: int) -> str:
    """Return the name of a reference sequence."""
    assert facts.figures.reference is not None
    return facts.figures.reference.name(target).decode(errors="surrogateescape")


def largest(facts: Facts, most: int) -> list[int]:
    """Return the indexes of at most `most` reference sequences with the most aligned bases, in decreasing order."""
    depth = facts.figures.depth
    assert depth is not None
    bases = depth.aligned_bases()
    order = np.argsort(-bases, kind="stable")[:most]
    return [int(target) for target in order if bases[target] > 0]


def depth_plot(facts: Facts) -> Plot:
    """Return the plot of the depth along the reference."""
    depth = facts.figures.depth
    assert depth is not None
    text = (
        "Mean depth in windows along the reference: bases of primary and supplementary alignments over each base of "
        "the reference, deletions included; the dashed line is the mean of the sequence."
    )
    chosen = largest(facts, MAX_PANELS)
    if not chosen:
        return Plot("depth", "Depth", text, '<p class="none">No read is mapped.</p>', wide=True)
    bases = depth.aligned_bases()
    panels = "".join(_panel(facts, target) for target in chosen)
    note = (
        f"Mean depth of the whole reference ({length(int(depth.lengths.sum()), 'base')}): {short(mean_depth(facts))}."
    )
    if more := len(depth.lengths) - len(chosen):
        rest = int(bases.sum()) - int(bases[chosen].sum())
        shown = "is the sequence" if len(chosen) == 1 else f"are the {len(chosen)} sequences"
        note += (
            f" Shown {shown} with the most aligned bases; {counted(more, 'further sequence')} "
            f"{'has' if more == 1 else 'have'} {percent(rest, int(bases.sum()))} of all aligned bases."
        )
    lines = []
    for target in largest(facts, MAX_LINES):
        sizes, aligned = depth.profile(target)
        low, high = float((aligned / sizes).min()), float((aligned / sizes).max())
        bp = int(depth.lengths[target])
        cells = (grouped(bp), grouped(int(depth.alignments[target])), f"{int(bases[target]) / bp:,.2f}")
        lines.append((escaped(name_of(facts, target)), *cells, f"{low:,.2f}", f"{high:,.2f}"))
    head = ("sequence", "bases", "alignments", "mean depth", "lowest window", "highest window")
    caption = "Numbers" if len(lines) < MAX_LINES else f"Numbers of the {MAX_LINES} with the most aligned bases"
    body = f'<div class="panels n{min(len(chosen), 3)}">{panels}</div><p class=note>{note}</p>'
    return Plot("depth", "Depth", text, body + charts.table(head, lines, caption), wide=True)


def _panel(facts: Facts, target: int) -> str:
    depth, name = facts.figures.depth, name_of(facts, target)
    assert depth is not None
    sizes, aligned = depth.profile(target)
    bp = int(depth.lengths[target])
    values = list(zip((np.cumsum(sizes) / bp).tolist(), (aligned / sizes).tolist(), strict=True))
    mean = int(aligned.sum()) / bp
    window = int(depth.window[target])
    ticks = charts.linear_ticks(0, bp, lambda value: tick_length(value, "base"), 4)
    axis = Axis(f"position (windows of {length(window, 'base')})", ticks)
    summary = (
        f"depth along {shown(name)}: mean {short(mean)}, highest window {short(max(value for _, value in values))}"
    )
    picture = charts.area(values, mean, axis, "mean depth", summary)
    return f"<div><h3>{escaped(name)} <small>mean {short(mean)}</small></h3>{picture}</div>"
