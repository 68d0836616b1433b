"""The picture as one self-contained HTML page: no network, no libraries."""

from __future__ import annotations

import base64
import json
import math
import zlib
from importlib.resources import files
from typing import Any

import numpy as np

from ..errors import shown
from .colours import DARK, LIGHT, Theme, texts
from .paths import Line
from .picture import Picture
from .sequences import Axis

_DATA, _TITLE = "/*DATA*/null", "<!--TITLE-->"


def page(picture: Picture) -> bytes:
    """Return the page as UTF-8."""
    title = shown(f"{picture.query.title} against {picture.target.title}")
    # Browsers recognise tags inside scripts, too.
    data = json.dumps(_data(picture), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return template.replace(_TITLE, _escaped(title)).replace(_DATA, data).encode()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _data(picture: Picture) -> dict[str, Any]:
    counted = picture.density
    top = counted.top
    levels = np.stack(counted.levels(top))
    rows, columns = counted.forward.shape
    return {
        "query": _axis(picture.query),
        "target": _axis(picture.target),
        "unit": picture.unit,
        "rows": rows,
        "columns": columns,
        "top": top,
        "strands": 1 if counted.literal else 2,
        # Levels of the forward strand, row by row from the start of the query, then of the reverse complement.
        "levels": base64.b64encode(zlib.compress(levels.tobytes(), 9)).decode(),
        "lines": [_line(line) for line in picture.lines],
        "least": picture.min_identity,
        "caption": picture.caption,
        "themes": {"light": _theme(LIGHT), "dark": _theme(DARK)},
    }


def _axis(axis: Axis) -> dict[str, Any]:
    return {"title": shown(axis.title), "names": [shown(name) for name in axis.names], "starts": axis.starts.tolist()}


def _line(line: Line) -> dict[str, Any]:
    identity = [round(value, 5) if math.isfinite(value) else None for value in line.identity.tolist()]
    return {"query": line.query.tolist(), "target": line.target.tolist(), "identity": identity}


def _theme(theme: Theme) -> dict[str, Any]:
    scales = {name: texts(getattr(theme, name)) for name in ("forward", "reverse", "identity")}
    return {"paper": theme.paper, "ink": theme.ink, "faint": theme.faint, **scales}
