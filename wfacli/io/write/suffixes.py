"""Suffixes of compressed outputs."""

from __future__ import annotations

from pathlib import Path

_COMPRESSORS = {".gz": "bgzip", ".bgz": "bgzip", ".zst": "zstd"}


def compressor_of(path: str | None) -> str | None:
    """Return the program that compresses to a name's suffix, or None."""
    return _COMPRESSORS.get(Path(path).suffix.lower()) if path else None
