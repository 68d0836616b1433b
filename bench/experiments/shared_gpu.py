"""What two shards side by side on one GPU lose against one run over all pairs.

    python -m bench.experiments.shared_gpu [--pairs 40000 640000] [--repeats 3] [--threads N]

Requires a GPU. Pairs have 10 kb and about 5% errors, as parts of a random sequence and of a copy with errors. The one
run and both shards, each with all threads, alternate; TMPDIR chooses the folder of all files.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.harness import saving, table
from bench.harness.command import COMMAND
from wfacli.measure.spread import Spread

_LENGTH, _SOURCE = 10_000, 2_000_000
_SUBSTITUTED, _INSERTED, _DELETED = 0.017, 0.016, 0.017
_BASES = np.frombuffer(b"ACGT", np.uint8)


def write(queries: Path, targets: Path, pairs: int) -> None:
    """Write pairs as FASTA; the same number of pairs gives the same bytes."""
    rng = np.random.default_rng(1)
    source = _BASES[rng.integers(0, 4, _SOURCE)]
    kinds = rng.choice(4, _SOURCE, p=[1 - _SUBSTITUTED - _INSERTED - _DELETED, _SUBSTITUTED, _INSERTED, _DELETED])
    other = np.where(kinds == 1, _BASES[rng.integers(0, 4, _SOURCE)], source)
    copies = np.array([1, 1, 2, 0])[kinds]
    mutated, start = np.repeat(other, copies).tobytes(), np.concatenate([[0], np.cumsum(copies)])
    whole = source.tobytes()
    with queries.open("wb", 1 << 24) as query, targets.open("wb", 1 << 24) as target:
        for i, at in enumerate(rng.integers(0, _SOURCE - _LENGTH, pairs)):
            query.write(b">%d\n%s\n" % (i, mutated[start[at] : start[at + _LENGTH]]))
            target.write(b">%d\n%s\n" % (i, whole[at : at + _LENGTH]))


def seconds_of(commands: list[list[str]], folder: Path) -> float:
    """Run commands side by side; return the seconds until all have ended. Raises CalledProcessError."""
    begun = time.perf_counter()
    processes = [subprocess.Popen(command, cwd=folder) for command in commands]
    codes = [process.wait() for process in processes]
    seconds = time.perf_counter() - begun
    for command, code in zip(commands, codes, strict=True):
        if code:
            raise subprocess.CalledProcessError(code, command)
    return seconds


def measured(pairs: int, threads: int, repeats: int, folder: Path) -> table.Report:
    """Measure a number of pairs."""
    write(folder / "query.fa", folder / "target.fa", pairs)
    pair, on_gpu = ["query.fa", "target.fa", "--metric", "affine", "-q"], ["--engine", "gpu", "-t", str(threads)]
    whole = [*COMMAND, "align", *pair, *on_gpu, "-o", "whole.paf"]
    plan = [*COMMAND, "plan", *pair, "--to", "shards.paf", "--shards", "2", "-o", "run.plan"]
    shards = [[*COMMAND, "align", "--plan", "run.plan", "--shard", f"{shard}/2", "-q", *on_gpu] for shard in (1, 2)]
    seconds_of([plan], folder)
    times: dict[str, list[float]] = {"whole": [], "side_by_side": []}
    for _ in range(repeats):
        times["whole"].append(seconds_of([whole], folder))
        times["side_by_side"].append(seconds_of(shards, folder))
    seconds_of([[*COMMAND, "merge", "run.plan", "-q"]], folder)
    if subprocess.run(["cmp", "whole.paf", "shards.paf"], cwd=folder, check=False).returncode:
        raise RuntimeError("shards and the whole run differ")
    best = {name: min(seconds) for name, seconds in times.items()}
    report = {name: Spread(seconds).report() for name, seconds in times.items()}
    return {"pairs": pairs, **report, "loss": best["side_by_side"] / best["whole"] - 1}


def main() -> None:
    """Run the command."""
    parser = table.options(__doc__, "threads", repeats=3)
    parser.add_argument("--pairs", type=int, nargs="+", default=[40_000, 640_000])
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="wfacli-shared-gpu-") as name:
        for pairs in asked.pairs:
            rows.append(measured(pairs, asked.threads, asked.repeats, Path(name)))
            print(rows[-1], flush=True)
    meaning = {
        "seconds": "commands from outside, files to files: until the run, or both shards, have ended; plan and merge "
        "are not included",
        "loss": "best seconds of both shards side by side, divided by those of the whole run, less 1",
    }
    shape = {"bases": _LENGTH, "errors": _SUBSTITUTED + _INSERTED + _DELETED, "threads": asked.threads}
    print(saving.save("shared-gpu", meaning, {"shape": shape, "rows": rows}))


if __name__ == "__main__":
    main()
