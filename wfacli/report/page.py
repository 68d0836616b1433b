"""A report as one self-contained HTML page: no network, no scripts, light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files

from . import bins
from .depth_plot import depth_plot, mean_depth
from .facts import Facts
from .figures import Sum
from .plots import Plot, machine_plots, plots
from .words import bytes_of, counted, escaped, grouped, length, percent, percentage, seconds, short, tile_count


def page(facts: Facts) -> bytes:
    """Return the page as UTF-8."""
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": escaped(facts.title),
        "COMMAND": escaped(facts.command),
        "INPUTS": _inputs(facts),
        "CAUTIONS": "".join(f'<p class="caution">{escaped(text)}</p>' for text in facts.cautions),
        "TILES": "".join(_tile(*tile) for tile in tiles(facts)),
        "PLOTS": "".join(map(_section, _ordered(facts))),
        "FIGURES": _lines(numbers(facts)),
        "MACHINE": "".join(map(_section, machine_plots(facts))),
        "RUN": _lines(_run(facts)),
    }
    for name, text in parts.items():
        template = template.replace(f"<!--{name}-->", text)  # texts are escaped, so that they contain no mark
    return template.encode(errors="replace")


def _ordered(facts: Facts) -> Iterator[Plot]:
    """Yield the plots in an order that leaves no gap in two columns: the first is wide if the number of all is odd."""
    first, *others = plots(facts)
    yield replace(first, wide=len(others) % 2 == 0)
    before = 2 + len(others) % 2
    yield from others[:before]
    if facts.mapped:
        yield depth_plot(facts)
    yield from others[before:]


def _section(plot: Plot) -> str:
    kind = ' class="wide"' if plot.wide else ""
    return f'<section id="{plot.name}"{kind}><h2>{plot.title}</h2><p>{escaped(plot.text)}</p>{plot.body}</section>'


def _inputs(facts: Facts) -> str:
    return ", ".join(f"{what} <b>{escaped(name)}</b>" for what, name in facts.inputs)


def _tile(value: str, name: str, more: str) -> str:
    return f"<li><b>{escaped(value)}</b><span>{escaped(name)}</span><small>{escaped(more)}</small></li>"


def tiles(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """Yield (value, name, explanation) of the most important figures."""
    total, unit = facts.figures.total, facts.unit
    yield tile_count(facts.total), f"{facts.thing}s", f"{length(facts.query_bases, unit)} in {_queries(facts)}"
    aligned = "mapped" if facts.mapped else f"with {facts.what}"
    yield (
        percent(facts.aligned, facts.total),
        f"{facts.thing}s {aligned}",
        f"{facts.aligned:,}; {facts.total - facts.aligned:,} {'unmapped' if facts.mapped else 'without'}",
    )
    lengths, bases = facts.figures.counts["query_lengths"], facts.figures.counts["query_bases"]
    if facts.scores_only:
        yield "unknown", "identity", "--score-only computes no alignments"
    else:
        found = facts.figures.counts["identity"]
        low, mid, high = (percentage(bins.identity_quantile(found, share)) for share in (0.25, 0.5, 0.75))
        yield mid, "median identity", _quartiles(low, high) if found.sum() else "no alignments"
        in_aligned = total(Sum.ALIGNED_BASES) + total(Sum.CLIPPED_BASES)
        whose = "mapped reads" if facts.mapped else "aligned queries"
        ends = "soft-clipped" if facts.mapped else "unaligned at their ends"
        yield (
            percent(total(Sum.ALIGNED_BASES), in_aligned),
            f"{unit}s of {whose} aligned",
            f"{total(Sum.CLIPPED_BASES):,} {ends}",
        )
    if facts.figures.depth is not None:
        bp = int(facts.figures.depth.lengths.sum())
        yield f"{short(mean_depth(facts))}×", "mean depth", f"of the reference's {length(bp, 'base')}"
    median, half = length(bins.quantile(lengths, 0.5, bases), unit), length(bins.n50(lengths, bases), unit)
    if facts.figures.total(Sum.READS):
        yield median, f"median {facts.query} length", f"N50 {half}"


def _quartiles(low: str, high: str) -> str:
    return f"half are from {low} to {high}" if low != high else "so are both quartiles"


def _queries(facts: Facts) -> str:
    if facts.left_out:
        return f"the {counted(facts.figures.total(Sum.READS), 'read')} with a record"
    return "total" if facts.mapped else "queries"


def numbers(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield (name, value) of all figures that are single numbers; those that cannot be known are "unknown"."""
    total, unit = facts.figures.total, facts.unit
    yield f"{facts.thing}s", grouped(facts.total)
    if facts.mapped:
        yield "mapped reads", grouped(facts.aligned)
        yield "unmapped reads", grouped(facts.total - facts.aligned)
        if facts.left_out:
            yield "of these without a record", grouped(facts.left_out)
        yield "secondary records", grouped(facts.secondary)
        yield "supplementary records", grouped(facts.supplementary)
        if facts.skipped:
            yield "faulty mappings left out", grouped(facts.skipped)
        if total(Sum.PAIRED):
            yield "properly paired reads", grouped(total(Sum.PROPER))
    else:
        yield f"pairs with {facts.what}", grouped(facts.aligned)
        for reason, count in sorted(facts.unaligned.items()):
            yield f"pairs {reason}", grouped(count)
    yield f"{unit}s of {facts.queries}", grouped(facts.query_bases)
    of_alignments = {
        f"aligned {unit}s": total(Sum.ALIGNED_BASES),
        "soft-clipped bases" if facts.mapped else f"unaligned {unit}s at ends": total(Sum.CLIPPED_BASES),
        "insertions": int(facts.figures.counts["insertions"].sum()),
        "deletions": int(facts.figures.counts["deletions"].sum()),
    }
    for name, count in of_alignments.items():
        yield name, "unknown (--score-only)" if facts.scores_only else grouped(count)
    if facts.scores_only:
        yield "identity", "unknown (--score-only)"
    elif not math.isnan(facts.identity):
        yield "identity over all alignments, as in the summary line", f"{100 * facts.identity:.2f}%"


def _run(facts: Facts) -> Iterator[tuple[str, str]]:
    machine = facts.machine
    yield "command line", machine.command_line
    yield "wfacli", machine.version
    if machine.mapper:
        yield "mapper", machine.mapper
    yield from facts.settings
    yield "engine", machine.where
    yield "time", f"{seconds(machine.wall)}, {short(machine.per_second)} {facts.thing}s per second"
    yield "peak memory", bytes_of(machine.peak_memory)
    yield "finished", machine.date


def _lines(values: Iterator[tuple[str, str]]) -> str:
    return "".join(f"<tr><th scope=row>{escaped(name)}</th><td>{escaped(text)}</td></tr>" for name, text in values)
