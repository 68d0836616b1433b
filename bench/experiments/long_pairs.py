"""Time and memory of the whole command for long pairs.

    python -m bench.experiments.long_pairs NAME QUERY TARGET [NAME QUERY TARGET ...]

Each pair of files is aligned once by edit distance and once by affine 4,6,2, with one thread, to PAF with the path.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.harness import saving
from bench.harness.command import run_command


def main() -> None:
    """Run the command."""
    arguments = sys.argv[1:]
    if not arguments or len(arguments) % 3:
        sys.exit(__doc__)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(arguments), 3):
            name, query, target = arguments[at : at + 3]
            for metric in ("edit", "affine"):
                files = [query, target, "-o", f"{folder}/out.paf", "--metric", metric, "-t", "1"]
                report = run_command(["align", *files], Path(folder) / "stats.json")
                wanted = ("wall_seconds", "peak_memory_bytes", "identity", "pairs_by_kernel")
                rows.append({"name": name, "metric": metric, **{key: report[key] for key in wanted}})
                print(rows[-1])
    print(
        saving.save(
            "long-pairs", {"wall_seconds": "from opening the inputs to the last byte written, one run"}, {"runs": rows}
        )
    )


if __name__ == "__main__":
    main()
