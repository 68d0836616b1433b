"""A strict SAM validator: checks flags, mates, SA, clips, MD, MC, NM and more against each other and the sequences.

It is independent of wfacli: based on the specifications of SAM and its optional fields, and on minimap2's for its own
tags.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

PAIRED, PROPER, UNMAPPED, MATE_UNMAPPED, REVERSE, MATE_REVERSE, FIRST, LAST = (1 << i for i in range(8))
SECONDARY, SUPPLEMENTARY = 256, 2048
LESSER = SECONDARY | SUPPLEMENTARY
_CIGAR = re.compile(r"(\d+)([MIDNSHP=X])")
_TAG = re.compile(r"([A-Za-z][A-Za-z0-9]):([AifZHB]):([ -~]*)")
_NAME = re.compile(r"[!-?A-~]{1,254}")
_COMPLEMENT = str.maketrans("ACGTUNacgtun", "TGCAANtgcaan")


def other_strand(symbols: str) -> str:
    """Return the reverse complement of A, C, G, T, U and N."""
    return symbols.translate(_COMPLEMENT)[::-1]


@dataclass
class Record:
    """The fields of a record."""

    name: str
    flag: int
    target: str
    position: int
    quality: int
    cigar: str
    next_target: str
    next_position: int
    length: int
    symbols: str
    qualities: str
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> list[tuple[int, str]]:
        return [(int(n), operation) for n, operation in _CIGAR.findall(self.cigar)]

    def count(self, operations: str) -> int:
        return sum(n for n, operation in self.runs if operation in operations)

    @property
    def mapped(self) -> bool:
        return not self.flag & UNMAPPED

    @property
    def end(self) -> int:
        return self.position + self.count("MDN=X")

    @property
    def clips(self) -> tuple[int, int]:
        """Lengths of the soft and hard clips at both ends."""
        before = after = 0
        seen = False
        for n, operation in self.runs:
            if operation in "SH":
                before, after = (before, after + n) if seen else (before + n, after)
            else:
                seen = True
        return before, after

    @property
    def read_length(self) -> int:
        return self.count("MIS=XH") if self.runs else len(self.symbols)

    def __str__(self) -> str:
        return f"{self.name} {self.flag} {self.target}:{self.position} {self.cigar[:40]}"


def parsed(text: str) -> tuple[list[str], list[Record], list[str]]:
    """Return (header, records, syntax errors)."""
    header, records, wrong = [], [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("@") and not records:
            header.append(line)
            continue
        columns = line.split("\t")
        if len(columns) < 11:
            wrong.append(f"line {number}: {len(columns)} columns")
            continue
        tags: dict[str, str] = {}
        for column in columns[11:]:
            found = _TAG.fullmatch(column)
            if not found:
                wrong.append(f"line {number}: {column} is no tag")
            elif found[1] in tags:
                wrong.append(f"line {number}: {found[1]} twice")
            else:
                tags[found[1]] = found[3]
        c = columns
        places = (c[2], int(c[3]), int(c[4]), c[5], c[6], int(c[7]), int(c[8]))
        records.append(Record(c[0], int(c[1]), *places, c[9], c[10], tags))
    return header, records, wrong


def _fields(line: str) -> dict[str, str]:
    return {part[:2]: part[3:] for part in line.split("\t")[1:]}


def header_faults(header: list[str], reference: Mapping[str, str]) -> Iterator[str]:
    """Yield errors of the header."""
    if not header or not header[0].startswith("@HD\tVN:"):
        yield "the header does not begin with @HD"
    targets = [_fields(line) for line in header if line.startswith("@SQ")]
    if {f["SN"]: int(f["LN"]) for f in targets} != {n: len(s) for n, s in reference.items()} or len(targets) != len(
        reference
    ):
        yield "@SQ lines are not the reference's sequences"
    for kind in ("@RG", "@PG"):
        ids = [_fields(line)["ID"] for line in header if line.startswith(kind)]
        yield from (f"{kind} {name} {n} times" for name, n in Counter(ids).items() if n > 1)
    programs = [_fields(line) for line in header if line.startswith("@PG")]
    ids = {f["ID"] for f in programs}
    yield from (
        f"@PG {f['ID']} names {f['PP']}, which is missing" for f in programs if f.get("PP", f["ID"]) not in ids
    )


def record_faults(r: Record, reference: Mapping[str, str], groups: set[str]) -> Iterator[str]:
    """Yield errors of a single record."""
    if not _NAME.fullmatch(r.name):
        yield "the name is none"
    if r.flag & PAIRED:
        if bool(r.flag & FIRST) == bool(r.flag & LAST):
            yield "is not one of two mates"
    elif r.flag & (PROPER | MATE_UNMAPPED | MATE_REVERSE | FIRST | LAST) or (
        (r.next_target, r.next_position, r.length) != ("*", 0, 0)
    ):
        yield "has a mate, and is not paired"
    if r.flag & LESSER == LESSER:
        yield "is secondary and supplementary"
    if r.symbols != "*" and r.qualities != "*" and len(r.symbols) != len(r.qualities):
        yield "SEQ and QUAL are of different lengths"
    if r.symbols == "*" and (r.qualities != "*" or not r.flag & SECONDARY):
        yield "lacks its symbols"
    if "RG" in r.tags and r.tags["RG"] not in groups:
        yield "RG is of no group of the header"
    if not r.mapped:
        if r.cigar != "*" or r.quality or r.flag & (LESSER | PROPER | REVERSE):
            yield "is unmapped, and has an alignment"
        if not r.flag & PAIRED and (r.target, r.position) != ("*", 0):
            yield "is unmapped and no mate, and has a place"
        if {"NM", "MD", "AS", "SA", "cs", "de", "tp", "ms", "nn"} & set(r.tags):
            yield "is unmapped, and has tags of an alignment"
        return
    yield from _alignment_faults(r, reference)


def _alignment_faults(r: Record, reference: Mapping[str, str]) -> Iterator[str]:
    if r.target not in reference:
        yield "lies on no sequence"
        return
    if not 0 <= r.quality <= 255:
        yield "MAPQ is out of range"
    if "".join(f"{n}{operation}" for n, operation in r.runs) != r.cigar or not r.runs:
        yield "the CIGAR is none"
        return
    operations = "".join(operation for _, operation in r.runs)
    if (
        not re.fullmatch(r"H?S?[MID=X]+S?H?", operations)
        or re.search(r"(.)\1", operations)
        or not all(n for n, _ in r.runs)
    ):
        yield "the CIGAR has operations in a wrong order"
    if r.position < 1 or r.end - 1 > len(reference[r.target]):
        yield "lies outside its sequence"
        return
    if r.symbols != "*" and r.count("MIS=X") != len(r.symbols):
        yield "CIGAR and SEQ are of different lengths"
        return
    if (r.flag & SECONDARY and r.tags.get("tp", "S") not in "Si") or (
        not r.flag & SECONDARY and r.tags.get("tp") in ("S", "i")
    ):
        yield "tp and flag 256 differ"
    if r.symbols != "*":
        yield from _symbol_faults(r, reference[r.target])


def _symbol_faults(r: Record, target: str) -> Iterator[str]:
    """Check NM, MD, cs, de and nn, and = and X, against the bases."""
    i, j = 0, r.position - 1
    edits = matches = mismatches = gaps = ambiguous = run = 0
    md, cs = "", ""

    def plain(symbol: str) -> str:
        return symbol.upper().replace("U", "T")

    for n, operation in r.runs:
        if operation in "SH":
            i += n * (operation == "S")
            continue
        query = r.symbols[i : i + n] if operation != "D" else ""
        there = target[j : j + n] if operation != "I" else ""
        if operation in "M=X":
            same = 0
            for q, t in zip(query, there, strict=True):
                equal = plain(q) == plain(t) and plain(q) in "ACGT"
                ambiguous += plain(q) not in "ACGT" or plain(t) not in "ACGT"
                if (operation, equal) in (("=", False), ("X", True)):
                    yield f"{operation} at symbol {i} is none"
                if equal:
                    same, run, matches = same + 1, run + 1, matches + 1
                else:
                    cs += (f":{same}" if same else "") + f"*{t.lower()}{q.lower()}"
                    md, same, run, mismatches = f"{md}{run}{t.upper()}", 0, 0, mismatches + 1
            cs += f":{same}" if same else ""
        else:
            gaps, edits = gaps + 1, edits + n
            ambiguous += sum(plain(symbol) not in "ACGT" for symbol in query or there)
            cs += ("+" if operation == "I" else "-") + (query or there).lower()
            if operation == "D":
                md, run = f"{md}{run}^{there.upper()}", 0
        i, j = i + len(query), j + len(there)
    wanted = {"NM": str(edits + mismatches), "MD": f"{md}{run}", "nn": str(ambiguous), "cs": cs}
    for tag, value in wanted.items():
        if r.tags.get(tag, value).upper() != value.upper():
            yield f"{tag} is {r.tags[tag]}, and should be {value}"
    share = (mismatches + gaps) / max(1, matches + mismatches + gaps)
    if "de" in r.tags and abs(float(r.tags["de"]) - share) > 6e-5:
        yield f"de is {r.tags['de']}, and should be {share:.4f}"


def read_faults(records: list[Record], read: tuple[str, str] | None) -> Iterator[str]:
    """Check the records of a read against it and each other; `read`: its bases and qualities."""
    primary = [r for r in records if not r.flag & LESSER]
    if len(primary) != 1:
        yield f"{len(primary)} primary records"
        return
    (own,) = primary
    if read:
        symbols, qualities = read
        turned = (other_strand(symbols), qualities[::-1]) if own.flag & REVERSE else (symbols, qualities)
        if (own.symbols.upper(), own.qualities) != (turned[0].upper(), turned[1]):
            yield "SEQ and QUAL are not the read's"
    for r in records:
        if r.read_length != own.read_length:
            yield f"{r.read_length} symbols in one record, {own.read_length} in another"
        elif r.symbols != "*":
            whole = own.symbols if not (r.flag ^ own.flag) & REVERSE else other_strand(own.symbols)
            hard = [n if operation == "H" else 0 for n, operation in (r.runs[:1] + r.runs[-1:]) or [(0, ""), (0, "")]]
            if r.symbols.upper() != whole[hard[0] : len(whole) - hard[1]].upper():
                yield "symbols of two records differ"
            ranks = own.qualities if not (r.flag ^ own.flag) & REVERSE else own.qualities[::-1]
            if r.qualities != ("*" if ranks == "*" else ranks[hard[0] : len(whole) - hard[1]]):
                yield "qualities of two records differ"
        if not own.mapped and r is not own:
            yield "is unmapped, and has another record"
    parts = [r for r in records if not r.flag & SECONDARY and r.mapped]
    for r in parts:
        others = sorted((o for o in parts if o is not r), key=lambda o: bool(o.flag & SUPPLEMENTARY))
        wanted = "".join(_part(o) for o in others)
        if r.tags.get("SA", "") != wanted:
            yield f"SA is {r.tags.get('SA')}, and should be {wanted}"


def _part(r: Record) -> str:
    query, target = r.count("MI=X"), r.count("MD=X")
    before, after = (f"{n}S" if n else "" for n in r.clips)
    longer = f"{abs(query - target)}{'I' if query > target else 'D'}" if query != target else ""
    strand = "-" if r.flag & REVERSE else "+"
    place = f"{r.target},{r.position},{strand},{before}{min(query, target)}M{longer}{after}"
    return f"{place},{r.quality},{r.tags.get('NM')};"


def mate_faults(mates: tuple[list[Record], list[Record]]) -> Iterator[str]:
    """Check the records of mates against each other."""
    for records, others in (mates, mates[::-1]):
        own, mate = (next(r for r in some if not r.flag & LESSER) for some in (records, others))
        for r in records:
            if bool(r.flag & MATE_UNMAPPED) == mate.mapped or bool(r.flag & MATE_REVERSE) != bool(mate.flag & REVERSE):
                yield f"{r}: flags 8 and 32 are not the mate's"
            there = mate if mate.mapped else own
            target = there.target if there.mapped else "*"
            wanted = ("=" if target == r.target and target != "*" else target, there.position if there.mapped else 0)
            if (r.next_target, r.next_position) != wanted:
                yield f"{r}: the mate is not at {r.next_target}:{r.next_position}"
            if not r.mapped and (r.target, r.position) != (target, there.position if there.mapped else 0):
                yield f"{r}: does not stand beside its mate"
            clips = mate.cigar if mate.mapped else None
            if r.tags.get("MC") != clips or r.tags.get("MQ") != (str(mate.quality) if mate.mapped else None):
                yield f"{r}: MC and MQ are not the mate's"
            if r.length != _template_length(own, mate):
                yield f"{r}: TLEN should be {_template_length(own, mate)}"
        together = own.mapped and mate.mapped and own.target == mate.target
        if (own.flag & PROPER and not together) or (own.flag ^ mate.flag) & PROPER:
            yield f"{own}: flag 2 is not the mate's"


def _template_length(own: Record, mate: Record) -> int:
    if not (own.mapped and mate.mapped and own.target == mate.target):
        return 0
    length = max(own.end, mate.end) - min(own.position, mate.position)
    behind = mate.position < own.position or (mate.position == own.position and bool(own.flag & LAST))
    return -length if behind else length


def faults(
    text: str, reference: Mapping[str, str], reads: Mapping[tuple[str, int], tuple[str, str]] | None = None
) -> list[str]:
    """Return all errors of a SAM file.

    Args:
        text: header and records.
        reference: bases by name.
        reads: bases and qualities by name and mate (0: unpaired), each of which must have a record; or None.
    """
    header, records, found = parsed(text)
    found += header_faults(header, reference)
    groups = {_fields(line)["ID"] for line in header if line.startswith("@RG")}
    for r in records:
        found += (f"{r}: {what}" for what in record_faults(r, reference, groups))
    if found:
        return found  # later checks would be meaningless
    templates: dict[str, dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for r in records:
        templates[r.name][r.flag & (FIRST | LAST) and (1 if r.flag & FIRST else 2)].append(r)
    for name, mates in templates.items():
        for which, some in mates.items():
            read = None if reads is None else reads.get((name, which), ("", ""))
            found += (f"{name} {which}: {what}" for what in read_faults(some, read))
        if set(mates) == {1, 2}:
            found += mate_faults((mates[1], mates[2])) if not found else ()
        elif len(mates) > 1 or set(mates) & {1, 2}:
            found.append(f"{name}: a mate is missing")
    if reads is not None:
        there = {(name, which) for name, mates in templates.items() for which in mates}
        found += (f"{name} {which}: has no record" for name, which in sorted(set(reads) - there))
    return found
