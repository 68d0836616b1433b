"""The page of --report and the files of --multiqc, beside the records of the same run."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median_low
from typing import Any

import pytest

from tests.mapped.world import random_world

from .golden_cases import GOLDEN
from .report_page import Page
from .support import Result, assert_failure, assert_success, fasta, random_symbols, rows_of, run

MAPPED = ("align", "reads.fq", "ref.fa", "--mappings", "map.paf", "--match", "2", "--keep-unmapped", "-q")
PAIR_SECTIONS = {"outcome", "identity", "lengths", "targets", "gaps", "figures", "kernels", "stages", "run", ""}


@pytest.fixture
def mapped(tmp_path: Path) -> Path:
    """A folder with reads, a reference and mappings."""
    random_world(3, 200).write(tmp_path)
    return tmp_path


def operations(row: list[str]) -> list[tuple[int, str]]:
    return [(int(n), op) for n, op in re.findall(r"(\d+)([=XIDS])", row[5])]


class Records:
    """Sums over the records of a SAM file, by SAM's definitions."""

    def __init__(self, path: Path) -> None:
        self.rows = rows_of(path.read_bytes())
        self.primary = [row for row in self.rows if not int(row[1]) & (4 | 256 | 2048)]
        self.placed = [row for row in self.rows if not int(row[1]) & (4 | 256)]
        self.reads = [row for row in self.rows if not int(row[1]) & (256 | 2048)]

    def bases(self, rows: list[list[str]], kinds: str) -> int:
        return sum(n for row in rows for n, op in operations(row) if op in kinds)

    def gaps(self, kind: str) -> Counter[int]:
        return Counter(n for row in self.placed for n, op in operations(row) if op == kind)

    def identities(self) -> list[int]:
        """Identity of the primary alignments in units of 0.01%, rounded down."""
        return sorted(10_000 * self.bases([row], "=") // n for row in self.primary if (n := self.bases([row], "=XID")))

    def depth(self, name: str, length: int) -> float:
        return self.bases([row for row in self.placed if row[2] == name], "=XD") / length


def counts_of(section: Any) -> dict[str, int]:
    return {line[0]: int(line[1].replace(",", "")) for line in section.lines[1:]}


def test_mapped_reads(mapped: Path) -> None:
    done = run(*MAPPED[:-1], "-o", "out.sam", "--report", "r.html", cwd=mapped)
    assert_success(done)
    page, records = Page(mapped / "r.html"), Records(mapped / "out.sam")
    assert len(records.primary) not in (0, len(records.reads), len(records.placed))
    figures = page["figures"].numbers
    assert f", {figures.pop('identity over all alignments, as in the summary line')} identity, " in done.err
    assert figures == {
        "reads": "200",
        "mapped reads": str(len(records.primary)),
        "unmapped reads": str(200 - len(records.primary)),
        "secondary records": str(sum(bool(int(row[1]) & 256) for row in records.rows)),
        "supplementary records": str(len(records.placed) - len(records.primary)),
        "bases of reads": f"{sum(len(row[9]) for row in records.reads):,}",
        "aligned bases": f"{records.bases(records.primary, '=XI'):,}",
        "soft-clipped bases": f"{records.bases(records.primary, 'S'):,}",
        "insertions": f"{records.gaps('I').total():,}",
        "deletions": f"{records.gaps('D').total():,}",
    }
    # Gaps of one to ten bases have lines of their own.
    for line in page["gaps"].lines[1:11]:
        assert line[1:] == [str(records.gaps(kind)[int(line[0])]) for kind in "ID"]
    identities = records.identities()
    assert sum(page["identity"].column(1)) == len(identities)
    assert page["identity"].pictures[0].startswith(f"median identity {median_low(identities) / 100:g}%, quartiles ")
    assert sum(page["lengths"].column(1)) == 200
    assert counts_of(page["quality"])["0"] == sum(row[4] == "0" for row in records.primary)
    assert sum(page["quality"].column(1)) == len(records.primary)


def test_depth_of_mapped_reads(mapped: Path) -> None:
    assert_success(run(*MAPPED, "-o", "out.sam", "--report", "r.html", cwd=mapped))
    page, records = Page(mapped / "r.html"), Records(mapped / "out.sam")
    lines = page["depth"].lines[1:]
    assert len(lines) == 3
    for name, bases, alignments, mean, low, high in lines:
        assert int(alignments) == sum(row[2] == name for row in records.placed)
        assert float(mean) == pytest.approx(records.depth(name, int(bases)), abs=0.006)
        assert float(low) <= float(mean) <= float(high)
    assert len(page["depth"].pictures) == 3


def test_same_figures_for_any_threads_and_batches(mapped: Path) -> None:
    """Also for another format, where records of all kinds are in other places."""
    pages, contents = set(), set()
    for more in (["-t", "1"], ["-t", "2", "--batch-bases", "200"], ["-t", "3", "--batch-bases", "5000", "--sort"]):
        assert_success(run(*MAPPED, *more, "-o", "o.bam", "--report", "r.html", "--multiqc", "s", cwd=mapped))
        pages.add(Page(mapped / "r.html").without_run())
        contents.add(tuple(path.read_bytes() for path in sorted(mapped.glob("s.wfacli_*_mqc.json"))))
    assert len(pages) == 1
    assert len(contents) == 1
    assert len(next(iter(contents))) == 9


def test_unmapped_reads_without_a_record_are_counted_as_such(mapped: Path) -> None:
    assert_success(run(*MAPPED, "-o", "o.sam", "--report", "all.html", cwd=mapped))
    without = [word for word in MAPPED if word != "--keep-unmapped"]
    assert_success(run(*without, "-o", "o.paf", "--report", "some.html", cwd=mapped))
    whole, some = Page(mapped / "all.html"), Page(mapped / "some.html")
    left_out = some["figures"].numbers.pop("of these without a record")
    assert f"{left_out} unmapped reads without a record" in some["outcome"].text
    for name in ("reads", "mapped reads", "unmapped reads", "insertions", "aligned bases"):
        assert some["figures"].numbers[name] == whole["figures"].numbers[name]
    assert sum(some["lengths"].column(1)) == 200 - int(left_out)


def test_pairs(tmp_path: Path) -> None:
    arguments = ("align", "reads.fq", "targets.fa", "--max-cost", "9", "-o", tmp_path / "o.sam", "-q")
    assert_success(run(*arguments, "--report", tmp_path / "r.html", "--stats", tmp_path / "s", cwd=GOLDEN))
    page, records = Page(tmp_path / "r.html"), Records(tmp_path / "o.sam")
    assert page.sections.keys() == PAIR_SECTIONS
    figures = page["figures"].numbers
    assert figures["pairs"] == str(len(records.rows))
    assert figures["pairs over --max-cost"] == str(
        json.loads((tmp_path / "s").read_text())["unaligned"]["SCORE_LIMIT"]
    )
    assert figures["aligned bases"] == str(records.bases(records.primary, "=XI"))
    assert figures["deletions"] == str(records.gaps("D").total())
    targets = [len(line) for line in (GOLDEN / "targets.fa").read_text().split(">")[1:]]
    assert sum(page["targets"].column(1)) == len(targets)
    assert page["run"].numbers["command line"].startswith("wfacli align reads.fq targets.fa --max-cost 9 ")
    assert page["run"].numbers["wfacli"] == run("--version", cwd=tmp_path).text.strip()


def test_score_only_says_what_is_unknown(folder: Path) -> None:
    files = ("-q", "-o", "o.tsv", "--report", "r.html", "--multiqc", "s")
    assert_success(run("align", "q.fa", "t.fa", "--score-only", *files, cwd=folder))
    page = Page(folder / "r.html")
    assert page["figures"].numbers["identity"] == "unknown (--score-only)"
    assert page["figures"].numbers["aligned bases"] == "unknown (--score-only)"
    assert not {"identity", "gaps"} & page.sections.keys()
    assert "unknownidentity" in page[""].text  # a headline, and its name
    assert sum(page["scores"].column(1)) == 5
    cost = -int(rows_of((folder / "o.tsv").read_bytes())[1][2])
    assert f"Median cost {cost}." in page["scores"].text
    names = sorted(path.name for path in folder.glob("s.wfacli*"))
    assert names == [f"s.wfacli_{name}_mqc.json" for name in ("general", "lengths", "outcome")]
    general = json.loads((folder / names[0]).read_text())
    assert general["data"] == {"s": {"pairs": 5, "aligned": 100, "n50": 60}}


def test_high_scores_have_no_unit(folder: Path) -> None:
    costs = ("--penalties", "400,600,200", "--score-only", "-q", "-o", "o.tsv", "--report", "r.html")
    assert_success(run("align", "q.fa", "t.fa", *costs, cwd=folder))
    assert {line[2] for line in rows_of((folder / "o.tsv").read_bytes())[1:]} == {"-1600"}
    scores = Page(folder / "r.html")["scores"]
    assert "Median cost about 1.61 k." in scores.text  # above 1,023 to within 1.6%
    assert "kb" not in scores.text
    assert counts_of(scores)["1,600 to 1,615"] == 5


def test_proteins_have_residues_and_no_caution(tmp_path: Path) -> None:
    files = ("proteins.query.fa", "proteins.target.fa", "--mode", "local", "-q", "-o", tmp_path / "o.sam")
    for name, more in (("matrix", ["--matrix", "BLOSUM62"]), ("none", [])):
        assert_success(run("extend", *files, *more, "--report", tmp_path / f"{name}.html", cwd=GOLDEN))
    matrix, none = Page(tmp_path / "matrix.html"), Page(tmp_path / "none.html")
    assert "aligned residues" in matrix["figures"].numbers
    assert "Substitutions with a positive score do not count" in matrix["identity"].text
    assert "bases" not in matrix["identity"].text + matrix["outcome"].text + matrix["gaps"].text
    assert "caution" not in re.sub(r"<style>.*</style>", "", matrix.source, flags=re.DOTALL)
    assert "for proteins give --matrix BLOSUM62" in none[""].text  # the same warning as on standard error


@pytest.mark.parametrize("sequences", [[], [""], ["A"], ["ACGT" * 20]])
def test_few_pairs(sequences: list[str], tmp_path: Path) -> None:
    (tmp_path / "q.fa").write_bytes(fasta(sequences))
    assert_success(
        run("align", "q.fa", "q.fa", "-q", "-o", "o.paf", "--report", "r.html", "--multiqc", "s", cwd=tmp_path)
    )
    page = Page(tmp_path / "r.html")
    assert page.sections.keys() == PAIR_SECTIONS
    assert page["figures"].numbers["pairs"] == str(len(sequences))
    assert "nan" not in page.source.replace("nano", "")
    for path in tmp_path.glob("s.*"):
        json.loads(path.read_text(), parse_constant=pytest.fail)


def test_few_mapped_reads(tmp_path: Path) -> None:
    (tmp_path / "ref.fa").write_bytes(fasta([random_symbols(500, 1), "ACGT"], "t"))
    for name, paf in (("none", ""), ("one", "r1\t1\t0\t1\t+\tt1\t500\t499\t500\t1\t1\t255\n")):
        (tmp_path / "reads.fa").write_bytes(fasta(["A"] if paf else []))
        (tmp_path / "map.paf").write_text(paf)
        arguments = ("reads.fa", "ref.fa", "--mappings", "map.paf", "--span", "mapped", "-q", "-o", "o.sam")
        assert_success(run("align", *arguments, "--report", f"{name}.html", "--multiqc", name, cwd=tmp_path))
    none, one = Page(tmp_path / "none.html"), Page(tmp_path / "one.html")
    assert "No read is mapped." in none["depth"].text
    assert one["depth"].lines[1] == ["t1", "500", "1", "0.00", "0.00", "1.00"]
    assert counts_of(one["quality"])["unknown"] == 1


def test_pairs_of_reads(tmp_path: Path) -> None:
    """Fragment lengths come from TLEN of properly paired reads, one for each pair."""
    reference = random_symbols(2000, 4)
    (tmp_path / "ref.fa").write_bytes(fasta([reference], "t"))
    reads, mappings = [], ["@SQ\tSN:t1\tLN:2000"]
    flip = str.maketrans("ACGT", "TGCA")
    for i, (begin, size) in enumerate([(100, 300), (500, 310), (900, 320)]):
        last = begin + size - 50
        mates = reference[begin : begin + 50], reference[last : last + 50].translate(flip)[::-1]
        reads += [f">p{i}/{m + 1}\n{symbols}\n" for m, symbols in enumerate(mates)]
        proper = 2 * (i < 2)
        mappings.append(f"p{i}\t{97 + proper}\tt1\t{begin + 1}\t60\t50M\t=\t{last + 1}\t{size}\t*\t*")
        mappings.append(f"p{i}\t{145 + proper}\tt1\t{last + 1}\t60\t50M\t=\t{begin + 1}\t{-size}\t*\t*")
    (tmp_path / "reads.fa").write_text("".join(reads))
    (tmp_path / "map.sam").write_text("".join(f"{line}\n" for line in mappings))
    arguments = ("align", "reads.fa", "ref.fa", "--mappings", "map.sam", "-q", "-o", "o.sam", "--report", "r.html")
    assert_success(run(*arguments, cwd=tmp_path))
    page = Page(tmp_path / "r.html")
    assert {name for name, count in counts_of(page["templates"]).items() if count} == {"300", "310"}
    assert page["figures"].numbers["properly paired reads"] == "4"
    assert "66.67% of the 6 paired reads are properly paired" in page["templates"].text


def test_names_are_escaped(tmp_path: Path) -> None:
    name = '<b>&"x\x1b.fa'
    (tmp_path / name).write_bytes(fasta([reference := random_symbols(300, 2), random_symbols(200, 2)], "<i>"))
    (tmp_path / "reads.fa").write_bytes(fasta([reference[:4]]))
    (tmp_path / "map.paf").write_text("r1\t4\t0\t4\t+\t<i>1\t300\t0\t4\t4\t4\t60\n")
    assert_success(run("align", "reads.fa", name, "--mappings", "map.paf", "-q", "-o", "<script>.paf",
                       "--report", "r.html", "--multiqc", "<s>", cwd=tmp_path))  # fmt: skip
    depth = json.loads((tmp_path / "<s>.wfacli_depth_mqc.json").read_text())
    assert list(depth["data"]) == ["&lt;s&gt;"]
    assert list(depth["data"]["&lt;s&gt;"]) == ["&lt;i&gt;1", "&lt;i&gt;2"]
    page = Page(tmp_path / "r.html")
    assert "\x1b" not in page.source
    assert "<script" not in page.source
    assert '<b>&"x' in page[""].text
    assert page["depth"].lines[1][0] == "<i>1"
    assert "<script>.paf" in page[""].text


def test_page_uses_no_network(mapped: Path) -> None:
    assert_success(run(*MAPPED, "-o", "o.sam", "--report", "r.html", cwd=mapped))
    source = (mapped / "r.html").read_text()
    assert not re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?(?!data:|#)\w", source)
    assert "http" not in source.replace("http-equiv", "")


def test_failure_leaves_nothing(folder: Path) -> None:
    (folder / "bad.fa").write_bytes((folder / "t.fa").read_bytes() + b">t6\n")
    (folder / "old.html").write_text("old")
    before = sorted(path.name for path in folder.iterdir())
    arguments = ("align", "q.fa", "bad.fa", "-q", "--format", "paf", "--report", "old.html", "--multiqc", "s")
    assert_failure(run(*arguments, cwd=folder), 1, "bad.fa")
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (folder / "old.html").read_text() == "old"


def test_report_that_cannot_be_written_leaves_no_part_of_it(folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    failed = run("align", "q.fa", "t.fa", "-q", "-o", "o.paf", "--report", "r.html", "--multiqc", "none/s", cwd=folder)
    assert_failure(failed, 1, "none/s.wfacli_general_mqc.json: cannot be written")
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("-o o.paf --report q.fa", "q.fa is an input; writing to it would destroy it"),
        ("-o o.paf --report t.fa.fai", "t.fa.fai is the name of the index of t.fa"),
        ("-o o.paf --report o.paf", "--report and the alignments cannot both go to o.paf"),
        ("-o o.paf --stats s --report s", "--report and --stats cannot both go to s"),
        ("--report -", "--report and the alignments cannot both go to standard output"),
        ("-o o.paf --report - --stats -", "--report and --stats cannot both go to standard output"),
        ("-o s.wfacli_general_mqc.json --format paf --multiqc s", "--multiqc and the alignments cannot both go to"),
        ("-o o.paf --multiqc folder/", "--multiqc expects a sample's name"),
        ("-o o.paf --multiqc /dev/null", "/dev/null is a device or a pipe"),
    ],
)
def test_refused_names(align: Callable[..., Result], folder: Path, arguments: str, words: str) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert_failure(align("q.fa", "t.fa", *arguments.split()), 2, words)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_report_on_standard_output(align: Callable[..., Result]) -> None:
    result = align("q.fa", "t.fa", "-q", "-o", "o.paf", "--report", "-")
    assert_success(result)
    assert result.text.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("option", ["--report", "--multiqc"])
def test_shards_have_no_report(folder: Path, option: str) -> None:
    words = f"{option} shows a whole run, and a shard is a part of one"
    asked = run("plan", "q.fa", "t.fa", option, "r", "--shards", "2", "-o", "run.plan", cwd=folder)
    assert_failure(asked, 2, words)
    assert_success(run("plan", "q.fa", "t.fa", "--shards", "2", "-o", "run.plan", "-q", cwd=folder))
    assert_failure(run("align", "--plan", "run.plan", "--shard", "1/2", option, "r", cwd=folder), 2, words)
    assert not (folder / "run.plan.parts").exists()


@pytest.mark.skipif(not shutil.which("minimap2"), reason="needs minimap2")
def test_map(tmp_path: Path) -> None:
    reference = random_symbols(3000, 9)
    (tmp_path / "ref.fa").write_bytes(fasta([reference], "t"))
    (tmp_path / "reads.fa").write_bytes(fasta([reference[100:900], random_symbols(400, 10)]))
    done = run("map", "ref.fa", "reads.fa", "-x", "map-ont", "-o", "o.bam", "--report", "r.html", cwd=tmp_path)
    assert_success(done)
    page = Page(tmp_path / "r.html")
    assert page["figures"].numbers["unmapped reads"] == "1"
    assert page["run"].numbers["mapper"].startswith("minimap2 ")
    assert page["depth"].lines[1][:4] == ["t1", "3,000", "1", "0.27"]
