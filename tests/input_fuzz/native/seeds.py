"""Write a seed corpus, one folder per target: `python -m tests.input_fuzz.native.seeds FOLDER`.

An input has eight bytes of choices (`fuzz.hpp`), then the parser's bytes; a byte 0xff separates several files.
"""

from __future__ import annotations

import gzip
import random
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.cli.support import fasta, fastq, random_pairs, seq, table
from tests.mapped.world import random_world

DATA = Path(__file__).parents[3] / "data"
MAX_BYTES = 4096  # of a file in data/; an input has at most twice as many
WORLDS = 2  # seeds of random_world
TAGS = b"NM:i:1\tRG:Z:a\tBC:Z:AC GT\tXa:A:x\tX0:i:-12\tXf:f:1.5e-3\tXh:H:1AE3\tXb:B:c,1,-2\tXF:B:f,1.5,inf"


def bam(sam: bytes) -> bytes:
    """Convert SAM without SEQ and QUAL to BAM."""
    header, targets, records = b"", [], b""
    for line in sam.splitlines():
        columns = line.split(b"\t")
        if line.startswith(b"@"):
            header += line + b"\n"
            targets.append((columns[1][3:] + b"\0", int(columns[2][3:])))
            continue
        number = [name[:-1] for name, _ in targets].index(columns[2])
        runs, digits = [], b""
        for c in columns[5].decode():
            if c.isdigit():
                digits += c.encode()
            else:
                runs.append(int(digits) << 4 | "MIDNSHP=X".index(c))
                digits = b""
        name = columns[0] + b"\0"
        fixed = (number, int(columns[3]) - 1, len(name), int(columns[4]), 0, len(runs), int(columns[1]), 0, -1, -1, 0)
        record = struct.pack("<iiBBHHHIiii", *fixed) + name + struct.pack(f"<{len(runs)}I", *runs)
        records += struct.pack("<I", len(record)) + record
    named = b"".join(struct.pack("<I", len(name)) + name + struct.pack("<I", length) for name, length in targets)
    return b"BAM\1" + struct.pack("<I", len(header)) + header + struct.pack("<I", len(targets)) + named + records


def records() -> Iterator[bytes]:
    """Yield FASTA and FASTQ files."""
    for path in sorted(DATA.glob("*.fa.gz")):
        yield gzip.decompress(path.read_bytes())[:MAX_BYTES]
    sequences = [query for query, _ in random_pairs(9, 40)]
    yield fasta(sequences)
    yield fasta(sequences, width=17).replace(b"\n", b"\r\n")
    yield fastq(sequences)
    yield b"@a 1:N:0 " + TAGS + b"\nACGTN\n+\nIIIII\n\n@b\n\n+\n\n"
    yield b">a\n\n>b some more\nAC\nGT \n"


def mappings(seed: int) -> Iterator[bytes]:
    """Yield the same mappings as PAF, SAM and BAM."""
    world = random_world(seed, 5)
    yield world.paf().encode()
    yield world.sam().encode()
    yield bam(world.sam().encode())


def of_mates(sam: bytes) -> bytes:
    """Set SAM's flags to those of first mates whose other mates are unmapped."""
    lines = []
    for line in sam.splitlines(keepends=True):
        columns = line.split(b"\t")
        if not line.startswith(b"@"):
            columns[1] = b"%d" % (int(columns[1]) | 1 | 8 | 64)
        lines.append(b"\t".join(columns))
    return b"".join(lines)


def inputs(target: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the option bytes and the parser's bytes of each input."""
    plain = b"\0\0"
    if target == "records":
        yield from ((plain, text) for text in records())
        yield from ((b"\10\0", text) for text in records())
    elif target == "pairs":
        pairs = random_pairs(9, 40)
        queries, targets = zip(*pairs, strict=True)
        for write in (fasta, fastq):
            yield b"\x30\0", write(queries) + b"\xff" + fasta(targets)
        yield from ((b"\1\0", text) for text in records())
        yield b"\2\0", seq(pairs)
        yield b"\3\0", table(pairs)
        yield b"\3\0", b"name\tquery\ttarget\n# a comment\n" + table(pairs, True)
    elif target in ("mappings", "grouping"):
        for seed in range(WORLDS):
            yield from ((plain, text) for text in mappings(seed))
        world = random_world(WORLDS)
        shuffled = world.paf().splitlines(keepends=True)
        random.Random(1).shuffle(shuffled)
        yield plain, "".join(shuffled).encode()
        yield plain, of_mates(world.sam().encode())
    elif target == "mapped":
        for seed in range(WORLDS):
            world = random_world(seed, 5)
            reads = "".join(f"@{n} {TAGS.decode()}\n{s}\n+\n{q}\n" for n, (s, q) in world.reads.items()).encode()
            mates = "".join(f">{n}\n{s[:9]}\n" for n, (s, _) in world.reads.items()).encode()
            for text in mappings(seed):
                yield bytes([0x59 + seed, 0]), reads + b"\xff" + text
                yield b"\x1a\2", reads + b"\xff" + text
            sam = of_mates(world.sam().encode())
            yield b"\xd9\0", reads + b"\xff" + mates + b"\xff" + sam
            yield b"\xd8\1", reads + b"\xff" + mates + b"\xff" + sam
    elif target == "reference":
        yield plain, b"t\t10\t3\t4\t5\nu\t3\t18\t3\t4\n\xff>t\nACGT\nACGT\nAC\n>u\nACG\n"
        yield plain, b"t\t7\t4\t4\t6\n\xff>t\r\nACGT\r\nACG\r\n"
        yield plain, b"t\t4611686018427387903\t4611686018427387903\t1\t3\n\xff>t\nA\n"
    elif target == "tags":
        yield plain, TAGS
        yield b"\1\0", TAGS
    elif target == "names":
        yield plain, b"read1\n*\n=\nchr1:1-2\na@b\n\nHLA*1\n(x)\n" + bytes(range(33, 127))
    elif target == "symbols":
        yield plain, b"read/1 " + bytes(range(33, 127))
        yield plain, b"ACGTacgtNRYUACGTacgtNRYUACGTacgtNRYU"


def main() -> None:
    """Write the folders."""
    folder = Path(sys.argv[1])
    targets = [path.stem for path in Path(__file__).parent.glob("*.cpp") if path.stem != "standalone"]
    for target in targets:
        (folder / target).mkdir(parents=True, exist_ok=True)
        count = 0
        for choices, text in inputs(target):
            for longest, seed in ((b"\0", 1), (b"\x40", 2)):
                drawn = random.Random(seed + count).randbytes(5)
                (folder / target / f"seed{count}").write_bytes(choices + longest + drawn + text[: 2 * MAX_BYTES])
                count += 1
        assert count, f"{target} has no seeds"


if __name__ == "__main__":
    main()
