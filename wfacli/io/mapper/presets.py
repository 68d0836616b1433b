"""minimap2's presets: those that pair reads, and those that the installed mapper supports."""

from __future__ import annotations

from ...errors import UsageError
from .answer import answer_of

# Presets with which minimap2 pairs reads. It does so by alignment scores, which it computes only for SAM output.
PAIRING = ("sr", "short")
ASSEMBLIES, OVERLAPS = "asm", "ava-"  # prefixes of presets for assemblies, and for overlaps between reads
# Presets of all versions of minimap2 that this program supports.
_COMMON = (*("map-ont", "map-hifi", "map-pb", "sr", "asm5", "asm10", "asm20", "ava-ont", "ava-pb"),)
_NEWER = ("lr:hq", "lr:hqae", "map-iclr")
_SPLICED = ("splice", "cdna")  # prefixes of presets for spliced alignment
_DEFAULT_INDEX = ("map-ont", "lr", "map-iclr-prerender")  # presets with the index parameters of mappy's default
_ANY = "ACGTTGCATGCCGATA" * 8


def _program_supports(program: str, preset: str) -> bool:
    # minimap2 checks the preset before anything else, so no files are needed. Other failures of the program are
    # reported when it maps.
    status, messages = answer_of([program, "-x", preset, "--version"], on_stderr=True) or (0, b"")
    return status == 0 or b"unknown preset" not in messages


def _library_supports(preset: str) -> bool:
    import mappy

    # mappy accepts any name; an unknown one leaves the default parameters.
    if preset in _DEFAULT_INDEX:
        return True
    plain, result = (mappy.Aligner(seq=_ANY, preset=name) for name in (None, preset))
    return bool((plain.k, plain.w) != (result.k, result.w))


def refuse_spliced(preset: str) -> None:
    """Raise UsageError for a preset for spliced reads, whose introns would become deletions here."""
    if preset.startswith(_SPLICED):
        raise UsageError(
            f"--preset {preset}: spliced reads (RNA, cDNA) are not supported, since introns would become deletions: "
            f"use minimap2 -ax {preset} REFERENCE READS, which aligns them itself"
        )


def check_preset(preset: str, program: str | None) -> None:
    """Raise UsageError if the mapper does not support a preset.

    Args:
        preset: name of the preset.
        program: path of minimap2; None for its library.
    """
    if preset in _COMMON or (_program_supports(program, preset) if program else _library_supports(preset)):
        return
    here = "minimap2" if program else "mappy"
    raise UsageError(
        f"--preset: {here} has no preset {preset!r}; there are {', '.join(_COMMON)}, and of newer versions "
        f"{', '.join(_NEWER)}"
    )
