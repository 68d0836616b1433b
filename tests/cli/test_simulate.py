"""`wfacli simulate`: files, pipes, and rejected options."""

import pytest

from .support import Result, assert_failure, run


def ran(folder, options: str) -> Result:
    return run(*options.split(), cwd=folder)


def test_pairs_in_two_files_align_at_no_more_than_their_errors(tmp_path):
    made = ran(tmp_path, "simulate -n 300 -l 50-400 -e 0.08 --seed 5 -o a.fa --truth t.paf -t 2")
    assert made.code == 0 and made.out == b"" and "300 pairs" in made.err
    assert "in a.query.fa and a.target.fa" in made.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.query.fa", "a.target.fa", "t.paf"]
    aligned = ran(tmp_path, "align a.query.fa a.target.fa --metric edit --format paf --check")
    truth = [line.split("\t") for line in (tmp_path / "t.paf").read_text().splitlines()]
    assert aligned.code == 0 and len(aligned.rows) == 300
    for best, true in zip(aligned.rows, truth, strict=True):
        assert best[:9] == true[:9]
        assert int(best[12].removeprefix("NM:i:")) <= int(true[12].removeprefix("NM:i:"))


def test_a_pipe_of_pairs(tmp_path):
    made = run("simulate", "-n", "2.5k", "-q", cwd=tmp_path)
    assert made.code == 0 and made.err == "" and made.out.count(b"\n") == 5000
    aligned = run("align", "-", "--format", "tsv", "--score-only", cwd=tmp_path, stdin=made.out)
    assert aligned.code == 0 and len([r for r in aligned.rows if not r[0].startswith("#")]) >= 2500
    table = run("simulate", "-n", "4", "--format", "tsv", cwd=tmp_path)
    assert [row[0] for row in table.rows] == ["sim1", "sim2", "sim3", "sim4"]


def test_threads_and_length_of_the_run_change_no_byte(tmp_path):
    one = ran(tmp_path, "simulate -n 20k -l 300 -m ont --format tsv -t 1 -q")
    four = ran(tmp_path, "simulate -n 20k -l 300 -m ont --format tsv -t 4 -q")
    part = ran(tmp_path, "simulate -n 9k -l 300 -m ont --format tsv -q")
    assert one.out == four.out and one.out.startswith(part.out) and len(part.out) > 0.4 * len(one.out)


def test_reads_of_a_reference(tmp_path):
    (tmp_path / "ref.fa").write_text(">chr1 first\n" + "ACGTTGCAAC" * 50 + "\n")
    made = ran(tmp_path, "simulate -n 5 -l 60 -m illumina --reference ref.fa -o r.fastq")
    assert made.code == 0
    assert (tmp_path / "r.query.fastq").read_text().count("\n+\n") == 5
    assert (tmp_path / "r.target.fa").read_text().count(" chr1:") == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-n many", "--pairs expects a number"),
        ("-n 1.5", "--pairs expects a number"),
        ("-l 300-100", "--length is one length, or the shortest and the longest"),
        ("-l 3G", "--length is one length, or the shortest and the longest"),
        ("-e 1.5", "--error is edits per base, 0 to 0.9"),
        ("-e nan", "--error is edits per base, 0 to 0.9"),
        ("-o a.fa.gz", "simulate does not compress its output"),
        ("-o a.bam", "a.bam: .bam is not the suffix of a format of pairs"),
        ("--format fasta", "FASTA requires two files"),
        ("--format fastq -o -", "FASTQ requires two files"),
        ("--truth -", "cannot both be standard output"),
        ("--reference no.fa", "no.fa"),
        ("--reference short.fa -l 100", "no sequence is as long as the longest target"),
        ("--reference short.fa -l 9", "A, C, G and T alone"),
        ("-o no/where.fa", "no/where.query.fa: cannot be written"),
        ("-o a.seq -o b.seq --seed -1", "--seed"),
    ],
)
def test_what_it_refuses(tmp_path, options, said):
    (tmp_path / "short.fa").write_text(">x\nACGTNACGTN\n")
    made = run("simulate", *options.split(), cwd=tmp_path)
    assert made.code != 0 and said in made.err and "Traceback" not in made.err
    assert [p.name for p in tmp_path.iterdir()] == ["short.fa"]


def test_no_pairs_and_empty_ones(tmp_path):
    assert ran(tmp_path, "simulate -n 0 -q").out == b""
    empty = ran(tmp_path, "simulate -n 3 -l 0 -q")
    assert empty.out == b">\n<\n" * 3
    aligned = run("align", "-", "--format", "paf", "-q", cwd=tmp_path, stdin=empty.out)
    assert aligned.code == 0


def test_counts_that_nobody_has(tmp_path):
    for count in ("9" * 25, "9" * 400):
        assert_failure(run("simulate", "-n", count, cwd=tmp_path), 2, f"--pairs is {count}; it must be")
