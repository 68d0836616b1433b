"""Time that windows of a reference take on the bus to a GPU, beside the whole of `wfacli align --mappings`.

    python -m bench.experiments.mapped_bus NAME READS REFERENCE MAPPINGS [NAME READS REFERENCE MAPPINGS …]
        [--repeats 3] [--save]

The window of each mapping goes over the bus as bases, like its read. A reference that stays on the GPU would save
that, and nothing else: `windows_share` is the maximum gain.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.harness import saving, table
from bench.harness.command import run_command
from wfacli.measure.limits import bus_rate
from wfacli.measure.spread import Spread

TIMED = {
    "wall": "wfacli align READS REFERENCE --mappings MAPPINGS to SAM and BAM, from opening the inputs"
    " to the last byte written",
    "windows_seconds": "bytes of the windows, divided by the bus rate measured in the same run",
    "windows_share": "windows_seconds, divided by the wall-clock seconds after the GPU is open",
    "gpu_seconds": "seconds of the GPU's streams, by stage",
}


def measured(files: Sequence[str], format: str, repeats: int, rate: float, folder: Path) -> dict[str, Any]:
    """Measure one set in one format."""
    reads, reference, mappings = files
    arguments = ["align", reads, reference, "--mappings", mappings, "--engine", "gpu", "--format", format]
    reports = [
        run_command([*arguments, "-o", str(folder / f"out.{format}")], folder / "s.json") for _ in range(repeats)
    ]
    best = min(reports, key=lambda report: report["wall_seconds"])
    stages = best["stage_seconds"]
    windows, working = best["target_bases"] / rate, best["wall_seconds"] - stages.get("open", 0.0)
    return {
        "mappings": best["pairs"],
        "window_bases": best["target_bases"],
        "wall": Spread([report["wall_seconds"] for report in reports]).report(),
        "open_seconds": stages.get("open", 0.0),
        "windows_seconds": round(windows, 6),
        "windows_share": round(windows / working, 5),
        "gpu_seconds": {what.removeprefix("gpu "): s for what, s in stages.items() if what.startswith("gpu ")},
        "stage_seconds": stages,
        "pairs_by_kernel": best["pairs_by_kernel"],
    }


def main() -> None:
    parser = table.options(__doc__, "repeats", "save")
    parser.add_argument("sets", nargs="+", metavar="NAME READS REFERENCE MAPPINGS")
    parser.add_argument("--bus", type=float, help="bytes a second; measured unless given")
    a = parser.parse_args()
    rate, rows = a.bus or bus_rate(), {}
    with tempfile.TemporaryDirectory() as folder:
        for name, *files in zip(*[iter(a.sets)] * 4, strict=True):
            for format in ("sam", "bam"):
                row = rows[f"{name}, {format}"] = measured(files, format, a.repeats, rate, Path(folder))
                print(
                    f"{name}, {format}: {row['mappings']:,} mappings in {row['wall']['best_seconds']:.3f} s, windows"
                    f" {row['windows_seconds'] * 1e3:.2f} ms of the bus, {row['windows_share']:.2%}",
                    flush=True,
                )
    if a.save:
        print(saving.save("mapped-bus", TIMED, {"bus_bytes_per_second": round(rate), "rows": rows}))


if __name__ == "__main__":
    main()
