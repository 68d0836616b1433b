"""Numbers and names as text of a report."""

from __future__ import annotations

import html
import math

from ..errors import shown


def escaped(text: str) -> str:
    """Return a text for HTML; control characters are shown escaped."""
    return html.escape(shown(text))


def grouped(count: int) -> str:
    """Return a count with separators: 1,234,567."""
    return f"{count:,}"


def tile_count(count: int) -> str:
    """Return a count as a headline: with all digits, unless there are more than six."""
    return grouped(count) if count < 1_000_000 else short(count)


def short(value: float) -> str:
    """Return a number with a prefix for thousands, millions or billions, at most three significant digits."""
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * size:
            return f"{_three(value / size)} {prefix}"
    return _three(value)


def _three(value: float) -> str:
    if not value:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:,.0f}"


def length(value: float, unit: str) -> str:
    """Return a length: 151 bases, 12.3 kb; unit is "base" or "residue"."""
    if unit != "base" or value < 1000:
        return f"{short(value)} {unit}{'' if value == 1 else 's'}"
    return short(value) + "b"


def tick_length(value: float, unit: str) -> str:
    """Return a length beside an axis, whose title has the unit."""
    return short(value) + "b" if unit == "base" and value >= 1000 else short(value)


def percent(part: float, whole: float) -> str:
    """Return a share; a part that is neither nothing nor all is never shown as 0% or 100%."""
    if not whole:
        return "–"
    return percentage(part / whole)


def percentage(share: float) -> str:
    """Return a share of 1 as a percentage with up to two decimals."""
    if math.isnan(share):
        return "–"
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 1e-4:
        return "<0.01%"
    return ">99.99%" if share > 0.9999 else f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def seconds(value: float) -> str:
    """Return a time: 12 ms, 3.4 s, 3.4 min, 1.2 h."""
    if value < 0.9995:
        return "<1 ms" if value < 1e-3 else f"{_three(1e3 * value)} ms"
    if value < 120:
        return f"{_three(value)} s"
    return f"{_three(value / 60)} min" if value < 7200 else f"{_three(value / 3600)} h"


def counted(count: int, thing: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def bytes_of(count: int) -> str:
    """Return a number of bytes: 12.3 MB."""
    return short(count) + "B" if count >= 1000 else f"{count} bytes"
