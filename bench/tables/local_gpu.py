"""The best local alignment of one long pair on a GPU, optionally beside MASA-CUDAlign: a table, and JSON.

    python -m bench.tables.local_gpu --data DIR [--masa cudalign] [--rows TEXT ...] [--threads N] [--lengths]
        [--strips] [--plot FILE]

Pairs are NAME.query.fa.gz and NAME.target.fa.gz in DIR. The scores of MASA-CUDAlign are compiled in: match 1, mismatch
-3, a gap of l bases 3 + 2 l; ours are the same. The exit status is 1 if scores differ. --lengths also measures
prefixes of the longest pair, and --strips builds with other strip heights and tiles (figures 6 and 5 of the paper that
`wfacli local` follows). --plot draws what was measured, or with --result what was saved before.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.harness import saving, table
from wfacli.gpu.kernels.catalogue import Row
from wfacli.gpu.kernels.local import Build
from wfacli.gpu.runtime.driver import Driver
from wfacli.gpu.runtime.opening import open_driver
from wfacli.scoring.scheme import Scheme
from wfacli.solve.gpu.local import GpuLocal
from wfacli.solve.gpu.local_traceback import Traceback
from wfacli.solve.local.found import Found

TIMED = {
    "bases": "seconds to allocate GPU memory and to copy both sequences to it, from codes in memory",
    "score": "seconds of the best score and the start of its alignment; tiles that cannot contain it are skipped",
    "every tile": "the same without skipping tiles",
    "path": "further seconds until all operations are known, in linear space: CPU threads, from rows "
    "that the GPU stored",
    "parts": "of the path: seconds in which the GPU looks at rows and sends them (gpu), in which threads walk "
    "pieces (threads), and in which the host does neither (host); rounds, and pieces that were walked",
    "tcups": "cells of the whole matrix per second of the score, in 10^12, whether computed or skipped",
    "computed": "share of the cells that were computed",
    "masa": "MASA-CUDAlign: its own time of stage 1 (score and end), which skips blocks, and of all "
    "stages; the latter only if stage 1 is below the limit of a row. Left out: it was ended "
    "at the limit of --minutes",
    "lengths": "the same for prefixes of the longest pair",
    "strips": "the score of such parts without skipping tiles, by kernels with other strips (rows) "
    "and tiles (chunk: columns)",
}
PATIENCE = 8.0  # seconds
PAIRS = ("long_mt_human_orang", "long_mpxv", "long_lpa_human", "long_ont_500k")
PAIRS += ("long_hpylori_puno120_sjm180", "long_ecoli_dh1_mg1655")
SCHEME = Scheme.of_scores(1, 3, 3, 2)
STRIPS = (*(Build(True, words, warps=4) for words in (4, 8, 12)), Build(True, chunk=64), Build(True, chunk=256))
STRIPS += tuple(Build(False, words) for words in (8, 12, 16))
LENGTHS = (50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000)
STRIP_LENGTHS = (100_000, 400_000, 1_200_000)
MANY_CELLS = 1e13  # larger matrices are measured once
NO_RUNS = np.zeros((0, 3), np.int64)
console = Console(width=max(Console().width, 130))


def bases_of(name: str, side: str, data: Path) -> bytes:
    """Return the bases of the first record."""
    record = gzip.decompress((data / f"{name}.{side}.fa.gz").read_bytes()).split(b">")[1]
    return b"".join(record.split(b"\n")[1:])


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Measure where tracebacks spend their time inside the block."""
    spent = {"gpu": 0.0, "threads": 0.0, "rounds": 0, "pieces": 0}
    before = {name: getattr(Traceback, name) for name in ("_launch", "_trace_group", "step")}

    def timed(name: str, into: str, inner: str = "") -> None:
        def call(self: Traceback, *arguments: Any) -> Any:
            begun, within = time.perf_counter(), spent.get(inner, 0.0)
            try:
                return before[name](self, *arguments)
            finally:
                spent[into] += time.perf_counter() - begun - (spent.get(inner, 0.0) - within)

        setattr(Traceback, name, call)

    def step(self: Traceback) -> None:
        spent["rounds"] += 1
        known = len(self._traced)
        before["step"](self)
        spent["pieces"] += len(self._traced) - known

    timed("_launch", "gpu")
    timed("_trace_group", "threads", inner="gpu")
    Traceback.step = step  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        for name, method in before.items():
            setattr(Traceback, name, method)


def ours(driver: Driver, codes: list[np.ndarray], threads: int, **options: Any) -> dict[str, Any]:
    """Run one search and time each part."""
    build = options.get("build")
    row = Row(build.name, "local.cu", "local_strips", build.macros, build.threads) if build else None
    begun = time.perf_counter()
    search = GpuLocal(driver, *codes, SCHEME, NO_RUNS, threads, row=row, **options)
    with closing(search), watched() as parts:
        loaded = time.perf_counter()
        while not search.position[1]:
            search.advance(60)
        scored = time.perf_counter()
        while not search.advance(60):
            pass
        answer = search.alignment()
        ended = time.perf_counter()
        cells = search.position[3]
    whole = len(codes[0]) * len(codes[1])
    seconds: dict[str, Any] = {"bases": loaded - begun, "score": scored - loaded, "path": ended - scored}
    if options.get("path", True):
        Found(*answer).check(*codes, SCHEME)
        seconds["parts"] = parts | {"host": seconds["path"] - parts["gpu"] - parts["threads"]}
    return seconds | {"answer": answer[0], "tcups": whole / seconds["score"] / 1e12, "computed": cells / whole}


def beside_masa(row: dict[str, Any], a: argparse.Namespace, alignment: bool, end: float) -> None:
    """Add MASA-CUDAlign's times to a row; it is ended at `end`."""
    sides = [
        bases_of(row["name"], side, a.data)[:length]
        for side, length in zip(("query", "target"), row["lengths"], strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        row["masa"] = masa(a.masa, sides, Path(folder), alignment, end)
    row["wrong"] += ["masa"] * (row["masa"].get("answer", row["score"]["answer"]) != row["score"]["answer"])


def masa(program: Path, sides: list[bytes], folder: Path, alignment: bool, end: float) -> dict[str, Any]:
    """Return MASA-CUDAlign's times of stage 1, and of all stages if `alignment`; nothing runs after `end`."""
    files = [folder / "a.fa", folder / "b.fa"]
    for file, side in zip(files, sides, strict=True):
        file.write_bytes(b">x\n" + side + b"\n")
    found: dict[str, Any] = {}
    for what, options in (("score", ("--stage-1", "--no-flush")), ("alignment", ("--ram-size=8G",))):
        if what == "alignment" and (not alignment or (found["score"]["own_seconds"] or 0) > PATIENCE):
            break
        begun = time.perf_counter()
        command = [str(program), *options, "--clear", "-d", str(folder / what), *map(str, files)]
        patience = None if math.isinf(end) else max(0.0, end - time.monotonic())
        try:
            done = subprocess.run(command, check=False, capture_output=True, timeout=patience)
        except subprocess.TimeoutExpired:
            return found | {"left out": f"{what}: no time left"}
        if done.returncode != 0:
            return found | {
                "failed": done.stderr.decode(errors="replace").strip()[-160:] or f"exit status {done.returncode}"
            }
        text = "\n".join(file.read_text(errors="replace") for file in sorted((folder / what).glob("statistics*")))
        totals = [float(t) / 1000 for t in re.findall(r"Total:\s*([\d.]+)", text)]
        found[what] = {"command_seconds": time.perf_counter() - begun, "own_seconds": totals[-1] if totals else None}
        if score := re.search(r"Best Score:\s*(\d+)", text):
            found["answer"] = int(score[1])
    return found


def measured(name: str, a: argparse.Namespace, driver: Driver, length: int | None = None) -> dict[str, Any]:
    """Measure all tasks on one pair, or on prefixes of `length` bases."""
    sides = [bases_of(name, side, a.data)[:length] for side in ("query", "target")]
    codes = [SCHEME.codes[np.frombuffer(side, np.uint8)] for side in sides]
    row: dict[str, Any] = {"name": name, "lengths": [len(side) for side in sides], "wrong": []}
    ways: dict[str, dict[str, Any]] = {
        "every tile": {"path": False, "prune": False},
        "score": {"path": False},
        "alignment": {},
    }
    for way, options in ways.items():
        times = 1 if len(sides[0]) * len(sides[1]) > MANY_CELLS else a.repeats
        runs = [ours(driver, codes, a.threads, **options) for _ in range(times)]
        least = min(runs, key=lambda run: run["score"])
        row[way] = least | {
            key: min(runs, key=lambda run: run["path"])[key] for key in ("path", "parts") if key in least
        }
    row["wrong"] += [way for way in ways if row[way]["answer"] != row["score"]["answer"]]
    return row


def strips(a: argparse.Namespace, driver: Driver, end: float) -> list[dict[str, Any]]:
    """Measure builds on prefixes of the longest pair, all tiles computed, until `end`."""
    found: list[dict[str, Any]] = []
    for length in STRIP_LENGTHS:
        sides = [bases_of(PAIRS[-1], side, a.data)[:length] for side in ("query", "target")]
        codes = [SCHEME.codes[np.frombuffer(side, np.uint8)] for side in sides]
        for build in STRIPS:
            if time.monotonic() > end:
                console.print(f"strips of {length:,} bases, {build.name}: no time left", markup=False)
                continue
            runs = [ours(driver, codes, a.threads, build=build, path=False, prune=False) for _ in range(a.repeats)]
            best = min(runs, key=lambda run: run["score"])
            sizes = {"pairs": build.pairs, "rows": build.rows, "chunk": build.chunk, "length": length}
            found.append(sizes | {"score": best["score"], "tcups": best["tcups"]})
    return found


def table_of(rows: list[dict[str, Any]]) -> Table:
    """Return a table with a line for each pair."""
    table = Table(title="local alignment of one pair on a GPU")
    columns = (
        "pair",
        "score",
        "every tile s",
        "TCUPS",
        "score s",
        "TCUPS",
        "path s",
        "× score",
        "MASA stage 1 s",
        "MASA whole s",
    )
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        every, best, whole = row["every tile"], row["score"], row.get("alignment")
        peer = row.get("masa", {})
        cells = [f"{every['score']:.3f}", f"{every['tcups']:.2f}", f"{best['score']:.3f}", f"{best['tcups']:.2f}"]
        cells += [f"{whole['path']:.3f}", f"{1 + whole['path'] / whole['score']:.2f}"] if whole else ["–", "–"]
        for what in ("score", "alignment"):
            cells.append(f"{peer[what]['own_seconds']:.2f}" if peer.get(what, {}).get("own_seconds") else "–")
        table.add_row(row["name"], f"{best['answer']:,}", *cells)
    return table


def plot(result: dict[str, Any], into: Path) -> None:
    """Draw TCUPS by pair, and seconds by length and by strip height if they were measured."""
    import matplotlib.pyplot as plt

    panels = [(draw_pairs, result["rows"])]
    panels += [(draw_lengths, result["lengths"])] if result.get("lengths") else []
    panels += [(draw_strips, result["strips"])] if result.get("strips") else []
    figure, axes = plt.subplots(1, len(panels), figsize=(6 * len(panels), 4.2), squeeze=False)
    for axis, (draw, rows) in zip(axes[0], panels, strict=True):
        draw(axis, rows)
        axis.legend(fontsize="small")
    figure.suptitle(f"wfacli local, {result['gpu']}")
    figure.tight_layout()
    figure.savefig(into, dpi=120)


def stage_1(row: dict[str, Any]) -> float | None:
    """Return the seconds of MASA-CUDAlign's stage 1; None if it was not measured."""
    seconds: float | None = row.get("masa", {}).get("score", {}).get("own_seconds")
    return seconds


def draw_pairs(axis: Any, rows: list[dict[str, Any]]) -> None:
    """Draw a group of bars for each pair."""
    names = [row["name"].removeprefix("long_").split("_")[0] for row in rows]
    for number, way in enumerate(("every tile", "score")):
        axis.bar(np.arange(len(rows)) + 0.27 * number, [row[way]["tcups"] for row in rows], 0.25, label=way)
    peers = [(x, row, seconds) for x, row in enumerate(rows) if (seconds := stage_1(row))]
    if peers:
        rates = [row["lengths"][0] * row["lengths"][1] / seconds / 1e12 for _, row, seconds in peers]
        axis.bar([x + 0.54 for x, _, _ in peers], rates, 0.25, label="MASA-CUDAlign, stage 1")
    axis.set_xticks(np.arange(len(rows)) + 0.27, names)
    axis.set_ylabel("TCUPS of the whole matrix")


def draw_lengths(axis: Any, rows: list[dict[str, Any]]) -> None:
    """Draw a line for each program."""
    lengths = [row["lengths"][0] for row in rows]
    for way in ("every tile", "score"):
        axis.loglog(lengths, [row[way]["score"] for row in rows], "o-", label=way)
    axis.loglog(
        lengths, [row["alignment"]["score"] + row["alignment"]["path"] for row in rows], "o-", label="alignment"
    )
    peers = [(length, seconds) for length, row in zip(lengths, rows, strict=True) if (seconds := stage_1(row))]
    if peers:
        axis.loglog(*zip(*peers, strict=True), "s--", label="MASA-CUDAlign, stage 1")
    axis.set_xlabel("bases of both, of the longest pair")
    axis.set_ylabel("seconds")


def draw_strips(axis: Any, rows: list[dict[str, Any]]) -> None:
    """Draw a line for each length and kind of build with tiles of 128 columns; other tiles are points."""
    for length in dict.fromkeys(row["length"] for row in rows):
        for pairs, style in ((True, "o-"), (False, "s--")):
            of = [row for row in rows if (row["length"], row["pairs"]) == (length, pairs)]
            line = sorted((row["rows"], row["score"]) for row in of if row["chunk"] == 128)
            label = f"{length:,} bases, {'pairs' if pairs else 'any symbols'}"
            (drawn,) = axis.semilogy(*zip(*line, strict=True), style, label=label)
            for row in of:
                if row["chunk"] != 128:
                    axis.semilogy(row["rows"], row["score"], "x", color=drawn.get_color())
                    axis.annotate(f"tiles {row['chunk']}", (row["rows"], row["score"]), fontsize="x-small")
    axis.set_xlabel("rows of a strip")
    axis.set_ylabel("seconds, every tile")


def measure_ours(driver: Driver, a: argparse.Namespace, end: float) -> dict[str, Any]:
    """Measure our engine until `end`."""
    rows: list[dict[str, Any]] = []
    result: dict[str, Any] = {"gpu": driver.gpu.name, "rows": rows}
    parts = [(rows, name, None) for name in table.chosen(PAIRS, a)]
    if a.lengths:
        parts += [(result.setdefault("lengths", []), PAIRS[-1], length) for length in LENGTHS]
    for into, name, length in parts:
        if time.monotonic() > end:
            console.print(f"{name}: no time left", markup=False)
            continue
        into.append(measured(name, a, driver, length))
        saved(result, a)
    if a.strips and time.monotonic() < end:
        result["strips"] = strips(a, driver, end)
    return result


def saved(result: dict[str, Any], a: argparse.Namespace) -> Path:
    """Write the result so far."""
    return saving.save_so_far("local-gpu", TIMED, result, len(result["rows"]) == len(PAIRS))


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "data", "rows", "threads", repeats=2, minutes=None)
    parser.add_argument("--masa", type=Path, help="MASA-CUDAlign's program")
    parser.add_argument("--lengths", action="store_true", help="parts of the longest pair, too")
    parser.add_argument("--strips", action="store_true", help="other builds, too")
    parser.add_argument("--score-only", action="store_true", help="of MASA-CUDAlign the score alone")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    parser.add_argument("--result", type=Path, help="only plot this one")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    if a.result:
        plot(json.loads(a.result.read_text()), a.plot)
        return
    end = table.deadline(a)
    driver = open_driver()
    try:
        result = measure_ours(driver, a, end)
    finally:
        driver.close()
    rows, lengths = result["rows"], result.get("lengths", [])
    path = saved(result, a)
    for row in (*rows, *lengths) if a.masa else ():
        if time.monotonic() > end:
            console.print(f"{row['name']}: no time left for MASA-CUDAlign", markup=False)
            continue
        beside_masa(row, a, row in rows and not a.score_only, end)
        if late := row["masa"].get("left out"):
            console.print(f"{row['name']}: MASA-CUDAlign, {late}", markup=False)
        path = saved(result, a)  # since the next peer may take long
    console.print(table_of(rows))
    console.print(f"saved to {path}", markup=False)
    if a.plot:
        plot(result, a.plot)
    sys.exit(any(row["wrong"] for row in (*rows, *lengths)))


if __name__ == "__main__":
    main()
