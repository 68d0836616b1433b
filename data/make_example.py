"""Makes the example in this folder from larger sets of pairs (see README.md for where those come from).

    python data/make_example.py FOLDER

FOLDER holds NAME.query.fa.gz and NAME.target.fa.gz, one line a sequence, record i of one belonging to record i of the
other. Takes 300 pairs a technology, evenly spread; PacBio reads are cut to pieces of about 1,000 bases at places where
an exact alignment has a match, so that both sides of a piece still belong together.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import wfacli
from wfacli import cigar

HERE = Path(__file__).parent
PAIRS = 300
PIECE = 1000


def records(path: Path) -> list[tuple[str, str]]:
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return [(name[1:].split()[0], symbols) for name, symbols in zip(lines[::2], lines[1::2], strict=True)]


def pairs(folder: Path, name: str) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    return list(zip(records(folder / f"{name}.query.fa.gz"), records(folder / f"{name}.target.fa.gz"), strict=True))


def spread(items: list, count: int) -> list:
    return [items[i * len(items) // count] for i in range(count)]


def cut_after(query: str, target: str, symbols: int) -> tuple[int, int]:
    """A place (query, target) inside a match of their alignment, at or after `symbols` of the query."""
    q = t = 0
    for run in cigar.from_text(wfacli.align(query, target).cigar).tolist():
        length, op = run >> 4, cigar.OPERATIONS[run & 15]
        if op == "=" and q + length > symbols:
            into = max(symbols - q, 0)
            return q + into, t + into
        q += length if op in "=XI" else 0
        t += length if op in "=XD" else 0
    return len(query), len(target)


def pieces(folder: Path) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    found = []
    for (qname, query), (tname, target) in pairs(folder, "pacbio_clr_ecoli"):
        done = (0, 0)
        for part in range(2):
            if len(query) < (part + 1) * PIECE:
                break
            end = cut_after(query, target, (part + 1) * PIECE)
            found.append(
                (
                    (f"{qname}/part{part}", query[done[0] : end[0]]),
                    (f"{tname}/part{part}", target[done[1] : end[1]]),
                )
            )
            done = end
    return found


def write(name: str, chosen: list[tuple[tuple[str, str], tuple[str, str]]]) -> None:
    for side, kind in enumerate(("query", "target")):
        text = "".join(f">{pair[side][0]}\n{pair[side][1]}\n" for pair in chosen)
        (HERE / f"{name}.{kind}.fa.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def write_mappings(folder: Path) -> None:
    """The genome of which the nanopore reads are, and where minimap2, which must be on PATH, maps them to it."""
    symbols = records(folder / "special_sarscov2_N_iupac.target.fa.gz")[0][1]
    lines = "\n".join(symbols[i : i + 70] for i in range(0, len(symbols), 70))
    genome = HERE / "sarscov2.fa.gz"
    genome.write_bytes(gzip.compress(f">MN908947.3\n{lines}\n".encode(), 9, mtime=0))
    command = ["minimap2", "-x", "map-ont", "-t", "1", str(genome), str(HERE / "nanopore.query.fa.gz")]
    paf = subprocess.run(command, check=True, capture_output=True).stdout
    (HERE / "nanopore.paf.gz").write_bytes(gzip.compress(paf, 9, mtime=0))


def main() -> None:
    folder = Path(sys.argv[1])
    write("illumina", spread(pairs(folder, "illumina150"), PAIRS))
    write("nanopore", spread(pairs(folder, "ont_sarscov2_amplicon"), PAIRS))
    write("pacbio", spread(pieces(folder), PAIRS))
    write_mappings(folder)


if __name__ == "__main__":
    main()
