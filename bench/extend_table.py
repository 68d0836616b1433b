"""Scored alignment on the CPU, one thread, beside parasail's best function on the same pairs.

    python bench/extend_table.py [--data DIR] [--repeats N] [--minutes M] [--save]

Needs g++ and pip, which brings parasail's wheel. Every score of a function that counts equals ours.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import itertools
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import harness
from peers.build import CACHE, RECIPES, Unavailable, _unpacked

from wfacli._native import CancelFlag, Extender
from wfacli.config import Limits
from wfacli.core.batch import PairBatch, Status, all_rows
from wfacli.engines.extend_cpu import native_options
from wfacli.io.read.memory import pairs_of
from wfacli.scoring.scheme import Scheme
from wfacli.scoring.spec import ExtendMode, ExtendSpec

DATA = Path(os.environ.get("WFACLI_TEST_DATA") or Path(__file__).parents[2] / "shared" / "data")
HERE = Path(__file__).parent
DNA, PROTEIN = Scheme.parse("2,4,4,2"), Scheme.of_matrix("BLOSUM62")
FUNCTIONS = {
    ExtendMode.LOCAL: ("sw_striped_sat", "sw_scan_sat", "sw_striped_16", "sw_scan_16"),
    ExtendMode.GLOBAL: ("nw_striped_sat", "nw_scan_sat", "nw_striped_16", "nw_scan_16", "nw_scan_32"),
    ExtendMode.SEMIGLOBAL: ("sg_dx_striped_sat", "sg_dx_scan_sat", "sg_dx_striped_16", "sg_dx_scan_16"),
}
TIMED = {
    "ours": "Extender.align of all pairs: encoding, scores or alignments, in columns",
    "parasail": "each function in a loop, with its CIGAR where there are paths; letters are encoded by it",
}


@dataclass(frozen=True)
class Set:
    """Pairs of a file: how many, and how many letters of each sequence at most."""

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


def pairs_of_set(chosen: Set, data: Path) -> list[tuple[bytes, bytes]]:
    sides = []
    for side in ("query", "target"):
        with gzip.open(data / f"{chosen.file}.{side}.fa.gz", "rb") as lines:
            sides.append([line.strip().upper() for line in lines if not line.startswith(b">")])
    pairs = [(q, t) for q, t in zip(*sides, strict=True) if min(len(q), len(t)) >= chosen.window]
    cut = chosen.window or None
    return [(q[:cut], t[:cut]) for q, t in pairs[: chosen.count]]


def parasail_library() -> ctypes.CDLL:
    """Our driver, linked with the library in parasail's wheel. Raises Unavailable."""
    recipe = RECIPES["parasail"]
    folder = CACHE / f"parasail-extend-{recipe.version}"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "parasail_extend.so"
    try:
        sources = _unpacked(recipe, folder)
        library = folder / "libparasail.so.8"
        library.write_bytes((sources / "parasail" / "libparasail.so").read_bytes())
        flags = ["-std=c++20", "-O3", "-shared", "-fPIC", "-w", f"-I{sources / 'parasail' / 'include'}"]
        command = ["g++", *flags, str(HERE / "peers" / "parasail_extend.cpp"), str(library)]
        subprocess.run([*command, "-Wl,-rpath,$ORIGIN", "-o", str(made)], check=True, capture_output=True)
    except (subprocess.CalledProcessError, OSError) as error:
        raise Unavailable(str(getattr(error, "stderr", b"") or error)) from None
    loaded = ctypes.CDLL(str(made))
    loaded.parasail_run.restype = ctypes.c_double
    return loaded


def ours(batch: PairBatch, spec: ExtendSpec, repeats: int) -> tuple[list[float], np.ndarray]:
    extender, options = Extender(), native_options(spec, Limits())
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        (status, _, score, *_), _ = extender.align(batch, all_rows(len(batch)), options, CancelFlag())
        seconds.append(time.perf_counter() - begun)
        assert (status == np.uint8(Status.OK)).all()
    return seconds, score


def theirs(
    loaded: ctypes.CDLL, function: str, batch: PairBatch, scheme: Scheme, repeats: int
) -> tuple[float, np.ndarray]:
    """Least seconds, or -1, and scores."""
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


def row_of(
    loaded: ctypes.CDLL | None, chosen: Set, data: Path, mode: ExtendMode, path: bool, repeats: int
) -> dict[str, object]:
    pairs = pairs_of_set(chosen, data)
    batch = pairs_of(*zip(*pairs, strict=True))
    cells = float((batch.q_len.astype(np.int64) * batch.t_len).sum())
    seconds, scores = ours(batch, ExtendSpec(chosen.scheme, mode, score_only=not path), repeats)
    row: dict[str, object] = {
        "set": chosen.name, "pairs": len(pairs), "cells": cells, "scores": chosen.scheme.name, "mode": mode.value,
        "cigars": path, "ours": {**harness.summed_up(seconds), "gcups": round(cells / min(seconds) / 1e9, 3)},
    }  # fmt: skip
    peers = {}
    for function in FUNCTIONS[mode] if loaded else ():
        name = function.replace("_s", "_trace_s", 1) if path else function
        name = name.replace("sg_dx_trace", "sg_dx_trace")
        taken, found = theirs(loaded, name, batch, chosen.scheme, repeats)
        if taken >= 0:
            equal = int((found == scores).sum())
            peers[name] = {"seconds": round(taken, 4), "gcups": round(cells / taken / 1e9, 3), "equal_scores": equal}
    row["parasail"] = peers
    exact = {name: peer["gcups"] for name, peer in peers.items() if peer["equal_scores"] == len(pairs)}
    if exact:
        best = max(exact, key=lambda name: exact[name])
        row["best"], row["ratio"] = best, round(cells / min(seconds) / 1e9 / exact[best], 2)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--save", action="store_true", help="write bench/results/…-extend-table.json, row by row")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of real sets")
    harness.pace(parser)
    chosen = parser.parse_args()
    try:
        loaded = parasail_library()
    except Unavailable as reason:
        loaded = None
        print(f"no parasail: {reason}", file=sys.stderr)
    rows: list[dict[str, object]] = []
    end, file = harness.deadline(chosen), None
    modes = (ExtendMode.LOCAL, ExtendMode.GLOBAL, ExtendMode.SEMIGLOBAL)
    work = list(itertools.product(SETS, modes, (False, True)))
    for one, mode, path in work:
        if time.monotonic() > end:
            print(f"no time left for {len(work) - len(rows)} rows", file=sys.stderr)
            break
        row = row_of(loaded, one, chosen.data, mode, path, chosen.repeats)
        rows.append(row)
        told = f"{row['ours']['gcups']:7.2f} GCUPS"  # type: ignore[index]
        peer = f"{row['ratio']:6.2f} times {row['best']}" if "ratio" in row else "no peer"
        print(f"{one.name:12} {mode:10} {'path' if path else 'score':6} {told}   {peer}", flush=True)
        if chosen.save:
            file = harness.save_so_far("extend-table", TIMED, {"rows": rows}, len(rows) == len(work))
    if file:
        print(file)


if __name__ == "__main__":
    main()
