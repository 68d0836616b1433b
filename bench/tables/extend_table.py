"""Alignment under any scores on the CPU, one thread, beside parasail's best function on the same pairs.

    python -m bench.tables.extend_table [--data DIR] [--repeats N] [--minutes M] [--save]

Requires g++, and pip to download parasail's wheel. A function of parasail counts only if all its scores equal ours.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import itertools
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bench.harness import table
from bench.peers.build import ADAPTERS, CACHE, RECIPES, Unavailable, _unpacked
from wfacli._native import CancelFlag, Extender
from wfacli.config import Limits
from wfacli.core.batch import PairBatch, Status, all_rows
from wfacli.engines.extend_cpu import native_options
from wfacli.io.read.memory import pairs_of
from wfacli.measure.spread import Spread
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

DATA = Path(os.environ.get("WFACLI_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
DNA, PROTEIN = Scheme.parse("2,4,4,2"), Scheme.of_matrix("BLOSUM62")
FUNCTIONS = {
    ExtendMode.LOCAL: ("sw_striped_sat", "sw_scan_sat", "sw_striped_16", "sw_scan_16"),
    ExtendMode.GLOBAL: ("nw_striped_sat", "nw_scan_sat", "nw_striped_16", "nw_scan_16", "nw_scan_32"),
    ExtendMode.SEMIGLOBAL: ("sg_dx_striped_sat", "sg_dx_scan_sat", "sg_dx_striped_16", "sg_dx_scan_16"),
}
TIMED = {
    "ours": "Extender.align of all pairs: encoding, and scores or alignments in columns",
    "parasail": "each function in a loop, with its CIGAR for tasks with paths; the time includes its "
    "encoding of the bases",
}


@dataclass(frozen=True)
class Set:
    """The first pairs of a file.

    Attributes:
        name: name in the table.
        file: NAME of NAME.query.fa.gz and NAME.target.fa.gz.
        scheme: scores.
        count: pairs.
        window: symbols of each sequence that are kept; shorter pairs are left out. 0: all symbols of all pairs.
    """

    name: str
    file: str
    scheme: Scheme
    count: int
    window: int = 0


SETS = (
    Set("illumina150", "illumina150", DNA, 8000),
    Set("pacbio 1 kb", "pacbio_clr_ecoli", DNA, 200, 1000),
    Set("pacbio", "pacbio_clr_ecoli", DNA, 10),
    Set("proteins", "protein_uniprot", PROTEIN, 700),
)


@dataclass(frozen=True)
class Row:
    """Pairs, and how they are aligned.

    Attributes:
        pairs: what is aligned.
        mode: which ends are free.
        cigars: whether alignments are made, and not scores alone.
    """

    pairs: Set
    mode: ExtendMode
    cigars: bool

    @property
    def name(self) -> str:
        """Name in the table."""
        return f"{self.pairs.name:12} {self.mode:10} {'path' if self.cigars else 'score'}"


def pairs_of_set(chosen: Set, data: Path) -> list[tuple[bytes, bytes]]:
    """Return a set's first pairs, cut to its window."""
    sides = []
    for side in ("query", "target"):
        with gzip.open(data / f"{chosen.file}.{side}.fa.gz", "rb") as lines:
            sides.append([line.strip().upper() for line in lines if not line.startswith(b">")])
    pairs = [(q, t) for q, t in zip(*sides, strict=True) if min(len(q), len(t)) >= chosen.window]
    cut = chosen.window or None
    return [(q[:cut], t[:cut]) for q, t in pairs[: chosen.count]]


def parasail_library() -> ctypes.CDLL:
    """Return our driver, linked with the library in parasail's wheel. Raises Unavailable."""
    recipe = RECIPES["parasail"]
    folder = CACHE / f"parasail-extend-{recipe.version}"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "parasail_extend.so"
    try:
        sources = _unpacked(recipe, folder)
        library = folder / "libparasail.so.8"
        library.write_bytes((sources / "parasail" / "libparasail.so").read_bytes())
        flags = ["-std=c++20", "-O3", "-shared", "-fPIC", "-w", f"-I{sources / 'parasail' / 'include'}"]
        command = ["g++", *flags, str(ADAPTERS / "parasail_extend.cpp"), str(library)]
        subprocess.run([*command, "-Wl,-rpath,$ORIGIN", "-o", str(made)], check=True, capture_output=True)
    except (subprocess.CalledProcessError, OSError) as error:
        raise Unavailable(str(getattr(error, "stderr", b"") or error)) from None
    loaded = ctypes.CDLL(str(made))
    loaded.parasail_run.restype = ctypes.c_double
    return loaded


def ours(batch: PairBatch, spec: ExtendSpec, repeats: int) -> tuple[list[float], np.ndarray]:
    """Return seconds of all repeats, and scores (i32[n])."""
    extender, options = Extender(), native_options(spec, Limits())
    seconds = []
    for _ in range(repeats):
        taken, found = table.timed(lambda: extender.align(batch, all_rows(len(batch)), options, CancelFlag()))
        (status, _, score, *_), _ = found
        seconds.append(taken)
        assert (status == np.uint8(Status.OK)).all()
    return seconds, score


def theirs(
    loaded: ctypes.CDLL, function: str, batch: PairBatch, scheme: Scheme, repeats: int
) -> tuple[float, np.ndarray]:
    """Return seconds of the best repeat, -1 without such a function, and scores (i32[n])."""
    scores, matrix = np.zeros(len(batch), np.int32), scheme.name.lower() if len(scheme.alphabet) > 20 else ""
    columns = (batch.q_start, batch.t_start, batch.q_len, batch.t_len, scores)
    pointers = [column.ctypes.data_as(ctypes.c_void_p) for column in columns]
    charged = [int(scheme.matrix[0, 0]), int(scheme.matrix[0, 1]), scheme.open, scheme.extend]
    best = float("inf")
    for _ in range(repeats):
        bases = batch.bases.ctypes.data_as(ctypes.c_void_p)
        taken = loaded.parasail_run(
            function.encode(), matrix.encode(), *charged, bases, ctypes.c_int64(len(batch)), *pointers
        )
        best = min(best, taken)
    return best, scores


def row_of(one: Row, loaded: ctypes.CDLL | None, data: Path, repeats: int) -> dict[str, Any]:
    """Measure one row."""
    pairs, scheme = pairs_of_set(one.pairs, data), one.pairs.scheme
    batch = pairs_of(*zip(*pairs, strict=True))
    cells = float((batch.q_len.astype(np.int64) * batch.t_len).sum())
    seconds, scores = ours(batch, ExtendSpec(scheme, one.mode, score_only=not one.cigars), repeats)
    row: dict[str, Any] = {
        "set": one.pairs.name, "pairs": len(pairs), "cells": cells, "scores": scheme.name, "mode": one.mode.value,
        "cigars": one.cigars, "ours": {**Spread(seconds).report(), "gcups": round(cells / min(seconds) / 1e9, 3)},
    }  # fmt: skip
    peers = {}
    for function in FUNCTIONS[one.mode] if loaded else ():
        name = function.replace("_s", "_trace_s", 1) if one.cigars else function
        taken, found = theirs(loaded, name, batch, scheme, repeats)
        if taken >= 0:
            equal = int((found == scores).sum())
            peers[name] = {"seconds": round(taken, 4), "gcups": round(cells / taken / 1e9, 3), "equal_scores": equal}
    row["parasail"] = peers
    exact = {name: peer["gcups"] for name, peer in peers.items() if peer["equal_scores"] == len(pairs)}
    if exact:
        best = max(exact, key=lambda name: exact[name])
        row["best"], row["ratio"] = best, round(cells / min(seconds) / 1e9 / exact[best], 2)
    return row


def line_of(one: Row, row: dict[str, Any]) -> str:
    """Return the line that is printed for a row."""
    peer = f"{row['ratio']:6.2f} times {row['best']}" if "ratio" in row else "no peer"
    return f"{one.name:30} {row['ours']['gcups']:7.2f} GCUPS   {peer}"


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    return table.options(__doc__, "repeats", "save", data=DATA, minutes=None).parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    try:
        loaded = parasail_library()
    except Unavailable as reason:
        loaded = None
        print(f"no parasail: {reason}", file=sys.stderr)
    modes = (ExtendMode.LOCAL, ExtendMode.GLOBAL, ExtendMode.SEMIGLOBAL)
    runner = table.Runner("extend-table", TIMED, a, Console(stderr=True))
    every = [Row(*one) for one in itertools.product(SETS, modes, (False, True))]
    runner.measure(every, lambda one: row_of(one, loaded, a.data, a.repeats), shown=line_of)
    if runner.path:
        print(runner.path)


if __name__ == "__main__":
    main()
