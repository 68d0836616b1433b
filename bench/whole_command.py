"""How much of the engine's own rate the whole command keeps, from FASTA files to a file of alignments.

    python bench/whole_command.py [--pairs 1000000 --length 150 --error 0.02 --threads 2 --repeats 7]
        [--formats paf sam] [--engine gpu]

Engine and command take turns in the same run, so that both see the same machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import harness
from pairs import write_many

from wfacli.config import CPU_BATCH, AlignSpec, Limits
from wfacli.dispatch import route
from wfacli.engines.cpu import CpuEngine
from wfacli.estimate import with_estimates
from wfacli.io.reader import PairFiles, layout_of, read_batches

TIMED = {
    "engine": "pairs in memory as read, to statuses, scores and CIGARs in memory; threads started before",
    "command": "inside the process: from opening the inputs to the last byte written (the summary's seconds)",
    "process": "the same from outside, with the start and the end of Python",
}


def engine_seconds(batches: list, threads: int) -> float:
    spec, limits = AlignSpec(), Limits()
    engine = CpuEngine(spec, limits, threads)
    begun = time.perf_counter()
    # Who collects a route that is one slice aligns it: as many collect as there are threads.
    with ThreadPoolExecutor(threads) as pool:
        routes = [(pairs, r) for pairs in batches for r in route(pairs, spec, limits)]
        list(pool.map(lambda work: engine.collect(engine.submit(*work)), routes))
    seconds = time.perf_counter() - begun
    engine.close()
    return seconds


def batches_in(query: Path, target: Path) -> list:
    sources = PairFiles(str(query), str(target)).open()
    return [with_estimates(b, AlignSpec()) for b in read_batches(sources, layout_of(sources), CPU_BATCH)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--length", type=int, default=150)
    parser.add_argument("--error", type=float, default=0.02)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--formats", nargs="+", default=["paf"], choices=["paf", "sam", "tsv"])
    parser.add_argument("--engine", default="cpu", choices=["cpu", "gpu"], help="gpu: the command alone")
    a = parser.parse_args()
    timings: dict[str, list[float]] = {}
    stages: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        query, target, out = (Path(folder) / name for name in ("query.fa", "target.fa", "out"))
        write_many(query, target, a.pairs, a.length, a.error, a.threads)
        batches = batches_in(query, target) if a.engine == "cpu" else []
        for _ in range(a.repeats):
            if batches:
                timings.setdefault("engine", []).append(engine_seconds(batches, a.threads))
            for format in a.formats:
                arguments = ["align", str(query), str(target), "-o", str(out), "-t", str(a.threads)]
                begun = time.perf_counter()
                report = harness.run_command(
                    [*arguments, "--format", format, "--engine", a.engine], Path(folder) / "stats.json"
                )
                timings.setdefault(f"process {format}", []).append(time.perf_counter() - begun)
                seconds = timings.setdefault(f"command {format}", [])
                if not seconds or report["wall_seconds"] < min(seconds):
                    stages[format] = report["stage_seconds"] | {"peak_memory_bytes": report["peak_memory_bytes"]}
                seconds.append(report["wall_seconds"])
    best = {what: min(values) for what, values in timings.items()}
    share = {what: round(best["engine"] / value, 3) for what, value in best.items() if "engine" in best}
    workload = {"pairs": a.pairs, "length": a.length, "error": a.error, "threads": a.threads, "metric": "affine 4,6,2"}
    workload["engine"] = a.engine
    workload["folder"] = tempfile.gettempdir()  # TMPDIR chooses it; a busy disk shows in the command's seconds
    result = {
        "workload": workload,
        "timings": {what: harness.summed_up(values) for what, values in timings.items()},
        "thread_seconds_by_stage": stages,
        "share_of_engine_rate": share,
    }
    path = harness.save("whole-command" + ("-gpu" if a.engine == "gpu" else ""), TIMED, result)
    for what, value in best.items():
        print(f"{what:12} {value:7.3f} s  {a.pairs / value:12,.0f} pairs/s  {share.get(what, 0):6.1%} of the engine")
    print(path)


if __name__ == "__main__":
    main()
