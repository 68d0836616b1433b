"""minimap2's presets: which of them pairs reads, and whether the mapper that is here has one."""

from __future__ import annotations

import subprocess

from ...errors import UsageError

# Presets by which minimap2 pairs reads. It does so by the scores of their alignments, which it makes with SAM alone.
PAIRING = ("sr", "short")
ASSEMBLIES, OVERLAPS = "asm", "ava-"  # how presets begin that map assemblies, and reads to one another
# Those that any version has which this program takes.
_COMMON = (*("map-ont", "map-hifi", "map-pb", "sr", "asm5", "asm10", "asm20", "ava-ont", "ava-pb"),)
_NEWER = ("lr:hq", "lr:hqae", "map-iclr")
_SPLICED = ("splice", "cdna")  # how presets begin that let reads lie on both sides of introns
_AS_WITHOUT = ("map-ont", "lr", "map-iclr-prerender")  # whose index is the library's own without a preset
_ANY = "ACGTTGCATGCCGATA" * 8


def _program_has(program: str, preset: str) -> bool:
    # The preset is looked at before all else, and what there is no file for is not missed. Whatever else is wrong with
    # the program is told when it maps.
    asked = subprocess.run(
        [program, "-x", preset, "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return asked.returncode == 0 or b"unknown preset" not in asked.stderr


def _library_has(preset: str) -> bool:
    import mappy

    # It takes any name without a word; one that it does not know changes nothing.
    if preset in _AS_WITHOUT:
        return True
    plain, asked = (mappy.Aligner(seq=_ANY, preset=name) for name in (None, preset))
    return bool((plain.k, plain.w) != (asked.k, asked.w))


def refuse_spliced(preset: str) -> None:
    """Raises UsageError for a preset whose mappings have introns, which would become deletions here."""
    if preset.startswith(_SPLICED):
        raise UsageError(
            f"--preset {preset}: spliced reads (RNA, cDNA) are not aligned here, where introns would be deletions: "
            f"use minimap2 -ax {preset} REFERENCE READS, which aligns them itself"
        )


def check_preset(preset: str, program: str | None) -> None:
    """Raises UsageError where a mapper has no such preset.

    Args:
        preset: its name.
        program: minimap2; None is its library.
    """
    if preset in _COMMON or (_program_has(program, preset) if program else _library_has(preset)):
        return
    here = "minimap2" if program else "mappy"
    raise UsageError(
        f"--preset: {here} has no preset {preset!r}; there are {', '.join(_COMMON)}, and of newer versions "
        f"{', '.join(_NEWER)}"
    )
