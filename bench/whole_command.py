"""How much of the engine's own rate the whole command keeps, from FASTA files to a PAF file.

    python bench/whole_command.py [--pairs 1000000 --length 150 --error 0.02 --threads 2 --repeats 7]

Engine and command take turns in the same run, so that both see the same machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import harness
from pairs import write_pairs

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--length", type=int, default=150)
    parser.add_argument("--error", type=float, default=0.02)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    a = parser.parse_args()
    seconds: dict[str, list[float]] = {"engine": [], "command": [], "process": []}
    with tempfile.TemporaryDirectory() as folder:
        query, target, out = (Path(folder) / name for name in ("query.fa", "target.fa", "out.paf"))
        write_pairs(query, target, a.pairs, a.length, a.error, seed=1)
        sources = PairFiles(str(query), str(target)).open()
        batches = [with_estimates(b, AlignSpec()) for b in read_batches(sources, layout_of(sources), CPU_BATCH)]
        arguments = ["align", str(query), str(target), "-o", str(out), "-t", str(a.threads)]
        for _ in range(a.repeats):
            seconds["engine"].append(engine_seconds(batches, a.threads))
            begun = time.perf_counter()
            report = harness.run_command(arguments, Path(folder) / "stats.json")
            seconds["process"].append(time.perf_counter() - begun)
            seconds["command"].append(report["wall_seconds"])
    best = {what: min(values) for what, values in seconds.items()}
    ratio = {what: round(best["engine"] / best[what], 3) for what in ("command", "process")}
    workload = {"pairs": a.pairs, "length": a.length, "error": a.error, "threads": a.threads, "metric": "affine 4,6,2"}
    workload["folder"] = tempfile.gettempdir()  # TMPDIR chooses it; a busy disk shows in the command's seconds
    result = {
        "workload": workload,
        "timings": {what: harness.summed_up(values) for what, values in seconds.items()},
        "share_of_engine_rate": ratio,
    }
    path = harness.save("whole-command", TIMED, result)
    for what, value in best.items():
        print(
            f"{what:8} {value:7.3f} s  {a.pairs / value:12,.0f} pairs/s  {best['engine'] / value:6.1%} of the engine"
        )
    print(path)


if __name__ == "__main__":
    main()
