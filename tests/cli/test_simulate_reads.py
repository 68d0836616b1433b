"""`wfacli simulate --paired`: reads from both ends of fragments of a reference."""

from __future__ import annotations

import random
import re
import statistics
from pathlib import Path

import pytest

from tests.mapped.world import turned

from .support import Result, assert_failure, assert_success, run

NAME = re.compile(r"sim(\d+):(.+):(\d+)-(\d+):([+-]):(\d+):(\d+)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = random.Random(4)
    symbols = {
        name: "".join(rng.choice("ACGTacgt") for _ in range(size)) for name, size in (("a", 3000), ("b:1", 1500))
    }
    (tmp_path / "ref.fa").write_text("".join(f">{n}\n{s}\n" for n, s in symbols.items()) + ">short\nACGT\n")
    return tmp_path


def ran(folder: Path, options: str) -> Result:
    return run("simulate", "--paired", "--reference", "ref.fa", *options.split(), cwd=folder)


def reads_of(path: Path) -> list[tuple[str, str, str]]:
    lines = path.read_text().splitlines()
    return [(lines[i][1:], lines[i + 1], lines[i + 3]) for i in range(0, len(lines), 4)]


def reference_of(folder: Path) -> dict[str, str]:
    records = (folder / "ref.fa").read_text().split(">")[1:]
    return {name: symbols.strip() for name, symbols in (record.split("\n", 1) for record in records)}


def test_reads_are_both_ends_of_where_their_name_says(folder: Path) -> None:
    made = ran(folder, "-n 2000 -l 70 -e 0 --insert 300 --insert-sd 40 -o r.fq --seed 8")
    assert_success(made)
    assert "2,000 pairs" in made.err and "in r_1.fq and r_2.fq" in made.err
    assert sorted(p.name for p in folder.iterdir()) == ["r_1.fq", "r_2.fq", "ref.fa"]
    reference, inserts, strands, places = reference_of(folder), [], [], set()
    for number, (first, second) in enumerate(zip(*(reads_of(folder / f"r_{n}.fq") for n in (1, 2)), strict=True), 1):
        found = NAME.fullmatch(first[0])
        assert found and first[0] == second[0]
        assert (int(found[1]), found[6], found[7]) == (number, "0", "0")
        fragment = reference[found[2]][int(found[3]) - 1 : int(found[4])]
        fragment = turned(fragment) if found[5] == "-" else fragment
        assert (first[1], second[1]) == (fragment[:70], turned(fragment)[:70])
        assert len(first[2]) == len(second[2]) == 70
        inserts.append(len(fragment))
        strands.append(found[5])
        places.add((found[2], int(found[3]) < 20, int(found[4]) > len(reference[found[2]]) - 20))
    assert abs(statistics.mean(inserts) - 300) < 4 and abs(statistics.stdev(inserts) - 40) < 3
    assert 900 < strands.count("+") < 1100
    assert {("a", True, False), ("a", False, True), ("b:1", True, False), ("b:1", False, True)} <= places


def test_the_truth_is_an_alignment_of_each_read_to_the_reference(folder: Path) -> None:
    assert_success(ran(folder, "-n 60 -l 50-90 -m ont -e 0.1 -o r.fq --truth t.paf"))
    reference = reference_of(folder)
    reads = {f"{name}/{n}": symbols for n in (1, 2) for name, symbols, _ in reads_of(folder / f"r_{n}.fq")}
    rows = [line.split("\t") for line in (folder / "t.paf").read_text().splitlines()]
    assert [row[0] for row in rows[:4]] == [f"{name[:-2]}/{n}" for name in list(reads)[:2] for n in (1, 2)]
    for row in rows:
        found = NAME.fullmatch(row[0][:-2])
        assert found
        query = turned(reads[row[0]]) if row[4] == "-" else reads[row[0]]
        target = reference[row[5]][int(row[7]) : int(row[8])]
        edits, i, j = 0, 0, 0
        for length, operation in re.findall(r"(\d+)([=XID])", row[13].removeprefix("cg:Z:")):
            n = int(length)
            for k in range(n if operation in "=X" else 0):
                assert (query[i + k].upper() == target[j + k].upper()) == (operation == "=")
            edits += 0 if operation == "=" else n
            i, j = i + n * (operation != "D"), j + n * (operation != "I")
        assert (i, j) == (len(query), len(target)) and row[12] == f"NM:i:{edits}"
        assert str(edits) == found[5 + int(row[0][-1])]
        outer = int(found[3]) - 1 == int(row[7]) if row[4] == "+" else found[4] == row[8]
        assert outer and (row[4] == found[5]) == (row[0][-1] == "1")


def test_one_file_has_the_same_pairs(folder: Path) -> None:
    assert_success(ran(folder, "-n 5k -o r.fq -t 1 -q"))
    assert_success(ran(folder, "-n 3k -o part.fq -t 2 -q"))
    piped = ran(folder, "-n 5k --interleaved -q -t 3")
    assert_success(piped)
    first, second = (reads_of(folder / f"r_{n}.fq") for n in (1, 2))
    (folder / "both.fq").write_bytes(piped.out)
    assert reads_of(folder / "both.fq") == [read for pair in zip(first, second, strict=True) for read in pair]
    assert reads_of(folder / "part_2.fq") == second[:3000]
    assert_success(ran(folder, "-n 10 --format fasta -o plain -q"))
    assert (folder / "plain_2.fa").read_text().splitlines()[1] == second[0][1]
    other = ran(folder, "-n 5k --interleaved -q --seed 2")
    assert other.out != piped.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--paired -o r.fq", "--paired simulates reads of a reference"),
        ("--insert 300", "--insert is for pairs of reads: give --paired"),
        ("--insert-sd 3", "--insert-sd is for pairs of reads"),
        ("--interleaved", "--interleaved is for pairs of reads"),
        ("--paired --reference ref.fa", "reads of pairs go to two files"),
        ("--paired --reference ref.fa -o r.seq", "reads are FASTA or FASTQ"),
        ("--paired --reference ref.fa -o r.fq.gz", "does not compress its output"),
        ("--paired --reference ref.fa -o r.fq --insert 0", "--insert is 1 to"),
        ("--paired --reference ref.fa -o r.fq --insert 3k", "--insert: no sequence is as long as the longest pair"),
        ("--paired --reference ref.fa -o r.fq -l 0", "reads have at least one base"),
        ("--paired --reference ref.fa -o r.fq --insert-sd x", "--insert-sd expects a number"),
    ],
)
def test_what_it_refuses(folder: Path, options: str, said: str) -> None:
    assert_failure(run("simulate", *options.split(), cwd=folder), 2, said)
    assert [p.name for p in folder.iterdir()] == ["ref.fa"]
