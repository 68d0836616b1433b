"""How long kernels take: models with their measurement beside them.

    python bench/crossover.py

measures each kernel by itself over lengths and errors, fits these models and prints them; the measurement is kept in
bench/results. One thread; microseconds a pair; with CIGARs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """Microseconds a pair: start + letter * longest + unit * work."""

    start: float
    letter: float
    unit: float

    def of(self, longest: F64, work: F64) -> F64:
        """Microseconds (f64[n]) for pairs with so many letters and so much work (both f64[n])."""
        return np.asarray(self.start + self.letter * longest + self.unit * work)


# AMD EPYC (Zen 4, AVX-512), 2026-11-20, commit ae0004a: within a fifth of the measurement on average.
BITS_64 = Model(0.03, 0.00165, 0.0)  # paths of a band of one word are found for all lanes together
BITS = Model(0.0604, 0.000626, 0.00101)  # work: letters * words
STRIPES = Model(2.28, 0.0114, 1.25e-05)  # work: letters * edits
DIFFERENCE = Model(0.00182, 0.0102, 4.35e-05)  # work: letters * diagonals of the band
WAVEFRONT = Model(0.118, 0.00027, 0.00021)  # work: cells of all components of a wavefront to the end, and ROW for each
WAVEFRONT_LINEAR = Model(0.109, 0.000213, 0.0008)  # the same for gaps without opening
ROW = 80.0
MEETING_DEPTH = 8  # scores that a wavefront looks back, up to which two meet (native/wavefront_front.hpp)
LINEAR_FACTOR = 1.4  # of the wavefront in little memory
# What scores alone take of the time with CIGARs, about, in bench/results' cpu-table.
SCORE_ONLY = {"bits": 0.55, "stripes": 0.8, "difference": 0.75, "wavefront": 1.0}
SAFETY = 1.3  # estimates of edits are trusted to this factor
USUAL_ERROR = 0.02  # edits a letter of pairs without an estimate
CHOOSING = 0.6  # microseconds for the estimate of a pair, and a route of its own
CAP = (24.0, 0.1)  # score at which a wavefront gives up: base, and share of the longest sequence
