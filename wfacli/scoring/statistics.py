"""Statistical significance of local scores: published Karlin-Altschul parameters.

Unrelated sequences of lengths m and n have about K m n e^(-lambda S) local alignments with score S or more (Karlin and
Altschul 1990). For gapped alignments lambda and K cannot be derived; for some schemes they were determined by
simulations that take longer than a run of wfacli should (Altschul and Gish 1996, Altschul et al. 2001). The values
here are those of NCBI BLAST for the same scores (blast_stat.c, public domain); other schemes have no significance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .matrix_file import BUILT_IN
from .scheme import Scheme
from .spec import ExtendMode, ExtendSpec

# (open, extend): (lambda, K)
_Found = dict[tuple[int, int], tuple[float, float]]
_MATRICES: dict[str, _Found] = {
    "BLOSUM62": {
        (11, 2): (0.297, 0.082), (10, 2): (0.291, 0.075), (9, 2): (0.279, 0.058), (8, 2): (0.264, 0.045),
        (7, 2): (0.239, 0.027), (6, 2): (0.201, 0.012), (13, 1): (0.292, 0.071), (12, 1): (0.283, 0.059),
        (11, 1): (0.267, 0.041), (10, 1): (0.243, 0.024), (9, 1): (0.206, 0.010),
    },
    "BLOSUM50": {
        (13, 3): (0.212, 0.063), (12, 3): (0.206, 0.055), (11, 3): (0.197, 0.042), (10, 3): (0.186, 0.031),
        (9, 3): (0.172, 0.022), (16, 2): (0.215, 0.066), (15, 2): (0.210, 0.058), (14, 2): (0.202, 0.045),
        (13, 2): (0.193, 0.035), (12, 2): (0.181, 0.025), (19, 1): (0.212, 0.057), (18, 1): (0.207, 0.050),
        (17, 1): (0.198, 0.037), (16, 1): (0.186, 0.025), (15, 1): (0.171, 0.015),
    },
    "PAM250": {
        (15, 3): (0.205, 0.049), (14, 3): (0.200, 0.043), (13, 3): (0.194, 0.036), (12, 3): (0.186, 0.029),
        (11, 3): (0.174, 0.020), (17, 2): (0.204, 0.047), (16, 2): (0.198, 0.038), (15, 2): (0.191, 0.031),
        (14, 2): (0.182, 0.024), (13, 2): (0.171, 0.017), (21, 1): (0.205, 0.045), (20, 1): (0.199, 0.037),
        (19, 1): (0.192, 0.029), (18, 1): (0.183, 0.021), (17, 1): (0.171, 0.014),
    },
}  # fmt: skip
# Nucleotides by (match, mismatch) without a common divisor; with match 2 they are valid for even scores only.
_NUCLEOTIDES: dict[tuple[int, int], _Found] = {
    (1, 2): {
        (2, 2): (1.33, 0.62), (1, 2): (1.30, 0.52), (0, 2): (1.19, 0.34), (3, 1): (1.32, 0.57),
        (2, 1): (1.29, 0.49), (1, 1): (1.14, 0.26),
    },
    (2, 3): {
        (4, 4): (0.63, 0.42), (2, 4): (0.615, 0.37), (0, 4): (0.55, 0.21), (3, 3): (0.615, 0.37),
        (6, 2): (0.63, 0.42), (5, 2): (0.625, 0.41), (4, 2): (0.61, 0.35), (2, 2): (0.515, 0.14),
    },
    (2, 5): {(2, 4): (0.67, 0.59), (0, 4): (0.62, 0.39), (4, 2): (0.67, 0.61), (2, 2): (0.56, 0.32)},
    (4, 5): {(6, 5): (0.28, 0.21), (5, 5): (0.27, 0.17), (4, 5): (0.25, 0.10), (3, 5): (0.23, 0.065)},
}  # fmt: skip


@dataclass(frozen=True)
class Significance:
    """Significance parameters of a scheme's local scores.

    Attributes:
        nats: lambda, for one unit of score.
        log_k: natural logarithm of K.
        step: scores are rounded down to a multiple of this.
    """

    nats: float
    log_k: float
    step: int = 1

    @classmethod
    def of(cls, spec: ExtendSpec) -> Significance | None:
        """Return the parameters; None if none are published for the scheme, or for modes other than local."""
        if spec.mode is not ExtendMode.LOCAL:
            return None
        return _of_matrix(spec.scheme) or _of_nucleotides(spec.scheme)

    @property
    def parameters(self) -> tuple[float, float, int]:
        """The three parameters as (nats, log_k, step)."""
        return self.nats, self.log_k, self.step


def _of_matrix(scheme: Scheme) -> Significance | None:
    gaps = scheme.open, scheme.extend
    for name in BUILT_IN:
        if gaps in _MATRICES[name] and scheme == Scheme.of_matrix(name, gaps):
            nats, k = _MATRICES[name][gaps]
            return Significance(nats, math.log(k))
    return None


def _of_nucleotides(scheme: Scheme) -> Significance | None:
    if scheme.alphabet[:4] != "ACGT":
        return None
    match, mismatch = int(scheme.matrix[0, 0]), -int(scheme.matrix[0, 1])
    unit = math.gcd(match, mismatch)
    same = np.where(np.eye(4, dtype=np.bool_), match, -mismatch)
    if (scheme.matrix[:4, :4] != same).any() or not unit or scheme.open % unit or scheme.extend % unit:
        return None
    match, gaps = match // unit, (scheme.open // unit, scheme.extend // unit)
    found = _NUCLEOTIDES.get((match, mismatch // unit), {}).get(gaps)
    return found and Significance(found[0] / unit, math.log(found[1]), unit * (2 if match == 2 else 1))
