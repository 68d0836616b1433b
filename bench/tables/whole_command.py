"""The share of the engine's rate that the whole command keeps, from FASTA files to a file of alignments.

    python -m bench.tables.whole_command [--pairs 1000000 --length 150 --error 0.02 --threads 2 --repeats 7]
        [--formats paf sam] [--engine gpu] [--data DIR --real hifi_human_wfagpu 400]

Engine and command alternate in the same run, so that both have the same conditions. On a GPU the engine goes first and
is closed, since an open one would leave the command only half of the GPU memory.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from pathlib import Path

from bench.harness import saving, table
from bench.harness.command import run_command
from bench.harness.pairs import write_many
from wfacli.config import CPU_BATCH, AlignSpec, EngineName
from wfacli.core.batch import PairBatch
from wfacli.io.read.reader import PairFiles, layout_of, read_batches
from wfacli.measure.engine import Engine
from wfacli.measure.spread import Spread
from wfacli.run.sizes import shared_out

TIMED = {
    "engine": "from pairs in memory as the reader leaves them to statuses, scores and CIGARs in "
    "memory; threads and GPU are ready before",
    "command": "inside the process: from opening the inputs to the last byte written (the seconds of "
    "the summary line)",
    "opened": "the same, without the seconds in which a GPU is opened",
    "process": "the whole process, with the start and end of Python",
}


def batches_in(query: Path, target: Path, on_gpu: bool) -> list[PairBatch]:
    sources = PairFiles(str(query), str(target)).open()
    weight = shared_out([source.size for source in sources]) if on_gpu else CPU_BATCH
    return list(read_batches(sources, layout_of(sources), weight, threads=4))


def write_copies(files: tuple[Path, Path], folder: Path, name: str, copies: int) -> int:
    """Write real pairs several times, each time under other names; return the number of pairs."""
    for path, which in zip(files, ("query", "target"), strict=True):
        records = gzip.decompress((folder / f"{name}.{which}.fa.gz").read_bytes())
        with path.open("wb") as file:
            for copy in range(copies):
                file.write(records.replace(b">", b">%d_" % copy))
    return copies * records.count(b">")


def measured(a: argparse.Namespace, query: Path, target: Path, out: Path) -> tuple[dict, dict]:
    """Return seconds of all repeats by what was timed, and thread-seconds of the command's stages."""
    timings: dict[str, list[float]] = {}
    stages: dict[str, dict] = {}
    engine = batches = None
    if not a.no_engine:
        engine = Engine(AlignSpec(), a.threads, EngineName(a.engine))
        batches = engine.pinned_batches(batches_in(query, target, a.engine == "gpu"))
        engine.run(batches)
    if engine and a.engine == "gpu":
        timings["engine"] = [engine.run(batches).seconds for _ in range(a.repeats)]
        engine.close()
        engine = batches = None
    for _ in range(a.repeats):
        if engine:
            timings.setdefault("engine", []).append(engine.run(batches).seconds)
        for form in a.formats:
            arguments = ["align", str(query), str(target), "-o", str(out), "-t", str(a.threads), "--format", form]
            begun = time.perf_counter()
            report = run_command([*arguments, "--engine", a.engine], out.with_name("stats.json"))
            timings.setdefault(f"process {form}", []).append(time.perf_counter() - begun)
            stage = report["stage_seconds"]
            timings.setdefault(f"opened {form}", []).append(report["wall_seconds"] - stage["open"])
            seconds = timings.setdefault(f"command {form}", [])
            if not seconds or report["wall_seconds"] < min(seconds):
                stages[form] = stage | {key: report[key] for key in ("peak_memory_bytes", "output_bytes")}
            seconds.append(report["wall_seconds"])
    if engine:
        engine.close()
    return timings, stages


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, repeats=7, threads=2)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--length", type=int, default=150)
    parser.add_argument("--error", type=float, default=0.02)
    parser.add_argument("--data", type=Path, help="folder with NAME.query.fa.gz and NAME.target.fa.gz, for --real")
    parser.add_argument("--real", nargs=2, metavar=("NAME", "COPIES"), help="real pairs, repeated COPIES times")
    parser.add_argument("--formats", nargs="+", default=["paf"], choices=["paf", "sam", "tsv"])
    parser.add_argument("--engine", default="cpu", choices=["cpu", "gpu"])
    parser.add_argument("--no-engine", action="store_true", help="the command alone")
    parser.add_argument("--name", default="whole-command", help="of the result's file")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    workload = {"pairs": a.pairs, "length": a.length, "error": a.error}
    with tempfile.TemporaryDirectory() as folder:
        query, target, out = (Path(folder) / name for name in ("query.fa", "target.fa", "out"))
        if a.real:
            name, copies = a.real[0], int(a.real[1])
            workload = {"pairs": write_copies((query, target), a.data, name, copies), "real": name, "copies": copies}
        else:
            write_many(query, target, a.pairs, a.length, a.error, a.threads)
        timings, stages = measured(a, query, target, out)
    # TMPDIR chooses the folder; a busy disk affects the command's seconds.
    workload |= {"threads": a.threads, "metric": "affine 4,6,2", "engine": a.engine, "folder": tempfile.gettempdir()}
    best = {what: min(values) for what, values in timings.items()}
    share = {what: round(best["engine"] / value, 3) for what, value in best.items() if "engine" in best}
    result = {
        "workload": workload,
        "timings": {what: Spread(values).report() for what, values in timings.items()},
        "thread_seconds_by_stage": stages,
        "share_of_engine_rate": share,
    }
    path = saving.save(a.name + ("-gpu" if a.engine == "gpu" else ""), TIMED, result)
    for what, value in best.items():
        rate = workload["pairs"] / value
        print(f"{what:12} {value:7.3f} s  {rate:12,.0f} pairs/s  {share.get(what, 0):6.1%} of the engine")
    print(path)


if __name__ == "__main__":
    main()
