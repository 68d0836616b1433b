"""Conversion of the scoring, memory and device options into an AlignSpec, Limits and values."""

from __future__ import annotations

import re
from dataclasses import replace

from ..config import MIB, WHOLE, AlignSpec, Ambiguous, Ends, FreeEnds, Heuristics, Limits, Metric, Mode, Penalties
from ..errors import UsageError
from ..scoring.presets import DEFAULT, PRESETS
from .numbers import MAX_BYTES

_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?", re.IGNORECASE)
_MIN_MEMORY, _MIN_GPU_MEMORY = 1 * MIB, 64 * MIB


def spec_of(
    *,
    metric: Metric | None,
    penalties: str | None,
    match: int | None,
    ambiguous: Ambiguous,
    score_only: bool,
    max_score: int | None,
    mode: Mode,
    free: str | None,
    band: str | None,
    xdrop: int,
    zdrop: int,
    preset: Ends | None = None,
) -> AlignSpec:
    """Return the AlignSpec of a command's options; --metric, --penalties and --match override the scores of `preset`.

    Raises:
        UsageError: options are incompatible.
    """
    metric, charged = _charged(metric, penalties, match, preset)
    if free is not None and mode is not Mode.ENDS_FREE:
        raise UsageError(f"--free belongs to --mode ends-free, not to {mode}")
    if mode is Mode.ENDS_FREE and free is None:
        raise UsageError("--mode ends-free needs --free QB,QE,TB,TE")
    width, step = _band(band)
    return AlignSpec(
        metric=metric,
        penalties=charged,
        ambiguous=ambiguous,
        mode=mode,
        free=FreeEnds.of(mode) if free is None else _free(free),
        score_only=score_only,
        heuristics=Heuristics(width, step, xdrop, zdrop),
        max_cost=max_score,
    )


def preset_named(name: str) -> Ends:
    """Return the scores and extension parameters of a minimap2 preset. Raises UsageError if it is unknown."""
    if name not in PRESETS:
        raise UsageError(f"--preset: there are no scores of {name!r}; there are those of {', '.join(PRESETS)}")
    return PRESETS[name]


def ends_of(penalties: Penalties, preset: Ends | None) -> Ends:
    """Return the parameters for end extension, with `penalties` if their match bonus is above 0, else the preset's."""
    ends = preset or PRESETS[DEFAULT]
    return replace(ends, penalties=penalties) if penalties.match else ends


def _charged(
    metric: Metric | None, penalties: str | None, match: int | None, preset: Ends | None
) -> tuple[Metric, Penalties]:
    if preset and metric is None and penalties is None:
        earned = preset.penalties.match if match is None else match
        return Metric.AFFINE2P, replace(preset.penalties, match=earned)
    metric, match = metric or Metric.AFFINE, match or 0
    return metric, Penalties.of(metric, None, match) if penalties is None else Penalties.parse(
        metric, penalties, match
    )


def limits_of(max_memory: str) -> Limits:
    """Parse `--max-memory`, the memory of a thread per pair, into limits. Raises UsageError."""
    nbytes = bytes_of("--max-memory", max_memory)
    if nbytes < _MIN_MEMORY:
        raise UsageError(f"--max-memory is {max_memory}; it must be 1M at least")
    table = min(Limits.table, nbytes // 8)
    return Limits(table=table, checkpoints=nbytes - table)


def gpu_memory_of(text: str | None) -> float | None:
    """Parse `--gpu-memory`: bytes, or below 1 a fraction of the free GPU memory. Raises UsageError."""
    if text is None:
        return None
    if re.fullmatch(r"0?\.\d+|1(\.0*)?", text.strip()) and float(text) > 0:
        return min(float(text), 0.95)
    nbytes = bytes_of("--gpu-memory", text)
    if nbytes < _MIN_GPU_MEMORY:
        raise UsageError(f"--gpu-memory is {text}; it must be 64M at least, or a share like 0.5")
    return float(nbytes)


def devices_of(text: str) -> tuple[int, ...] | None:
    """Parse `--devices` into GPU indices; None: all. Raises UsageError."""
    if text.strip() == "all":
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise UsageError(f"--devices expects 'all' or numbers like 0,2, not {text!r}")
    devices = tuple(int(part) for part in parts)
    if len(set(devices)) < len(devices):
        raise UsageError(f"--devices names a GPU twice: {text!r}")
    return devices


def bytes_of(option: str, text: str) -> int:
    """Parse a size like 500M (powers of 1024) into bytes. Raises UsageError."""
    size = _SIZE.fullmatch(text.strip())
    if not size:
        raise UsageError(f"{option} expects a size like 500M or 2G, not {text!r}")
    found = float(size[1]) * 1024 ** " KMGT".index(size[2].upper() or " ")
    if found > MAX_BYTES:
        raise UsageError(f"{option} is {text}; it must be {MAX_BYTES >> 40:,}T at most")
    return int(found)


def _free(text: str) -> FreeEnds:
    parts = text.split(",")
    if len(parts) != 4 or not all(part.isdecimal() or part == "all" for part in parts):
        raise UsageError(f"--free expects four numbers (or 'all') like 0,0,all,all, not {text!r}")
    return FreeEnds(*(WHOLE if part == "all" else int(part) for part in parts))


def _band(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 0
    parts = text.split(",")
    if len(parts) > 2 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"--band expects a width, or a width and a step, like 100 or 100,50, not {text!r}")
    return int(parts[0]), int(parts[1]) if len(parts) == 2 else 0
