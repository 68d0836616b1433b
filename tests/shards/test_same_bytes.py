"""Shards in any order, merged, are the bytes of one machine's run: every format and layout, random inputs."""

from __future__ import annotations

import gzip
import random
import struct

import pysam
import pytest

from tests.cli.support import BGZF_END, assert_failure, assert_success, run
from tests.thorough import THOROUGH

from .support import in_shards, on_one_machine, plan, run_shards, sequences, shuffled, write_pairs

FORMATS = {
    "sam": ["--format", "sam"],
    "sam without header": ["--format", "sam", "--no-header"],
    "paf": ["--format", "paf", "--cs"],
    "tsv": ["--format", "tsv"],
    "scores": ["--score-only"],
    "bam": ["--format", "bam", "--batch-bases", "2500"],
    "stored bam": ["--format", "bam", "--batch-bases", "700", "--compression", "0"],
    "sorted bam": ["--format", "bam", "--sort"],
    "sorted sam": ["--format", "sam", "--sort", "--md"],
}


SIZES = [(300, 4), (3, 2), *([(300, 1), (3, 7), (2000, 20)] if THOROUGH else [])]  # pairs, shards


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("pairs", "shards"), SIZES)
def test_two_files(form, pairs, shards, tmp_path):
    rng = random.Random(f"{form}{pairs}")
    files = write_pairs(rng, tmp_path, pairs)
    arguments = [*files, *FORMATS[form], "--metric", "edit"]
    expected = on_one_machine(tmp_path, "align", arguments)
    assert in_shards(rng, tmp_path, "align", arguments, shards) == expected


@pytest.mark.parametrize("layout", ["seq", "tsv", "names"])
@pytest.mark.parametrize("seed", range(9 if THOROUGH else 2))
def test_one_file(layout, seed, tmp_path):
    rng = random.Random(f"{layout}{seed}")
    files = write_pairs(rng, tmp_path, 300, layout)
    arguments = [*files, "--format", rng.choice(("paf", "sam"))]
    expected = on_one_machine(tmp_path, "align", arguments)
    assert in_shards(rng, tmp_path, "align", arguments, 3) == expected


@pytest.mark.parametrize("seed", range(2))
def test_extend(seed, tmp_path):
    rng = random.Random(seed)
    files = write_pairs(rng, tmp_path, 200)
    arguments = [*files, "--mode", "local", "--format", rng.choice(("sam", "blast6"))]
    expected = on_one_machine(tmp_path, "extend", arguments)
    assert in_shards(rng, tmp_path, "extend", arguments, 3) == expected


def test_the_output_of_the_plan_with_its_index(tmp_path):
    rng = random.Random(4)
    files = write_pairs(rng, tmp_path, 300)
    arguments = [*files, "--sort", "--write-index"]
    assert_success(run("align", *arguments, "-o", "out.bam", cwd=tmp_path))
    wanted = {name: (tmp_path / name).read_bytes() for name in ("out.bam", "out.bam.bai")}
    for name in wanted:
        (tmp_path / name).unlink()
    plan(tmp_path, *arguments, "--to", "out.bam", shards=3)
    run_shards(tmp_path, "align", shuffled(rng, 3), 3)
    assert_success(run("merge", "run.plan", cwd=tmp_path))
    assert {name: (tmp_path / name).read_bytes() for name in wanted} == wanted


GZ = {
    "sam.gz": ["--batch-bases", "2500"],
    "paf.gz": ["--batch-bases", "700", "--compression", "1"],
    "tsv.gz": ["--batch-bases", "2500"],
    "sorted sam.gz": ["--sort"],
}


@pytest.mark.parametrize("form", GZ)
def test_text_by_bgzip(form, tmp_path):
    rng = random.Random(form)
    name = f"out.{form.split()[-1]}"
    arguments = [*write_pairs(rng, tmp_path, 300), *GZ[form]]
    assert_success(run("align", *arguments, "-o", name, cwd=tmp_path))
    expected = (tmp_path / name).read_bytes()
    (tmp_path / name).unlink()
    plan(tmp_path, *arguments, "--to", name, shards=3)
    run_shards(tmp_path, "align", shuffled(rng, 3), 3)
    assert_success(run("merge", "run.plan", cwd=tmp_path))
    assert (tmp_path / name).read_bytes() == expected
    plain = name.removesuffix(".gz")
    assert_failure(run("merge", "run.plan", "-o", plain, cwd=tmp_path), 2, f"the plan is of .gz: give -o {name}")


def test_fast_cuts_anywhere_and_keeps_the_records(tmp_path):
    """Batches of one machine are larger than all the input, so that it is cut only with --fast."""
    rng = random.Random(9)
    pairs = [pair for pair in sequences(rng, 300) if all(pair)]
    for name, which in (("q.fa", 0), ("t.fa", 1)):
        (tmp_path / name).write_text("".join(f">{name[0]}{i}\n{p[which]}\n" for i, p in enumerate(pairs)))
    files = ["q.fa", "t.fa"]
    for name in ("out.bam", "out.paf.gz"):
        assert_success(run("align", *files, "-o", name, cwd=tmp_path))
        expected = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        assert "other BGZF blocks" in plan(tmp_path, *files, "--fast", "--to", name, shards=3).err
        run_shards(tmp_path, "align", shuffled(rng, 3), 3)
        sizes = [part.stat().st_size for part in (tmp_path / "run.plan.parts").glob("*.part")]
        assert len(sizes) == 3 and min(sizes) > 0, "no shard is empty"
        assert_success(run("merge", "run.plan", cwd=tmp_path))
        found = (tmp_path / name).read_bytes()
        assert found != expected
        assert gzip.decompress(found) == gzip.decompress(expected)
        # gzip.decompress() also accepts what other readers take for the end: an empty block before the last.
        assert found.count(BGZF_END) == 1 and found.endswith(BGZF_END)
    needless = plan(tmp_path, *files, "--fast", "--format", "paf", shards=3, name="paf.plan")
    assert "--fast changes nothing" in needless.err
    with pysam.AlignmentFile(str(tmp_path / "out.bam"), check_sq=False) as file:
        assert file.header["PG"][-1]["CL"] == "wfacli align q.fa t.fa -o out.bam"
        assert [record.query_name for record in file] == [f"q{i}" for i in range(len(pairs))]


def test_merge_sorts_parts_that_are_not(tmp_path):
    rng = random.Random(5)
    files = write_pairs(rng, tmp_path, 400)
    plan(tmp_path, *files, "--format", "bam", "--batch-bases", "3000", shards=4)
    run_shards(tmp_path, "align", shuffled(rng, 4), 4)
    assert_success(run("merge", "run.plan", "--sort", "--write-index", "-o", "merged.bam", cwd=tmp_path))
    plan(tmp_path, *files, "--format", "bam", "--batch-bases", "3000", "--sort", shards=4, name="sorted.plan")
    for number in range(1, 5):
        assert_success(run("align", "--plan", "sorted.plan", "--shard", f"{number}/4", cwd=tmp_path))
    assert_success(run("merge", "sorted.plan", "--write-index", "-o", "sorted.bam", cwd=tmp_path))
    merged, expected = ((tmp_path / f"{name}.bam").read_bytes() for name in ("merged", "sorted"))
    assert without_header(merged) == without_header(expected)
    indices = [(tmp_path / f"{name}.bam.bai").exists() for name in ("merged", "sorted")]
    assert indices == [True, True]


def test_batches_of_the_default_size(tmp_path):
    rng = random.Random(6)
    pairs = ["".join(rng.choices("ACGT", k=1000)) for _ in range(5000)]
    for name in "qt":
        (tmp_path / f"{name}.fa").write_text("".join(f">{name}{i}\n{p}\n" for i, p in enumerate(pairs)))
    arguments = ["q.fa", "t.fa", "--format", "bam", "--compression", "1", "--engine", "cpu"]
    expected = on_one_machine(tmp_path, "align", arguments)
    assert in_shards(rng, tmp_path, "align", arguments, 2) == expected
    status = run("plan", "--status", "run.plan", cwd=tmp_path)
    assert [line.split("\t")[1] for line in status.text.splitlines()[1:]] == ["done", "done"]
    assert all(int(line.split("\t")[2]) for line in status.text.splitlines()[1:])


@pytest.mark.parametrize("more", [[], ["--sort"]])
def test_cram(more, tmp_path):
    rng = random.Random(7)
    pairs = sequences(rng, 200)
    for name, which in (("q.fa", 0), ("t.fa", 1)):
        (tmp_path / name).write_text("".join(f">{name[0]}{i}\n{p[which]}N\n" for i, p in enumerate(pairs)))
    arguments = ["q.fa", "t.fa", "--format", "cram", *more]
    expected = on_one_machine(tmp_path, "align", arguments)
    (tmp_path / "expected").write_bytes(expected)
    in_shards(rng, tmp_path, "align", arguments, 3)
    texts = []
    for name in ("expected", "merged"):
        with pysam.AlignmentFile(str(tmp_path / name), "rc", reference_filename=str(tmp_path / "t.fa")) as file:
            texts.append([str(file.header), *(record.to_string() for record in file)])
    assert texts[0] == texts[1]
    assert len(texts[0]) == 201


def without_header(bam: bytes) -> bytes:
    """Return the records of BAM; the headers of two plans differ in @PG."""
    data = gzip.decompress(bam)
    at = 8 + struct.unpack_from("<i", data, 4)[0]
    (targets,) = struct.unpack_from("<i", data, at)
    at += 4
    for _ in range(targets):
        at += 8 + struct.unpack_from("<i", data, at)[0]
    return data[at:]


def test_shards_have_about_the_same_work(tmp_path):
    """Few long pairs follow many short ones: shards are balanced by bases, not by records."""
    symbols = "ACGT" * 1000
    short, long_ = [symbols[:20]] * 4000, [symbols] * 20
    for name in "qt":
        lines = [f">{name}{i}\n{s}\n" for i, s in enumerate([*short, *long_])]
        (tmp_path / f"{name}.fa").write_text("".join(lines))
    plan(tmp_path, "q.fa", "t.fa", "--format", "paf", shards=4)
    table = run("plan", "--status", "run.plan", cwd=tmp_path)
    rows = [line.split("\t") for line in table.out.decode().splitlines()[1:]]
    shares, pairs = [float(row[3]) for row in rows], [int(row[2]) for row in rows]
    assert sum(pairs) == 4020
    assert max(shares) < 0.3
    assert max(pairs) > 10 * min(pairs)
