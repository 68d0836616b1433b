"""Dot plots as PNG, SVG or PDF, drawn with matplotlib, which no other module of dot plots imports."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from ..errors import shown
from .colours import LIGHT, blended
from .picture import Picture, PictureFormat
from .sequences import Axis
from .settings import packaged_style

_SIDE = 5.0  # inches of the longer side
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.85, 1.05, 0.2, 0.68  # inches around the density
_NAMES = 0.75  # inches more at the top and on the right for names of records
_PROFILE, _BETWEEN = 0.8, 0.14  # inches of the identity profile, and above it
_SCALE, _SCALE_WIDTH, _SCALE_NAME = 1.25, 0.12, 0.9  # inches: height and width of a colour scale, space below it
_ROOM = 0.02  # records with a smaller share of an axis have no name
_MIN_DPI = 100
_GREY = "#6b7280"
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.edgecolor": LIGHT.ink,
    "axes.labelcolor": LIGHT.ink,
    "axes.linewidth": 0.6,
    "text.color": LIGHT.ink,
    "xtick.color": LIGHT.ink,
    "ytick.color": LIGHT.ink,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "svg.hashsalt": "wfacli",  # makes the output reproducible
    "pdf.fonttype": 42,
    "text.parse_math": False,  # names may contain dollar signs
}
# No date, so that the same picture gives the same bytes.
_METADATA: dict[PictureFormat, dict[str, Any]] = {
    PictureFormat.PNG: {"Software": "wfacli"},
    PictureFormat.SVG: {"Creator": "wfacli", "Date": None},
    PictureFormat.PDF: {"Creator": "wfacli", "CreationDate": None},
}


def figure(picture: Picture, format_: PictureFormat) -> bytes:
    """Return the drawn picture; the longer side of the density has `size` pixels."""
    with packaged_style(_STYLE):
        drawn = _Drawing(picture)
        file = io.BytesIO()
        drawn.figure.savefig(file, format=format_.value, dpi=drawn.dpi, metadata=_METADATA[format_])
    return file.getvalue()


class _Drawing:
    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.dpi = max(_MIN_DPI, picture.size / _SIDE)
        # Lengths of the axes, at least 1 for an empty sequence.
        self.spans = max(len(picture.target), 1), max(len(picture.query), 1)
        columns, rows = (_SIDE * max(span / max(self.spans), 0.25) for span in self.spans)
        below = _PROFILE + _BETWEEN if picture.lines else 0.0
        self.box = _LEFT, _BOTTOM + below, columns, rows
        self.names = _NAMES if len(picture.query.names) > 1 else 0.0  # inches for record names on the right
        above = _TOP + (_NAMES if len(picture.target.names) > 1 else 0.0)
        self.width, self.height = _LEFT + columns + self.names + _RIGHT, _BOTTOM + below + rows + above
        self.figure = Figure((self.width, self.height), facecolor=LIGHT.paper)
        self.norm = Normalize(picture.min_identity, 1.0)
        self.colours = ListedColormap(LIGHT.identity / 255)
        self.main = self.lowest = self._axes(*self.box)
        self._density()
        if picture.lines:
            self._lines()
            self.lowest = self._profile()
        self._borders(picture.target, self.main.axvline, self._name_above)
        self._borders(picture.query, self.main.axhline, self._name_beside)
        self._labels()
        self._scales()

    def _axes(self, left: float, bottom: float, width: float, height: float) -> Any:
        """Add axes at a position in inches."""
        return self.figure.add_axes(
            (left / self.width, bottom / self.height, width / self.width, height / self.height)
        )

    def _density(self) -> None:
        counted = self.picture.density
        self.main.imshow(
            blended(LIGHT, *counted.levels(counted.top)),
            origin="lower",
            extent=(0, self.spans[0], 0, self.spans[1]),
            aspect="auto",
            interpolation="nearest",
        )

    def _lines(self) -> None:
        # A few collections for all lines, since there may be tens of thousands of alignments.
        points = [np.stack([line.target, line.query], axis=1).astype(float) for line in self.picture.lines]
        # A casing in the background's colour separates the path from matches next to it.
        casing = LineCollection(points, colors=LIGHT.paper, linewidths=2.2, alpha=0.75, capstyle="round")
        self.main.add_collection(casing)
        steps = [np.stack([one[:-1], one[1:]], axis=1) for one in points]
        self.main.add_collection(self._coloured(steps, [line.identity for line in self.picture.lines], 1.1))

    def _coloured(self, steps: list[Any], identity: list[Any], width: float) -> LineCollection:
        """Return line segments f64[n, 2, 2] coloured by identity f64[n]; unknown identity counts as 1."""
        values = np.concatenate(identity or [np.zeros(0)])
        return LineCollection(
            list(np.concatenate(steps or [np.zeros((0, 2, 2))])),
            array=np.where(np.isfinite(values), values, 1.0),
            cmap=self.colours,
            norm=self.norm,
            linewidths=width,
            capstyle="round",
        )

    def _profile(self) -> Any:
        axes = self._axes(_LEFT, _BOTTOM, self.box[2], _PROFILE)
        low = self.picture.min_identity
        steps, values = [], []
        for line in self.picture.lines:
            known = np.isfinite(line.identity) & (line.target[1:] > line.target[:-1])
            shown = np.maximum(line.identity[known], low)
            begin, end = line.target[:-1][known], line.target[1:][known]
            steps.append(np.stack([begin, shown, end, shown], axis=1).astype(float).reshape(-1, 2, 2))
            values.append(line.identity[known])
        stairs = LineCollection([one.reshape(-1, 2) for one in steps if len(one)], colors=LIGHT.faint, linewidths=0.5)
        axes.add_collection(stairs)
        axes.add_collection(self._coloured(steps, values, 1.3))
        clipped = any((one < low).any() for one in values)
        axes.set_ylim(low - 0.06 * (1 - low), 1 + 0.06 * (1 - low))
        middle = (1 + low) / 2
        axes.set_yticks([low, middle, 1.0], [f"{'≤ ' * clipped}{100 * low:.0f}%", f"{100 * middle:.4g}%", "100%"])
        axes.set_ylabel("identity")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color=LIGHT.faint, linewidth=0.3)
        axes.set_axisbelow(True)
        return axes

    def _borders(self, axis: Axis, border: Callable[..., Any], name: Callable[[str, float], None]) -> None:
        """Draw thin lines between records, and the names of those that are wide enough."""
        if len(axis.names) < 2:
            return
        for start in axis.starts[1:-1]:
            border(start, color=LIGHT.faint, linewidth=0.4)
        for text, begin, end in zip(map(shown, axis.names), axis.starts[:-1], axis.starts[1:], strict=True):
            if end - begin >= _ROOM * len(axis):
                name(text if len(text) <= 16 else f"{text[:8]}…{text[-7:]}", (begin + end) / 2 / len(axis))

    def _name_above(self, name: str, middle: float) -> None:
        self.main.text(middle, 1.01, name, transform=self.main.transAxes, fontsize=6, rotation=45, va="bottom")

    def _name_beside(self, name: str, middle: float) -> None:
        self.main.text(1.01, middle, name, transform=self.main.transAxes, fontsize=6, va="center")

    def _labels(self) -> None:
        picture = self.picture
        for axes in {self.main, self.lowest}:
            axes.set_xlim(0, self.spans[0])
            _numbered(axes.xaxis, self.spans[0], picture.unit)
        self.main.set_ylim(0, self.spans[1])
        _numbered(self.main.yaxis, self.spans[1], picture.unit)
        self.main.set_ylabel(_title(picture.query, picture.unit))
        self.main.tick_params(labelbottom=self.lowest is self.main)
        self.lowest.set_xlabel(_title(picture.target, picture.unit))
        for axes in {self.main, self.lowest}:
            axes.yaxis.set_label_coords(-0.7 * _LEFT / self.box[2], 0.5)
        self.figure.text(_LEFT / self.width, 0.07 / self.height, picture.caption, fontsize=6, color=_GREY)

    def _scales(self) -> None:
        """Draw the colour scales on the right."""
        left, bottom, width, height = self.box
        tall = min(_SCALE, 0.75 * height)
        place = left + width + self.names + 0.2, bottom + height - tall
        strands = {"same strand": LIGHT.forward, "reverse strand": LIGHT.reverse}
        if self.picture.density.literal:
            strands = {"": LIGHT.forward}
        norm = LogNorm(1, self.picture.density.top)
        for number, (name, colours) in enumerate(strands.items()):
            x = place[0] + number * (_SCALE_WIDTH + 0.05)
            shades = ScalarMappable(norm, ListedColormap(colours[1:] / 255))
            self._scale(shades, (x, place[1]), tall, "matches a pixel", name, number + 1 == len(strands))
        below = place[1] - _SCALE_NAME - tall
        if self.picture.lines and below > 0:
            self._scale(ScalarMappable(self.norm, self.colours), (place[0], below), tall, "identity of path", "", True)

    def _scale(
        self, shades: Any, place: tuple[float, float], tall: float, title: str, name: str, numbered: bool
    ) -> None:
        axes = self._axes(*place, _SCALE_WIDTH, tall)
        bar = self.figure.colorbar(shades, cax=axes)
        bar.outline.set_linewidth(0.4)
        axes.tick_params(labelsize=6, which="both", width=0.4, right=numbered, labelright=numbered)
        axes.text(0.5, -0.04, name, transform=axes.transAxes, fontsize=6, rotation=90, ha="center", va="top")
        if numbered:
            axes.text(4.4, 0.5, title, transform=axes.transAxes, fontsize=6.5, rotation=90, ha="left", va="center")
        if isinstance(shades.norm, LogNorm):
            top = self.picture.density.top
            counts = [10**power for power in range(len(str(top)))] + ([top] if top < 10 else [])
            bar.set_ticks(counts, labels=[f"{count:,}" for count in counts])
            bar.ax.yaxis.set_minor_formatter(NullFormatter())
        else:
            bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.4g}%"))


def _numbered(axis: Any, span: int, unit: str) -> None:
    size, prefix = next((s, p) for s, p in ((1_000_000, "M"), (1000, "k"), (1, "")) if span >= s)
    name = f"{prefix}b" if unit == "bp" and prefix else prefix or unit

    def written(value: float, _: int) -> str:
        return f"{value / size:,.6g} {name}" if value else "0"

    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10], integer=size == 1))
    axis.set_major_formatter(FuncFormatter(written))


def _title(axis: Axis, unit: str) -> str:
    return f"{shown(axis.title)}  ({len(axis):,} {unit})"
