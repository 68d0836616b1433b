"""Scoring parameters of minimap2's presets.

The values are those of minimap2 2.24 to 2.30, which agree on all presets that they share. Presets for spliced
alignment are missing, since `Penalties` does not allow their gap extension of 0.
"""

from __future__ import annotations

from ..config import Ends, Penalties

_N = 1  # minimap2's penalty of ambiguous bases, --score-N, in all presets

# minimap2's -A, -B, -O and -E without a preset, which map-ont and most other presets also use.
_DEFAULT = Penalties(4, ((4, 2), (24, 1)), 2, _N)
_HIFI = Penalties(4, ((6, 2), (26, 1)), 1, _N)
_ICLR = Penalties(6, ((10, 2), (50, 1)), 2, _N)  # the mismatch penalty is minimap2's for transversions
_ASM5 = Penalties(19, ((39, 3), (81, 1)), 1, _N)
_ASM10 = Penalties(9, ((16, 2), (41, 1)), 1, _N)
_SHORT = Penalties(8, ((12, 2), (24, 1)), 2, _N)

# Z-drop and that of inversions (-z; with sr minimap2 searches for none), minimum score (-s), end bonus (--end-bonus;
# minimap2's -1 means none), maximum extension (-g), maximum gap in the extension (1.5 times -r).
_LONG_READS = Ends(_DEFAULT, zdrop=400, zdrop_inversion=200, min_score=80, bonus=0, max_extension=5_000, band=750)
_HQ = Ends(_DEFAULT, zdrop=400, zdrop_inversion=200, min_score=80, bonus=0, max_extension=10_000, band=750)

PRESETS: dict[str, Ends] = {
    **dict.fromkeys(("map-ont", "lr", "map-pb", "map10k", "ava-ont", "ava-pb"), _LONG_READS),
    **dict.fromkeys(("lr:hq", "lr:hqae"), _HQ),
    **dict.fromkeys(
        ("map-hifi", "map-ccs"),
        Ends(_HIFI, zdrop=400, zdrop_inversion=200, min_score=200, bonus=0, max_extension=10_000, band=750),
    ),
    **dict.fromkeys(
        ("map-iclr", "map-iclr-prerender"),
        Ends(_ICLR, zdrop=400, zdrop_inversion=200, min_score=80, bonus=0, max_extension=5_000, band=750),
    ),
    "asm5": Ends(_ASM5, zdrop=200, zdrop_inversion=200, min_score=200, bonus=0, max_extension=10_000, band=1_500),
    "asm10": Ends(_ASM10, zdrop=200, zdrop_inversion=200, min_score=200, bonus=0, max_extension=10_000, band=1_500),
    "asm20": Ends(_HIFI, zdrop=200, zdrop_inversion=200, min_score=200, bonus=0, max_extension=10_000, band=1_500),
    **dict.fromkeys(
        ("sr", "short"),
        Ends(_SHORT, zdrop=100, zdrop_inversion=0, min_score=40, bonus=10, max_extension=5_000, band=150),
    ),
}
DEFAULT = "map-ont"
ASSEMBLIES = ("asm5", "asm10", "asm20")  # presets for sequences of any length
