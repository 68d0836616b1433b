"""No command overwrites its inputs, whichever option names them, nor writes two results to one file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pysam
import pytest

from .support import assert_failure, environment, fasta, run

MATRIX = "   A  C  G  T\nA  1 -1 -1 -1\nC -1  1 -1 -1\nG -1 -1  1 -1\nT -1 -1 -1  1\n"
PAF = "r1\t4\t0\t4\t+\tt1\t4\t0\t4\t4\t4\t60\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with small files of all kinds, and a minimap2 that finds nothing."""
    (tmp_path / "q.fa").write_bytes(fasta(["ACGT", "ACGA"]))
    (tmp_path / "t.fa").write_bytes(fasta(["ACGT", "ACGA"], "t"))
    (tmp_path / "one.fa").write_bytes(fasta(["ACGTTGCA" * 5]))
    (tmp_path / "x.query.fa").write_bytes(fasta(["ACGTTGCA" * 5]))
    (tmp_path / "pairs.tsv").write_text("r1\tt1\n")
    (tmp_path / "matrix").write_text(MATRIX)
    (tmp_path / "map.paf").write_text(PAF + PAF.replace("r1", "r2") + PAF)  # needs a copy grouped by read
    with pysam.AlignmentFile(str(tmp_path / "reads.bam"), "wb", header={"HD": {"VN": "1.6"}}) as file:
        fields = ["r1", "4", "*", "0", "0", "*", "*", "0", "0", "ACGT", "IIII"]
        file.write(pysam.AlignedSegment.fromstring("\t".join(fields), file.header))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "minimap2").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "bin" / "minimap2").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "align q.fa t.fa -o q.fa",
        "align q.fa t.fa -o ./t.fa",
        "align q.fa t.fa -o x.sam --stats t.fa",
        "align q.fa t.fa --mappings map.paf -o map.paf",
        "align reads.bam t.fa --mappings map.paf -o reads.bam",
        "align q.fa t.fa --mappings map.paf --mates one.fa -o one.fa",
        "map t.fa reads.bam -o reads.bam",
        "map t.fa reads.bam -o x.bam --stats reads.bam",
        "map t.fa q.fa one.fa -o one.fa",
        "extend q.fa t.fa --pair-list pairs.tsv -o pairs.tsv",
        "extend q.fa t.fa --matrix matrix -o matrix",
        "local one.fa q.fa --target-name r1 --matrix matrix -o matrix",
        "local one.fa q.fa --target-name r1 -o one.fa",
        "distance one.fa q.fa --target-name r1 --path -o one.fa",
        "dotplot one.fa q.fa --format html -o one.fa",
        "dotplot q.fa t.fa --alignments map.paf --format svg -o map.paf",
        "simulate -n 1 -l 5 --reference one.fa --format seq -o one.fa",
        "simulate -n 1 -l 5 --reference x.query.fa -o x.fa",
        "simulate -n 1 -l 5 --reference one.fa --truth one.fa",
    ],
)
def test_an_input_is_not_written_over(folder: Path, line: str) -> None:
    kept = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for linked in (False, True):
        words = line.split()
        if linked and words[-1] != "x.fa":
            (folder / "linked").symlink_to(words[-1])
            words[-1] = "linked"
        env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin") if words[0] == "map" else None
        assert_failure(run(*words, cwd=folder, env=env), 2, "is an input; writing to it would destroy it")
        (folder / "linked").unlink(missing_ok=True)
        assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == kept


@pytest.mark.parametrize(
    "line",
    [
        "align q.fa - --mappings map.paf -o t.fa",
        "align q.fa - --mappings map.paf --stats t.fa",
        "align q.fa /dev/stdin --mappings map.paf -o t.fa",
        "align - t.fa --mappings map.paf -o q.fa",
        "align q.fa t.fa --mappings - -o map.paf",
        "align q.fa t.fa --mappings map.paf --mates - -o one.fa",
        "align - --stats pairs.tsv",
        "map t.fa - -o q.fa",
        "map t.fa - --stats reads.bam",
        "extend - t.fa -o q.fa",
        "local - q.fa --target-name r1 -o one.fa",
        "local - q.fa --target-name r1 --plot one.fa.svg",
        "distance one.fa - --target-name r1 --stats q.fa",
        "distance one.fa - --target-name r1 --checkpoint q.fa",
        "dotplot - q.fa --format html -o one.fa",
        "dotplot q.fa t.fa --alignments - --format svg -o map.paf",
        "simulate -n 1 -l 5 --reference - --format seq -o one.fa",
    ],
)
def test_a_file_on_standard_input_is_not_written_over(folder: Path, line: str) -> None:
    words = line.split()
    (folder / "one.fa.svg").write_bytes((folder / "one.fa").read_bytes())
    kept = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin") if words[0] == "map" else None
    with (folder / words[-1]).open("rb") as stdin:
        assert_failure(run(*words, cwd=folder, env=env, stdin=stdin), 2, f"{words[-1]} is an input")
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == kept


@pytest.mark.parametrize(
    "line",
    [
        "simulate -n 1 -l 5 -o x.fa --truth x.target.fa",
        "simulate -n 1 -l 5 -o x.seq --truth x.seq",
        "bench --quick --stats x.html --plot x.html",
        "distance one.fa t.fa --target-name t1 -o x --stats x",
    ],
)
def test_two_results_do_not_go_to_one_file(folder: Path, line: str) -> None:
    shutil.rmtree(folder / "bin")
    before = sorted(path.name for path in folder.iterdir())
    assert_failure(run(*line.split(), cwd=folder), 2, "is named twice to be written to")
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("output", "index"), [("y.bam", "y.bam.bai"), ("y.bam", "y.bam.csi"), ("y.cram", "y.cram.crai")]
)
def test_an_index_overwrites_no_input(output: str, index: str, folder: Path) -> None:
    """The index is written under a name that no option has."""
    (folder / "q.fa").rename(folder / index)
    before = (folder / index).read_bytes()
    result = run("align", index, "t.fa", "-o", output, "--sort", "--write-index", cwd=folder)
    assert_failure(result, 2, f"{index} is an input")
    assert (folder / index).read_bytes() == before and not (folder / output).exists()
    result = run("align", "t.fa", "t.fa", "-o", output, "--sort", "--write-index", "--stats", index, cwd=folder)
    assert_failure(result, 2, f"{index} is named twice")


@pytest.mark.parametrize(
    "line",
    [
        "align q.fa t.fa -o x.cram --stats t.fa.fai",
        "align q.fa t.fa -o x.cram --stats linked.fa.fai",
        "align q.fa t.fa.gz -o x.cram --stats t.fa.gz.gzi",
        "align q.fa t.fa -o ./t.fa.fai",
        "align reads.bam t.fa --mappings map.paf -o reads.bam.bai",
        "map t.fa q.fa --stats t.fa.fai",
        "dotplot one.fa q.fa --format html -o one.fa.fai",
        "local one.fa q.fa --target-name r1 -o q.fa.fai",
        "simulate -n 1 -l 5 --reference one.fa --format seq -o one.fa.fai",
        "simulate -n 1 -l 5 --reference one.fa --truth one.fa.fai",
    ],
)
@pytest.mark.parametrize("exists", [False, True])
def test_an_index_of_an_input_is_not_written_over(folder: Path, line: str, exists: bool) -> None:
    """CRAM's index is made beside the reference, under a name that no option has; others are read there."""
    words = line.split()
    index = Path(words[-1])
    if index.name.startswith("linked"):
        (folder / "t.fa.fai").touch()
        (folder / index).symlink_to("t.fa.fai")
    elif exists:
        (folder / index).write_text("index")
    shutil.copy(folder / "t.fa", folder / "t.fa.gz")
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    env = environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin") if words[0] == "map" else None
    assert_failure(run(*words, cwd=folder, env=env), 2, f"{index} is the name of the index of", "give another file")
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
