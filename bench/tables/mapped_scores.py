"""Scores of mapped reads beside minimap2's own alignments, under the same costs and on the same spans.

    python -m bench.tables.mapped_scores --minimap2 PATH READS REFERENCE PRESET [READS REFERENCE PRESET …] [--save]

minimap2 maps and aligns (-c --eqx); `wfacli align --mappings` aligns the span of each of its records; the scores of
both are computed from their CIGARs here. --scores A,B,O1,E1,O2,E2 sets the costs. --save writes the counts to
bench/results.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.harness import table
from bench.harness.saving import save

RUN = re.compile(r"(\d+)([=XID])")


def records(paf: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (the nine columns that say what is aligned, CIGAR) of each record."""
    for line in paf.read_text().splitlines():
        fields = line.split("\t")
        yield tuple(fields[:9]), next(f[5:] for f in fields[12:] if f.startswith("cg:Z:"))


def score(cigar: str, costs: list[int]) -> int:
    match, mismatch, *gaps = costs
    pieces = list(zip(gaps[::2], gaps[1::2], strict=True))
    total = 0
    for count, operation in RUN.findall(cigar):
        n = int(count)
        if operation in "ID":
            total -= min(o + n * e for o, e in pieces)
        else:
            total += match * n if operation == "=" else -mismatch * n
    return total


def compared(reads: str, reference: str, minimap2: str, preset: str, costs: list[int]) -> dict[str, Any]:
    match, mismatch, o1, e1, o2, e2 = costs
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = Path(folder) / "minimap2.paf", Path(folder) / "wfacli.paf"
        scores = ["-A", str(match), "-B", str(mismatch), "-O", f"{o1},{o2}", "-E", f"{e1},{e2}"]
        command = [minimap2, "-c", "--eqx", "-x", preset, *scores, "-o", str(theirs), reference, reads]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        penalties = ["--metric", "affine2p", "--penalties", f"{mismatch},{o1},{e1},{o2},{e2}", "--match", str(match)]
        command = [sys.executable, "-m", "wfacli", "align", reads, reference, "--mappings", str(theirs), *penalties]
        subprocess.run([*command, "-q", "--check", "-o", str(ours)], check=True)
        counts = {"better": 0, "equal": 0, "worse": 0}
        for (span, cigar), (own_span, own) in zip(records(theirs), records(ours), strict=True):
            assert span == own_span, (span, own_span)
            gain = score(own, costs) - score(cigar, costs)
            counts["better" if gain > 0 else "worse" if gain < 0 else "equal"] += 1
    return {"reads": Path(reads).name, "preset": preset, "scores": costs, **counts}


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = table.options(__doc__, "save")
    parser.add_argument("files", nargs="+", metavar="READS REFERENCE PRESET")
    parser.add_argument("--minimap2", default="minimap2")
    parser.add_argument("--scores", default="2,4,4,2,24,1")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    a = asked(arguments)
    costs = [int(part) for part in a.scores.split(",")]
    rows = [
        compared(reads, reference, a.minimap2, preset, costs)
        for reads, reference, preset in zip(*(a.files[i::3] for i in range(3)), strict=True)
    ]
    for row in rows:
        print(row)
    if a.save:
        save("mapped-scores", {"rows": "scores computed from both CIGARs; nothing is timed"}, {"rows": rows})
    sys.exit(any(row["worse"] for row in rows))


if __name__ == "__main__":
    main()
