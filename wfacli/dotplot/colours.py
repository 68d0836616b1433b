"""Perceptually uniform colour scales: lightness is linear in OKLab (Ottosson 2020), for light and dark backgrounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.batch import U8

LEVELS = 256
_Stop = tuple[float, float, float]  # lightness 0 to 1, chroma, hue in degrees

# From OKLab to the cube roots of cone responses, and from cone responses to linear sRGB.
_TO_CONES = np.array(
    [[1, 0.3963377774, 0.2158037573], [1, -0.1055613458, -0.0638541728], [1, -0.0894841775, -1.2914855480]]
)
_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


@dataclass(frozen=True)
class Theme:
    """Colours for one background.

    Attributes:
        paper, ink, faint: colours of background, text and grid, as #rrggbb.
        forward, reverse: u8[256, 3], by density level; level 0 is the background.
        identity: u8[256, 3], from the lowest identity shown to 1.
    """

    paper: str
    ink: str
    faint: str
    forward: U8
    reverse: U8
    identity: U8


def scale(*stops: _Stop, count: int = LEVELS) -> U8:
    """Return colours (u8[count, 3]) interpolated between equidistant stops."""
    at = np.linspace(0, len(stops) - 1, count)
    light, chroma, hue = (np.interp(at, range(len(stops)), part) for part in zip(*stops, strict=True))
    angle = np.radians(hue)
    lab = np.stack([light, chroma * np.cos(angle), chroma * np.sin(angle)], axis=1)
    linear = np.clip((lab @ _TO_CONES.T) ** 3 @ _TO_RGB.T, 0, 1)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    colours: U8 = np.rint(255 * curved).astype(np.uint8)
    return colours


def _on(paper: str, colours: U8) -> U8:
    colours[0] = _rgb(paper)
    return colours


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def texts(colours: U8) -> list[str]:
    """Return colours as #rrggbb."""
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in colours.tolist()]


_LIGHT, _DARK = "#ffffff", "#14161a"
LIGHT = Theme(
    paper=_LIGHT,
    ink="#1c1f24",
    faint="#c9ced6",
    forward=_on(_LIGHT, scale((0.90, 0.04, 255), (0.58, 0.10, 257), (0.28, 0.085, 260))),
    reverse=_on(_LIGHT, scale((0.91, 0.05, 60), (0.64, 0.15, 50), (0.38, 0.125, 40))),
    identity=scale((0.50, 0.23, 350), (0.60, 0.12, 345), (0.66, 0.05, 200), (0.68, 0.15, 155)),
)
DARK = Theme(
    paper=_DARK,
    ink="#e4e7ec",
    faint="#3a4049",
    forward=_on(_DARK, scale((0.30, 0.05, 260), (0.60, 0.10, 255), (0.92, 0.05, 240))),
    reverse=_on(_DARK, scale((0.31, 0.07, 40), (0.62, 0.15, 50), (0.92, 0.08, 75))),
    identity=scale((0.66, 0.24, 350), (0.74, 0.12, 345), (0.80, 0.05, 200), (0.84, 0.18, 155)),
)


def blended(theme: Theme, forward: U8, reverse: U8) -> U8:
    """Blend the levels of both strands to an image u8[rows, columns, 3]: multiplied on light paper, added on dark."""
    a, b = theme.forward[forward].astype(np.uint16), theme.reverse[reverse].astype(np.uint16)
    if theme is LIGHT:
        return (a * b // 255).astype(np.uint8)
    paper = np.array(_rgb(theme.paper), np.uint16)
    both: npt.NDArray[np.uint16] = np.minimum(a + b - np.minimum(paper, np.minimum(a, b)), 255)
    return both.astype(np.uint8)
