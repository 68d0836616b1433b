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


# AMD EPYC (Zen 4, AVX-512), 2026-11-20.
BITS = Model(0.0297, 0.001, 0.000981)  # work: letters * words
STRIPES = Model(2.15, 0.0121, 1.45e-05)  # work: letters * edits
DIFFERENCE = Model(0.0722, 0.00971, 5e-05)  # work: letters * diagonals of the band
WAVEFRONT = Model(0.114, 0.00076, 0.00048)  # work: cells of all components, and ROW a row
WAVEFRONT_LINEAR = Model(0.111, 0.00047, 0.00147)  # the same for gaps without opening
ROW = 48.0
LINEAR_FACTOR = 1.4  # of the wavefront in little memory
SAFETY = 1.3  # estimates of edits are trusted to this factor
USUAL_ERROR = 0.02  # edits a letter of pairs without an estimate
CHOOSING = 0.6  # microseconds for the estimate of a pair, and a route of its own
CAP = (24.0, 0.1)  # score at which a wavefront gives up: base, and share of the longest sequence
