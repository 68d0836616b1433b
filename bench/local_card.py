"""The best local alignment of one long pair on a card, beside MASA-CUDAlign where that is given: a table and JSON.

    python bench/local_card.py --data DIR [--masa cudalign] [--rows TEXT ...] [--threads N] [--strips] [--plot FILE]

Pairs are NAME.query.fa.gz and NAME.target.fa.gz in DIR. MASA-CUDAlign has its scores compiled in: match 1, mismatch
-3, a gap of l letters 3 + 2 l; ours are the same. A score that is not ours ends the command with 1. --strips measures
builds with other strip heights and tiles too (figure 5 of the paper that `wfacli local` follows). --plot draws what
was measured, or with --result what was saved before.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import harness
import numpy as np
from rich.console import Console
from rich.table import Table

from wfacli.cores import usable_cores
from wfacli.gpu.catalogue import Row
from wfacli.gpu.cuda_driver import CudaDriver
from wfacli.gpu.local import Build
from wfacli.local.found import Found
from wfacli.local.gpu_local import GpuLocal
from wfacli.scoring.scheme import Scheme

TIMED = {
    "letters": "seconds of the card's memory and of both sequences' way there, from codes in memory",
    "score": "seconds of the best score and where its alignment begins; tiles that cannot matter are left out",
    "every tile": "the same, but none is left out",
    "path": "seconds from there to all operations, in linear space: the CPU's threads, from rows that the card kept",
    "tcups": "cells of the whole matrix a second of the score, in millions of millions, computed or left out",
    "computed": "share of the cells that were computed",
    "masa": "MASA-CUDAlign: its own time of stage 1 (score and end), which leaves blocks out, and of all stages",
}
PAIRS = ("long_mt_human_orang", "long_mpxv", "long_lpa_human", "long_ont_500k")
PAIRS += ("long_hpylori_puno120_sjm180", "long_ecoli_dh1_mg1655")
SCHEME = Scheme.of_scores(1, 3, 3, 2)
STRIPS = (*(Build(True, words, warps=4) for words in (4, 8, 12)), Build(True, chunk=64), Build(True, chunk=256))
STRIPS += tuple(Build(False, words) for words in (8, 12, 16))
NO_RUNS = np.zeros((0, 3), np.int64)
console = Console(width=max(Console().width, 130))


def letters_of(name: str, side: str, data: Path) -> bytes:
    """Of the first record."""
    record = gzip.decompress((data / f"{name}.{side}.fa.gz").read_bytes()).split(b">")[1]
    return b"".join(record.split(b"\n")[1:])


def ours(driver: CudaDriver, codes: list[np.ndarray], threads: int, **options: Any) -> dict[str, Any]:
    """One search, each part timed."""
    build = options.get("build")
    row = Row(build.name, "local.cu", "local_strips", build.macros, build.threads) if build else None
    begun = time.perf_counter()
    search = GpuLocal(driver, *codes, SCHEME, NO_RUNS, threads, row=row, **options)
    with closing(search):
        loaded = time.perf_counter()
        while not search.position[1]:
            search.advance(60)
        scored = time.perf_counter()
        while not search.advance(60):
            pass
        answer = search.alignment()
        ended = time.perf_counter()
        cells = search.position[3]
    if options.get("path", True) and answer[0]:
        Found(*answer).check(*codes, SCHEME)
    whole = len(codes[0]) * len(codes[1])
    seconds = {"letters": loaded - begun, "score": scored - loaded, "path": ended - scored}
    return seconds | {"answer": answer[0], "tcups": whole / seconds["score"] / 1e12, "computed": cells / whole}


def masa(program: Path, sides: list[bytes], folder: Path) -> dict[str, Any]:
    """MASA-CUDAlign's stage 1, and all of its stages."""
    files = [folder / "a.fa", folder / "b.fa"]
    for file, side in zip(files, sides, strict=True):
        file.write_bytes(b">x\n" + side + b"\n")
    found: dict[str, Any] = {}
    for what, options in (("score", ("--stage-1", "--no-flush")), ("alignment", ("--ram-size=8G",))):
        begun = time.perf_counter()
        command = [str(program), *options, "--clear", "-d", str(folder / what), *map(str, files)]
        subprocess.run(command, check=True, capture_output=True)
        text = "\n".join(file.read_text(errors="replace") for file in sorted((folder / what).glob("statistics*")))
        totals = [float(t) / 1000 for t in re.findall(r"Total:\s*([\d.]+)", text)]
        found[what] = {"command_seconds": time.perf_counter() - begun, "own_seconds": totals[-1] if totals else None}
        if score := re.search(r"Best Score:\s*(\d+)", text):
            found["answer"] = int(score[1])
    return found


def measured(name: str, a: argparse.Namespace, driver: CudaDriver) -> dict[str, Any]:
    """All that takes part, on one pair."""
    sides = [letters_of(name, side, a.data) for side in ("query", "target")]
    codes = [SCHEME.codes[np.frombuffer(side, np.uint8)] for side in sides]
    row: dict[str, Any] = {"name": name, "lengths": [len(side) for side in sides], "wrong": []}
    ways: dict[str, dict[str, Any]] = {
        "every tile": {"path": False, "prune": False},
        "score": {"path": False},
        "alignment": {},
    }
    for way, options in ways.items():
        runs = [ours(driver, codes, a.threads, **options) for _ in range(a.repeats)]
        row[way] = min(runs, key=lambda run: run["score"] + run["path"])
    row["wrong"] += [way for way in ways if row[way]["answer"] != row["score"]["answer"]]
    if a.masa:
        with tempfile.TemporaryDirectory() as folder:
            row["masa"] = masa(a.masa, sides, Path(folder))
        row["wrong"] += ["masa"] * (row["masa"].get("answer", row["score"]["answer"]) != row["score"]["answer"])
    return row


def strips(a: argparse.Namespace, driver: CudaDriver) -> list[dict[str, Any]]:
    """Builds on parts of the longest pair: every tile."""
    sides = [letters_of(PAIRS[-1], side, a.data)[:1_200_000] for side in ("query", "target")]
    codes = [SCHEME.codes[np.frombuffer(side, np.uint8)] for side in sides]
    found = []
    for build in STRIPS:
        runs = [ours(driver, codes, a.threads, build=build, path=False, prune=False) for _ in range(a.repeats)]
        best = min(runs, key=lambda run: run["score"])
        found.append({"build": str(build), "rows": build.rows, "score": best["score"], "tcups": best["tcups"]})
    return found


def table_of(rows: list[dict[str, Any]]) -> Table:
    """A pair a line."""
    table = Table(title="local alignment of one pair on a card")
    columns = (
        "pair",
        "score",
        "every tile s",
        "TCUPS",
        "score s",
        "TCUPS",
        "path s",
        "MASA stage 1 s",
        "MASA whole s",
    )
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        every, best, whole = row["every tile"], row["score"], row.get("alignment")
        peer = row.get("masa", {})
        cells = [f"{every['score']:.3f}", f"{every['tcups']:.2f}", f"{best['score']:.3f}", f"{best['tcups']:.2f}"]
        cells.append(f"{whole['path']:.3f}" if whole else "–")
        for what in ("score", "alignment"):
            cells.append(f"{peer[what]['own_seconds']:.2f}" if peer.get(what, {}).get("own_seconds") else "–")
        table.add_row(row["name"], f"{best['answer']:,}", *cells)
    return table


def plot(result: dict[str, Any], into: Path) -> None:
    """TCUPS by pair, and by strip height where that was measured."""
    import matplotlib.pyplot as plt

    rows, builds = result["rows"], result.get("strips", [])
    figure, axes = plt.subplots(1, 2 if builds else 1, figsize=(11 if builds else 6, 4), squeeze=False)
    names = [row["name"].removeprefix("long_").split("_")[0] for row in rows]
    for number, way in enumerate(("every tile", "score")):
        axes[0, 0].bar(np.arange(len(rows)) + 0.27 * number, [row[way]["tcups"] for row in rows], 0.25, label=way)
    peers = [(x, row) for x, row in enumerate(rows) if row.get("masa", {}).get("score", {}).get("own_seconds")]
    if peers:
        rates = [
            row["lengths"][0] * row["lengths"][1] / row["masa"]["score"]["own_seconds"] / 1e12 for _, row in peers
        ]
        axes[0, 0].bar([x + 0.54 for x, _ in peers], rates, 0.25, label="MASA-CUDAlign, stage 1")
    axes[0, 0].set_xticks(np.arange(len(rows)) + 0.27, names)
    axes[0, 0].set_ylabel("TCUPS of the whole matrix")
    axes[0, 0].legend()
    if builds:
        labels = [one["build"].removeprefix("Build").replace("warps=4", "").strip("(), ") for one in builds]
        axes[0, 1].barh(labels, [one["tcups"] for one in builds])
        axes[0, 1].set_xlabel("TCUPS, 1.2 Mb with 1.2 Mb, every tile")
    figure.tight_layout()
    figure.savefig(into, dpi=120)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real sets")
    parser.add_argument("--rows", nargs="+", metavar="TEXT", help="only pairs whose names contain one of these")
    parser.add_argument("--masa", type=Path, help="MASA-CUDAlign's program")
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--strips", action="store_true", help="other builds, too")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    parser.add_argument("--result", type=Path, help="only plot this one")
    a = parser.parse_args()
    if a.result:
        plot(json.loads(a.result.read_text()), a.plot)
        return
    driver = CudaDriver()
    try:
        chosen = [name for name in PAIRS if not a.rows or any(text in name for text in a.rows)]
        result: dict[str, Any] = {"card": driver.card.name, "rows": [measured(name, a, driver) for name in chosen]}
        if a.strips:
            result["strips"] = strips(a, driver)
    finally:
        driver.close()
    console.print(table_of(result["rows"]))
    path = harness.save("local-card" + ("-part" if a.rows else ""), TIMED, result)
    console.print(f"saved to {path}", markup=False)
    if a.plot:
        plot(result, a.plot)
    sys.exit(any(row["wrong"] for row in result["rows"]))


if __name__ == "__main__":
    main()
