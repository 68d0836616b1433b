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
BITS = Model(0.05, 0.0005, 0.0006)  # work: letters * words
STRIPES = Model(2.0, 0.005, 0.00002)  # work: letters * edits
DIFFERENCE = Model(0.5, 0.005, 0.00003)  # work: letters * diagonals of the band
WAVEFRONT = Model(0.1, 0.0003, 0.0008)  # work: cells of all components
WAVEFRONT_LINEAR = Model(0.1, 0.0003, 0.0015)
LINEAR_FACTOR = 1.4  # of the wavefront in little memory
SAFETY = 1.3  # estimates of edits are trusted to this factor
CAP = (24.0, 0.1)  # score at which a wavefront gives up: base, and share of the longest sequence
