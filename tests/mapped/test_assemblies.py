"""Sequences of an assembly: parts are hard-clipped unless it is told otherwise, and share one copy of the sequence."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.cli.support import assert_success, run
from tests.cli.test_long_lines import MIB, measured

PART, BETWEEN = 1_000, 200


def assembly(folder: Path, parts: int) -> bytes:
    """Write a sequence whose parts are in another order in the reference, and its mappings; return the sequence."""
    rng = random.Random(parts)
    read = bytes(rng.choices(b"ACGT", k=parts * PART))
    order = rng.sample(range(parts), parts)
    pieces, lines = [], []
    total = parts * (PART + BETWEEN)
    for place, part in enumerate(order):
        pieces += [read[part * PART :][:PART], bytes(rng.choices(b"ACGT", k=BETWEEN))]
        begin, at = part * PART, place * (PART + BETWEEN)
        mapped = f"r\t{len(read)}\t{begin}\t{begin + PART}\t+\tt\t{total}\t{at}\t{at + PART}\t{PART}\t{PART}\t60\n"
        lines.append((begin, mapped))
    (folder / "ref.fa").write_bytes(b">t\n" + b"".join(pieces) + b"\n")
    (folder / "reads.fq").write_bytes(b"@r\n" + read + b"\n+\n" + b"I" * len(read) + b"\n")
    (folder / "m.paf").write_text("".join(line for _, line in sorted(lines)))
    return read


@pytest.mark.parametrize(
    ("options", "hard"),
    [
        (("--preset", "asm5"), True),
        (("--preset", "asm20"), True),
        (("--preset", "asm10", "--clip", "soft"), False),
        (("--preset", "map-hifi"), False),
        (("--preset", "map-hifi", "--clip", "hard"), True),
        ((), False),
    ],
)
def test_clipping(options: tuple[str, ...], hard: bool, tmp_path: Path) -> None:
    read = assembly(tmp_path, 3)
    result = run("align", "reads.fq", "ref.fa", "--mappings", "m.paf", "--no-header", "-q", *options, cwd=tmp_path)
    assert_success(result)
    assert [int(row[1]) for row in result.rows] == [0, 2048, 2048]
    for row in result.rows[1:]:
        assert ("H" in row[5], "S" in row[5]) == (hard, not hard)
        begin = int(row[5][: row[5].index("H" if hard else "S")])
        assert row[9].encode() == (read[begin:][: len(row[9])] if hard else read)
        assert abs(len(row[9]) - (PART if hard else len(read))) < 20
    assert result.rows[0][9].encode() == read


def test_paf_needs_no_clipping(tmp_path: Path) -> None:
    assembly(tmp_path, 2)
    given = ("align", "reads.fq", "ref.fa", "--mappings", "m.paf", "--preset", "asm5", "--format", "paf", "-q")
    assert_success(run(*given, cwd=tmp_path))


def test_parts_share_the_sequence(tmp_path: Path) -> None:
    """Each of them had a copy of the whole sequence and its qualities, here 320 MB in all."""
    assembly(tmp_path, 400)
    given = ("align", "reads.fq", "ref.fa", "--mappings", "m.paf", "--preset", "asm5", "-t", "1", "-o", "o.sam")
    result, peak = measured(*given, cwd=tmp_path)
    assert_success(result)
    assert sum(not line.startswith("@") for line in (tmp_path / "o.sam").read_text().splitlines()) == 400
    assert peak < 220 * MIB, f"{peak / MIB:.0f} MiB"
