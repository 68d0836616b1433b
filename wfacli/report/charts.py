"""Plots as HTML with inline SVG: shapes are stretched to the width of the page, and texts keep their size."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_WIDTH, _HEIGHT = 1000, 100  # of the coordinate system of shapes
_MIN_HEIGHT, _FILLED = 0.008, 0.93  # height of the smallest bar, and width of a bar, as shares of their room


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram.

    Attributes:
        begin, end: its sides, as shares of the axis from 0 to 1.
        count: its value.
        label: the values that it stands for.
        series: number of its colour, from 1.
    """

    begin: float
    end: float
    count: int
    label: str
    series: int = 1


@dataclass(frozen=True)
class Axis:
    """A horizontal axis: title with unit, and ticks as (place from 0 to 1, label)."""

    title: str
    ticks: Sequence[tuple[float, str]]


@dataclass(frozen=True)
class Part:
    """A part of a whole: name, value, number of its colour, from 1."""

    name: str
    count: int
    series: int


def number(value: float) -> str:
    """Return a coordinate without needless digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def histogram(bars: Sequence[Bar], axis: Axis, counted: str, summary: str, *, logarithmic: bool = False) -> str:
    """Return a histogram.

    Args:
        bars: the bars; those without a count are left out.
        axis: horizontal axis.
        counted: what is counted, as the title of the vertical axis.
        summary: text alternative of the picture.
        logarithmic: True for a logarithmic vertical axis.
    """
    top = max((bar.count for bar in bars), default=0)
    height, ticks = _log_scale(top) if logarithmic else _scale(top)
    shapes = [_grid(place) for place, _ in ticks]
    for bar in bars:
        if bar.count:
            high, wide = max(height(bar.count), _MIN_HEIGHT), _FILLED * (bar.end - bar.begin)
            left = bar.begin + (bar.end - bar.begin - wide) / 2
            shapes.append(
                f'<rect class="s{bar.series}" x="{number(left * _WIDTH)}" y="{number(_HEIGHT * (1 - high))}" '
                f'width="{number(wide * _WIDTH)}" height="{number(_HEIGHT * high)}">'
                f"<title>{html.escape(bar.label)}: {bar.count:,}</title></rect>"
            )
    return framed("".join(shapes), axis, ticks, counted, summary)


def area(values: Sequence[tuple[float, float]], mean: float, axis: Axis, title: str, summary: str) -> str:
    """Return steps over consecutive windows, and a dashed line at their mean.

    Args:
        values: (end of the window as a share of the axis, value).
        mean: height of the line.
        axis: horizontal axis.
        title: title of the vertical axis.
        summary: text alternative of the picture.
    """
    height, ticks = _scale(max((value for _, value in values), default=0.0))
    path = [f"M0 {_HEIGHT}"]
    for end, value in values:
        path.append(f"V{number(_HEIGHT * (1 - height(value)))}H{number(end * _WIDTH)}")
    shapes = [_grid(place) for place, _ in ticks]
    shapes.append(f'<path class="s1" d="{"".join(path)}V{_HEIGHT}Z"/>')
    at = number(_HEIGHT * (1 - height(mean)))
    shapes.append(f'<line class="mean" x1="0" x2="{_WIDTH}" y1="{at}" y2="{at}"/>')
    return framed("".join(shapes), axis, ticks, title, summary)


def framed(shapes: str, axis: Axis, ticks: Sequence[tuple[float, str]], title: str, summary: str) -> str:
    """Return shapes between their axes."""
    left = "".join(f'<span style="top:{number(100 * (1 - place))}%">{label}</span>' for place, label in ticks)
    below = "".join(
        f'<span class="{_side(place)}" style="left:{number(100 * place)}%">{html.escape(label)}</span>'
        for place, label in axis.ticks
    )
    return (
        f'<div class="plot"><div class="ytitle">{html.escape(title)}</div>'
        f'<div class="y" aria-hidden="true">{left}</div>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{html.escape(summary)}">{shapes}</svg>'
        f'<div class="x" aria-hidden="true">{below}</div><div class="xtitle">{html.escape(axis.title)}</div></div>'
    )


def _side(place: float) -> str:
    return "l" if place < 0.04 else "r" if place > 0.96 else "c"


def _grid(place: float) -> str:
    at = number(_HEIGHT * (1 - place))
    return f'<line class="grid" x1="0" x2="{_WIDTH}" y1="{at}" y2="{at}"/>'


def stacked(parts: Sequence[Part], unit: str, summary: str) -> str:
    """Return one bar divided into the parts of a whole, with their names, numbers and shares."""
    from .words import percent

    whole = sum(part.count for part in parts)
    pieces = "".join(
        f'<i class="b{part.series}" style="width:{number(100 * part.count / whole)}%" '
        f'title="{html.escape(part.name)}: {part.count:,} {unit}"></i>'
        for part in parts
        if part.count
    )
    keys = "".join(
        f'<li><i class="key b{part.series}"></i>{html.escape(part.name)} <b>{part.count:,}</b> '
        f"<small>{percent(part.count, whole)}</small></li>"
        for part in parts
    )
    return (
        f'<div class="stack" role="img" aria-label="{html.escape(summary)}">{pieces}</div><ul class="keys">{keys}</ul>'
    )


def rows(values: Sequence[tuple[str, float, str]], summary: str) -> str:
    """Return horizontal bars, one for each (name, value, value as text)."""
    top = max((value for _, value, _ in values), default=0.0)
    lines = "".join(
        f'<dt>{html.escape(name)}</dt><dd><i class="b1" style="width:{number(100 * value / top if top else 0)}%"></i>'
        f"<span>{html.escape(text)}</span></dd>"
        for name, value, text in values
    )
    return f'<dl class="rows" aria-label="{html.escape(summary)}">{lines}</dl>'


def table(head: Sequence[str], lines: Sequence[Sequence[str]], caption: str) -> str:
    """Return the numbers of a plot as a table that is opened on request; cells are HTML."""
    titles = "".join(f"<th scope=col>{html.escape(title)}</th>" for title in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in line) + "</tr>" for line in lines)
    return (
        f"<details><summary>{html.escape(caption)}</summary><div class=wide><table><thead><tr>{titles}</tr></thead>"
        f"<tbody>{body}</tbody></table></div></details>"
    )


def nice_step(span: float, most: int) -> float:
    """Return 1, 2 or 5 times a power of ten, so that at most `most` steps cover a span."""
    rough = max(span, 1e-9) / most
    ten = 10.0 ** math.floor(math.log10(rough))
    return next(factor * ten for factor in (1, 2, 5, 10) if factor * ten >= rough * (1 - 1e-9))


def linear_ticks(low: float, high: float, label: Callable[[float], str], most: int = 5) -> list[tuple[float, str]]:
    """Return ticks at round values of an axis from low to high."""
    step = nice_step(high - low, most)
    if low == int(low) and high == int(high):
        step = max(step, 1.0)
    values = [step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    return [((value - low) / (high - low), label(value)) for value in values]


def log_ticks(low: float, high: float, label: Callable[[float], str], most: int = 6) -> list[tuple[float, str]]:
    """Return ticks at round values of a logarithmic axis from low to high, low at least 1."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        values = [f * 10.0**d for d in decades for f in factors if low <= f * 10.0**d <= high]
        if len(values) <= most:
            break
    values = values[:: -(-len(values) // most)] if values else []
    return [(math.log(value / low) / math.log(high / low), label(value)) for value in values]


def _scale(top: float) -> tuple[Callable[[float], float], list[tuple[float, str]]]:
    """Return the scale of a vertical axis from 0, and its ticks."""
    from .words import short

    whole = float(top).is_integer()
    step = nice_step(max(top, 1.0 if whole else 1e-9), 4)
    step = max(step, 1.0) if whole else step
    high = step * max(math.ceil(top / step - 1e-9), 1)
    count = round(high / step)
    return lambda value: value / high, [(i / count, short(i * step)) for i in range(count + 1)]


def _log_scale(top: float) -> tuple[Callable[[float], float], list[tuple[float, str]]]:
    """Return a logarithmic scale whose bottom is half of 1, so that a count of 1 can be seen, and its ticks."""
    from .words import short

    decades = max(math.ceil(math.log10(max(top, 1))), 1)
    span = math.log10(2) + decades
    each = -(-decades // 5)
    ticks = [((math.log10(2) + d) / span, short(10.0**d)) for d in range(0, decades + 1, each)]
    return lambda value: (math.log10(2 * value)) / span, ticks
