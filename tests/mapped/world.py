"""Made-up reads, reference and mappings, and their expected records, computed base by base without wfacli."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from pathlib import Path

from tests import oracles, pairgen
from tests.oracle_spans import Ends, Optimum, Scheme, optima

OPPOSITE = dict(zip("ACGTURYKMBVDHSWNacgturykmbvdhswn", "TGCAAYRMKVBHDSWNtgcaayrmkvbhdswn", strict=True))
FLAGS = {"P": 0, "I": 0, "S": 256}


def turned(symbols: str) -> str:
    """Return the reverse complement."""
    return "".join(OPPOSITE.get(c, c) for c in reversed(symbols))


@dataclass(frozen=True)
class Row:
    """A mapping, in PAF coordinates."""

    read: str
    q_beg: int
    q_end: int
    reverse: bool
    target: str
    t_beg: int
    t_end: int
    mapq: int = 60
    kind: str = "P"  # value of tp:A, or empty
    matches: int = 10


@dataclass
class World:
    """All inputs of the command."""

    reference: dict[str, str] = field(default_factory=dict)
    reads: dict[str, tuple[str, str | None]] = field(default_factory=dict)  # bases, quality
    rows: list[Row] = field(default_factory=list)

    def paf_row(self, row: Row) -> str:
        tags = f"\ttp:A:{row.kind}\tcm:i:3" if row.kind else "\tid:f:90"
        return (
            f"{row.read}\t{len(self.reads[row.read][0])}\t{row.q_beg}\t{row.q_end}\t{'-' if row.reverse else '+'}\t"
            f"{row.target}\t{len(self.reference[row.target])}\t{row.t_beg}\t{row.t_end}\t{row.matches}\t100\t"
            f"{row.mapq}{tags}\n"
        )

    def paf(self) -> str:
        return "".join(map(self.paf_row, self.rows))

    def sam(self) -> str:
        """Return the mappings as SAM, with CIGARs that only give their extent."""
        lines = [f"@SQ\tSN:{n}\tLN:{len(s)}\n" for n, s in self.reference.items()]
        for row in self.rows:
            length = len(self.reads[row.read][0])
            clips = [row.q_beg, length - row.q_end]
            query, target = row.q_end - row.q_beg, row.t_end - row.t_beg
            middle = f"{min(query, target)}M" + (
                f"{abs(query - target)}{'ID'[target > query]}" if query != target else ""
            )
            before, after = (
                f"{c}{k}" if c else "" for c, k in zip(clips[:: -1 if row.reverse else 1], "SH", strict=True)
            )
            flags = FLAGS[row.kind] | 16 * row.reverse
            if row.kind == "P" and next(r for r in self.rows if r.read == row.read and r.kind == "P") is not row:
                flags |= 2048
            place = f"{row.target}\t{row.t_beg + 1}\t{row.mapq}\t{before}{middle}{after}"
            lines.append(f"{row.read}\t{flags}\t{place}\t*\t0\t0\t*\t*\n")
        return "".join(lines)

    def write(self, folder: Path, order: list[str] | None = None) -> None:
        """Write reads.fq (reads.fa without qualities), ref.fa and map.paf."""
        with (folder / "reads.fq").open("w") as file:
            for name in order or self.reads:
                symbols, quality = self.reads[name]
                file.write(
                    f">{name} more\n{symbols}\n" if quality is None else f"@{name} more\n{symbols}\n+\n{quality}\n"
                )
        with (folder / "ref.fa").open("w") as file:
            for name, symbols in self.reference.items():
                file.write(
                    f">{name} described\n" + "".join(f"{symbols[i : i + 60]}\n" for i in range(0, len(symbols), 60))
                )
        (folder / "map.paf").write_text(self.paf())


def random_world(seed: int, reads: int = 12, symbols: str = "ACGT", quality: bool = True, kinds: bool = True) -> World:
    """Return a world with reads of one to three parts of the reference, on both strands, and junk; some unmapped."""
    rng = random.Random(seed)
    alphabet = symbols.encode()
    world = World({f"chr{i}": pairgen.sequence(rng, rng.randint(150, 400), alphabet).decode() for i in range(3)})
    for number in range(reads):
        pieces, rows, name = [], [], f"read{number}"
        for part in range(rng.choice((0, 1, 1, 1, 2, 3))):
            target = rng.choice(sorted(world.reference))
            whole = world.reference[target]
            begin = rng.randrange(0, len(whole) - 60)
            end = min(len(whole), begin + rng.randint(30, 90))
            reverse = rng.random() < 0.5
            copy = pairgen.mutated(rng, whole[begin:end].encode(), alphabet, 0.15).decode() or "A"
            pieces.append(pairgen.sequence(rng, rng.choice((0, 0, 7)), alphabet).decode())
            q_beg = sum(map(len, pieces))
            pieces.append(turned(copy) if reverse else copy)
            kind = ("P" if part == 0 else rng.choice("PSI")) if kinds else ""
            row = Row(
                name, q_beg, q_beg + len(copy), reverse, target, begin, end, rng.randrange(61), kind, rng.randrange(9)
            )
            rows.append(row)
        pieces.append(pairgen.sequence(rng, rng.choice((0, 12)), alphabet).decode())
        whole = "".join(pieces) or "ACGT"
        ranks = "".join(chr(rng.randrange(33, 127)) for _ in whole)
        world.reads[name] = whole, ranks if quality else None
        world.rows += rows
    return world


@dataclass(frozen=True)
class Expected:
    """The expected record of a row."""

    row: Row
    flags: int
    read: str  # on the aligned strand
    quality: str | None
    found: Optimum
    before: int
    after: int
    position: int  # 0-based
    edits: int
    md: str
    ambiguous: int

    @property
    def end(self) -> int:
        return self.position + self.found.span[3] - self.found.span[2]

    @property
    def clipped(self) -> str:
        """The CIGAR with its clips."""
        before, after = (f"{n}S" if n else "" for n in (self.before, self.after))
        return f"{before}{self.found.cigar}{after}"

    @property
    def divergence(self) -> str:
        """Edits per column, each gap counting as one, rounded half up to four decimals."""
        runs = oracles.runs_of(self.found.cigar)
        gaps = sum(operation in "ID" for _, operation in runs)
        matches, mismatches = (sum(n for n, operation in runs if operation == which) for which in "=X")
        return f"{(20000 * (gaps + mismatches) // (gaps + mismatches + matches) + 1) // 2 / 10000:.4f}"

    @property
    def short(self) -> str:
        """The record as an element of SA."""
        query, target = self.found.span[1] - self.found.span[0], self.found.span[3] - self.found.span[2]
        clips = [f"{n}S" if n else "" for n in (self.before, self.after)]
        longer = f"{abs(query - target)}{'I' if query > target else 'D'}" if query != target else ""
        place = f"{self.row.target},{self.position + 1},{'-' if self.flags & 16 else '+'}"
        return f"{place},{clips[0]}{min(query, target)}M{longer}{clips[1]},{self.row.mapq},{self.edits};"


def window(world: World, row: Row, span: str, pad: int) -> tuple[str, str, int, int]:
    """Return (query, target, read bases before the query on its strand, target bases before the window)."""
    symbols, target = world.reads[row.read][0], world.reference[row.target]
    q_beg, q_end, t_beg, t_end = row.q_beg, row.q_end, row.t_beg, row.t_end
    if row.reverse:
        symbols, q_beg, q_end = turned(symbols), len(symbols) - q_end, len(symbols) - q_beg
    left = right = 0 if span == "mapped" else pad
    if span == "read":
        left, right = left + q_beg + q_beg // 8, right + (len(symbols) - q_end) * 9 // 8
        q_beg, q_end = 0, len(symbols)
    t_beg, t_end = max(t_beg - left, 0), min(t_end + right, len(target))
    return symbols[q_beg:q_end], target[t_beg:t_end], q_beg, t_beg


def kinds_of(rows: list[Row]) -> list[int]:
    """Return the flags of one read's mappings, without the strand."""
    if all(row.kind for row in rows):
        flags = [FLAGS[row.kind] for row in rows]
        primary = [i for i, f in enumerate(flags) if f == 0]
        return [2048 if i in primary[1:] else f for i, f in enumerate(flags)]
    flags = [0] * len(rows)
    best_first = sorted(range(len(rows)), key=lambda i: (-rows[i].matches, rows[i].q_beg - rows[i].q_end, i))
    for place, i in enumerate(best_first[1:], 1):
        mine = set(range(rows[i].q_beg, rows[i].q_end))
        others = [set(range(rows[j].q_beg, rows[j].q_end)) for j in best_first[:place] if not flags[j] & 256]
        flags[i] = 256 if any(2 * len(mine & other) > len(mine) for other in others) else 2048
    return flags


def nm_and_md(query: str, target: str, cigar: str) -> tuple[int, str]:
    """Return both tags, computed base by base."""
    edits, run, text, i, j = 0, 0, "", 0, 0
    for length, operation in oracles.runs_of(cigar):
        if operation == "D":
            text, run, edits, j = f"{text}{run}^{target[j : j + length].upper()}", 0, edits + length, j + length
        elif operation == "I":
            edits, i = edits + length, i + length
        else:
            for _ in range(length):
                if operation == "=":
                    run += 1
                else:
                    text, run, edits = f"{text}{run}{target[j].upper()}", 0, edits + 1
                i, j = i + 1, j + 1
    return edits, f"{text}{run}"


def best_part(cigar: str, scheme: Scheme) -> int:
    """Return the best score of any part of an alignment."""
    steps = [
        value
        for n, operation in oracles.runs_of(cigar)
        for value in (
            [-min(o + e * n for o, e in scheme.gaps)]
            if operation in "ID"
            else [scheme.match if operation == "=" else -scheme.mismatch] * n
        )
    ]
    sums = list(itertools.accumulate(steps, initial=0))
    return max(sums[j] - sums[i] for i in range(len(sums)) for j in range(i, len(sums)))


def ambiguous_symbols(query: str, target: str, cigar: str) -> int:
    """Count the columns with a symbol other than A, C, G, T and U."""
    count, i, j = 0, 0, 0
    for length, operation in oracles.runs_of(cigar):
        for _ in range(length):
            symbols = (query[i] if operation != "D" else "") + (target[j] if operation != "I" else "")
            count += not set(symbols.upper()) <= set("ACGTU")
            i, j = i + (operation != "D"), j + (operation != "I")
    return count


def expected(world: World, span: str, pad: int, scheme: Scheme, ends: Ends, rule: str = "mismatch") -> list[Expected]:
    """Return the expected record of each row, in order."""
    windows = [window(world, row, span, pad) for row in world.rows]
    answers = optima([(q.encode(), t.encode()) for q, t, _, _ in windows], scheme, ends, rule)
    found = []
    for row, (query, target, clip, offset), answer in zip(world.rows, windows, answers, strict=True):
        symbols, quality = world.reads[row.read]
        mine = [r for r in world.rows if r.read == row.read]
        flags = kinds_of(mine)[[r is row for r in mine].index(True)] | 16 * row.reverse
        q_beg, q_end, t_beg, t_end = answer.span
        edits, md = nm_and_md(query[q_beg:q_end], target[t_beg:t_end], answer.cigar)
        found.append(
            Expected(
                row,
                flags,
                turned(symbols) if row.reverse else symbols,
                quality[::-1] if row.reverse and quality is not None else quality,
                answer,
                clip + q_beg,
                len(symbols) - clip - q_end,
                offset + t_beg,
                edits,
                md,
                ambiguous_symbols(query[q_beg:q_end], target[t_beg:t_end], answer.cigar),
            )
        )
    return found


def sam_of(record: Expected, others: list[Expected], hard: bool = False, scheme: Scheme | None = None) -> list[str]:
    """Return the fields of a SAM record with --md.

    `others`: records of the same read; `scheme`: set if matches score.
    """
    no_symbols = record.flags & 256 and any(not o.flags & (256 | 2048) for o in others)
    cut = hard and record.flags & 2048
    clip = "H" if cut else "S"
    clips = [f"{n}{clip}" if n else "" for n in (record.before, record.after)]
    inside = slice(record.before, len(record.read) - record.after) if cut else slice(None)
    parts = sorted((o for o in [*others, record] if not o.flags & 256), key=lambda o: bool(o.flags & 2048))
    parts_order = [o for o in parts if o is not record] if not record.flags & 256 and len(parts) > 1 else []
    fields = [
        record.row.read,
        str(record.flags),
        record.row.target,
        str(record.position + 1),
        str(record.row.mapq),
        clips[0] + record.found.cigar + clips[1],
        "*",
        "0",
        "0",
        "*" if no_symbols else record.read[inside],
        "*" if no_symbols or record.quality is None else record.quality[inside],
        f"NM:i:{record.edits}",
        f"AS:i:{record.found.score}",
        f"MD:Z:{record.md}",
    ]
    if parts_order:
        fields.append("SA:Z:" + "".join(o.short for o in parts_order))
    kind = "S" if record.flags & 256 else "I" if record.row.kind == "I" else "P"
    if scheme:
        fields.append(f"ms:i:{best_part(record.found.cigar, scheme)}")
    return [*fields, f"nn:i:{record.ambiguous}", f"de:f:{record.divergence}", f"tp:A:{kind}"]
