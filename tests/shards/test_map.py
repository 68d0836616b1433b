"""`wfacli map` in shards, each of which maps its own reads."""

from __future__ import annotations

import gzip
import itertools
import random
import shutil
from pathlib import Path

import pytest

from tests.cli.support import assert_failure, bgzf, environment, run
from tests.mapped.fake_mapper import install
from tests.mapped.world import random_world
from tests.thorough import in_turn

from .support import in_shards, on_one_machine, plan, run_shards
from .test_mapped import as_mates, mate_records, write_bam

FORMS = {
    "sam": ["--format", "sam"],
    "paf": ["--format", "paf"],
    "sorted bam": ["--format", "bam", "--sort"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a fake minimap2 that prints what it has prepared for the reads that it is given."""
    install(tmp_path)
    (tmp_path / "own").touch()
    return tmp_path


def fake(folder: Path) -> dict[str, str]:
    return environment(PATH=f"{folder / 'bin'}:/usr/bin:/bin")


@pytest.mark.parametrize("form", FORMS)
def test_single_reads(form, folder):
    rng = random.Random(form)
    world = random_world(rng.randrange(1000), 150)
    world.write(folder)
    if form == "paf":
        (folder / "reads.fq").write_bytes(bgzf((folder / "reads.fq").read_bytes(), 3000))
    arguments = ["ref.fa", "reads.fq", "--preset", "map-hifi", "-t", "2", *FORMS[form]]
    expected = on_one_machine(folder, "map", arguments, fake(folder))
    assert in_shards(rng, folder, "map", arguments, 3, fake(folder)) == expected
    assert min(part.stat().st_size for part in (folder / "run.plan.parts").glob("*.part")) > 0


@pytest.mark.parametrize(("files", "form"), in_turn(list(itertools.product([1, 2], FORMS)), 2))
def test_pairs_of_reads(form, files, folder):
    rng = random.Random(f"{form}{files}")
    world = random_world(rng.randrange(1000), 200)
    as_mates(world)
    world.write(folder)
    (folder / "map.sam").write_text(mate_records(world))
    reads = ["reads.fq"]
    if files == 2:
        reads = ["1.fq", "2.fq"]
        for mate in "12":
            text = [f"@{n}\n{s}\n+\n{q}\n" for n, (s, q) in world.reads.items() if n.endswith(mate)]
            (folder / f"{mate}.fq").write_text("".join(text))
    arguments = ["ref.fa", *reads, "--preset", "sr", *FORMS[form]]
    expected = on_one_machine(folder, "map", arguments, fake(folder))
    assert in_shards(rng, folder, "map", arguments, 4, fake(folder)) == expected
    filled = [part for part in (folder / "run.plan.parts").glob("*.part") if part.stat().st_size]
    assert len(filled) == 4 if files == 2 else len(filled) > 1  # in one file, not behind every batch of reads


def test_several_files_of_reads(folder):
    """One of four files is empty and one has no line feed at its end; cuts are in files and between them."""
    rng = random.Random(8)
    world = random_world(8, 240)
    world.write(folder)
    text = [f"@{name}\n{symbols}\n+\n{quality}\n" for name, (symbols, quality) in world.reads.items()]
    files = {"a.fq": text[:60], "b.fq": [], "c.fq": text[60:200], "d.fq": text[200:]}
    for name, lines in files.items():
        data = "".join(lines).encode()
        (folder / name).write_bytes(bgzf(data, 2000) if name == "c.fq" else data)
    (folder / "a.fq").write_bytes((folder / "a.fq").read_bytes().rstrip(b"\n"))
    arguments = ["ref.fa", *files, "--preset", "map-hifi", "-t", "2", "--format", "sam"]
    expected = on_one_machine(folder, "map", arguments, fake(folder))
    assert in_shards(rng, folder, "map", arguments, 3, fake(folder)) == expected
    assert min(part.stat().st_size for part in (folder / "run.plan.parts").glob("*.part")) > 0


def test_reads_in_bam(folder):
    rng = random.Random(10)
    world = random_world(10, 200)
    world.write(folder)
    write_bam(folder, world, "reads.bam")
    arguments = ["ref.fa", "reads.bam", "--preset", "map-hifi", "-t", "2", "--format", "sam"]
    expected = on_one_machine(folder, "map", arguments, fake(folder))
    assert in_shards(rng, folder, "map", arguments, 3, fake(folder)) == expected
    assert min(part.stat().st_size for part in (folder / "run.plan.parts").glob("*.part")) > 0


def test_bam_that_is_not_sorted_has_the_same_records(folder):
    rng = random.Random(4)
    random_world(4, 250).write(folder)
    arguments = ["ref.fa", "reads.fq", "--format", "bam"]
    expected = on_one_machine(folder, "map", arguments, fake(folder))
    assert gzip.decompress(in_shards(rng, folder, "map", arguments, 3, fake(folder))) == gzip.decompress(expected)


def test_more_shards_than_reads(folder):
    rng = random.Random(5)
    random_world(5, 2).write(folder)
    arguments = ["ref.fa", "reads.fq"]
    expected = on_one_machine(folder, "map", arguments, fake(folder))
    assert in_shards(rng, folder, "map", arguments, 3, fake(folder)) == expected


def test_what_cannot_be_cut_is_refused(folder):
    random_world(6, 20).write(folder)
    shutil.copy(folder / "reads.fq", folder / "more.fq")
    made = ("--shards", "2", "-o", "run.plan")
    several = run(
        "plan", "map", "-x", "map-ont", "ref.fa", "reads.fq", "reads.fq", *made, cwd=folder, env=fake(folder)
    )
    assert_failure(several, 2, "named twice")
    (folder / "more.fq").write_text(">a\nACGT\n")
    mixed = run("plan", "map", "-x", "map-ont", "ref.fa", "reads.fq", "more.fq", *made, cwd=folder, env=fake(folder))
    assert_failure(mixed, 1, "more.fq", "is FASTA")
    (folder / "reads.fq.gz").write_bytes(gzip.compress((folder / "reads.fq").read_bytes()))
    packed = run("plan", "map", "ref.fa", "reads.fq.gz", *made, cwd=folder, env=fake(folder))
    assert_failure(packed, 1, "reads.fq.gz", "bgzip")


@pytest.mark.skipif(not shutil.which("minimap2"), reason="minimap2 is not installed")
@pytest.mark.parametrize("form", FORMS)
def test_with_minimap2(form, tmp_path):
    rng = random.Random(form)
    reference = "".join(rng.choices("ACGT", k=30_000))
    (tmp_path / "ref.fa").write_text(f">chr\n{reference}\n")
    lines = []
    for number in range(120):
        at = rng.randrange(29_000)
        read = "".join(c if rng.random() > 0.03 else rng.choice("ACGT") for c in reference[at : at + 900])
        lines.append(f"@r{number}\n{read if rng.random() < 0.9 else read[::-1]}\n+\n{'I' * len(read)}\n")
    (tmp_path / "reads.fq.gz").write_bytes(bgzf("".join(lines).encode(), 9000))
    arguments = ["ref.fa", "reads.fq.gz", "--preset", "map-hifi", "-t", "1", *FORMS[form]]
    expected = on_one_machine(tmp_path, "map", arguments)
    assert in_shards(rng, tmp_path, "map", arguments, 3) == expected


def test_a_merge_needs_no_mapper(folder):
    random_world(7, 20).write(folder)
    plan(folder, "map", "ref.fa", "reads.fq", shards=1, env=fake(folder))
    run_shards(folder, "map", [1], 1, env=fake(folder))
    (folder / "bin/minimap2").unlink()
    nothing = environment(PATH=str(folder / "bin"))
    done = run("merge", "run.plan", "-o", "out.sam", cwd=folder, env=nothing)
    assert done.code == 0, done.err
