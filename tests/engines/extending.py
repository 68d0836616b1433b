"""Run pairs through the scored-alignment engine; helpers and expected results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import parasail

from tests.oracle_local import Charges, charges, protein_charges
from tests.oracle_spans import Optimum, Pair
from wfacli.config import Ambiguous, Limits
from wfacli.core import cigar
from wfacli.core.batch import PartialResult, Status
from wfacli.core.route import Route
from wfacli.engines.extend_cpu import KERNEL, ExtendEngine
from wfacli.io.read.memory import pairs_of
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

# Scheme, the oracle's scores, alphabet: plain schemes, with free gap opening or extension, with a score for N, and
# substitution matrices.
SCHEMES: dict[str, tuple[Scheme, Charges, str]] = {
    "2,4,4,2": (Scheme.parse("2,4,4,2"), charges(2, 4, 4, 2), "mixed"),
    "1,1,0,1": (Scheme.parse("1,1,0,1"), charges(1, 1, 0, 1), "AC"),
    "5,4,10,0": (Scheme.parse("5,4,10,0"), charges(5, 4, 10, 0), "ACGT"),
    "3,0,2,1": (Scheme.parse("3,0,2,1"), charges(3, 0, 2, 1), "ACGT"),
    "wildcard": (Scheme.parse("2,3,5,1", Ambiguous.WILDCARD), charges(2, 3, 5, 1, "wildcard"), "iupac"),
    "literal": (Scheme.parse("2,3,5,1", Ambiguous.LITERAL), charges(2, 3, 5, 1, "literal"), "protein"),
    "n-score": (Scheme.parse("2,4,4,2", n_score=-1), charges(2, 4, 4, 2, n_score=-1), "ACGTN"),
    "BLOSUM62": (Scheme.of_matrix("BLOSUM62"), protein_charges("BLOSUM62", 11, 1), "protein"),
    "PAM250": (Scheme.of_matrix("PAM250", (3, 2)), protein_charges("PAM250", 3, 2), "protein"),
}


def extended(
    pairs: Sequence[Pair],
    spec: ExtendSpec,
    limits: Limits | None = None,
    isa: str = "",
    kernel: str = "",
    wide: bool = False,
    threads: int = 1,
    rows: Sequence[int] | None = None,
) -> PartialResult:
    """Return the engine's answers."""
    engine = ExtendEngine(spec, limits or Limits(), threads, isa, kernel=kernel, wide=wide)
    chosen = np.arange(len(pairs)) if rows is None else np.array(rows)
    try:
        batch = pairs_of(*zip(*pairs, strict=True))
        return engine.collect(engine.submit(batch, Route(chosen.astype(np.int32), KERNEL)))
    finally:
        engine.close()


def optima_of(result: PartialResult) -> list[Optimum | Status]:
    """Return each row's alignment, or its status if it has none."""
    found: list[Optimum | Status] = []
    for row, status in enumerate(result.status.tolist()):
        runs = result.cigar[result.cigar_start[row] : result.cigar_start[row + 1]]
        optimum = Optimum(int(result.score[row]), cigar.to_text(runs), tuple(result.span[row].tolist()))
        assert status == Status.OK or optimum == Optimum(0, "*", (0, 0, 0, 0))
        found.append(optimum if status == Status.OK else Status(status))
    return found


def spec_of(scheme: Scheme, mode: str, **options: bool) -> ExtendSpec:
    return ExtendSpec(scheme, ExtendMode(mode), **options)


_PARASAIL = {"local": "sw_striped_32", "global": "nw_scan_32", "semiglobal": "sg_dx_scan_32"}


def parasail_scores(pairs: Sequence[Pair], scheme: Scheme, mode: str) -> list[int]:
    """Return parasail's scores of non-empty pairs over ACGT, or under a matrix that parasail has."""
    proteins = len(scheme.alphabet) > 20
    matrix = (
        getattr(parasail, scheme.name.lower())
        if proteins
        else parasail.matrix_create("ACGT", int(scheme.matrix[0, 0]), int(scheme.matrix[0, 1]))
    )
    call, opening = getattr(parasail, _PARASAIL[mode]), scheme.open + scheme.extend
    return [call(q.decode(), t.decode(), opening, scheme.extend, matrix).score for q, t in pairs]
