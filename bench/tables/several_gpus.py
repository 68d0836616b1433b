"""One GPU beside several: the engine on pairs in memory, and the whole command from files, on the same pairs.

    python -m bench.tables.several_gpus [--data DIR --gpus 1 2 --rows TEXT ... --minutes 3]

Real sets are NAME.query.fa.gz and NAME.target.fa.gz in DIR, or in the folder WFACLI_TEST_DATA. The numbers of GPUs
alternate within a row; files are in memory (/dev/shm, or TMPDIR). Rows without errors cost the engine almost nothing:
their rate is that of the files, and gives the number of GPUs from which on files are the limit.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.harness import saving, table
from bench.harness.command import COMMAND, run_command
from wfacli._native import keep_memory_flat
from wfacli.config import AlignSpec, EngineName
from wfacli.core.batch import PairBatch
from wfacli.core.cores import usable_cores
from wfacli.engines.choice import count_devices
from wfacli.io.read.reader import PairFiles, layout_of, read_batches
from wfacli.measure.engine import TIMED as ENGINE
from wfacli.measure.engine import Engine
from wfacli.measure.spread import Spread
from wfacli.run.sizes import shared_out

TIMED = {
    "engine": ENGINE + "; bases page-locked once",
    "command": "wfacli align, two FASTA files to one in memory, from opening the inputs to the last byte written",
    "open": "part of it until the GPUs are open: contexts, without kernels",
    "speed-up": "best seconds of one GPU, divided by those of several; share: speed-up divided by the number of GPUs",
    "files": "bases per second of the command once its GPUs are open, for pairs of the same length without errors",
    "gpus_until_files": "rate of files, divided by bases per second of the engine with one GPU",
    "python_wait": "mean delay of a thread that wakes up, until it gets the interpreter",
}
NOT_HAD = "gpus_until_files is computed from the rate of one GPU, since the machine has no more"
_PROBE = 1e-3  # seconds


@dataclass(frozen=True)
class Row:
    """Pairs, what is measured of them, and the row of like files that costs the engine almost nothing."""

    name: str
    simulate: tuple[str, ...] = ()
    real: str = ""
    times: int = 1
    engine: bool = True
    formats: tuple[str, ...] = ("paf",)
    files: str = ""


_LONG = ("--length", "10k", "--error")
ROWS = (
    Row("100 k × 10 kb 10%", ("-n", "100k", *_LONG, "0.1"), files="100 k × 10 kb 0%"),
    Row("pacbio_clr_ecoli × 200", real="pacbio_clr_ecoli", times=200, files="100 k × 10 kb 0%"),
    Row("100 k × 10 kb 0%", ("-n", "100k", *_LONG, "0"), engine=False),
    Row("ont_ecoli_ul × 100", real="ont_ecoli_ul", times=100, files="100 k × 10 kb 0%"),
    Row(
        "10 M × 150 bp 2%",
        ("-n", "10M", "--length", "150", "--error", "0.02"),
        engine=False,
        formats=("paf", "sam"),
        files="10 M × 150 bp 2%",
    ),
)


def files_of(row: Row, data: Path | None, folder: Path, share: float) -> tuple[Path, Path]:
    """Return files of a row's queries and targets. Raises FileNotFoundError if the real set is missing."""
    query, target = (folder / f"{side}.fa" for side in ("query", "target"))
    if row.real:
        for side, path in (("query", query), ("target", target)):
            text = gzip.decompress(((data or folder) / f"{row.real}.{side}.fa.gz").read_bytes())
            path.write_bytes(text * max(int(row.times * share), 1))
        return query, target
    made = ["simulate", *row.simulate, "-o", str(folder / "made.fa"), "--quiet"]
    if share < 1:
        scale = {"k": 1000, "M": 1_000_000}[row.simulate[1][-1]]
        made[2] = str(max(int(int(row.simulate[1][:-1]) * scale * share), 1))
    subprocess.run([*COMMAND, *made], check=True)
    (folder / "made.query.fa").rename(query)
    (folder / "made.target.fa").rename(target)
    return query, target


def batches_of(files: Sequence[Path], gpus: int) -> list[PairBatch]:
    """Return the pairs of two files in batches as the command makes them for `gpus` GPUs."""
    sources = PairFiles(*map(str, files)).open()
    try:
        bases = shared_out([source.size for source in sources], gpus)
        return list(read_batches(sources, layout_of(sources), bases, threads=usable_cores()))
    finally:
        for source in sources:
            source.close()


@contextmanager
def waiting_for_python() -> Iterator[list[float]]:
    """Collect, inside the block, the times that a thread which sleeps and wakes waits for the interpreter."""
    over, waits = threading.Event(), [0.0]

    def probe() -> None:
        while not over.is_set():
            begun = time.perf_counter()
            time.sleep(_PROBE)
            waits.append(time.perf_counter() - begun - _PROBE)

    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    try:
        yield waits
    finally:
        over.set()
        thread.join()


def engine_of(files: Sequence[Path], counts: Sequence[int], a: argparse.Namespace) -> dict[int, dict[str, Any]]:
    """Return the engine's seconds by number of GPUs."""
    found = {}
    for count in counts:
        batches = batches_of(files, count)
        engine = Engine(AlignSpec(), a.threads, EngineName.GPU, a.gpu_memory, devices=tuple(range(count)))
        try:
            batches = engine.pinned_batches(batches)
            engine.run(batches, check=True)
            before = dict(engine.counts()["seconds"])
            with waiting_for_python() as waits:
                seconds = [engine.run(batches).seconds for _ in range(a.repeats)]
            stages = {what: (s - before.get(what, 0.0)) / a.repeats for what, s in engine.counts()["seconds"].items()}
            each_gpu = engine.describe().get("gpus", [])
        finally:
            del batches
            engine.close()
        found[count] = {
            **Spread(seconds).report(),
            "thread_seconds_a_run": {what: round(s, 5) for what, s in sorted(stages.items()) if s},
            "python_wait_seconds": round(sum(waits) / len(waits), 6),
            "routes_of_each_gpu": [gpu["routes"] for gpu in each_gpu],
        }
    return found


def command_of(
    files: Sequence[Path], counts: Sequence[int], format: str, folder: Path, a: argparse.Namespace
) -> dict[int, dict[str, Any]]:
    """Return the command's seconds by number of GPUs, which alternate."""
    reports: dict[int, list[dict[str, Any]]] = {count: [] for count in counts}
    for _ in range(a.command_repeats):
        for count in counts:
            devices = ",".join(map(str, range(count)))
            arguments = ["align", *map(str, files), "-o", str(folder / "out"), "--format", format]
            more = ["--engine", "gpu", "--devices", devices, "-t", str(a.threads)]
            if a.gpu_memory:
                more += ["--gpu-memory", str(a.gpu_memory)]
            reports[count].append(run_command([*arguments, *more], folder / "stats.json"))
    found = {}
    for count, some in reports.items():
        best = min(some, key=lambda report: report["wall_seconds"])
        kept = ("stage_seconds", "peak_memory_bytes", "output_bytes", "pairs_by_kernel", "batches")
        found[count] = {**Spread([r["wall_seconds"] for r in some]).report(), **{what: best[what] for what in kept}}
    return found


def compared(found: dict[int, dict[str, Any]], bases: int) -> dict[str, Any]:
    """Return rates, and the share of a linear speed-up that several GPUs reach."""
    best = {count: one["best_seconds"] for count, one in found.items()}
    one = best.get(1)
    by_gpus = {
        str(count): {
            "bases_per_second": round(bases / seconds),
            **(
                {"speed_up": round(one / seconds, 3), "share_of_linear": round(one / seconds / count, 3)}
                if one
                else {}
            ),
        }
        for count, seconds in best.items()
    }
    return {"by_gpus": by_gpus, "runs": {str(count): run for count, run in found.items()}}


def measured(row: Row, folder: Path, counts: Sequence[int], a: argparse.Namespace) -> dict[str, Any]:
    """Measure one row."""
    files = files_of(row, a.data, folder, a.share)
    bases = sum(batch.total_bases for batch in batches_of(files, 1))
    result: dict[str, Any] = {"bases": bases, "bytes": sum(path.stat().st_size for path in files)}
    if row.engine:
        result["engine"] = compared(engine_of(files, counts, a), bases)
    for format in row.formats:
        result[f"command {format}"] = compared(command_of(files, counts, format, folder, a), bases)
    for what, part in result.items():
        if isinstance(part, dict):
            for count, one in part["by_gpus"].items():
                seconds, rate = part["runs"][count]["best_seconds"], one["bases_per_second"] / 1e9
                linear = f"{one.get('share_of_linear', 1):.0%} of linear"
                print(
                    f"{row.name:24} {what:12} {count} × GPU {seconds:8.3f} s {rate:7.3f} Gbases/s  {linear}",
                    flush=True,
                )
    return result


def until_files(rows: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Return, for each row with an engine, how many GPUs are together as fast as files like these allow."""
    found = {}
    for row in ROWS:
        own, files = rows.get(row.name, {}), rows.get(row.files, {})
        one = own.get("engine", {}).get("by_gpus", {}).get("1")
        if one and "command paf" in files:
            runs = files["command paf"]["runs"].values()
            working = min(run["best_seconds"] - run["stage_seconds"].get("open", 0.0) for run in runs)
            found[row.name] = round(files["bases"] / working / one["bases_per_second"], 2)
    return found


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "rows", "data", "share", "threads", repeats=5, minutes=10.0)
    parser.add_argument(
        "--gpus", type=int, nargs="+", help="numbers of GPUs; default: those of 1, 2, 4, 8 that there are"
    )
    parser.add_argument("--gpu-memory", type=float, help="as wfacli align has it")
    parser.add_argument("--command-repeats", type=int, default=3, help="of the command; --repeats are of the engine")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    keep_memory_flat()
    end, there = table.deadline(a), count_devices()
    counts = a.gpus or [count for count in (1, 2, 4, 8) if count <= there]
    result: dict[str, Any] = {"gpus": counts, "gpus_there": there, "threads": a.threads, "rows": {}}
    result["notes"] = [NOT_HAD] if there < 8 else []
    parent = "/dev/shm" if Path("/dev/shm").is_dir() else None
    for row in table.chosen(ROWS, a):
        if time.monotonic() > end:
            break
        with tempfile.TemporaryDirectory(prefix="wfacli-gpus-", dir=parent) as folder:
            try:
                result["rows"][row.name] = measured(row, Path(folder), counts, a)
            except FileNotFoundError as problem:
                print(f"{row.name} is left out: {problem}")
        result["gpus_until_files"] = until_files(result["rows"])
        path = saving.save("gpus", TIMED, result)  # before the next row, which may fail
    print("GPUs until files are the limit:", result.get("gpus_until_files"))
    print(path)


if __name__ == "__main__":
    main()
