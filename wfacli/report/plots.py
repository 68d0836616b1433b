"""Plots of a report, each with what it shows in one sentence, and its numbers as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..core.batch import I64
from . import bins, charts
from .charts import Axis, Bar, Part
from .facts import Facts
from .figures import Sum
from .words import counted, escaped, grouped, length, percent, percentage, seconds, short, tick_length

# Upper ends of the ranges of gap lengths, in bases; the last range is open.
_GAPS = (*range(1, 11), 20, 50, 100, 200, 500, 1000)
_QUALITIES = ((0, 0), (1, 9), (10, 19), (20, 29), (30, 39), (40, 49), (50, 59), (60, 254), (255, 255))
_UNKNOWN = "unknown"
_COLOURS = 5  # of the parts of a bar
_QUALITY_LABELS = ("0", "1–9", "10s", "20s", "30s", "40s", "50s", "60+", "?")


@dataclass(frozen=True)
class Plot:
    """A section of the page.

    Attributes:
        name: its anchor.
        title: heading.
        text: one sentence that says what is shown.
        body: HTML of the plot and its table.
        wide: True to take the whole width of the page.
    """

    name: str
    title: str
    text: str
    body: str
    wide: bool = False


def plots(facts: Facts) -> Iterator[Plot]:
    """Yield the plots of the records, the most important ones first; those that do not apply are left out."""
    yield _outcome(facts)
    if facts.scores_only:
        yield _scores(facts)
    else:
        yield _identity(facts)
    yield _lengths(facts)
    if not facts.mapped:
        yield _target_lengths(facts)
    if not facts.scores_only:
        yield _gaps(facts)
    if facts.mapped:
        yield _quality(facts)
        if facts.figures.total(Sum.PAIRED):
            yield _templates(facts)


def machine_plots(facts: Facts) -> Iterator[Plot]:
    """Yield the plots of the run itself, which differ between runs with the same output."""
    kernels = sorted(facts.machine.kernels.items(), key=lambda item: (-item[1], item[0]))
    total = sum(facts.machine.kernels.values())
    found = [(name, float(count), f"{count:,} ({percent(count, total)})") for name, count in kernels]
    yield Plot(
        "kernels",
        "Kernels",
        "Alignments by the kernel (algorithm) that computed them; each alignment gets the one that is expected to be "
        "fastest, and the result does not depend on it.",
        charts.rows(found, f"alignments by kernel: {_listed(found)}") if found else _nothing("There is no alignment."),
    )
    stages = sorted(facts.machine.stages.items(), key=lambda item: (-item[1], item[0]))
    times = [(name, value, seconds(value)) for name, value in stages]
    yield Plot(
        "stages",
        "Time by stage",
        f"Processor time of each stage, added over all threads; the whole run took {seconds(facts.machine.wall)}.",
        charts.rows(times, f"time by stage: {_listed(times)}"),
    )


def _listed(values: list[tuple[str, float, str]]) -> str:
    return ", ".join(f"{name} {text}" for name, _, text in values)


def _nothing(text: str) -> str:
    return f"<p class=none>{escaped(text)}</p>"


def outcome_parts(facts: Facts) -> list[Part]:
    """Return what became of the reads or pairs."""
    if facts.mapped:
        return [Part("mapped", facts.aligned, 1), Part("unmapped", facts.total - facts.aligned, 2)]
    found = sorted(facts.unaligned.items())
    reasons = [Part(reason, count, min(2 + i, _COLOURS)) for i, (reason, count) in enumerate(found)]
    done = "with a score" if facts.scores_only else "aligned"
    return [Part(done, facts.aligned, 1), *(reasons or [Part(f"without {facts.what}", 0, 2)])]


def base_parts(facts: Facts) -> list[Part]:
    """Return what became of the bases of reads or queries."""
    total = facts.figures.total
    clipped = "soft-clipped" if facts.mapped else "unaligned ends"
    without = "in unmapped reads" if facts.mapped else "in pairs without an alignment"
    return [
        Part("aligned", total(Sum.ALIGNED_BASES), 1),
        Part(clipped, total(Sum.CLIPPED_BASES), 3),
        Part(without, total(Sum.UNALIGNED_BASES), 2),
    ]


def _outcome(facts: Facts) -> Plot:
    parts, things = outcome_parts(facts), f"{facts.thing}s"
    words = ", ".join(f"{part.count:,} {part.name}" for part in parts)
    body = f"<div class=halves><div><h3>{things.capitalize()}</h3>" + (
        charts.stacked(parts, things, f"{things}: {words}") if facts.total else _nothing(f"There are no {things}.")
    )
    body += "</div><div>"
    if facts.scores_only:
        body += _nothing("Which bases are aligned is unknown: --score-only computes scores without alignments.")
    elif facts.query_bases:
        pieces, units = base_parts(facts), f"{facts.unit}s"
        said = ", ".join(f"{part.count:,} {part.name}" for part in pieces)
        body += f"<h3>{units.capitalize()} of the {facts.queries}</h3>"
        body += charts.stacked(pieces, units, f"{units}: {said}")
    text = "How many reads were mapped, and how many of their bases the primary alignment covers."
    if not facts.mapped:
        text = f"How many pairs have {facts.what}"
        text += "." if facts.scores_only else f", and how many {facts.unit}s of their queries it covers."
    if facts.left_out:
        text += f" {counted(facts.left_out, 'unmapped read')} without a record: only their number is known."
    return Plot("outcome", f"What became of the {things}", text, f"{body}</div></div>")


def _identity(facts: Facts) -> Plot:
    found = facts.figures.counts["identity"]
    text = (
        f"Identity of the {facts.alignments}: the share of columns, gaps included, in which both {facts.unit}s are "
        "the same."
    )
    if facts.unit == "residue":
        text += " Substitutions with a positive score do not count as the same."
    if not found.sum():
        return Plot("identity", "Identity", text, _nothing("There is no alignment with columns."))
    low, counts = bins.identity_bars(found)
    step = (1 - low) / len(counts)
    bars, lines = [], []
    for i, count in enumerate(counts.tolist()):
        begin, end = low + i * step, low + (i + 1) * step
        label = f"{_share(begin)} to {_share(end)}" if i else f"up to {_share(end)}"
        bars.append(Bar(i / len(counts), (i + 1) / len(counts), count, label))
        lines.append((label, grouped(count)))
    median = percentage(bins.identity_quantile(found, 0.5))
    quarters = [percentage(bins.identity_quantile(found, share)) for share in (0.25, 0.75)]
    summary = f"median identity {median}, quartiles {quarters[0]} and {quarters[1]}"
    ticks = charts.linear_ticks(100 * low, 100, lambda value: f"{value:.6g}%", 5)
    picture = charts.histogram(bars, Axis("identity", ticks), facts.alignments, summary)
    note = f"Median {median}; half of the alignments are between {quarters[0]} and {quarters[1]}."
    if exact := int(found[-1]):
        note += f" {percent(exact, int(found.sum()))} have no difference."
    table = charts.table(("identity", "alignments"), lines, "Numbers")
    return Plot("identity", "Identity", text, picture + f"<p class=note>{note}</p>" + table)


def _share(value: float) -> str:
    return f"{100 * value:.6g}%"


def _lengths(facts: Facts) -> Plot:
    found, bases = facts.figures.counts["query_lengths"], facts.figures.counts["query_bases"]
    things = facts.queries
    text = f"Lengths of the {things}, whether aligned or not."
    if facts.left_out:
        text = f"Lengths of the {things} that have a record."
    note = ""
    if found.sum():
        n50 = length(bins.n50(found, bases), facts.unit)
        note = f"Half of all {facts.unit}s are in {things} of at least {n50} (N50)."
    return _length_plot(facts, "lengths", f"Lengths of {things}", text, found, things, note, bases=bases)


def _target_lengths(facts: Facts) -> Plot:
    found = facts.figures.counts["target_lengths"]
    return _length_plot(
        facts, "targets", "Lengths of targets", "Lengths of the targets of all pairs.", found, "targets"
    )


def _templates(facts: Facts) -> Plot:
    found = facts.figures.counts["templates"]
    proper, paired = facts.figures.total(Sum.PROPER), facts.figures.total(Sum.PAIRED)
    text = "Distance between the outer ends of both reads of a pair (TLEN), for properly paired reads."
    note = f"{percent(proper, paired)} of the {paired:,} paired reads are properly paired, by minimap2's flags."
    if "minimap2" not in facts.machine.mapper:
        note = note.replace("minimap2's", "the mapper's")
    return _length_plot(facts, "templates", "Fragment lengths", text, found, "pairs", note, upto=0.995)


def _length_plot(
    facts: Facts,
    name: str,
    title: str,
    text: str,
    found: I64,
    things: str,
    note: str = "",
    *,
    upto: float = 1.0,
    bases: I64 | None = None,
) -> Plot:
    """Return a histogram over lengths; see bins.bars and bins.quantile."""
    if not found.sum():
        return Plot(
            name, title, text, _nothing(f"There are no {things}.") + (f"<p class=note>{note}</p>" if note else "")
        )
    shown = bins.bars(found, upto=upto)
    smallest, largest = bins.extremes(found)
    median = length(bins.quantile(found, 0.5, bases), facts.unit)
    drawn, axis, lines = _length_bars(shown, facts.unit)
    summary = f"{things} by length: median {median}, from {smallest:,} to {largest:,} {facts.unit}s"
    picture = charts.histogram(drawn, axis, things, summary)
    said = f"Median {median}. {note}".rstrip()
    if shown.beyond:
        said += f" The last bar includes {shown.beyond:,} longer ones, up to {length(largest, facts.unit)}."
    table = charts.table((f"{facts.unit}s", things), lines, "Numbers")
    return Plot(name, title, text, picture + f"<p class=note>{said}</p>" + table)


def _length_bars(shown: bins.Bars, unit: str) -> tuple[list[Bar], Axis, list[tuple[str, str]]]:
    """Return bars, horizontal axis and lines of the table of a histogram over lengths, or over scores (unit "")."""
    edges = shown.edges.tolist()
    low, high = float(edges[0]), float(edges[-1])

    def place(value: float) -> float:
        if shown.logarithmic:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    bars, lines = [], []
    for begin, end, count in zip(edges[:-1], edges[1:], shown.counts.tolist(), strict=True):
        label = f"{begin:,}" if end == begin + 1 else f"{begin:,} to {end - 1:,}"
        if end == edges[-1] and shown.beyond:
            label = f"from {begin:,}"
        if shown.logarithmic and begin == 1:  # sequences without bases are in the first bar
            label = f"0 to {end - 1:,}"
        bars.append(Bar(place(begin), place(end), count, label))
        lines.append((label, grouped(count)))
    scale = charts.log_ticks if shown.logarithmic else charts.linear_ticks
    ticks = scale(low, high, lambda value: tick_length(value, unit))
    if not shown.logarithmic and edges[1] - edges[0] == 1:
        # The bar of a single length ends where that of the next one begins: the tick belongs to its middle.
        ticks = [(at + 0.5 / (high - low), label) for at, label in ticks if at < 1]
    return bars, Axis(f"{unit}s{' (logarithmic)' if shown.logarithmic else ''}", ticks), lines


def gap_ranges(histogram: I64) -> list[tuple[str, int]]:
    """Return (range of lengths, gaps in it) for all ranges of gap lengths."""
    ends = [0, *_GAPS]
    sums = np.concatenate([[0], np.cumsum(histogram)])
    at = np.searchsorted(bins.EDGES, np.array(ends) + 1)
    counts = np.diff(np.append(sums[at], sums[-1])).tolist()
    names = [str(end) if end == begin + 1 else f"{begin + 1}–{end}" for begin, end in pairwise(ends)]
    return list(zip([*names, f">{ends[-1]}"], counts, strict=True))


def _gaps(facts: Facts) -> Plot:
    inserted, deleted = (gap_ranges(facts.figures.counts[name]) for name in ("insertions", "deletions"))
    things = "primary and supplementary alignments" if facts.mapped else "all alignments"
    text = (
        f"Gaps of {things} by length: an insertion has {facts.unit}s that only the {facts.query} has, a deletion "
        f"{facts.unit}s that only the {'reference' if facts.mapped else 'target'} has."
    )
    totals = [sum(count for _, count in found) for found in (inserted, deleted)]
    if not sum(totals):
        return Plot("gaps", "Insertions and deletions", text, _nothing("There are no gaps."))
    last = max(i for i, pair in enumerate(zip(inserted, deleted, strict=True)) if pair[0][1] or pair[1][1])
    count = max(last + 1, 5)
    bars, ticks, lines = [], [], []
    for i in range(count):
        (name, more), (_, less) = inserted[i], deleted[i]
        bars.append(Bar((i + 0.1) / count, (i + 0.5) / count, more, f"insertions of {name} {facts.unit}s", 1))
        bars.append(Bar((i + 0.5) / count, (i + 0.9) / count, less, f"deletions of {name} {facts.unit}s", 2))
        ticks.append(((i + 0.5) / count, name))
        lines.append((name, grouped(more), grouped(less)))
    if count > 10:  # labels of single lengths would touch
        ticks = [tick for i, tick in enumerate(ticks) if i in (0, 4, 9) or i > 10]
        ticks = ticks[:3] + ticks[3::2]
    summary = f"{totals[0]:,} insertions and {totals[1]:,} deletions by length"
    keys = (
        f'<ul class="keys"><li><i class="key b1"></i>insertions <b>{totals[0]:,}</b></li>'
        f'<li><i class="key b2"></i>deletions <b>{totals[1]:,}</b></li></ul>'
    )
    axis = Axis(f"length ({facts.unit}s)", ticks)
    picture = charts.histogram(bars, axis, "gaps (logarithmic)", summary, logarithmic=True)
    table = charts.table((f"{facts.unit}s", "insertions", "deletions"), lines, "Numbers")
    return Plot("gaps", "Insertions and deletions", text, keys + picture + table)


def quality_ranges(facts: Facts) -> list[tuple[str, int]]:
    """Return (range of MAPQ, primary alignments in it) for all ranges."""
    found = facts.figures.counts["quality"]
    names = [_UNKNOWN if a == 255 else "60+" if a == 60 else str(a) if a == b else f"{a}–{b}" for a, b in _QUALITIES]
    counts = [int(found[low : high + 1].sum()) for low, high in _QUALITIES]
    return list(zip(names, counts, strict=True))


def _quality(facts: Facts) -> Plot:
    found = facts.figures.counts["quality"]
    text = (
        "Mapping quality (MAPQ) of the primary alignments, as the mapper gave it: a probability of 10^(-MAPQ/10) that "
        "the read belongs elsewhere."
    )
    if not found.sum():
        return Plot("quality", "Mapping quality", text, _nothing("No read is mapped."))
    bars, ticks, lines = [], [], []
    for i, (name, count) in enumerate(quality_ranges(facts)):
        bars.append(Bar((i + 0.08) / len(_QUALITIES), (i + 0.92) / len(_QUALITIES), count, f"MAPQ {name}"))
        ticks.append(((i + 0.5) / len(_QUALITIES), _QUALITY_LABELS[i]))
        lines.append((name, grouped(count)))
    summary = ", ".join(f"MAPQ {bar.label.removeprefix('MAPQ ')}: {bar.count:,}" for bar in bars if bar.count)
    picture = charts.histogram(bars, Axis("MAPQ (10s: 10 to 19; ?: unknown)", ticks), "primary alignments", summary)
    zero = percent(int(found[0]), int(found.sum()))
    note = f"<p class=note>{zero} have MAPQ 0: they fit elsewhere as well.</p>"
    return Plot(
        "quality", "Mapping quality", text, picture + note + charts.table(("MAPQ", "alignments"), lines, "Numbers")
    )


def _scores(facts: Facts) -> Plot:
    """Return the plot of scores, for runs that compute nothing else."""
    scores, costs = facts.figures.counts["scores"], facts.figures.counts["costs"]
    by_cost = int(costs.sum()) > int(scores.sum()) or not int(scores[1:].sum())
    if by_cost:
        found, others = costs.copy(), int(scores[1:].sum())
        found[0] = scores[0]
    else:
        found, others = scores, int(costs.sum())
    what = "cost" if by_cost else "score"
    text = "Costs of the pairs: the cost is minus the score." if by_cost else "Scores of the pairs."
    text += " Identity, gaps and aligned parts are unknown: --score-only computes scores without alignments."
    if not found.sum():
        return Plot("scores", "Scores", text, _nothing("There are no scores."))
    shown = bins.bars(found, upto=0.99, linear=True)
    drawn, axis, lines = _length_bars(shown, "")
    axis = Axis(what, axis.ticks)
    middle = bins.quantile(found, 0.5)
    median = f"{middle:,}" if middle < bins.EXACT else f"about {short(middle)}"
    note = f"Median {what} {median}."
    if shown.beyond:
        note += f" The last bar includes {shown.beyond:,} higher ones, up to {bins.extremes(found)[1]:,}."
    if others:
        note += f" {counted(others, 'pair')} with a {'positive' if by_cost else 'negative'} score are not shown."
    picture = charts.histogram(drawn, axis, "pairs", f"pairs by {what}: median {median}")
    table = charts.table((what, "pairs"), lines, "Numbers")
    return Plot("scores", "Scores", text, picture + f"<p class=note>{note}</p>" + table)
