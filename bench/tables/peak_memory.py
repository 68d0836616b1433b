"""Peak memory of `wfacli align` for a number of pairs and for ten times as many: it must not grow much.

python -m bench.tables.peak_memory [--pairs 300000 --length 150 --error 0.02]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench.harness import saving, table
from bench.harness.command import run_command
from bench.harness.pairs import simulated

PAIRS = 300_000  # of the whole result; a run with fewer is a part
TIMED = {"peak_memory_bytes": "peak resident memory of the process as the operating system counts it, Python included"}


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, threads=2)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--length", type=int, default=150)
    parser.add_argument("--error", type=float, default=0.02)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    peaks: dict[str, dict[int, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for pairs in (a.pairs, 10 * a.pairs):
            query, target = simulated(Path(folder), pairs, a.length, a.error)
            for form in ("sam", "paf"):
                out = Path(folder) / f"out.{form}"
                arguments = ["align", str(query), str(target), "-o", str(out), "-t", str(a.threads)]
                report = run_command(arguments, Path(folder) / "stats.json")
                peaks.setdefault(form, {})[pairs] = report["peak_memory_bytes"]
                out.unlink()
    growth = {form: round(by[10 * a.pairs] / by[a.pairs], 3) for form, by in peaks.items()}
    workload = {"pairs": [a.pairs, 10 * a.pairs], "length": a.length, "error": a.error, "threads": a.threads}
    result = {"workload": workload, "peak_memory_bytes": peaks, "growth_at_ten_times": growth}
    path = saving.save_so_far("peak-memory", TIMED, result, a.pairs >= PAIRS)
    for form, by in peaks.items():
        print(f"{form}: " + ", ".join(f"{n:,} pairs {b / 1e6:.0f} MB" for n, b in by.items()) + f", {growth[form]}x")
    print(path)


if __name__ == "__main__":
    main()
