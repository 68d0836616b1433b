"""A program in minimap2's place, which prints mappings that a test has prepared.

Like minimap2 it writes a line for each read: reads without a mapping in map.paf or map.sam get an unmapped one. It
imports the standard library only, since it runs in a process of its own.
"""

from __future__ import annotations

import gzip
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

_LAST_LINE = "[M::main] Real time: 0 sec"


def install(folder: Path) -> Path:
    """Write the program as bin/minimap2 in a folder, which is also the current folder of the runs; return its path.

    It reads from the current folder:
        map.paf, or map.sam with -a;
        version: what it answers to --version, if that is a file;
        verbatim: if that exists, it prints the prepared lines alone;
        own: if that exists, it prints only lines of the reads that it is given;
        fail: if that exists, it fails after the prepared lines.

    It writes there:
        arguments: its arguments;
        seen-2 and seen-1: the content of its last two files;
        seen: the content of all reads.
    """
    program = folder / "bin" / "minimap2"
    program.parent.mkdir(exist_ok=True)
    here = str(Path(__file__).parent)
    program.write_text(
        f"#!{sys.executable} -S\nimport sys\nsys.path[0] = {here!r}\nimport fake_mapper\nfake_mapper.main()\n"
    )
    program.chmod(0o755)
    return program


def names(content: bytes) -> Iterator[str]:
    """Yield the names of the records of FASTA or FASTQ, packed by gzip or not."""
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    lines = content.decode("latin-1").splitlines()
    fastq = content[:1] == b"@"
    for number, line in enumerate(lines):
        if number % 4 == 0 if fastq else line.startswith(">"):
            yield line[1:].split()[0]


def _unmapped(name: str, flag: int) -> str:
    if flag < 0:
        return f"{name}\t0\t0\t0\t*\t*\t0\t0\t0\t0\t0\t0\n"
    return f"{name}\t{flag}\t*\t0\t0\t*\t*\t0\t0\t*\t*\n"


def complete(lines: list[str], files: list[list[str]], sam: bool) -> Iterator[str]:
    """Yield lines of mappings, and an unmapped line where the reads' order has a read that the next line is not of.

    Args:
        lines: mappings in the reads' order; others follow at the end.
        files: names of the reads, by file; with SAM, two files have mates.
        sam: lines are SAM, with flags of mates.
    """
    at = 0
    for name, flag in _flagged(files) if sam else ((name, -1) for name in itertools.chain(*files)):
        begin = at
        while at < len(lines) and _is_of(lines[at], name, flag):
            yield lines[at]
            at += 1
        if at == begin:
            yield _unmapped(name, flag)
    yield from lines[at:]


def _flagged(files: list[list[str]]) -> Iterator[tuple[str, int]]:
    """Yield names and SAM flags of unmapped reads: adjacent reads of one name, without /1 and /2, are mates."""
    chained = itertools.chain.from_iterable(zip(*files, strict=False))
    reads = [name[:-2] if name.endswith(("/1", "/2")) else name for name in chained]
    while reads:
        name = reads.pop(0)
        if reads and reads[0] == name:
            reads.pop(0)
            yield from ((name, 77), (name, 141))
        else:
            yield name, 4


def _is_of(line: str, name: str, flag: int) -> bool:
    columns = line.split("\t")
    return columns[0] == name and (
        flag < 5 or not int(columns[1]) & (64 | 128) or bool(int(columns[1]) & flag & (64 | 128))
    )


def main() -> None:
    """Act as minimap2."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.exit(print(Path("version").read_text()) if Path("version").exists() else 1)
    if "no-such" in arguments and not Path("fail").exists():
        sys.exit("[ERROR] unknown preset 'no-such'")
    Path("arguments").write_text(" ".join(arguments))
    paths = arguments[arguments.index("--") + 1 :]
    contents = [Path(path).read_bytes() for path in paths]
    for number in (-2, -1):
        Path(f"seen{number}").write_bytes(contents[number])
    Path("seen").write_bytes(b"".join(contents[1:]))
    sam = "-a" in arguments
    prepared = Path("map.sam" if sam else "map.paf")
    lines = prepared.read_text().splitlines(keepends=True) if prepared.exists() else []
    if Path("fail").exists():
        sys.stdout.writelines(lines)
        sys.exit("[ERROR] out of luck")
    given = [list(names(content)) for content in contents[1:]]
    if Path("own").exists():
        whole = {name.removesuffix("/1").removesuffix("/2") if sam else name for name in itertools.chain(*given)}
        lines = [line for line in lines if line.split("\t")[0] in whole]
    if not Path("verbatim").exists():
        lines = list(complete(lines, given, sam))
    sys.stdout.writelines(lines)
    sys.stdout.flush()
    print(_LAST_LINE, file=sys.stderr)
