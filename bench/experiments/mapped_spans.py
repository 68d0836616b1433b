"""Mapped reads by --span, in CPU seconds, for one or two versions of wfacli, which alternate.

    python -m bench.experiments.mapped_spans REFERENCE [--python NAME=PATH …] [--reads 40] [--repeats 3] [--save]

Reads are simulated from windows of the reference, and mappings give their true positions. Chimeric reads are two such
reads joined, with a mapping for each. Without --python the wfacli of this interpreter is timed; all versions must
write the same bytes.
"""

from __future__ import annotations

import hashlib
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from bench.harness import table
from bench.harness.saving import save

TIMED = {
    "cpu_seconds": "the whole command, user and system, on one thread: the least of the repeats, versions in turns"
}
SPANS = ("mapped", "padded", "read")
SETS = {
    "hifi": ["--model", "hifi", "--length", "5k-15k"],
    "ont": ["--model", "ont", "--length", "5k-15k"],
    "ont 15%": ["--model", "ont", "--length", "5k-15k", "--error", "0.15"],
    "chimeric ont": ["--model", "ont", "--length", "5k-15k"],
    "illumina": ["--model", "illumina", "--length", "150"],
}
SHORT = 500  # times as many reads of 150 bases


class Read(NamedTuple):
    """A simulated read and its origin, half open, on the forward strand."""

    bases: str
    target: str
    begin: int
    end: int


def fasta(path: Path) -> list[tuple[str, str]]:
    """Return (header without its sign, bases) of each record of a FASTA file with one line per sequence."""
    lines = path.read_text().splitlines()
    return [(header[1:], bases) for header, bases in zip(lines[::2], lines[1::2], strict=True)]


def simulated(reference: str, options: list[str], count: int, folder: Path) -> list[Read]:
    command = [sys.executable, "-m", "wfacli", "simulate", "--reference", reference, *options, "--pairs", str(count)]
    subprocess.run([*command, "-q", "-o", str(folder / "simulated.fa")], check=True)
    queries, targets = (fasta(folder / f"simulated.{side}.fa") for side in ("query", "target"))
    reads = []
    for (_, bases), (header, _) in zip(queries, targets, strict=True):
        name, _, window = header.split()[1].rpartition(":")
        begin, end = map(int, window.split("-"))
        reads.append(Read(bases, name, begin - 1, end))
    return reads


def lengths(path: str) -> dict[str, int]:
    """Return the lengths of a FASTA file's sequences by name."""
    records = Path(path).read_text().split(">")[1:]
    return {r.split(maxsplit=1)[0]: len("".join(r.splitlines()[1:])) for r in records}


def written(parts: list[list[Read]], targets: dict[str, int], folder: Path) -> tuple[Path, Path]:
    """Write files of reads, each of one or several parts, and of their mappings; return their paths."""
    reads, mappings = folder / "reads.fa", folder / "mappings.paf"
    with reads.open("w") as out, mappings.open("w") as paf:
        for number, of in enumerate(parts):
            whole = "".join(part.bases for part in of)
            out.write(f">r{number}\n{whole}\n")
            begin = 0
            for part in of:
                end = begin + len(part.bases)
                place = (part.target, targets[part.target], part.begin, part.end)
                fields = (f"r{number}", len(whole), begin, end, "+", *place, end - begin, end - begin, 60)
                paf.write("\t".join(map(str, fields)) + "\n")
                begin = end
    return reads, mappings


def timed(python: str, arguments: list[str], out: Path) -> tuple[float, str]:
    """Return the CPU seconds of a run, and a digest of its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [python, "-m", "wfacli", "align", *arguments, "--format", "tsv", "--engine", "cpu", "--threads", "1"]
    subprocess.run([*command, "-q", "-o", str(out)], check=True, cwd=out.parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, hashlib.sha256(out.read_bytes()).hexdigest()


def row_of(
    name: str, files: tuple[Path, Path], reference: str, pythons: dict[str, str], repeats: int
) -> dict[str, Any]:
    """Return the minimum seconds of each span and version. Raises AssertionError if their outputs differ."""
    row: dict[str, Any] = {"set": name}
    reads, mappings = map(str, files)
    for span in SPANS:
        arguments = [reads, reference, "--mappings", mappings, "--span", span]
        least, digests = dict.fromkeys(pythons, float("inf")), set()
        for _ in range(repeats):
            for version, python in pythons.items():
                seconds, digest = timed(python, arguments, files[0].parent / "out.tsv")
                least[version] = min(least[version], seconds)
                digests.add(digest)
        assert len(digests) == 1, f"{name}, {span}: versions differ in what they write"
        row[span] = {version: round(seconds, 3) for version, seconds in least.items()}
        print(name, span, *(f"{version} {seconds:.2f} s" for version, seconds in least.items()), flush=True)
    return row


def main() -> None:
    """Run the command."""
    parser = table.options(__doc__, "repeats", "save")
    parser.add_argument("reference", help="FASTA, of sequences long enough for the reads")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH", help="a version's interpreter")
    parser.add_argument("--reads", type=int, default=40)
    parser.add_argument("--note", default="", help="what the machine did meanwhile; kept with the result")
    asked = parser.parse_args()
    reference = str(Path(asked.reference).resolve())
    pythons = dict(pair.split("=", 1) for pair in asked.python) or {"this": sys.executable}
    rows = []
    for name, options in SETS.items():
        with tempfile.TemporaryDirectory() as folder:
            count = asked.reads * (SHORT if "150" in options else 1)
            reads = simulated(reference, options, count, Path(folder))
            parts = [reads[k : k + 2] for k in range(0, count, 2)] if "chimeric" in name else [[r] for r in reads]
            files = written(parts, lengths(reference), Path(folder))
            mean = sum(len(r.bases) for r in reads) / len(parts)
            row = row_of(name, files, reference, pythons, asked.repeats)
            rows.append({**row, "reads": len(parts), "mean_bases": round(mean)})
    if asked.save:
        print(save("mapped-spans", TIMED, {"note": asked.note, "rows": rows}))


if __name__ == "__main__":
    main()
