"""Verify the golden files: properties of an alignment, computed from its sequences alone."""

from __future__ import annotations

import re

PENALTIES = (4, 6, 2)  # defaults of the command: mismatch, gap opening, gap extension
_IUPAC = {
    "A": "A",
    "C": "C",
    "G": "G",
    "T": "T",
    "U": "T",
    "M": "AC",
    "R": "AG",
    "W": "AT",
    "S": "CG",
    "Y": "CT",
    "K": "GT",
    "V": "ACG",
    "H": "ACT",
    "D": "AGT",
    "B": "CGT",
    "N": "ACGT",
}


def same_base(a: str, b: str) -> bool:
    """Return whether SAM writes '=': both are the same one of A, C, G and T."""
    a, b = a.upper().replace("U", "T"), b.upper().replace("U", "T")
    return a == b and a in "ACGT"


def same_symbol(a: str, b: str) -> bool:
    return a.upper() == b.upper()


def share_a_base(a: str, b: str) -> bool:
    return bool(set(_IUPAC.get(a.upper(), "")) & set(_IUPAC.get(b.upper(), "")))


MATCHES = {"mismatch": same_base, "wildcard": share_a_base, "literal": same_symbol}


def runs(cigar: str) -> list[tuple[int, str]]:
    found = [(int(length), op) for length, op in re.findall(r"(\d+)([MIDX=])", cigar)]
    assert "".join(f"{length}{op}" for length, op in found) == ("" if cigar == "*" else cigar)
    return found


def columns(query: str, target: str, cigar: str) -> list[tuple[str, str, str]]:
    """Return (operation, query symbol or "", target symbol or "") of every column; the CIGAR covers both sequences."""
    i = j = 0
    found = []
    for length, op in runs(cigar):
        for _ in range(length):
            found.append((op, "" if op == "D" else query[i], "" if op == "I" else target[j]))
            i, j = i + (op != "D"), j + (op != "I")
    assert (i, j) == (len(query), len(target))
    return found


def cost(query: str, target: str, cigar: str, metric: str, ambiguous: str) -> int:
    """Return the cost of the path, with symbols compared by the rule `ambiguous`, regardless of = and X."""
    matches = MATCHES[ambiguous]
    mismatches = sum(bool(q and t and not matches(q, t)) for _, q, t in columns(query, target, cigar))
    gaps = [length for length, op in runs(cigar) if op in "ID"]
    if metric == "edit":
        return mismatches + sum(gaps)
    x, o, e = PENALTIES
    return x * mismatches + sum(o + e * length for length in gaps)


def least_cost(query: str, target: str, metric: str, ambiguous: str) -> int:
    """Return the minimum cost of any global alignment, by Gotoh's recurrences."""
    x, o, e = PENALTIES if metric == "affine" else (1, 0, 1)
    matches, far = MATCHES[ambiguous], 1 << 40
    best = [0] + [o + e * j for j in range(1, len(target) + 1)]
    above = [far] * (len(target) + 1)  # best path that ends in a gap in the target
    for i, q in enumerate(query, 1):
        diagonal, best[0], left = best[0], o + e * i, far
        for j, t in enumerate(target, 1):
            above[j] = min(above[j], best[j] + o) + e
            left = min(left, best[j - 1] + o) + e
            diagonal, best[j] = best[j], min(diagonal + (0 if matches(q, t) else x), above[j], left)
    return best[-1]


def md(query: str, target: str, cigar: str) -> str:
    """Return SAM's MD tag."""
    text, run, before = "", 0, ""
    for op, q, t in columns(query, target, cigar):
        if op == "D":
            text, run = text + (t if before == "D" else f"{run}^{t}"), 0
        elif op != "I" and same_base(q, t):
            run += 1
        elif op != "I":
            text, run = text + f"{run}{t}", 0
        before = op if op != "I" or before != "D" else before
    return (text + str(run)).upper()


def cs(query: str, target: str, cigar: str) -> str:
    """Return minimap2's cs tag in its short form."""
    text, run, before = "", 0, ""
    for op, q, t in columns(query, target, cigar):
        equal = op not in "ID" and same_base(q, t)
        if run and not equal:
            text, run = text + f":{run}", 0
        if equal:
            run += 1
        elif op in "ID":
            sign = {"I": "+", "D": "-"}[op]
            text += (sign if before != op else "") + q + t
        else:
            text += f"*{t}{q}"
        before = op
    return (text + (f":{run}" if run else "")).lower()
